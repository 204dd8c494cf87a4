"""Scene files as texts, and how tests write, load and step them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import supple as sp
from supple.files import load, save

DESIGN = """
supple = 1                                   # schema version
gravity = [0, 0, -9.81]

[materials.rubber]
young = 1e6
poisson = 0.45
density = 1100

[[bodies]]
name = "beam"
kind = "fem"
mesh = { box = { size = [0.2, 0.02, 0.02], cells = [40, 4, 4] } }
material = "rubber"
law = "corotational"
fix = ["x_min"]

[run]
until = 2.0
record_every = 0.0333
"""


SMALL = """
supple = 1
gravity = [0, 0, -9.81]
materials.rubber = { young = 1e6, poisson = 0.45, density = 1100 }

[[bodies]]
name = "ball"
kind = "rigid"
box = { size = [0.1, 0.2, 0.3] }
density = 500
at = [0.5, 0, 0.1]
rotation = [0.1, 0.2, 0.3]

[[bodies]]
name = "string"
kind = "particles"
positions = [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]]
mass = [0.1, 0.2, 0.1]
springs = [[0, 1], [1, 2]]
stiffness = 100

[[loads]]
on = { body = "string", numbers = [2] }
force = { sine = { amplitude = [0, 0, 1], frequency = 2 } }

[[springs]]
a = { body = "ball", local = [0.05, 0, 0] }
b = { world = [1, 0, 0] }
stiffness = 10

[[joints]]
kind = "ball"
a = { body = "ball", local = [-0.05, 0.1, 0.15] }
b = { body = "string", numbers = [1] }

[[filters]]
kind = "fixed"
body = "string"
numbers = [0]

[solver]
kind = "implicit_euler"
dt = 0.01

[run]
until = 0.1
"""


def written(tmp_path: Path, text: str, name: str = "scene.toml") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def steps(scene: sp.Scene, count: int = 3) -> np.ndarray:
    """The state after a few steps, in one vector."""
    system = scene.compile()
    state = system.initial_state()
    solver = scene.solver or sp.ImplicitEuler(dt=1e-3)
    solver.prepare(system)
    for _ in range(count):
        solver.step(system, state)
    return np.concatenate([state.x, state.v])


def assert_round_trip(scene: sp.Scene, tmp_path: Path, *, count: int = 3) -> sp.Scene:
    """Save and load in both formats: the same motion to the bit, and the same file the second time."""
    expected = steps(scene, count)
    assert np.isfinite(expected).all()
    for suffix in (".toml", ".json"):
        first, second = tmp_path / f"first{suffix}", tmp_path / f"second{suffix}"
        save(scene, first)
        again = load(first)
        assert np.array_equal(steps(again, count), expected)
        save(again, second)
        assert second.read_text().replace("second-", "first-") == first.read_text()
    return again


def particle_scene() -> tuple[sp.Scene, sp.Node]:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="particles")
    positions = [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0.01], [0.3, 0, 0]]
    body = sp.Particles(
        positions, [0.1, 0.2, 0.3, 0.4], springs=[(0, 1), (1, 2), (2, 3)], stiffness=[50, 60, 70], damping=0.1
    )
    return scene, scene.add(body, name="string", at=(0, 0.1, 0), velocity=(1, 0, 0), spin=(0, 0.3, 0))
