"""A motor whose speed changes in time turns its hinge by what it asks for at the end of each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.decompose import decompose

H, STEPS = 5e-3, 40
SOLVERS: dict[str, Any] = {
    "linearised euler": lambda: sp.ImplicitEuler(H),
    "full euler": lambda: sp.ImplicitEuler(H, newton=True),
    "midpoint": lambda: sp.Midpoint(H),
    "generalised alpha": lambda: sp.GeneralizedAlpha(H),
}


def speed(t: float) -> float:
    return 20.0 * t - 30.0 * t * t


@pytest.mark.parametrize("name", SOLVERS)
def test_the_angle_is_the_sum_of_what_each_step_was_asked_for(name: str) -> None:
    """theta_n = sum_i h w(i h) exactly, for a motor that is strong enough: 1e-6 is what Newton's method leaves open."""
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=speed))
    system = scene.compile()
    state, solver = system.initial_state(), SOLVERS[name]()
    expected = 0.0
    for k in range(1, STEPS + 1):
        assert solver.step(system, state).is_solved
        expected += H * speed(k * H)
        assert 2 * np.arctan2(state.x[6], state.x[3]) == pytest.approx(expected, abs=1e-6)
    assert expected > 0.2


def soft(kind: str) -> Any:
    """A beam from x = 0 to 0.4 m that is held at its left end."""
    if kind == "voxels":
        return sp.VoxelBody(sp.VoxelGrid(np.ones((4, 1, 1), dtype=int), 0.1), sp.VoxelMaterial(1e8, 1000))
    stuff = sp.Material(1e8, 0.3, 1000)
    return sp.TreeBody(decompose(sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1)), np.arange(24) // 12, material=stuff, modes=4,
                                 fixed="x_min"))  # fmt: skip


@pytest.mark.parametrize("kind", ["tree", "voxels"])
@pytest.mark.filterwarnings("ignore::supple.errors.BasisWarning")
def test_a_motor_across_parts_is_asked_at_the_end_of_each_step_too(kind: str) -> None:
    """The angle of a wheel against the part that it hangs on, to round-off."""
    scene = sp.Scene()
    beam = scene.add(soft(kind), name="beam", **({"fix": "x_min"} if kind == "voxels" else {}))
    wheel = scene.add(sp.RigidBody(1e-3, (1e-5, 1e-5, 2e-5)), at=(0.5, 0, 0), name="wheel")
    scene.add(sp.HingeJoint(wheel, beam, at=(0.4, 0, 0), axis=(0, 0, 1), motor_speed=speed))
    system, solver = scene.compile(), sp.Partitioned(H)
    state = system.initial_state()
    expected = 0.0
    for k in range(1, STEPS + 1):
        assert solver.step(system, state).is_solved
        expected += H * speed(k * H)
        (reading,) = system.joint_readings(state).values()
        assert reading.angle == pytest.approx(expected, abs=1e-12)
