"""A run as a glTF scene (.glb), for game engines, browsers and Blender: what is rigid moves, what deforms stands still.

    rigid bodies, obstacles     a node with a track of places and turns; bodies of one shape share a mesh
    trees of copied domains     a node a domain, which shares the mesh of its kind at rest: copies are stiff
    particles, springs          a node each: balls that move, tubes that turn and stretch
    all else                    a mesh as it is at one frame

One chosen frame is a still of everything, exactly. Several are an animation, in which what deforms has the shape of the
first of them; where nothing else moves, it is a still of the last one. Tracks of points (morph targets) are not
written: they hold a copy of the mesh each frame, which engines keep in memory. For bodies that bend, see `skeleton`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from supple.bodies.carried import FRAME, Carriers
from supple.canvas.header import seen_triangles
from supple.errors import ExportNotice, InputError
from supple.exports.formats.glb import CORNERS, Glb, Tracks, quaternions
from supple.exports.formats.parts import Part, Stage, poses_of_rows, without_jumps
from supple.exports.solids import tubes, unit_ball
from supple.exports.staging import domain_colours
from supple.record.progress import count_bar
from supple.record.reader import Trajectory

Array = np.ndarray
SUFFIX = ".glb"
MOST_NODES = 5000
"""Of the particles and springs, or of the domains, of a body that moves."""
LOOKS = 5
"""Frames at which the error of stiff copies is measured."""


def save_gltf(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """Write the scene; frames: one for a still, several for an animation, by default all."""
    check_ending(path)
    chosen = list(range(len(trajectory.times))) if frames is None else list(frames)
    check_ascending(trajectory, chosen)
    stage = Stage.of(trajectory, chosen)
    moving = [part for part in stage.parts if len(chosen) > 1 and can_move(part)]
    if len(chosen) > 1 and not moving:
        stage = Stage.of(trajectory, chosen[-1:])
        tell(f"nothing in '{trajectory.name}' moves as a whole: the file is a still of its last frame")
    scene = GltfScene(stage, {part.name for part in moving})
    scene.write()
    scene.glb.save(path)


def check_ending(path: Path) -> None:
    """Refuse a file that no program would take for a glTF scene."""
    if path.suffix.lower() != SUFFIX:
        raise InputError("this is no ending of a binary glTF file", where="export", value=path.name, allowed=SUFFIX)


def check_ascending(trajectory: Trajectory, frames: Sequence[int]) -> None:
    """Refuse frames whose times do not follow each other."""
    if len(frames) > 1 and (np.diff(np.asarray(trajectory.times)[list(frames)]) <= 0).any():
        raise InputError("the frames of an animation do not ascend", where="export, frames", value=list(frames)[:20])


def can_move(part: Part) -> bool:
    """Whether a part has nodes that move."""
    if part.motion is not None:
        return len(part.motion) > 1
    if not len(part.triangles):
        return True
    return part.carriers is not None and has_copies(part.carriers) and len(part.carriers.kind) <= MOST_NODES


def has_copies(carriers: Carriers) -> bool:
    """Whether domains share their kinds."""
    return len(carriers.kinds) < len(carriers.kind) and carriers.faces is None


class GltfScene:
    """A scene of the parts of a run; those whose names are in `moving` have tracks. bend: writes a surface that
    deforms, instead of a still or stiff copies of it."""

    def __init__(self, stage: Stage, moving: set[str], bend: Callable[[GltfScene, Part], None] | None = None) -> None:
        self.stage, self.moving, self.bend = stage, moving, bend
        self.glb = Glb(stage.trajectory.name)
        self.tracks = Tracks(self.glb, stage.times)
        self.positions: dict[int, int] = {}
        self.meshes: dict[tuple[int, bytes], int] = {}

    def write(self) -> None:
        """All parts."""
        stills = []
        for part in self.stage.parts:
            if part.prototype is not None:
                self._rigid(part)
            elif self.bend is not None and len(part.triangles):
                self.bend(self, part)
            elif part.name not in self.moving or len(part.points(self.stage.frames[0])) == 0:
                self._still(part)
                stills.append(part.name)
            elif part.carriers is not None:
                self._copies(part, part.carriers)
            elif not self._particles(part):
                self._still(part)
                stills.append(part.name)
        self.tracks.end(self.stage.trajectory.name)
        if stills and len(self.stage.frames) > 1:
            names = ", ".join(f"'{name}'" for name in stills)
            tell(f"{names} deform and stand still as in the first frame; 'skeleton' moves them, 'usd' exactly")

    def _rigid(self, part: Part) -> None:
        """A node that carries a mesh, shared by the parts of one shape and colour."""
        shape, poses = part.prototype, part.motion
        assert shape is not None
        assert poses is not None
        if shape.number not in self.positions:
            self.positions[shape.number] = self.glb.add_positions(shape.X)
        key = (shape.number, part.colours.tobytes())
        if key not in self.meshes:
            attributes = {"POSITION": self.positions[shape.number]}
            self.meshes[key] = self.glb.add_mesh(attributes, part.triangles, part.colours, len(shape.X))
        self._node(part.name, self.meshes[key], poses)

    def _node(self, name: str, mesh: int, poses: Array, scales: Array | None = None, parent: int | None = None) -> None:
        """A node at places and turns (k, 7), and scales (k, 3), over time, or at one."""
        turns = quaternions(poses[:, 3:])
        entry = {"name": name, "mesh": mesh, "translation": poses[0, :3].tolist(), "rotation": turns[0].tolist()}
        if scales is not None:
            entry["scale"] = scales[0].tolist()
        node = self.glb.add_node(entry, parent)
        if len(poses) > 1:
            self.tracks.move(node, "translation", poses[:, :3])
            self.tracks.move(node, "rotation", turns)
            if scales is not None and np.ptp(scales, axis=0).any():
                self.tracks.move(node, "scale", scales)

    def _still(self, part: Part) -> None:
        """A mesh, or points and lines, at the first of the frames."""
        x = part.points(self.stage.frames[0])
        attributes = {"POSITION": self.glb.add_positions(x)}
        if len(part.triangles):
            mesh = self.glb.add_mesh(attributes, part.triangles, part.colours, len(x))
        else:
            material = self.glb.add_material(part.colours[0])
            primitives = [{"attributes": attributes, "mode": 0, "material": material}]
            if len(part.lines):
                ends = self.glb.add_array(part.lines.ravel().astype(np.uint32), target=CORNERS)
                primitives.append({"attributes": attributes, "indices": ends, "mode": 1, "material": material})
            mesh = self.glb.add("meshes", {"primitives": primitives})
        self.glb.add_node({"name": part.name, "mesh": mesh})

    def _copies(self, part: Part, carriers: Carriers) -> None:
        """Domains of a tree as stiff copies of their kinds."""
        seen, d = self.stage.trajectory, len(carriers.kind)
        rows = []
        with count_bar("gltf", len(self.stage.frames)) as told:
            for number, frame in enumerate(self.stage.frames):
                rows.append(seen.carriage(part.name, frame)[: FRAME * d].astype(float).reshape(d, FRAME))
                told(number + 1)
        poses = poses_of_rows(np.array(rows))
        colours = part.colours if len(part.colours) == 1 else domain_colours(carriers, part.colours)
        faces, parent = seen_triangles(carriers), self.glb.add_node({"name": part.name})
        places = [self.glb.add_positions(kind.X) for kind in carriers.kinds]
        meshes: dict[tuple[int, bytes], int] = {}
        for domain, kind in enumerate(carriers.kind):
            tint = colours[min(domain, len(colours) - 1)][None]
            key = (int(kind), tint.tobytes())
            if not len(faces[kind]):
                continue
            if key not in meshes:
                meshes[key] = self.glb.add_mesh(
                    {"POSITION": places[kind]}, faces[kind], tint, len(carriers.kinds[kind].X)
                )
            scale = np.full((1, 3), carriers.scale[domain])
            self._node(f"{part.name} {domain}", meshes[key], poses[:, domain], scale, parent)
        error = stiff_error(part, carriers, np.array(rows), self.stage.frames)
        tell(
            f"the {d} domains of '{part.name}' move as stiff copies: their vertices are {100 * error:.2g} % of its "
            "size (rms) from where they were; 'skeleton' bends them"
        )

    def _particles(self, part: Part) -> bool:
        """Balls and tubes that move; False where they are too many."""
        count = len(part.points(self.stage.frames[0]))
        if count + len(part.lines) > MOST_NODES:
            return False
        x = np.array([part.points(frame) for frame in self.stage.frames], dtype=float)
        X, triangles = unit_ball()
        ball = self.glb.add_mesh({"POSITION": self.glb.add_positions(X)}, triangles, part.colours[:1], len(X))
        parent, still = self.glb.add_node({"name": part.name}), np.array([1.0, 0, 0, 0])
        radius = np.full((1, 3), self.stage.particle_radius)
        for k in range(count):
            poses = np.concatenate([x[:, k], np.broadcast_to(still, (len(x), 4))], axis=1)
            self._node(f"{part.name} {k}", ball, poses, radius, parent)
        if not len(part.lines):
            return True
        unit = tubes(np.array([[0.0, 0, -0.5], [0, 0, 0.5]]), np.array([[0, 1]]), part.colours[:1], 1.0)
        tube = self.glb.add_mesh(
            {"POSITION": self.glb.add_positions(unit.points)}, unit.triangles, 0.8 * part.colours[:1], len(unit.points)
        )
        for k, (a, b) in enumerate(part.lines):
            poses, length = spans(x[:, a], x[:, b])
            across = np.full(len(x), self.stage.spring_radius)
            self._node(f"{part.name} spring {k}", tube, poses, np.stack([across, across, length], axis=1), parent)
        return True


def spans(start: Array, end: Array) -> tuple[Array, Array]:
    """Places and turns (f, 7) that carry the z axis to lines over time, and their lengths (f,) [m].

    >>> poses, length = spans(np.zeros((1, 3)), np.array([[0.0, 0, 2]]))
    >>> poses.tolist(), length.tolist()
    ([[0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]], [2.0])
    """
    way = end - start
    length = np.linalg.norm(way, axis=1)
    x, y, z = (way / np.where(length > 0, length, 1.0)[:, None]).T
    z = np.where(length > 0, z, 1.0)
    q = np.stack([1 + z, -y, x, np.zeros_like(x)], axis=1)
    norm = np.linalg.norm(q, axis=1, keepdims=True)
    q = np.where(norm > 1e-9, q / np.where(norm > 1e-9, norm, 1.0), [0.0, 1.0, 0.0, 0.0])
    return np.concatenate([(start + end) / 2, without_jumps(q)], axis=1), length


def stiff_error(part: Part, carriers: Carriers, rows: Array, frames: Sequence[int]) -> float:
    """Rms distance of the vertices of stiff domains from those of the run at a few frames, over the body's size."""
    looked = sorted({round(k) for k in np.linspace(0, len(frames) - 1, LOOKS)})
    coordinates, squares, size = np.zeros(carriers.width - rows[0].size), [], 0.0
    for k in looked:
        x = part.points(frames[k]).astype(float)
        stiff = carriers.positions(np.concatenate([rows[k].ravel(), coordinates]))
        squares.append(np.mean(np.sum((stiff - x) ** 2, axis=1)))
        size = max(size, float(np.linalg.norm(np.ptp(x, axis=0))))
    return float(np.sqrt(np.mean(squares))) / (size or 1.0)


def tell(sentence: str) -> None:
    """What a person should know of a file that is written."""
    warnings.warn(sentence, ExportNotice, stacklevel=2)
