"""Solids given by a function, filled with tets of even quality: isosurface stuffing [LS07].

The solid is where phi < 0. A body-centred cubic lattice covers it: corners and centres of cubes, twelve tets a cube.
Where phi changes its sign along an edge lies a cut point. A node that has one nearer than a part `NEAR_LONG` or
`NEAR_SHORT` of the edge moves to it and lies on the surface from then on. What is left of the tets that are still cut
is a tet, a pyramid or a prism.

We depart from the source in the diagonals of the quads: they start at the lowest node, so that cells of any kind fit.
Parts thinner than about one cell are lost, and so are edges sharper than it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import InputError
from supple.geometry.generators.structured import check_cells, lattice
from supple.geometry.meshes.conforming_split import split_prisms, split_pyramids
from supple.geometry.meshes.mesh import TetMesh
from supple.geometry.meshes.placement import as_vector
from supple.geometry.meshes.region import FloatArray, IntArray

NEAR_LONG, NEAR_SHORT = 0.24999, 0.41189  # parts of an edge [LS07]: along the axes, and slanting
BLOCK = 4  # cells along an edge of the cubes that are looked at first
REACH = 2.0  # a cube is left out where phi in its middle is beyond this times half its edge and a cell
_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
_RING = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])  # corners around a face between two cubes


def stuff(phi: Callable[[FloatArray], FloatArray], lower: ArrayLike, upper: ArrayLike, cell: float) -> TetMesh:
    """Fill phi < 0 with tets. phi: points (n, 3) [m] to values (n,), negative inside, about distances [m]:
    where it grows more than twice as fast as the distance, parts may be overlooked.

    lower, upper: a box around the solid [m], (3,). cell: edge of the cubes [m].

    >>> ball = stuff(lambda x: np.linalg.norm(x, axis=1) - 1.0, (-1, -1, -1), (1, 1, 1), 0.25)
    >>> bool(abs(ball.volumes.sum() / (4 / 3 * np.pi) - 1) < 0.02)
    True
    """
    low, high = as_vector(lower, "lower"), as_vector(upper, "upper")
    if not (np.isfinite(cell) and cell > 0) or not (high > low).all():
        raise InputError("the box or the cell is empty", where="stuff", value=(low.tolist(), high.tolist(), cell))
    with np.errstate(over="ignore"):
        coarse = check_cells(tuple(np.ceil((d / cell + 3) / BLOCK) for d in high - low))
    block = check_cells(tuple(BLOCK * c for c in coarse))
    corner = (low + high) / 2 - cell * np.array(block) / 2
    active = _active_cells(phi, corner, cell, coarse)
    tets, used = _cubic_tets(active)
    nodes = corner + cell * _lattice_points(used, block)
    value = np.asarray(phi(nodes), dtype=float)
    tets = tets[(value[tets] < 0).any(axis=1)]
    if not len(tets):
        raise InputError("the function is negative nowhere", where="stuff", fix="Use smaller cells or another box.")
    return _cut(nodes, value, tets, phi, int(np.searchsorted(used, np.prod([c + 1 for c in block]))))


def _active_cells(phi: Callable, corner: FloatArray, cell: float, coarse: tuple[int, ...]) -> NDArray[np.bool_]:
    """Cells that the solid may touch: those in cubes of BLOCK³ cells whose middle is not far from it."""
    x, y, z = (c + cell * BLOCK * (np.arange(n) + 0.5) for c, n in zip(corner, coarse))
    far = np.asarray(phi(lattice((x, y, z)))) > REACH * cell * (BLOCK / 2 + 1)
    active = ~far.reshape(coarse)
    for axis in range(3):
        active = active.repeat(BLOCK, axis=axis)
    return active


def _lattice_points(numbers: IntArray, block: tuple[int, ...]) -> FloatArray:
    """Places of lattice nodes in units of the cell: corners first, then centres."""
    more = tuple(c + 1 for c in block)
    is_corner = numbers < np.prod(more)
    place = np.empty((len(numbers), 3))
    place[is_corner] = np.column_stack(np.unravel_index(numbers[is_corner], more))
    place[~is_corner] = np.column_stack(np.unravel_index(numbers[~is_corner] - np.prod(more), block)) + np.array(0.5)
    return place


def _cubic_tets(active: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Tets between active cells: two neighbouring centres and an edge of the face between them. And the nodes used."""
    block = active.shape
    corners = np.arange(np.prod([c + 1 for c in block])).reshape([c + 1 for c in block])
    centres = np.arange(active.size).reshape(block) + corners.size
    found = []
    for axis in range(3):
        ahead, behind = np.delete(active, 0, axis=axis), np.delete(active, -1, axis=axis)
        cell = np.argwhere(ahead & behind)
        after = cell.copy()
        after[:, axis] += 1
        ring = np.repeat(after[:, None], 4, axis=1)
        ring[:, :, [a for a in range(3) if a != axis]] += _RING
        around = corners[tuple(ring.transpose(2, 0, 1))]
        pair = np.stack([centres[tuple(cell.T)], centres[tuple(after.T)]], axis=1)
        for side in range(4):
            found.append(np.column_stack([pair, around[:, side], around[:, (side + 1) % 4]]))
    tets = np.concatenate(found)
    is_used = np.zeros(corners.size + centres.size, dtype=bool)
    is_used[tets] = True
    return (np.cumsum(is_used) - 1)[tets], np.flatnonzero(is_used)


def _cut(nodes: FloatArray, value: FloatArray, tets: IntArray, phi: Callable, corner_count: int) -> TetMesh:
    """Tets (m, 4) cut along phi = 0, after the nodes nearest to it moved there. Corners are numbered before centres."""
    mixed = (value[tets] >= 0).any(axis=1)
    whole, tets = tets[~mixed], tets[mixed]
    low, high = tets[:, _EDGES].min(axis=2).ravel(), tets[:, _EDGES].max(axis=2).ravel()
    key, number = np.unique(low * len(nodes) + high, return_inverse=True)
    edges = np.column_stack(np.divmod(key, len(nodes)))
    crossing = np.flatnonzero((value[edges] < 0).sum(axis=1) == 1)
    a, b = edges[crossing].T
    part = _roots(nodes[a], nodes[b], value[a], value[b], phi)
    point = nodes[a] + part[:, None] * (nodes[b] - nodes[a])
    near = np.where((a < corner_count) == (b < corner_count), NEAR_LONG, NEAR_SHORT)
    _warp(nodes, value, np.r_[a, b], np.r_[part, 1 - part], np.r_[near, near], np.r_[point, point])
    kept = (value[edges[crossing]] != 0).all(axis=1)
    cut_number = np.full(len(edges), -1)
    cut_number[crossing[kept]] = len(nodes) + np.arange(kept.sum())
    cut = _stencils(tets, np.sign(value[tets]).astype(int), cut_number[number].reshape(-1, 6))
    return TetMesh(np.concatenate([nodes, point[kept]]), np.concatenate([whole, cut]), isolated="drop")


def _roots(a: FloatArray, b: FloatArray, fa: FloatArray, fb: FloatArray, phi: Callable) -> FloatArray:
    """Where phi vanishes between a and b, as parts of the way: linear, then one step of false position."""
    t = fa / (fa - fb)
    value = np.asarray(phi(a + t[:, None] * (b - a)))
    first = (value < 0) == (fa < 0)  # the root lies beyond t
    t0, f0 = np.where(first, t, 0.0), np.where(first, value, fa)
    t1, f1 = np.where(first, 1.0, t), np.where(first, fb, value)
    with np.errstate(divide="ignore", invalid="ignore"):
        better = t0 + (t1 - t0) * f0 / (f0 - f1)
    return np.clip(np.where(np.isfinite(better), better, t), 1e-6, 1 - 1e-6)


def _warp(
    nodes: FloatArray, value: FloatArray, node: IntArray, part: FloatArray, near: FloatArray, point: FloatArray
) -> None:
    """Move each node that has a cut point too near to the nearest such one; there phi is 0."""
    close = np.flatnonzero(part < near)
    order = close[np.argsort(-np.linalg.norm(point[close] - nodes[node[close]], axis=1))]
    nodes[node[order]] = point[order]  # the last one written is the nearest
    value[node[order]] = 0.0


def _stencils(tets: IntArray, sign: IntArray, cuts: IntArray) -> IntArray:
    """What is left of each tet. sign: -1 inside, 0 on the surface, 1 outside. cuts: cut point a edge, -1 for none."""
    order = np.argsort(sign, axis=1, kind="stable")
    tets, sign = np.take_along_axis(tets, order, axis=1), np.take_along_axis(sign, order, axis=1)
    edge_of = np.zeros((4, 4), dtype=int)
    edge_of[_EDGES[:, 0], _EDGES[:, 1]] = edge_of[_EDGES[:, 1], _EDGES[:, 0]] = np.arange(6)
    inside, outside = (sign < 0).sum(axis=1), (sign > 0).sum(axis=1)

    def cut(rows: IntArray, i: int, j: int) -> IntArray:
        return cuts[rows, edge_of[order[rows, i], order[rows, j]]]

    found = [tets[(inside > 0) & (outside == 0)]]
    for count in (1, 2, 3):  # one node inside: a smaller tet
        rows = np.flatnonzero((inside == 1) & (outside == count))
        columns = [tets[rows, k] if k < 4 - count else cut(rows, 0, k) for k in range(4)]
        found.append(np.stack(columns, axis=1))
    rows = np.flatnonzero((inside == 2) & (outside == 1))
    t = tets[rows]
    found.append(split_pyramids(np.stack([t[:, 0], t[:, 1], cut(rows, 1, 3), cut(rows, 0, 3), t[:, 2]], axis=1)))
    rows = np.flatnonzero((inside == 2) & (outside == 2))
    t = tets[rows]
    sides = [t[:, 0], cut(rows, 0, 2), cut(rows, 0, 3), t[:, 1], cut(rows, 1, 2), cut(rows, 1, 3)]
    found.append(split_prisms(np.stack(sides, axis=1)))
    rows = np.flatnonzero((inside == 3) & (outside == 1))
    found.append(split_prisms(np.column_stack([tets[rows, :3], *(cut(rows, k, 3) for k in range(3))])))
    return np.concatenate(found)
