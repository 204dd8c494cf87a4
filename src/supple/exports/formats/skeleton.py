"""A run as skins with bones (.glb), for game engines: bodies that bend are moved by joints, four of them a vertex.

A surface that deforms is bound as it is in the first frame. The joints of a tree lie at the frames of its domains and
hang on each other as these do, with more inside domains that bend, see `tree_joints`; each has a track of its places
and turns in the joint that it hangs on. Those of other bodies lie in the middles of parts of the surface, see
`skinning`, and hang on one node. Rigid bodies, obstacles, particles and springs are nodes that move, as in `gltf`.
Skins are written with y up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError, check_number
from supple.exports.formats.glb import VERTICES, Glb, quaternions
from supple.exports.formats.gltf import GltfScene, can_move, check_ascending, check_ending, tell
from supple.exports.formats.parts import Part, Stage, without_jumps
from supple.exports.formats.skinning import LOOKS, Skin, fit_bones, neighbours, shared_out
from supple.exports.formats.tree_joints import fit_tree_joints, frames_of
from supple.record.progress import count_bar
from supple.record.reader import Trajectory

Array = np.ndarray
JOINTS, TREE_JOINTS = 128, 256
"""Of a body, and of a tree, at most, unless one asks for others."""
MOST_JOINTS = 4096
UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""Takes z up to y up."""
LIMIT = 0.02
"""Rms error over the size of a body from which on it is told that joints are too few."""
WHOLE = 65_535
"""Weights are parts of it."""


@dataclass(frozen=True, eq=False)
class FittedSkin:
    """A skin of a body over frames. names, parents (joints,): of the joints, -1: on none; rest (n, 3) [m]: where it is
    bound; axes (joints, 3, 3), centres (joints, 3) [m]: of the joints then. places (frames, joints, 3) [m], turns
    (frames, joints, 3, 3): from rest, of the joints; rms, largest [m]: distance of the vertices from the record, in all
    frames; size [m]: of the body."""

    names: Sequence[str]
    parents: Array
    rest: Array
    axes: Array
    centres: Array
    skin: Skin
    places: Array
    turns: Array
    rms: float
    largest: float
    size: float

    @property
    def count(self) -> int:
        """Number of joints."""
        return len(self.parents)

    @property
    def error(self) -> float:
        """rms over size."""
        return self.rms / self.size


def save_skeleton(
    trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None, *, joints: int | None = None
) -> None:
    """Write the scene; frames: those that are fitted and played, by default all. joints: of a body, at most; by default
    256 of a tree, 128 of others."""
    check_ending(path)
    if joints is not None:
        check_number(joints, name="joints", where="export", least=1, most=MOST_JOINTS, whole=True)
    chosen = list(range(len(trajectory.times))) if frames is None else list(frames)
    if len(chosen) < 2:
        raise InputError("a skeleton is fitted to several frames", where="export, frames", value=chosen, allowed=">= 2")
    check_ascending(trajectory, chosen)
    stage = Stage.of(trajectory, chosen)

    def bend(scene: GltfScene, part: Part) -> None:
        fitted = fit_skin(part, chosen, joints)
        count, share = fitted.count, 100 / fitted.size
        scene.glb.extras[part.name] = {"joints": count, "rms": fitted.rms, "largest": fitted.largest}
        add_skin(scene, part, fitted)
        sentence = (
            f"'{part.name}' has {count} joints; its vertices are {share * fitted.rms:.2g} % of its size (rms) from the "
            f"record, at most {share * fitted.largest:.2g} %"
        )
        if fitted.error > LIMIT:
            more = min(2 * count, MOST_JOINTS)
            sentence += f": more than {100 * LIMIT:.2g} % is seen. More joints come nearer: joints={more}"
        tell(sentence)

    scene = GltfScene(stage, {part.name for part in stage.parts if can_move(part)}, bend)
    scene.write()
    scene.glb.save(path)


@dataclass(frozen=True, eq=False)
class _Rig:
    """Joints before weights are fitted. motions: turns from rest and places at a frame; labels, near: see
    `shared_out`."""

    names: Sequence[str]
    parents: Array
    axes: Array
    centres: Array
    labels: Array
    near: Sequence[Array]
    motions: Callable[[int], tuple[Array, Array]]


def fit_skin(part: Part, frames: Sequence[int], joints: int | None = None) -> FittedSkin:
    """Joints and weights that move a part as in these frames. joints: at most so many, see `save_skeleton`."""
    looked = [frames[k] for k in sorted({round(k) for k in np.linspace(0, len(frames) - 1, LOOKS)})]
    trained = np.array([part.points(frame) for frame in looked], dtype=float)
    size = float(np.linalg.norm(np.ptp(trained[0], axis=0))) or 1.0
    rig, rest = _make_rig(part, looked, trained, size, joints), trained[0].copy()
    with count_bar("weights", len(rig.parents)) as told:
        motions = [rig.motions(frame) for frame in looked]
        skin = rounded(shared_out(rig.labels, rig.centres, rig.near, motions, trained, told))
    del trained
    places, turns, squares, largest = [], [], 0.0, 0.0
    with count_bar("joints", len(frames)) as told:
        for number, frame in enumerate(frames):
            R, c = rig.motions(frame)
            distance = np.sum((skin.positions(rest, rig.centres, R, c) - part.points(frame)) ** 2, axis=1)
            squares, largest = squares + float(distance.mean()), max(largest, float(distance.max()))
            places.append(c)
            turns.append(R)
            told(number + 1)
    rms = float(np.sqrt(squares / len(frames)))
    return FittedSkin(
        rig.names, rig.parents, rest, rig.axes, rig.centres, skin, np.array(places), np.array(turns), rms,
        float(np.sqrt(largest)), size,
    )  # fmt: skip


def _make_rig(part: Part, looked: Sequence[int], trained: Array, size: float, most: int | None) -> _Rig:
    """The joints of a tree where it is known how its domains hang on each other, or of parts of the surface."""
    labels, carriers, rows = _domains(part), part.carriers, part.rows
    if carriers is not None and rows is not None and carriers.branches is not None:
        d = len(carriers.kind)
        frames, own = np.array([frames_of(rows(k), d) for k in looked]), np.zeros(carriers.count, dtype=np.int64)
        tree = fit_tree_joints(
            trained, frames, own if labels is None else labels, carriers.branches, size, most or TREE_JOINTS
        )

        def carried(frame: int) -> tuple[Array, Array]:
            return tree.motions(part.points(frame).astype(float), frames_of(rows(frame), d))

        return _Rig(tree.names, tree.parents, tree.axes, tree.centres, tree.labels, tree.near(), carried)
    if labels is not None:
        tell(
            f"the record does not say which domain of '{part.name}' hangs on which: its joints hang on one node. "
            "Run it again to have them hang as the domains do"
        )
    if most is not None and labels is not None and len(np.unique(labels)) > most:
        labels = None
    bones = fit_bones(trained, size, labels, JOINTS if most is None else most)
    flat, axes = np.full(bones.count, -1), np.tile(np.eye(3), (bones.count, 1, 1))
    names = [f"{part.name} joint {k}" for k in range(bones.count)]

    def clustered(frame: int) -> tuple[Array, Array]:
        return bones.motions(part.points(frame).astype(float))

    return _Rig(names, flat, axes, bones.centres, bones.labels, list(neighbours(bones)), clustered)


def _domains(part: Part) -> Array | None:
    """The domain of each vertex, (n,); None where it has none, or one."""
    if part.carriers is None or len(part.carriers.kind) < 2:
        return None
    return np.repeat(np.arange(len(part.carriers.kind)), np.diff(part.carriers.starts))


def rounded(skin: Skin) -> Skin:
    """With weights that are whole numbers over `WHOLE`, as they are written; they still sum to one."""
    parts = np.floor(skin.weights * WHOLE)
    parts[:, 0] += WHOLE - parts.sum(axis=1)  # the largest comes first
    return Skin(np.where(parts > 0, skin.bones, 0), parts / WHOLE)


def add_skin(scene: GltfScene, part: Part, fitted: FittedSkin) -> None:
    """The mesh of a part, its joints and their tracks."""
    glb, joints = scene.glb, list[int]()
    top = glb.add("nodes", {"name": f"{part.name} skeleton"})
    glb.roots.append(top)
    for k, (name, above) in enumerate(zip(fitted.names, fitted.parents.tolist())):
        places, turns = _in_parent(fitted, k, above)
        entry = {"name": name, "translation": places[0].tolist(), "rotation": turns[0].tolist()}
        joints.append(glb.add_node(entry, top if above < 0 else joints[above]))
        scene.tracks.move(joints[-1], "translation", places)
        scene.tracks.move(joints[-1], "rotation", turns)
    inverse = np.tile(np.eye(4), (fitted.count, 1, 1))  # columns one after another, as glTF has them
    inverse[:, :3, :3] = UP @ fitted.axes @ UP.T
    inverse[:, 3, :3] = -np.einsum("kji,kj->ki", inverse[:, :3, :3], fitted.centres @ UP.T)
    skin = {"joints": joints, "skeleton": top, "inverseBindMatrices": glb.add_array(inverse)}
    mesh = glb.add_mesh(_attributes(glb, part, fitted), part.triangles, part.colours, len(fitted.rest))
    glb.roots.append(glb.add("nodes", {"name": part.name, "mesh": mesh, "skin": glb.add("skins", skin)}))


def _in_parent(fitted: FittedSkin, joint: int, above: int) -> tuple[Array, Array]:
    """Places (f, 3) and quaternions (f, 4), as glTF has them, of a joint over time in another one, -1: in the world,
    with y up."""
    places, turns = fitted.places[:, joint], fitted.turns[:, joint] @ fitted.axes[joint]
    if above >= 0:
        back = (fitted.turns[:, above] @ fitted.axes[above]).swapaxes(1, 2)
        places = np.einsum("fij,fj->fi", back, places - fitted.places[:, above])
        turns = back @ turns
    q = without_jumps(rotations.from_matrix(turns))
    turn = rotations.from_matrix(UP)
    return places @ UP.T, quaternions(rotations.multiply(rotations.multiply(turn, q), rotations.conjugate(turn)))


def _attributes(glb: Glb, part: Part, fitted: FittedSkin) -> dict[str, int]:
    """Vertices, normals, joints and weights."""
    width = np.uint8 if fitted.count <= 256 else np.uint16
    X = fitted.rest @ UP.T
    return {
        "POSITION": glb.add_positions(X),
        "NORMAL": glb.add_array(vertex_normals(X, part.triangles), target=VERTICES),
        "JOINTS_0": glb.add_array(fitted.skin.bones.astype(width), target=VERTICES),
        "WEIGHTS_0": glb.add_array(
            np.rint(fitted.skin.weights * WHOLE).astype(np.uint16), target=VERTICES, is_share=True
        ),
    }


def vertex_normals(x: Array, triangles: Array) -> Array:
    """Means of the normals of triangles around vertices (n, 3), by area; upward where a vertex has none.

    >>> x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    >>> vertex_normals(x, np.array([[0, 1, 2]]))[0].tolist()
    [0.0, 0.0, 1.0]
    """
    a, b, c = (x[triangles[:, k]] for k in range(3))
    across, out = np.cross(b - a, c - a), np.zeros((len(x), 3))
    for axis in range(3):
        for k in range(3):
            out[:, axis] += np.bincount(triangles[:, k], across[:, axis], len(x))
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return np.where(length > 1e-30, out / np.maximum(length, 1e-30), [0.0, 1.0, 0.0])
