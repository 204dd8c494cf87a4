"""How tests of dynamics step scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp

SOLVERS = {
    "implicit Euler": lambda dt: sp.ImplicitEuler(dt),
    "implicit Euler, cg": lambda dt: sp.ImplicitEuler(dt, linear="cg", tolerance=1e-13),
    "implicit Euler, Newton": lambda dt: sp.ImplicitEuler(dt, newton=True),
    "midpoint": lambda dt: sp.Midpoint(dt),
    "Newmark": lambda dt: sp.Newmark(dt),
    "generalised alpha": lambda dt: sp.GeneralizedAlpha(dt),
    "symplectic Euler": lambda dt: sp.SymplecticEuler(dt),
    "Runge-Kutta": lambda dt: sp.RungeKutta4(dt),
}


all_solvers = pytest.mark.parametrize("name", SOLVERS)


def run(system: Any, solver: Any, steps: int, state: Any = None) -> Any:
    state = system.initial_state() if state is None else state
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


def energy_of(system: Any, state: Any) -> float:
    kin = system.propagate(state.t, state.x, state.v)
    return system.kinetic_energy(kin) + system.potential_energy(kin)


def linear_net(seed: int = 0) -> Any:
    """Springs without rest length: a linear force, known exactly; one corner held."""
    rng = np.random.default_rng(seed)
    scene = sp.Scene()
    X = rng.normal(size=(12, 3))
    pairs = [(i, j) for i in range(12) for j in range(i) if (i + j) % 3]
    stiffness = rng.uniform(10, 1000, len(pairs))
    net = scene.add(
        sp.Particles(X, rng.uniform(0.5, 2, 12), springs=pairs, stiffness=stiffness, rest_length=0.0), name="net"
    )
    scene.add(sp.FixedPoints(net, [0]))
    return scene.compile()


def spring_chain(n: int, k: float, m: float, damping: float = 0.0) -> Any:
    """n masses between two walls, springs without rest length: each direction is the textbook chain."""
    scene = sp.Scene()
    X = np.c_[np.arange(1.0, n + 1), np.zeros((n, 2))]
    dots = scene.add(
        sp.Particles(X, m, springs=[(i, i + 1) for i in range(n - 1)], stiffness=k, rest_length=0.0, damping=damping),
        name="chain",
    )
    walls = sp.World.points([[0.0, 0, 0], [n + 1.0, 0, 0]])
    scene.add(sp.Springs(dots.points([0, n - 1]), walls, k, damping, rest_length=0.0))
    return scene.compile()


def chain_frequencies(n: int, k: float, m: float) -> np.ndarray:
    return 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))


LENGTH, SIDE, CELLS = 1.0, 0.05, 30
