"""Closed chains of joints: a parallelogram swings as its closed form says, a driven one has no more than was given."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

import supple as sp
from supple.errors import DivergenceError
from supple.validation.scenes.linkages import four_bar


@pytest.mark.parametrize("solver", [sp.Midpoint(1e-3), sp.GeneralizedAlpha(1e-3, rho=0.8)], ids=["midpoint", "alpha"])
def test_a_parallelogram_of_four_hinges_swings(solver: object) -> None:
    assert all(row.ok for row in four_bar(solver))


def test_a_slider_crank_has_no_more_energy_than_its_motor_gave() -> None:
    """The motor gives at most its torque times its speed: 1000 W. A run that cannot go on must raise."""
    scene, torque, speed, until = sp.Scene(solver=sp.GeneralizedAlpha(1e-3, rho=0.8)), 50.0, 20.0, 0.036
    crank = scene.add(sp.RigidBody.box((0.1, 0.02, 0.02), density=2000), at=(0.05, 0, 0), name="crank")
    mesh = sp.box_hexes(size=(0.3, 0.01, 0.01), cells=(6, 1, 1))
    rod = scene.add(sp.FemBody(mesh, sp.Material(2e9, 0.3, 2000)), at=(0.1, 0, 0), name="rod")
    slider = scene.add(sp.RigidBody.box((0.04,) * 3, density=2000), at=(0.4, 0, 0), name="slider")
    scene.add(sp.HingeJoint(crank, axis=(0, 0, 1), motor_speed=speed, motor_torque=torque))
    scene.add(sp.BallJoint(crank, rod, at=(0.1, 0, 0)))
    scene.add(sp.BallJoint(rod, slider, at=(0.4, 0, 0)))
    scene.add(sp.SliderJoint(sp.World, slider, axis=(1, 0, 0)))
    with suppress(DivergenceError):
        run = sp.run(scene, until=until)
        assert run.energies.kinetic.max() < torque * speed * until


class Unchecked(sp.RungeKutta4):
    """Takes steps that are too long."""

    def prepare(self, system: sp.System) -> None:
        """Refuse nothing."""


def test_an_explosion_beside_a_point_that_is_held_in_time_is_told() -> None:
    """A chain of springs by an explicit method at 1.7 times its stable step. The held point stands still and gives
    nothing: the energy stays what it was, and a hundred times that is no error of a working step."""
    scene = sp.Scene(solver=Unchecked(0.03))
    X = np.c_[np.arange(3.0), np.zeros((3, 2))]
    chain = sp.Particles(X, 1.0, springs=[(0, 1), (1, 2)], stiffness=1e4)
    node = scene.add(chain, velocity=(0.1, 0, 0), name="chain")
    scene.add(sp.PrescribedMotion(node, [0], lambda t: (0.0, 0.0, 0.0)))
    with suppress(DivergenceError):
        run = sp.run(scene, until=0.5)
        assert run.energies.total.max() < 100 * run.energies.total[0]
