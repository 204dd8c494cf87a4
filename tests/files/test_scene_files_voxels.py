"""Voxel bodies in scene files: what is written comes back to the bit; what is wrong is named in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.damaging import load_with_damaged_values

import supple as sp
from supple.bodies.voxel import Samples
from supple.errors import InputError, SuppleError
from supple.files import load, load_scene_file, save
from supple.files.voxcad.load import (
    StopKind,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
    load_voxcad,
    save_voxcad,
    voxcad_body,
    voxcad_scene,
)
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Box, HeightField
from supple.solvers.choosing import choose

SOFT = sp.VoxelMaterial(young=1e5, density=1000, expansion=0.01, name="soft")
HARD = sp.VoxelMaterial(young=5e5, density=1200, bond_damping=0.3, yield_stress=2e4, fail_strain=0.2, name="hard")

WALKER = """
supple = 1
gravity = [0, 0, -9.81]

[voxel_materials.muscle]
young = 1e5
density = 1000
expansion = 0.01

[voxel_materials.bone]
young = 1e6
density = 1500

[[bodies]]
name = "walker"
kind = "voxel"
layers = [["1.1", "1.1"], ["222", "121"]]
voxel_size = 0.01
material = { 1 = "muscle", 2 = "bone" }
actuation = { amplitude = 10, frequency = 4, phase = { 1 = 0.0, 2 = 0.5 } }
at = [0, 0, 0.002]
rotation = [0, 0, 0.3]

[[obstacles]]
kind = "floor"
friction = 0.8

[[obstacles]]
kind = "box"
friction = 0.8
centre = [0.05, 0, 0]
edges = [0.02, 0.1, 0.02]
rotation = [0, 0, 0.5]

[[contact]]
self_contact = ["walker"]

[solver]
kind = "lattice_solver"
dt = 0.002
"""


def steps(scene: sp.Scene, count: int = 5) -> np.ndarray:
    """The state after a few strides, in one vector."""
    system = scene.compile()
    state = system.initial_state()
    solver = scene.solver or choose(scene).solver
    solver.prepare(system)
    for _ in range(count):
        solver.step(system, state)
    return np.concatenate([state.x, state.v])


def assert_round_trip(scene: sp.Scene, folder: Path) -> None:
    """Save and load in both formats: the same motion to the bit, and the same file the second time."""
    expected = steps(scene)
    assert np.isfinite(expected).all()
    assert np.abs(expected - steps(scene, 0)).max() > 1e-6
    for suffix in (".toml", ".json"):
        first, second = folder / f"first{suffix}", folder / f"second{suffix}"
        save(scene, first)
        again = load(first)
        assert np.array_equal(steps(again), expected)
        save(again, second)
        assert second.read_text() == first.read_text()


def written(folder: Path, text: str, name: str = "scene.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_walker_as_text(tmp_path: Path) -> None:
    scene = load(written(tmp_path, WALKER))
    body = scene.node("walker").body
    assert body.grid.materials[:, 0, 0].tolist() == [1, 0, 1]
    assert body.grid.materials[:, :, 1].T.tolist() == [[2, 2, 2], [1, 2, 1]]
    assert body.palette_by_number[2].density == 1500
    assert body.swing is not None
    floor, block = scene.obstacles.values()
    assert floor.normal.tolist() == [0, 0, 1]
    assert isinstance(block, Box)
    assert scene.contacts[0].self_touching(scene) == [scene.node("walker")]
    assert (floor.friction, scene.solver.dt) == (0.8, 0.002)
    assert_round_trip(scene, tmp_path)


def everything() -> sp.Scene:
    """A scene with all that voxels may have."""
    cells = np.array([[[1, 2], [1, 1]], [[2, 12], [0, 1]], [[1, 1], [2, 0]]])
    grid = VoxelGrid(cells, 0.01, (0.1, 0.2, 0.3))
    drivers = [
        sp.Actuation(3.0, 5.0, phase=np.linspace(0, 1, grid.voxel_count), rise=0.02, phase_shift=0.1),
        sp.Drive(Samples([0.0, 1.0, 0.5], rate=20.0, repeats=True), gain={1: 1.0, 2: 0.5, 12: 0.0}, phase=0.25),
        sp.Drive(sp.RampInTime(2.0, 0.05), amplitude=0.5),
    ]
    young = np.linspace(8e4, 3e5, grid.voxel_count)
    one = sp.VoxelBody(grid, {1: SOFT, 2: HARD, 12: SOFT}, actuation=drivers, young=young)
    rubber = sp.VoxelMaterial(young=1e5, density=1000, poisson=0.3, name="soft")  # a name that is taken
    two = sp.VoxelBody(VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.01), rubber, transverse=True)
    scene = sp.Scene(gravity=(0, 0, -9.81))
    a = scene.add(one, name="one", rotation=(0.1, 0.2, 0.3), velocity=(0.1, 0, 0))
    b = scene.add(two, name="two", fix="x_min", at=(0.3, 0, 0.22), spin=(0, 0, 1))
    scene.add(sp.Load(b.points("x_max"), (0, 0, 0.01)))
    scene.add(sp.Load(a.points([0, 3]), sp.SineInTime((0, 0.02, 0), 3.0)))
    scene.add(sp.Wrench(b, "x_max", torque=(1e-5, 0, 0)))
    scene.add(sp.Wrench(a, [1, 2], force=sp.RampInTime((0.01, 0, 0), 0.1)))
    scene.add(sp.FixedAxes(a, [0], "y", rotation=True))
    scene.add(sp.FixedPoints(b, [4], rotation=False))
    scene.add(sp.PrescribedMotion(a, [5], displacement=sp.RampInTime((0, 0, 0.001), 0.02)))
    slope = sp.Plane((0.1, 0.02, 1.0), -0.5)
    ground = HeightField([[0.0, 0.01, 0.0], [0.0, 0.0, -0.01]], origin=(-1, -1), spacing=(2.0, 1.0))
    obstacles = (slope, sp.Plane(offset=0.219), sp.Sphere((0.3, 0, 0.1), 0.08), ground)
    for obstacle in (*obstacles, Box((1, 0, 0), (0.1, 0.2, 0.3), (0.1, 0.2, 0.3), name="block")):
        scene.add(obstacle)
    scene.add(sp.Fluid(1.2, flow=(1, 0, 0), level=0.35))
    scene.add(sp.Contact(damping=0.0, friction=0.0, self_contact=[a, b]))
    scene.solver = sp.LatticeSolver(dt=0.002, safety=0.6)
    return scene


def test_everything_comes_back(tmp_path: Path) -> None:
    assert_round_trip(everything(), tmp_path)


def test_self_contact_of_all_is_saved_by_names(tmp_path: Path) -> None:
    scene = sp.Scene()
    node = scene.add(sp.VoxelBody(VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01), SOFT))
    scene.add(sp.Contact(self_contact=True))
    save(scene, tmp_path / "a.toml")
    again = load(tmp_path / "a.toml")
    assert [n.name for n in again.contacts[0].self_touching(again)] == [node.name]


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    manual = (Path(__file__).parents[2] / "docs" / "scene-files.md").read_text(encoding="utf-8")
    text = manual.split("```toml\n")[2].split("```")[0]
    assert 'kind = "voxel"' in text
    scene = load(written(tmp_path, text))
    assert len(scene.contacts[0].self_touching(scene)) == 1
    assert_round_trip(scene, tmp_path)


def test_a_ball_of_voxels(tmp_path: Path) -> None:
    text = WALKER.replace('layers = [["1.1", "1.1"], ["222", "121"]]', "sphere = { cells = 20 }")
    grid = load(written(tmp_path, text)).node("walker").body.grid
    assert grid.shape == (20, 20, 20)
    assert grid.volume == pytest.approx(4 / 3 * np.pi * 0.1**3, rel=0.02)


def test_a_body_from_a_voxcad_file(tmp_path: Path) -> None:
    surroundings = VoxcadEnvironment(temperature_enabled=True, temperature_amplitude=9.0, temperature_varies=True)
    file = VoxcadFile(VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01), (SOFT,), environment=surroundings)
    save_voxcad(file, tmp_path / "walker.vxa")
    text = 'supple = 1\n[[bodies]]\nname = "robot"\nkind = "voxel"\nfile = "walker.vxa"\nat = [0.5, 0, 0.1]\n'
    scene = load(written(tmp_path, text))
    node = scene.node("robot")
    assert node.body.actuation.amplitude == 9
    assert node.rest.min(axis=0) == pytest.approx((0.505, 0.005, 0.105))
    own = sp.load(tmp_path / "walker.vxa").nodes[0].body
    assert own.model.mass.tolist() == voxcad_body(load_voxcad(tmp_path / "walker.vxa")).model.mass.tolist()
    inside = tmp_path / "inside"
    inside.mkdir()
    path = written(inside, text.replace("walker.vxa", "../walker.vxa"))
    with pytest.raises(SuppleError, match=r"bodies\[0\]\.file: the file .* lies outside"):
        load(path)
    assert load(path, outside=True).nodes


def test_an_explicit_and_an_implicit_solver_take_voxels_too(tmp_path: Path) -> None:
    text = WALKER[: WALKER.index("[[obstacles]]")] + '[solver]\nkind = "implicit_euler"\ndt = 0.001\n'
    assert_round_trip(load(written(tmp_path, text)), tmp_path)


def test_what_is_no_data_cannot_be_saved(tmp_path: Path) -> None:
    grid = VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    for driver, says in (
        (sp.Commands(lambda t, state: [0.0], rate=10.0), "commands come from a Python function"),
        (sp.Drive(lambda t: t), "a control signal is a Python function"),
    ):
        scene = sp.Scene()
        scene.add(sp.VoxelBody(grid, SOFT, actuation=driver))
        with pytest.raises(InputError, match=says):
            save(scene, tmp_path / "a.toml")


LAYERS = '[["1.1", "1.1"], ["222", "121"]]'
WRONG = {
    "no cells": (LAYERS, "[]", r"bodies\[0\]\.layers: is not a list of layers"),
    "ragged": (LAYERS, '[["1.1", "1."]]', r"layers: the layers or rows are not of equal length"),
    "letters": (LAYERS, '[["1x1"]]', r"layers: has a row that is neither text of digits nor whole numbers"),
    "negative": (LAYERS, "[[[1, -1]]]", r"layers: a material's number is out of range"),
    "empty": (LAYERS, '[["..."]]', r"bodies\[0\].*the grid holds no voxel"),
    "many cells": (f"layers = {LAYERS}", "box = { cells = [4000, 4000, 4000] }", r"number of cells is out of range"),
    "large ball": (f"layers = {LAYERS}", "sphere = { cells = 1000000000 }", r"number of cells is out of range"),
    "no shape": (f"layers = {LAYERS}", "", r"bodies\[0\]: a key is missing.*file, layers, box, sphere"),
    "no size": ("voxel_size = 0.01", "", r"bodies\[0\]\.voxel_size: the key is missing"),
    "size": ("voxel_size = 0.01", "voxel_size = -1", r"the voxel size is not positive"),
    "not a number": ("voxel_size = 0.01", "voxel_size = nan", r"voxel_size: is not a finite number"),
    "file and more": (f"layers = {LAYERS}", 'file = "a.vxa"', r"'voxel_size' does not go with 'file'"),
    "material": ('2 = "bone"', '2 = "bon"', r"bodies\[0\]\.material: no voxel material is called 'bon'.*'bone'"),
    "numbers": ('2 = "bone"', 'two = "bone"', r"material: is not a table by the numbers of materials"),
    "lacking": (', 2 = "bone"', "", r"the palette lacks a material of the grid \(got 2"),
    "material's key": (
        "expansion = 0.01",
        "expansin = 1",
        r"voxel_materials\.muscle\.expansin: unknown key.*'expansion'",
    ),
    "damping": ("expansion = 0.01", "bond_damping = 2", r"voxel_materials\.muscle.*bond_damping is out of range"),
    "frequency": ("frequency = 4, ", "", r"actuation\.?.*frequency: a sine needs its frequency"),
    "signal": ("amplitude = 10, frequency = 4", "signal = 3", r"signal: is not a function of time"),
    "vanishing": ("amplitude = 10", "amplitude = 200", r"the control makes a voxel vanish"),
    "obstacle": ('kind = "floor"', 'kind = "flor"', r"obstacles\[0\]\.kind: unknown kind.*Did you mean 'floor'"),
    "friction": (
        'kind = "floor"\nfriction = 0.8',
        'kind = "floor"\nfriction = -1',
        r"obstacles\[0\].*friction is out of range",
    ),
    "twice": (
        'kind = "box"',
        'kind = "floor"\n[[obstacles]]\nkind = "box"',
        r"obstacles\[1\].*two obstacles are in one place",
    ),
    "edges": ("edges = [0.02", "edges = [-0.02", r"obstacles\[1\].*an edge is not positive"),
    "fluid": ('[[contact]]\nself_contact = ["walker"]', "[fluid]\ndensity = -1", r"fluid: .*density is out of range"),
    "planes": ("dt = 0.002", "planes = []", r"solver\.planes: unknown key"),
    "torque": (
        "[[contact]]",
        "[[loads]]\non = { world = [0, 0, 0] }\ntorque = [1, 0, 0]\n[[contact]]",
        r"a torque acts on",
    ),
    "layer": ("at = [0, 0, 0.002]", 'fix = "top"', r"no layer of that name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named(case: str, tmp_path: Path) -> None:
    old, new, message = WRONG[case]
    assert old in WALKER
    with pytest.raises(SuppleError, match=message) as caught:
        load(written(tmp_path, WALKER.replace(old, new, 1)))
    sentence = caught.value.sentence()
    assert sentence.startswith("scene.toml")
    assert "\n" not in sentence


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(data=st.data())
def test_random_damage_to_the_values(data: st.DataObject, tmp_path: Path) -> None:
    load_with_damaged_values(WALKER, data, tmp_path)


def test_a_voxcad_file_is_loaded_with_its_surroundings(tmp_path: Path) -> None:
    """Gravity, floor and temperature of the file: what `supple run` makes of it, and a fall onto the floor."""
    surroundings = VoxcadEnvironment(gravity_enabled=True, floor_enabled=True)
    simulator = VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=0.25)
    file = VoxcadFile(VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01), (SOFT,), (), {}, simulator, surroundings)
    save_voxcad(file, tmp_path / "walker.vxa")
    read = load_scene_file(tmp_path / "walker.vxa")
    assert read.run.until == 0.25
    scene = sp.load(tmp_path / "walker.vxa")
    assert scene.gravity[2] == pytest.approx(-9.81)
    assert scene.name == "walker"
    run, theirs = sp.run(scene, until=0.05), sp.run(voxcad_scene(load_voxcad(tmp_path / "walker.vxa")), until=0.05)
    assert np.array_equal(run.state.x, theirs.state.x)
    assert run.state.x.reshape(-1, 7)[:, 2].min() > 0.004
