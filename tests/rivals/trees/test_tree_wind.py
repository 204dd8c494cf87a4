"""Winds on trees, as wrenches on domains in lanes, against the same brought to the coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree import TreeModel
from supple.bodies.tree.kinematics import TreeKinematics
from supple.scene.system import System
from supple.validation.tree.coupling import beam_domain_tree, random_state
from supple.validation.tree.reference import mixed_domain_tree

TREES = {
    "mixed": lambda: mixed_domain_tree(free=False, chain=False),
    "free chain": lambda: mixed_domain_tree(free=True, chain=True),
    "of one kind": lambda: beam_domain_tree(11, 6),
}


def blown(which: str) -> tuple[System, sp.TreeSolver, sp.TreeBody]:
    """A tree in two winds, one of which pushes both sides of a face."""
    body = sp.TreeBody(TreeModel.of(TREES[which]()), stiffness_damping=0.01)
    scene = sp.Scene()
    node = scene.add(body, name="tree")
    scene.add(sp.Wind(node, (2.0, -3.0, 0.5), intensity=0.3, modes=9))
    scene.add(sp.Wind(node, (0.0, 1.0, 4.0), intensity=0.2, modes=3, two_sided=True))
    system, solver = scene.compile(), sp.TreeSolver(1 / 60)
    solver.prepare(system)
    return system, solver, body


@pytest.mark.parametrize("which", TREES)
def test_wrenches_of_winds_accelerate_a_tree_as_forces_on_its_coordinates(which: str) -> None:
    _, solver, body = blown(which)
    x, v = body.rest_coordinates, np.zeros((1, body.coordinates.v_width))
    state = random_state(body.dynamics, np.random.default_rng(4))
    body.pack(state, x, v)
    acting = solver._given[0]
    split, whole = acting.at(0.3, x, v, 0.0), acting.on_coordinates(0.3, x, v, 0.0)
    assert split.wrenches is not None
    assert np.abs(split.wrenches).max() > 0
    n = body.model.coordinate_count
    push = np.concatenate([whole[0, :3], rotations.rotate(x[0, 3:7], whole[0, 3:6])])
    found = body.dynamics.accelerations(state, forces=split.forces[0, 6 : 6 + n], wrenches=split.wrenches)
    expected = body.dynamics.accelerations(state, forces=whole[0, 6 : 6 + n], push=push)
    for a, b in zip(found, expected):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * max(1.0, float(np.abs(b).max())))


@pytest.mark.parametrize("which", TREES)
def test_wrenches_of_winds_sum_to_the_force_of_the_air(which: str) -> None:
    """The force on a whole tree is that on the points of its patches, whatever its shape."""
    system, solver, body = blown(which)
    x, v = body.rest_coordinates, np.zeros((1, body.coordinates.v_width))
    state = random_state(body.dynamics, np.random.default_rng(5))
    body.pack(state, x, v)
    wrenches = solver._given[0].at(0.3, x, v, 0.0).wrenches
    R = TreeKinematics(body.model).motion(state.q, state.v, state.frame, state.velocity).R
    kin, total = system.propagate(0.3, x.ravel(), v.ravel()), np.zeros(3)
    for _, slot, force in system.forces:
        if isinstance(force, sp.Wind):
            f = np.zeros_like(kin.v[slot.index])
            force.add_force(kin.local(slot), f)
            total += f.sum(axis=0)
    assert np.einsum("dij,dj->i", R, wrenches[:, 3:]) == pytest.approx(total, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("which", TREES)
def test_strides_in_wind_have_the_bits_of_steps(which: str) -> None:
    system, solver, _ = blown(which)
    one, many = system.initial_state(), system.initial_state()
    for k in range(12):
        solver.step(system, one)
        one.t = (k + 1) * solver.dt
    solver.advance(system, many, 12)
    assert np.array_equal(one.x, many.x)
    assert np.array_equal(one.v, many.v)
    assert np.abs(many.v).max() > 0


def test_a_free_tree_takes_up_the_momentum_that_the_wind_has() -> None:
    """A still wind on both sides of a tree that flies: what its momentum changes by is the force in the middle."""
    system, solver, body = blown("free chain")
    state, h = system.initial_state(), solver.dt
    before = system.momentum(state)
    given = solver._given[0].at(0.0, state.x[None], state.v[None], h)
    R = TreeKinematics(body.model).motion(state.x[7:], state.v[6:], state.x[:7], state.v[:6]).R
    force = np.einsum("dij,dj->i", R, given.wrenches[:, 3:])
    solver.step(system, state)
    change = (system.momentum(state) - before)[:3] / h
    assert change == pytest.approx(force, rel=0.02, abs=0.01 * np.abs(force).max())  # it turns within the step
