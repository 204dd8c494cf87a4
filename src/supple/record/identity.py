"""Identity: what a system and its solver are, so that a checkpoint is resumed by the scene that wrote it."""

from __future__ import annotations

import hashlib
from typing import Any

from supple.errors import RecordError
from supple.scene.changing.whole import Original
from supple.scene.system import System

LABELS = {
    "bodies": "the bodies (name, kind, number of points)",
    "solver": "the solver",
    "dt": "the step dt",
    "gravity": "gravity",
    "forces": "the forces",
    "joints": "the joints",
    "filters": "the fixed or guided points",
    "start": "the positions and velocities at the start",
}


def describe(system: System, solver: Any) -> dict[str, Any]:
    """Plain values that differ where two scenes differ."""
    of = Original.of(system) if system.whole is None else system.whole.original  # a run that goes on changes it again
    return {
        "bodies": of.bodies,
        "solver": type(solver).__name__,
        "dt": float(solver.dt),
        "gravity": [float(g) for g in of.gravity],
        "forces": of.forces,
        "joints": of.joints,
        "filters": of.filters,
        "start": hashlib.sha256(of.x0.tobytes() + of.v0.tobytes()).hexdigest()[:16],
    }


def check_same(saved: dict[str, Any], now: dict[str, Any], *, where: str) -> None:
    """Refuse to go on with another scene; names the first thing that differs."""
    for key, label in LABELS.items():
        if saved.get(key) != now[key]:
            raise RecordError(
                f"this was written by another scene: not the same are {label}",
                where=where,
                value=now[key],
                allowed=str(saved.get(key)),
                fix="Resume with the scene, solver and dt that wrote it, or start anew in another folder.",
            )
