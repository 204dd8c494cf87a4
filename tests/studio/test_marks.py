"""Marks in looks: links of lattices, contacts with their forces, pulls; and which domain hangs on which."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studio.test_pulling import KINDS

import supple as sp
from supple.canvas.pack import Pack
from supple.contact import Contact, Floor
from supple.record.surfaces import make_surfaces
from supple.running import choose_solver
from supple.studio.looks.colour_scale import ColourScale
from supple.studio.looks.marks import told_contacts, told_links
from supple.studio.picking import Picked
from supple.studio.pulling import Pointer, Pulls
from supple.studio.show import Show


def read(pack: Pack, told: dict[str, object], kind: str) -> np.ndarray:
    at, count = told["at"], told["count"]
    assert isinstance(at, int)
    assert isinstance(count, int)
    return np.frombuffer(pack.data, kind, count, at)


def test_links_join_the_voxels_of_a_lattice() -> None:
    scene = sp.Scene(gravity=(0, 0, 0))
    scene.add(KINDS["voxel"](), at=(0, 0, 1.0), name="lattice")
    scene.add(KINDS["rigid"](), at=(1, 0, 0), name="box")
    system = scene.compile()
    pack = Pack()
    (told,) = told_links(make_surfaces(system), system.initial_state(), pack)
    places = read(pack, told["places"], "f4").reshape(-1, 3)
    rows = read(pack, told["rows"], "u4").reshape(-1, 2)
    assert (told["name"], places.shape, len(rows)) == ("lattice", (27, 3), 54)
    assert np.linalg.norm(places[rows[:, 1]] - places[rows[:, 0]], axis=1) == pytest.approx(0.1 / 3, rel=1e-5)


@pytest.mark.parametrize("kind", ["rigid", "voxel"])
def test_arrows_of_a_box_at_rest_carry_its_weight(kind: str) -> None:
    """Of a lattice too, which meets the floor within its own sweep."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(KINDS[kind](), at=(0, 0, 0.05), name="box")
    scene.add(Floor(0.0))
    if kind == "rigid":
        scene.add(Contact())
    system = scene.compile()
    solver, state = choose_solver(scene, system, None, None), system.initial_state()
    solver.prepare(system)
    for _ in range(round(1.0 / solver.dt)):
        solver.step(system, state)
    pack = Pack()
    told = told_contacts(system, state, ColourScale(1e-6), 0.0, pack)
    forces, places = (read(pack, told[name], "f4").reshape(-1, 3) for name in ("forces", "places"))
    weight = 9.81 * system.bodies[0].body.total_mass
    assert forces.sum(axis=0) == pytest.approx((0, 0, weight), abs=5e-3 * weight)
    apart = 0.1 if kind == "rigid" else 0.2 / 3  # between voxels' centres
    assert np.ptp(places[:, :2], axis=0) == pytest.approx(apart, abs=1e-3)
    assert told["highest"] >= np.linalg.norm(forces, axis=1).max()


def test_the_ends_of_a_pull_are_told() -> None:
    scene = sp.Scene(gravity=(0, 0, 0))
    scene.add(KINDS["rigid"](), name="box")
    system = scene.compile()
    state = system.initial_state()
    pulls = Pulls(system, make_surfaces(system), state.copy(), 1e-3)
    assert pulls.lines(state).shape == (0, 2, 3)
    place = np.array([0.05, 0.01, 0.02])
    pulls.hold(1, Picked(0, place, place), 1.0, state)
    system.bodies[0].view_x(state.x)[0, :3] += 0.5
    assert pulls.lines(state) == pytest.approx(np.array([[place + 0.5, place]]), abs=1e-12)
    pointer = Pointer(np.array([0.05, 2.0, 3.0]), np.array([-1.0, 0, 0]), np.array([-1.0, 0, 0]))
    told = pulls.lines(state, {1: pointer})
    assert told == pytest.approx(np.array([[place + 0.5, (-0.95, 2.0, 3.0)]]), abs=1e-12)


def test_the_header_says_which_domain_hangs_on_which() -> None:
    scene = sp.Scene(gravity=(0, 0, 0))
    scene.add(KINDS["tree"](), name="tree")
    scene.add(KINDS["rigid"](), at=(5, 0, 0), name="box")
    system = scene.compile()
    header = Show(system, system.initial_state()).header()
    tree, box = header.about["shapes"]
    place = tree["parents"]
    parents = np.frombuffer(header.data, f"<{place['type']}", place["count"], place["at"])
    assert list(parents) == [0, 1, 2]  # 0: on none
    assert "parents" not in box
