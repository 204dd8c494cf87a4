"""Springs and joints that are added and removed while bodies of all kinds move: they take hold where the bodies are,
change no momentum, and a resumed run has them again, to the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import VoxelBody
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.scene.changes import changes_of
from supple.validation.tree.coupling import beam_domain_tree

SOFT = sp.Material(2e5, 0.3, 1000, stiffness_damping=0.01)


def fem() -> sp.FemBody:
    return sp.FemBody(sp.box_tets(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)), SOFT)


def voxels() -> VoxelBody:
    return VoxelBody(VoxelGrid(np.ones((2, 2, 1), dtype=int), 0.1), VoxelMaterial(young=1e6, density=1000))


KINDS = {
    "rigid": lambda: sp.RigidBody.box((0.2, 0.1, 0.1), density=800),
    "fem": fem,
    "particles": lambda: sp.Particles(
        [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)],
        0.2,
        springs=[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)],
        stiffness=1e4,
    ),
    "voxels": voxels,
    "floating": lambda: sp.FloatingBody.from_solid(
        ElasticSolid(sp.box_tets(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)), SOFT), modes=4
    ),
}
MOVES = {"velocity": (0.3, -0.1, 0.2), "spin": (2.0, 3.0, -4.0)}


def flying(kind: str) -> sp.Scene:
    scene = sp.Scene()
    scene.add(KINDS[kind](), name="body", at=(0.1, 0.2, 0.3), **MOVES)
    scene.add(sp.RigidBody.sphere(0.05, density=2000), name="hand", at=(0.5, 0.2, 0.3), velocity=(-0.4, 0, 0))
    return scene


def momentum(system: sp.System, state: sp.State) -> np.ndarray:
    return system.momentum(system.propagate(state.t, state.x, state.v, state.memory))


def place(system: sp.System, state: sp.State) -> np.ndarray:
    return system.present(state, "body").rest.mean(axis=0)


@pytest.mark.parametrize(
    ("kind", "joint"),
    [(kind, sp.FixedJoint) for kind in KINDS]
    + [("rigid", sp.HingeJoint), ("fem", sp.SliderJoint), ("floating", sp.BallJoint), ("voxels", sp.BallJoint)],
)
def test_a_joint_takes_hold_of_bodies_as_they_stand(kind: str, joint: type) -> None:
    scene = flying(kind)
    system, solver = scene.compile(), sp.Partitioned(0.002)
    state = system.initial_state()
    for _ in range(40):
        solver.step(system, state)
    x, p = state.x.copy(), momentum(system, state)
    system.add(state, joint(scene.node("body"), scene.node("hand"), at=place(system, state)), name="grip")
    assert np.array_equal(state.x, x)
    assert np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max() < 1e-12
    assert momentum(system, state) == pytest.approx(p, abs=1e-15)
    for _ in range(10):
        solver.step(system, state)
    assert np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max() < 1e-6
    assert momentum(system, state)[:3] == pytest.approx(p[:3], abs=1e-12)
    system.remove(state, "grip")
    assert not system.joints
    solver.step(system, state)
    assert momentum(system, state)[:3] == pytest.approx(p[:3], abs=1e-12)


@pytest.mark.parametrize("kind", ["rigid", "fem", "voxels", "floating"])
def test_points_of_now_are_where_they_were_asked_for(kind: str) -> None:
    scene = flying(kind)
    system, solver = scene.compile(), sp.Partitioned(0.002)
    state = system.initial_state()
    for _ in range(60):
        solver.step(system, state)
    at = place(system, state) + np.array([[0.01, 0.005, -0.012], [-0.02, 0.01, 0.008]])
    points = system.present(state, "body").points(at=at)
    assert points.mapping.apply(system.positions(state, "body")) == pytest.approx(at, abs=1e-12)
    assert points.parent is scene.node("body")


def test_a_tree_is_grasped_where_it_is_bent() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.TreeBody(beam_domain_tree(2, 6), stiffness_damping=0.01), name="branch")
    scene.add(sp.RigidBody.sphere(0.05, density=500), name="bird", at=(0.7, 0, 0.5), velocity=(0, 0, 4.905))
    system, solver = scene.compile(), sp.Partitioned(0.005)
    state = system.initial_state()
    for _ in range(60):
        solver.step(system, state)
    tip = system.present(state, "branch").rest[-1]
    assert np.linalg.norm(tip - scene.node("branch").rest[-1]) > 1e-4
    system.add(state, sp.FixedJoint(scene.node("branch"), scene.node("bird"), at=tip))
    for _ in range(20):
        solver.step(system, state)
        assert np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max() < 1e-6


def test_springs_have_the_length_of_now() -> None:
    scene = flying("fem")
    system, solver = scene.compile(), sp.Midpoint(0.002)
    state = system.initial_state()
    for _ in range(20):
        solver.step(system, state)
    body, p = system.present(state, "body"), momentum(system, state)
    ends = body.points([3, 5]), system.present(state, "hand").points(local=[(0, 0, 0), (0.05, 0, 0)])
    name = system.add(state, sp.Springs(*ends, stiffness=100.0, damping=0.1))
    kin = system.propagate(state.t, state.x, state.v)
    force = next(f for f in system.forces if f.label == name)
    assert force.force.energy(kin.local(force.slot)) == pytest.approx(0.0, abs=1e-20)
    for _ in range(20):
        solver.step(system, state)
    assert momentum(system, state) == pytest.approx(p, abs=1e-11)
    system.change(state, name, stiffness=50.0)
    system.change(state, name, enabled=False)
    system.remove(state, name)
    assert [tuple(change.values) for change in changes_of(state)] == [
        ("added",),
        ("stiffness",),
        ("enabled",),
        ("removed",),
    ]


def grabbing(scene: sp.Scene, out: Path, until: float, *, resume: bool = False) -> sp.Run:
    """A run that grabs at 0.06 s and lets go at 0.12 s."""

    def observer(frame) -> None:
        system, state, names = frame.system, frame.state, [c.name for c in changes_of(frame.state)]
        if frame.time >= 0.06 and not names:
            joint = sp.FixedJoint(scene.node("body"), scene.node("hand"), at=place(system, state))
            system.add(state, joint, name="grip")
        if frame.time >= 0.12 and len(names) == 1:
            system.remove(state, "grip")

    return sp.run(scene, until=until, dt=0.01, record_every=0.02, out=out, observers=[observer], resume=resume)


@pytest.mark.parametrize(("kind", "stops"), [("rigid", (0.03, 0.09, 0.13)), ("fem", (0.09,)), ("voxels", (0.09,))])
def test_a_resumed_run_has_the_same_bits(kind: str, stops: tuple[float, ...], tmp_path: Path) -> None:
    whole = grabbing(flying(kind), tmp_path / "whole", 0.16)
    for number, stop in enumerate(stops):
        out = tmp_path / f"parts-{number}"
        grabbing(flying(kind), out, stop)
        check_same(whole, grabbing(flying(kind), out, 0.16, resume=True))


def check_same(whole: sp.Run, parts: sp.Run) -> None:
    assert len(changes_of(whole.state)) == 2
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    ends = [run.frames.joints(k) for run in (whole, parts) for k in (2, 5, -1)]
    assert [set(joints) for joints in ends] == [set(), {"grip"}, set()] * 2
    assert np.array_equal(ends[1]["grip"].force, ends[4]["grip"].force)


def test_bad_couplings_are_named_and_change_nothing() -> None:
    scene = flying("rigid")
    hand, body = scene.node("hand"), scene.node("body")
    system = scene.compile()
    state = system.initial_state()

    def refused(said: str, thing: object, **more: object) -> None:
        with pytest.raises(InputError, match=said):
            system.add(state, thing, **more)
        assert not changes_of(state)
        assert not system.joints
        assert not [key for key in state.memory if key.startswith("changes")]

    far = sp.BallJoint(body.points(local=[(0, 0, 0)]), hand.points(local=[(0, 0, 0)]))
    refused("apart", far)
    refused("cannot be added", sp.Contact())
    refused(
        "cannot be kept", sp.Springs(body.points(local=[(0, 0, 0)]).centroid(), hand.points(local=[(0, 0, 0)]), 1.0)
    )
    refused("function", sp.HingeJoint(body, hand, at=(0.3, 0, 0), motor_speed=lambda t: t, motor_torque=1.0))
    refused("itself|one rigid body", sp.BallJoint(body, body, at=(0.1, 0.2, 0.3)))
    other = sp.Scene().add(sp.RigidBody.sphere(0.1, density=1.0), name="stranger")
    refused("no body of that name", sp.BallJoint(other, hand, at=(0.5, 0.2, 0.3)))
    with pytest.raises(InputError, match="no force or joint"):
        system.remove(state, "grip")
    system.add(state, sp.BallJoint(body, hand, at=(0.3, 0.2, 0.3)), name="grip")
    with pytest.raises(InputError, match="already used"):
        system.add(state, sp.BallJoint(body, hand, at=(0.3, 0.2, 0.3)), name="grip")
