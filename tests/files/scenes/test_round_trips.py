"""Scene files: what is written comes back to the bit."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.files.scenes.texts import assert_round_trip, particle_scene, written

import supple as sp
from supple.errors import FileFormatError
from supple.files import RunSettings, load, load_scene_file, save
from supple.geometry import Region, sphere_hexes
from supple.scene import join
from supple.scene.acting.time_functions import SineInTime, TableInTime

RUBBER = sp.Material(young=1e5, poisson=0.3, density=1000, mass_damping=0.1, name="rubber")


def test_particles_with_loads_and_springs(tmp_path: Path) -> None:
    scene, string = particle_scene()
    scene.add(sp.Springs(string.points([3]), sp.World.points((0.5, 0, 0)), 20.0, 0.1), name="tether")
    scene.add(sp.Load(string.points([3, 1]), (0, 0.1, 0)))
    scene.add(sp.Load(string.points([0]), SineInTime((0, 0, 1.0), 3.0, phase=0.2, offset=(0.1, 0, 0))), name="shaker")
    scene.add(sp.Load(string.points(), TableInTime([0, 1, 2], [[0, 0, 0], [0, 1, 0], [0, 0, 3]])))
    scene.add(sp.Load(string.points([1, 2]).subset([1]), [[0, 0, 0.5]]))
    scene.add(sp.Load(string.points([1, 2]).centroid(), (0.1, 0, 0)))
    both = join(string.points([0]), string.points([3])).combined([[0.25, 0.75]])
    scene.add(sp.Load(both, (0, 0, 0.2)))
    again = assert_round_trip(scene, tmp_path)
    assert [f.label for f in again.forces] == [f.label for f in scene.forces]


@pytest.mark.parametrize(
    "body",
    [
        sp.RigidBody.box((0.1, 0.2, 0.3), density=700),
        sp.RigidBody.cylinder(0.1, 0.3, density=123.4),
        sp.RigidBody.sphere(0.1, density=1 / 3),
        sp.RigidBody(2.0, [[0.3, 0.01, 0], [0.01, 0.2, 0], [0, 0, 0.25]]),
        sp.RigidBody(2.0, (0.1, 0.1, 0.1), surface=sp.RigidBody.sphere(0.2, density=1).surface),
        sp.RigidBody(2.0, (0.1, 0.1, 0.1), surface=sp.SurfaceMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0.1]], [[0, 1, 2]])),
    ],
    ids=["box", "cylinder", "sphere", "inertia", "shape and inertia", "surface"],
)
def test_rigid_bodies(body: sp.RigidBody, tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    rng = np.random.default_rng(1)
    node = scene.add(body, name="a b", at=rng.normal(size=3), rotation=rng.normal(size=4), spin=rng.normal(size=3))
    scene.add(sp.Springs(node.points(local=(0.1, 0, 0)), sp.World.points((1, 1, 1)), 30.0, rest_length=0.5))
    again = assert_round_trip(scene, tmp_path).nodes[0]
    assert np.array_equal(again.rest, node.rest)


def test_joints(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    bar = sp.RigidBody.box((0.4, 0.04, 0.04), density=800)
    a, b, c, d = (scene.add(bar, at=(0.4 * k, 0, 0), name=f"bar-{k}") for k in range(4))
    speed = SineInTime(1.0, 2.0)
    scene.add(
        sp.HingeJoint(a, at=(-0.2, 0, 0), axis=(0, 1, 0), limits=(-1.0, 2.0), motor_speed=speed, motor_torque=3.0)
    )
    scene.add(sp.FixedJoint(a, b, at=(0.2, 0, 0)))
    scene.add(sp.SliderJoint(b, c, at=(0.6, 0, 0), axis=(1, 0, 0)))
    scene.add(sp.BallJoint(c, d, at=(1.0, 0, 0)))
    scene.add(sp.BallJoint(d.points(local=(0.2, 0, 0))))
    joint = assert_round_trip(scene, tmp_path).joints[0]
    assert joint.limits == (-1.0, 2.0)
    assert joint.motor_torque == 3.0
    assert joint.motor_speed(0.1) == speed(0.1)


def test_joints_on_patches(tmp_path: Path) -> None:
    scene = sp.Scene()
    rubber = sp.Material(young=1e6, poisson=0.3, density=1000)
    a, b = (scene.add(sp.FemBody(sp.box_tets(size=(0.2, 0.04, 0.04), cells=(4, 1, 1)), rubber)) for _ in range(2))
    scene.add(sp.HingeJoint(a, b, at=(0.2, 0, 0), patch_a="x_max", patch_b=0.06))
    scene.add(sp.FixedJoint(a, at=(0, 0, 0), patch_a=lambda X: X[:, 0] < 0.01))
    hinge, fixed = assert_round_trip(scene, tmp_path).joints
    assert (hinge.patch_a, hinge.patch_b) == ("x_max", 0.06)
    assert fixed.patch_a.tolist() == a.body.mesh.node_region("x_min").tolist()
    assert fixed.patch_b is None


def test_filters_keep_their_order(tmp_path: Path) -> None:
    scene, string = particle_scene()
    box = scene.add(sp.RigidBody.box((1, 1, 1), density=1), fix=True, name="box", at=(3, 0, 0))
    turning = scene.add(sp.RigidBody.box((1, 1, 1), density=1), name="turning", at=(6, 0, 0))
    scene.add(sp.FixedAxes(string, [1], axes="xz"))
    scene.add(sp.SlidingPlane(string, [2], normal=(1, 0, 1)))
    scene.add(sp.PrescribedMotion(string, [0], TableInTime([0, 1], [[0, 0, 0], [1, 0, 0]])))
    scene.add(sp.PrescribedMotion(turning, None, None, SineInTime((0, 0, 0.3), 1.0)))
    assert_round_trip(scene, tmp_path)
    assert tomllib.loads((tmp_path / "first.toml").read_text())["bodies"][1]["fix"] is True
    scene.add(sp.FixedPoints(string, lambda x: x[:, 0] > 0.25))
    scene.add(sp.FixedPoints(box, None, rotation=False))
    save(scene, tmp_path / "more.toml")
    table = tomllib.loads((tmp_path / "more.toml").read_text())
    assert {"kind": "fixed", "body": "string", "numbers": [3]} in table["filters"]
    assert table["filters"][-1] == {"kind": "fixed", "body": "box", "rotation": False}


def test_groups_names_and_settings(tmp_path: Path) -> None:
    scene, _ = particle_scene()
    arm = scene.group("arm")
    hand = scene.group("hand", under=arm)
    scene.add(sp.RigidBody.box((1, 1, 1), density=1), under=hand, name='fin"ger é')
    path = tmp_path / "grouped.toml"
    save(scene, path, run=RunSettings(until=1.5, record_every=0.1))
    read = load_scene_file(path)
    assert [n.name for n in read.scene.root.walk()] == [n.name for n in scene.root.walk()]
    assert read.run == RunSettings(until=1.5, record_every=0.1)
    assert read.scene.name == "particles"


SOLVERS = [
    sp.ImplicitEuler(dt=0.002, newton=True, linear="direct"),
    sp.Midpoint(dt=0.002),
    sp.Newmark(dt=0.002, beta=0.3, gamma=0.6),
    sp.GeneralizedAlpha(dt=0.002, rho=0.5),
    sp.SymplecticEuler(dt=0.001),
    sp.RungeKutta4(dt=0.001),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_solvers(solver: object, tmp_path: Path) -> None:
    scene, _ = particle_scene()
    scene.solver = solver
    again = assert_round_trip(scene, tmp_path).solver
    assert type(again) is type(solver)
    assert repr(again) == repr(solver)


def soft_mesh() -> sp.TetMesh:
    """A mesh no generator makes, with regions of every kind."""
    mesh = sp.box_tets((0.3, 0.1, 0.1), (3, 1, 1))
    nodes = mesh.nodes + 1e-3 * np.random.default_rng(0).normal(size=mesh.nodes.shape)
    half = Region(elements=np.arange(9))
    rest = Region(elements=np.arange(9, 18), nodes=[0])
    top = Region(faces=mesh.boundary.faces[:2])
    return sp.TetMesh(nodes, mesh.tets, {"half": half, "rest": rest, "top": top})


def test_soft_bodies(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    hard = sp.Material(young=2e5, poisson=0.2, density=900, mass_damping=0.1, stiffness_damping=1e-4, name="rubber")
    box = scene.add(sp.FemBody(sp.box_tets((0.2, 0.1, 0.1), (2, 1, 1)), RUBBER), fix=["x_min", "z_min"], name="box")
    two = sp.FemBody(soft_mesh(), {"half": RUBBER, "rest": hard}, law="stvk", mass="consistent")
    odd = scene.add(two, at=(0, 1, 0), rotation=(0.1, 0.2, 0.3), name="odd")
    scene.add(sp.Load(box.points("x_max"), (0, 0, 1.0)))
    scene.add(sp.Pressure(odd, "top", TableInTime([0, 1], [100, 200])))
    scene.add(sp.Pressure(odd, [0, 1, 2, 3], 50.0))
    scene.add(sp.Springs(box.points("x_max").centroid(), odd.points(at=odd.rest[:4].mean(axis=0)), 100.0))
    again = assert_round_trip(scene, tmp_path, count=2)
    assert again.nodes[1].body.mesh.content_hash == two.mesh.content_hash
    data = json.loads((tmp_path / "first.json").read_text())
    assert data["bodies"][0]["mesh"] == {"box": {"size": [0.2, 0.1, 0.1], "cells": [2, 1, 1]}}
    assert data["bodies"][1]["material"] == {"half": "rubber", "rest": "rubber-2"}
    assert data["loads"][0]["on"] == {"body": "box", "region": "x_max"}


@pytest.mark.parametrize(
    "mesh",
    [
        sp.box_tets((0.3, 0.1, 0.2), (3, 2, 1)),
        sp.box_hexes((0.1, 0.1, 0.7), (1, 2, 3)),
        sp.cylinder_tets(0.1, 0.3, (2, 3)),
        sp.sphere_tets(0.1, 2),
        sphere_hexes(1 / 3, 2),
    ],
    ids=["box", "hexes", "cylinder", "sphere", "ball of hexes"],
)
def test_generated_meshes_are_saved_as_their_recipe(mesh: object, tmp_path: Path) -> None:
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, RUBBER))
    save(scene, tmp_path / "scene.toml")
    table = tomllib.loads((tmp_path / "scene.toml").read_text())["bodies"][0]["mesh"]
    assert set(table) & {"box", "cylinder", "sphere"}
    assert load(tmp_path / "scene.toml").nodes[0].body.mesh.content_hash == mesh.content_hash


def test_large_meshes_are_saved_beside_the_scene(tmp_path: Path) -> None:
    mesh = sp.box_tets((0.3, 0.1, 0.1), (20, 4, 4))
    mesh = sp.TetMesh(mesh.nodes + 1e-4, mesh.tets, {"end": mesh.node_region("x_max")})
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, RUBBER), name="big/body", fix="end")
    save(scene, tmp_path / "scene.json")
    assert (tmp_path / "scene-big_body.vtu").is_file()
    assert load(tmp_path / "scene.json").nodes[0].body.mesh.content_hash == mesh.content_hash


def test_mesh_and_surface_files(tmp_path: Path) -> None:
    mesh = sp.box_tets((0.3, 0.1, 0.1), (3, 1, 1))
    sp.save_mesh(tmp_path / "beam.veg", mesh)
    sp.save_mesh(tmp_path / "ball.obj", sp.RigidBody.box((1, 1, 1), density=1).surface)
    text = """
    supple = 1
    materials.m = { young = 1, poisson = 0, density = 1 }
    bodies = [
      { kind = "fem", mesh = { file = "beam.veg", regions.tip = { nodes = [1, 2] } }, material = "m", fix = "tip" },
      { kind = "rigid", mass = 1, inertia = [1, 1, 1], surface = { file = "ball.obj" } },
    ]
    """.replace("\n    ", "\n")
    scene = load(written(tmp_path, text))
    assert np.array_equal(scene.nodes[0].body.mesh.nodes, mesh.nodes)
    assert len(scene.nodes[1].body.surface.nodes) == 8
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("../beam.veg", str(tmp_path / "beam.veg")):
        path = written(inside, text.replace("beam.veg", name).replace("ball.obj", "../ball.obj"))
        with pytest.raises(FileFormatError, match=r"bodies\[0\]\.mesh: the file .* lies outside"):
            load(path)
        assert len(load(path, outside=True).nodes) == 2
