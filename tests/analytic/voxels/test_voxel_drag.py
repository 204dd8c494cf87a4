"""Damping of voxels by closed forms: drag relative to the world, links of two voxels, and of their rotations.

Constants are written here by hand, [HL12, eqs. 34, 35] and theory.md 14.4 and 14.5, so that an error of one in a
thousand in any of them is seen.
"""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.stability.stages import STAGES, Stages
from supple.bodies.voxel.sweep.sweep import LatticeSweep

Array = np.ndarray
E, RHO, L = 2e5, 900.0, 0.01
M = RHO * L**3
INERTIA = M * L**2 / 6
SPEED, SPIN = np.array([0.3, -0.2, 0.1]), np.array([2.0, -1.0, 3.0])


def body(cells: tuple[int, int, int], **damping: float) -> VoxelBody:
    material = sp.VoxelMaterial(E, density=RHO, **{"bond_damping": 0.0, **damping})
    return VoxelBody(sp.VoxelGrid(np.ones(cells, dtype=int), L), material)


def test_a_voxel_is_slowed_by_the_ground_at_its_rates() -> None:
    """v = v_0 exp(-c t / m) with c = 2 zeta sqrt(m E l), and spins by c_r = 2 zeta sqrt(I E l³)."""
    zeta, h, steps = 0.03, 2e-6, 1500
    one = body((1, 1, 1), ground_damping=zeta)
    v = np.concatenate([SPEED, SPIN])[None]
    end = one.advance(LocalState(0.0, one.model.rest_frames, v), h, steps)
    rate, turning = 2 * zeta * np.sqrt(E * L / M), 2 * zeta * np.sqrt(E * L**3 / INERTIA)
    assert rate * h * steps > 0.2
    np.testing.assert_allclose(end.v[0, :3], SPEED * (1 - h * rate) ** steps, rtol=1e-10)
    np.testing.assert_allclose(end.v[0, 3:], SPIN * (1 - h * turning) ** steps, rtol=1e-10)
    np.testing.assert_allclose(end.v[0, :3], SPEED * np.exp(-rate * h * steps), rtol=1e-3)
    way = SPEED / rate * (1 - np.exp(-rate * h * steps))
    np.testing.assert_allclose(end.x[0, :3] - one.model.centres[0], way, rtol=1e-3)


@pytest.mark.parametrize("bond_damping", [0.0, 1.0])
@pytest.mark.parametrize("solver", [sp.LatticeSolver(1e-3), sp.ImplicitEuler(2e-5)])
def test_a_block_in_a_run_is_slowed_as_a_voxel_is(solver, bond_damping: float) -> None:
    """Its links, damped in stages or not, do not take part."""
    zeta, until = 0.01, 0.01
    scene = sp.Scene(solver=solver)
    scene.add(body((3, 2, 2), ground_damping=zeta, bond_damping=bond_damping), velocity=SPEED, name="block")
    done = sp.run(scene, until=until)
    v = done.system.velocities(done.state, "block")[:, :3]
    decay = np.exp(-2 * zeta * np.sqrt(E * L / M) * until)
    assert decay < 0.8
    np.testing.assert_allclose(v, np.tile(SPEED * decay, (12, 1)), rtol=3e-3)


def swung(k: float, c: float, inertia: float, t: Array) -> Array:
    """The relative motion of two bodies between whom k and c act, from rest at 1: y'' = -(2 / m) (k y + c y')."""
    rate, omega = c / inertia, np.sqrt(2 * k / inertia - (c / inertia) ** 2)
    return np.asarray(np.exp(-rate * t) * (np.cos(omega * t) + rate / omega * np.sin(omega * t)))


AXIAL, TWIST, BEND = E * L, E * L**3 / 12, E * L**3 / 12  # a1; a2 = G l³/6 with G = E/2; b3/2
MOTIONS = {"stretched": (AXIAL, M), "twisted": (TWIST, INERTIA), "bent": (BEND, INERTIA)}


@pytest.mark.parametrize("stages", STAGES)
@pytest.mark.parametrize("motion", MOTIONS)
def test_two_linked_voxels_swing_and_settle_as_one_damped_spring(motion: str, stages: Stages) -> None:
    """c_u = zeta sqrt(m a1), c_t = zeta sqrt(2 I b3)."""
    zeta, amplitude = 0.25, 1e-6
    pair = body((2, 1, 1), bond_damping=zeta)
    k, inertia = MOTIONS[motion]
    c = zeta * np.sqrt(M * AXIAL) if motion == "stretched" else zeta * np.sqrt(INERTIA * 4 * BEND)
    x, v = pair.model.rest_frames.copy(), np.zeros((2, 6))
    axis = {"twisted": 0, "bent": 1}.get(motion)
    if axis is None:
        x[:, 0] += 0.5 * amplitude * L * np.array([-1.0, 1.0])
    else:
        x[:, 3:] = rotations.exp(0.5 * amplitude * np.array([-1.0, 1.0])[:, None] * np.eye(3)[axis])
    period = 2 * np.pi / np.sqrt(2 * k / inertia)
    h, found = period / 8000, []
    sweep = LatticeSweep.make(pair.model)
    sweep.load(x, v)
    for _ in range(40):
        sweep.advance(h, 400, stages=stages)
        sweep.save(x, v)
        apart = rotations.log(rotations.multiply(rotations.conjugate(x[0, 3:]), x[1, 3:]))
        found.append((x[1, 0] - x[0, 0] - L) / (amplitude * L) if axis is None else apart[axis] / amplitude)
    exact = swung(k, c, inertia, 400 * h * np.arange(1, 41))
    assert np.abs(np.array(found) - exact).max() < 1.5e-3
    bare = swung(k, 1.01 * c, inertia, 400 * h * np.arange(1, 41))
    assert np.abs(bare - exact).max() > 3e-3  # one part in a hundred would be seen


def test_balls_fall_to_the_speed_at_which_the_wind_carries_their_weight() -> None:
    """m g = rho C / 4 pi r² v², and before it v = v_t tanh(g t / v_t)."""
    g, r, m = 9.81, np.array([0.02, 0.05]), np.array([0.004, 0.01])
    scene = sp.Scene(gravity=(0, 0, -g), solver=sp.ImplicitEuler(2e-4))
    scene.add(sp.Particles(np.array([[0.0, 0, 0], [1.0, 0, 0]]), m, radius=r), name="balls")
    scene.add(sp.Wind(velocity=(0.0, 0.0, 1e-9), intensity=0.0))
    done = sp.run(scene, until=0.5)
    terminal = np.sqrt(m * g / (0.25 * 1.2 * 1.2 * np.pi * r**2))
    v = done.system.velocities(done.state, "balls")[:, 2]
    np.testing.assert_allclose(v, -terminal * np.tanh(g * 0.5 / terminal), rtol=1e-3)


def test_a_wind_carries_a_ball_along() -> None:
    """u = w - v = w / (1 + k w t / m) with k = rho C / 4 pi r²."""
    r, m, w, until = 0.03, 0.005, np.array([4.0, 3.0, 0.0]), 0.6
    scene = sp.Scene(solver=sp.ImplicitEuler(2e-4))
    scene.add(sp.Particles(np.zeros((1, 3)), m, radius=r), name="ball")
    scene.add(sp.Wind(velocity=w, intensity=0.0, density=1.1, drag=0.9))
    done = sp.run(scene, until=until)
    k = 0.25 * 1.1 * 0.9 * np.pi * r**2
    left = w / (1 + k * 5.0 * until / m)
    v = done.system.velocities(done.state, "ball")[0]
    assert np.linalg.norm(v) > 1.0
    np.testing.assert_allclose(v[:2], (w - left)[:2], rtol=1e-3)
