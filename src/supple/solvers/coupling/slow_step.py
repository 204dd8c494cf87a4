"""A step of the slow bodies of a scene, while a lattice touches them: the steps of their parts, with all laws.

Slow bodies end a step h where a force F on their contacts, constant over it, puts them; with contacts among themselves
linearised as in `contact_steps`, and l_s the forces on these:

    A d = b + h (J_s^T l_s + J^T F),   l_s = ... - S T (J_s d + C_s. F),   S = (I + T C_ss)^-1
    G = dw/dF = J Z - C_.s S T (J_s Z + C_s.) + C,   (A + h J_s^T S T J_s) Z = h (J^T - J_s^T S T C_s.)
    less Y W^-1 R of joints across parts, see `joint_rows`, with Y = dw/dp, R = d(E u)/dF

w (3 k,): what their points contribute to the relative velocities of contacts with a lattice, way of the step over h.
While the lattice is swept they go y' = w_0 + G (F(t) - F_0), which ends at h w of the mean force: where their own step
will end with the lattice's impulse. What is at rest stays there, F = F_0 and w_0 = 0, whether G is exact or not. A mass
m on a still lattice goes, with a = k h²/m, by

    x_1 = e^-a x_0 + (1 - e^-a)/a h v_0,   h v_1 = x_1 - x_0

whose eigenvalues have the product (1 - e^-a)/a and the sum e^-a more: it comes to rest for every a.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_rows import BlockRows
from supple.bodies.part_protocol import Step
from supple.solvers.coupling.contact_blocks import ContactBlocks
from supple.solvers.coupling.contact_steps import ContactSolution, ContactStep, HeldRows, Solve
from supple.solvers.coupling.contact_warnings import warn_unsettled
from supple.solvers.coupling.joint_rows import CoupledJoints, JointStep, least_norm
from supple.solvers.coupling.law_rows import LawRows
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.shapes import Shapes
from supple.solvers.coupling.touched_part import TouchedPart
from supple.solvers.report import StepReport

Array = np.ndarray
MILD = 1e-3
"""Part of the largest entry of G that an eigenvalue may be below zero: friction makes G unsymmetric."""


class SlowSides(NamedTuple):
    """motion (k, 3) [m/s]: w_0 of contacts with a lattice; responses: G (3 k, 3 k) [m/s/N] and F_0 (k, 3) [N], or
    nothing where no slow body touches one."""

    motion: Array
    responses: tuple[Array, ...]

    @property
    def give_way(self) -> bool:
        """Whether they yield to every force: G + G^T has no eigenvalue below zero, but for MILD ones. A body that is
        squeezed so that it would buckle within the step does not, as long as its stiffness is the exact one."""
        G = self.responses[0] if self.responses else np.zeros((0, 0))
        even, largest = 0.5 * (G + G.T), float(np.abs(G).max(initial=0.0))
        if not largest:
            return True
        with one_blas_thread():
            try:
                np.linalg.cholesky(even + MILD * largest * np.eye(len(G)))
            except np.linalg.LinAlgError:
                return False
        return True

    def moved(self, more: Array) -> SlowSides:
        """With more velocity (j, 3) [m/s] of the last j."""
        motion = self.motion.copy()
        motion[len(motion) - len(more) :] += more
        return self._replace(motion=motion)


@dataclass(eq=False)
class SlowStep:
    """A step that has begun. rows: the unknowns that stay, with J (3 k, n) of all laws and G (m, n) of joints across
    parts. velocity, start (k, 3) [m/s], rate (m,) and shapes: of the parts that yield, see `part_protocol.Step`."""

    meeting: Meeting
    steps: list[Step]
    rows: LawRows
    velocity: Array
    start: Array
    rate: Array
    shapes: Shapes | None
    h: float
    _known: tuple[Array, ContactStep] | None = field(default=None, init=False)

    @classmethod
    def of(cls, meeting: Meeting, steps: list[Step], h: float) -> SlowStep:
        """Of the steps of all parts; those that give no rows yield by their shapes."""
        k, m = meeting.count, 0 if meeting.joints is None else meeting.joints.count
        given = [step.rows() for step in steps]
        (rows,) = [rows for rows in given if rows is not None] or [LawRows.none(k, m)]
        others = [step for step, rows in zip(steps, given) if rows is None]
        velocity, start = (
            sum((getattr(step, name) for step in others), np.zeros((k, 3))) for name in ("velocity", "start")
        )
        rate = sum((step.rate for step in others), np.zeros(m))
        shapes = Shapes.joined([body for step in others for body in step.shapes])
        return cls(meeting, steps, rows, velocity, start, rate, shapes, h)

    @property
    def may_be_definite(self) -> bool:
        """Whether the stiffness of its unknowns may be indefinite, and can be made definite."""
        return self.rows.linear.definite is not None

    def definite(self) -> SlowStep:
        """The same with a stiffness of the unknowns made definite."""
        return replace(self, rows=self.rows.definite())

    def within(self, keep: Array) -> SlowStep:
        """The same with some block rows (n / 3,) of the unknowns alone, that nothing connects to others."""
        return replace(self, rows=self.rows.within(keep))

    def solve(self, law: Array, given: Array, near: ContactSolution | None = None) -> ContactSolution:
        """With forces by the law on the contacts `law` (k,), given ones (k, 3) [N] on the first sides of the others.

        near: a solution to begin with, for other given forces.
        """
        step, b, solve = self._contacts(law, given)
        if not law.any():
            return step.without_laws(b, solve)
        return step.solve(b, solve, near, self.rows.linear.blocks)

    def warn(self, law: Array, given: Array, left: float, t: float, tolerance: float) -> None:
        """Say that the contacts `law` did not settle."""
        step, b, solve = self._contacts(law, given)
        warn_unsettled(step, b, solve, left, t, tolerance)

    def _contacts(self, law: Array, given: Array) -> tuple[ContactStep, Array, Solve]:
        """The step of the contacts `law`, its right side, and what solves it."""
        C, J, linear = self.shapes, self.rows.J, self.rows.linear
        b, solve = linear.b, linear.solve
        if self._known is None or not np.array_equal(self._known[0], law):
            step = ContactStep([], [], BlockRows.empty(0, J.width), self.h, linear.v, np.zeros(0))
            if law.any():
                chosen, part = self.meeting.chosen(law), None if C is None else C.chosen(law)
                step = replace(step, bound=chosen.bound, laws=chosen.laws, J=J.chosen(law), C=part)
            self._known = law.copy(), step
        u_0, step = self.velocity.ravel(), self._known[1]
        if given.any():
            b = b + self.h * J.transposed(given.ravel())
            u_0 = u_0 if C is None else u_0 + C.times(given.ravel())
        joints = None if self.meeting.joints is None else self._joints(self.meeting.joints, law, given)
        some = np.repeat(law, 3)
        return replace(step, u_0=u_0[some], joints=joints, start=self.start.ravel()[some]), b, solve

    def _joints(self, joints: CoupledJoints, law: Array, given: Array) -> JointStep:
        """The rows of joints across parts, beside the law on `law` (k,) and given forces (k, 3) on the others."""
        shapes = self.shapes
        assert shapes is not None
        return JointStep(
            joints,
            self.rows.G,
            self.rate + shapes.C_sj.T @ np.where(law[:, None], 0.0, given).ravel(),
            shapes.C_jj,
            shapes.C_sj[np.repeat(law, 3)],
            self.rows.linear.part,
        )

    def sides(self, fast: Array, both: Array, law: Array, given: Array, found: ContactSolution) -> SlowSides:
        """How slow bodies move beside a lattice in the contacts `fast` (k,), of which they have part in `both`; found:
        the solution with the law on `law` and given forces."""
        pushes, held = _forces(law, given, found)
        w = self.velocity.ravel() + self.rows.J.times(self.rows.linear.v + found.linear.d)
        if self.shapes is not None:
            w = w + self.shapes.times(pushes.ravel()) + self.shapes.C_sj @ held
        beside, touching = np.repeat(fast, 3), np.repeat(both[fast], 3)
        G = np.zeros((len(touching), len(touching)))
        G[np.ix_(touching, touching)] = self._mobility(both, law, found)
        return SlowSides(w[beside].reshape(-1, 3), (G, given[fast]))

    def _mobility(self, f: Array, s: Array, found: ContactSolution) -> Array:
        """G of the relative velocities f, (k,), with the law on those of s, and joints across parts."""
        J, J_s, C, extra = self.rows.J.chosen(f), self.rows.J.chosen(s), self.shapes, found.extra
        size, yields = 3 * int(f.sum()), extra is not None and (C is not None or found.held is not None)
        if extra is None and found.held is None:
            return self._kept(J, None, None)[0] + (0.0 if C is None else C.between(f, f))
        C_sf = np.zeros((J_s.shape[0], size)) if C is None else C.between(s, f)
        G = np.zeros((size, size)) if C is None else C.between(f, f)
        own, part, Z = self._kept(J, extra, None if C is None or extra is None else (J_s, extra.times(C_sf)))
        G, moved = G + own, C_sf + (J_s.dense(part.keep) @ Z if yields else 0.0)
        with one_blas_thread():
            pushed = -extra.times(moved) / self.h if extra is not None and yields else np.zeros_like(C_sf)
            if C is not None:
                G = G + C.between(f, s) @ pushed
            return np.asarray(G if found.held is None else G - self._held(f, s, found.held, part.unknowns, Z, pushed))

    def _held(self, f: Array, s: Array, held: HeldRows, unknowns: Array, Z: Array, pushed: Array) -> Array:
        """What joints across parts take from G: Y W^-1 R, with Y = dw/dp and R = d(E u)/dF; Z, pushed: how the
        unknowns and the forces of the law respond to F."""
        shapes, (_, response, holds) = self.shapes, held
        assert shapes is not None
        C_fj, C_sj = shapes.C_sj[np.repeat(f, 3)], shapes.C_sj[np.repeat(s, 3)]
        Y = self.rows.J.chosen(f).to_scipy() @ response.Z + C_fj + shapes.between(f, s) @ response.P
        R = self.rows.G[:, unknowns] @ Z + C_sj.T @ pushed + C_fj.T
        W = response.W[np.ix_(holds, holds)]
        return np.asarray(Y[:, holds] @ least_norm(W, R[holds]))

    def _kept(
        self, J: BlockRows, extra: ContactBlocks | None, less: tuple[BlockRows, Array] | None
    ) -> tuple[Array, TouchedPart, Array]:
        """J Z, the part of the unknowns that responds, and its Z = A^-1 (h J^T - J_s^T R); less: J_s and R."""
        touched = np.zeros(J.width, dtype=bool)
        if not J.width:
            part = self.rows.linear.part(touched, extra)
            return np.zeros((3 * J.count, 3 * J.count)), part, np.zeros((0, 3 * J.count))
        touched[J.cols] = True
        if less is not None:
            pushed = less[0].chosen(np.abs(less[1]).sum(axis=1).reshape(-1, 3).sum(axis=1) > 0)
            touched[pushed.cols] = True
        part = self.rows.linear.part(touched, extra)
        own = J.dense(part.keep)
        right = self.h * own.T
        if less is not None:
            right = right - less[0].dense(part.keep).T @ less[1]
        Z = part.solve(right)
        return np.asarray(own @ Z), part, Z

    def closed(self, found: ContactSolution) -> ContactSolution:
        """A solution with closed joints inside the part whose unknowns stay."""
        return found.with_linear(self.rows.linear.close(found.linear, found.extra), self.h)

    def reach(self, law: Array, given: Array, found: ContactSolution) -> None:
        """Bring all parts to the end with the forces found, and given ones where no law is solved."""
        pushes, held = _forces(law, given, found)
        for step in self.steps:
            step.reach(pushes, held, None if step.rows() is None else found.linear)

    def place_ends(self, x_out: Array) -> None:
        """Write where coupled bodies end, as they were reached last, to flat positions of the whole system."""
        for step in self.steps:
            step.place_ends(x_out)

    def finish(self, pushes: Array, held: Array) -> list[StepReport]:
        """Take the steps as they were reached last, with the same forces."""
        return [step.finish(pushes, held) for step in self.steps]


def _forces(law: Array, given: Array, found: ContactSolution) -> tuple[Array, Array]:
    """Forces (k, 3) on the first sides of laws, given ones where no law is solved, and (m,) on the rows of joints."""
    pushes = given.copy()
    pushes[law] = found.pushes
    return pushes, np.zeros(0) if found.held is None else found.held.p
