"""Joints across parts in one step: rows on the velocities of their points, with multipliers p, forces on the rows.

    E u = r,   r = -phi / h,   E = dphi/dx of the start
    A d = b + h (J_s^T l + G^T p),   l = ... - S T (J_s d + C_sj p),   G = E M of the implicit bodies
    W p = r - (rate without p),      W = G Z + C_sj^T P + C_jj,   P = -S T (J_s Z + C_sj)
    Z = A_s^-1 (h G^T - J_s^T h S T C_sj),   A_s = A + h J_s^T S T J_s

with S, T, C of the other laws as in `contact_steps`. W is small and dense. Rows that say the same twice share the
force: of all p the one of least norm is taken. Limits and motors have bounds on p: a row at its bound lets go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.scene.system import BoundJoint
from supple.solvers.coupling.coupled_points import CoupledPoints
from supple.solvers.linear.solution import LinearSolution

Array = np.ndarray
SAME = 1e-10
"""Part of the largest singular value of W, scaled to a unit diagonal, below which rows say the same."""
STILL = 1e-14
"""Part of the largest response below which nothing that a row acts on can move."""
UNMET = 1e-6
"""Part of the largest rate that rows ask for above which one counts as unmet."""
CHANGES = 20
"""How often rows change between holding and resting at a bound."""


@dataclass(frozen=True, eq=False)
class CoupledJoints:
    """The joints across parts in a step; E (rows, 3 count) of each at the start; r (m,) [m/s], or [m²/s] and
    [rad/s] of angles; low, high (m,): bounds of p."""

    joints: list[BoundJoint]
    points: list[CoupledPoints]
    E: list[Array]
    r: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, joints: list[BoundJoint], points: list[CoupledPoints], h: float, t: float) -> CoupledJoints:
        """For a step of h [s] that ends at t [s]."""
        E, r = [], []
        for (_, _, rows), own in zip(joints, points):
            rows.begin(own.x, h, t)
            E.append(rows.jacobian(own.x))
            r.append(-rows.violation(own.x) / h)
        low, high = (np.concatenate([rows.bounds[k] for _, _, rows in joints]) for k in (0, 1))
        return cls(joints, points, E, np.concatenate(r), low, high)

    @property
    def count(self) -> int:
        """m."""
        return len(self.r)

    def rows(self, v_size: int, columns: Array) -> sparse.csr_array:
        """G (m, columns) on the velocities of the implicit bodies."""
        parts = [own.rows(sparse.csr_array(E), v_size) for E, own in zip(self.E, self.points)]
        return sparse.csr_array(sparse.vstack(parts).tocsr()[:, columns])

    def on(self, body: Slot) -> list[tuple[Slot, sparse.csr_array]]:
        """The leaves that are points of a body, with the rows (m, 3 points) on their velocities."""
        found, start = [], 0
        for E, own in zip(self.E, self.points):
            for leaf, M in own.hanging_on(body):
                rows = np.zeros((self.count, M.shape[1]))
                rows[start : start + len(E)] = (M.T @ E.T).T
                found.append((leaf, sparse.csr_array(rows)))
            start += len(E)
        return found

    def violation(self, kin: Kinematics) -> Array:
        """phi of all rows, (m,)."""
        return np.concatenate([rows.violation(kin.x[slot.index]) for _, slot, rows in self.joints])


class JointStep(NamedTuple):
    """What a step knows of its joints: the rows G (m, n) of implicit bodies, the rates u_0 (m,) of trees without
    forces, C_jj (m, m), C_sj (3 k, m): how rows and other laws respond to p through trees; part: of implicit bodies."""

    joints: CoupledJoints
    G: sparse.csr_array
    u_0: Array
    C_jj: Array
    C_sj: Array
    part: Callable[..., Any]

    def respond(self, J: Any, extra: Any, h: float) -> JointResponse:
        """Z, P and W, with what the other laws add to A; extra None: there are none."""
        m, n = self.G.shape
        Z, C_sj, right = np.zeros((n, m)), self.C_sj, h * self.G.toarray().T
        if extra is not None:
            right -= J.to_scipy().T @ extra.times(C_sj)
        touched = np.abs(right).sum(axis=1).reshape(-1, 3).sum(axis=1) > 0
        part = self.part(touched, extra)
        count, solved = len(part.unknowns), part.solve_all(right[part.unknowns])
        Z[part.unknowns], L = solved[:count], -solved[count:]
        P = np.zeros_like(C_sj) if extra is None else -extra.times(J.to_scipy() @ Z + C_sj) / h
        return JointResponse(Z, P, np.asarray(self.G @ Z + C_sj.T @ P + self.C_jj), L)

    def rate(self, v: Array, pushes: Array) -> Array:
        """E u of velocities v (n,) of the implicit bodies and forces of the other laws (3 k,)."""
        return np.asarray(self.G @ v + self.u_0 + self.C_sj.T @ pushes)


class JointResponse(NamedTuple):
    """dv/dp (n, m) of implicit bodies, dl/dp (3 k, m) of the other laws, W (m, m), and impulses (i, m) of the joints
    inside the implicit part, i zero where it has none."""

    Z: Array
    P: Array
    W: Array
    L: Array

    def add_to(self, s: LinearSolution, p: Array) -> LinearSolution:
        """A solution with forces p (m,) on the rows."""
        multipliers = s.multipliers + self.L @ p if len(self.L) else s.multipliers
        return replace(s, d=s.d + self.Z @ p, multipliers=multipliers)


class Secant(NamedTuple):
    """How rates were found to respond to p, W (m, m), what was left of them, (m,), and the change of p for it, (m,)."""

    W: Array
    rate: Array
    change: Array

    @classmethod
    def after(cls, before: Secant | None, W: Array, holds: Array, rate: Array) -> Secant:
        """The change of p that takes back a rate (m,), zero on rows that do not hold. W as the last change s showed it
        to be [Bro65], with forces and moments weighed by its diagonal D: (W + (y - W s) s^T D / (s^T D s)) s = y."""
        if before is not None:
            s, weighed = before.change, np.abs(np.diag(W)) * before.change
            W = before.W + np.outer(rate - before.rate - before.W @ s, weighed) / max(float(s @ weighed), 1e-300)
        change = np.zeros(len(rate))
        change[holds] = least_norm(W[np.ix_(holds, holds)], -rate[holds])
        return cls(W, rate, change)


def solve_rows(W: Array, right: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """p (m,) with W p = right and low <= p <= high, of least norm; and which rows hold, (m,)."""
    held = _bounds(np.zeros(len(right)), -right, low, high)
    for _ in range(CHANGES):
        holds = np.isnan(held)
        p = np.where(holds, 0.0, held)
        p[holds] = least_norm(W[np.ix_(holds, holds)], (right - W @ p)[holds])
        left = W @ p - right
        new = _bounds(p, np.where(holds, 0.0, left), low, high)
        bound = np.where(left > 0, low, high)  # of rows that cannot be met beside others, as a motor's against a limit
        quarrels = holds & (np.abs(left) > UNMET * np.abs(right).max(initial=0.0)) & np.isfinite(bound) & (bound != 0.0)
        new = np.where(quarrels, bound, new)
        if np.array_equal(np.isnan(new), holds):
            break
        held = new
    return p, holds


def least_norm(W: Array, right: Array) -> Array:
    """The solution of least norm, for one right side (m,) or several (m, n), rows scaled to a unit diagonal."""
    if not len(right):
        return right
    size = np.diag(W)
    moves = size > STILL * size.max()
    scale = np.where(moves, 1.0, 0.0) / np.sqrt(np.where(moves, size, 1.0))
    columns = scale if right.ndim == 1 else scale[:, None]
    return np.asarray(columns * np.linalg.lstsq(scale[:, None] * W * scale, columns * right, rcond=SAME)[0])


def _bounds(p: Array, off: Array, low: Array, high: Array) -> Array:
    """The bound at which each multiplier rests, NaN where its row holds; see `newton.bound_of`."""
    wanted = p - off
    return np.where(wanted <= low, low, np.where(wanted >= high, high, np.nan))
