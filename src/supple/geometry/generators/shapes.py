"""Boxes, cylinders and balls, in tets and hexes.

Boxes start at x = 0 and are centred in y and z, so that `x_min` is the root of a beam. Cylinders stand on
z = 0 around the z axis. Balls are centred at the origin. Round bodies are squares and cubes pressed into
shape: the node p of [-1, 1]^d with s = max |p_i| goes to (1 - s) p + s² p/|p|, which keeps the middle regular
and the rim round.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.errors import InputError, check_choice, check_number
from supple.geometry.generators.structured import block_cells, cell_hexes, check_cells, kuhn_tets, lattice
from supple.geometry.meshes.mesh import HexMesh, TetMesh
from supple.geometry.meshes.placement import as_vector
from supple.geometry.meshes.region import FloatArray, IntArray


def box_tets(
    size: ArrayLike, cells: tuple[int, int, int], *, pattern: Literal["mirrored", "uniform"] = "mirrored"
) -> TetMesh:
    """A box of six tets a cell. size: edges [m], (3,). cells: along x, y, z.

    pattern: "mirrored" turns the diagonals of every other cell around, so that the box has no preferred direction (a
    beam bends straight down); "uniform" makes all cells alike.
    """
    check_choice(pattern, ("mirrored", "uniform"), "pattern of tets")
    nodes, block = _box(size, cells)
    cell = block_cells(block)
    mirror = cell % 2 if pattern == "mirrored" else None
    return TetMesh(nodes, kuhn_tets(cell_hexes(cell, block, mirror=mirror)))


def box_hexes(size: ArrayLike, cells: tuple[int, int, int]) -> HexMesh:
    """A box of hexes. size: edges [m], (3,). cells: along x, y, z."""
    nodes, block = _box(size, cells)
    return HexMesh(nodes, cell_hexes(block_cells(block), block))


def cylinder_tets(radius: float, height: float, cells: tuple[int, int]) -> TetMesh:
    """A cylinder of tets. radius, height: [m]. cells: along the radius and along the height."""
    nodes, block = _cylinder(radius, height, cells)
    return TetMesh(nodes, kuhn_tets(_mirrored_hexes(block, axes=2)))


def cylinder_hexes(radius: float, height: float, cells: tuple[int, int]) -> HexMesh:
    """A cylinder of hexes. radius, height: [m]. cells: along the radius and along the height."""
    nodes, block = _cylinder(radius, height, cells)
    return HexMesh(nodes, cell_hexes(block_cells(block), block))


def sphere_tets(radius: float, cells: int) -> TetMesh:
    """A ball of tets. radius: [m]. cells: along the radius."""
    nodes, block = _ball(radius, cells)
    return TetMesh(nodes, kuhn_tets(_mirrored_hexes(block, axes=3)))


def sphere_hexes(radius: float, cells: int) -> HexMesh:
    """A ball of hexes. radius: [m]. cells: along the radius."""
    nodes, block = _ball(radius, cells)
    return HexMesh(nodes, cell_hexes(block_cells(block), block))


def _box(size: ArrayLike, cells: tuple[int, int, int]) -> tuple[FloatArray, tuple[int, ...]]:
    lengths = as_vector(size, "size")
    if len(check_array(cells, name="cells", where="box").ravel()) != 3 or (lengths <= 0).any():
        raise InputError("a box needs three positive edges and three numbers of cells", value=(size, cells))
    block = check_cells(tuple(cells))
    lower = lengths * (0.0, -0.5, -0.5)
    x, y, z = (np.linspace(a, a + d, n + 1) for a, d, n in zip(lower, lengths, block))
    return lattice((x, y, z)), block


def _cylinder(radius: float, height: float, cells: tuple[int, int]) -> tuple[FloatArray, tuple[int, ...]]:
    _check_positive(radius=radius, height=height)
    given = check_array(cells, name="cells", where="cylinder")
    if given.shape != (2,):
        raise InputError("a cylinder needs two numbers of cells", value=cells, allowed="along the radius, the height")
    radial, axial = check_cells(tuple(given.tolist()))
    across = np.linspace(-1.0, 1.0, 2 * radial + 1)
    nodes = lattice((across, across, np.linspace(0.0, height, axial + 1)))
    nodes[:, :2] = radius * _rounded(nodes[:, :2])
    return nodes, check_cells((2 * radial, 2 * radial, axial))


def _ball(radius: float, cells: int) -> tuple[FloatArray, tuple[int, ...]]:
    _check_positive(radius=radius)
    check_cells((cells,))
    block = check_cells((2 * cells,) * 3)
    across = np.linspace(-1.0, 1.0, block[0] + 1)
    return radius * _rounded(lattice((across, across, across))), block


def _rounded(p: FloatArray) -> FloatArray:
    """Points of [-1, 1]^d pressed into the unit ball, (n, d)."""
    s = np.abs(p).max(axis=1, keepdims=True)
    norm = np.linalg.norm(p, axis=1, keepdims=True)
    return p * (1.0 - s + s * s / np.maximum(norm, 1e-300))


def _mirrored_hexes(block: tuple[int, ...], *, axes: int) -> IntArray:
    """Hexes whose main diagonal runs outward along the first axes, so that no tet lies flat at the rim."""
    cell = block_cells(block)
    mirror = np.zeros_like(cell)
    for a in range(axes):
        mirror[:, a] = 2 * cell[:, a] < block[a]
    return cell_hexes(cell, block, mirror=mirror)


def _check_positive(**lengths: float) -> None:
    for name, value in lengths.items():
        check_number(value, name=name, where="shape", above=0.0)
