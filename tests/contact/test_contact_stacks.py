"""Every kind of body rests on every other, shortened; `supple validate contact/pairs` runs them for five seconds."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bench.rigid_contact import tower_scene
from supple.examples import garden, gripper, stack
from supple.validation.contact_kinds import STACKS, resting


@pytest.mark.parametrize(("below", "above"), STACKS)
def test_one_lies_on_the_other(below: str, above: str) -> None:
    """In 0.3 s nothing slides by more than a hundredth of its size, falls through, or leaves a step unsolved."""
    drift, moving, failed = resting(below, above, until=0.3)
    assert failed == 0
    assert drift < 0.01
    assert moving < 0.01


def test_a_garden_of_all_kinds_begins_without_a_warning() -> None:
    """The example, with an oak of few leaves, until its balls have fallen; warnings are errors in tests."""
    run = sp.run(garden.make(leaves=40), until=24 * garden.STEP)
    assert run.steps == 24
    assert np.isfinite(run.state.x).all()
    assert run.system.body("ball").view_x(run.state.x)[0, 2] < 0.15  # from 0.2 m onto the robot


def test_boxes_of_a_stack_neither_sink_nor_creep() -> None:
    """The example, to half a second after its boxes have landed; it runs for ten."""
    run = sp.run(stack.make(), until=2.5, record_every=0.1)
    points = {slot.name: np.array([run.frames.points(slot.name, k) for k in range(26)]) for slot in run.system.bodies}
    touching = stack.touching_points(points)
    assert [seen.shape for seen in touching] == [(26, 9, 3)] * 4
    assert run.under_converged == 0
    assert max(stack.largest_way(seen[20:]) for seen in touching) < 1e-5
    assert max(stack.largest_way(x[20:]) for x in points.values()) < 1e-3  # the column sways yet


def test_a_gripper_lifts_a_box_and_holds_it() -> None:
    """The example, to half a second after it is up; it holds for five."""
    run = sp.run(gripper.make(), until=2.5, record_every=0.05)
    slip, height, force = gripper.check(run)
    assert run.under_converged == 0
    assert height.ok
    assert force.ok
    assert slip.value < 1e-5  # single precision shows none


def test_a_tower_of_ten_rigid_boxes_stands_still() -> None:
    """Half a second to sink in by its weight, then two: what moves is round-off, 2e-13 m where a step carries 1e-13."""
    scene = tower_scene()
    system, solver = scene.compile(), scene.solver
    assert solver is not None
    solver.prepare(system)
    state, middles = system.initial_state(), []
    for _ in range(500):
        assert solver.step(system, state).is_solved
        middles.append(state.x.reshape(-1, 7)[:, :3].copy())
    assert stack.largest_way(np.array(middles[100:])) < 1e-11
