"""Solids as functions of a point, and objects that are trees of them.

A field is about the distance to the surface [m], negative inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.examples.shapes.labelled import Labelled, largest_piece, settle
from supple.geometry.generators.stuffing import stuff

Array = np.ndarray
Field = Callable[[Array], Array]
FAR = 7.0  # cells: beyond this from all boxes nothing is looked at


@dataclass(frozen=True)
class Part:
    """A named solid of an object. parent: name of the part it hangs on, empty for the root.

    lower, upper: a box around it [m]; outside of it the field is not looked at.
    """

    name: str
    parent: str
    field: Field
    lower: Array
    upper: Array


def cone(a: ArrayLike, b: ArrayLike, radius_a: float, radius_b: float) -> tuple[Field, Array, Array]:
    """A rod with round ends from a to b [m], of radii that change evenly [m]; its field and its box."""
    return tube(np.array([a, b], dtype=float), np.array([radius_a, radius_b]))


def tube(points: Array, radii: Array) -> tuple[Field, Array, Array]:
    """A rod with round ends along a polyline (n, 3) [m], radii (n,) [m]."""
    points, radii = np.asarray(points, dtype=float), np.asarray(radii, dtype=float)

    def field(x: Array) -> Array:
        found = np.full(len(x), np.inf)
        for a, b, ra, rb in zip(points[:-1], points[1:], radii[:-1], radii[1:]):
            along = b - a
            t = np.clip((x - a) @ along / (along @ along), 0.0, 1.0)
            away = np.linalg.norm(x - a - t[:, None] * along, axis=1)
            np.minimum(found, away - (ra + t * (rb - ra)), out=found)
        return found

    reach = radii.max()
    return field, points.min(axis=0) - reach, points.max(axis=0) + reach


def ellipsoid(centre: ArrayLike, radii: ArrayLike, rotation: ArrayLike | None = None) -> tuple[Field, Array, Array]:
    """An ellipsoid with half axes `radii` [m], turned by a matrix (3, 3)."""
    c, r = np.asarray(centre, dtype=float), np.asarray(radii, dtype=float)
    R = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)

    def field(x: Array) -> Array:
        p = (x - c) @ R / r
        level = np.linalg.norm(p, axis=1)
        slope = np.linalg.norm(p / r, axis=1)
        return np.where(slope > 0, level * (level - 1.0) / np.maximum(slope, 1e-12), -r.min())

    reach = np.sqrt((R**2 * r**2).sum(axis=1))
    return field, c - reach, c + reach


def plate(corners: ArrayLike, thickness: float) -> tuple[Field, Array, Array]:
    """A flat plate over a polygon (n, 3) [m] in a plane, convex or not, of a thickness [m]."""
    p = np.asarray(corners, dtype=float)
    middle = p.mean(axis=0)
    normal = np.linalg.svd(p - middle)[2][2]
    u = p[1] - p[0]
    u = u - (u @ normal) * normal
    u /= np.linalg.norm(u)
    v = np.cross(normal, u)
    flat = np.column_stack([(p - middle) @ u, (p - middle) @ v])

    def field(x: Array) -> Array:
        q = np.column_stack([(x - middle) @ u, (x - middle) @ v])
        return np.maximum(polygon_distance(q, flat), np.abs((x - middle) @ normal) - thickness / 2)

    return field, p.min(axis=0) - thickness, p.max(axis=0) + thickness


def polygon_distance(q: Array, polygon: Array) -> Array:
    """Signed distance of points (n, 2) to a polygon (m, 2), negative inside, any turning."""
    least, inside = np.full(len(q), np.inf), np.zeros(len(q), dtype=bool)
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0)):
        edge = b - a
        t = np.clip((q - a) @ edge / (edge @ edge), 0.0, 1.0)
        np.minimum(least, np.linalg.norm(q - a - t[:, None] * edge, axis=1), out=least)
        crosses = (a[1] > q[:, 1]) != (b[1] > q[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            inside ^= crosses & (q[:, 0] < a[0] + (q[:, 1] - a[1]) * edge[0] / edge[1])
    return np.where(inside, -least, least)


def united(*solids: tuple[Field, Array, Array]) -> tuple[Field, Array, Array]:
    """All of the solids as one."""

    def field(x: Array) -> Array:
        return np.min([solid[0](x) for solid in solids], axis=0)

    return field, np.min([s[1] for s in solids], axis=0), np.max([s[2] for s in solids], axis=0)


def part(name: str, parent: str, solid: tuple[Field, Array, Array]) -> Part:
    """A named part from a solid."""
    return Part(name, parent, *solid)


def fill(parts: Sequence[Part], cell: float) -> Labelled:
    """Fill the union of the parts with tets of lattice cells [m], each tet labelled with its part.

    Parents come before their children and keep what lies inside them.
    """
    names = [p.name for p in parts]
    parents = [names.index(p.parent) if p.parent else -1 for p in parts]

    def union(x: Array) -> Array:
        found = np.full(len(x), FAR * cell)
        for p in parts:
            near = _near(p, x, FAR * cell)
            found[near] = np.minimum(found[near], p.field(x[near]))
        return found

    lower, upper = np.min([p.lower for p in parts], axis=0), np.max([p.upper for p in parts], axis=0)
    mesh = largest_piece(stuff(union, lower, upper, cell))
    middle = mesh.nodes[mesh.tets].mean(axis=1)
    labels, least = np.full(len(middle), -1), np.full(len(middle), np.inf)
    for number, p in enumerate(parts):
        near = _near(p, middle, cell)
        value = p.field(middle[near])
        value[value < 0] = -np.inf
        better = near[value < least[near]]
        least[better], labels[better] = value[value < least[near]], number
    return settle(mesh, labels, names, parents)


def _near(p: Part, x: Array, margin: float) -> Array:
    """Numbers of the points (n, 3) within a margin [m] of the part's box."""
    is_near = np.ones(len(x), dtype=bool)
    for k in range(3):
        is_near &= (x[:, k] > p.lower[k] - margin) & (x[:, k] < p.upper[k] + margin)
    return np.flatnonzero(is_near)
