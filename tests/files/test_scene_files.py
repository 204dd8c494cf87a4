"""Scene files: what is written comes back to the bit; what is wrong is named in one sentence."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.damaging import load_or_refuse, load_with_damaged_values

import supple as sp
from supple.errors import FileFormatError, InputError, SuppleError
from supple.examples import registry
from supple.files import RunSettings, load, load_scene_file, save
from supple.geometry import Region, sphere_hexes
from supple.scene import join
from supple.scene.acting.time_functions import SineInTime, TableInTime

RUBBER = sp.Material(young=1e5, poisson=0.3, density=1000, mass_damping=0.1, name="rubber")

DESIGN = """
supple = 1                                   # schema version
gravity = [0, 0, -9.81]

[materials.rubber]
young = 1e6
poisson = 0.45
density = 1100

[[bodies]]
name = "beam"
kind = "fem"
mesh = { box = { size = [0.2, 0.02, 0.02], cells = [40, 4, 4] } }
material = "rubber"
law = "corotational"
fix = ["x_min"]

[run]
until = 2.0
record_every = 0.0333
"""

SMALL = """
supple = 1
gravity = [0, 0, -9.81]
materials.rubber = { young = 1e6, poisson = 0.45, density = 1100 }

[[bodies]]
name = "ball"
kind = "rigid"
box = { size = [0.1, 0.2, 0.3] }
density = 500
at = [0.5, 0, 0.1]
rotation = [0.1, 0.2, 0.3]

[[bodies]]
name = "string"
kind = "particles"
positions = [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]]
mass = [0.1, 0.2, 0.1]
springs = [[0, 1], [1, 2]]
stiffness = 100

[[loads]]
on = { body = "string", numbers = [2] }
force = { sine = { amplitude = [0, 0, 1], frequency = 2 } }

[[springs]]
a = { body = "ball", local = [0.05, 0, 0] }
b = { world = [1, 0, 0] }
stiffness = 10

[[joints]]
kind = "ball"
a = { body = "ball", local = [-0.05, 0.1, 0.15] }
b = { body = "string", numbers = [1] }

[[filters]]
kind = "fixed"
body = "string"
numbers = [0]

[solver]
kind = "implicit_euler"
dt = 0.01

[run]
until = 0.1
"""


def written(tmp_path: Path, text: str, name: str = "scene.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def steps(scene: sp.Scene, count: int = 3) -> np.ndarray:
    """The state after a few steps, in one vector."""
    system = scene.compile()
    state = system.initial_state()
    solver = scene.solver or sp.ImplicitEuler(dt=1e-3)
    solver.prepare(system)
    for _ in range(count):
        solver.step(system, state)
    return np.concatenate([state.x, state.v])


def assert_round_trip(scene: sp.Scene, tmp_path: Path, *, count: int = 3) -> sp.Scene:
    """Save and load in both formats: the same motion to the bit, and the same file the second time."""
    expected = steps(scene, count)
    assert np.isfinite(expected).all()
    for suffix in (".toml", ".json"):
        first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
        save(scene, first)
        again = load(first)
        assert np.array_equal(steps(again, count), expected)
        save(again, second)
        assert second.read_text().replace("second-", "first-") == first.read_text()
    return again


def particle_scene() -> tuple[sp.Scene, sp.Node]:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="particles")
    positions = [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0.01], [0.3, 0, 0]]
    body = sp.Particles(
        positions, [0.1, 0.2, 0.3, 0.4], springs=[(0, 1), (1, 2), (2, 3)], stiffness=[50, 60, 70], damping=0.1
    )
    return scene, scene.add(body, name="string", at=(0, 0.1, 0), velocity=(1, 0, 0), spin=(0, 0.3, 0))


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


def test_the_example_of_the_design(tmp_path: Path) -> None:
    read = load_scene_file(written(tmp_path, DESIGN, "garden.toml"))
    assert read.scene.name == "garden"
    assert read.run == RunSettings(until=2.0, record_every=0.0333)
    body = read.scene.nodes[0].body
    assert body.mesh.content_hash == sp.box_tets((0.2, 0.02, 0.02), (40, 4, 4)).content_hash
    assert (body.materials[0].young, body.law.label) == (1e6, "corotational")
    assert [f.selector for f in read.scene.filters] == ["x_min"]


TREES = {"flower", "letters", "dragon", "space-station", "oak"}
UNSAVED = {"flower": "a mapping of your own", "spin-up": "a filter of your own"}
LARGE = {"garden"}


@pytest.mark.parametrize("name", sorted(UNSAVED))
def test_scenes_with_mappings_and_filters_of_their_own_cannot_be_saved(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{UNSAVED[name]} cannot be saved"):
        save(registry()[name].make(), tmp_path / "first.toml")


@pytest.mark.parametrize("name", sorted(set(registry()) - set(UNSAVED) - TREES - LARGE))
def test_built_in_scenes_can_be_saved(name: str, tmp_path: Path) -> None:
    scene = registry()[name].make()
    save(scene, tmp_path / "first.toml")
    again = load(tmp_path / "first.toml")
    save(again, tmp_path / "second.toml")
    assert (tmp_path / "second.toml").read_text() == (tmp_path / "first.toml").read_text()
    one, two = scene.compile(), again.compile()
    assert str(two) == str(one)
    assert np.array_equal(two.x0, one.x0)


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "scene-files.md").read_text(encoding="utf-8")
    text = manual.split("```toml\n")[1].split("```")[0]
    assert_round_trip(load(written(tmp_path, text)), tmp_path, count=1)


WRONG = {
    "unknown key": ("density = 500", "densty = 500", r"bodies\[0\]\.densty: unknown key\. Did you mean 'density'\?"),
    "unknown table": ("[[loads]]", "[[laods]]", "laods: unknown key. Did you mean 'loads'"),
    "deep key": ("frequency", "freqency", r"loads\[0\]\.force\.sine\.freqency: unknown key.*'frequency'"),
    "kind": ('"particles"', '"particle"', r"bodies\[1\]\.kind: unknown kind.*Did you mean 'particles'"),
    "liquid": (
        '"particles"',
        '"liquid"',
        r"got 'liquid'; allowed: fem, .*, floating, layered, group",
    ),
    "missing": ("density = 500", "", r"bodies\[0\]: a key is missing"),
    "missing key": (", frequency = 2", "", r"loads\[0\]\.force\.sine\.frequency: the key is missing"),
    "text": ("density = 500", 'density = "500"', r"bodies\[0\]\.density: is not a number"),
    "truth": ("density = 500", "density = true", "is not a number"),
    "short vector": ("[0.5, 0, 0.1]", "[0.5, 0]", r"bodies\[0\]\.at: is not a vector of 3 numbers"),
    "ragged": ("[0.1, 0, 0], [0.2", "[0.1, 0], [0.2", r"bodies\[1\]\.positions: is not a list of positions"),
    "not finite": ("amplitude = [0, 0, 1]", "amplitude = [0, 0, inf]", "not finite"),
    "syntax": ("dt = 0.01", "dt = 0.01 0.02", "line 4"),
    "version": ("supple = 1", "supple = 7", "supple: this version of scene files is not read"),
    "no version": ("supple = 1", "", "Begin the file with: supple = 1"),
    "poisson": ("0.45", "0.5", "materials.rubber.*Poisson's ratio is out of range"),
    "negative density": ("1100", "-1100", "materials.rubber.*density is not positive"),
    "masses": ("[0.1, 0.2, 0.1]", "[0.1, 0.2]", r"bodies\[1\]\.mass: there is not one mass a particle"),
    "number": ("numbers = [2]", "numbers = [9]", r"loads\[0\].*out of range"),
    "body": ('a = { body = "ball", local = [0', 'a = { body = "bal", local = [0', r"springs\[0\]: no body .*'ball'"),
    "two shapes": ("density = 500", "density = 500\nsphere = { radius = 1 }", "exclude each other"),
    "solver": ('"implicit_euler"', '"implicit"', r"solver\.kind: unknown kind.*implicit_euler"),
    "solver's key": ("dt = 0.01", "td = 0.01", r"solver\.td: unknown key\. Did you mean 'dt'"),
    "step": ("dt = 0.01", "dt = -1", "step is not positive"),
    "until": ("until = 0.1", "until = -1", "run.until: is not positive"),
    "obstacles": (
        "[run]",
        "[[obstacles]]\nkind = 'floor'\nheigth = 1\n[run]",
        r"obstacles\[0\]\.heigth: unknown key.*'height'",
    ),
    "control": ('name = "ball"', '"na\\nme" = 1', r"bodies\[0\]\.na\\nme: unknown key"),
    "the world": ('name = "ball"', 'name = "world"', "name of the world"),
    "twice": ('name = "ball"', 'name = "string"', "already used"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str, tmp_path: Path) -> None:
    old, new, message = WRONG[case]
    assert old in SMALL
    path = written(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(SuppleError, match=message) as caught:
        load(path)
    sentence = caught.value.sentence()
    assert sentence.startswith("scene.toml")
    assert "\n" not in sentence
    assert "pydantic" not in sentence


def test_materials_are_found(tmp_path: Path) -> None:
    text = DESIGN.replace("[40, 4, 4]", "[1, 1, 1]")
    with pytest.raises(SuppleError, match=r"bodies\[0\]\.material: no material is called 'ruber'\. .*'rubber'"):
        load(written(tmp_path, text.replace('"rubber"', '"ruber"')))
    with pytest.raises(SuppleError, match=r"bodies\[0\]: node 'beam': no region is called 'x_mn'.*'x_min'"):
        load(written(tmp_path, text.replace("x_min", "x_mn")))


HOSTILE = {
    "deep.json": "[" * 100_000,
    "deeper.toml": "a = " + "[" * 100_000,
    "nested.json": '{"supple": 1, "bodies": ' + '[{"kind": ' * 50 + "1" + "}]" * 50 + "}",
    "digits.json": '{"supple": 1' + "0" * 10_000 + ', "bodies": []}',
    "digits.toml": "supple = 1" + "0" * 10_000,
    "twice.json": '{"supple": 1, "supple": 1, "bodies": []}',
    "infinite.json": '{"supple": 1, "bodies": [], "gravity": [0, 0, Infinity]}',
    "huge.json": '{"supple": 1, "bodies": [], "gravity": [0, 0, 1' + "0" * 400 + "]}",
    "bytes.toml": "\x00\x01",
    "empty.toml": "",
    "list.json": "[]",
    "cells.toml": DESIGN.replace("[40, 4, 4]", "[400000, 4, 4]"),
    "text.xml": "<a/>",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SuppleError) as caught:
        load(written(tmp_path, HOSTILE[name], name))
    assert len(caught.value.sentence()) < 500


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("name", ["scene.toml", "scene.json", "robot.vxa", "robot.vxc", "robot.vxd"])
def test_pipes_and_devices_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load(tmp_path / name)
    (tmp_path / name).unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(FileFormatError, match="a pipe or a device"):
        load(tmp_path / name)


def test_groups_may_be_nested_deeply(tmp_path: Path) -> None:
    depth = 1500
    groups = [{"kind": "group", "name": f"g{k}", **({"under": f"g{k - 1}"} if k else {})} for k in range(depth)]
    ball = {"kind": "rigid", "name": "ball", "sphere": {"radius": 0.1}, "density": 1.0, "under": f"g{depth - 1}"}
    path = tmp_path / "deep.json"
    path.write_text(json.dumps({"supple": 1, "bodies": [*groups, ball]}))
    scene = load(path)
    assert scene.node("ball") is scene.nodes[0]
    assert scene.compile().v_size == 6
    save(scene, tmp_path / "again.json")


def test_other_files_are_refused_with_help(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="load_mesh"):
        load(written(tmp_path, "", "beam.veg"))
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_what_is_no_data_cannot_be_saved(tmp_path: Path) -> None:
    scene, string = particle_scene()
    scene.add(sp.Load(string.points(), lambda t: (0, 0, t)), name="wind")
    with pytest.raises(InputError, match=r"'wind' is a Python function.*TableInTime"):
        save(scene, tmp_path / "scene.toml")

    class Own:
        def add_force(self, state: object, f_out: object) -> None: ...

    scene, string = particle_scene()
    scene.add(Own(), on=string, name="magnet")
    with pytest.raises(InputError, match="force 'magnet': a force of your own"):
        save(scene, tmp_path / "scene.toml")
    assert list(tmp_path.iterdir()) == []


EVERYTHING = (
    """
force_order = ["springs[0]", "loads[0]", "loads[1]"]
"""
    + SMALL
    + """
[[bodies]]
name = "block"
kind = "fem"
mesh.box = { size = [1, 1, 1], cells = [1, 1, 1] }
mesh.elements = "hex"
mesh.regions = { a = { nodes = [0, 1] }, all = { elements = [0] } }
material = { all = "rubber" }
law = "stvk"
mass = "consistent"
fix = ["x_min", "a"]
velocity = [0, 0, 1]
spin = [1, 0, 0]

[[bodies]]
name = "wheel"
kind = "rigid"
mass = 2
inertia = [1, 1, 1]
surface = { nodes = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles = [[0, 1, 2]] }

[[loads]]
on = { body = "block", region = "x_max" }
pressure = { table = { times = [0, 1], values = [0, 10] } }

[[joints]]
kind = "hinge"
a = "wheel"
axis = [0, 1, 0]
limits = [-1, 1]
motor_speed = 2
motor_torque = 3

[[filters]]
kind = "motion"
body = "block"
numbers = [4, 6]
displacement = { sine = { amplitude = [0, 0, 0.1], frequency = 1 } }
"""
)

SAFE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def test_everything_loads(tmp_path: Path) -> None:
    scene = load(written(tmp_path, EVERYTHING))
    assert_round_trip(scene, tmp_path)


@SAFE
@given(data=st.data())
def test_random_damage_to_the_text(data: st.DataObject, tmp_path: Path) -> None:
    start = data.draw(st.integers(0, len(EVERYTHING)))
    stop = data.draw(st.integers(start, min(start + 20, len(EVERYTHING))))
    text = EVERYTHING[:start] + data.draw(st.text(max_size=4)) + EVERYTHING[stop:]
    path = tmp_path / "scene.toml"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    load_or_refuse(path)


@SAFE
@given(data=st.data())
def test_random_damage_to_the_values(data: st.DataObject, tmp_path: Path) -> None:
    load_with_damaged_values(EVERYTHING, data, tmp_path)
