"""Contact acts under every solver, or the solver says that it does not see it."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.validation.contact_kinds import MASS, RUBBER, SIDE, cube, five, tree
from supple.validation.tree.coupling import LENGTH, beam_domain_tree

G = 9.81


def test_a_tree_that_is_alone_does_not_fall_through_the_floor() -> None:
    """It falls by half its side in 0.1 s; after 0.3 s without a floor its centre is 0.4 m below it."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(tree(), at=(0, 0, SIDE), name="cube")
    scene.add(sp.Floor())
    run = sp.run(scene, until=0.3)
    centre = run.system.centre_of_mass(run.system.propagate(run.state.t, run.state.x, run.state.v))
    assert centre[2] > 0.4 * SIDE


def test_a_stride_of_trees_refuses_contact_it_does_not_carry() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(tree(), at=(0, 0, SIDE), name="cube")
    scene.add(sp.Contact())
    with pytest.raises(InputError, match="Contact"):
        sp.TreeSolver(1 / 120).prepare(scene.compile())


def test_statics_rests_on_the_floor() -> None:
    """The nine springs of 1 N/m alone let the cube sink by 0.545 m; the floor, at most by a thousandth of its side."""
    scene = sp.Scene(gravity=(0, 0, -G))
    node = scene.add(sp.FemBody(cube(), RUBBER), at=(0, 0, SIDE / 2), name="cube")
    top = node.points(lambda X: X[:, 2] > SIDE - 1e-6)
    scene.add(sp.Springs(top, sp.World.points(top.rest), 1.0, rest_length=0.0))
    scene.add(sp.Floor())
    system = scene.compile()
    assert sp.solve_statics(system).x.reshape(-1, 3)[:, 2].min() > -1e-3 * SIDE


def test_statics_of_a_tree_rests_on_the_floor() -> None:
    """As the cube above; its domain has eight modes and a frame of its own."""
    scene = sp.Scene(gravity=(0, 0, -G))
    node = scene.add(tree(), at=(0, 0, SIDE / 2), name="cube")
    top = node.points(lambda X: X[:, 2] > SIDE - 1e-6)
    scene.add(sp.Springs(top, sp.World.points(top.rest), 1.0, rest_length=0.0))
    scene.add(sp.Floor())
    system = scene.compile()
    heights = system.points(sp.solve_statics(system), "cube")[:, 2]
    assert -1e-3 * SIDE < heights.min() < 0.0
    assert heights.max() == pytest.approx(SIDE, rel=1e-2)


def test_a_free_tree_settles_on_the_floor_with_its_weight() -> None:
    """Five domains, let go 1 mm above. The weight is carried up to what the last stop left moving, 1e-4 of the size."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(five(), at=(0, 0, SIDE / 2 + 1e-3), name="cube")
    scene.add(sp.Floor())
    rest = sp.settle(scene)
    assert -1e-3 * SIDE < rest.system.points(rest.state, "cube")[:, 2].min() < 0.0
    force = rest.system.contacts[0].touching(rest.state.memory).force.sum(axis=0)
    np.testing.assert_allclose(force, (0, 0, MASS * G), atol=1e-3 * MASS * G)


def test_a_branch_comes_down_on_the_floor_in_statics_and_where_it_settles() -> None:
    """A clamped beam of two domains, which would hang 0.14 m through the floor. Its tip sinks in by a thousandth of its
    length at most; the two differ by friction and by the dashpot of a contact, less than that."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.TreeBody(beam_domain_tree(2, 12, cells=16), stiffness_damping=0.02), at=(0, 0, 0.1), name="beam")
    free = scene.compile()
    assert free.points(sp.solve_statics(free), "beam")[:, 2].min() < -0.1
    scene.add(sp.Floor())
    system, rest = scene.compile(), sp.settle(scene, tolerance=1e-6)
    still, settled = system.points(sp.solve_statics(system), "beam"), rest.system.points(rest.state, "beam")
    for points in (still, settled):
        assert -1e-3 * LENGTH < points[:, 2].min() < 0.0
    assert np.abs(still - settled).max() < 5e-4 * LENGTH


def test_a_bullet_does_not_pass_a_wall() -> None:
    """A steel ball of 1 cm at 100 m/s against a fixed steel wall of 5 mm, in steps of a tenth of its radius."""
    scene = sp.Scene(solver=sp.ImplicitEuler(1e-5))
    scene.add(sp.RigidBody.sphere(0.01, density=7800), at=(-0.02, 0.001, 0.0015), velocity=(100, 0, 0), name="bullet")
    scene.add(sp.RigidBody.box((0.005, 0.2, 0.2), density=7800), name="wall", fix=True)
    scene.add(sp.Contact())
    run = sp.run(scene, until=5e-4)
    assert run.system.body("bullet").view_x(run.state.x)[0, 0] < 0
