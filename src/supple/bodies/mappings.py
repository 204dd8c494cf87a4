"""Mappings: points that follow the coordinates of a parent.

    x_c = m(x_p),  v_c = J v_p,  f_p += J^T f_c,  a_c = J a_p + (dJ/dt) v_p,  df_p += d(J^T)/dx f_c      [Faure07]

Weighted points (subset, barycentric, averages) have a constant J. A point r on a rigid frame, with body axes for the
angular velocity and F = R^T f:

    v = v_o - R [r]x w        torque r × F        bias R (w × (w × r))        geometric stiffness [r]x [F]x

The last is not symmetric; its skew part is half the applied moment. `add_geometric` gives all of it,
`geometric_blocks(..., definite=True)` its symmetric negative semi-definite part, for conjugate gradients. Where a
damper acts on mapped points, their velocity also changes with x: d(J v)/dx, here -R [w × r]x, `velocity_change`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.bodies import frame_point_kernels as kernels
from supple.bodies.protocols import JacobianRows
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """x_c = W x_p with constant weights W (count, parent_count): subsets, barycentric points, averages."""

    weights: sparse.csr_array
    is_linear = True

    @classmethod
    def subset(cls, indices: ArrayLike, parent_count: int) -> WeightedPoints:
        """The parent's points of these numbers."""
        index = np.asarray(indices, dtype=np.int64).ravel()
        strangers = index[(index < 0) | (index >= parent_count)]
        if strangers.size:
            raise InputError(
                "a point's number is out of range", value=int(strangers[0]), allowed=f"0..{parent_count - 1}"
            )
        ptr = np.arange(len(index) + 1)
        return cls(sparse.csr_array((np.ones(len(index)), index, ptr), shape=(len(index), parent_count)))

    @classmethod
    def identity(cls, parent_count: int) -> WeightedPoints:
        """All points of the parent."""
        return cls.subset(np.arange(parent_count), parent_count)

    @classmethod
    def barycentric(cls, nodes: Array, weights: Array, parent_count: int) -> WeightedPoints:
        """Points inside elements: nodes (count, k) of the element each, weights (count, k)."""
        count, k = nodes.shape
        ptr = np.arange(0, count * k + 1, k)
        return cls(sparse.csr_array((weights.ravel(), nodes.ravel(), ptr), shape=(count, parent_count)))

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.weights.shape[0])

    @cached_property
    def taken(self) -> Array | None:
        """Numbers of the parent's points, where each is taken as it is."""
        W = self.weights
        is_subset = np.array_equal(W.indptr, np.arange(self.count + 1)) and bool((W.data == 1.0).all())
        return W.indices if is_subset else None

    @cached_property
    def transpose(self) -> sparse.csr_array:
        """W^T, made once."""
        return self.weights.T.tocsr()

    def apply(self, x: Array) -> Array:
        """W x, (count, 3)."""
        return self.weights @ x if self.taken is None else x[self.taken]

    def linearize(self, x: Array) -> WeightedPoints:
        """The mapping is linear: it is its own tangent."""
        return self

    def product(self, v: Array) -> Array:
        """W v."""
        return self.weights @ v if self.taken is None else v[self.taken]

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out += W^T f."""
        f_out += self.transpose @ f

    def bias(self, v: Array) -> Array:
        """Zero: J is constant."""
        return np.zeros((self.count, 3))

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """Nothing: J is constant."""

    def velocity_change(self, v: Array, dx: Array) -> Array:
        """Zero: J is constant."""
        return np.zeros((self.count, 3))

    @cached_property
    def _rows(self) -> JacobianRows:
        return JacobianRows(self.weights.indptr, self.weights.indices, self.weights.data[:, None, None] * np.eye(3))

    def jacobian_rows(self) -> JacobianRows:
        """J in blocks of the parent's points."""
        return self._rows


@dataclass(frozen=True, eq=False)
class FramePoints:
    """Points fixed to rigid frames: local positions (count, 3) [m] in body axes, frame number (count,) each."""

    local: Array
    frame: Array

    @classmethod
    def make(cls, local: ArrayLike, frame: ArrayLike = 0) -> FramePoints:
        """Points of one frame, or of the frames given."""
        r = np.atleast_2d(np.asarray(local, dtype=float))
        if r.shape[1] != 3 or not np.isfinite(r).all():
            raise InputError("points on a frame are not (n, 3) finite numbers", value=np.shape(local))
        return cls(r, np.broadcast_to(np.asarray(frame, dtype=np.int64), len(r)).copy())

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.local)

    def part(self, points: Array) -> FramePoints:
        """Some of these points."""
        return FramePoints(self.local[points], self.frame[points])

    def apply(self, x: Array) -> Array:
        """o + R r, (count, 3)."""
        out = np.empty((self.count, 3))
        kernels.compute_places(np.ascontiguousarray(x, dtype=float), self.frame, self.local, out)
        return out

    def linearize(self, x: Array) -> FramePointsTangent:
        """J at these frames."""
        return FramePointsTangent(self, rotations.to_matrix(x[:, 3:]))


@dataclass(frozen=True, eq=False)
class FramePointsTangent:
    """J of points on frames with rotations R (frame_count, 3, 3)."""

    mapping: FramePoints
    R: Array

    @cached_property
    def _R(self) -> Array:
        return self.R[self.mapping.frame]

    def _local(self, f: Array) -> Array:
        return np.einsum("nji,nj->ni", self._R, f)

    def product(self, v: Array) -> Array:
        """v_o + R (w × r)."""
        m, out = self.mapping, np.empty((self.mapping.count, 3))
        kernels.compute_velocities(self.R, np.ascontiguousarray(v, dtype=float), m.frame, m.local, out)
        return out

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """force += f, torque += r × R^T f."""
        m = self.mapping
        np.add.at(f_out, m.frame, np.hstack([f, rotations.cross(m.local, self._local(f))]))

    def bias(self, v: Array) -> Array:
        """R (w × (w × r)) [m/s²]."""
        m = self.mapping
        w = v[m.frame, 3:]
        return np.einsum("nij,nj->ni", self._R, rotations.cross(w, rotations.cross(w, m.local)))

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """torque += factor r × (F × dtheta)."""
        m = self.mapping
        torque = rotations.cross(m.local, rotations.cross(self._local(f), dv[m.frame, 3:]))
        np.add.at(df_out[:, 3:], m.frame, factor * torque)

    def velocity_change(self, v: Array, dx: Array) -> Array:
        """d(J v)/dx dx = R (dtheta × (w × r))."""
        m = self.mapping
        turning = rotations.cross(dx[m.frame, 3:], rotations.cross(v[m.frame, 3:], m.local))
        return np.einsum("nij,nj->ni", self._R, turning)

    def geometric_pattern(self) -> tuple[Array, Array]:
        """Pairs of the parent's blocks that `geometric_blocks` fills: the angular one of each frame with itself."""
        angular = 2 * np.arange(len(self.R)) + 1
        return angular, angular

    def geometric_blocks(self, f: Array, *, definite: bool) -> Array:
        """sum [r]x [F]x for each frame, (frame_count, 3, 3) [N m]; definite: symmetric and negative semi-definite."""
        r, F = rotations.skew(self.mapping.local), rotations.skew(self._local(f))
        blocks = np.zeros((len(self.R), 3, 3))
        np.add.at(blocks, self.mapping.frame, r @ F)
        if not definite:
            return blocks
        values, vectors = np.linalg.eigh((blocks + np.swapaxes(blocks, 1, 2)) / 2)
        return (vectors * np.minimum(values, 0)[:, None, :]) @ np.swapaxes(vectors, 1, 2)

    def jacobian_rows(self) -> JacobianRows:
        """Two blocks a point: I and -R [r]x, in blocks of the frames (linear, angular)."""
        m = self.mapping
        blocks = np.empty((m.count, 2, 3, 3))
        blocks[:, 0] = np.eye(3)
        blocks[:, 1] = -self._R @ rotations.skew(m.local)
        cols = np.stack([2 * m.frame, 2 * m.frame + 1], axis=1)
        return JacobianRows(np.arange(0, 2 * m.count + 1, 2), cols.ravel(), blocks.reshape(-1, 3, 3))

    def velocity_rows(self, v: Array) -> JacobianRows:
        """d(J v)/dx in the pattern of `jacobian_rows`."""
        m = self.mapping
        blocks = np.zeros((m.count, 2, 3, 3))
        blocks[:, 1] = -self._R @ rotations.skew(rotations.cross(v[m.frame, 3:], m.local))
        rows = self.jacobian_rows()
        return JacobianRows(rows.ptr, rows.cols, blocks.reshape(-1, 3, 3))


def compose_rows(child: JacobianRows, parent: JacobianRows) -> JacobianRows:
    """J of a mapping of a mapping, child after parent; repeated columns are allowed, they add."""
    lengths = np.diff(parent.ptr)[child.cols]
    left = np.repeat(np.arange(len(child.cols)), lengths)
    start = np.repeat(parent.ptr[child.cols] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    right = start + np.arange(len(left))
    counts = np.concatenate([[0], np.cumsum(lengths)])
    return JacobianRows(counts[child.ptr], parent.cols[right], child.blocks[left] @ parent.blocks[right])


def join_rows(parts: list[JacobianRows]) -> JacobianRows:
    """J of points of several parents, one after another."""
    ptr, shift = [np.zeros(1, dtype=np.int64)], 0
    for part in parts:
        ptr.append(part.ptr[1:] + shift)
        shift += int(part.ptr[-1])
    cols = np.concatenate([part.cols for part in parts])
    return JacobianRows(np.concatenate(ptr), cols, np.concatenate([part.blocks for part in parts]))
