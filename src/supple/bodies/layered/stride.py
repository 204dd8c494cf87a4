"""Implicit midpoint steps of a layered body that is alone: second order, and momentum is kept to round-off.

    u = (c', w, q') over the step,   x_m = x0 moved by h/2 u,   x1 = x0 moved by h u
    P(x_m, u) - P(x0, v0) = h/2 f(x_m, u)                            by Newton's method, seen from the middle
    x'_1a = 2 x'_ma - x'_0a of the free nodes;  the core has the rest of p0 + h f and of the angular momentum

The rule is that of `solvers.methods.midpoint` with the momentum of `mass`. Newton's matrix has the layer's part
at rest, factored once for a step size, the frame's part with the turning of its momentum, and the coupling at the
deformed positions; see `solve`. It leaves out how the spin w turns the nodes' velocities, which shrinks the
residual by about h |w| / 2 an iteration. The residual is measured against that of u = v0, which is the right side of
the linear system for the change of velocity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.dense import rotations
from supple.bodies.layered.kernels import SUM_COUNT, compute_balance, compute_world_velocities
from supple.bodies.layered.mass import solve_core
from supple.bodies.layered.solve import coupling_rows
from supple.bodies.stride import Stride, StrideReport, check_stride, stride_of
from supple.errors import ConvergenceError, DivergenceError, InputError

if TYPE_CHECKING:
    from supple.bodies.layered.body import LayeredBody

Array = np.ndarray
NOISE = 1e-14
"""Of the momentum: a residual below it is round-off."""
cross, skew = rotations.cross, rotations.skew


class _Step:
    """One body, one step size, and the memory of its steps."""

    def __init__(self, body: LayeredBody, dt: float, gravity: Array, stride: Stride) -> None:
        self.body, self.model, self.h, self.g, self.stride = body, body.model, dt, gravity, stride
        half, n = 0.5 * dt, body.free_count
        self.solver = body.solver(1.0 + half * body.alpha, half * half + half * body.beta)
        self.nodes, self.forces = stride.loads(len(self.model.X))
        self.before, self.middle = np.empty((n, 3)), np.empty((n, 3))
        self.residual, self.sums = np.empty((n, 3)), np.empty(SUM_COUNT)

    def begin(self, x: Array, v: Array) -> None:
        """Note the momentum of the start."""
        body, model = self.body, self.model
        self.x0, self.v0 = x.copy(), v.copy()
        self.R0 = rotations.to_matrix(x[3:7])
        u = model.X_free + x[7:].reshape(-1, 3)
        compute_world_velocities(self.R0, v[:3], v[3:6], u, v[6:].reshape(-1, 3), self.before)
        M = body.inertia.at(x[None])
        linear, angular, _ = M.parts(v)
        self.p0, self.L0 = self.R0 @ linear, self.R0 @ angular

    def moved(self, u: Array, time: float) -> Array:
        """x0 moved by time times u, (7 + 3 n,)."""
        return np.asarray(self.body.coordinates.retract(self.x0[None], time * u[None])[0])

    def evaluate(self, v: Array) -> tuple[Array, Array]:
        """Residual (6,) of the frame in body axes and (3 n,) of the nodes, at velocities v over the step."""
        model, half = self.model, 0.5 * self.h
        x = self.moved(v, half)
        R = self.R = rotations.to_matrix(x[3:7])
        self.u = model.X_free + x[7:].reshape(-1, 3)
        self.velocity = g = v[:3] @ R
        w, G, rate = v[3:6], self.g @ R, v[6:].reshape(-1, 3)
        elastic = np.empty(3 * len(self.u))
        model.stiffness.product(x[7:] + self.body.beta * v[6:], elastic)
        if self.body.alpha:
            elastic += self.body.alpha * np.repeat(model.node_mass, 3) * v[6:]
        compute_balance(
            model.node_mass,
            R,
            g,
            w,
            self.u,
            rate,
            self.before,
            elastic.reshape(-1, 3),
            half,
            G,
            self.residual,
            self.sums,
        )
        s, rigid = self.sums, model.rigid
        self.S = rigid.S + s[6:9]
        P = rigid.P + np.array([[s[9], s[14], s[13]], [s[14], s[10], s[12]], [s[13], s[12], s[11]]])
        self.J = np.trace(P) * np.eye(3) - P
        force, torque = model.total_mass * G, cross(self.S, G)
        if len(self.nodes):
            F = self.forces @ R
            rank = model.rank[self.nodes]
            np.add.at(self.residual, rank[rank >= 0], -half * F[rank >= 0])
            at = model.X[self.nodes] + np.where(rank[:, None] >= 0, (self.u - model.X_free)[rank], 0.0)
            force, torque = force + F.sum(axis=0), torque + cross(at, F).sum(axis=0)
        self.force, self.torque = R @ force, R @ torque
        self.p_before = self.p0 @ R
        self.L_before = self.L0 @ R
        self.p_middle = p = rigid.mass * g + cross(w, rigid.S) + s[:3]
        frame = np.empty(6)
        frame[:3] = p - self.p_before - half * force
        frame[3:] = cross(rigid.S, g) + rigid.inertia @ w + s[3:6] + half * (cross(g, p) - torque) - self.L_before
        return frame, self.residual.ravel()

    def correction(self, v: Array, frame: Array, nodes: Array) -> Array:
        """The change of v that Newton's method asks for, from the last evaluation."""
        half, model, g = 0.5 * self.h, self.model, self.velocity
        S = skew(self.S)
        A = np.empty((6, 6))
        A[:3, :3] = model.total_mass * np.eye(3)
        A[:3, 3:] = -S + half * skew(model.total_mass * g - self.p_before)
        A[3:, :3] = S + half * skew(model.total_mass * g - self.p_middle)
        A[3:, 3:] = self.J + half * (S @ skew(g) - skew(g) @ S - skew(self.L_before))
        moving = self.u - half * (cross(v[3:6], self.u) + v[6:].reshape(-1, 3))
        C = coupling_rows(model.node_mass, moving).reshape(6, -1, 3) @ (np.eye(3) + half * skew(v[3:6]))
        d_c, d_e = self.solver.solve(A, C.reshape(6, -1), self.u, frame, nodes)
        return np.concatenate([-self.R @ d_c[:3], -d_c[3:], -d_e])

    def find(self) -> tuple[Array, int, float]:
        """Velocities over the step; iterations and the relative residual.

        From v0: starts extrapolated from steps before carry fast vibrations with them and cost an iteration more.
        """
        v = self.v0
        frame, nodes = self.evaluate(v)
        scale = np.sqrt(frame @ frame + nodes @ nodes)
        floor = NOISE * (np.linalg.norm(self.p_before) + np.linalg.norm(self.L_before) + np.linalg.norm(self.sums[:6]))
        relative = 0.0
        for iteration in range(self.stride.max_iterations + 1):
            size = np.sqrt(frame @ frame + nodes @ nodes)
            relative = float(size / scale) if scale > 0 else 0.0
            if size <= max(self.stride.tolerance * scale, floor):
                return v, iteration, relative if size > floor else min(relative, self.stride.tolerance)
            if not np.isfinite(size) or iteration == self.stride.max_iterations:
                break
            v = v + self.correction(v, frame, nodes)
            frame, nodes = self.evaluate(v)
        raise ConvergenceError(
            "a step did not reach its tolerance",
            where="LayeredBody.advance",
            value=relative,
            allowed=f"<= {self.stride.tolerance:g} in {self.stride.max_iterations} iterations",
            fix="Take smaller steps.",
        )

    def end(self, v: Array) -> tuple[Array, Array]:
        """Coordinates and velocities at the end, from those over the step, which were evaluated last."""
        model, h = self.model, self.h
        rate = v[6:].reshape(-1, 3)
        compute_world_velocities(self.R, v[:3], v[3:6], self.u, rate, self.middle)
        x1 = self.moved(v, h)
        R = rotations.to_matrix(x1[3:7])
        u = model.X_free + x1[7:].reshape(-1, 3)
        own = (2 * self.middle - self.before) @ R
        p1 = self.p0 + h * self.force
        # about the origin of the frame, which moves by h/2 c' twice: from the start to the middle, and on to the end
        L1 = self.L0 - 0.5 * h * cross(v[:3], self.p0 + p1) + h * self.torque
        nodes = model.node_mass[:, None] * own
        g, w = solve_core(model, p1 @ R - nodes.sum(axis=0), L1 @ R - cross(u, nodes).sum(axis=0))
        v1 = np.empty_like(v)
        v1[:3], v1[3:6] = R @ g, w
        v1[6:] = (own - g - cross(w, u)).ravel()
        return x1, v1


def advance(
    body: LayeredBody, x: Array, v: Array, dt: float, *, steps: int, gravity: ArrayLike, stride: Stride | None
) -> StrideReport:
    """See `LayeredBody.advance`."""
    where = "LayeredBody.advance"
    stride = stride_of(stride, Stride(tolerance=1e-8), where)
    g = check_stride(body.coordinates, x, v, dt, steps, gravity, where)
    if not body.force.is_linear or stride.method != "midpoint":
        raise InputError(
            "the stride knows the linear law and the midpoint rule only", where=where, fix="Use a solver in a scene."
        )
    with one_blas_thread():
        return _advance(_Step(body, float(dt), g, stride), x, v, int(steps))


def _advance(step: _Step, x: Array, v: Array, steps: int) -> StrideReport:
    """`steps` steps of x and v in place."""
    now_x, now_v = x[0].copy(), v[0].copy()
    largest, worst = 0, 0.0
    for number in range(steps):
        step.begin(now_x, now_v)
        found, iterations, relative = step.find()
        largest, worst = max(largest, iterations), max(worst, relative)
        now_x, now_v = step.end(found)
        if not (np.isfinite(now_x).all() and np.isfinite(now_v).all()):
            raise DivergenceError(
                "the motion is not finite any more",
                where=f"LayeredBody.advance, step {number}",
                fix="Take smaller steps.",
            )
    x[0], v[0] = now_x, now_v
    return StrideReport(largest, worst)
