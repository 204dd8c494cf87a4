"""Newton's corrections of an equilibrium whose load is unknown too: a bordered system [Rik79, Cri81].

    r = f(x) + load p(x) + G^T l = 0,   phi(x) = 0,   c(u, load) = 0

    [ -K    -p    -G^T ] [ d     ]   [  r   ]        u: sum of the moves d from the last point, x moves by d
    [ c_u   c_l    0   ] [ d load] = [ -c   ]        K: df/dx with the loads that follow, p: the loads, G = dphi/dx
    [ G      0     0   ] [ d l   ]   [ -phi ]

K alone is singular at a limit point, the whole matrix is not. Filters are projected into K, p, c_u and G.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.scene.kinematics import Kinematics
from supple.scene.system import System
from supple.solvers.linear.joint_solve import Directly
from supple.solvers.linear.linear_step import filtered_columns, filtered_matrix
from supple.solvers.linear.newton import ROUNDINGS, joint_forces

Array = np.ndarray
OPEN = 1e-10
"""Largest violation of a joint [m, or m² of unit axes]."""


class Point(NamedTuple):
    """Where the path is: positions, load factor, and multipliers of the joints."""

    x: Array
    load: float
    multipliers: Array


class Correction(NamedTuple):
    """A move (v_size,), and changes of the load factor and the multipliers."""

    move: Array
    load: float
    multipliers: Array


class Row(NamedTuple):
    """The condition that says where on the path: c_u (v_size,), c_l, and -c."""

    by_move: Array
    by_load: float
    gap: float


class LoadedBalance:
    """r, phi, and the bordered matrix at a point of the path."""

    def __init__(self, system: System, t: float, point: Point) -> None:
        self.system, self.point = system, point
        self.kin = system.propagate(t, point.x, np.zeros(system.v_size))
        inner = self._forces(self.kin, 0.0)
        self.p = self._forces(self.kin, 1.0) - inner
        r = inner + point.load * self.p
        if system.joints:
            r += joint_forces(system, self.kin, point.multipliers)
        self.r, self.phi = r, system.violation(self.kin)
        self.scale = float(np.linalg.norm(inner) + np.linalg.norm(point.load * self.p))
        for vector in (self.r, self.p):
            system.filter.project(vector)

    def _forces(self, kin: Kinematics, load: float) -> Array:
        return self.system.gather(self.system.slot_forces(kin, load=load))

    def rounding(self) -> float:
        """How much forces change where every position is off by its last digit [N]: none are solved below that."""
        off = self.system.propagate(self.kin.t, np.nextafter(self.point.x, np.inf), np.zeros(self.system.v_size))
        change = self._forces(off, self.point.load) - self._forces(self.kin, self.point.load)
        self.system.filter.project(change)
        return ROUNDINGS * float(np.linalg.norm(change))

    @property
    def open(self) -> float:
        """Largest violation of a joint."""
        return float(np.abs(self.phi).max(initial=0.0))

    @property
    def left(self) -> float:
        """Forces that nothing balances [N]."""
        return float(np.linalg.norm(self.r))

    def solve(self, row: Row, *, balances: bool = True) -> Correction:
        """The correction that meets the row. balances: and the equilibrium; otherwise along the path, r and phi as they
        are. ConvergenceError where the matrix is singular."""
        system, n, m = self.system, self.system.v_size, len(self.phi)
        given = self.point.multipliers if m else None
        lin = system.linearize(self.kin, multipliers=given, load=self.point.load)
        A = filtered_matrix(system, lin.matrix(stiffness=-1.0))
        stiff, force = float(np.abs(A.diagonal()).mean()) or 1.0, float(np.linalg.norm(self.p)) or 1.0
        length = force / stiff
        c = row.by_move * length  # moves in lengths, forces in those of the load: all entries are of one size
        system.filter.project(c)
        size = float(np.linalg.norm(c)) + abs(row.by_load)
        G = sparse.csr_array(filtered_columns(system, lin.joint_jacobian())) if m else sparse.csr_array((0, n))
        border = [
            [A / stiff, sparse.csr_array(-self.p[:, None] / force), -G.T],
            [sparse.csr_array(c[None] / size), sparse.csr_array([[row.by_load / size]]), None],
            [G, None, sparse.csr_array((m, m))],
        ]
        K = sparse.block_array(border if m else [part[:2] for part in border[:2]]).tocsc()
        rest = (self.r / force, -self.phi / length) if balances else (np.zeros(n), np.zeros(m))
        found = Directly(K.toarray() if system.is_small else K)(np.concatenate([rest[0], [row.gap / size], rest[1]]))[0]
        return Correction(length * found[:n], float(found[n]), force * found[n + 1 :])
