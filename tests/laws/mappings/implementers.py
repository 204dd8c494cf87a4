"""All mappings, at random positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.coordinates import Frames, Points
from supple.bodies.mappings import FramePoints, WeightedPoints

RNG = np.random.default_rng(17)


DIFFERENCED = 1e-8
"""Richardson's differences of functions of size one at steps of 1e-3 leave about ten digits."""


def random_frames(n: int) -> np.ndarray:
    return np.hstack([RNG.normal(size=(n, 3)), rotations.normalise(RNG.normal(size=(n, 4)))])


@dataclass(frozen=True)
class Polar:
    """(x, y, z) -> (r, angle, z) about the world's z axis: a mapping as a user would write it, without blocks."""

    count: int

    def apply(self, x):
        return np.stack([np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0]), x[:, 2]], axis=1)

    def linearize(self, x):
        return PolarTangent(x.copy())


@dataclass(frozen=True)
class PolarTangent:
    """J = [[x/r, y/r, 0], [-y/r², x/r², 0], [0, 0, 1]] at positions x."""

    x: np.ndarray

    def jacobian(self):
        (a, b, _), r = self.x.T, np.hypot(self.x[:, 0], self.x[:, 1])
        J = np.zeros((len(self.x), 3, 3))
        J[:, 0, 0], J[:, 0, 1] = a / r, b / r
        J[:, 1, 0], J[:, 1, 1] = -b / r**2, a / r**2
        J[:, 2, 2] = 1
        return J

    def second(self):
        """H[n, c, i, j] = d²m_c / dx_i dx_j."""
        (a, b, _), r = self.x.T, np.hypot(self.x[:, 0], self.x[:, 1])
        H = np.zeros((len(self.x), 3, 3, 3))
        H[:, 0, 0, 0], H[:, 0, 1, 1], H[:, 0, 0, 1] = b * b / r**3, a * a / r**3, -a * b / r**3
        H[:, 1, 0, 0], H[:, 1, 1, 1], H[:, 1, 0, 1] = 2 * a * b / r**4, -2 * a * b / r**4, (b * b - a * a) / r**4
        H[:, :, 1, 0] = H[:, :, 0, 1]
        return H

    def product(self, v):
        return np.einsum("nij,nj->ni", self.jacobian(), v)

    def add_transpose(self, f, f_out):
        f_out += np.einsum("nij,ni->nj", self.jacobian(), f)

    def bias(self, v):
        return np.einsum("ncij,ni,nj->nc", self.second(), v, v)

    def add_geometric(self, f, dv, df_out, factor):
        df_out += factor * np.einsum("ncij,nc,nj->ni", self.second(), f, dv)


MAPPINGS: dict[str, tuple[Any, Any, np.ndarray]] = {
    "subset": (WeightedPoints.subset([4, 0, 4], 6), Points(6), RNG.normal(size=(6, 3))),
    "identity": (WeightedPoints.identity(3), Points(3), RNG.normal(size=(3, 3))),
    "barycentric": (
        WeightedPoints.barycentric(np.array([[0, 1, 2, 3], [2, 3, 4, 5]]), RNG.dirichlet(np.ones(4), 2), 6),
        Points(6),
        RNG.normal(size=(6, 3)),
    ),
    "frame points": (FramePoints.make(RNG.normal(size=(4, 3)), [0, 2, 1, 2]), Frames(3), random_frames(3)),
    "polar": (Polar(5), Points(5), RNG.normal(size=(5, 3)) + np.array([3.0, 1.0, 0.0])),
}


def moved(system: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return system.retract(system.x0, 0.2 * rng.normal(size=system.v_size)), rng.normal(size=system.v_size)


START, PUSH = np.array([[0.9, 0.3, 0.0], [-0.2, 1.2, 0.0]]), np.array([[0.3, 1.0, 0.0], [1.1, -0.2, 0.0]])
