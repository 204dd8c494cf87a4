"""What kernels need of a joined surface, as flat arrays, and the workspace they work in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.contact.near_kernels import AT_HAND
from supple.contact.pairs import ContactPairs
from supple.contact.surface import ContactSurface
from supple.contact.tree import Tree
from supple.contact.tree_kernels import LEAF

Array = np.ndarray


class Shape(NamedTuple):
    """Connectivity and rest values of a joined surface of n vertices, m triangles and e edges, as sorted by its tree.

    Points of bodies without triangles are among the triangles, each three times its own corner, without edges.

    edge_first, edge_triangles: the triangles at each edge; vertex_first, vertex_triangles: around each vertex.
    vertex_mask, edge_mask: which corners, and edges opposite corners, a triangle owns, as bits (m,): each vertex and
    edge has one owner, so that a pair of triangles with boxes that meet brings every pair of features once.
    number: of each triangle in the surface, -1 of points; it decides between equals. body_first (bodies + 1,): first
    vertex of each body.
    """

    triangles: Array
    triangle_edges: Array
    edges: Array
    edge_first: Array
    edge_triangles: Array
    vertex_first: Array
    vertex_triangles: Array
    vertex_mask: Array
    edge_mask: Array
    number: Array
    triangle_body: Array
    vertex_body: Array
    triangle_area: Array
    vertex_area: Array
    edge_area: Array
    rest: Array
    radius: Array
    vertex_radius: Array
    closed: Array
    is_points: Array
    body_first: Array


class Sides(NamedTuple):
    """Vertex (k,) was on side +1 or -1 (k,) of triangle (k,), numbered as sorted, when it touched it last."""

    vertex: Array
    triangle: Array
    side: Array

    @classmethod
    def empty(cls, count: int = 0) -> Sides:
        """Arrays for so many, without values."""
        return cls(np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int8))

    @classmethod
    def of_array(cls, rows: Array | None) -> Sides:
        """From what `to_array` made; None: nothing."""
        if rows is None:
            return cls.empty()
        return cls(rows[:, 0].astype(np.int32), rows[:, 1].astype(np.int32), rows[:, 2].astype(np.int8))

    def to_array(self) -> Array:
        """Rows of vertex, triangle and side (k, 3), to be kept with a state."""
        return np.stack([part.astype(np.int64) for part in self], axis=1)


class Workspace(NamedTuple):
    """Where a search works. What its stamp is not that of this search for is not valid.

    head, stamp (n,): lists of the candidates of each vertex. whole: vertex, 2 body + (1 behind a sheet), nearest
    triangle, nearest facing triangle, first triangle met, next in the list, whether it became a contact, (k, 7). real:
    squares of the distances to the first two [m²], time of the meeting, (k, 3). normal, normal_stamp: outward at
    vertices. side_head, side_stamp: lists of the remembered sides of each vertex.

    way (bodies,): a bound on how far vertices move in the step [m]. order (bodies,), stack: of the descent; leaves:
    pairs of leaves (k, 2); near: vertices and elements (k, 2). leaf_box: of the elements of leaves that are at hand,
    leaf_at_hand: which these are; free, free_leaf, free_body: bits of edges that are free likewise, and against which
    body; the last column has those of the whole leaf. found, sides: what the search finds.
    """

    head: Array
    stamp: Array
    whole: Array
    real: Array
    normal: Array
    normal_stamp: Array
    side_head: Array
    side_stamp: Array
    way: Array
    order: Array
    stack: Array
    leaves: Array
    near: Array
    leaf_box: Array
    leaf_at_hand: Array
    free: Array
    free_leaf: Array
    free_body: Array
    found: ContactPairs
    sides: Sides


class Settings(NamedTuple):
    """Lengths [m] and how this search goes. reach: what a remembered side may have moved over the rest shape."""

    margin: float
    depth: float
    rest_distance: float
    reach: float
    moves: bool
    has_points: bool
    stamp: int


def make_shape(surface: ContactSurface, tree: Tree) -> Shape:
    """The arrays of a surface, its triangles and points in the order of its tree."""
    faces = np.flatnonzero(tree.triangle >= 0)
    order = tree.triangle[faces]
    m = len(tree.triangle)
    edges = np.zeros((m, 3), np.int32)
    edges[faces] = surface.triangle_edges[order]
    edge_mask = np.zeros(m, np.uint8)
    edge_mask[faces] = _owners(edges[faces])
    area = np.zeros(m)
    area[faces] = surface.triangle_area[order]
    return Shape(
        tree.elements,
        edges,
        surface.edges.astype(np.int32),
        *_around(edges[faces], faces, len(surface.edges)),
        *_around(tree.elements[faces], faces, surface.count),
        _owners(tree.elements),
        edge_mask,
        tree.triangle,
        surface.vertex_body[tree.elements[:, 0]].astype(np.int32),
        surface.vertex_body.astype(np.int32),
        area,
        surface.vertex_area,
        surface.edge_area,
        np.array(surface.rest, order="C"),  # a copy: kernels are compiled once more for read-only arrays
        surface.radius,
        surface.vertex_radius,
        surface.closed,
        surface.is_points,
        np.searchsorted(surface.vertex_body, np.arange(surface.body_count + 1)),
    )


def make_workspace(count: int, bodies: int, capacity: int) -> Workspace:
    """Workspace for so many vertices, bodies and candidates."""
    leaves = 2 * AT_HAND
    return Workspace(
        np.full(count, -1, np.int32),
        np.full(count, 0, np.int64),  # unlike zeros, filled memory comes in large pages
        np.empty((capacity, 7), np.int32),
        np.empty((capacity, 3)),
        np.empty((count, 3)),
        np.full(count, 0, np.int64),
        np.full(count, -1, np.int32),
        np.full(count, 0, np.int64),
        np.zeros(bodies),
        np.arange(bodies),
        np.empty((512, 2), np.int64),
        np.empty((capacity, 2), np.int32),
        np.empty((capacity, 2), np.int32),
        np.empty((leaves * LEAF, 6)),
        np.full(leaves, -1, np.int32),
        np.empty((leaves, LEAF + 1), np.uint8),
        np.full(leaves, -1, np.int32),
        np.full(leaves, -1, np.int32),
        ContactPairs.empty(capacity),
        Sides.empty(capacity),
    )


def grown(workspace: Workspace, counts: Sequence[int]) -> Workspace | None:
    """One in which so many pairs of leaves, vertices near elements, candidates and contacts fit; None: this one does.

    Each that is too small grows to half as many again, so that it grows seldom.
    """
    leaves, near, candidates, contacts = (count + count // 2 for count in counts[:4])
    larger: dict[str, Any] = {}
    if counts[0] > len(workspace.leaves):
        larger["leaves"] = np.empty((leaves, 2), np.int32)
    if counts[1] > len(workspace.near):
        larger["near"] = np.empty((near, 2), np.int32)
    if counts[2] > len(workspace.whole):
        larger |= {"whole": np.empty((candidates, 7), np.int32), "real": np.empty((candidates, 3))}
        larger["sides"] = Sides.empty(candidates)
    if max(counts[2], counts[3]) > workspace.found.size:
        larger["found"] = ContactPairs.empty(max(contacts, candidates))
    return workspace._replace(**larger) if larger else None


def _around(numbers: Array, rows: Array, count: int) -> tuple[Array, Array]:
    """Of rows (m,), those whose `numbers` (m, 3) name each of so many things: where each list begins, and the lists."""
    flat = numbers.ravel()
    first = np.r_[0, np.cumsum(np.bincount(flat, minlength=count))].astype(np.int64)
    return first, rows[np.argsort(flat, kind="stable") // 3].astype(np.int32)


def _owners(numbers: Array) -> Array:
    """Bits of the columns in which each number of (m, 3) appears first, (m,)."""
    _, place = np.unique(numbers.ravel(), return_index=True)
    mask = np.zeros(len(numbers), np.uint8)
    np.bitwise_or.at(mask, place // 3, (1 << (place % 3)).astype(np.uint8))
    return mask
