"""Inertia of a layered body, exact for nodal coordinates with lumped masses [GOMGL07, eqs. 9, 13, corrected].

    x_a = c + R u_a,  u_a = X_a + q_a,  v = (c', w, q'),   rigid part m_c, S_c, J_c;   sums over free nodes a

        [ m I      -R [S]    m_a R    ]        m = m_c + sum m_a,   S = S_c + sum m_a u_a
    M = [ [S] R^T    J      m_a [u_a] ]        J = J_c + sum m_a (|u_a|² I - u_a u_a^T)
        [ m_a R^T -m_a [u_a]  m_a I   ]

    Q_v = -(R sum m_a b_a + R w x (w x S_c),  w x J_c w + sum m_a u_a x b_a,  m_a b_a)
    b_a = w x (w x u_a) + 2 w x q'_a

The nodes can be eliminated by hand: M^-1 costs one 6x6 solution, with the matrix of the core alone. Momentum is
balanced as in `mass`; its last row is m_a R_a^T (x'_1 - x'_0).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.dense.definite import negative_part
from supple.bodies.frame_moments import add_mean_turning, moment_at
from supple.bodies.layered import mass_kernels as kernels
from supple.bodies.layered.model import LayeredModel
from supple.bodies.protocols import LocalState, Pairs

Array = np.ndarray
cross, skew = rotations.cross, rotations.skew


@dataclass(frozen=True, eq=False)
class LayeredMassMatrix:
    """M at one state: rotation R (3, 3) and deformed positions u (n, 3) [m]."""

    model: LayeredModel
    R: Array
    u: Array

    @cached_property
    def S(self) -> Array:
        """First moment in body axes, (3,) [kg m]."""
        return np.asarray(self.model.rigid.S + self.model.node_mass @ self.u)

    @cached_property
    def J(self) -> Array:
        """Inertia about the frame's origin in body axes, (3, 3) [kg m²]."""
        P = self.model.rigid.P + (self.model.node_mass[:, None] * self.u).T @ self.u  # (11.14)
        return np.trace(P) * np.eye(3) - P

    def parts(self, v: Array) -> tuple[Array, Array, Array]:
        """Linear and angular momentum about the origin in body axes, and of the nodes (n, 3), at v (6 + 3 n)."""
        g, w, rigid, nodes = v[:3] @ self.R, v[3:6], self.model.rigid, np.empty_like(self.u)
        linear, angular = kernels.compute_momenta(self.model.node_mass, self.u, g, w, v[6:], nodes)
        linear = linear + rigid.mass * g + cross(w, rigid.S)
        return linear, angular + cross(rigid.S, g) + rigid.inertia @ w, nodes

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor M dv, (1, 6 + 3 n)."""
        linear, angular, nodes = self.parts(dv[0])
        f_out[0, :3] += factor * (self.R @ linear)
        f_out[0, 3:6] += factor * angular
        f_out[0, 6:] += factor * nodes.ravel()

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor M, in the order of `layered_pattern`."""
        first = [self.model.total_mass * np.eye(3), -self.R @ skew(self.S), skew(self.S) @ self.R.T, self.J]
        data_out[positions[:4]] += factor * np.array(first)
        kernels.add_node_blocks(self.model.node_mass, self.u, self.R, factor, positions[4:], data_out)  # (11.14)

    def solve(self, f: Array) -> Array:
        """M^-1 f, (1, 6 + 3 n)."""
        nodes = f[0, 6:].reshape(-1, 3)
        linear = f[0, :3] @ self.R - nodes.sum(axis=0)
        g, w = solve_core(self.model, linear, f[0, 3:6] - cross(self.u, nodes).sum(axis=0))
        out = np.empty_like(f)
        out[0, :3], out[0, 3:6] = self.R @ g, w
        out[0, 6:] = (nodes / self.model.node_mass[:, None] - g - cross(w, self.u)).ravel()
        return out


def solve_core(model: LayeredModel, linear: Array, angular: Array) -> tuple[Array, Array]:
    """Velocity of the origin and spin, in body axes, of the rigid part with these momenta in body axes."""
    rigid = model.rigid
    A = np.block([[rigid.mass * np.eye(3), -skew(rigid.S)], [skew(rigid.S), rigid.inertia]])
    found = np.linalg.solve(A, np.concatenate([linear, angular]))
    return found[:3], found[3:]


def layered_pattern(n: int) -> Pairs:
    """The frame's four blocks; (c, a), (w, a), (a, c), (a, w) and (a, a) for all nodes a."""
    frame, nodes = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])), 2 + np.arange(n)
    zero, one = np.zeros(n, dtype=nodes.dtype), np.ones(n, dtype=nodes.dtype)
    return np.concatenate([frame[0], zero, one, nodes, nodes, nodes]), np.concatenate(
        [frame[1], nodes, nodes, zero, one, nodes]
    )


@dataclass(frozen=True, eq=False)
class LayeredMass:
    """The mass of a layered body, which changes with its positions."""

    model: LayeredModel
    is_lumped = False

    def at(self, x: Array) -> LayeredMassMatrix:
        """M at positions x (1, 7 + 3 n)."""
        u = self.model.X_free + x[0, 7:].reshape(-1, 3)
        return LayeredMassMatrix(self.model, rotations.to_matrix(x[0, 3:7]), u)

    def block_pattern(self) -> Pairs:
        """See `layered_pattern`."""
        return layered_pattern(self.model.free_count)

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """f += Q_v."""
        M, v = self.at(state.x), state.v[0]
        w, rigid = v[3:6], self.model.rigid
        nodes = np.empty_like(M.u)
        linear, angular = kernels.compute_turning(self.model.node_mass, M.u, w, v[6:], nodes)
        f_out[0, :3] -= M.R @ (linear + cross(w, cross(w, rigid.S)))
        f_out[0, 3:6] -= cross(w, rigid.inertia @ w) + angular
        f_out[0, 6:] -= nodes.ravel()

    def add_mean_bias(self, state: LocalState, h: float, f_out: Array) -> None:
        """f += the mean of Q_v over a step of h [s] of free turning."""
        M = self.at(state.x)
        add_mean_turning(self, state, h, self.model.total_mass, M.S, M.J, M, f_out)

    def _world(self, x: Array, v: Array) -> tuple[Array, Array, Array]:
        """Linear and angular momentum about the world's origin, and of the nodes (n, 3), in world axes."""
        M = self.at(x)
        linear, angular, nodes = M.parts(v[0])
        p = M.R @ linear
        return p, cross(x[0, :3], p) + M.R @ angular, nodes @ M.R.T

    def impulse_at(self, x0: Array, v0: Array, x1: Array, v1: Array, x: Array) -> Array:
        """Change of momentum (1, 6 + 3 n) from one state to another, seen from positions x."""
        R = rotations.to_matrix(x[0, 3:7])
        p, h, nodes = (b - a for a, b in zip(self._world(x0, v0), self._world(x1, v1)))
        out = np.empty_like(v1)
        moment = moment_at(x0[0, :3], x1[0, :3], x[0, :3], np.concatenate([p, h]))
        out[0, :3], out[0, 3:6] = p, R.T @ moment
        out[0, 6:] = (nodes @ R).ravel()
        return out

    def weight(self, g: Array) -> LayeredWeight:
        """The force of a uniform gravity g (3,) [m/s²]."""
        return LayeredWeight(self, g)

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the world's origin, (6,) [kg m/s, kg m²/s]."""
        return np.concatenate(self._world(state.x, state.v)[:2])

    def linear_loss(self, before: LocalState, after: LocalState) -> Array:
        """Linear momentum (3,) [kg m/s] by which that after a linearised step falls short of that before and what acts,
        P_0 + (M(x_0) dv - h bias)_linear: see `solvers.linear.frame_momentum`."""
        R = np.stack([rotations.to_matrix(state.x[0, 3:7]) for state in (before, after)])
        start, end = ((state.x[0, 7:], state.v[0, 6:]) for state in (before, after))
        spins, loss = np.stack([before.v[0, 3:6], after.v[0, 3:6]]), np.empty(3)
        model, h = self.model, after.t - before.t
        kernels.compute_linear_loss(model.node_mass, model.X_free, model.rigid.S, start, end, spins, R, h, loss)
        return loss

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m], of the deformed body."""
        M, mass = self.at(x), self.model.total_mass
        return mass, mass * x[0, :3] + M.R @ M.S


@dataclass(frozen=True, eq=False)
class LayeredWeight:
    """Gravity on the deformed body, (m g, S x G, m_a G) with G = R^T g. Its energy is counted with the mass."""

    mass: LayeredMass
    g: Array
    is_load = True
    is_passive = True

    def energy(self, state: LocalState) -> float:
        """Nothing: see `System.potential_energy`."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += the weight."""
        model, M = self.mass.model, self.mass.at(state.x)
        G = self.g @ M.R
        f_out[0, :3] += model.total_mass * self.g
        f_out[0, 3:6] += cross(M.S, G)
        f_out[0, 6:] += (model.node_mass[:, None] * G).ravel()

    def linearize(self, state: LocalState, *, definite: bool = False) -> TurningTangent:
        """How the weight turns with the body; definite: of the frame alone, and what is left of it."""
        M = self.mass.at(state.x)
        G = skew(self.g @ M.R)
        K = skew(M.S) @ G
        if definite:
            return TurningTangent(negative_part(K), None)
        return TurningTangent(K, self.mass.model.node_mass[:, None, None] * G)

    def block_pattern(self) -> Pairs:
        """The turn with itself, with each node, and each node with the turn."""
        nodes = 2 + np.arange(self.mass.model.free_count)
        one = np.ones_like(nodes)
        return np.concatenate([[1], one, nodes]), np.concatenate([[1], nodes, one])


@dataclass(frozen=True, eq=False)
class TurningTangent:
    """df_w/dturn = K (3, 3), df_a/dturn = C_a (n, 3, 3), df_w/dq_a = C_a^T, None: none."""

    K: Array
    C: Array | None

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv."""
        turn, dq = dv[0, 3:6], dv[0, 6:].reshape(-1, 3)
        df_out[0, 3:6] += stiffness * (self.K @ turn)
        if self.C is not None:
            df_out[0, 3:6] += stiffness * np.einsum("aij,ai->j", self.C, dq)
            df_out[0, 6:] += stiffness * (self.C @ turn).ravel()

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble."""
        data_out[positions[0]] += stiffness * self.K
        if self.C is not None:
            data_out[positions[1:]] += stiffness * np.concatenate([np.swapaxes(self.C, 1, 2), self.C])
