"""Identity: what a system and its solver are, so that a checkpoint is resumed by the scene that wrote it."""

from __future__ import annotations

import hashlib
from typing import Any

from supple.errors import RecordError
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
    start = hashlib.sha256(system.x0.tobytes() + system.v0.tobytes()).hexdigest()
    original = (
        None if system.whole is None else system.whole.original
    )  # a run that goes on makes the changes again, from the state
    gravity = system.gravity if original is None else original.gravity
    forces = [bound.label for bound in system.forces] if original is None else original.forces
    joints = [bound.label for bound in system.joints] if original is None else original.joints
    return {
        "bodies": [[slot.name, slot.body.kind, slot.coordinates.count] for slot in system.bodies],
        "solver": type(solver).__name__,
        "dt": float(solver.dt),
        "gravity": [float(g) for g in gravity],
        "forces": forces,
        "joints": joints,
        "filters": len(system.filter),
        "start": start[:16],
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
