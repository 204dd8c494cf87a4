"""A run as skins with bones (.glb), for game engines: bodies that bend are moved by joints, four of them a vertex.

A surface that deforms is bound as it is in the first frame. Its joints are the domains of a tree, more where these are
long, and of other bodies parts of the surface, see `skinning`; each has a track of places and turns of its own: joints
lie in the middles of their parts and do not hang on each other. Rigid bodies, obstacles, particles and springs are
nodes that move, as in `gltf`. Skins are written with y up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError, check_number
from supple.exports.formats.glb import VERTICES, Glb, quaternions
from supple.exports.formats.gltf import GltfScene, can_move, check_ascending, check_ending, tell
from supple.exports.formats.parts import Part, Stage, without_jumps
from supple.exports.formats.skinning import LOOKS, Bones, Skin, fit_bones, fit_weights
from supple.record.progress import count_bar
from supple.record.reader import Trajectory

Array = np.ndarray
JOINTS = 128
"""Of a body without domains, at most, unless one asks for others."""
MOST_JOINTS = 4096
UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
"""Takes z up to y up."""
LIMIT = 0.02
"""Rms error over the size of a body from which on it is told that joints are too few."""
WHOLE = 65_535
"""Weights are parts of it."""


@dataclass(frozen=True, eq=False)
class FittedSkin:
    """A skin of a body over frames. places (frames, joints, 3) [m], turns (frames, joints, 4): of the joints; rms,
    largest [m]: distance of the vertices from the record, in all frames; size [m]: of the body."""

    bones: Bones
    skin: Skin
    places: Array
    turns: Array
    rms: float
    largest: float
    size: float

    @property
    def error(self) -> float:
        """rms over size."""
        return self.rms / self.size


def save_skeleton(
    trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None, *, joints: int | None = None
) -> None:
    """Write the scene; frames: those that are fitted and played, by default all. joints: of a body, at most; by default
    those of its domains, 128 of others."""
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
        count, share = fitted.bones.count, 100 / fitted.size
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


def fit_skin(part: Part, frames: Sequence[int], joints: int | None = None) -> FittedSkin:
    """Joints and weights that move a part as in these frames. joints: at most so many, see `save_skeleton`."""
    looked = [frames[k] for k in sorted({round(k) for k in np.linspace(0, len(frames) - 1, LOOKS)})]
    trained = np.array([part.points(frame) for frame in looked], dtype=float)
    size = float(np.linalg.norm(np.ptp(trained[0], axis=0))) or 1.0
    labels = _domains(part)
    if joints is not None and labels is not None and len(np.unique(labels)) > joints:
        labels = None
    bones = fit_bones(trained, size, labels, JOINTS if joints is None else joints)
    with count_bar("weights", bones.count) as told:
        skin = rounded(fit_weights(bones, trained, told))
    del trained
    places, turns, squares, largest = [], [], 0.0, 0.0
    with count_bar("joints", len(frames)) as told:
        for number, frame in enumerate(frames):
            x = part.points(frame).astype(float)
            R, c = bones.motions(x)
            distance = np.sum((skin.positions(bones.rest, bones.centres, R, c) - x) ** 2, axis=1)
            squares, largest = squares + float(distance.mean()), max(largest, float(distance.max()))
            places.append(c)
            turns.append(rotations.from_matrix(R))
            told(number + 1)
    rms = float(np.sqrt(squares / len(frames)))
    return FittedSkin(bones, skin, np.array(places), without_jumps(np.array(turns)), rms, float(np.sqrt(largest)), size)


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
    glb, bones = scene.glb, fitted.bones
    top = glb.add("nodes", {"name": f"{part.name} skeleton"})
    glb.roots.append(top)
    turn = rotations.from_matrix(UP)
    places = fitted.places @ UP.T
    turns = quaternions(rotations.multiply(rotations.multiply(turn, fitted.turns), rotations.conjugate(turn)))
    inverse = np.tile(np.eye(4), (bones.count, 1, 1))
    inverse[:, 3, :3] = -bones.centres @ UP.T  # columns one after another, as glTF has them
    joints = []
    for k in range(bones.count):
        entry = {
            "name": f"{part.name} joint {k}",
            "translation": places[0, k].tolist(),
            "rotation": turns[0, k].tolist(),
        }
        joints.append(glb.add_node(entry, top))
        scene.tracks.move(joints[-1], "translation", places[:, k])
        scene.tracks.move(joints[-1], "rotation", turns[:, k])
    skin = {"joints": joints, "skeleton": top, "inverseBindMatrices": glb.add_array(inverse)}
    mesh = glb.add_mesh(_attributes(glb, part, fitted), part.triangles, part.colours, len(bones.rest))
    glb.roots.append(glb.add("nodes", {"name": part.name, "mesh": mesh, "skin": glb.add("skins", skin)}))


def _attributes(glb: Glb, part: Part, fitted: FittedSkin) -> dict[str, int]:
    """Vertices, normals, joints and weights."""
    width = np.uint8 if fitted.bones.count <= 256 else np.uint16
    X = fitted.bones.rest @ UP.T
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
