"""One world seen by another observer: from a place aside, turned, with other units of length, time and mass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import supple as sp
from supple.algebra.dense import rotations
from supple.decompose import decompose
from supple.modal import ElasticSolid

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class View:
    """How another observer writes numbers: places x as length R x + aside, a time t as time t, a mass m as mass m."""

    turn: Array = field(default_factory=lambda: np.zeros(3))
    aside: Array = field(default_factory=lambda: np.zeros(3))
    length: float = 1.0
    time: float = 1.0
    mass: float = 1.0

    @property
    def q(self) -> Array:
        return rotations.exp(self.turn)

    def at(self, *x: float) -> Array:
        """A place, or places (n, 3)."""
        return self.places(np.array(x, dtype=float))

    def places(self, x: Array) -> Array:
        return self.vectors(x, length=1) + self.aside

    def vectors(self, v: Any, *, length: int = 0, time: int = 0, mass: int = 0) -> Array:
        """Vectors of a unit by its powers."""
        R = rotations.to_matrix(self.q)
        return self.number(1.0, length=length, time=time, mass=mass) * np.asarray(v, dtype=float) @ R.T

    def number(self, value: float, *, length: int = 0, time: int = 0, mass: int = 0) -> float:
        return value * self.length**length * self.time**time * self.mass**mass

    def turned(self, theta: Any = (0.0, 0.0, 0.0)) -> Array:
        """A rotation vector as a quaternion."""
        return rotations.multiply(self.q, rotations.exp(np.asarray(theta, dtype=float)))

    def pressure(self, value: float) -> float:
        return self.number(value, mass=1, length=-1, time=-2)

    def density(self, value: float) -> float:
        return self.number(value, mass=1, length=-3)

    def stiffness(self, value: float) -> float:
        return self.number(value, mass=1, time=-2)

    def dashpot(self, value: float) -> float:
        return self.number(value, mass=1, time=-1)

    def rubber(self, young: float = 2e5) -> sp.Material:
        return sp.Material(
            self.pressure(young),
            0.3,
            self.density(500.0),
            mass_damping=self.number(2.0, time=-1),
            stiffness_damping=self.number(0.002, time=1),
        )


PLAIN = View()
TURNED = View(turn=np.array([0.7, -1.1, 0.4]), aside=np.array([0.3, -0.2, 0.5]))
RESCALED = View(length=2.0, time=0.5, mass=4.0)
ASIDE = View(aside=np.array([0.37, -0.61, 0.0]))


def size(s: View, *edges: float) -> tuple[float, ...]:
    return tuple(s.number(edge, length=1) for edge in edges)


def box(s: View, cells: tuple[int, int, int] = (3, 1, 1)) -> sp.TetMesh:
    """From (0, -0.04, -0.03) to (0.12, 0.04, 0.03): off its origin."""
    return sp.box_tets(size(s, 0.12, 0.08, 0.06), cells)


def particles(s: View) -> sp.Particles:
    X = s.length * np.array([(0.0, 0, 0), (0.05, 0.01, 0), (0.1, 0, 0.02), (0.06, 0.05, 0.01)])
    pairs = [(a, b) for b in range(4) for a in range(b)]
    m, r = [s.number(m, mass=1) for m in (0.1, 0.05, 0.08, 0.06)], size(s, 0.015, 0.01, 0.02, 0.012)
    return sp.Particles(X, m, radius=r, springs=pairs, stiffness=s.stiffness(300.0), damping=s.dashpot(0.4))


def tree(s: View) -> sp.TreeBody:
    mesh = box(s, (4, 1, 1))
    labels = (mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > s.number(0.06, length=1)).astype(int)
    cut = decompose(mesh, labels, material=s.rubber(), modes=8)
    return sp.TreeBody(cut, stiffness_damping=s.number(0.003, time=1), mass_damping=s.number(0.5, time=-1))


def voxels(s: View) -> sp.VoxelBody:
    cells = np.ones((3, 2, 2), dtype=int)
    cells[2, :, 1] = 2
    soft = sp.VoxelMaterial(s.pressure(1e5), s.density(500.0), bond_damping=0.3, kinetic_friction=0.3)
    hard = sp.VoxelMaterial(s.pressure(2e5), s.density(800.0), bond_damping=0.1, static_friction=0.6)
    edge = s.number(0.04, length=1)
    return sp.VoxelBody(sp.VoxelGrid(cells, edge, origin=s.length * np.array([0.01, -0.03, -0.02])), {1: soft, 2: hard})


def layered(s: View) -> sp.LayeredBody:
    mesh = sp.box_tets(size(s, 0.12, 0.09, 0.09), (3, 3, 3))
    middle = s.length * np.array([0.06, 0.0, 0.0])
    return sp.LayeredBody.from_mesh(mesh, s.rubber(), core=lambda X: np.abs(X - middle).max(axis=1) < 0.021 * s.length)


def rigid(s: View) -> sp.RigidBody:
    return sp.RigidBody.box(size(s, 0.12, 0.08, 0.06), density=s.density(500.0))


BODIES: dict[str, Callable[[View], Any]] = {
    "rigid": rigid,
    "particles": particles,
    "fem": lambda s: sp.FemBody(box(s), s.rubber()),
    "floating": lambda s: sp.FloatingBody.from_solid(ElasticSolid(box(s), s.rubber()), modes=6),
    "layered": layered,
    "voxel": voxels,
    "tree": tree,
}
