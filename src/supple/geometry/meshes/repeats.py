"""`find_repeats`: parts of a triangle mesh that are copies of each other, turned, shifted and scaled, as leaves are.

Exporters write copies in the same order, so points of the same rank are compared first. Where that fails, the points
are matched without an order. Mirrored parts are not copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.geometry.meshes.connectivity import surface_pieces
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.meshes.partition import Part, part_of
from supple.geometry.meshes.region import FloatArray, IntArray
from supple.geometry.meshes.similarity import Similarity, fit_similarity, match_points


@dataclass(frozen=True, eq=False)
class Repeats:
    """Connected parts of a surface and which of them are copies.

    parts: in the order of their first triangles. kinds: kind of each part, (part_count,), counted from 0 by first
    occurrence. templates: number of the first part of each kind, (kind_count,). placements: of each part, from its
    template's position to its own. errors: largest distance of a point from its place in the copy [m], (part_count,).
    """

    parts: tuple[Part[SurfaceMesh], ...]
    kinds: IntArray
    templates: IntArray
    placements: tuple[Similarity, ...]
    errors: FloatArray

    @cached_property
    def counts(self) -> IntArray:
        """Copies of each kind, the template included, (kind_count,)."""
        return np.bincount(self.kinds, minlength=len(self.templates))

    @property
    def quaternions(self) -> FloatArray:
        """Rotations of the placements, (part_count, 4)."""
        return rotations.from_matrix(np.stack([p.rotation for p in self.placements]))


def find_repeats(surface: SurfaceMesh, *, tolerance: float = 1e-3) -> Repeats:
    """The connected parts of a surface and which of them are copies with rotation, shift and uniform scale.

    tolerance: largest distance between points of two copies, as a fraction of the part's size (root mean square
    distance from its mean) [-].

    >>> from supple.geometry import box_tets
    >>> box = box_tets((1, 2, 3), (1, 1, 1)).boundary.surface
    >>> pair = box.merged(box.scaled(0.5).moved(at=(9, 0, 0), rotation=(1, 1, 0, 0)))
    >>> repeats = find_repeats(pair)
    >>> repeats.kinds.tolist(), round(repeats.placements[1].scale, 12)
    ([0, 0], 0.5)
    """
    if not (np.isfinite(tolerance) and tolerance > 0):
        raise InputError("the tolerance is not positive", where="find_repeats", value=tolerance)
    piece = surface_pieces(surface)
    order = np.argsort(piece, kind="stable")
    cuts = np.searchsorted(piece[order], np.arange(1, piece.max() + 1))
    bare = SurfaceMesh(surface.nodes, surface.triangles)
    parts = tuple(part_of(bare, elements) for elements in np.split(order, cuts))
    templates: list[int] = []
    kinds, placements, errors = [], [], []
    alike: dict[tuple[int, int], list[int]] = {}
    for number, part in enumerate(parts):
        bucket = alike.setdefault((len(part.nodes), len(part.elements)), [])
        for kind in bucket:
            found = _placement(parts[templates[kind]].mesh, part.mesh, tolerance)
            if found is not None:
                break
        else:
            kind, found = len(templates), (Similarity(1.0, np.eye(3), np.zeros(3)), 0.0)
            bucket.append(kind)
            templates.append(number)
        kinds.append(kind)
        placements.append(found[0])
        errors.append(found[1])
    return Repeats(parts, np.array(kinds), np.array(templates), tuple(placements), np.array(errors))


def _placement(template: SurfaceMesh, part: SurfaceMesh, tolerance: float) -> tuple[Similarity, float] | None:
    """How the part is placed and the largest distance [m], or None where it is not a copy."""
    x, y = template.nodes, part.nodes
    size = float(np.sqrt(((y - y.mean(axis=0)) ** 2).sum(axis=1).mean()))
    if size == 0 or not np.ptp(x, axis=0).any():
        return None
    if np.array_equal(template.triangles, part.triangles):
        fit = fit_similarity(x, y)
        error = float(np.linalg.norm(fit.apply(x) - y, axis=1).max())
        if fit.scale > 0 and error <= tolerance * size:
            return fit, error
    matched = match_points(x, y, tolerance)
    if matched is None:
        return None
    fit, partner = matched
    if not np.array_equal(_sorted_rows(partner[template.triangles]), _sorted_rows(part.triangles)):
        return None
    return fit, float(np.linalg.norm(fit.apply(x) - y[partner], axis=1).max())


def _sorted_rows(triangles: IntArray) -> IntArray:
    """Triangles without the order of their corners and among themselves."""
    rows = np.sort(triangles, axis=1)
    return rows[np.lexsort(rows.T[::-1])]
