"""Implicit Euler on a linear spring net: the step satisfies its own equation, and unforced energy never grows."""

from __future__ import annotations

import numpy as np

from supple.bodies.particles import Particles
from supple.scene import Scene
from supple.solvers import ImplicitEuler
from supple.validation.row import Row, bounded


def spring_net() -> list[Row]:
    """Residual |M dv - h f(x1)| and the largest growth of energy over 200 steps of a net of zero-length springs."""
    rng = np.random.default_rng(5)
    n = 40
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 0.15]
    scene = Scene()
    scene.add(
        Particles(rng.normal(size=(n, 3)), rng.uniform(1, 2, n), springs=pairs, stiffness=50.0, rest_length=0.0),
        name="net",
    )
    system = scene.compile()
    state = system.initial_state()
    state.v = rng.normal(size=system.v_size)
    h = 0.05
    solver = ImplicitEuler(h, linear="direct")
    residual = growth = 0.0
    kin = system.propagate(state.t, state.x, state.v)
    energy = system.kinetic_energy(kin) + system.potential_energy(kin)
    for _ in range(200):
        v0 = state.v.copy()
        solver.step(system, state)
        kin = system.propagate(state.t, state.x, state.v)
        f = h * system.force(kin)
        momentum = system.mass_product(kin, state.v - v0)
        size = np.linalg.norm(system.mass_product(kin, state.v)) + np.linalg.norm(f)
        residual = max(residual, float(np.linalg.norm(momentum - f) / size))
        now = system.kinetic_energy(kin) + system.potential_energy(kin)
        growth = max(growth, now / energy - 1)
        energy = now
    case = "scene/implicit-euler"
    return [
        bounded(case, "residual of the step", residual, 1e-12, source="(M - h² K) dv = h (f + h K v)"),
        bounded(case, "growth of energy in a step", max(growth, 0.0), 1e-14, source="implicit Euler dissipates"),
    ]


CASES = {"scene/implicit-euler": spring_net}
