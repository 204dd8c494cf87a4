"""The ground of a scene, for pictures: the plane that bodies stand on."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.voxel.touching.obstacles import Plane
from supple.scene.system import System

STEEPEST = 0.5
"""Planes whose normal has less than this of the upward direction are walls."""


def ground_of(system: System, solver: Any) -> list[float] | None:
    """Normal and offset [m], n . x = offset, of the highest floor that contacts or voxels know; None: there is none."""
    lattice = getattr(solver, "lattice", None)
    known = [o for contact in system.contacts for o in contact.obstacles]
    known += [*getattr(solver, "planes", ()), *getattr(lattice, "planes", ())]
    floors = [(np.asarray(o.normal, dtype=float), float(o.offset)) for o in known if isinstance(o, Plane)]
    floors = [(n, d) for n, d in floors if n[2] >= STEEPEST]
    if not floors:
        return None
    n, d = max(floors, key=lambda floor: floor[1] / floor[0][2])
    return [*map(float, n), d]
