"""Bodies that touch no lattice are solved apart from those that do: the same step as all of them together."""

from __future__ import annotations

import numpy as np
import pytest
from tests.threads import stepped_by_one_and_two, two_threads

import supple as sp
from supple.solvers.coupling import beside, contact_steps
from supple.solvers.coupling.slow_step import SlowStep
from supple.solvers.coupling.split_step import SplitStep
from supple.solvers.methods import partitioned
from supple.validation.contact_kinds import RUBBER, cube, momenta, tree

H = 0.005


def plate() -> sp.VoxelBody:
    """Four by four voxels of 3 cm, whose upper side is z = 0."""
    grid = sp.VoxelGrid(np.ones((4, 4, 1), dtype=int), 0.03, origin=np.array([-0.06, -0.06, -0.03]))
    return sp.VoxelBody(grid, sp.VoxelMaterial(1e6, density=800, bond_damping=0.3))


def scene_of(case: str, linear: str = "auto") -> sp.Scene:
    """A ball on a plate of voxels, a cube on the floor beside them, and what the case has more."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(H, implicit=sp.ImplicitEuler(H, linear=linear)))
    scene.add(sp.Floor(-0.03))
    scene.add(plate(), name="plate")
    ball = scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.002, 0.001, 0.0302), name="ball")
    soft = scene.add(sp.FemBody(cube(), RUBBER), at=(0.3, 0, 0.0305), rotation=(0.02, 0.01, 0), name="cube")
    if case == "tree on voxels":
        scene.add(tree(), at=(0.0, 0.0, 0.13), name="tree")
    if case == "tree beside":
        scene.add(tree(), at=(0.6, 0, 0.0305), name="tree")
        scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.6, 0, 0.115), name="on the tree")
    if case == "held":
        scene.add(sp.FixedPoints(soft, np.flatnonzero(cube().nodes[:, 0] < -0.049)))
    if case == "bound":
        scene.add(sp.Springs(soft.points([0]), ball.points(at=[(0.002, 0.001, 0.06)]), 40.0, damping=0.1))
    scene.add(sp.Contact(friction=0.5))
    return scene


def whole(begun: SlowStep, law: np.ndarray, both: np.ndarray) -> SplitStep:
    return SplitStep(begun, [], law, law)


@pytest.mark.parametrize("case", ["alone", "tree on voxels", "tree beside", "held", "bound"])
def test_parts_of_a_step_are_the_whole(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact_steps, "TOLERANCE", 1e-12)
    scene = scene_of(case)
    system = scene.compile()
    state, split = system.initial_state(), []
    of = SplitStep.of
    slot = system.body("cube")
    for _ in range(30):
        monkeypatch.setattr(partitioned.SplitStep, "of", lambda *a: split.append(of(*a)) or split[-1])
        together = state.copy()
        scene.solver.step(system, state)
        monkeypatch.setattr(partitioned.SplitStep, "of", whole)
        scene.solver.step(system, together)
        # the whole is iterated to 1e-12 of all impulses; stiff friction magnifies that in the spin of a light ball
        assert np.abs(state.v - together.v).max() < 1e-5
        assert case == "bound" or np.abs(slot.view_v(state.v) - slot.view_v(together.v)).max() < 1e-9
    apart = [s for s in split if s.near is not None and s.rest]
    assert len(apart) > (15 if case != "bound" else -1)
    assert case != "bound" or not apart
    assert case != "tree beside" or any(len(s.rest) == 2 for s in apart)


@pytest.mark.parametrize("linear", ["auto", "cg"])
def test_momentum_is_exchanged_alone(linear: str) -> None:
    """Without gravity and floor what two bodies on voxels and one beside them have together stays."""
    scene = sp.Scene(solver=sp.Partitioned(H, implicit=sp.ImplicitEuler(H, linear=linear)))
    scene.add(plate(), name="plate")
    scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.0, 0, 0.031), velocity=(0.1, 0, -1.0), name="ball")
    scene.add(sp.FemBody(cube(), RUBBER), at=(0.4, 0, 0), velocity=(0.5, 0, 0), name="cube")
    scene.add(sp.RigidBody.sphere(0.03, density=400), at=(0.49, 0, 0), name="target")
    scene.add(sp.Contact(friction=0.5))
    system = scene.compile()
    state = system.initial_state()
    before = momenta(system, state).sum(axis=0)
    for _ in range(30):
        scene.solver.step(system, state)
    after = momenta(system, state).sum(axis=0)
    assert np.abs(system.body("target").view_v(state.v)[:, :3]).max() > 0.1
    assert np.abs(after - before).max() < 1e-12


@two_threads
def test_a_sweep_beside_the_rest_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stepped_by_one_and_two(scene_of("tree beside"), 10, beside, monkeypatch).begun == (0, 10)
