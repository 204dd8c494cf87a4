"""letters: a word of soft letters on rigid bars flies freely, turns slowly, and is poked at its first letter.

Checked: the momentum after the poke is what it had and the poke's impulse; from then on linear and angular momentum
stay, though the letters wobble; the word bends; the energy of the wobble falls by damping alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.tree import TreeBody
from supple.examples import Check, Example, below
from supple.examples.shapes import letters
from supple.examples.shapes.tree_runs import domain_strains
from supple.scene import Load, Scene
from supple.solvers import TreeSolver

Array = np.ndarray
SPIN, DRIFT = np.array([0.2, 0.1, 0.5]), np.array([0.05, 0.0, 0.02])  # [rad/s], [m/s]
POKE, TAKES, UNTIL = np.array([0.0, 12.0, -5.0]), 0.1, 2.0  # [N], [s], [s]
STEP = 1 / 240


def poke(t: float) -> Array:
    """Force on the first letter [N]."""
    return POKE * np.sin(np.pi * t / TAKES) ** 2 if t < TAKES else np.zeros(3)


def make(text: str = "EIGHTLTR") -> Scene:
    """A word, adrift and turning."""
    scene = Scene(solver=TreeSolver(STEP), name="letters")
    body = TreeBody(letters(text), stiffness_damping=0.002)
    node = scene.add(body, velocity=DRIFT, spin=SPIN, name="word")
    first = body.point_region(f"{text[0].upper()} 1")
    corner = first[np.argsort(body.skin.rest[first] @ [-1.0, 0.0, 1.0])[-20:]]  # upper left
    scene.add(Load(node.points(corner), poke))
    return scene


def check(run: Any) -> list[Check]:
    """The numbers."""
    t, momentum = run.frames.times, run.frames.columns["momentum"]
    after = int(np.searchsorted(t, TAKES + STEP))
    impulse = 0.5 * POKE * TAKES
    gained = momentum[after, :3] - momentum[0, :3]
    sizes = np.linalg.norm(momentum[after, :3]), np.linalg.norm(momentum[after, 3:])
    drift = [np.linalg.norm(momentum[after:, a : a + 3] - momentum[after, a : a + 3], axis=1).max() for a in (0, 3)]
    body = run.system.body("word").node.body
    strains = domain_strains(body, run.system.positions(run.state, "word"))
    energy = run.frames.columns["kinetic"] + run.frames.columns["potential"]
    return [
        below("momentum from the poke less its impulse, relative", _apart(gained, impulse), 1e-9),
        below("drift of the linear momentum after it, relative", float(drift[0] / sizes[0]), 1e-9),
        below("drift of the angular momentum after it, relative", float(drift[1] / sizes[1]), 1e-9),
        below("largest rise of the energy after it, relative", _rise(energy[after:]), 1e-3),
        below("largest strain of a letter at the end", float(strains.max()), 0.05),
        # domains meet in the mean of an interface, not at each of its vertices: bent interfaces gape by millimetres
        below("largest gap between domains [m]", run.gaps["word"], 6e-3),
    ]


def _apart(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _rise(energy: Array) -> float:
    return float(np.diff(energy).max(initial=0.0) / energy[0])


EXAMPLE = Example("letters", "a word of soft letters, free in space, poked", make, UNTIL, check)
