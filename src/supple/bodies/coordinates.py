"""Coordinates of bodies: how positions and velocities are laid out and how positions move along velocities.

    points   x (n, 3) [m]                     v (n, 3) [m/s]
    frames   x (n, 7) [m], quaternion wxyz    v (n, 6) linear in world axes [m/s], angular in body axes [rad/s]
    a frame with modes   x (1, 7 + p), the frame and q      v (1, 6 + p), that of the frame and q'

`retract(x, d)` moves x along the velocity-like increment d (a velocity times a time); `difference(a, b)` is the
increment that takes a to b, so that retract(a, difference(a, b)) = b. Every velocity is a whole number of 3-vectors
("blocks"): one for a point, two for a frame, and q fills up to whole blocks. The matrices of a system are block-sparse
in these. `turns` says that x[:, 3:7] are quaternions and v[:, 3:6] angular velocities; `is_frame` that x[0, :7] is the
frame of the whole body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError

Array = np.ndarray


class Coordinates(Protocol):
    """Layout of the coordinates of one body."""

    @property
    def count(self) -> int: ...
    @property
    def x_width(self) -> int: ...
    @property
    def v_width(self) -> int: ...
    @property
    def turns(self) -> bool: ...
    @property
    def is_frame(self) -> bool: ...
    def retract(self, x: Array, d: Array) -> Array: ...
    def difference(self, a: Array, b: Array) -> Array: ...


def check_coordinates(x: Array, shape: tuple[int, int], *, name: str, where: str) -> None:
    """Refuse what is not an array of floats of this shape: positions or velocities of a body as a state has them."""
    if not isinstance(x, np.ndarray) or x.dtype != float or x.shape != shape:
        given = f"{x.dtype} {x.shape}" if isinstance(x, np.ndarray) else type(x).__name__
        raise InputError(
            f"{name} does not fit the body", where=where, value=given, allowed=f"an array of floats {shape}"
        )


@runtime_checkable
class JoinedCoordinates(Coordinates, Protocol):
    """Coordinates of which those of many bodies, one after another, are moved by one call."""

    def with_count(self, count: int) -> Coordinates: ...


@dataclass(frozen=True)
class Points:
    """n points in space; positions add."""

    count: int
    x_width = 3
    v_width = 3
    turns = False
    is_frame = False

    def with_count(self, count: int) -> Points:
        """The same of another number of points."""
        return Points(count)

    def retract(self, x: Array, d: Array) -> Array:
        """x + d, (n, 3)."""
        return x + d

    def difference(self, a: Array, b: Array) -> Array:
        """b - a, (n, 3)."""
        return b - a


@dataclass(frozen=True)
class Frames:
    """n rigid frames; rotations are updated on the group, q <- q exp(theta), theta in body axes."""

    count: int
    x_width = 7
    v_width = 6
    turns = True

    @property
    def is_frame(self) -> bool:
        """Whether there is one frame alone."""
        return self.count == 1

    def with_count(self, count: int) -> Frames:
        """The same of another number of frames."""
        return Frames(count)

    def retract(self, x: Array, d: Array) -> Array:
        """(c + d_linear, q exp(d_angular)), (n, 7)."""
        out = np.empty_like(x)
        out[:, :3] = x[:, :3] + d[:, :3]
        out[:, 3:] = rotations.rotation_update(x[:, 3:], d[:, 3:])
        return out

    def difference(self, a: Array, b: Array) -> Array:
        """(c_b - c_a, log(q_a^-1 q_b)), (n, 6)."""
        out = np.empty((len(a), 6))
        out[:, :3] = b[:, :3] - a[:, :3]
        out[:, 3:] = rotations.log(rotations.multiply(rotations.conjugate(a[:, 3:]), b[:, 3:]))
        return out


@dataclass(frozen=True)
class FrameWithModes:
    """One frame with r reduced coordinates q, which are filled up with zeros to whole 3-blocks: p >= r of them."""

    mode_count: int
    count = 1
    turns = True
    is_frame = True

    @property
    def padded(self) -> int:
        """p, the next multiple of three."""
        return -(-self.mode_count // 3) * 3

    @property
    def x_width(self) -> int:
        """7 + p."""
        return 7 + self.padded

    @property
    def v_width(self) -> int:
        """6 + p."""
        return 6 + self.padded

    def retract(self, x: Array, d: Array) -> Array:
        """(c + d_linear, quaternion exp(d_angular), q + d_q), (1, 7 + p)."""
        return np.hstack([Frames(1).retract(x[:, :7], d[:, :6]), x[:, 7:] + d[:, 6:]])

    def difference(self, a: Array, b: Array) -> Array:
        """As for a frame, and q_b - q_a, (1, 6 + p)."""
        return np.hstack([Frames(1).difference(a[:, :7], b[:, :7]), b[:, 7:] - a[:, 7:]])
