"""Laws of links beyond the linear one: yielding along a stress-strain curve, and failure.

    c(e) = e + sum_k change_k max(e - knot_k, 0)        stress over the first slope, at the strain e of first loading

A link between unlike voxels is two halves in series: both carry the same stress, and its strain is the mean of theirs.
So its first slope is the harmonic mean of [HL12, eq. 1], and it yields and fails where its weaker half does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from supple.material.voxel import VoxelMaterial

Array = np.ndarray
NEVER = 1e30  # a strain that no link reaches
ROUND_OFF = 1e-9  # knots nearer than this part of their strain are one


@dataclass(frozen=True, eq=False)
class LinkLaws:
    """knot, change (m, k): strains where the slope changes, and by how much, over the first slope. failure (m,)."""

    knot: Array
    change: Array
    failure: Array

    @classmethod
    def linear(cls, count: int) -> LinkLaws:
        """Links that neither yield nor fail."""
        return cls(np.zeros((count, 0)), np.zeros((count, 0)), np.full(count, NEVER))

    @classmethod
    def of(cls, materials: list[VoxelMaterial], one: Array, two: Array) -> LinkLaws:
        """Laws of links between voxels whose materials are numbers one, two (m,) of a list."""
        pairs, which = np.unique(
            np.stack([np.minimum(one, two), np.maximum(one, two)], axis=1), axis=0, return_inverse=True
        )
        laws = [in_series(materials[i], materials[j]) for i, j in pairs.tolist()]
        count = max((len(knots) for knots, _, _ in laws), default=0)
        knot, change = np.full((len(pairs), count), NEVER), np.zeros((len(pairs), count))
        failure = np.array([limit for _, _, limit in laws])
        for row, (knots, changes, _) in enumerate(laws):
            knot[row, : len(knots)], change[row, : len(knots)] = knots, changes
        which = which.ravel()
        return cls(knot[which], change[which], failure[which])

    @classmethod
    def joined(cls, laws: list[LinkLaws]) -> LinkLaws:
        """The laws of several bodies, one after the other."""
        count = max((law.knot.shape[1] for law in laws), default=0)

        def filled(values: Array, with_value: float) -> Array:
            return np.pad(values, ((0, 0), (0, count - values.shape[1])), constant_values=with_value)

        return cls(
            np.concatenate([filled(law.knot, NEVER) for law in laws]),
            np.concatenate([filled(law.change, 0.0) for law in laws]),
            np.concatenate([law.failure for law in laws]),
        )

    @property
    def is_linear(self) -> bool:
        """Whether no link yields or fails."""
        return not self.change.any() and bool((self.failure >= NEVER).all())


def in_series(one: VoxelMaterial, two: VoxelMaterial) -> tuple[list[float], list[float], float]:
    """Knots, changes of slope over the first slope, and strain of failure of two halves in series."""

    def breaks(material: VoxelMaterial) -> list[float]:
        return [material.stress(start) for start, _ in material.segments[1:]]

    def strain(stress: float) -> float:
        return (one.strain(stress) + two.strain(stress)) / 2

    def plateau(stress: float) -> float:
        return (one.plateau(stress) + two.plateau(stress)) / 2

    caps = [m.stress(m.segments[-1][0]) for m in (one, two) if m.segments[-1][1] == 0]
    cap = min(caps, default=np.inf)
    points = [(0.0, 0.0)]
    for stress in sorted({s for s in breaks(one) + breaks(two) if s <= cap}):
        for place in (strain(stress), strain(stress) + plateau(stress)):
            if points[-1][0] * (1 + ROUND_OFF) < place < np.inf:  # a half may be too soft to ever have this stress
                points.append((place, stress))
    slopes = [(s1 - s0) / (e1 - e0) for (e0, s0), (e1, s1) in pairwise(points)]
    last = [m.segments[-1][1] for m in (one, two)]
    slopes.append(0.0 if caps else 2 * last[0] * last[1] / (last[0] + last[1]))
    knots = [place for place, _ in points[1:]]
    changes = [(after - before) / slopes[0] for before, after in pairwise(slopes)]
    weak, strong = sorted((one, two), key=lambda m: m.stress(m.failure) if np.isfinite(m.failure) else np.inf)
    if not np.isfinite(weak.failure):
        return knots, changes, NEVER
    return knots, changes, (weak.failure + min(strong.strain(weak.stress(weak.failure)), strong.failure)) / 2
