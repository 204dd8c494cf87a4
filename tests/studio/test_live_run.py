"""What was changed and pulled at in the studio, saved as a scene file: its replay ends in the same bits."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import Actuation
from supple.cli.scenes import find_scene
from supple.errors import DivergenceError, InputError, SuppleError
from supple.modal import ElasticSolid
from supple.scene.changes import changes_of
from supple.studio.live.live_run import LiveRun
from supple.studio.pulling import Pointer
from supple.validation.tree.coupling import beam_domain_tree

Array = np.ndarray
RUBBER = sp.Material(1e5, 0.3, 1000, stiffness_damping=0.002)
G = (0.0, 0.0, -9.81)


def fem() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="beam")
    mesh = sp.box_tets(size=(0.2, 0.05, 0.05), cells=(4, 2, 2))
    scene.add(sp.FemBody(mesh, RUBBER), fix="x_min", at=(0, 0, 0.3), name="beam")
    return scene


def lattice() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="walker")
    muscle = sp.VoxelMaterial(1e5, density=1000, expansion=0.01, bond_damping=0.3)
    grid = sp.VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.02)
    scene.add(sp.VoxelBody(grid, muscle, actuation=Actuation(10.0, 5.0)), at=(0, 0, 0.05), name="walker")
    scene.add(sp.Floor())
    return scene


def tree() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="branch")
    scene.add(sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.01), name="branch")
    scene.add(sp.Wind(velocity=(0, 1.0, 0)), name="breeze")
    return scene


def rigid() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="crate")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), name="crate")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.02, 0, 0.16), name="ball")
    scene.add(sp.Floor())
    return scene


def floating() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="rod")
    solid = ElasticSolid(sp.box_tets((0.3, 0.02, 0.02), (12, 1, 1)), sp.Material(1e7, 0.3, 1000))
    scene.add(sp.FloatingBody.from_solid(solid, modes=4), spin=(0, 2, 1), name="rod")
    return scene


def layered() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="fruit")
    mesh = sp.sphere_tets(0.1, 3)
    core = np.flatnonzero(np.linalg.norm(mesh.nodes[mesh.elements].mean(axis=1), axis=1) < 0.05)
    scene.add(sp.LayeredBody.from_mesh(mesh, RUBBER, core=core), at=(0, 0, 0.1), name="fruit")
    scene.add(sp.Floor())
    return scene


def string() -> sp.Scene:
    scene = sp.Scene(gravity=G, name="string")
    links = [(0, 1), (1, 2)]
    line = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]])
    scene.add(sp.Particles(line, 0.02, springs=links, stiffness=200.0, damping=0.05, radius=0.03), name="string")
    return scene


def rough() -> sp.Scene:
    """A floor whose own friction holds."""
    scene = sp.Scene(gravity=G, name="slide")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), velocity=(0.5, 0, 0), name="crate")
    scene.add(sp.Floor(friction=0.6))
    return scene


def icy() -> sp.Scene:
    """A pair whose own friction holds."""
    scene = rough()
    scene.add(sp.Contact(frictions={("crate", "floor"): 0.4}))
    return scene


def together() -> sp.Scene:
    """Kinds that are stepped by schemes of their own, and touch."""
    scene = lattice()
    scene.add(sp.RigidBody.box((0.04, 0.04, 0.02), density=500), at=(0.03, 0.01, 0.1), name="crate")
    scene.add(sp.Contact())
    return scene


SCENES: dict[str, tuple[Callable[[], sp.Scene], str, float]] = {
    "fem": (fem, "Young's modulus of beam", 2e5),
    "lattice": (lattice, "Amplitude of walker", 14.0),
    "tree": (tree, "Frequency factor of branch", 1.3),
    "rigid": (rigid, "Friction of contact", 0.1),
    "rough": (rough, "Friction of floor", 0.1),
    "pair": (icy, "Friction of crate and floor", 0.05),
    "sliding lattice": (lattice, "Kinetic friction of walker", 0.1),
    "floating": (floating, "Stiffness, times of rod", 1.5),
    "layered": (layered, "Stiffness damping of fruit", 0.004),
    "particles": (string, "Stiffness of string", 150.0),
    "together": (together, "Amplitude of walker", 14.0),
}


def towards(place: Array, target: Array) -> Pointer:
    """From far above."""
    origin = place + np.array([0, 0, 10.0])
    return Pointer(origin, (target - origin) / np.linalg.norm(target - origin), np.array([0.0, 0, -1.0]))


def seen(live: LiveRun, title: str, value: float) -> None:
    """Steps in strides of any length, with changes and a pull in between."""
    number = next(k for k, setting in enumerate(live.settings) if setting.title == title)
    for steps in (1, 7, 2):
        live.take(steps)
    live.change(number, None, value)
    live.take(5)
    points = live.show.surfaces[0].points(live.state).astype(float)
    tip = points[np.argmax(points[:, 0])]
    place = points.mean(axis=0) + 0.3 * (tip - points.mean(axis=0)) if len(live.show.surfaces[0].triangles) else tip
    live.grab(1, towards(place, place), live.state)
    assert live.pulls.held
    for k in range(6):
        live.drag(1, towards(place, place + 0.004 * k * np.array([0.3, 1.0, 0.0])))
        live.take(1 + k % 3)
    gravity = next(k for k, setting in enumerate(live.settings) if setting.title == "Gravity")
    live.change(gravity, 2, -3.71)  # while somebody pulls
    live.take(4)
    live.release(1)
    live.take(9)
    live.check()


@pytest.fixture(params=SCENES)
def lived(request: pytest.FixtureRequest) -> LiveRun:
    make, title, value = SCENES[request.param]
    live = LiveRun(make())
    seen(live, title, value)
    return live


def unpacked(live: LiveRun, folder: Path) -> Path:
    saved = live.saved()
    if saved.name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(saved.data)) as archive:
            archive.extractall(folder)
        return next(folder.glob("*.toml"))
    (folder / saved.name).write_bytes(saved.data)
    return folder / saved.name


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")  # contacts of voxels that cost time
def test_replay_gives_the_same_bits(lived: LiveRun, tmp_path: Path) -> None:
    """As `supple run FILE`, with frames at other moments; resumed from the middle of a pull too."""
    chosen = find_scene(str(unpacked(lived, tmp_path)))
    run = sp.run(chosen.scene, record_every=0.0123, progress=False, **chosen.settings)
    assert run.steps == lived.step
    assert np.array_equal(run.state.x, lived.state.x)
    assert np.array_equal(run.state.v, lived.state.v)
    assert len(changes_of(run.state)) == len(changes_of(lived.state))
    half = {**chosen.settings, "until": 22 * lived.dt}
    sp.run(chosen.scene, out=tmp_path / "out", progress=False, **half)
    whole = sp.run(chosen.scene, out=tmp_path / "out", resume=True, progress=False, **chosen.settings)
    assert np.array_equal(whole.state.x, lived.state.x)
    again = LiveRun(chosen.scene)  # the studio repeats them too
    while again.step < lived.step:
        again.take(lived.step - again.step)
    assert np.array_equal(again.state.x, lived.state.x)


def test_a_built_in_scene_is_named(tmp_path: Path) -> None:
    live = LiveRun(find_scene("rigid-on-springs").scene)
    live.take(3)
    live.change(0, 0, 1.0)
    live.take(20)
    path = unpacked(live, tmp_path)
    assert 'example = "rigid-on-springs"' in path.read_text()
    chosen = find_scene(str(path))
    run = sp.run(chosen.scene, progress=False, **chosen.settings)
    assert np.array_equal(run.state.x, live.state.x)
    with pytest.raises(SuppleError, match="supple run FILE"):
        sp.load(path)


def test_what_no_file_can_hold_is_refused() -> None:
    scene = fem()
    scene.add(sp.Load(scene.node("beam").points("x_max"), lambda t: (0.0, 0.0, -t)))
    live = LiveRun(scene)
    live.take(2)
    with pytest.raises(InputError, match=r"cannot be saved as a file.*system.change"):
        live.saved()


def test_energy_is_judged_while_somebody_pulls() -> None:
    """The work of the hand is allowed, and no more than that."""
    live = LiveRun(fem())
    points = live.show.surfaces[0].points(live.state).astype(float)
    place = points[np.argmax(points[:, 0])] * 0.98 + 0.02 * points.mean(axis=0)
    live.grab(1, towards(place, place), live.state)
    before = live.guard.allowed
    for k in range(20):
        live.drag(1, towards(place, place + np.array([0, 0.01 * k, 0])))
        live.take(2)
        live.check()
    work = live.guard.allowed - before
    assert work > 0
    live.state.v[:] *= 1e6
    with pytest.raises(DivergenceError, match="its energy has grown"):
        live.check()
    live.go_back()
    assert np.isfinite(live.state.x).all()
