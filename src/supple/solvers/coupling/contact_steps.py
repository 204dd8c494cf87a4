"""Contacts within a linearised step: their forces are those at its end, found by Newton's method.

    A d = b + h J^T l,   l = f(u),   u = J (v + d) + u_0 + C l
    linearised at u_*:   l = S (f_* + T (u_* - J (v + d) - u_0)),   S = (I + T C)^-1,   T = -df/du
    (A + h J^T S T J) d = b + h J^T S (f_* + T (u_* - J v - u_0))

A, b: of the step without contacts, d: change of velocity, l: forces on the first sides. u_0 and C: velocities of sides
that other schemes move, and how these answer to the forces, where there are such sides. Bodies are linearised once a
step; contacts open, close, stick and slide until f(u) is what the solve took it for. J: see `contact_set`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_rows import BlockRows
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactForces, ContactSet, contact_jacobian
from supple.contact.restitution import Approach, may_rebound, rebound_targets, rebounding
from supple.interaction.contact_kernels import ROUNDING
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.compliance import Compliance, threefold
from supple.solvers.coupling.contact_blocks import ContactBlocks, Coupling, by_blocks
from supple.solvers.linear.linear_step import LinearSolution
from supple.solvers.rigid.step_kernels import BISECTIONS

Array = np.ndarray
Solve = Callable[..., LinearSolution]
MAX_ITERATIONS = 40
TOLERANCE = 1e-8
"""Of the impulse of contacts, at which its iterations end; or a tenth of what the linear solution leaves open."""
HALVINGS, ENOUGH = 7, 0.2
"""How often a step of Newton's method is halved, and the part of what it promises that it has to keep."""
NEAR = 6
"""Iterations from a solution nearby, after which they begin as without one."""
LOOSE, CLOSER = 1e-3, 1e-2
"""Tolerance of the first linear solution, and of later ones over what the contacts left open before."""


class ContactSolution(NamedTuple):
    """linear: the last linear solution; forces: of each set; pushes (k, 3) [N]: what the solution took for them;
    velocity (k, 3) [m/s]: relative, at the end; iterations; left: how far the pushes are from the law, relative; extra:
    what the contacts added to A, h J^T S T J, None where there are none."""

    linear: LinearSolution
    forces: list[ContactForces]
    pushes: Array
    velocity: Array
    iterations: int
    left: float
    extra: ContactBlocks | None = None


@dataclass(eq=False)
class ContactStep:
    """The contacts of a system during one step of h [s]; J (3 k, v_size) of all of them; u_0 (3 k,), C (3 k, 3 k): of
    sides that move by another scheme, C None where none responds."""

    bound: list[BoundContact]
    sets: list[ContactSet]
    J: BlockRows
    h: float
    v: Array
    u_0: Array
    C: Compliance | None = None

    @classmethod
    def begin(cls, system: System, kin: Kinematics, state: State, h: float) -> ContactStep | None:
        """Look for contacts; None where nothing is near."""
        with system.timings.measure("find contacts"):
            sets = [contact.find(kin, h, state.memory) for contact in system.contacts]
        if not any(s.size for s in sets):
            for contact, s in zip(system.contacts, sets):
                contact.remember(s, s.forces(np.zeros((0, 3)), h, symmetric=True), h, state.memory)
            return None
        with system.timings.measure("contact rows"):
            bound = list(system.contacts)
            parts = [contact_jacobian(kin, s, c, system.v_size, h) for c, s in zip(bound, sets)]
            sets = [s.departing(way) for s, (_, way) in zip(sets, parts)]
            J = BlockRows.stacked([part for part, _ in parts], system.v_size // 3)
        return cls(bound, sets, J, h, kin.flat_v, np.zeros(3 * J.count))

    @cached_property
    def symmetric(self) -> bool:
        """Whether the tangent is: friction that grows with pressure makes it unsymmetric."""
        return not any(s.friction.any() for s in self.sets)

    def forces(self, u: Array) -> list[ContactForces]:
        """Of each set, at relative velocities u (3 k,)."""
        u = u.reshape(-1, 3)
        ends = np.cumsum([0] + [s.size for s in self.sets])
        return [s.forces(u[a:b], self.h, symmetric=self.symmetric) for s, a, b in zip(self.sets, ends, ends[1:])]

    def solve(self, b: Array, solve: Solve, near: ContactSolution | None = None) -> ContactSolution:
        """Iterate `solve(b, extra, start, tolerance)`, which solves (A + extra) d = b. Its tolerance follows what the
        contacts leave open; the last solution has the solver's own. near: a solution to begin with."""
        self._rebound(b, solve)
        h, J, C, d = self.h, self.J, self.C, np.zeros(self.J.shape[1])
        given = J.times(self.v) + self.u_0
        u, l, left, linear_iterations = given.copy(), np.zeros(len(given)), np.inf, 0
        if near is not None:
            d, l = near.linear.d, near.pushes.ravel()
            u = given + J.times(d) + (0.0 if C is None else C.times(l))
        forces = self.forces(u)
        for iteration in range(1, MAX_ITERATIONS + 1):
            if near is not None and iteration > NEAR:
                near, u, l, d = None, given.copy(), np.zeros(len(given)), np.zeros_like(d)
                forces = self.forces(u)
            f, T = (np.concatenate([getattr(x, name) for x in forces]) for name in ("force", "tangent"))
            wanted, K, coupling = f.ravel() + by_blocks(T, u - given), h * T, None
            if C is not None:
                K, coupling = self._yielding(h * T, wanted)
            extra = ContactBlocks(J, K, coupling, self.symmetric)
            s = solve(b + h * J.transposed(wanted), extra, d, min(LOOSE, CLOSER * left))
            linear_iterations += s.iterations
            if not np.isfinite(s.d).all():
                return ContactSolution(s, forces, np.zeros((len(f), 3)), u.reshape(-1, 3), iteration, np.inf)
            moved = J.times(s.d)
            pushes = wanted - extra.times(moved) / h
            reached = given + moved + (0.0 if C is None else C.times(pushes))
            forces = self.forces(reached)
            law = np.concatenate([x.force for x in forces]).ravel()
            scale = float(np.linalg.norm(np.maximum(np.abs(law), np.abs(pushes)))) or 1.0
            left = float(np.linalg.norm(np.maximum(0.0, np.abs(law - pushes) - self._rounding(reached)))) / scale
            if s.is_final and left <= max(TOLERANCE, 0.1 * s.residual):
                break
            size, forces = self._search(f.ravel(), forces, (u, l), (reached - u, pushes - l))
            d, u, l = d + size * (s.d - d), u + size * (reached - u), l + size * (pushes - l)
        s.iterations = linear_iterations
        pushes = pushes.reshape(-1, 3)
        ends = np.cumsum([0] + [x.size for x in self.sets])
        forces = [x._replace(force=pushes[a:b]) for x, a, b in zip(forces, ends, ends[1:])]
        return ContactSolution(s, forces, pushes, reached.reshape(-1, 3), iteration, left, extra)

    def _rebound(self, b: Array, solve: Solve) -> None:
        """Give the contacts that are struck within the step the law that lets them part."""
        if not any(c.has_restitution for c in self.bound):
            return
        sets, h = self.sets, self.h
        n = np.concatenate([s.normal for s in sets])

        def along(u: Array) -> Array:
            return np.einsum("ki,ki->k", n, u.reshape(-1, 3))

        before, g = along(self.J.times(self.v) + self.u_0), max((c.gravity for c in self.bound), default=0.0)
        all_of = ContactSet(*(np.concatenate(part) for part in zip(*sets)))
        if not may_rebound(all_of, before, h, g):
            return
        free = solve(b).d

        def response() -> Array:
            still, W = solve(np.zeros_like(b)).d, np.empty((len(n), len(n)))
            for k in range(len(n)):
                unit = np.zeros_like(n)
                unit[k] = n[k]
                W[:, k] = along(self.J.times(solve(self.J.transposed(unit.ravel())).d - still))
            return W

        target = rebound_targets(all_of, Approach(before, along(self.J.times(free)), response), h, g)
        ends = np.cumsum([0] + [s.size for s in sets])
        self.sets = [rebounding(s, target[a:b], h) for s, a, b in zip(sets, ends, ends[1:])]

    def _rounding(self, u: Array) -> Array:
        """What rounding of gaps and ways may make of forces at relative velocities u (3 k,), (3 k,) [N]."""
        gap, k = (np.concatenate([getattr(s, name) for s in self.sets]) for name in ("gap", "stiffness"))
        return np.repeat(ROUNDING * k * (np.abs(gap) + self.h * np.abs(u.reshape(-1, 3)).sum(axis=1)), 3)

    def _yielding(self, T: Array, wanted: Array) -> tuple[Array, Coupling | None]:
        """S T, for T (k, 3, 3) times h, as blocks and the coupling between contacts; `wanted` (3 k,) becomes S wanted.

        S differs from I among the closed contacts whose sides answer.
        """
        assert self.C is not None
        closed = T[self.C.which].any(axis=(1, 2))
        which = self.C.which[closed]
        if not len(which):
            return T, None
        rows, own = threefold(which), np.flatnonzero(np.repeat(closed, 3))
        C, a, K = self.C.matrix[np.ix_(own, own)], len(which), T.copy()
        with one_blas_thread():
            S = np.linalg.inv(np.eye(3 * a) + by_blocks(T[which], C) / self.h)
            wanted[rows] = S @ wanted[rows]
            F = np.einsum("ikl,klm->ikm", S.reshape(3 * a, a, 3), T[which]).reshape(a, 3, a, 3)
        each = np.arange(a)
        K[which] = F[each, :, each]
        F[each, :, each] = 0.0
        return K, Coupling(which, F.reshape(3 * a, 3 * a))

    def _search(
        self, f: Array, full: list[ContactForces], at: tuple[Array, Array], way: tuple[Array, Array]
    ) -> tuple[float, list[ContactForces]]:
        """How much of Newton's way to go from velocities and forces (u, l), and the law's forces there.

        Along it f(u) - l goes as 1 - s at first, so that a small enough part always helps, where the tangent is whole.
        """
        before, best = float(np.linalg.norm(f - at[1])), (np.inf, 1.0, full)
        turned = self._turning_point(f, full, at, way)
        if turned is not None:
            return turned
        for halvings in range(HALVINGS):
            s = 0.5**halvings
            forces = full if halvings == 0 else self.forces(at[0] + s * way[0])
            law = np.concatenate([x.force for x in forces]).ravel()
            off = float(np.linalg.norm(law - at[1] - s * way[1]))
            if off < best[0]:
                best = (off, s, forces)
            if off <= (1 - ENOUGH * s) * before:
                return s, forces
        return best[1], best[2]

    def _turning_point(
        self, f: Array, full: list[ContactForces], at: tuple[Array, Array], way: tuple[Array, Array]
    ) -> tuple[float, list[ContactForces]] | None:
        """The same, where friction turns round on the way: what is left open, r = f(u) - l, is found by bisection where
        r . r_0 changes its sign. A stiff contact sticks within so small velocities that halvings leap over them."""
        r_0, r_1 = f - at[1], np.concatenate([x.force for x in full]).ravel() - at[1] - way[1]
        before, low, high = float(np.linalg.norm(r_0)), 0.0, 1.0
        if r_1 @ r_0 >= 0 or np.linalg.norm(r_1) <= (1 - ENOUGH) * before:
            return None
        for _ in range(BISECTIONS):
            s = 0.5 * (low + high)
            forces = self.forces(at[0] + s * way[0])
            r = np.concatenate([x.force for x in forces]).ravel() - at[1] - s * way[1]
            if np.linalg.norm(r) <= (1 - ENOUGH) * before:
                return s, forces
            low, high = (s, high) if r @ r_0 > 0 else (low, s)
        return None

    def end(self, forces: list[ContactForces], state: State) -> None:
        """Keep what the contacts remember."""
        for contact, s, f in zip(self.bound, self.sets, forces):
            contact.remember(s, f, self.h, state.memory)
