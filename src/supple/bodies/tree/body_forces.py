"""What a scene sees of a tree: its mass, its elastic force, its weight.

Energies, momenta and forces are those of all bodies; the solver of trees has the forces in its own step. The mass has
no constant matrix, which the general solvers would need.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.modal.inertia_kernels import domain_inertia

if TYPE_CHECKING:
    from supple.bodies.tree.body import TreeBody

Array = np.ndarray


def _refuse() -> NoReturn:
    raise InputError(
        "a tree of domains is stepped by its own scheme",
        where="TreeBody",
        fix="Use Partitioned, or TreeSolver in a scene of trees alone.",
    )


@dataclass(frozen=True, eq=False)
class TreeMass:
    """Inertia of a tree, which changes with its coordinates: energies and momenta, but no constant matrix."""

    body: TreeBody

    def kinetic_energy(self, state: LocalState) -> float:
        """[J]."""
        return self.body.measures(state.x, state.v).kinetic

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the origin, (6,)."""
        return self.body.measures(state.x, state.v).momentum

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass and sum of m x."""
        return self.body.total_mass, self.body.measures(x).first_moment

    @property
    def is_weightless(self) -> bool:
        """Whether gravity does no work on it, since its weight is in its shape."""
        return self.body.grown

    def gravity_field(self, g: Array) -> Array:
        """g as an acceleration of the coordinates."""
        out = np.zeros((1, self.body.coordinates.v_width))
        out[0, :3] = g
        return out

    def weight(self, g: Array) -> TreeWeight:
        """The force of a uniform gravity g (3,) [m/s²]."""
        return TreeWeight(self.body, g)

    def matrix(self, x: Array) -> Array:
        """M (v_width, v_width) at coordinates x (1, width): the inverse of what accelerations unit forces give."""
        body, tree = self.body, self.body.dynamics
        n, width = body.model.coordinate_count, body.coordinates.v_width
        state = body.unpack(x, np.zeros((1, width)))
        first = 0 if body.model.is_free else 6
        R, still = rotations.to_matrix(x[0, 3:7]), np.concatenate(tree.accelerations(state)[::-1])
        inverse = np.empty((6 + n - first, 6 + n - first))
        for k in range(first, 6 + n):
            f = np.zeros(6 + n)
            f[k] = 1.0
            push = np.concatenate([f[:3], R @ f[3:6]])
            a = np.concatenate(tree.accelerations(state, forces=f[6:], push=push)[::-1])
            inverse[:, k - first] = (a - still)[first:]
        out = np.zeros((width, width))
        out[first : 6 + n, first : 6 + n] = np.linalg.inv((inverse + inverse.T) / 2)
        return out

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """Not for the general solvers."""
        _refuse()

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Not for the general solvers."""
        _refuse()

    def solve(self, f: Array) -> Array:
        """Not for the general solvers."""
        _refuse()

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """Not for the general solvers."""
        _refuse()

    def block_pattern(self) -> tuple[Array, Array]:
        """No blocks."""
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)

    def compute_impulse(self, x0: Array, v0: Array, x1: Array, v1: Array) -> Array:
        """Not for the general solvers."""
        _refuse()


@dataclass(frozen=True, eq=False)
class TreeElastic:
    """The elastic energy and force of a tree."""

    body: TreeBody
    is_passive = True

    def energy(self, state: LocalState) -> float:
        """[J]."""
        return self.body.measures(state.x).elastic

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """-f(q) on the coordinates; none on the root's frame."""
        model = self.body.model
        for number, kind in enumerate(model.classes):
            if kind.force is not None:
                members, where = model.members(number), model.coordinates_of(number)
                factor = model.tuning[members] ** 2 * model.scale[members] ** 3
                f_out[0, 6 + where] -= factor[:, None] * kind.force.evaluate(state.x[0, 7 + where])[0]

    def linearize(self, state: LocalState, *, definite: bool = False) -> Any:
        """Not for the general solvers."""
        _refuse()


@dataclass(frozen=True, eq=False)
class TreeWeight:
    """Gravity g (3,) [m/s²] on the deformed tree, by virtual work. Its energy is counted with the mass."""

    body: TreeBody
    g: Array
    is_passive = True

    def energy(self, state: LocalState) -> float:
        """None: counted with the mass."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """Of each domain m G at its centre and Ub^T G on its coordinates, G = R^T g, brought to all coordinates."""
        body, model, n = self.body, self.body.model, self.body.model.coordinate_count
        if body.grown:
            return
        x, v = state.x[0], np.zeros(6)
        motion = body.skin.kinematics.motion(x[7 : 7 + n], np.zeros(n), x[:7], v)
        forces, wrenches = np.zeros(n), np.zeros((model.domain_count, 6))
        for number, kind in enumerate(model.classes):
            members, where = model.members(number), model.coordinates_of(number)
            s, rho = model.scale[members], model.density[members]
            G = np.einsum("nji,j->ni", motion.R[members], self.g)
            S = domain_inertia(kind.integrals, motion.q[where], motion.v[where], np.zeros((len(members), 3))).S
            wrenches[members, :3] = np.cross((s**4 * rho)[:, None] * S, G)
            wrenches[members, 3:] = (kind.integrals.mass * s**3 * rho)[:, None] * G
            forces[where] = (s**4 * rho)[:, None] * (G @ kind.integrals.U_bar)
        Q, root = motion.pull(forces, wrenches)
        f_out[0, :3] += motion.R[0] @ root[3:]
        f_out[0, 3:6] += root[:3]
        f_out[0, 6 : 6 + n] += Q

    def linearize(self, state: LocalState, *, definite: bool = False) -> Any:
        """Not for the general solvers."""
        _refuse()
