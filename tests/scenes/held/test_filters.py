"""Filters: projectors, and points that stay where they must."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.scenes.held.stepping import RNG, all_solvers, chain, run, solver_of

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.validation.contact_kinds import KINDS


def filtered_scene() -> tuple[sp.Scene, Any, Any]:
    scene = sp.Scene(gravity=(0.3, -0.5, -9.81))
    net = chain(scene, 6)
    box = scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=800), at=(0, 1, 0), rotation=(0.3, 0.2, 0.1), name="box")
    scene.add(sp.FixedPoints(net, [0]))
    scene.add(sp.SlidingPlane(net, [1, 2], normal=(1.0, 2.0, -0.5)))
    scene.add(sp.FixedAxes(net, [3, 4], axes="xz"))
    scene.add(sp.SlidingPlane(net, [4], normal=(0.0, 0.0, 1.0)))
    scene.add(sp.FixedAxes(net, [2], axes="y"))
    scene.add(sp.FixedPoints(box, rotation=True))
    scene.add(sp.Springs(net.points([5]), box.points(local=[[0.1, 0, 0]]), 20.0))
    return scene, net, box


def test_projectors_are_orthogonal_and_idempotent():
    system = filtered_scene()[0].compile()
    C = system.filter.projectors
    np.testing.assert_allclose(C @ C, C, atol=1e-15)
    np.testing.assert_allclose(C, np.swapaxes(C, 1, 2), atol=0)
    d = RNG.normal(size=system.v_size)
    once = d.copy()
    system.filter.project(once)
    twice = once.copy()
    system.filter.project(twice)
    np.testing.assert_allclose(once, twice, atol=1e-15)
    assert once @ (d - once) == pytest.approx(0.0, abs=1e-14)


def test_filters_leave_the_right_number_of_free_motions():
    """Fixed 0, plane 2, plane and axis 1, two axes 1, axes and a plane they hold 1, free 3; the box is held."""
    system = filtered_scene()[0].compile()
    C = np.broadcast_to(np.eye(3), (system.v_size // 3, 3, 3)).copy()
    C[system.filter.blocks] = system.filter.projectors
    ranks = np.rint(np.trace(C, axis1=1, axis2=2)).astype(int)
    np.testing.assert_array_equal(ranks, [0, 2, 1, 1, 1, 3, 0, 0])


def test_position_and_velocity_projections_are_idempotent():
    system = filtered_scene()[0].compile()
    x, v = system.retract(system.x0, 0.1 * RNG.normal(size=system.v_size)), RNG.normal(size=system.v_size)
    for _ in range(2):
        system.filter.project_position(x, 0.3)
        system.filter.project_velocity(v, 0.3, 0.01)
    x2, v2 = x.copy(), v.copy()
    system.filter.project_position(x2, 0.3)
    system.filter.project_velocity(v2, 0.3, 0.01)
    np.testing.assert_allclose(x2, x, atol=1e-15)
    np.testing.assert_allclose(v2, v, atol=1e-15)
    assert np.abs(system.filter.increment(x, 0.3)).max() <= 1e-15


@all_solvers
def test_filtered_points_stay_where_they_must(name):
    scene, net, _ = filtered_scene()
    system = scene.compile()
    state = run(system, solver_of(name, 0.005), 60)
    x, v = system.positions(state, "chain"), system.velocities(state, "chain")
    start = net.rest
    n = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    exactly = {"atol": 1e-14}
    np.testing.assert_allclose(x[0], start[0], **exactly)
    np.testing.assert_allclose((x[1:3] - start[1:3]) @ n, 0.0, **exactly)
    np.testing.assert_allclose(x[2, 1], start[2, 1], **exactly)
    np.testing.assert_allclose(x[3:5][:, [0, 2]], start[3:5][:, [0, 2]], **exactly)
    np.testing.assert_allclose(system.positions(state, "box")[0], system.x0[18:], **exactly)
    assert np.abs(x - start).max() > 1e-2  # the free directions did move
    np.testing.assert_allclose(v[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(v[1:3] @ n, 0.0, atol=1e-12)
    np.testing.assert_allclose(system.velocities(state, "box"), 0.0, atol=1e-12)


def test_a_sliding_point_does_not_drift_in_a_thousand_steps():
    """It is thrown across the plane and pulled by a spring: after 1000 steps it is on it to the last bit but one."""
    scene = sp.Scene(gravity=(0.1, 0.2, -9.81))
    bead = scene.add(sp.Particles([[0.1, 0.2, 0.3]], 0.5), velocity=(1.0, -1.0, 2.0), name="bead")
    scene.add(sp.SlidingPlane(bead, normal=(1.0, 1.0, 1.0)))
    scene.add(sp.Springs(bead.points(), sp.World.points([[0.0, 0.0, 1.0]]), 30.0, rest_length=0.5))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    furthest = 0.0
    for _ in range(1000):
        assert solver.step(system, state).is_solved
        furthest = max(furthest, np.abs(state.x - system.x0).max())
        assert abs((state.x - system.x0).sum()) <= 1e-14
    assert furthest > 0.1


def test_free_spin_of_a_frame_fixed_in_its_origin():
    scene = sp.Scene(gravity=(0, 0, -9.81))
    top = scene.add(sp.RigidBody(1.0, (1.0, 1.0, 1.0)), spin=(0.0, 0.0, 2.0), name="top")
    scene.add(sp.FixedPoints(top, rotation=False))
    system = scene.compile()
    state = run(system, sp.Midpoint(0.01), 50)
    np.testing.assert_allclose(state.x[:3], 0.0, atol=1e-15)
    np.testing.assert_allclose(rotations.log(state.x[3:]), [0.0, 0.0, 1.0], atol=1e-12)


@pytest.mark.parametrize("selector", [None, [0], [5], lambda X: X[:, 0] > 0.0])
def test_a_tree_is_not_held_by_points(selector):
    """Its points are none of its coordinates: statics and modes would hold its frame in their place."""
    scene = sp.Scene()
    node = scene.add(KINDS["tree"](), name="tree")
    with pytest.raises(InputError, match="filters act on points and frames"):
        scene.add(sp.FixedPoints(node, selector))
