"""A tree of one domain in couplings against a floating body with the same modes, and against the world."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.validation.contact_kinds import KINDS, MASS, RUBBER, SIDE, cube
from supple.validation.couplings import COUPLINGS, SPIN

UNTIL = 0.2


def end(kind: str, coupling: str, dt: float) -> np.ndarray:
    """Where a rigid cube is that a body of a kind turns with."""
    scene = sp.Scene(solver=sp.Partitioned(dt))
    one = scene.add(KINDS["rigid"](), spin=(0, 0, SPIN), name="one")
    two = scene.add(KINDS[kind](), at=(2 * SIDE, 0, 0), velocity=(0, SPIN * SIDE, 0.1), spin=(0, 0, SPIN), name="two")
    if coupling == "spring":
        scene.add(sp.Springs(one.points(at=[(SIDE / 2, 0, 0)]), two.points(at=[(1.5 * SIDE, 0, 0)]), 300.0, 1.0))
    else:
        scene.add(COUPLINGS[coupling](one, two))
    run = sp.run(scene, until=UNTIL)
    return run.system.positions(run.state, "one")[0, :3]


@pytest.mark.parametrize("coupling", ["spring", "ball", "hinge"])
def test_a_tree_and_a_floating_body_come_to_the_same_with_smaller_steps(coupling: str) -> None:
    """Both schemes are of first order in these steps; they differ in how they treat fast rotation."""
    apart = [np.linalg.norm(end("tree", coupling, dt) - end("floating", coupling, dt)) for dt in (1 / 100, 1 / 200)]
    assert apart[0] < 0.05 * SIDE
    assert apart[1] < 0.6 * apart[0]


def test_a_joint_at_a_held_point_of_a_tree_is_one_with_the_world() -> None:
    """Nothing of the tree moves there, so that the row responds by the rigid body alone."""
    mesh, ends = cube(), []
    held = np.flatnonzero(mesh.nodes[:, 2] < mesh.nodes[:, 2].min() + 1e-9)
    domain = sp.DomainTree({"cube": sp.DomainTemplate("cube", mesh, RUBBER, 8, held=held)}, [sp.Domain("cube")])
    place = mesh.nodes[held[0]]
    for with_tree in (True, False):
        scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(1 / 100))
        stick = sp.RigidBody(MASS, np.array([4.0, 4.0, 1.0]) * 1e-4)
        box = scene.add(stick, at=place + np.array([0.05, 0, 0]), name="box")
        tree = scene.add(sp.TreeBody(domain), name="tree")
        other = tree.points([int(tree.body.nearest_points(place[None])[0])]) if with_tree else sp.World.points([place])
        scene.add(sp.BallJoint(box.points(at=[place]), other))
        run = sp.run(scene, until=0.3)
        ends.append(run.system.positions(run.state, "box").copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)
