"""The law of a contact: its tangent, and where it opens, sticks and slides."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.contact.contact_set import ContactSet
from supple.interaction.contact_kernels import OPEN, SLIDES, STICKS

H = 0.01


def contacts(count: int, seed: int, *, friction: float = 0.5) -> tuple[ContactSet, np.ndarray]:
    """Random contacts, and relative velocities at the end of a step."""
    rng = np.random.default_rng(seed)
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    none = np.zeros((count, 4))
    k = rng.uniform(100, 1000, count)
    found = ContactSet(
        none.astype(int), none, n, rng.uniform(-2e-3, 1e-3, count), np.zeros((count, 2), dtype=int),
        np.zeros((count, 3)), k, 0.7 * k, 0.002 * k, 0.001 * k, np.full(count, friction),
        rng.normal(scale=1e-3, size=(count, 3)),
        np.arange(count), np.zeros((count, 3)),
        np.full((count, 2), -1), np.zeros((count, 2, 3)), np.zeros((count, 2, 3)),
        np.arange(count), np.zeros(count), np.full(count, np.nan), np.zeros(count), np.zeros((count, 3)),
        np.zeros(count), np.zeros(count),
    )  # fmt: skip
    return found, rng.normal(scale=0.05, size=(count, 3))


def test_tangent_is_the_derivative_of_the_force() -> None:
    found, u = contacts(400, 1)
    law = found.forces(u, H, symmetric=False)
    assert {OPEN, STICKS, SLIDES} == set(law.mode.tolist())
    step = 1e-7
    for i in range(3):
        up, down = u.copy(), u.copy()
        up[:, i] += step
        down[:, i] -= step
        a, b = found.forces(up, H, symmetric=False), found.forces(down, H, symmetric=False)
        same = (a.mode == law.mode) & (b.mode == law.mode)
        slope = (a.force - b.force) / (2 * step)
        scale = np.abs(law.tangent).max()
        assert same.mean() > 0.9
        assert np.abs(slope + law.tangent[:, :, i])[same].max() < 1e-6 * scale


def test_a_contact_never_pulls_and_friction_stays_in_its_cone() -> None:
    found, u = contacts(1000, 2)
    law = found.forces(u, H, symmetric=True)
    along = np.einsum("ki,ki->k", law.force, found.normal)
    across = np.linalg.norm(law.force - along[:, None] * found.normal, axis=1)
    assert along.min() >= 0.0
    assert np.all(across <= 0.5 * along * (1 + 1e-12))
    slides = law.mode == SLIDES
    np.testing.assert_allclose(across[slides], 0.5 * along[slides], rtol=1e-12)


def test_a_sliding_contact_keeps_the_stretch_that_its_force_has() -> None:
    found, u = contacts(1000, 3)
    law = found.forces(u, H, symmetric=True)
    slides = law.mode == SLIDES
    along = np.einsum("ki,ki->k", law.force, found.normal)
    across = law.force - along[:, None] * found.normal
    np.testing.assert_allclose(law.slip[slides], -across[slides] / found.tangential_stiffness[slides, None], atol=1e-15)
    sticks = law.mode == STICKS
    moved = found.slip + H * u
    moved -= np.einsum("ki,ki->k", moved, found.normal)[:, None] * found.normal
    np.testing.assert_allclose(law.slip[sticks], moved[sticks], atol=1e-15)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_symmetric_tangent_is_positive(symmetric: bool) -> None:
    found, u = contacts(300, 4)
    T = found.forces(u, H, symmetric=symmetric).tangent
    if symmetric:
        np.testing.assert_allclose(T, np.swapaxes(T, 1, 2), atol=1e-12)
        assert np.linalg.eigvalsh(T).min() > -1e-9
    else:
        assert np.abs(T - np.swapaxes(T, 1, 2)).max() > 1.0


def test_the_normal_force_is_continuous_where_a_contact_closes_at_speed() -> None:
    """Along a path of depths and speeds that opens, is struck, and parts: no jump beyond slope times step."""
    found, _ = contacts(1, 5, friction=0.0)
    k, c, n = found.stiffness[0], found.dashpot[0], found.normal[0]
    path = np.linspace(-1e-3, 1e-3, 4001)
    for speed in (-2.0, -0.1, 0.1, 2.0):
        moved = [
            found._replace(gap=np.array([-d + H * speed])).forces(-speed * n[None], H, symmetric=True) for d in path
        ]
        N = np.array([law.force[0] @ n for law in moved])
        assert N.min() >= 0.0
        assert N[path <= 0].max() < 1e-12  # the gap has the rounding of h times the speed
        assert np.abs(np.diff(N)).max() <= 2 * k * (path[1] - path[0]) * (1 + 1e-9)
        slow = path > abs(speed) * c / k
        np.testing.assert_allclose(N[slow], k * path[slow] + c * speed, rtol=1e-9)  # the dashpot that was asked for


def test_damping_makes_a_resting_box_swing_out_at_half_the_dashpot_over_its_mass() -> None:
    """Rate c/(2 m), beside that of implicit steps, which is k h/(2 m). It starts near its depth of rest."""

    def rate(damping: float) -> float:
        stiffness, side, h = 1e7, 0.1, 2e-4
        scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(h))
        depth = 500 * side * 9.81 / stiffness
        scene.add(sp.RigidBody.box((side,) * 3, density=500), at=(0, 0, side / 2 - 0.95 * depth), name="box")
        scene.add(sp.Plane())
        scene.add(sp.Contact(stiffness=stiffness, damping=damping))
        system = scene.compile()
        state, z = system.initial_state(), []
        for _ in range(400):
            scene.solver.step(system, state)
            z.append(state.x[2] - side / 2 + depth)
        z = np.array(z)
        peaks = np.flatnonzero((z[1:-1] > z[:-2]) & (z[1:-1] > z[2:])) + 1
        return float(np.log(z[peaks[0]] / z[peaks[-1]]) / (h * (peaks[-1] - peaks[0])))

    omega2 = 1e7 / (500 * 0.1)
    assert rate(1e-4) - rate(0.0) == pytest.approx(0.5 * 1e-4 * omega2, rel=0.03)


def test_steps_with_damping_settle_in_few_iterations() -> None:
    """A pile of boxes that falls: a dashpot that jumped needed all of forty."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.005))
    for k in range(3):
        scene.add(sp.RigidBody.box((0.1,) * 3, density=500), at=(0.01 * k, 0, 0.06 + 0.105 * k), name=f"box {k}")
    scene.add(sp.Plane())
    scene.add(sp.Contact(damping=0.01))
    system = scene.compile()
    state = system.initial_state()
    reports = [scene.solver.step(system, state) for _ in range(100)]
    assert all(report.is_solved for report in reports)
    assert max(report.iterations for report in reports) < 25
