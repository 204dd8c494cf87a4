"""Free trees that spin for half a minute, by the step and the damping that a scene gives them.

Without gravity nothing acts on them: both momenta stay, and energy never grows. The trees are stretched by their spin
and ring until their damping has calmed that; damping resists strain, not turning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.tree import TreeBody
from supple.running import run
from supple.scene import Scene
from supple.validation.row import Row, bounded
from supple.validation.tree.reference import mixed_domain_tree

CASE = "tree/free"
UNTIL = 30.0  # [s]
VELOCITY, SPIN = (0.4, -0.2, 0.3), (1.5, -1.0, 1.3)  # [m/s], [rad/s]


class Flight(NamedTuple):
    """Largest changes of linear and angular momentum over what they began with; largest rise of energy above its
    start, of that."""

    linear: float
    angular: float
    rise: float


def fly(*, chain: bool) -> Flight:
    """A tree of rigid and soft domains of several kinds, in a chain or branching."""
    scene = Scene(name="free tree")
    scene.add(TreeBody(mixed_domain_tree(free=True, chain=chain)), velocity=VELOCITY, spin=SPIN, name="tree")
    frames = run(scene, until=UNTIL, progress=False).frames
    assert frames is not None
    columns = frames.columns
    P, L = columns["momentum"][:, :3], columns["momentum"][:, 3:]
    energy = columns["kinetic"] + columns["potential"]

    def change(momentum: np.ndarray) -> float:
        away = np.linalg.norm(momentum - momentum[0], axis=1).max()
        return float(away / np.linalg.norm(momentum[0]))

    return Flight(change(P), change(L), float((energy / energy[0]).max() - 1))


def free() -> list[Row]:
    """Half a minute of a branching tree and of a chain."""
    rows = []
    for name, chain in (("branching", False), ("chain", True)):
        flight, kept = fly(chain=chain), "nothing acts"
        rows.append(bounded(CASE, f"{name}: change of the linear momentum", flight.linear, 1e-9, source=kept))
        rows.append(bounded(CASE, f"{name}: change of the angular momentum", flight.angular, 1e-9, source=kept))
        rows.append(bounded(CASE, f"{name}: rise of the energy", flight.rise, 1e-3, source=kept))
    return rows


CASES = {CASE: free}
