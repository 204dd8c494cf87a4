"""Hexes, prisms and pyramids split into tets so that neighbours fit, whatever their order.

Every quad gets the diagonal through its node of lowest number, which both of its owners see alike. A cell is then the
cone from its own lowest node over the faces without that node: six tets a hex, three a prism, two a pyramid.
"""

from __future__ import annotations

import numpy as np

from supple.geometry.meshes.element_shapes import HEX_FACES
from supple.geometry.meshes.region import IntArray

_PRISM_QUADS = np.array([[0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]])
_PRISM_TRIANGLES = np.array([[0, 1, 2], [3, 4, 5]])


def split_quads(quads: IntArray) -> IntArray:
    """Two triangles a quad, (..., 4) to (..., 2, 3), along the diagonal through its lowest number."""
    turn = (quads.argmin(axis=-1)[..., None] + np.arange(4)) % 4
    turned = np.take_along_axis(quads, turn, axis=-1)
    return np.stack([turned[..., [0, 1, 2]], turned[..., [0, 2, 3]]], axis=-2)


def split_hexes(hexes: IntArray) -> IntArray:
    """Six tets a hex in VTK's order, (k, 8) to (6k, 4), in the order of the hexes; their orientation is mixed."""
    lowest = hexes.min(axis=1)
    faces = hexes[:, HEX_FACES]
    far = ~(faces == lowest[:, None, None]).any(axis=2)
    triangles = split_quads(faces[far]).reshape(len(hexes), 6, 3)
    return _cones(lowest, triangles)


def split_prisms(prisms: IntArray) -> IntArray:
    """Three tets a prism, (k, 6) to (3k, 4). A prism: a triangle, then the triangle above it."""
    lowest = prisms.min(axis=1)
    quads, ends = prisms[:, _PRISM_QUADS], prisms[:, _PRISM_TRIANGLES]
    quad = quads[~(quads == lowest[:, None, None]).any(axis=2)].reshape(-1, 4)
    end = ends[~(ends == lowest[:, None, None]).any(axis=2)].reshape(-1, 1, 3)
    return _cones(lowest, np.concatenate([split_quads(quad), end], axis=1))


def split_pyramids(pyramids: IntArray) -> IntArray:
    """Two tets a pyramid, (k, 5) to (2k, 4). A pyramid: its base around, then its tip."""
    return _cones(pyramids[:, 4], split_quads(pyramids[:, :4]))


def _cones(tips: IntArray, triangles: IntArray) -> IntArray:
    """Tets (k m, 4) from tips (k,) and triangles (k, m, 3)."""
    tip = np.broadcast_to(tips[:, None, None], (*triangles.shape[:2], 1))
    return np.concatenate([tip, triangles], axis=2).reshape(-1, 4)
