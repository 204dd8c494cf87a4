"""A part of a scene is coupled in two ways, by unknowns that stay and by shapes that yield: both are the same step."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling import contact_steps
from supple.solvers.coupling.across import Across
from supple.solvers.coupling.implicit.part import ImplicitPart
from supple.solvers.coupling.implicit.step import ImplicitStep
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.system_part import SystemPart
from supple.validation.contact_kinds import RUBBER, cube, tree

H = 0.005


def scene_of(case: str) -> sp.Scene:
    """A soft cube on the floor with a ball on it, and what the case has more."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(H, implicit=sp.ImplicitEuler(H, linear="direct")))
    scene.add(sp.Floor())
    soft = scene.add(sp.FemBody(cube(), RUBBER), at=(0, 0, 0.0503), rotation=(0.002, 0.001, 0), name="cube")
    ball = scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.004, 0.002, 0.1305), name="ball")
    if case != "alone":
        stem = scene.add(tree(), at=(0.3, 0, 0.0605), name="tree")
    if case == "joint":
        high = [(0.3, 0.0, 0.11)]
        scene.add(sp.BallJoint(stem.points(at=high), ball.points(at=high)))
    if case == "spring":
        scene.add(sp.Springs(stem.points(at=[(0.3, 0.0, 0.06)]), soft.points([0]), 40.0, damping=0.1))
    if case == "held":
        scene.add(sp.FixedPoints(soft, np.flatnonzero(cube().nodes[:, 0] < -0.049)))
    scene.add(sp.Contact(friction=0.5))
    return scene


@pytest.mark.parametrize("case", ["alone", "tree", "joint", "spring", "held"])
def test_implicit_bodies_that_yield_are_those_whose_unknowns_stay(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact_steps, "TOLERANCE", 1e-12)
    rows = ImplicitStep.rows
    scene = scene_of(case)
    system = scene.compile()
    state = system.initial_state()
    for _ in range(12):
        other = state.copy()
        monkeypatch.setattr(ImplicitStep, "rows", rows)
        scene.solver.step(system, state)
        monkeypatch.setattr(ImplicitStep, "rows", lambda step: None)
        scene.solver.step(system, other)
        assert np.abs(state.v - other.v).max() < 1e-6 * np.abs(state.v).max()


def begun_step(scene: sp.Scene) -> tuple[ImplicitStep, System, State, Meeting]:
    """A step of the implicit bodies of a scene that has begun."""
    system = scene.compile()
    state, across = system.initial_state(), Across.of(system)
    part = SystemPart.of(system, system.bodies, across.ids)
    assert part is not None
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    sets = [contact.find(kin, H, state.memory) for contact in system.contacts]
    parts = [np.zeros(len(c.slots), dtype=int) for c in system.contacts]
    meeting = Meeting.of(system, kin, sets, parts, across, H)
    method = sp.ImplicitEuler(H, linear="direct")
    return ImplicitPart(system, part, method).begin(state, meeting), system, state, meeting


@pytest.mark.parametrize("case", ["alone", "held"])
def test_shapes_foresee_where_forces_lead(case: str) -> None:
    step, system, state, meeting = begun_step(scene_of(case) if case == "alone" else _held())
    forces = np.random.default_rng(3).normal(size=(meeting.count, 3))
    assert meeting.count > 5
    step.reach(forces, np.zeros(0))
    ((W, _, _, Y),) = step.shapes
    foreseen = step.velocity.ravel() + W @ (Y @ (W.T @ forces.ravel()))
    linear, found = step.known.linear, step.found
    assert found is not None
    reached = step.known.J.times(linear.v + found.d)
    np.testing.assert_allclose(reached, foreseen, rtol=1e-9, atol=1e-9 * np.abs(foreseen).max())
    ends = state.x.copy()
    step.place_ends(ends)
    report = step.finish(forces, np.zeros(0))
    assert report.is_solved
    np.testing.assert_allclose(state.x, ends, atol=1e-14)
    assert system.x0.shape == ends.shape


def _held() -> sp.Scene:
    scene = scene_of("alone")
    scene.add(sp.FixedPoints(scene.nodes[0], np.flatnonzero(cube().nodes[:, 0] < -0.049)))
    return scene
