"""Skeletons of trees: joints hang as the domains do, lie at their frames, and carry the surface as recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.files.formats.glb_reader import GlbFile, z_up
from tests.files.formats.khronos import validate
from tests.files.formats.mixed_scene import make_tree_run
from tests.trees.welds import welded_beams

import supple as sp
from supple.bodies.carried import Branches
from supple.errors import ExportNotice, RecordError
from supple.examples import registry
from supple.exports.formats.merging import Moments, merged_joints
from supple.exports.formats.tree_joints import fit_tree_joints, frames_of, unique
from supple.record import open_record

Array = np.ndarray
LIMIT = 0.02
"""Rms error over the body's size."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tree")
    make_tree_run(out)
    return out


@pytest.fixture(scope="module")
def file(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> GlbFile:
    with pytest.warns(ExportNotice, match="'tree' has .* joints"):
        return GlbFile(sp.export(folder, tmp_path_factory.mktemp("skeleton") / "tree.glb", to="skeleton"))


def hangs_on(file: GlbFile, names: list[str]) -> dict[str, str | None]:
    """Of each joint that is called after a domain, the next of those above it."""
    out: dict[str, str | None] = {}
    for joint in file.json["skins"][0]["joints"]:
        name, above = file.nodes[joint]["name"], file.parents[joint]
        while above in file.parents and file.nodes[above]["name"] not in names:
            above = file.parents[above]
        if name in names:
            out[name] = file.nodes[above]["name"] if file.nodes[above]["name"] in names else None
    return out


def worlds(file: GlbFile, time: float) -> dict[str, Array]:
    """Matrices (4, 4) of the joints, by name: products of those down the tree."""
    found: dict[int, Array] = {}
    for joint in file.json["skins"][0]["joints"]:
        above = file.parents[joint]
        M = found[above] if above in found else file.world(above, time)
        found[joint] = M @ file.local(joint, time)
    return {file.nodes[joint]["name"]: M for joint, M in found.items()}


def test_joints_hang_as_the_domains_do(folder: Path, file: GlbFile) -> None:
    branches = open_record(folder).carriers("tree").branches
    names = list(branches.names)
    assert names[:2] == ["low", "high"]
    assert unique(names) == names
    expected = {n: None if p < 0 else names[p] for n, p in zip(names, branches.parents)}
    assert hangs_on(file, names) == expected
    assert set(expected.values()) == {None, "low", "high"}
    joints = file.json["skins"][0]["joints"]
    assert len({file.nodes[j]["name"] for j in joints}) == len(joints)


def test_the_validator_finds_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.warns(ExportNotice, match="joints"):
        info = validate(sp.export(folder, tmp_path / "tree.glb", to="skeleton"))
    assert info["hasSkins"]


def test_joints_lie_at_the_frames_of_domains_at_all_times(folder: Path, file: GlbFile) -> None:
    record = open_record(folder)
    names = unique(record.carriers("tree").branches.names)
    Y = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    for frame, time in enumerate(record.times):
        found, rows = worlds(file, time), frames_of(record.carriage("tree", frame), len(names))
        for name, row in zip(names, rows):
            R, o = row[3:].reshape(3, 3), row[:3]
            assert np.abs(found[name][:3, 3] - Y @ o).max() < 1e-5
            assert np.abs(found[name][:3, :3] - Y @ R @ Y.T).max() < 1e-5


def test_matrices_down_the_tree_carry_the_surface_within_the_error_that_is_told(folder: Path, file: GlbFile) -> None:
    record, squares = open_record(folder), []
    for frame, time in enumerate(record.times):
        x = record.points("tree", frame)
        squares.append(np.mean(np.sum((z_up(file.points(file.node("tree"), time)) - x) ** 2, axis=1)))
    told = file.json["asset"]["extras"]["tree"]
    assert np.sqrt(np.mean(squares)) == pytest.approx(told["rms"], rel=1e-3)
    assert told["rms"] < LIMIT * np.linalg.norm(np.ptp(record.points("tree", 0), axis=0))


def test_a_joint_that_is_turned_takes_along_what_hangs_on_it(folder: Path, file: GlbFile) -> None:
    """Turn the second domain by hand: leaves at it turn, about its frame; nothing moves at the base."""
    record, time = open_record(folder), 0.0
    carriers = record.carriers("tree")
    before = file.points(file.node("tree"), time)
    number = next(j for j in file.json["skins"][0]["joints"] if file.nodes[j]["name"] == "high")
    about = file.world(number, time)
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_rotvec([0, 0, 0.5]).as_matrix()
    local = file.local

    class Turned(GlbFile):
        def local(self, joint: int, time: float | None) -> Array:
            M = local(joint, time)
            return M @ turn if joint == number else M

    turned = Turned.__new__(Turned)
    turned.__dict__.update(file.__dict__)
    after = turned.points(file.node("tree"), time)
    domain = np.repeat(np.arange(len(carriers.kind)), np.diff(carriers.starts))
    expected = about @ turn @ np.linalg.inv(about)
    leaf = domain == 5
    assert np.abs(after[leaf] - (before[leaf] @ expected[:3, :3].T + expected[:3, 3])).max() < 1e-4
    assert np.abs(after - before)[(domain == 0) & (z_up(before)[:, 0] < 0.2)].max() < 1e-3


def test_fewer_joints_than_domains_merge_branches(folder: Path, tmp_path: Path) -> None:
    with pytest.warns(ExportNotice, match="'tree' has 4 joints"):
        few = GlbFile(sp.export(folder, tmp_path / "few.glb", to="skeleton", joints=4))
    validate(tmp_path / "few.glb")
    branches = open_record(folder).carriers("tree").branches
    names = unique(branches.names)
    kept = hangs_on(few, names)
    assert "low" in kept
    for name, on in kept.items():  # the nearest that is left of those above
        above = branches.parents[names.index(name)]
        while above >= 0 and names[above] not in kept:
            above = branches.parents[above]
        assert on == (None if above < 0 else names[above])


def test_merging_gives_up_what_moves_as_what_it_hangs_on() -> None:
    """A chain of four domains of which the third turns with the second: its joint goes first. Errors from moments are
    those of the vertices."""
    rng = np.random.default_rng(3)
    angles = np.array([0.0, 0.4, 0.4, 0.9])
    parents, X = np.array([-1, 0, 1, 2]), rng.normal(size=(4, 30, 3)) + 3 * np.arange(4)[:, None, None]
    labels = np.repeat(np.arange(4), 30)
    R = np.array([[Rotation.from_rotvec([0, 0, s * a]).as_matrix() for a in angles] for s in (0.0, 0.5, 1.0)])
    p = np.zeros((3, 4, 3))
    x = np.einsum("fdij,dnj->fdni", R, X).reshape(3, -1, 3)
    moments = Moments.of(x, labels, 4)
    own = np.arange(4)
    assert moments.error(own, R, p) == pytest.approx(np.zeros(4), abs=1e-9)
    given = moments.error(own, R[:, [1, 1, 1, 1]], p)
    wanted = [np.sum((np.einsum("fij,nj->fni", R[:, 1], X[d]) - x[:, labels == d]) ** 2) for d in own]
    assert given == pytest.approx(np.array(wanted), rel=1e-9, abs=1e-9)
    assert merged_joints(moments, parents, R, p, 3).tolist() == [0, 1, 1, 3]
    assert merged_joints(moments, parents, R, p, 1).tolist() == [0, 0, 0, 0]


def test_a_long_domain_that_bends_has_a_chain_of_joints() -> None:
    """A bar along x that bends: joints from its frame to its tip, each hung on the one before."""
    X = np.stack(np.meshgrid(np.linspace(0, 1, 61), [-0.02, 0.02], [-0.02, 0.02], indexing="ij"), axis=-1).reshape(
        -1, 3
    )
    bent = [X]
    for angle in (0.4, 0.8):
        s = X[:, 0] * angle
        along = np.stack([np.sin(s) / angle, np.zeros_like(s), (1 - np.cos(s)) / angle], axis=1)
        across = np.stack([-np.sin(s), np.zeros_like(s), np.cos(s)], axis=1)
        bent.append(along + X[:, 1:2] * [0, 1, 0] + X[:, 2:] * across)
    rows = np.tile(np.concatenate([np.zeros(3), np.eye(3).ravel()]), (3, 1, 1))
    joints = fit_tree_joints(
        np.array(bent), rows, np.zeros(len(X), dtype=int), Branches(np.array([-1]), ("bar",)), 1.0, 9
    )
    assert joints.count == 9
    assert joints.names[0] == "bar"
    assert joints.parents.tolist() == [-1, *range(8)]
    assert (np.diff(joints.centres[:, 0]) > 0.02).all()


def test_an_older_record_has_joints_on_one_node_and_says_so(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as written:
        for name in ("parents", "names"):
            del written["supple/carried/tree"][name]
    with pytest.warns(ExportNotice) as caught:
        flat = GlbFile(sp.export(tmp_path, tmp_path / "old.glb", to="skeleton"))
    assert any("does not say which domain of 'tree' hangs on which" in str(one.message) for one in caught)
    joints = flat.json["skins"][0]["joints"]
    assert {flat.nodes[flat.parents[j]]["name"] for j in joints} == {"tree skeleton"}
    validate(tmp_path / "old.glb")


def test_a_run_in_memory_has_the_same_joints(file: GlbFile, tmp_path: Path) -> None:
    with pytest.warns(ExportNotice, match="joints"):
        other = GlbFile(sp.export(make_tree_run(), tmp_path / "memory.glb", to="skeleton"))
    names = [f.nodes[j]["name"] for f in (file, other) for j in f.json["skins"][0]["joints"]]
    assert names[: len(names) // 2] == names[len(names) // 2 :]


def test_a_tree_beside_a_body_of_which_only_the_surface_is_kept(tmp_path: Path) -> None:
    """A block of many inner nodes: a run in memory keeps points, and the frames of the tree beside them."""
    scene = sp.Scene(name="beside")
    scene.add(sp.TreeBody(welded_beams(3, 6), stiffness_damping=0.01), name="tree")
    scene.add(sp.FemBody(sp.box_tets((1, 1, 1), (8, 8, 8)), sp.Material(1e6, 0.3, 1000)), at=(0, 5, 0), name="block")
    run = sp.run(scene, until=0.02, dt=0.005)
    assert not run.frames.keeps_positions
    assert run.frames.carriers("block") is None
    carriers = run.frames.carriers("tree")
    x = carriers.positions(run.frames.carriage("tree", -1))[carriers.triangles]
    given = run.frames.points("tree", -1)[run.frames.triangles("tree")]
    assert np.abs(x - given).max() < 1e-6 * np.ptp(given)
    with pytest.warns(ExportNotice, match="'tree' has"):
        found = GlbFile(sp.export(run, tmp_path / "beside.glb", to="skeleton"))
    names = [found.nodes[j]["name"] for j in found.json["skins"][0]["joints"]]
    assert set(unique(carriers.branches.names)) <= set(names)


CRAFTED = {
    "parents of others": lambda group: group["parents"].write_direct(np.array([-1, 0, 0, 9, 0, 0])),
    "parents that come later": lambda group: group["parents"].write_direct(np.array([1, -1, 0, 0, 0, 0])),
    "parents below none": lambda group: group["parents"].write_direct(np.array([-2, 0, 0, 0, 0, 0])),
    "no names": lambda group: group.pop("names"),
    "names that are no list": lambda group: group["names"].write_direct(
        np.frombuffer(b"{}".ljust(len(group["names"])), dtype=np.uint8).copy()
    ),
}


@pytest.mark.parametrize("craft", CRAFTED.values(), ids=CRAFTED.keys())
def test_a_crafted_tree_is_refused_in_a_sentence(folder: Path, tmp_path: Path, craft) -> None:
    shutil.copy(folder / "record.vtkhdf", tmp_path / "record.vtkhdf")
    with h5py.File(tmp_path / "record.vtkhdf", "r+") as written:
        craft(written["supple/carried/tree"])
    with pytest.raises(RecordError) as caught:
        open_record(tmp_path).carriers("tree")
    assert len(str(caught.value)) < 500


def carried_error(name: str, body: str, folder: Path) -> float:
    """Rms distance over the body's size of a built-in scene's surface, carried by the joints of its file, and that the
    file tells the same; joints hang as the scene's domains do."""
    scene = registry()[name].make()
    sp.run(scene, until=2.0, record_every=0.2, out=folder / "run")
    with pytest.warns(ExportNotice, match="joints"):
        path = sp.export(folder / "run", folder / "skeleton.glb", to="skeleton")
    validate(path)
    file, record = GlbFile(path), open_record(folder / "run")
    branches = record.carriers(body).branches
    slot = next(s for s in scene.compile().bodies if s.name == body)
    assert np.array_equal(branches.parents, slot.body.model.parent)
    names = unique(branches.names)
    kept = hangs_on(file, names)
    for joint, on in kept.items():
        above = branches.parents[names.index(joint)]
        while above >= 0 and names[above] not in kept:
            above = branches.parents[above]
        assert on == (None if above < 0 else names[above])
    squares = []
    skin = file.json["skins"][0]
    inverse = file.array(skin["inverseBindMatrices"]).astype(float).swapaxes(1, 2)
    attributes = file.json["meshes"][file.nodes[file.node(body)]["mesh"]]["primitives"][0]["attributes"]
    X, which, weights = (file.array(attributes[key]) for key in ("POSITION", "JOINTS_0", "WEIGHTS_0"))
    for frame, time in list(enumerate(record.times))[::5]:
        M = np.array(list(worlds(file, time).values())) @ inverse
        x = sum(
            weights[:, k, None] * np.einsum("nij,nj->ni", M[which[:, k], :3], np.c_[X, np.ones(len(X))])
            for k in range(4)
        )
        given = record.carriers(body).positions(record.carriage(body, frame))
        squares.append(np.mean(np.sum((z_up(x) - given) ** 2, axis=1)))
    size = np.linalg.norm(np.ptp(record.points(body, 0), axis=0))
    found, told = np.sqrt(np.mean(squares)), file.json["asset"]["extras"][body]
    assert found <= 1.01 * told["largest"]
    assert told["joints"] <= 256
    assert told["rms"] < LIMIT * size
    return float(found / size)


def test_the_flower_and_its_joints(tmp_path: Path) -> None:
    assert carried_error("flower", "flower", tmp_path) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dragon", "oak"])
def test_larger_trees_and_their_joints(name: str, tmp_path: Path) -> None:
    assert carried_error(name, name, tmp_path) < LIMIT
