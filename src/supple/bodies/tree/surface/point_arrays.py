"""Arrays of points of a tree that are held by springs: what `point_kernels` reads and the scratch it needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
CHAIN = 21
"""Numbers of a slot's motion in the world: origin 3, rotation 9, its velocity 3 and acceleration 6 in own axes."""
LAW = 27
"""Numbers of a point's spring: force f0 3, place x0 3, velocity v0 3, stiffness K 9, damping B 9."""


class HeldPoints(NamedTuple):
    """Points in the order of their groups. start (groups + 1,): the points of each; place (p,): lane of its domain.

    X (p, 3) [m], U (flat, from first[k]: 3 rows of r); law (p, LAW). J, KJ: scratch, as U with 6 more columns, from
    first_J[k]. force (6 a point): what `add_point` gave the last pass, and the place. mass: scratch for the matrices of
    groups without interfaces, from mass_start[g]. slot (CHAIN a slot). factors (2,): k², k of the step.
    """

    start: Array
    place: Array
    X: Array
    U: Array
    first: Array
    law: Array
    J: Array
    KJ: Array
    force: Array
    first_J: Array
    mass: Array
    mass_start: Array
    slot: Array
    factors: Array

    def named(self) -> dict[str, Array]:
        """As fields of the kernels' workspace: flat, since threads take no tuples of tuples."""
        return {f"held_{name}": array for name, array in zip(self._fields, self)}

    @classmethod
    def none(cls, groups: int, slots: int) -> HeldPoints:
        """No points."""
        whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
        start = np.zeros(groups + 1, dtype=np.int64)
        return cls(
            start, whole, np.zeros((0, 3)), real, whole, np.zeros((0, LAW)), real, real, real, whole, real, start,
            np.zeros(CHAIN * slots), np.zeros(2),
        )  # fmt: skip
