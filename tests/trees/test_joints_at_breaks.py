"""Joints on a tree that breaks go with the part that they hold on to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.scene.changes import changes_of
from supple.validation.tree.coupling import beam_domain_tree

G = np.array([0.0, 0.0, -9.81])
ROOT = np.array([0.05, 0.0, 0.0])
KINDS = {"ball": sp.BallJoint, "hinge": sp.HingeJoint, "slider": sp.SliderJoint, "fixed": sp.FixedJoint}


def branch() -> tuple[sp.Scene, sp.Node, sp.Node]:
    """A clamped branch of four domains, with a bob under its tip."""
    scene = sp.Scene(gravity=G, solver=sp.Partitioned(0.005))
    tree = scene.add(sp.TreeBody(beam_domain_tree(4, 6), stiffness_damping=0.01), name="branch")
    tip = tree.rest[np.argmax(tree.rest[:, 0])]
    bob = scene.add(sp.RigidBody.sphere(0.02, density=1000), at=tip + np.array([0, 0, -0.05]), name="bob")
    return scene, tree, bob


def tip_of(node: sp.Node) -> np.ndarray:
    return node.rest[np.argmax(node.rest[:, 0])]


def advanced(system: sp.System, state: sp.State, steps: int) -> None:
    solver = sp.Partitioned(0.005)
    for _ in range(steps):
        assert solver.step(system, state).is_solved


def opening(system: sp.System, state: sp.State) -> float:
    """How far the conditions of all joints are from holding."""
    kin = system.propagate(state.t, state.x, state.v)
    return max(float(np.abs(rows.violation(kin.x[slot.index])).max()) for _, slot, rows in system.joints)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("added", [False, True], ids=["from the start", "while it runs"])
def test_a_joint_goes_with_the_part_that_breaks_off(kind: str, added: bool) -> None:
    scene, tree, bob = branch()
    if not added:
        scene.add(KINDS[kind](tree, bob, at=tip_of(tree)), name="tie")
    system = scene.compile()
    state = system.initial_state()
    advanced(system, state, 4)
    if added:
        at = system.points(state, "branch")[np.argmax(tree.rest[:, 0])]
        system.add(state, KINDS[kind](tree, bob, at=at), name="tie")
        advanced(system, state, 4)
    before = opening(system, state)
    twig = system.break_off(state, "branch", 2, name="twig")
    assert opening(system, state) < before + 1e-9  # what it holds on to has not changed
    assert system.joint_readings(state)["tie"].bodies == (twig, "bob")
    start = momentum(system, state)
    advanced(system, state, 8)
    mass = system.body(twig).body.total_mass + system.body("bob").body.mass
    assert momentum(system, state) - start == pytest.approx(0.04 * mass * G, abs=1e-6 * mass)
    assert opening(system, state) < 1e-4


def momentum(system: sp.System, state: sp.State) -> np.ndarray:
    """Of the twig and the bob, (3,) [kg m/s]."""
    twig = system.body("twig")
    own = twig.body.measures(twig.view_x(state.x), twig.view_v(state.v)).momentum[:3]
    return own + system.body("bob").body.mass * system.velocities(state, "bob")[0, :3]


def test_a_joint_on_the_rest_stays_there() -> None:
    scene, tree, _ = branch()
    held = scene.add(sp.RigidBody.sphere(0.02, density=1000), at=ROOT + np.array([0, 0, 0.1]), name="held")
    scene.add(sp.FixedJoint(tree, held, at=ROOT, patch_a=0.15), name="tie")
    system = scene.compile()
    state = system.initial_state()
    advanced(system, state, 2)
    system.break_off(state, "branch", 2, name="twig")
    assert system.joint_readings(state)["tie"].bodies == ("branch", "held")
    advanced(system, state, 4)
    assert np.abs(system.velocities(state, "held")).max() < 0.5  # it does not fall


def test_a_resumed_run_has_the_same_bits(tmp_path: Path) -> None:
    def run(out: Path, until: float = 0.1, *, resume: bool = False) -> sp.Run:
        def observer(frame) -> None:
            if frame.time >= 0.025 and not changes_of(frame.state):
                frame.system.break_off(frame.state, "branch", 2, name="twig")
                frame.system.change(frame.state, "tie", motor_speed=2.0)

        scene, tree, bob = branch()
        scene.add(sp.HingeJoint(tree, bob, at=tip_of(tree), axis=(0, 1, 0), motor_speed=0.0), name="tie")
        return sp.run(scene, until=until, out=out, record_every=0.01, observers=[observer], resume=resume)

    whole = run(tmp_path / "whole")
    run(tmp_path / "parts", 0.06)
    parts = run(tmp_path / "parts", resume=True)
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    assert parts.system.joint_readings(parts.state)["tie"].speed == pytest.approx(2.0, rel=1e-3)
