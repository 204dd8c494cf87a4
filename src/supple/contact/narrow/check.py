"""Whether surfaces are closed, and whether they cut themselves or each other; each complaint names the place.

Crossing triangles are sought with the trees of the detector. Two triangles are apart if their shadows on some axis are:
their normals, the products of their edges, and the edges' normals within their planes. Where rounding could decide,
the same question is asked again in exact rational numbers. Triangles with one common corner cross if the edge opposite
that corner, of one of them, pierces the other; those with a common edge do not cross.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from supple.contact.detect import Detector
from supple.contact.narrow.check_kernels import APART, TOUCHING, compute_crossings
from supple.contact.surface import ContactSurface
from supple.errors import InputError

Array = np.ndarray


def check_closed(surface: ContactSurface, x: Array | None = None) -> None:
    """Refuse a surface that is open, folded over in its orientation, or cuts itself at positions x (n, 3) [m].

    x: by default the rest shape. The message names the body, the place and the triangles.

    >>> from supple.geometry import sphere_tets
    >>> check_closed(ContactSurface.of(sphere_tets(1.0, 2).boundary.surface))
    """
    x = surface.rest if x is None else np.asarray(x, dtype=float)
    for body in range(surface.body_count):
        if not surface.closed[body]:
            raise _refuse_open(surface, body, x)
    for a, b in crossing_triangles(surface, x):
        body = int(surface.triangle_body[a])
        if body == surface.triangle_body[b]:
            raise InputError(
                f"the surface cuts itself: triangle {a} crosses triangle {b} near {_place(x[surface.triangles[a]])} m",
                where=f"body {body}",
                fix="Repair the mesh there.",
            )


def crossing_triangles(surface: ContactSurface, x: Array | None = None) -> Array:
    """Pairs of triangles that cut or touch each other at positions x (n, 3) [m], (k, 2), sorted.

    Pairs of one body that share an edge are left out. x: by default the rest shape.
    """
    x = np.array(surface.rest if x is None else x, dtype=float, order="C")
    if not surface.body_count:
        return np.zeros((0, 2), np.int64)
    detector = Detector(surface, margin=0.0, depth=0.0, self_contact=True)
    detector._padding = 0.0 * surface.radius
    detector.refit(x)
    near = detector.near_triangles()
    answer = np.empty(len(near), np.int8)
    compute_crossings(surface.triangles, x, near, len(near), answer)
    cuts = [
        tuple(sorted(pair))
        for pair, known in zip(near[answer != APART].tolist(), answer[answer != APART])
        if known != TOUCHING or not _exactly_apart(x[surface.triangles[pair[0]]], x[surface.triangles[pair[1]]])
    ]
    return np.array(sorted(cuts), np.int64).reshape(-1, 2)


def _refuse_open(surface: ContactSurface, body: int, x: Array) -> InputError:
    """The error for a body with an edge that lacks a triangle, or whose triangles disagree about the outside."""
    own = surface.triangle_body == body
    triangles = surface.triangles[own]
    ends = triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2)
    number = surface.triangle_edges[own].ravel()
    uses = np.bincount(number, minlength=len(surface.edges))
    balance = np.bincount(number, weights=np.where(ends[:, 0] < ends[:, 1], 1.0, -1.0), minlength=len(surface.edges))
    is_open, is_torn = uses % 2 == 1, (uses % 2 == 0) & (balance != 0)
    bad, what = (
        (is_open, "lack a second triangle") if is_open.any() else (is_torn, "join triangles turned opposite ways")
    )
    edge = surface.edges[np.flatnonzero(bad)[0]]
    return InputError(
        f"the surface is open: {np.count_nonzero(bad)} of {np.count_nonzero(uses)} edges {what}, "
        f"first that of vertices {edge[0]} and {edge[1]} near {_place(x[edge])} m",
        where=f"body {body}",
        fix="Close the mesh there.",
    )


def _place(points: Array) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in points.mean(axis=0)) + ")"


def _exactly_apart(first: Array, second: Array) -> bool:
    """Whether two triangles (3, 3) share no point, in rational numbers."""
    a, b = ([[Fraction(float(value)) for value in corner] for corner in t] for t in (first, second))
    edges_a, edges_b = ([_minus(t[(k + 1) % 3], t[k]) for k in range(3)] for t in (a, b))
    normal_a, normal_b = _cross(edges_a[0], edges_a[1]), _cross(edges_b[0], edges_b[1])
    axes = [normal_a, normal_b]
    axes += [_cross(e, g) for e in edges_a for g in edges_b]
    axes += [_cross(normal_a, e) for e in edges_a] + [_cross(normal_b, e) for e in edges_b]
    for axis in axes:
        shadow_a, shadow_b = ([sum(p * q for p, q in zip(axis, corner)) for corner in t] for t in (a, b))
        if max(shadow_a) < min(shadow_b) or max(shadow_b) < min(shadow_a):
            return True
    return False


def _minus(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [p - q for p, q in zip(a, b)]


def _cross(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
