"""Laws between points within a linearised step: their forces are those at its end, found by Newton's method.

    A d = b + h J^T l,   l = f(u),   u = J (v + d) + u_0 + C l
    linearised at u_*:   l = S (f_* + T (u_* - J (v + d) - u_0)),   S = (I + T C)^-1,   T = -df/du
    (A + h J^T S T J) d = b + h J^T S (f_* + T (u_* - J v - u_0))

A, b: of the step without contacts, d: change of velocity, l: forces on the first sides. u_0 and C: velocities of sides
that other schemes move, and how these answer to the forces, where there are such sides. Bodies are linearised once a
step; contacts open, close, stick and slide, and springs turn, until f(u) is what the solve took it for. J: see
`contact_set`; laws: see `laws`. Joints across parts are rows of the same system, see `joint_rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_rows import BlockRows
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactForces, ContactSet, contact_jacobian
from supple.contact.restitution import Approach, may_rebound, rebound_targets, rebounding
from supple.interaction.contact_kernels import ROUNDING
from supple.scene.kinematics import Kinematics
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.contact_blocks import ContactBlocks, Coupling
from supple.solvers.coupling.joint_rows import JointResponse, JointStep, solve_rows
from supple.solvers.coupling.laws import Law, PointLaw
from supple.solvers.coupling.shapes import Shapes, Yielding
from supple.solvers.coupling.turning import next_points
from supple.solvers.linear.contact_iteration import NewtonLimits
from supple.solvers.linear.solution import LinearSolution
from supple.solvers.linear.step_blocks import StepBlocks

Array = np.ndarray
Solve = Callable[..., LinearSolution]
MAX_ITERATIONS = 40
TOLERANCE = 1e-8
"""Of the impulse of contacts, at which its iterations end; or a tenth of what the linear solution leaves open."""
HALVINGS, ENOUGH = 7, 0.2
"""How often a step of Newton's method is halved, and the part of what it promises that it has to keep."""
BISECTIONS = 40
"""Of the way of a step of Newton's method on which friction turns round."""
WHOLE = 12
"""Iterations that go all of Newton's way, see `turning`; later ones search along it."""
LOOSE, CLOSER = 3e-2, 1e-2
"""Tolerance of the first linear solution, and of later ones over what the contacts left open before."""
TIGHTER = 0.1
"""Of that tolerance, where the solution before was within it already, so that nothing would move."""


class ContactSolution(NamedTuple):
    """linear: the last linear solution; forces: of each law; pushes (k, 3) [N]: what the solution took for them;
    velocity (k, 3) [m/s]: relative, at the end; iterations; left: how far the pushes are from the law, relative; extra:
    what the laws added to A, h J^T S T J, None where there are none; held: what joints across parts do."""

    linear: LinearSolution
    forces: list[ContactForces]
    pushes: Array
    velocity: Array
    iterations: int
    left: float
    extra: ContactBlocks | None = None
    held: HeldRows | None = None

    def moved(self, dp: Array) -> ContactSolution:
        """With changes dp (m,) of the joints' forces, to which all responds as it was linearised last."""
        assert self.held is not None
        p, response, holds = self.held
        linear = response.add_to(self.linear, dp)
        return self._changed(linear, response.P @ dp)._replace(held=HeldRows(p + dp, response, holds))

    def with_linear(self, linear: LinearSolution, h: float) -> ContactSolution:
        """With another linear solution, to which the laws respond as they were linearised last."""
        if self.extra is None or linear is self.linear:
            return self._replace(linear=linear)
        moved = self.extra.J.times(linear.d - self.linear.d)
        return self._changed(linear, -self.extra.times(moved) / h)

    def _changed(self, linear: LinearSolution, change: Array) -> ContactSolution:
        """With forces of the laws changed by (3 k,)."""
        by, ends = change.reshape(-1, 3), np.cumsum([0] + [len(f.force) for f in self.forces])
        forces = [f._replace(force=f.force + by[a:b]) for f, a, b in zip(self.forces, ends, ends[1:])]
        return self._replace(linear=linear, forces=forces, pushes=self.pushes + by)


class HeldRows(NamedTuple):
    """p (m,): forces on the rows of joints across parts; how all responds to them; which rows hold, (m,)."""

    p: Array
    response: JointResponse
    holds: Array


@dataclass(eq=False)
class ContactStep:
    """The laws of a system during one step of h [s], those of contacts `bound` first; J (3 k, v_size) of all of them;
    u_0 (3 k,), C (3 k, 3 k): of sides that move by another scheme, C None where none responds; start (3 k,): their
    velocities at the start, where the laws are linearised first."""

    bound: list[BoundContact]
    laws: list[Law]
    J: BlockRows
    h: float
    v: Array
    u_0: Array
    C: Shapes | None = None
    joints: JointStep | None = None
    start: Array | None = None

    @classmethod
    def begin(cls, system: System, kin: Kinematics, state: State, h: float) -> ContactStep | None:
        """Look for contacts; None where nothing is near."""
        with system.timings.measure("find contacts"):
            sets = [contact.find(kin, h, state.memory) for contact in system.contacts]
        if not any(s.size for s in sets):
            for contact, s in zip(system.contacts, sets):
                contact.remember(s, ContactForces.none(0), np.zeros((0, 3)), h, state.memory)
            return None
        with system.timings.measure("contact rows"):
            bound = list(system.contacts)
            parts = [contact_jacobian(kin, s, c, system.v_size, h) for c, s in zip(bound, sets)]
            laws = [s.departing(way) for s, (_, way) in zip(sets, parts)]
            J = BlockRows.stacked([part for part, _ in parts], system.v_size // 3)
        return cls(bound, [*laws], J, h, kin.flat_v, np.zeros(3 * J.count))

    @cached_property
    def symmetric(self) -> bool:
        """Whether the tangent is: friction that grows with pressure makes it unsymmetric."""
        return all(law.is_symmetric for law in self.laws)

    @cached_property
    def _ranges(self) -> list[slice]:
        """The relative velocities of each law."""
        ends = list(accumulate((law.size for law in self.laws), initial=0))
        return [slice(a, b) for a, b in pairwise(ends)]

    def forces(self, u: Array) -> list[ContactForces]:
        """Of each law, at relative velocities u (3 k,)."""
        u = u.reshape(-1, 3)
        return [law.forces(u[own], self.h, symmetric=self.symmetric) for law, own in zip(self.laws, self._ranges)]

    def _between(self, u: Array) -> Coupling | None:
        """T between points that one force binds together, where there are such."""
        found = [
            (np.arange(own.start, own.stop), law.between(u.reshape(-1, 3)[own], self.h))
            for law, own in zip(self.laws, self._ranges)
            if isinstance(law, PointLaw) and law.size
        ]
        return Coupling(np.concatenate([w for w, _ in found]), block_diag(*(T for _, T in found))) if found else None

    def solve(
        self, b: Array, solve: Solve, near: ContactSolution | None = None, blocks: StepBlocks | None = None
    ) -> ContactSolution:
        """Iterate `solve(b, extra, start, tolerance, pull)`, which solves (A + extra) d = b. Its tolerance follows what
        the contacts leave open; the last solution has the solver's own. near: a solution to begin with. blocks: the
        matrix, with which contacts alone are iterated in one compiled call."""
        self._rebound(b, solve)
        h, J, C, d = self.h, self.J, self.C, np.zeros(self.J.shape[1])
        given = J.times(self.v) + self.u_0
        u = given.copy() if self.start is None else J.times(self.v) + self.start
        l, left, linear_iterations = np.zeros(len(given)), np.inf, 0
        if near is not None:
            d, l = near.linear.d, near.pushes.ravel()
            u = given + J.times(d) + (0.0 if C is None else C.times(l))
        found = None if blocks is None else self._compiled(b, blocks, d, given, u)
        if found is not None:
            return found
        forces, closer = self.forces(u), CLOSER
        for iteration in range(1, MAX_ITERATIONS + 1):
            f, T = _joined([x.force for x in forces]), _joined([x.tangent for x in forces])
            tangent = ContactBlocks(J, h * T, _times(h, self._between(u)), self.symmetric)
            wanted = f.ravel() + tangent.times(u - given) / h
            extra = tangent if C is None else tangent._replace(yielding=self._yielding(C, tangent))
            pull = None if C is None else C.W.pulled(wanted)
            s = solve(b + h * J.transposed(wanted), extra, d, min(LOOSE, closer * left), pull)
            closer *= 1.0 if s.iterations or s.is_final else TIGHTER
            linear_iterations += s.iterations
            if not np.isfinite(s.d).all():
                return ContactSolution(s, forces, np.zeros((len(f), 3)), u.reshape(-1, 3), iteration, np.inf)
            moved = J.times(s.d) + (0.0 if C is None else C.W.times(C.Y @ s.pulled))
            pushes, held, by_joints = wanted - tangent.stiff(moved) / h, None, 0.0
            if self.joints is not None:
                held = self._hold(self.joints, s, extra, pushes)
                s, pushes = held.response.add_to(s, held.p), pushes + held.response.P @ held.p
                by_joints = self.joints.C_sj @ held.p
            reached = given + J.times(s.d) + (0.0 if C is None else C.times(pushes)) + by_joints
            forces = self.forces(reached)
            law = _joined([x.force for x in forces]).ravel()
            scale = float(np.linalg.norm(np.maximum(np.abs(law), np.abs(pushes)))) or 1.0
            left = float(np.linalg.norm(np.maximum(0.0, np.abs(law - pushes) - self._rounding(reached)))) / scale
            if s.is_final and left <= max(TOLERANCE, 0.1 * s.residual):
                break
            if iteration <= WHOLE:
                d, l, u = s.d, pushes, self._next(u, reached) if iteration < WHOLE else reached
                forces = forces if u is reached else self.forces(u)
                continue
            size, forces = self._search(f.ravel(), forces, (u, l), (reached - u, pushes - l))
            d, u, l = d + size * (s.d - d), u + size * (reached - u), l + size * (pushes - l)
        s.iterations = linear_iterations
        pushes = pushes.reshape(-1, 3)
        forces = [x._replace(force=pushes[own]) for x, own in zip(forces, self._ranges)]
        return ContactSolution(s, forces, pushes, reached.reshape(-1, 3), iteration, left, extra, held)

    def _compiled(self, b: Array, blocks: StepBlocks, d: Array, given: Array, u: Array) -> ContactSolution | None:
        """The same in one compiled call, where there is one set of contacts and nothing else; None where that does not
        settle."""
        law, is_alone = self.laws[0], len(self.laws) == 1 and self.C is None and self.joints is None
        if not is_alone or not isinstance(law, ContactSet):
            return None
        how = NewtonLimits(self.h, LOOSE, CLOSER, TIGHTER, TOLERANCE, WHOLE)
        found = blocks.iterate(b, self.J, law, d, (given, u), how)
        if found is None:
            return None
        end, iterations, linear_iterations, residual, left = found
        s = LinearSolution(end.d, np.zeros(0), linear_iterations, residual, True, lost=end.lost)
        forces = ContactForces(end.pushes, end.tangent, end.slip, end.mode)
        extra = ContactBlocks(self.J, end.K, None, self.symmetric)
        return ContactSolution(s, [forces], end.pushes, end.reached, iterations, left, extra)

    def without_laws(self, b: Array, solve: Solve) -> ContactSolution:
        """The step where no law acts: joints across parts alone, if any."""
        s, none = solve(b), np.zeros((0, 3))
        held = None if self.joints is None else self._hold(self.joints, s, None, np.zeros(0))
        if held is not None:
            s = held.response.add_to(s, held.p)
        return ContactSolution(s, [ContactForces.none(0) for _ in self.laws], none, none, 1, 0.0, None, held)

    def _rebound(self, b: Array, solve: Solve) -> None:
        """Give the contacts that are struck within the step the law that lets them part."""
        if not any(c.has_restitution for c in self.bound):
            return
        sets, h = self._sets, self.h
        n = np.concatenate([s.normal for s in sets])
        J = self.J.chosen(np.arange(self.J.count) < len(n))

        def along(u: Array) -> Array:
            return np.einsum("ki,ki->k", n, u.reshape(-1, 3))

        all_of = ContactSet(*(np.concatenate(part) for part in zip(*sets)))
        g = max((c.gravity for c in self.bound), default=0.0)
        before = along(J.times(self.v) + self.u_0[: 3 * len(n)] - all_of.drift.ravel())
        if not may_rebound(all_of, before, h, g):
            return
        free = solve(b).d

        def response() -> Array:
            still, W = solve(np.zeros_like(b)).d, np.empty((len(n), len(n)))
            for k in range(len(n)):
                unit = np.zeros_like(n)
                unit[k] = n[k]
                W[:, k] = along(J.times(solve(J.transposed(unit.ravel())).d - still))
            return W

        target = rebound_targets(all_of, Approach(before, along(J.times(free)), response), h, g)
        self.laws[: len(sets)] = [rebounding(s, target[own], h) for s, own in zip(sets, self._ranges)]

    @property
    def _sets(self) -> list[ContactSet]:
        """The laws of contacts, which come first."""
        return [law for law in self.laws if isinstance(law, ContactSet)]

    def _rounding(self, u: Array) -> Array:
        """What rounding of gaps and ways may make of forces at relative velocities u (3 k,), (3 k,) [N]."""
        rounding = np.zeros((len(u) // 3, 3))
        for s, own in zip(self._sets, self._ranges):
            way = np.abs(u.reshape(-1, 3)[own]).sum(axis=1)
            rounding[own] = (ROUNDING * s.stiffness * (np.abs(s.gap) + self.h * way))[:, None]
        return rounding.ravel()

    def _hold(self, joints: JointStep, s: LinearSolution, extra: ContactBlocks | None, pushes: Array) -> HeldRows:
        """The forces of joints across parts beside a solution without them, with forces `pushes` (3 k,) of the laws."""
        with one_blas_thread():
            response = joints.respond(self.J, extra, self.h)
            right = joints.joints.r - joints.rate(self.v + s.d, pushes)
            return HeldRows(*_solved(response, right, joints))

    def _yielding(self, C: Shapes, tangent: ContactBlocks) -> Yielding:
        """How the shapes of other sides yield to laws with this tangent."""
        N, between = C.W.gram(tangent.K), tangent.coupling
        if between is not None:
            on = np.zeros(C.W.count, dtype=bool)
            on[between.which] = True
            W = C.W.chosen(on).dense()
            N += W.T @ between.F @ W
        return Yielding(C, N / self.h, self.h)

    def _next(self, u: Array, reached: Array) -> Array:
        """Where to linearise after u (3 k,), of contacts by `turning`; `reached` itself where nothing turns round."""
        before, after, out = u.reshape(-1, 3), reached.reshape(-1, 3), reached
        for s, own in zip(self._sets, self._ranges):
            held = next_points(s, before[own], now := after[own], self.h)
            if held is not now:
                out = out.copy() if out is reached else out
                out.reshape(-1, 3)[own] = held
        return out

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

    def end(self, solution: ContactSolution, state: State) -> None:
        """Keep what the contacts remember."""
        for contact, law, f, own in zip(self.bound, self.laws, solution.forces, self._ranges):
            if isinstance(law, ContactSet):
                contact.remember(law, f, solution.velocity[own], self.h, state.memory)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _times(h: float, between: Coupling | None) -> Coupling | None:
    return None if between is None else Coupling(between.which, h * between.F)


def _solved(response: JointResponse, right: Array, joints: JointStep) -> tuple[Array, JointResponse, Array]:
    p, holds = solve_rows(response.W, right, joints.joints.low, joints.joints.high)
    return p, response, holds
