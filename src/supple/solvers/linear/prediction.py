"""The change of velocity in a step as a body that turns and falls would have it: where iterations begin.

    dv = (exp(h w) - 1) (v - v_c) + h g         v_c: mean velocity of the points of a body;  w: their mean spin

Where the step turns the body as a whole (`free_flight`), the second term alone.
It needs nothing but the state, so that a run that is resumed has the same bits. Bodies that something holds begin with
none.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.scene.kinematics import Kinematics
from supple.scene.system import System
from supple.solvers.linear.free_flight import FreeFlight

Array = np.ndarray


def predicted_change(system: System, kin: Kinematics, h: float, flight: FreeFlight | None = None) -> Array:
    """dv of a step of h [s], (v_size,) [m/s]."""
    out, held = np.zeros(system.v_size), system.filter.blocks
    turned = [] if flight is None else [flier.slot for flier in flight.fliers]
    for slot in system.bodies:
        if ((held >= slot.block_start) & (held < slot.block_start + slot.block_count)).any():
            continue
        own = slot.view_v(out)
        own[:, :3] = h * system.gravity
        c = slot.coordinates
        if slot not in turned and c.x_width == c.v_width == 3 and c.count > 1:
            own += turned_on(slot.view_x(kin.flat_x), slot.view_v(kin.flat_v), h)
    return out


def turned_on(x: Array, v: Array, h: float) -> Array:
    """(exp(h w) - 1) (v - v_c) of points (n, 3)."""
    r, u = x - x.mean(axis=0), v - v.mean(axis=0)
    S = np.einsum("ni,nj->ij", r, r)
    L = rotations.cross(r, u).sum(axis=0)
    inertia = np.trace(S) * np.eye(3) - S
    w = np.linalg.lstsq(inertia, L, rcond=1e-10)[0]
    R = rotations.to_matrix(rotations.exp(h * w))
    return np.asarray(np.einsum("ni,ji->nj", u, R - np.eye(3)))
