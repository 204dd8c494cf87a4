"""Linear momentum of bodies whose mass changes with their coordinates, in a linearised step.

    P_1 = P_0 + (M(x_0) dv - h bias)_linear

The row of a frame's translation is the balance of the whole body's momentum: what acts on it in the step is known from
the solution. M(x_1) v_1 differs from P_1 at second order in the step, since the frame has turned; the frame's velocity
makes it good. A frame that is held is left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.protocols import LocalState
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


def keep_linear_momentum(system: System, start: State, end: State) -> None:
    """Change the velocities of frames at the end of a step, in place, so that momentum changes by just what acts."""
    for _, slot, mass in system.masses:
        if not (slot.is_body and hasattr(mass, "at")) or slot.block_start in system.filter.blocks:
            continue
        x, v, v_1 = slot.view_x(start.x), slot.view_v(start.v), slot.view_v(end.v)
        before, after = LocalState(start.t, x, v), LocalState(end.t, slot.view_x(end.x), v_1)
        if hasattr(mass, "linear_loss"):
            v_1[0, :3] += mass.linear_loss(before, after) / mass.model.total_mass
        else:
            v_1[0, :3] += linear_loss(mass, before, after) / mass.first_moment(after.x)[0]


def linear_loss(mass: Any, before: LocalState, after: LocalState) -> Array:
    """Linear momentum (3,) [kg m/s] that a body lacks after a step, of any mass that changes with coordinates."""
    bias, impulse = np.zeros_like(before.v), np.zeros_like(before.v)
    mass.add_bias(before, bias)
    mass.at(before.x).add_product(after.v - before.v, impulse, 1.0)
    P = mass.momentum(before)[:3] + impulse[0, :3] - (after.t - before.t) * bias[0, :3]
    return np.asarray(P - mass.momentum(after)[:3])
