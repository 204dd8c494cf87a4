"""The oak's leaf: a stalk and a lobed blade, one hex thick, with a finer skin. It grows along z and looks along y."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.domains.domain_tree import DomainTemplate
from supple.geometry import HexMesh, SurfaceMesh
from supple.geometry.generators.structured import block_cells, cell_hexes
from supple.geometry.generators.swept import HexSketch
from supple.material import Material

Array = np.ndarray
LENGTH, HALF_WIDTH, STALK = 0.2, 0.06, 0.1  # [m], [m], and part of the length
STALK_HALF, BLADE_HALF = 0.0016, 0.0007  # [m], half thicknesses
CELLS = (17, 4)  # along and across
SKIN_CELLS = (37, 4)
LOBES = 5
LEAF = Material(young=2e7, poisson=0.3, density=500, stiffness_damping=0.002, name="leaf", colour="#5f9a45")


def leaf(modes: int = 8) -> DomainTemplate:
    """The leaf, held at the end of its stalk."""
    sketch = HexSketch()
    grid = sketch.add_nodes(_grid(*CELLS, stations(CELLS[0])))
    sketch.add_hexes(grid, 0)
    mesh, _ = sketch.to_tets()
    return DomainTemplate("leaf", mesh, LEAF, modes, held=grid[0].ravel(), skin=leaf_skin())


def leaf_skin() -> SurfaceMesh:
    """The surface of a finer grid, for looking at."""
    points = _grid(*SKIN_CELLS, stations(SKIN_CELLS[0]))
    block = (SKIN_CELLS[0], SKIN_CELLS[1], 1)
    return HexMesh(points.reshape(-1, 3), cell_hexes(block_cells(block), block)).boundary.surface


def stations(count: int) -> Array:
    """Where the sections are, in parts of the length, (count + 1,): two along the stalk, the others along the blade."""
    return np.concatenate([[0.0, 0.5 * STALK], np.linspace(STALK, 1.0, count - 1)])


def outline(s: Array) -> Array:
    """Half width [m] at parts s of the length: a narrow stalk, then lobes that grow towards two thirds of the blade."""
    b = np.clip((s - STALK) / (1 - STALK), 0.0, 1.0)
    envelope = np.sin(np.pi * b**1.25) ** 0.7
    lobes = 0.62 + 0.38 * np.abs(np.sin(np.pi * LOBES * b)) ** 0.7
    return STALK_HALF + HALF_WIDTH * np.where(b > 0, envelope * lobes, 0.0)


def _grid(along: int, across: int, s: Array) -> Array:
    """Points of the leaf, (along + 1, across + 1, 2, 3) [m]: sections, across, over."""
    u, v = np.linspace(-1, 1, across + 1)[None, :, None], np.array([-1.0, 1.0])[None, None, :]
    half = np.interp(s, [0.0, STALK, 1.5 * STALK, 1.0], [STALK_HALF, STALK_HALF, BLADE_HALF, BLADE_HALF])
    width, t = outline(s)[:, None, None], s[:, None, None]
    points = np.zeros((along + 1, across + 1, 2, 3))
    points[..., 0] = width * u
    points[..., 1] = half[:, None, None] * v + 0.12 * np.abs(u) * width - 0.22 * LENGTH * t**2
    points[..., 2] = LENGTH * (t - 0.06 * t**3 - 0.10 * np.abs(u) * width / HALF_WIDTH * (t - 0.5))
    return points
