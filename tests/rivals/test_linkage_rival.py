"""Frames on joints in compiled loops against the general way of the same midpoint rule, which solves one matrix of the
whole scene by Newton's method in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.geometry import box_tets
from supple.modal import ElasticSolid
from supple.solvers.linkage import linkage as linkages
from supple.solvers.linkage.linkage import linkage_of
from supple.validation.scenes.linkages import four_bar

H = 1e-3
RUBBER = sp.Material(young=1e7, poisson=0.3, density=1000.0)
BEAM = sp.FloatingBody.from_solid(ElasticSolid(box_tets(size=(1.0, 0.1, 0.1), cells=(8, 2, 2)), RUBBER), modes=5)


def box(scene: sp.Scene, at: tuple[float, float, float], name: str) -> sp.Node:
    return scene.add(sp.RigidBody.box((0.4, 0.1, 0.12), density=500), at=at, spin=(0.3, 0.5, 0.2), name=name)


def hanging(*, last: bool = True) -> sp.Scene:
    """A beam on a hinge, a box on a ball joint at its end, and one that slides along that."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    beam = scene.add(BEAM, name="beam")
    scene.add(sp.HingeJoint(beam, at=(0.0, 0.05, 0.05), axis=(0, 1, 0)))
    if last:
        one, two = box(scene, (1.2, 0.05, 0.05), "one"), box(scene, (1.6, 0.05, 0.05), "two")
        scene.add(sp.BallJoint(beam, one, at=(1.0, 0.05, 0.05)))
        scene.add(sp.SliderJoint(one, two, at=(1.4, 0.05, 0.05), axis=(1, 0, 0)))
    return scene


def thrown() -> sp.Scene:
    """A beam and a box held fast to it, which fly and spin, and another box beside them that nothing holds."""
    scene = sp.Scene()
    beam = scene.add(BEAM, velocity=(3.0, 0, 1.0), spin=(0.5, 2.0, 1.0), name="beam")
    scene.add(sp.FixedJoint(beam, box(scene, (1.2, 0.05, 0.05), "one"), at=(1.0, 0.05, 0.05)))
    box(scene, (0.0, 1.0, 0.0), "alone")
    return scene


@pytest.mark.parametrize("make", [hanging, thrown])
def test_the_loops_make_the_steps_of_the_general_way(make: Callable[[], sp.Scene]) -> None:
    system, solver = make().compile(), sp.Midpoint(H)
    solver.prepare(system)
    assert linkage_of(system) is not None
    ours, theirs = system.initial_state(), system.initial_state()
    assert solver.advance(system, ours, 40).is_solved
    for _ in range(40):
        assert solver._step(system, theirs).is_solved
    assert np.abs(ours.x - theirs.x).max() < 1e-11
    assert np.abs(ours.v - theirs.v).max() < 1e-9
    largest = np.abs(theirs.memory["multipliers"]).max()
    assert np.abs(ours.memory["multipliers"] - theirs.memory["multipliers"]).max() < 1e-7 * largest


def test_joints_keep_momentum_and_energy() -> None:
    """Ten seconds of a body of two that spins in free flight, undamped."""
    system, solver = thrown().compile(), sp.Midpoint(5e-3)
    solver.prepare(system)
    state = system.initial_state()
    solver.advance(system, state, 1)  # joins the velocities of beam and box
    start, energy = system.momentum(state), system.kinetic_energy(state) + system.potential_energy(state)
    assert solver.advance(system, state, 2000).is_solved
    assert np.abs(np.asarray(system.momentum(state)) - start).max() < 1e-9 * np.abs(start).max()
    after = system.kinetic_energy(state) + system.potential_energy(state)
    assert abs(after - energy) < 2e-3 * energy
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() < 1e-12


def test_steps_in_two_calls_and_in_a_resumed_run_have_the_bits_of_one(tmp_path: Path) -> None:
    system, solver = hanging().compile(), sp.Midpoint(H)
    solver.prepare(system)
    one, two = system.initial_state(), system.initial_state()
    solver.advance(system, one, 30)
    for steps in (1, 7, 22):
        solver.advance(system, two, steps)
    assert np.array_equal(one.x, two.x)
    assert np.array_equal(one.v, two.v)
    whole = sp.run(hanging(), until=0.2, dt=H)
    sp.run(hanging(), until=0.1, dt=H, out=tmp_path)
    resumed = sp.run(hanging(), until=0.2, dt=H, out=tmp_path, resume=True)
    assert np.array_equal(whole.state.x, resumed.state.x)
    assert np.array_equal(whole.state.v, resumed.state.v)


def test_a_run_without_a_solver_takes_the_loops() -> None:
    run = sp.run(hanging(), until=0.05, dt=H)
    assert any("Midpoint: frames on joints" in note for note in run.system.notes)
    assert run.under_converged == 0


def test_a_pendulum_swings_with_its_period() -> None:
    """A thin rod on a hinge at small angles: T = 2 pi sqrt(2 L / 3 g), read from where it crosses the lowest point."""
    scene, L, g = sp.Scene(gravity=(0, 0, -9.81)), 1.0, 9.81
    rod = scene.add(
        sp.RigidBody(1.0, (1e-6, L**2 / 12, L**2 / 12)), at=(L / 2 * np.sin(0.01), 0, -L / 2 * np.cos(0.01)),
        rotation=(0, np.pi / 2 - 0.01, 0), name="rod",
    )  # fmt: skip
    scene.add(sp.HingeJoint(rod, at=(0, 0, 0), axis=(0, 1, 0)))
    times, places = [], []
    sp.run(scene, until=5.0, dt=H, record_every=0.01,
           observers=[lambda frame: (times.append(frame.state.t), places.append(frame.state.x[0]))])  # fmt: skip
    t, x = np.array(times), np.array(places)
    k = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    crossings = t[k] + x[k] / (x[k] - x[k + 1]) * (t[k + 1] - t[k])
    assert abs(np.diff(crossings).mean() / (2 * np.pi * np.sqrt(2 * L / (3 * g))) - 1) < 2e-4


def test_what_the_loops_do_not_know_takes_the_general_way() -> None:
    scene = hanging(last=False)
    scene.add(sp.Load(scene.nodes[0].points(at=(1.0, 0.05, 0.05)), (0, 0, 1.0)))
    assert linkage_of(scene.compile()) is None
    limited = sp.Scene()
    limited.add(sp.HingeJoint(box(limited, (0, 0, 0), "box"), at=(0, 0, 0), axis=(0, 0, 1), limits=(-1.0, 1.0)))
    assert linkage_of(limited.compile()) is None


def test_joints_that_say_the_same_twice_take_the_general_way() -> None:
    assert all(row.ok for row in four_bar(sp.Midpoint(H)))


def test_a_step_that_the_loops_cannot_solve_is_made_by_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of no iterations they solve none."""
    monkeypatch.setattr("supple.solvers.methods.midpoint.MAX_ITERATIONS", 0)
    system, solver = hanging().compile(), sp.Midpoint(H)
    solver.prepare(system)
    state, theirs = system.initial_state(), system.initial_state()
    report = solver.advance(system, state, 3)
    for _ in range(3):
        solver._step(system, theirs)
    assert report.is_solved
    assert report.steps == 3
    assert state.t == pytest.approx(3 * H)
    assert np.array_equal(state.x, theirs.x)


def test_a_joint_added_while_bodies_stride_alone_is_not_ignored() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    beam = scene.add(BEAM, name="beam")
    system, solver = scene.compile(), sp.StrideSolver(H)
    solver.prepare(system)
    state = system.initial_state()
    solver.advance(system, state, 2)
    system.add(state, sp.BallJoint(beam, at=(0.0, 0.05, 0.05)), name="nail")
    with pytest.raises(InputError, match="joint"):
        solver.advance(system, state, 2)


def test_more_rows_than_a_dense_matrix_suits_take_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linkages, "MOST_ROWS", 4)
    assert linkage_of(hanging().compile()) is None
