"""Scenes that cannot be meant are refused in Python and in files: what is wrong is named, and the fix helps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import TreeBody
from supple.decompose import decompose
from supple.errors import ConvergenceError, FileFormatError, InputError

RUBBER = sp.Material(1e6, 0.3, 1000)
HEADER = """
supple = 1
[materials.rubber]
young = 1e6
poisson = 0.3
density = 1000
[[bodies]]
name = "box"
kind = "rigid"
box = { size = [0.2, 0.2, 0.2] }
density = 500
[[bodies]]
name = "other"
kind = "rigid"
box = { size = [0.2, 0.2, 0.2] }
density = 500
at = [0.2, 0, 0]
[[bodies]]
name = "beam"
kind = "fem"
mesh = { box = { size = [0.4, 0.1, 0.1], cells = [4, 1, 1] } }
material = "rubber"
at = [0, 1, 0]
"""


def scene_of(*extra: str) -> sp.Scene:
    """The bodies of the header, in Python."""
    scene = sp.Scene()
    scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=500), name="box")
    scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=500), at=(0.2, 0, 0), name="other")
    scene.add(sp.FemBody(sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1)), RUBBER), at=(0, 1, 0), name="beam")
    return scene


def load_with(text: str, folder: Path) -> sp.Scene:
    (folder / "scene.toml").write_text(HEADER + text)
    return sp.load(folder / "scene.toml")  # type: ignore[no-any-return]


def runs(scene: sp.Scene) -> bool:
    return bool(sp.run(scene, until=0.02, dt=0.005).outcome == "finished")


def points(node: sp.Node, k: int) -> Any:
    return node.points(local=[(0.05 * k, 0, 0)]) if node.is_frame else node.points([k])


@pytest.mark.parametrize("body", ["box", "beam"])
def test_a_point_coupled_with_itself(body: str) -> None:
    scene = scene_of()
    node = scene.node(body)
    for coupling in (
        sp.Springs(points(node, 1), points(node, 1), 10.0),
        sp.BallJoint(points(node, 1), points(node, 1)),
    ):
        with pytest.raises(InputError, match=r"a point is coupled with itself.*another point of the body"):
            scene.add(coupling)
    scene.add(sp.Springs(points(node, 1), points(node, 3), 10.0))  # the fix: another point of the body
    assert runs(scene)


def test_a_point_of_a_tree_coupled_with_itself() -> None:
    scene = sp.Scene()
    mesh = sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1))
    tree = scene.add(TreeBody(decompose(mesh, np.arange(24) // 12, material=RUBBER, modes=4, fixed="x_min")))
    with pytest.raises(InputError, match="coupled with itself"):
        scene.add(sp.Springs(tree.points([5]), tree.points([5]), 10.0))
    with pytest.raises(InputError, match="coupled with itself"):
        scene.add(sp.HingeJoint(tree, tree, at=(0.4, 0, 0)))
    scene.add(sp.Springs(tree.points([5]), tree.points([9]), 10.0))
    assert runs(scene)


def test_a_body_joined_to_itself_in_a_file(tmp_path: Path) -> None:
    spring = '[[springs]]\na = { body = "beam", numbers = [1] }\nb = { body = "beam", numbers = [%d] }\nstiffness = 10'
    with pytest.raises(FileFormatError, match=r"springs\[0\]: .*a point is coupled with itself"):
        load_with(spring % 1, tmp_path)
    assert runs(load_with(spring % 2, tmp_path))
    joint = '[[joints]]\nkind = "hinge"\na = "%s"\nb = "box"\nat = [0.1, 0, 0]'
    with pytest.raises(FileFormatError, match=r"joints\[0\]: .*itself"):
        load_with(joint % "box", tmp_path)
    assert runs(load_with(joint % "other", tmp_path))


def test_two_points_of_one_rigid_body_cannot_be_joined() -> None:
    scene = scene_of()
    box = scene.node("box")
    with pytest.raises(InputError, match=r"on one rigid body \(got 'box'\).*another body"):
        scene.add(sp.BallJoint(points(box, 0), points(box, 1)))
    scene.add(sp.BallJoint(box, scene.node("other"), at=(0.1, 0, 0)))
    assert runs(scene)


def test_the_world_joined_to_itself() -> None:
    with pytest.raises(InputError, match="both sides are the world"):
        sp.Scene().add(sp.BallJoint(sp.World.points([[0, 0, 0]]), sp.World.points([[0, 0, 0]])))


@pytest.mark.parametrize("solver", [sp.ImplicitEuler(0.005), sp.Midpoint(0.005), sp.Partitioned(0.005)])
def test_joints_that_contradict_each_other_are_named_with_the_row(solver: Any) -> None:
    scene = scene_of()
    box = scene.node("box")
    scene.add(sp.FixedJoint(box))
    scene.add(sp.HingeJoint(box, motor_speed=1.0))
    with pytest.raises(ConvergenceError, match=r"the condition '.*' contradicts other joints") as caught:
        sp.run(scene, until=0.1, solver=solver)
    assert all(name in str(caught.value) for name in ("fixed joint box - world", "hinge box - world, limits and motor"))
    del scene.joints[0]  # the fix: remove a joint
    assert sp.run(scene, until=0.1, solver=solver).outcome == "finished"


@pytest.mark.parametrize("other", [sp.Floor(), sp.Plane((0, 0, 5.0))])
def test_two_floors_in_one_place(other: Any) -> None:
    scene = scene_of()
    scene.add(sp.Floor(), name="ground")
    with pytest.raises(InputError, match=r"two obstacles are in one place.*'ground' and '(floor|plane)'"):
        scene.add(other)
    scene.add(sp.Floor(-1.0))


def test_two_floors_in_one_place_of_a_file(tmp_path: Path) -> None:
    floor = '[[obstacles]]\nkind = "floor"\nheight = -1\n'
    with pytest.raises(FileFormatError, match=r"obstacles\[1\]: .*two obstacles are in one place"):
        load_with(floor + floor, tmp_path)
    assert len(load_with(floor, tmp_path).obstacles) == 1


def test_a_motor_without_limit_on_free_bodies(tmp_path: Path) -> None:
    def driven(**motor: Any) -> sp.Scene:
        scene = scene_of()
        scene.add(sp.HingeJoint(scene.node("box"), scene.node("other"), at=(0.1, 0, 0), **motor))
        return scene

    with pytest.raises(InputError, match=r"sets free bodies going at once \(got 'a jump of 3 rad/s'\).*motor_torque"):
        driven(motor_speed=3.0).compile()
    assert runs(driven(motor_speed=3.0, motor_torque=1.0))
    assert runs(driven(motor_speed=sp.RampInTime(np.array(3.0), 0.1)))
    held = driven(motor_speed=3.0)
    held.add(sp.FixedPoints(held.node("box")))
    assert runs(held)
    joint = '[[joints]]\nkind = "hinge"\na = "box"\nb = "other"\nat = [0.1, 0, 0]\nmotor_speed = 3\n'
    with pytest.raises(InputError, match="sets free bodies going"):
        load_with(joint, tmp_path).compile()
    assert runs(load_with(joint + "motor_torque = 1\n", tmp_path))


def test_a_motor_without_limit_against_the_limits_of_its_joint(tmp_path: Path) -> None:
    scene = scene_of()
    box = scene.node("box")
    for make, key in ((sp.HingeJoint, "motor_torque"), (sp.SliderJoint, "motor_force")):
        with pytest.raises(InputError, match=f"drives against the limits.*{key}"):
            scene.add(make(box, limits=(-0.1, 0.1), motor_speed=1.0))
        scene.add(make(box, limits=(-0.1, 0.1), motor_speed=1.0, **{key: 5.0}))
        assert sp.run(scene, until=0.3, dt=0.005).outcome == "finished"
        scene.joints.clear()
    joint = '[[joints]]\nkind = "hinge"\na = "box"\nlimits = [0, 1]\nmotor_speed = 1'
    with pytest.raises(FileFormatError, match=r"joints\[0\]: .*drives against the limits"):
        load_with(joint, tmp_path)


def test_a_motor_across_parts_pushes_no_more_than_its_torque_at_the_limit() -> None:
    scene = sp.Scene()
    mesh = sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1))
    body = TreeBody(decompose(mesh, np.arange(24) // 12, material=RUBBER, modes=4, fixed="x_min"))
    tree, wheel = scene.add(body), scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.01)), at=(0.5, 0, 0))
    motor: dict[str, Any] = {"limits": (-0.1, 0.1), "motor_speed": 2.0, "motor_torque": 0.05}
    scene.add(sp.HingeJoint(wheel, tree, at=(0.4, 0, 0), axis=(0, 0, 1), **motor))
    frames = sp.run(scene, until=0.5, dt=0.005, record_every=0.005).frames
    readings = [frames.joints(k)["hinge"] for k in range(1, len(frames.times))]
    stopped = [reading for reading in readings if reading.limit == 1]
    assert len(stopped) > 3
    for reading in stopped:
        assert (reading.angle, reading.motor) == pytest.approx((0.1, 0.05), abs=1e-6)
    assert max(reading.angle for reading in readings) < 0.1 + 1e-6


@pytest.mark.parametrize("method", [sp.SymplecticEuler, sp.RungeKutta4])
def test_a_step_that_a_body_cannot_take(method: Any) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.FemBody(sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1)), RUBBER), fix="x_min", name="beam")
    with pytest.raises(InputError, match=r"the step is larger than stable .*allowed: <= .* s\)") as caught:
        sp.run(scene, until=0.2, solver=method(0.05))
    assert "ImplicitEuler" in str(caught.value)
    largest = float(str(caught.value.allowed).removeprefix("<= ").removesuffix(" s"))
    assert sp.run(scene, until=0.2, solver=method(largest)).outcome == "finished"
    assert sp.run(scene, until=0.2, solver=sp.ImplicitEuler(0.05)).outcome == "finished"


def test_a_kind_that_lacks_a_method_is_named_when_it_is_added() -> None:
    class Lame:
        kind = "lame"

        def place(self, placement: Any) -> Any: ...

    with pytest.raises(InputError, match=r"Lame: a body lacks method, coordinates, .*render_surface.*body_protocol"):
        sp.Scene().add(Lame())


def test_a_file_that_names_a_kind_nobody_registered(tmp_path: Path) -> None:
    text = '[[bodies]]\nkind = "snake_of_mine"\nlength = 3\nmodule = "os"'
    with pytest.raises(FileFormatError, match=r"bodies\[3\].kind: unknown kind \(got 'snake_of_mine'.*register_kind"):
        load_with(text, tmp_path)
