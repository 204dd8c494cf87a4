"""Newton's method for contacts in one compiled call against the general loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.solvers.coupling import contact_steps
from supple.solvers.linear.step_blocks import StepBlocks

H = 0.005
BOX = sp.box_tets((0.1, 0.1, 0.1), (4, 4, 4))


def make_scene(*, held: bool = False) -> sp.Scene:
    """A ball on a plate of voxels; a soft box slides on the floor beside them, on which a rigid one falls."""
    implicit = sp.ImplicitEuler(H, linear="cg", tolerance=1e-11)
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(H, implicit=implicit))
    scene.add(sp.Floor(-0.03))
    grid = sp.VoxelGrid(np.ones((4, 4, 1), dtype=int), 0.03, origin=np.array([-0.06, -0.06, -0.03]))
    scene.add(sp.VoxelBody(grid, sp.VoxelMaterial(1e6, density=800, bond_damping=0.3)), name="plate")
    scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.002, 0.001, 0.0302), name="ball")
    soft = sp.FemBody(BOX, sp.Material(5e4, 0.3, 300, stiffness_damping=0.002))
    box = scene.add(soft, at=(0.3, 0, 0.0221), rotation=(0.02, 0.01, 0), velocity=(0.5, 0.1, 0), name="box")
    scene.add(sp.RigidBody.sphere(0.03, density=900), at=(0.36, 0, 0.107), name="on the box")
    if held:
        scene.add(sp.FixedPoints(box, np.flatnonzero(BOX.nodes[:, 0] < 1e-3)))
    scene.add(sp.Contact(friction=0.5))
    return scene


def step_both_ways(monkeypatch: pytest.MonkeyPatch, scene: sp.Scene, steps: int) -> tuple[float, list[Any]]:
    """The largest difference of positions in one step, and what compiled calls gave."""
    system, iterate, found, worst, same = scene.compile(), StepBlocks.iterate, [], 0.0, 0

    def noted(self: StepBlocks, *given: Any) -> Any:
        found.append(iterate(self, *given))
        return found[-1]

    state = system.initial_state()
    for _ in range(steps):
        other = state.copy()
        monkeypatch.setattr(StepBlocks, "iterate", noted)
        one = scene.solver.step(system, state)
        monkeypatch.setattr(StepBlocks, "iterate", lambda self, *given: None)
        two = scene.solver.step(system, other)
        assert one.is_solved
        assert two.is_solved
        same += one.iterations == two.iterations
        worst = max(worst, float(np.abs(state.x - other.x).max()), H * float(np.abs(state.v - other.v).max()))
    assert same >= steps - 2  # rounding may decide whether a contact slides in an iteration
    return worst, found


@pytest.mark.parametrize("held", [False, True])
def test_the_compiled_loop_equals_the_general_one(held: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    worst, found = step_both_ways(monkeypatch, make_scene(held=held), 40)
    settled = [one for one in found if one is not None]
    assert len(settled) >= 30
    assert max(one.iterations for one in settled) > 2
    assert worst < 1e-11 * 0.1  # of the size, to which linear solutions end


def test_what_does_not_settle_is_left_to_the_general_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact_steps, "WHOLE", 1)
    worst, found = step_both_ways(monkeypatch, make_scene(), 12)
    assert found
    assert all(one is None for one in found)
    assert worst == 0.0
