"""The oak's branches: bent tapering rods along z, with interfaces around them for smaller branches and for leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.domain_tree import DomainInterface, DomainTemplate
from supple.geometry.generators.swept import HexSketch, placed_sections, round_profile, transported_frames
from supple.material import Material

Array = np.ndarray
LAYERS, CELLS = 26, 3
AROUND = 4 * CELLS  # nodes around a section
GOLDEN = np.pi * (3 - np.sqrt(5))  # [rad], from a leaf to the next
_PATCH = np.array([1.0, 2.0, 1.0])  # shares of three nodes in the area of two cells
_RIM = np.concatenate(
    [
        np.stack([k, o], axis=1) if e == 0 else np.stack([o, k], axis=1)
        for k, o, e in (
            (np.arange(CELLS), np.zeros(CELLS, int), 0),
            (np.arange(CELLS), np.full(CELLS, CELLS), 1),
            (CELLS - np.arange(CELLS), np.full(CELLS, CELLS), 0),
            (CELLS - np.arange(CELLS), np.zeros(CELLS, int), 1),
        )
    ]
)


@dataclass(frozen=True)
class Fork:
    """An interface for a branch: name, part of the length, direction around [rad], angle from the branch's own
    [rad]."""

    name: str
    place: float
    around: float
    angle: float


@dataclass(frozen=True)
class BranchShape:
    """length [m]; radii [m] at both ends; bends: how far it wanders, in lengths; forks; leaves: interfaces for them.

    bare: part of the length without leaves. flare: how much thicker the foot is, in radii.
    """

    length: float
    radii: tuple[float, float]
    bends: float
    forks: tuple[Fork, ...]
    leaves: int = 0
    bare: float = 0.3
    flare: float = 0.0
    seed: int = 0


def branch(name: str, shape: BranchShape, material: Material, modes: int = 20) -> DomainTemplate:
    """A class of branches, held at its lower end."""
    random = np.random.default_rng(shape.seed)
    curve = _curve(shape, random)
    frames = transported_frames(curve, (1.0, 0.0, 0.0))
    t = np.linspace(0, 1, LAYERS + 1)
    radius = shape.radii[0] + (shape.radii[1] - shape.radii[0]) * t**0.8
    knots = 1.0 + shape.flare * np.exp(-12 * t) + 0.015 * random.standard_normal(LAYERS + 1)
    profile = (radius * knots)[:, None, None, None] * round_profile(CELLS, 0.95)
    sketch = HexSketch()
    grid = sketch.add_nodes(placed_sections(curve, frames, profile))
    sketch.add_hexes(grid, 0)
    mesh, _ = sketch.to_tets()
    side = _Sides(grid, curve, frames, mesh.nodes)
    interfaces = {f.name: side.interface(f.place, f.around, f.angle, 0.0) for f in shape.forks if f.place < 1}
    interfaces |= {f.name: side.tip(f.around, f.angle, 0.0) for f in shape.forks if f.place >= 1}
    for k in range(shape.leaves):
        place = shape.bare + (1 - shape.bare) * ((k + 1) / shape.leaves) ** 0.85
        around, angle = k * GOLDEN + 0.3 * random.standard_normal(), np.radians(60 + 15 * random.standard_normal())
        roll = 0.5 * random.standard_normal()
        if place > 0.97:
            interfaces[f"leaf {k}"] = side.tip(around, 0.7 * angle, roll)
        else:
            interfaces[f"leaf {k}"] = side.interface(place, around, angle, roll)
    return DomainTemplate(name, mesh, material, modes, held=grid[0].ravel(), interfaces=interfaces)


def _curve(shape: BranchShape, random: np.random.Generator) -> Array:
    """A line from the origin, upward at first and wandering, (LAYERS + 1, 3) [m]."""
    t = np.linspace(0, 1, LAYERS + 1)
    waves = np.sin(np.outer(t, np.pi * np.array([1.0, 2.0, 3.0])) + random.uniform(0, 6, 3))
    sideways = (waves @ (random.standard_normal((3, 2)) / np.array([[1.0], [2.0], [3.0]]))) * t[:, None]
    sideways *= shape.bends / max(np.abs(sideways).max(), 1e-9)
    return shape.length * np.column_stack([sideways, t])


@dataclass(frozen=True, eq=False)
class _Sides:
    """grid: nodes of all sections (LAYERS + 1, 4, 4). curve and frames: of the sections. nodes: places [m]."""

    grid: Array
    curve: Array
    frames: Array
    nodes: Array

    def interface(self, place: float, around: float, angle: float, roll: float) -> DomainInterface:
        """Nine nodes of the side nearest to a place. The child leans from the branch's direction outward by `angle`."""
        layer = int(np.clip(round(place * LAYERS), 1, LAYERS - 1))
        across, over, along = self.frames[layer]
        wanted = np.cos(around) * across + np.sin(around) * over
        rim = self.grid[layer, _RIM[:, 0], _RIM[:, 1]]
        out = self.nodes[rim] - self.curve[layer]
        k = int(np.argmax(out @ wanted / np.linalg.norm(out, axis=1)))
        near = _RIM[(k + np.arange(-1, 2)) % AROUND]
        nodes = self.grid[layer - 1 : layer + 2, near[:, 0], near[:, 1]]
        area = np.outer(_PATCH, _PATCH) * self._cell_area(layer)
        return DomainInterface(nodes.ravel(), area.ravel(), _lean(along, wanted, angle, roll))

    def tip(self, around: float, angle: float, roll: float) -> DomainInterface:
        """All nodes of the last section."""
        across, over, along = self.frames[-1]
        wanted = np.cos(around) * across + np.sin(around) * over
        share = np.outer([1.0, *[2.0] * (CELLS - 1), 1.0], [1.0, *[2.0] * (CELLS - 1), 1.0])
        return DomainInterface(
            self.grid[-1].ravel(), share.ravel() * self._cell_area(LAYERS), _lean(along, wanted, angle, roll)
        )

    def _cell_area(self, layer: int) -> float:
        """A quarter of the area of a cell of the surface [m²]."""
        height = float(np.linalg.norm(self.curve[layer] - self.curve[layer - 1]))
        rim = self.nodes[self.grid[layer, _RIM[:, 0], _RIM[:, 1]]]
        return height * float(np.linalg.norm(rim - np.roll(rim, 1, axis=0), axis=1).mean()) / 4


def _lean(along: Array, out: Array, angle: float, roll: float) -> Array:
    """Rotation of a child that grows along cos(angle) along + sin(angle) out and looks towards the branch's end."""
    z = np.cos(angle) * along + np.sin(angle) * out
    y = np.sin(angle) * along - np.cos(angle) * out
    x = np.cross(y, z)
    turn = rotations.exp(np.array([0.0, 0.0, roll]))
    return rotations.multiply(rotations.from_matrix(np.column_stack([x, y, z])), turn)
