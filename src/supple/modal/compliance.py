"""Compliance that a basis leaves out, and the static responses that give most of it back.

A basis V makes a solid stiffer. Of the energy f . K^-1 f of a static load f it loses

    f . G f,      G = K^-1 - V (V^T K V)^-1 V^T                                        residual compliance

The loads are those that a domain meets: unit forces and torques of its interfaces, and the inertia of rigid motions of
the domain with what hangs on it, point masses m_j at x_j: three unit accelerations and three unit spins,

    M e_i + sum m_j e_i at x_j,      M P_i X + sum m_j P_i x_j at x_j,   P_i = I - e_i e_i^T

A load's loss is w f . G f. Of an acceleration w f . K^-1 f = 1, so that a stretch counts as much as a bend, which needs
much less force; of an interface it is the interface's part of all mass. Spins are weighed by the softest of them, since
a spin about a rod's own axis hardly strains it. The combinations of loads that lose most, K^-1 F c with c the leading
eigenvectors of sqrt(w) F^T G F sqrt(w), take the places of the last vectors of V.

They must not drive out the modal derivatives, without which a solid that bends far is stiff: these are the responses
to the loads h_ij = (H : psi_i) psi_j, whose losses sum h_ij . G h_ij are bounded likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from supple.modal.alignment import align_equal
from supple.modal.support import Support

Array = np.ndarray
LOSSES = (0.05, 0.1, 0.2)
"""The loss that is aimed at, and the larger ones that are put up with where a basis is small. The first is for solids
that carry something: their losses move all that hangs on them."""
SECOND_LOSS, SECOND_RISE = 0.05, 0.03
"""Of modal derivatives: the loss that may be, and by how much static responses may raise a loss that is larger."""
LARGEST_PART = 2
"""A basis of r vectors gives at most r // LARGEST_PART places to static responses."""
INERTIA = 6
"""Loads of a solid's own inertia."""
NO_LOAD = 1e-9
"""Of a load: where less is left of it in equilibrium with inertia, it moves the solid rigidly."""
EQUAL = 1e-6
"""Losses that differ by less than this part are one multiple value."""


class Loss(NamedTuple):
    """The largest loss, weighted [-]; the part of this load's own compliance that is missing [-]; the load's number in
    `StaticLoads`, counted from their end, so that inertia is -6 to -1; and how many vectors, with static responses
    among them, would make the largest loss less than the last of `LOSSES`."""

    weighted: float
    missing: float
    load: int
    needed: int

    @property
    def is_large(self) -> bool:
        """Whether the basis is too small for its loads."""
        return self.weighted > LOSSES[-1]

    def load_name(self, interfaces: Sequence[str]) -> str:
        """The load in words. interfaces: their names in the order of the loads."""
        which, axis = divmod(self.load + INERTIA + 6 * len(interfaces), 3)
        number, is_second = divmod(which, 2)
        if self.load >= -INERTIA:
            return f"a spin about {'xyz'[axis]}" if is_second else f"weight along {'xyz'[axis]}"
        kind = f"torque about {'xyz'[axis]}" if is_second else f"force along {'xyz'[axis]}"
        return f"a {kind} on interface '{interfaces[number]}'"


class Loaded(NamedTuple):
    """Loads (3 node_count, k) [N] and the static responses to them [m]."""

    forces: Array
    responses: Array


@dataclass(frozen=True, eq=False)
class StaticLoads:
    """Loads with their compliances F^T K^-1 F (k, k) [N m] and weights w (k,), and those of modal derivatives.

    Six of each interface, three forces and three torques; then three accelerations and three spins.
    """

    loaded: Loaded
    compliance: Array
    weights: Array
    second: Loaded

    @classmethod
    def of(cls, support: Support, loaded: Loaded, masses: Array, second: Loaded) -> StaticLoads:
        """Of all loads; masses (interfaces,): what hangs there [kg]; second: loads of modal derivatives, weighted."""
        forces, compliance = loaded.forces, loaded.forces.T @ loaded.responses
        own, inertia = np.diag(compliance), len(forces.T) - INERTIA
        weights = np.zeros(len(own))
        parts = np.repeat(masses / (support.solid.total_mass + masses.sum()), 6)
        weights[:inertia] = parts / own[:inertia]
        steady = slice(inertia, inertia + 3)
        left = np.linalg.norm(support.in_equilibrium(forces[:, steady]), axis=0)
        acts = left > NO_LOAD * np.linalg.norm(forces[:, steady], axis=0)
        np.divide(1.0, own[steady], out=weights[steady], where=acts)
        weights[inertia + 3 :] = 1 / own[inertia + 3 :].max()
        return cls(loaded, compliance, weights, second)


def inertia_loads(support: Support, units: Array, masses: Array, places: Array) -> Array:
    """Loads (3 node_count, 6) of three unit accelerations [1 m/s²] and three unit spins [1 rad/s].

    units (3 node_count, 6 a): unit loads of the interfaces; masses (a,) [kg] at places (a, 3) [m].
    """
    solid, across = support.solid, [np.eye(3) - np.outer(axis, axis) for axis in np.eye(3)]
    fields = np.zeros((solid.node_count, 3, 6))
    for i in range(3):
        fields[:, i, i] = 1.0
        fields[:, :, 3 + i] = solid.mesh.nodes @ across[i]
    out = solid.mass_product(fields.reshape(-1, 6))
    for j, (mass, place) in enumerate(zip(masses, places)):
        forces = units[:, 6 * j : 6 * j + 3]
        out[:, :3] += mass * forces
        out[:, 3:] += mass * forces @ np.stack([P @ place for P in across], axis=1)
    return out


class Directions(NamedTuple):
    """Combinations of loads (k, k) by their losses, descending (k,). Beside 0, 1, ... k responses to them: losses
    (k + 1, k) of all loads, and of the modal derivatives together (k + 1,)."""

    values: Array
    combinations: Array
    losses: Array
    second: Array


class Residual:
    """What the first vectors of a basis V lose."""

    def __init__(self, support: Support, V: Array, loads: StaticLoads) -> None:
        self.loads, self.stiffness = loads, V.T @ (support.solid.stiffness @ V)
        self.reduced, self.second = V.T @ loads.loaded.forces, V.T @ loads.second.forces
        self.second_compliance = float(np.einsum("ij,ij->", *loads.second))
        self.mixed = loads.second.forces.T @ loads.loaded.responses
        self.beside = cache(self._beside)

    def _beside(self, vectors: int) -> Directions:
        """What is lost beside the first `vectors`."""
        loads, root = self.loads, np.sqrt(self.loads.weights)
        b, h = self.reduced[:vectors], self.second[:vectors]
        solved = np.linalg.solve(self.stiffness[:vectors, :vectors], np.concatenate([b, h], axis=1))
        to_b, to_h = solved[:, : b.shape[1]], solved[:, b.shape[1] :]
        values, c = np.linalg.eigh(root[:, None] * (loads.compliance - b.T @ to_b) * root)  # (13.19)
        values, c = values[::-1], c[:, ::-1]
        losses = np.flip(np.cumsum(np.flip(c**2 * values, axis=1), axis=1), axis=1).T
        mixed = ((self.mixed - h.T @ to_b) * root) @ c
        counts = values > EQUAL * max(values[0], 0.0)
        gains = np.divide((mixed**2).sum(axis=0), values, out=np.zeros_like(values), where=counts)
        start = self.second_compliance - float(np.einsum("ij,ij->", h, to_h))
        second = start - np.concatenate([[0.0], np.cumsum(gains)])
        whole = max(self.second_compliance, np.finfo(float).tiny)
        return Directions(values, c, np.vstack([losses, np.zeros(len(values))]), second / whole)

    def allowed(self, count: int) -> float:
        """The loss of modal derivatives in a basis of `count` that is put up with."""
        return max(SECOND_LOSS, float(self.beside(count).second[0]) + SECOND_RISE)

    def split(self, count: int) -> int:
        """How many of `count` places static responses take."""
        most = min(count // LARGEST_PART, len(self.loads.weights))
        worst = {
            k: float(self.beside(count - k).losses[k].max())
            for k in range(most + 1)
            if self.beside(count - k).second[k] <= self.allowed(count)
        }
        carries = len(self.loads.weights) > INERTIA
        for limit in LOSSES if carries else LOSSES[1:]:
            for k, loss in worst.items():
                if loss <= limit:
                    return k
        return min(worst, key=lambda k: worst[k])


def needed_vectors(support: Support, V: Array, loads: StaticLoads, count: int) -> int:
    """The count, more than `count`, from which on no load loses more than the last of `LOSSES`, as far as V tells."""
    residual = Residual(support, V, loads)
    for enough in range(V.shape[1], count, -1):
        statics = residual.split(enough)
        if residual.beside(enough - statics).losses[statics].max() > LOSSES[-1]:
            return enough + 1
    return count + 1


def missing_parts(support: Support, V: Array, loads: StaticLoads) -> Array:
    """The part of each load's own compliance that the basis leaves out [-], (k,)."""
    b = V.T @ loads.loaded.forces
    kept = np.einsum("ij,ij->j", b, np.linalg.solve(V.T @ (support.solid.stiffness @ V), b))
    own = np.diag(loads.compliance)
    return np.divide(own - kept, own, out=np.zeros_like(own), where=own > 0)


def missed_responses(support: Support, V: Array, loads: StaticLoads, *, most: int | None = None) -> tuple[Array, Loss]:
    """Responses (3 node_count, k) that should have the places of the last k columns of V, and the loss then. most: the
    largest k, by default as many as help; 0: what V loses as it is."""
    count, residual = V.shape[1], Residual(support, V, loads)
    statics = residual.split(count) if most is None else min(most, residual.split(count))
    beside = residual.beside(count - statics)
    worst = int(np.argmax(beside.losses[statics]))
    weighted = float(beside.losses[statics, worst])
    missing = weighted / (loads.weights[worst] * loads.compliance[worst, worst])
    more = min(statics + 1, len(loads.weights))  # the last may have an equal
    responses = loads.loaded.responses @ (np.sqrt(loads.weights)[:, None] * beside.combinations[:, :more])
    aligned = align_equal(beside.values[:more], responses, support.solid.lumped_mass, tolerance=EQUAL)
    return aligned[:, :statics], Loss(weighted, missing, worst - len(loads.weights), count)
