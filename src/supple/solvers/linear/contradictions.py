"""Joints that contradict each other: no position of the bodies closes them all.

    x <- x moved by -G^+ phi(x)        Gauss-Newton on the violation alone, from where a step could not close the joints

Redundant joints that agree come to phi = 0 in a few of these; what is left of contradictory ones lies in the rows that
quarrel.
"""

from __future__ import annotations

import numpy as np

from supple.errors import ConvergenceError
from supple.scene.kinematics import Kinematics
from supple.scene.system import System
from supple.solvers.linear.linear_step import filtered_columns

Array = np.ndarray
CLOSED = 1e-8
"""[m, rad] Violation below which joints count as closed."""


def refuse_contradiction(system: System, kin: Kinematics, holds: Array) -> None:
    """Raise where no position near that of kin closes the rows that hold (m,) bool; name the one widest open."""
    t, x, v = kin.t, kin.flat_x, kin.flat_v
    for _ in range(20):
        kin = system.propagate(t, x, v)
        phi = np.where(holds, system.violation(kin), 0.0)
        if np.abs(phi).max() <= CLOSED or not np.isfinite(phi).all():
            return
        G = filtered_columns(system, system.linearize(kin).joint_jacobian())
        G = (G if isinstance(G, np.ndarray) else G.toarray()) * holds[:, None]
        x = system.retract(x, -np.linalg.lstsq(G, phi, rcond=1e-6)[0])
    ends = np.cumsum([rows.count for _, _, rows in system.joints])
    worst = int(np.argmax(np.abs(phi)))
    joint = int(np.searchsorted(ends, worst, side="right"))
    label, _, rows = system.joints[joint]
    row = worst - int(ends[joint]) + rows.count
    size = [np.abs(part).max(initial=0.0) for part in np.split(phi, ends[:-1])]
    others = [system.joints[k][0] for k in np.argsort(size)[::-1] if k != joint and size[k] > 1e-3 * size[joint]]
    raise ConvergenceError(
        f"the condition '{rows.names[row]}' contradicts other joints at t = {t:.6g} s",
        where=label,
        value=f"{abs(phi[worst]):.3g} {rows.units[row]} that no motion can close",
        fix=f"Look at {', '.join(others[:3]) or 'fixed and led bodies'}: remove a joint, or make them agree.",
    )
