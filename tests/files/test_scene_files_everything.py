"""Scene files hold every kind of body and coupling: what was saved and loaded moves alike, to the bit."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.point_mass import PointMass
from supple.bodies.rigid.body import surface_of
from supple.errors import FileFormatError, InputError, SuppleError
from supple.files import load, save
from supple.geometry import Region
from supple.modal import ElasticSolid
from supple.scene.acting.time_functions import RampInTime

RUBBER = sp.Material(young=1e6, poisson=0.3, density=1000, name="rubber", stiffness_damping=1e-3)
STEEL = sp.Material(young=2e11, poisson=0.3, density=7800, name="steel")


def beam() -> Any:
    return sp.box_tets((1.0, 0.1, 0.1), (6, 1, 1))


def halves() -> ElasticSolid:
    """Of two materials that are damped in different ways."""
    mesh = beam()
    low = mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 0.5
    regions = {"low": Region(elements=np.flatnonzero(low)), "high": Region(elements=np.flatnonzero(~low))}
    return ElasticSolid(mesh.with_regions(regions), {"low": RUBBER, "high": STEEL})


def floating(**options: Any) -> FloatingBody:
    return FloatingBody.from_solid(ElasticSolid(beam(), STEEL), modes=5, **options)


def layered(**options: Any) -> LayeredBody:
    mesh = sp.box_hexes((0.6, 0.3, 0.3), (6, 3, 3))
    centre = mesh.nodes[mesh.elements].mean(axis=1)
    core = np.flatnonzero(np.abs(centre - [0.3, 0, 0]).max(axis=1) < 0.16)
    return LayeredBody.from_mesh(mesh, RUBBER, core=core, **options)


def bodies() -> dict[str, Any]:
    soft = np.random.default_rng(0).normal(size=5) * 1e-4
    basis = floating().model
    dense = sp.box_tets((1.0, 0.1, 0.1), (6, 1, 1))
    solid = ElasticSolid(dense, STEEL)
    return {
        "floating": floating(),
        "floating, held": floating(fixed="x_min", stiffening=True, damping_ratio=0.02),
        "floating, deformed": floating(q=soft, q_rate=10 * soft, cubic=True),
        "floating, own shapes": FloatingBody.from_basis(basis.support, basis.U[:, :3] @ np.diag([1.0, 2.0, 3.0])),
        "floating, matrices": FloatingBody.from_matrices(
            dense.nodes, solid.mass_matrix, solid.stiffness, elements=dense, modes=4, damping_ratio=0.01
        ),
        "floating, unlike damping": FloatingBody.from_solid(halves(), modes=4, stiffness_damping=0.002),
        "layered": layered(core_density=3000.0),
        "layered, law": layered(law="stvk", mass_damping=0.5, origin=(0.3, 0, 0)),
    }


def moved(scene: sp.Scene) -> np.ndarray:
    """The state after ten steps, and what joints did in them."""
    system = scene.compile()
    state, solver = system.initial_state(), scene.solver or sp.ImplicitEuler(0.005)
    solver.prepare(system)
    for _ in range(10):
        solver.step(system, state)
    forces = [reading.force for reading in system.joint_readings(state).values()]
    return np.concatenate([state.x, state.v, *forces])


def both_ways(scene: sp.Scene, folder: Path, suffix: str = "toml") -> sp.Scene:
    save(scene, folder / f"scene.{suffix}")
    again = load(folder / f"scene.{suffix}")
    np.testing.assert_array_equal(moved(again), moved(scene))
    return again  # type: ignore[no-any-return]


@pytest.mark.parametrize("suffix", ["toml", "json"])
@pytest.mark.parametrize("name", bodies())
def test_a_body_with_a_frame_and_shapes(name: str, suffix: str, tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    node = scene.add(bodies()[name], at=(0, 0, 1), rotation=(0.1, 0.2, 0.3), spin=(0, 3, 1), name="body")
    scene.add(sp.Load(node.points([0, 3]), (0, 0.5, 0)))
    scene.add(sp.Springs(node.points([1]), sp.World.points([[0, 0, 2]]), 50.0))
    again = both_ways(scene, tmp_path, suffix)
    assert type(again.node("body").body) is type(node.body)


def test_a_layer_grown_from_a_surface(tmp_path: Path) -> None:
    text = """
        supple = 1
        [materials.rubber]
        young = 3e5
        poisson = 0.4
        density = 1000
        [[bodies]]
        kind = "layered"
        material = "rubber"
        surface = { file = "ball.obj" }
        thickness = 0.04
        cells = 1
        core_density = 400
    """
    from supple.geometry import save_mesh

    save_mesh(tmp_path / "ball.obj", surface_of(sp.sphere_tets(0.1, 4)))
    (tmp_path / "scene.toml").write_text(text)
    scene = load(tmp_path / "scene.toml")
    assert scene.nodes[0].body.model.core_density == 400
    both_ways(scene, tmp_path)


def machine() -> sp.Scene:
    """All joints with limits and motors, on rigid, soft, floating and layered bodies; masses, wind, obstacles."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.005))
    arm = scene.add(sp.RigidBody.box((0.4, 0.1, 0.1), density=500), at=(0.2, 0, 1), name="arm")
    cart = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 2, 1), name="cart")
    soft = scene.add(sp.FemBody(beam(), RUBBER), at=(0.4, 0, 1), name="soft")
    rod = scene.add(floating(), at=(0, 3, 1), name="rod")
    pad = scene.add(layered(), at=(0, 4, 1), name="pad")
    dots = scene.add(sp.Particles([[0, 0, 0], [0.1, 0, 0]], 0.1), at=(1.4, 0, 1), name="dots")
    scene.add(
        sp.HingeJoint(arm, axis=(0, 1, 0), at=(0, 0, 1), limits=(-1, 0.5), motor_speed=RampInTime(np.array(2.0), 0.1))
    )
    scene.add(sp.FixedJoint(arm, soft, at=(0.4, 0, 1), patch_b="x_min"), name="glue")
    scene.add(sp.SliderJoint(cart, axis=(1, 0, 0), at=(0, 2, 1), limits=(0, 1), motor_speed=0.5, motor_force=30.0))
    scene.add(sp.HingeJoint(soft, sp.World, at=(1.4, 0, 1), axis=(0, 1, 0), patch_a=0.12), name="pin")
    scene.add(sp.BallJoint(rod, at=(1, 3, 1)))
    scene.add(sp.BallJoint(pad, rod, at=(0.3, 4, 1)))
    scene.add(sp.BallJoint(dots.points([0]), soft.points(at=[[1.4, 0, 1]])))
    scene.add(PointMass(np.array([0.2, 0.3])), on=soft.points([3, 8]))
    scene.add(sp.Wind([soft, rod, pad, cart], (0, 5, 0), seed=4, two_sided=True), name="breeze")
    scene.add(sp.Wind(arm, (0, 5, 0), intensity=0.0))
    scene.add(sp.Load(soft.points("x_max"), (0, 1, 0)))
    scene.add(sp.Floor(-1.0, friction=0.3))
    scene.add(sp.Sphere((0, 0, -3), 0.5), name="stone")
    scene.add(sp.Contact(exclude=[("soft", "arm"), ("soft", "dots"), ("pad", "rod")]))
    return scene


def test_joints_wind_masses_and_obstacles(tmp_path: Path) -> None:
    again = both_ways(machine(), tmp_path)
    names = [again.joint_name(joint) for joint in again.joints]
    assert names == ["hinge", "glue", "slider", "pin", "ball", "ball-2", "ball-3"]


def test_an_obstacle_of_a_mesh(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 0.15), name="ball")
    scene.add(sp.MeshObstacle(surface_of(sp.box_tets((1, 1, 0.1), (1, 1, 1))), friction=0.2), name="table")
    again = both_ways(scene, tmp_path)
    assert again.obstacles["table"].friction == 0.2


def test_grown_trees_with_finer_surfaces_and_options_of_parts(tmp_path: Path) -> None:
    from supple.bodies.tree import TreeBody
    from supple.decompose import decompose

    mesh = beam()
    tree = decompose(mesh, np.arange(36) // 18, material=RUBBER, modes=3, fixed="x_min")
    implicit = sp.ImplicitEuler(0.01, linear="cg", tolerance=1e-5)
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(0.01, implicit=implicit, tree_steps=2))
    for name, cells in (("coarse", (6, 1, 1)), ("fine", (30, 2, 2))):
        shown = surface_of(sp.box_tets((1.0, 0.1, 0.1), cells))
        body = TreeBody(tree, grown=True, surface=shown, stiffness_damping=0.002)
        node = scene.add(body, name=name)
        scene.add(sp.Load(node.points("domain_1"), (0, 0.1, 0)))
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 3))
    again = both_ways(scene, tmp_path)
    assert again.solver == scene.solver
    assert all(again.node(name).body.grown for name in ("coarse", "fine"))
    shown = [s.node(name).body.surface.nodes for s in (scene, again) for name in ("coarse", "fine")]
    np.testing.assert_array_equal(shown[0], shown[2])
    np.testing.assert_array_equal(shown[1], shown[3])


@pytest.mark.parametrize(
    "motion",
    [
        sp.Motion(velocity=(0.5, 0, 0), angular_velocity=(0, 0, 1), centre=(0, 0.1, 0)),
        sp.Motion(times=[0, 0.1, 1], positions=[[0, 0, 0], [0.1, 0, 0], [0, 0, 0]]),
    ],
)
def test_obstacles_that_move(motion: sp.Motion, tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), name="box")
    scene.add(sp.Floor(motion=motion, friction=0.8))
    again = both_ways(scene, tmp_path)
    np.testing.assert_array_equal(again.obstacles["floor"].pose(0.05), scene.obstacles["floor"].pose(0.05))


BROKEN = """
supple = 1
[materials.steel]
young = 2e11
poisson = 0.3
density = 7800
[[bodies]]
name = "rod"
kind = "floating"
mesh = { box = { size = [1, 0.1, 0.1], cells = [4, 1, 1] } }
material = "steel"
modes = 3
[[bodies]]
name = "box"
kind = "rigid"
box = { size = [1, 1, 1] }
density = 1
[[wind]]
on = "rod"
velocity = [0, 1, 0]
[[joints]]
kind = "slider"
a = "box"
limits = [-1, 1]
[[masses]]
on = { body = "rod", numbers = [0] }
mass = 1
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("modes = 3", "modes = 0", r"bodies\[0\].modes"),
        ("modes = 3", "modes = 3\nbasis = 'a.npz'", r"bodies\[0\]: 'modes' and 'basis' exclude"),
        ("modes = 3", "basis = 'a.npz'", r"bodies\[0\].basis: .*shapes U.*numpy.savez"),
        ("modes = 3", "q = [1, 2]", r"bodies\[0\]: .*q"),
        ("modes = 3", "fixed = 'tip'", r"bodies\[0\]: .*tip"),
        ("modes = 3", "damping = [[1, 2], [2, 1]]", r"bodies\[0\]: .*symmetric matrix"),
        ('material = "steel"', "", r"bodies\[0\].material: the key is missing"),
        ('kind = "floating"', 'kind = "layered"', r"bodies\[0\].modes: unknown key"),
        ('kind = "floating"\n', 'kind = "layered"\ncore = [0]\n', r"bodies\[0\].modes: unknown key"),
        ('on = "rod"', 'on = "rope"', r"wind\[0\]: no body is called 'rope'.*Did you mean 'rod'"),
        ('on = "rod"', "on = 3", r"wind\[0\].on: does not name bodies"),
        ("velocity = [0, 1, 0]", "velocity = [0, 1, 0]\nmodes = 4", r"wind\[0\]: .*waves come in threes"),
        ("velocity = [0, 1, 0]", "velocity = [0, 1, 0]\nseed = -1", r"wind\[0\].seed"),
        ("limits = [-1, 1]", "limits = [1, 2]", r"joints\[0\]: SliderJoint: the limits do not contain"),
        ("limits = [-1, 1]", "motor_torque = 2", r"joints\[0\].motor_torque: unknown key.*motor_force"),
        ("mass = 1\n", "mass = [1, 2]\n", r"masses\[0\]: there is not one mass a point"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(old: str, new: str, says: str, tmp_path: Path) -> None:
    assert old in BROKEN
    path = tmp_path / "scene.toml"
    path.write_text(BROKEN)
    load(path)
    path.write_text(BROKEN.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=says):
        load(path)


def test_what_a_file_cannot_hold_is_named(tmp_path: Path) -> None:
    scene = machine()
    scene.add(sp.HingeJoint(scene.node("cart"), at=(0, 2, 1), motor_speed=lambda t: t))
    with pytest.raises(InputError, match="the motor's speed is a Python function"):
        save(scene, tmp_path / "scene.toml")


def test_shapes_outside_the_folder_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "inner" / "scene.toml"
    path.parent.mkdir()
    np.savez(tmp_path / "a.npz", U=np.ones((3, 1)))
    path.write_text(BROKEN.replace("modes = 3", "basis = '../a.npz'"))
    with pytest.raises(SuppleError, match="outside the scene file's folder"):
        load(path)


def test_a_wind_on_all_bodies_is_saved_without_their_names(tmp_path: Path) -> None:
    scene = sp.Scene()
    scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=100.0), name="box")
    scene.add(sp.Wind(velocity=(0, 5, 1), seed=4), name="breeze")
    sp.save(scene, tmp_path / "scene.toml")
    again = sp.load(tmp_path / "scene.toml")
    assert list(again.winds) == ["breeze"]
    assert again.winds["breeze"].nodes is None
    ends = [sp.run(s, until=0.05, dt=0.01).state for s in (scene, again)]
    assert np.array_equal(ends[0].v, ends[1].v)


def worlds() -> dict[str, Any]:
    """Things of a scene with every number other than it is by default."""
    own = {"friction": 0.3, "static_friction": 0.4, "restitution": 0.2}
    lift = sp.Motion((0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (0.7, 0.8, 0.9))
    path = sp.Motion(times=[0.0, 1.0, 3.0], positions=np.eye(3), rotations=0.1 * np.eye(3), centre=(1, 2, 3))
    gusts = {"intensity": 0.3, "length": 1.5, "density": 1.1, "drag": 0.7, "two_sided": True, "modes": 24, "seed": 5}
    return {
        "wind": sp.Wind(velocity=(1.0, 2.0, 3.0), **gusts),
        "fluid": sp.Fluid(density=900.0, drag=0.8, flow=(0.1, 0.2, 0.3), level=0.4),
        "plane": sp.Plane((0.0, 0.6, 0.8), 0.5, motion=lift, **own),
        "floor": sp.Floor(0.25, motion=path, **own),
        "sphere": sp.Sphere((1, 2, 3), 0.5, motion=path, **own),
        "capsule": sp.Capsule((1, 2, 3), (2, 3, 5), 0.5, motion=lift, **own),
        "box": sp.Box((1, 2, 3), (0.2, 0.3, 0.4), (0.1, 0.2, 0.3), **own),
        "hills": sp.HeightField(np.arange(6.0).reshape(2, 3), origin=(1, 2), spacing=(0.5, 0.7), **own),
    }


def same(one: Any, two: Any) -> None:
    """Equal in every field."""
    assert type(one) is type(two)
    if isinstance(one, sp.Motion | sp.Wind | sp.Fluid) or hasattr(one, "restitution"):
        for field in fields(one):
            if field.name != "name":
                same(getattr(one, field.name), getattr(two, field.name))
    else:
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", worlds())
def test_every_number_of_the_world_comes_back(name: str, tmp_path: Path) -> None:
    thing = worlds()[name]
    usual = {f.name: f.default for f in fields(thing) if f.name not in ("name", "nodes", "speed", "motion", "normal")}
    assert all(np.any(getattr(thing, key) != value) for key, value in usual.items())
    scene = sp.Scene()
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=1000), name="box of the world")
    scene.add(thing, **({} if name == "fluid" else {"name": "thing"}))
    save(scene, tmp_path / "scene.toml")
    again = load(tmp_path / "scene.toml")
    found = again.fluid if name == "fluid" else again.winds["thing"] if name == "wind" else again.obstacles["thing"]
    same(thing, found)
