"""Coordinates of a tree in a scene: the root's frame, then q of all domains, in one row.

    x (1, 7 + m)   origin [m], quaternion wxyz, q          v (1, 6 + m)   linear in world axes, angular in own axes, q'

m: the number of coordinates, filled up to a whole number of 3-vectors with zeros, which stay zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.coordinates import Frames

Array = np.ndarray


@dataclass(frozen=True)
class TreeCoordinates:
    """A frame with `modes` reduced coordinates."""

    modes: int
    count = 1
    is_frame = True
    turns = False  # the stride alone moves a tree

    @property
    def scratch(self) -> int:
        """m, at least one 3-vector."""
        return max(3, 3 * ((self.modes + 2) // 3))

    @property
    def x_width(self) -> int:
        """Numbers of a position."""
        return 7 + self.scratch

    @property
    def v_width(self) -> int:
        """Numbers of a velocity."""
        return 6 + self.scratch

    def retract(self, x: Array, d: Array) -> Array:
        """The frame moved on the group, q added, (1, x_width)."""
        return np.hstack([Frames(1).retract(x[:, :7], d[:, :6]), x[:, 7:] + d[:, 6:]])

    def difference(self, a: Array, b: Array) -> Array:
        """The move from a to b, (1, v_width)."""
        return np.hstack([Frames(1).difference(a[:, :7], b[:, :7]), b[:, 7:] - a[:, 7:]])
