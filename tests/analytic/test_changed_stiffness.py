"""Floating and layered bodies that are made stiffer or heavier while they run swing as they should from then on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.floating.matrices import MatrixSolid
from supple.errors import InputError
from supple.modal.solid import ElasticSolid
from supple.scene.changes import changes_of

STUFF = sp.Material(young=1e6, poisson=0.3, density=1000)
MESH = sp.box_tets((0.4, 0.05, 0.05), (6, 1, 1))
COUNT = 3


def floating(**given) -> sp.FloatingBody:
    return sp.FloatingBody.from_solid(ElasticSolid(MESH, STUFF), modes=5, fixed="x_min", **given)


def from_matrices() -> sp.FloatingBody:
    solid = ElasticSolid(MESH, STUFF)
    return sp.FloatingBody.from_solid(MatrixSolid(MESH.nodes, solid.mass_matrix, solid.stiffness), modes=5)


def layered(**given) -> sp.LayeredBody:
    return sp.LayeredBody.from_mesh(MESH, STUFF, core=lambda x: x[:, 0] < 0.08, **given)


STIFFER = {  # the body, what makes it four times as stiff, what makes it four times as heavy
    "floating": (floating, {"stiffness_factor": 4.0}, {"density_factor": 4.0}),
    "cubic": (lambda: floating(cubic=True), {"stiffness_factor": 4.0}, {"density_factor": 4.0}),
    "matrices": (from_matrices, {"stiffness_factor": 4.0}, {"density_factor": 4.0}),
    "layered": (layered, {"young": 4e6}, {"density": 4000.0}),
    "corotational": (lambda: layered(law="corotational"), {"young": 4e6}, {"density": 4000.0}),
}


def compiled(body) -> sp.System:
    scene = sp.Scene()
    scene.add(body, name="bar", fix=True)
    return scene.compile()


def frequencies(system: sp.System) -> np.ndarray:
    """The lowest [Hz], without that of a coordinate that fills up a 3-vector."""
    found = sp.vibration_modes(system, 1 + COUNT).frequencies
    return found[found > 1e-3 * found.max()][:COUNT]


@pytest.mark.parametrize("kind", STIFFER)
def test_frequencies_change_with_the_root_of_stiffness_over_density(kind: str) -> None:
    make, stiffer, heavier = STIFFER[kind]
    system = compiled(make())
    state = system.initial_state()
    before = frequencies(system)
    system.change(state, "bar", **stiffer)
    assert frequencies(system) == pytest.approx(2 * before, rel=1e-6)
    system.change(state, "bar", **heavier)
    assert frequencies(system) == pytest.approx(before, rel=1e-6)
    assert [change.name for change in changes_of(state)] == ["bar", "bar"]


@pytest.mark.parametrize("kind", STIFFER)
def test_a_swing_goes_on_with_the_new_period(kind: str) -> None:
    """Released from the first mode, it passes zero after a quarter of its period, changed at its start or made so."""
    make, stiffer, _ = STIFFER[kind]
    system = compiled(make())
    shapes = sp.vibration_modes(system, 1 + COUNT)
    first = int(np.argmax(shapes.frequencies > 1e-3 * shapes.frequencies.max()))
    state, period = system.initial_state(), 0.5 / shapes.frequencies[first]  # of a bar four times as stiff
    small = 1e-5 * shapes.shapes[first] / np.abs(shapes.shapes[first]).max()
    state.x = system.retract(state.x, small)
    system.change(state, "bar", **stiffer)
    solver = sp.Midpoint(period / 160)
    for _ in range(40):
        solver.step(system, state)
    moved = system.difference(system.initial_state().x, state.x)
    assert abs(moved @ small) < 2e-3 * (small @ small)  # the midpoint rule's own period is 2e-4 longer


@pytest.mark.parametrize("kind", ["floating", "layered"])
def test_the_change_is_made_again_where_a_run_is_resumed(kind: str, tmp_path: Path) -> None:
    make, stiffer, _ = STIFFER[kind]

    def run(out: Path, until: float = 0.3, *, resume: bool = False, changes: bool = True) -> sp.Run:
        def observer(frame) -> None:
            if changes and frame.time >= 0.1 and not changes_of(frame.state):
                frame.system.change(frame.state, "bar", **stiffer)

        scene = sp.Scene(gravity=(0, 0, -9.81))
        scene.add(make(), name="bar", spin=(0, 3, 0), fix=True)
        return sp.run(scene, until=until, dt=0.005, out=out, observers=[observer], resume=resume)

    whole = run(tmp_path / "whole")
    run(tmp_path / "parts", 0.2)
    parts = run(tmp_path / "parts", resume=True)
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    assert np.abs(whole.state.x - run(tmp_path / "plain", changes=False).state.x).max() > 1e-6
    assert len(changes_of(parts.state)) == 1


def test_a_core_gets_heavier_and_no_point_jumps() -> None:
    system = compiled(layered())
    state = system.initial_state()
    body = system.body("bar").body
    before, mass = body.positions(state.x[None]), body.total_mass
    system.change(state, "bar", core_density=3000.0, mass_damping=0.5)
    after = system.body("bar").body
    assert after.positions(state.x[None]) == pytest.approx(before, abs=1e-15)
    assert after.total_mass > 1.2 * mass
    assert after.alpha == 0.5


def test_damping_of_a_floating_body_is_set_anew_where_it_is_given() -> None:
    body = floating(stiffness_damping=0.01)
    kept = body.changed({"stiffness_factor": 2.0}, where="test")
    assert np.array_equal(kept.damping, body.damping)
    given = body.changed({"stiffness_factor": 2.0, "stiffness_damping": 0.01}, where="test")
    assert given.damping == pytest.approx(2 * body.damping)


@pytest.mark.parametrize(
    ("make", "values", "says"),
    [
        (floating, {"young": 1.0}, "cannot be changed"),
        (floating, {"stiffness_factor": 0.0}, "stiffness_factor"),
        (floating, {"damping_ratio": -1.0}, "damping_ratio"),
        (layered, {"colour": 1.0}, "cannot be changed"),
        (layered, {"young": -1.0}, "Young"),
        (layered, {"core_density": 0.0}, "density"),
        (layered, {"region": "skin", "young": 1.0}, "one material"),
    ],
)
def test_bad_changes_are_named(make, values: dict, says: str) -> None:
    system = compiled(make())
    state = system.initial_state()
    with pytest.raises(InputError, match=says):
        system.change(state, "bar", **values)
    assert not changes_of(state)
