"""Skeletons: skins move vertices as recorded, weights are shares of four joints, and the validator has no word."""

from __future__ import annotations

import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from tests.files.formats.glb_reader import GlbFile, z_up
from tests.files.formats.khronos import validate
from tests.files.formats.mixed_scene import make_run, make_tree_run

import supple as sp
from supple.errors import ExportNotice, InputError
from supple.examples import registry
from supple.exports.formats.skeleton import vertex_normals
from supple.exports.formats.skinning import Bones, fit_bones, fit_weights, rigid_errors, simplex_weights

LIMIT = 0.02
"""Rms error over the body's size."""


@pytest.fixture(scope="module")
def run():
    return make_run()


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    with pytest.warns(ExportNotice, match=r"'beam' has \d+ joints; its vertices are .* % of its size \(rms\)"):
        return sp.export(run, tmp_path_factory.mktemp("skeleton"), to="skeleton")


def size_of(x):
    return np.linalg.norm(np.ptp(x, axis=0))


def test_validator_finds_nothing(path) -> None:
    info = validate(path)
    assert path.name == "mixed_parts_skeleton.glb"
    assert info["hasSkins"]
    assert info["animationCount"] == 1
    assert info["maxInfluences"] == 4


def test_skins_move_as_recorded_within_the_error_that_is_told(run, path) -> None:
    file, squares = GlbFile(path), []
    for frame, time in enumerate(run.frames.times):
        x = run.frames.points("beam", frame)
        squares.append(np.mean(np.sum((z_up(file.points(file.node("beam"), time)) - x) ** 2, axis=1)))
    told = file.json["asset"]["extras"]["beam"]
    assert np.isclose(np.sqrt(np.mean(squares)), told["rms"], rtol=1e-3)
    assert told["rms"] < LIMIT * size_of(run.frames.points("beam", 0))
    assert told["largest"] >= told["rms"]


def test_rigid_bodies_and_particles_move_beside_them(run, path) -> None:
    file, x = GlbFile(path), run.frames.points("box 2", -1)
    assert np.abs(z_up(file.points(file.node("box 2"), run.time)) - x).max() < 1e-5
    ball = z_up(file.points(file.node("chain 1"), run.time)).mean(axis=0)
    assert np.abs(ball - run.frames.points("chain", -1)[1]).max() < 1e-5


def test_bound_as_in_the_first_frame(run, path) -> None:
    file = GlbFile(path)
    node = file.nodes[file.node("beam")]
    attributes = file.json["meshes"][node["mesh"]]["primitives"][0]["attributes"]
    assert np.abs(z_up(file.array(attributes["POSITION"])) - run.frames.points("beam", 0)).max() < 1e-6
    assert np.abs(z_up(file.points(file.node("beam"))) - run.frames.points("beam", 0)).max() < 1e-5
    weights = file.array(attributes["WEIGHTS_0"])
    assert (weights >= 0).all()
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-12)
    assert file.array(attributes["JOINTS_0"]).max() < len(file.json["skins"][0]["joints"])
    normals = file.array(attributes["NORMAL"])
    assert np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)


def test_domains_of_a_tree_are_joints(tmp_path: Path) -> None:
    run = make_tree_run()
    carriers = run.frames.carriers("tree")
    with pytest.warns(ExportNotice, match="joints"):
        file = GlbFile(sp.export(run, tmp_path, to="skeleton"))
    validate(tmp_path / "branch_skeleton.glb")
    assert len(file.json["skins"][0]["joints"]) >= len(carriers.kind)
    x = run.frames.points("tree", -1)
    error = np.sqrt(np.mean(np.sum((z_up(file.points(file.node("tree"), run.time)) - x) ** 2, axis=1)))
    assert error < 0.005 * size_of(x)
    with pytest.warns(ExportNotice, match="'tree' has 3 joints"):
        sp.export(run, tmp_path, to="skeleton", joints=3)


def arm(frames: int = 9):
    """A bar (frames, n, 3) that two bones bend at its middle, with weights that change there from one to the other."""
    x, y, z = np.meshgrid(np.linspace(-1, 1, 41), [-0.1, 0.1], [-0.1, 0.1], indexing="ij")
    X = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    share = np.clip(0.5 + 2 * X[:, 0], 0, 1)[:, None]
    bent = []
    for angle in np.linspace(0, 0.8, frames):
        turns = [Rotation.from_rotvec([0, s * angle, 0.3 * angle]).as_matrix() for s in (-1, 1)]
        bent.append((1 - share) * X @ turns[0].T + share * X @ turns[1].T)
    return np.array(bent)


def test_a_skin_of_two_bones_is_found_again() -> None:
    x = arm()
    ends = np.abs(x[0][:, 0]) > 0.3
    bones = Bones((x[0][:, 0] > 0).astype(int), x[0])
    skin = fit_weights(bones, x)
    error = [np.abs(skin.positions(bones.rest, bones.centres, *bones.motions(frame)) - frame).max() for frame in x]
    assert bones.count == 2
    assert max(error) < 0.02
    assert (skin.weights[ends].max(axis=1) > 0.9).all()


def test_the_error_of_a_stretched_cluster_is_its_rms_over_all_frames() -> None:
    """A bar of vertices X along x that is stretched by s has no turn to be found: its error is s rms(X)."""
    X = np.linspace(-1, 1, 21)[:, None] * [1.0, 0, 0] + np.array([[0, 0.1, 0], [0, -0.1, 0], [0, 0, 0.1]])[:, None]
    X = X.reshape(-1, 3) - X.reshape(-1, 3).mean(axis=0)
    stretches = np.array([0.0, 0.01, 0.03])
    frames = np.array([X * [1 + s, 1, 1] for s in stretches])
    expected = np.sqrt(np.mean(stretches**2) * np.mean(X[:, 0] ** 2))
    assert rigid_errors(Bones(np.zeros(len(X), dtype=int), X), frames) == pytest.approx([expected], rel=1e-9)


def test_more_joints_come_nearer() -> None:
    x, errors = arm(), []
    for most in (1, 2, 4, 8):
        bones = fit_bones(x, 2.0, None, most)
        skin = fit_weights(bones, x)
        places = [skin.positions(bones.rest, bones.centres, *bones.motions(frame)) for frame in x]
        errors.append(np.sqrt(np.mean((np.array(places) - x) ** 2)))
    assert all(b < 0.7 * a for a, b in pairwise(errors))
    assert errors[-1] < 0.003


def test_weights_are_the_least_ones() -> None:
    """Against a general solver, where no bone is left out: all on the simplex."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 12, 4))
    G = A.swapaxes(1, 2) @ A
    kept, weights = simplex_weights(G, 4)
    assert (weights >= 0).all()
    assert np.allclose(weights.sum(axis=1), 1)
    for k in range(20):
        own = np.zeros(4)
        own[kept[k]] = weights[k]
        on_simplex = {"type": "eq", "fun": lambda w: w.sum() - 1}
        best = minimize(lambda w, G=G[k]: w @ G @ w, np.full(4, 0.25), bounds=[(0, 1)] * 4, constraints=[on_simplex])
        assert own @ G[k] @ own <= best.fun * 1.02


def test_a_rigid_motion_needs_one_joint_without_error() -> None:
    x = arm()[0]
    moved = np.array([x, x @ Rotation.from_rotvec([1, 2, 3]).as_matrix().T + [5, 0, 0]])
    bones = fit_bones(moved, 2.0, None, 64)
    skin = fit_weights(bones, moved)
    assert bones.count == 1
    assert np.abs(skin.positions(x, bones.centres, *bones.motions(moved[1])) - moved[1]).max() < 1e-12


def test_normals_point_outward() -> None:
    surface = sp.sphere_tets(1.0, 2).boundary.surface
    along = np.sum(vertex_normals(surface.nodes, surface.triangles) * surface.nodes, axis=1)
    assert (along > 0.95).all()


def test_what_cannot_be_fitted_is_told(run, tmp_path: Path) -> None:
    for given, message in (
        ({"frames": [1]}, "several frames"),
        ({"joints": 0}, ">= 1"),
        ({"frames": [2, 0]}, "ascend"),
    ):
        with pytest.raises(InputError, match=message):
            sp.export(run, tmp_path / "a.glb", to="skeleton", **given)
    with pytest.raises(InputError, match=r"\.glb"):
        sp.export(run, tmp_path / "a.fbx", to="skeleton")
    with pytest.raises(InputError, match="no option"):
        sp.export(run, tmp_path / "a.glb", joints=3)


def example_error(name: str, until: float, folder: Path) -> float:
    run = sp.run(registry()[name].make(), until=until, record_every=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExportNotice)
        path = sp.export(run, folder, to="skeleton")
    validate(path)
    told = GlbFile(path).json["asset"]["extras"][name]
    return told["rms"] / size_of(run.frames.points(name, 0))


def test_the_flower_bends_within_the_limit(tmp_path: Path) -> None:
    assert example_error("flower", 2.0, tmp_path) < LIMIT


@pytest.mark.slow
def test_the_oak_bends_within_the_limit(tmp_path: Path) -> None:
    assert example_error("oak", 2.0, tmp_path) < LIMIT
