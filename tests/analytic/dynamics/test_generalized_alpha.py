"""Generalised-alpha is the scheme of its equations: a mass on a spring, step by step."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp

M, K, PULL = 0.5, 80.0, 0.01


def oscillated(h: float, steps: int, rho: float) -> np.ndarray:
    """x after each step: (1 - am) a1 + am a0 = (1 - af) u1 + af u0, M u = -K x [AB07]."""
    am, af = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    x, v, u = PULL, 0.0, -K / M * PULL
    a, out = u, []
    for _ in range(steps):
        # x1 = p + h² beta a1 and a1 = ((1 - af) u1 + af u - am a) / (1 - am), u1 = -K/M x1
        known = (af * u - am * a) / (1 - am)
        p = x + h * v + h * h * ((0.5 - beta) * a + beta * known)
        x = p / (1 + h * h * beta * (1 - af) / (1 - am) * K / M)
        u = -K / M * x
        a_new = (1 - af) / (1 - am) * u + known
        v, a = v + h * ((1 - gamma) * a + gamma * a_new), a_new
        out.append(x)
    return np.array(out)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("h", [0.02, 0.5])
def test_every_step_is_that_of_the_equations(rho: float, h: float) -> None:
    """At h w of 0.25 and of 6."""
    scene = sp.Scene()
    node = scene.add(sp.Particles([(0, 0, 0), (1.0 + PULL, 0, 0)], M, springs=[(0, 1)], stiffness=K, rest_length=1.0))
    scene.add(sp.FixedPoints(node, [0]))
    system, solver = scene.compile(), sp.GeneralizedAlpha(h, rho=rho, newton_tolerance=1e-13)
    state, found = system.initial_state(), []
    for _ in range(12):
        solver.step(system, state)
        found.append(state.x[3] - 1.0)
    np.testing.assert_allclose(found, oscillated(h, 12, rho), atol=1e-11)
