"""Facets: all that is seen of a scene as one list of lit triangles, so that one painter's order holds for
all.

    shade = ambient + (1 - ambient) max(0, n . l)        Lambert; n: normal, l: direction of the light

Long triangles are split, since the order is by the triangles' middles; springs become ribbons and particles
become discs that face the eye; triangles of closed surfaces that face away are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.exports.camera import Camera

Array = np.ndarray
AMBIENT = 0.5
MAX_FACETS = 60_000
DISC_CORNERS = 16


@dataclass(frozen=True, eq=False)
class Facets:
    """corners (k, 3, 3) [m]; colours (k, 3) red, green, blue."""

    corners: Array
    colours: Array

    @classmethod
    def join(cls, parts: list[Facets]) -> Facets:
        """All facets of several lists."""
        return cls(np.concatenate([p.corners for p in parts]), np.concatenate([p.colours for p in parts]))

    def chosen(self, mask: Array) -> Facets:
        """Some of them."""
        return Facets(self.corners[mask], self.colours[mask])

    def painted(self, camera: Camera) -> tuple[Array, Array]:
        """Triangles in the plane of the picture (k, 3, 2) and their colours, the farthest first."""
        order = np.argsort(camera.depth(self.corners).mean(axis=1), kind="stable")
        return camera.project(self.corners[order]), self.colours[order]


def lit_surface(points: Array, triangles: Array, camera: Camera, colour: Array, longest: float) -> Facets:
    """A surface of points (n, 3) and triangles (k, 3) in a colour (3,)."""
    corners = points[triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1)
    real = length > 0
    corners, normals = corners[real], normals[real] / length[real, None]
    facing = normals @ camera.eye
    if is_closed(triangles):
        corners, normals = corners[facing > 0], normals[facing > 0]
    else:
        normals = normals * np.where(facing < 0, -1.0, 1.0)[:, None]
    shade = AMBIENT + (1 - AMBIENT) * np.maximum(0.0, normals @ camera.light)
    corners, parent = split_long(corners, longest)
    return Facets(corners, np.clip(colour * shade[parent, None] * 1.08, 0, 1))


def ribbons(points: Array, lines: Array, camera: Camera, colour: Array, width: float, longest: float) -> Facets:
    """Lines (l, 2) as flat bands that face the eye; width [m]."""
    a, b = points[lines[:, 0]].astype(float), points[lines[:, 1]].astype(float)
    side = np.cross(b - a, camera.eye)
    length = np.linalg.norm(side, axis=1, keepdims=True)
    side = side / np.where(length > 0, length, 1.0) * (width / 2)
    halves = [np.stack([a - side, b - side, b + side], 1), np.stack([a - side, b + side, a + side], 1)]
    corners, _ = split_long(np.concatenate(halves), longest)
    return Facets(corners, np.broadcast_to(colour, (len(corners), 3)))


def discs(points: Array, camera: Camera, colour: Array, radius: float) -> Facets:
    """Points as discs that face the eye, in front of the ribbons that end in them; radius [m]."""
    up = np.cross(camera.eye, camera.right)
    angle = np.linspace(0, 2 * np.pi, DISC_CORNERS + 1)
    rim = radius * (np.cos(angle)[:, None] * camera.right + np.sin(angle)[:, None] * up)
    fan = np.stack([np.zeros((DISC_CORNERS, 3)), rim[:-1], rim[1:]], axis=1)
    corners = (points[:, None, None].astype(float) + radius * camera.eye + fan).reshape(-1, 3, 3)
    return Facets(corners, np.broadcast_to(colour, (len(corners), 3)))


def is_closed(triangles: Array) -> bool:
    """Whether every edge is met once in each direction."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    base = int(edges.max(initial=0)) + 1
    forward, backward = np.sort(edges @ [base, 1]), np.sort(edges[:, ::-1] @ [base, 1])
    return bool(np.array_equal(forward, backward))


def split_long(corners: Array, longest: float) -> tuple[Array, Array]:
    """Triangles cut in four until no edge is over `longest` [m]; and which triangle each came from."""
    parent = np.arange(len(corners))
    for _ in range(6):
        edges = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max(axis=1, initial=0.0)
        long = edges > longest
        if not long.any() or len(corners) + 3 * np.count_nonzero(long) > MAX_FACETS:
            break
        a, b, c = np.moveaxis(corners[long], 1, 0)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        quarters = [np.stack(q, axis=1) for q in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        corners = np.concatenate([corners[~long], *quarters])
        parent = np.concatenate([parent[~long], np.tile(parent[long], 4)])
    return corners, parent
