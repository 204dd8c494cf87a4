"""Contacts in a scene: bad input is named, forces can be read, a resumed run is the same, other solvers refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError

SIDE, DENSITY, G = 0.1, 500.0, 9.81


def box() -> sp.RigidBody:
    return sp.RigidBody.box((SIDE,) * 3, density=DENSITY)


def scene_of(*heights: float, solver=None, **contact) -> sp.Scene:
    """Rigid boxes above each other on a plane."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=solver or sp.ImplicitEuler(0.005))
    for k, z in enumerate(heights):
        scene.add(box(), at=(0.01 * k, 0, z), name=f"box {k}")
    scene.add(sp.Plane())
    scene.add(sp.Contact(**contact))
    return scene


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"friction": np.inf}, "finite"),
        ({"friction": -0.1}, "friction"),
        ({"frictions": {("a", "b"): np.nan}}, "friction"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": np.inf}, "stiffness"),
        ({"damping": -1e-3}, "damping"),
        ({"margin": 0.0}, "margin"),
        ({"tangential_stiffness": 0.0}, "tangential_stiffness"),
        ({"overlap": "ignore"}, "push, refuse"),
    ],
)
def test_bad_input_is_named(changes: dict, word: str) -> None:
    with pytest.raises(InputError, match=word):
        sp.Contact(**changes)


def test_a_body_without_surface_and_a_group_are_refused() -> None:
    scene = sp.Scene()
    point = scene.add(sp.RigidBody(1.0, (1.0, 1.0, 1.0)), name="point")
    scene.add(sp.Contact([point]))
    with pytest.raises(InputError, match="without a surface"):
        scene.compile()
    other = sp.Scene()
    other.add(box())
    other.add(sp.Contact([other.group("all")]))
    with pytest.raises(InputError, match="group"):
        other.compile()


def test_overlap_is_refused_with_depth_and_place() -> None:
    scene = scene_of(0.05, 0.145, overlap="refuse")
    system = scene.compile()
    with pytest.raises(InputError, match=r"'box \d' and 'box \d' overlap at the start, by 0\.005"):
        scene.solver.step(system, system.initial_state())


def test_each_pair_is_named_in_one_order() -> None:
    """Vertices of either of two soft boxes meet the other's faces: all rows have the pair as the scene has it."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.01))
    rubber = sp.Material(young=2e5, poisson=0.3, density=DENSITY, stiffness_damping=2e-3)
    soft = sp.FemBody(sp.box_tets(size=(SIDE, SIDE, SIDE), cells=(2, 2, 2)), rubber)
    for k, name in enumerate(("upper", "lower")):
        scene.add(soft, at=(0.013 * k - SIDE / 2, 0.007 * k, (1.5 - k) * SIDE), name=name)
    scene.add(sp.Floor())
    scene.add(sp.Contact())
    run = sp.run(scene, until=0.5)
    contact = run.system.contacts[0]
    met = {tuple(pair) for pair in run.state.memory[f"{contact.prefix}body"].tolist()}
    assert {(0, 1), (1, 0)} <= met  # both meet each other
    touching = contact.touching(run.state.memory)
    assert set(touching.bodies) == {("upper", "lower"), ("lower", "floor")}
    between = [pair == ("upper", "lower") for pair in touching.bodies]
    assert touching.force[between].sum(axis=0)[2] == pytest.approx(DENSITY * SIDE**3 * G, rel=0.01)
    assert touching.normal[between, 2].min() > 0.9


def test_points_rest_on_obstacles() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.01))
    scene.add(sp.Particles([(0, 0, 0.01), (0.1, 0, 0.01), (0, 0.1, 0.01)], 0.1), name="dust")
    scene.add(sp.Plane())
    scene.add(sp.Contact())
    run = sp.run(scene, until=0.5)
    touching = run.system.contacts[0].touching(run.state.memory)
    assert touching.force.sum(axis=0)[2] == pytest.approx(0.3 * G, rel=1e-6)


def test_forces_can_be_read_and_carry_the_weight() -> None:
    run = sp.run(scene_of(0.05, 0.15), until=1.0)
    touching = run.system.contacts[0].touching(run.state.memory)
    weight = DENSITY * SIDE**3 * G
    floor = [pair[1] == "plane" for pair in touching.bodies]
    upper = [1.0 if pair[0] == "box 1" else -1.0 for pair in touching.bodies]
    between = np.array(upper)[~np.array(floor), None] * touching.force[~np.array(floor)]
    assert touching.force[floor].sum(axis=0) == pytest.approx([0, 0, 2 * weight], abs=1e-6)
    assert between.sum(axis=0) == pytest.approx([0, 0, weight], abs=1e-6)
    assert np.abs(np.linalg.norm(touching.normal, axis=1) - 1).max() < 1e-12
    assert np.abs(touching.place[floor, 2]).max() < 1e-3


def test_a_resumed_run_with_contacts_is_the_uninterrupted_one(tmp_path: Path) -> None:
    def scene() -> sp.Scene:
        rubber = sp.Material(young=2e5, poisson=0.3, density=DENSITY, stiffness_damping=2e-3)
        scene = scene_of(0.06, friction=0.3)
        strip = scene.add(
            sp.FemBody(sp.box_tets(size=(0.2, 0.1, 0.03), cells=(4, 2, 1)), rubber),
            at=(-0.05, -0.02, 0.14), velocity=(0.3, 0, 0), name="strip",
        )  # fmt: skip
        scene.contacts[0] = sp.Contact(friction=0.3, self_contact=[strip])
        return scene

    whole = sp.run(scene(), until=0.3, out=tmp_path / "whole")
    sp.run(scene(), until=0.15, out=tmp_path / "parts")
    parts = sp.run(scene(), until=0.3, out=tmp_path / "parts", resume=True)
    assert len(whole.system.contacts[0].touching(whole.state.memory).force)
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    assert whole.state.memory.keys() == parts.state.memory.keys()
    assert all(whole.state.memory[k].tobytes() == parts.state.memory[k].tobytes() for k in whole.state.memory)


@pytest.mark.parametrize(
    "solver",
    [
        sp.Midpoint(0.01),
        sp.Newmark(0.01),
        sp.SymplecticEuler(0.001),
        sp.RungeKutta4(0.001),
        sp.ImplicitEuler(0.01, newton=True),
    ],
    ids=lambda solver: type(solver).__name__,
)
def test_other_solvers_refuse_contacts(solver) -> None:
    scene = scene_of(0.05)
    with pytest.raises(InputError, match="does not carry contacts"):
        sp.run(scene, until=0.01, solver=solver)
