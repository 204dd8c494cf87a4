"""Convex shapes of many bodies as flat arrays for kernels, and where they are in the world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.geometry.surfaces.convex import ConvexShape

Array = np.ndarray
ROUND, BOX, HULL, PLANE = 0, 1, 2, 3
"""Kinds: a point or segment with a radius; a box; another polytope; the half-space below z = 0 of its frame."""


class ShapeTable(NamedTuple):
    """n shapes with all their vertices, faces and edges one after another; numbers count within a shape.

    kind, radius, width (n,): width is the least one, infinite of half-spaces; half (n, 3); vertex_start, face_start,
    edge_start (n + 1,); vertices (., 3); normals (., 3), areas (.,): of faces; loop_start (faces + 1,), loop: vertices
    of each face; edges (., 4): two vertices, two faces; ring_start (vertices + 1,), ring: faces around each vertex.
    """

    kind: Array
    radius: Array
    width: Array
    half: Array
    vertex_start: Array
    face_start: Array
    edge_start: Array
    vertices: Array
    normals: Array
    areas: Array
    loop_start: Array
    loop: Array
    edges: Array
    ring_start: Array
    ring: Array


class Poses(NamedTuple):
    """Where shapes are: R (n, 3, 3), x (n, 3) [m] of their frames; vertices, normals (., 3), offsets (.,) in the world;
    box (n, 6): corners of the boxes around them, swept over the step and widened."""

    R: Array
    x: Array
    vertices: Array
    normals: Array
    offsets: Array
    box: Array


def make_table(shapes: Sequence[ConvexShape | None]) -> ShapeTable:
    """The table of shapes; None: a half-space."""
    kind, rings = [], []
    for shape in shapes:
        kind.append(PLANE if shape is None else BOX if shape.half is not None else HULL if shape.faces else ROUND)
    solids = [ConvexShape(np.zeros((0, 3))) if s is None else s for s in shapes]
    for s in solids:
        around: list[list[int]] = [[] for _ in range(len(s.vertices))]
        for k, loop in enumerate(s.faces):
            for v in loop.tolist():
                around[v].append(k)
        rings += around
    loops = [loop for s in solids for loop in s.faces]
    return ShapeTable(
        np.array(kind, np.int64),
        np.array([s.radius for s in solids], float),
        np.array([np.inf if s is None else s.width for s in shapes], float),
        np.array([np.zeros(3) if s.half is None else s.half for s in solids]).reshape(-1, 3),
        _starts([len(s.vertices) for s in solids]),
        _starts([len(s.faces) for s in solids]),
        _starts([len(s.edges) for s in solids]),
        _joined([s.vertices for s in solids], (0, 3)),
        _joined([s.face_planes[0] for s in solids], (0, 3)),
        _joined([s.face_areas for s in solids], (0,)),
        _starts([len(loop) for loop in loops]),
        _joined(loops, (0,)).astype(np.int64),
        _joined([s.edges for s in solids], (0, 4)).astype(np.int64),
        _starts([len(ring) for ring in rings]),
        np.array([k for ring in rings for k in ring], np.int64),
    )


def make_poses(table: ShapeTable) -> Poses:
    """Room for the poses of a table."""
    n = len(table.kind)
    return Poses(
        np.full((n, 3, 3), np.nan),
        np.full((n, 3), np.nan),
        np.full((len(table.vertices), 3), np.nan),
        np.full((len(table.normals), 3), np.nan),
        np.full(len(table.normals), np.nan),
        np.full((n, 6), np.nan),
    )


def _starts(counts: Sequence[int]) -> Array:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined(parts: Sequence[Array], empty: tuple[int, ...]) -> Array:
    return np.concatenate([*parts, np.zeros(empty)])
