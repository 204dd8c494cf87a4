"""The energy that the line search of statics looks at: its slope is the force that is left, with loads that follow."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.solvers.methods.statics import _Path


@pytest.mark.parametrize("accepted", [False, True])
def test_the_slope_of_the_energy_is_the_residual_under_a_moment(accepted: bool) -> None:
    """dE = r . du about the base, where the mean of a load that follows is the load itself."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000.0)
    node = scene.add(sp.FemBody(sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1)), stuff), fix="x_min", name="beam")
    scene.add(sp.Wrench(node, "x_max", torque=(0.0, 0.3, 0.1)))
    system = scene.compile()
    path = _Path(system, system.initial_state(), 1.0, 1e-8)
    rng = np.random.default_rng(4)
    path.evaluate(path.zero)
    if accepted:
        path.accept(1e-3 * rng.normal(size=system.v_size))
    way = rng.normal(size=system.v_size)
    step = 1e-6
    ahead, behind = (path.evaluate(sign * step * way).energy for sign in (1, -1))
    assert not path.is_conservative
    assert ahead is not None
    assert behind is not None
    slope = (ahead - behind) / (2 * step)
    assert slope == pytest.approx(float(path.evaluate(path.zero).residual @ way), rel=1e-5)
