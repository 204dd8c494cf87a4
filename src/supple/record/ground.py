"""The ground of a scene, for pictures: the plane that bodies stand on."""

from __future__ import annotations

import numpy as np

from supple.interaction.obstacles import Plane
from supple.scene.system import System

STEEPEST = 0.5
"""Planes whose normal has less than this of the upward direction are walls."""


def ground_of(system: System) -> list[float] | None:
    """Normal and offset [m], n . x = offset, of the highest floor of the scene; None: there is none."""
    planes = [o for o in system.scene.obstacles.values() if isinstance(o, Plane)]
    floors = [(np.asarray(o.normal, dtype=float), float(o.offset)) for o in planes]
    floors = [(n, d) for n, d in floors if n[2] >= STEEPEST]
    if not floors:
        return None
    n, d = max(floors, key=lambda floor: floor[1] / floor[0][2])
    return [*map(float, n), d]
