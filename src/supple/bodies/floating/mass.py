"""Inertia of a floating body: the coupled mass matrix, the quadratic velocity vector and the momentum.

The matrix changes with the rotation and with q, so that the mass is asked for its value `at` positions. Momentum is
balanced so that a free body keeps it: between two states, seen from the rotation and origin (R_a, c_a) of a third,

    (p1 - p0,   R_a^T (h1 - h0 - c_a x (p1 - p0)),   pull(q; 1) - pull(q; 0))

p linear momentum, h angular momentum about the world's origin (`frame_moments` says more of the second row),
pull(q; k) = int rho U^T R_a^T x'_k: the velocities of the body's points, seen by the modes of the third state. To first
order in time the last row is d/dt dT/dq' - dT/dq.
Coordinates that fill q up to whole 3-blocks have unit mass and stay zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from supple.algebra.dense import rotations
from supple.algebra.dense.definite import negative_part
from supple.bodies.floating import kernels
from supple.bodies.floating.kernels import InertiaNumbers, Workspace
from supple.bodies.frame_moments import add_mean_turning, moment_at
from supple.bodies.protocols import LocalState, Pairs

Array = np.ndarray


def full_pattern(block_count: int) -> Pairs:
    """All pairs of blocks, row by row."""
    k = np.arange(block_count)
    return np.repeat(k, block_count), np.tile(k, block_count)


def as_blocks(A: Array) -> Array:
    """A (3 n, 3 n) by blocks (n², 3, 3), in the order of `full_pattern`."""
    n = len(A) // 3
    return A.reshape(n, 3, n, 3).transpose(0, 2, 1, 3).reshape(-1, 3, 3)


@dataclass(frozen=True, eq=False)
class MassMatrix:
    """M (6 + p, 6 + p) at one state."""

    M: Array

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor M dv, (1, 6 + p)."""
        f_out[0] += factor * (self.M @ dv[0])

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor M."""
        data_out[positions] += factor * as_blocks(self.M)

    def solve(self, f: Array) -> Array:
        """M^-1 f, (1, 6 + p)."""
        return np.asarray(scipy.linalg.solve(self.M, f[0], assume_a="pos"))[None]


@dataclass(frozen=True, eq=False)
class FloatingMass:
    """Inertia from the integrals of a model; padded: how many coordinates stand after the frame, p >= r."""

    numbers: InertiaNumbers
    padded: int
    is_lumped = False

    @property
    def mode_count(self) -> int:
        """r."""
        return len(self.numbers.Me)

    @cached_property
    def _workspace(self) -> Workspace:
        return Workspace.empty(self.mode_count)

    def _cut(self, x: Array, v: Array | None = None) -> tuple[Array, Array]:
        r = self.mode_count
        positions = np.ascontiguousarray(x[0, : 7 + r])
        return positions, np.zeros(0) if v is None else np.ascontiguousarray(v[0, : 6 + r])

    def at(self, x: Array) -> MassMatrix:
        """M at positions x (1, 7 + p)."""
        n = 6 + self.mode_count
        M, own = np.eye(6 + self.padded), np.empty((n, n))
        kernels.mass_matrix(self.numbers, self._cut(x)[0], self._workspace, own)
        M[:n, :n] = own
        return MassMatrix(M)

    def block_pattern(self) -> Pairs:
        """Every block with every other."""
        return full_pattern(2 + self.padded // 3)

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """f += Q_v [GOMGL07, eq. 13, corrected]."""
        workspace = self._workspace
        kernels.velocity_terms(self.numbers, *self._cut(state.x, state.v), workspace)
        f_out[0, : len(workspace.h)] -= workspace.h

    def add_mean_bias(self, state: LocalState, h: float, f_out: Array) -> None:
        """f += the mean of Q_v over a step of h [s] of free turning."""
        M = self.at(state.x)
        S = self.local_moment(state.x)
        add_mean_turning(self, state, h, self.numbers.mass, S, M.M[3:6, 3:6], M, f_out)

    def _momentum(self, x: Array, v: Array, R_at: Array) -> Array:
        """(p, h about the world's origin, pulled momentum of the modes, that of the filling)."""
        out, n = np.zeros(6 + self.padded), 6 + self.mode_count
        own = np.empty(n)
        kernels.momentum(self.numbers, *self._cut(x, v), R_at, self._workspace, own)
        out[:n] = own
        out[3:6] += rotations.cross(x[0, :3], out[:3])
        out[n:] = v[0, n:]
        return out

    def impulse_at(self, x0: Array, v0: Array, x1: Array, v1: Array, x: Array) -> Array:
        """Change of momentum (1, 6 + p) from one state to another, seen from positions x; see the module."""
        R_at = np.ascontiguousarray(rotations.to_matrix(x[0, 3:7]))
        change = self._momentum(x1, v1, R_at) - self._momentum(x0, v0, R_at)
        change[3:6] = R_at.T @ moment_at(x0[0, :3], x1[0, :3], x[0, :3], change)
        return change[None]

    def kinetic_energy(self, state: LocalState) -> float:
        """v^T M v / 2 [J], the filling's included."""
        n, p = 6 + self.mode_count, np.empty(6 + self.mode_count)
        x, v = self._cut(state.x, state.v)
        kernels.mass_product(self.numbers, x, v, self._workspace, p)
        rest = state.v[0, n:]
        return 0.5 * float(p @ v + rest @ rest)

    def weight(self, g: Array) -> Weight:
        """The force of a uniform gravity g (3,) [m/s²]."""
        return Weight(self, g)

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the world's origin, (6,) [kg m/s, kg m²/s]."""
        return self._momentum(state.x, state.v, np.eye(3))[:6]

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m], of the deformed body."""
        S = self.local_moment(x)
        return self.numbers.mass, self.numbers.mass * x[0, :3] + rotations.rotate(x[0, 3:7], S)

    def local_moment(self, x: Array) -> Array:
        """S = int rho u in body axes, (3,) [kg m]."""
        return self.numbers.S0 + self.numbers.U_bar @ x[0, 7 : 7 + self.mode_count]


@dataclass(frozen=True, eq=False)
class Weight:
    """Gravity on the deformed body, (m g, S x G, Ub^T G) with G = R^T g: the force of the load g on int rho.

    Its energy is counted with the mass. The tangent is that of a point with the position S and the shapes Ub:
    d = (0, skew(S) skew(G) turn - skew(G) Ub dq, Ub^T skew(G) turn).
    """

    mass: FloatingMass
    g: Array
    is_load = True
    is_passive = True

    def energy(self, state: LocalState) -> float:
        """Nothing: see `System.potential_energy`."""
        return 0.0

    def _local(self, x: Array) -> Array:
        return rotations.rotate_inverse(x[0, 3:7], self.g)

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += the weight."""
        n, G = self.mass.numbers, self._local(state.x)
        f_out[0, :3] += n.mass * self.g
        f_out[0, 3:6] += rotations.cross(self.mass.local_moment(state.x), G)
        f_out[0, 6 : 6 + self.mass.mode_count] += n.U_bar.T @ G

    def linearize(self, state: LocalState, *, definite: bool = False) -> MatrixTangent:
        """How the weight turns with the body."""
        n, r = self.mass.numbers, self.mass.mode_count
        shapes = np.zeros((3, self.mass.padded))
        shapes[:, :r] = n.U_bar
        K = np.zeros((6 + self.mass.padded,) * 2)
        K[3:, 3:] = turning_stiffness(self.mass.local_moment(state.x), shapes, self._local(state.x))
        return MatrixTangent(negative_part(K) if definite else K, np.zeros_like(K))

    def block_pattern(self) -> Pairs:
        """Every block with every other."""
        return self.mass.block_pattern()


@dataclass(frozen=True, eq=False)
class MatrixTangent:
    """K = df/dx and B = df/dv, (6 + p, 6 + p) each."""

    K: Array
    B: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        df_out[0] += stiffness * (self.K @ dv[0]) + damping * (self.B @ dv[0])

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble."""
        data_out[positions] += as_blocks(stiffness * self.K + damping * self.B)


def turning_stiffness(u: Array, shapes: Array, F: Array) -> Array:
    """d(J^T f)/d(turn, q) of a constant world force, F = R^T f, at u (3,) with shapes (3, p), (3 + p, 3 + p)."""
    p = shapes.shape[1]
    skew = rotations.skew(F)
    K = np.zeros((3 + p, 3 + p))
    K[:3, :3] = rotations.skew(u) @ skew
    K[:3, 3:] = -skew @ shapes
    K[3:, :3] = shapes.T @ skew
    return K
