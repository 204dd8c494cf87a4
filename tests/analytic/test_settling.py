"""settle: a scene comes to the rest that statics has, whatever is in it, and a run begins there."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import ConvergenceError, InputError

RUBBER = sp.Material(young=1e5, poisson=0.3, density=1000)
G = 9.81


def beam() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.FemBody(sp.box_tets((0.1, 0.02, 0.02), (10, 2, 2)), RUBBER), fix="x_min", name="beam")
    return scene


def test_a_beam_comes_to_its_static_equilibrium() -> None:
    """The tolerance is on the motion between two stops; what is left to go is of the same size."""
    scene = beam()
    rest = sp.settle(scene, tolerance=1e-5)
    still = sp.solve_statics(scene.compile())
    sag = np.abs(still.x - scene.compile().x0).max()
    assert sag > 1e-3
    np.testing.assert_allclose(rest.state.x, still.x, atol=2e-3 * sag)
    assert not rest.state.v.any()


def test_a_box_comes_to_rest_on_the_floor_at_the_depth_of_its_weight() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.06), name="box")
    scene.add(sp.Floor())
    scene.add(sp.Contact(stiffness=1e6))
    rest = sp.settle(scene, tolerance=1e-6)
    assert rest.state.x[2] == pytest.approx(0.05 - 0.5 * G / (1e6 * 0.01), abs=1e-6)


def test_a_run_that_begins_at_rest_stays_there() -> None:
    scene = beam()
    rest = sp.settle(scene, tolerance=1e-6)
    run = sp.run(scene, until=0.2, start=rest.state)
    assert np.abs(run.state.x - rest.state.x).max() < 1e-5
    with pytest.raises(InputError, match="does not fit"):
        sp.run(scene, until=0.1, start=sp.State(0.0, np.zeros(3), np.zeros(3)))


def test_what_falls_forever_is_told() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.RigidBody.sphere(0.1, density=500))
    with pytest.raises(ConvergenceError, match="does not come to rest"):
        sp.settle(scene, within=3.0)


@pytest.mark.parametrize("bad", [{"tolerance": 0.0}, {"tolerance": np.nan}, {"within": -1.0}])
def test_bad_numbers_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(InputError):
        sp.settle(beam(), **bad)
