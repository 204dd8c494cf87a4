"""The stable step of colliding voxels is where the dense step matrix, with all the friction there can be, grows."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.stability.stable_step import find_step, stable_step
from supple.bodies.voxel.touching.collision import Collision, contact_rates
from supple.bodies.voxel.touching.collision_kernels import TANGENTIAL
from supple.validation.voxel.blocks import block


def growth(shape: tuple[int, int, int], damping: float, part: float) -> float:
    """Largest |eigenvalue| of a step of `part` times the stable one: v <- (1 - a_k h M^-1 C) v for all but the last
    stage, v += h M^-1 (-K x - a_s C v - C_o v before the stages), x += h v."""
    body, collision = block(shape, bond_damping=damping, contact_damping=damping), Collision()
    model, n = body.model, 6 * body.model.voxel_count
    step, stages, _ = find_step(model, collision=collision, safety=1.0)
    h = part * step
    tangent = body.lattice_force.linearize(LocalState(0.0, model.rest_frames, np.zeros((model.voxel_count, 6))))
    K, C = np.zeros((n, n)), np.zeros((n, n))
    for k, d in enumerate(np.eye(n).reshape(n, -1, 6)):
        for out, weights in ((K, (-1.0, 0.0)), (C, (0.0, -1.0))):
            f = np.zeros_like(d)
            tangent.add_product(d, f, *weights)
            out[:, k] = f.ravel()
    mass = np.repeat(np.stack([model.mass, model.inertia], axis=1), 3, axis=1).ravel()
    among = np.zeros((2, model.voxel_count, 6))
    rates = contact_rates(model, collision)
    among[:, :, :3] = (rates[:, :2] * model.mass[:, None]).T[:, :, None]
    among[:, :, 3:] = (rates[:, 2:] * model.inertia[:, None]).T[:, :, None]
    K, h_C, left = K + np.diag(among[0].ravel()), h * C / mass[:, None], np.eye(n)
    for share in stages.shares:
        left = left - share * h_C @ left
    by_x, by_v = -h * K / mass[:, None], left - h * np.diag(among[1].ravel() / mass)
    step = np.block([[np.eye(n) + h * by_x, h * by_v], [by_x, by_v]])
    return float(np.abs(np.linalg.eigvals(step)).max())


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 1)])
@pytest.mark.parametrize("damping", [0.0, 0.5, 1.0])
def test_the_step_is_the_largest_that_does_not_grow(shape: tuple[int, int, int], damping: float) -> None:
    """It is found to 1e-3; beyond it the eigenvalue -1 moves out, on this side none is larger than 1 (double roots
    of free motions are computed to 1e-7)."""
    for part in (0.3, 0.7, 0.995):
        assert growth(shape, damping, part) < 1 + 1e-6
    assert growth(shape, damping, 1.005) > 1 + 1e-3


def test_a_step_that_was_found_before_is_where_to_begin() -> None:
    """From any start the same step is found, to the tolerance."""
    body = block((3, 2, 2), bond_damping=0.3)
    found = stable_step(body.model, safety=0.7)
    for start in (0.2 * found, found, 5.0 * found):
        assert stable_step(body.model, safety=0.7, start=start) == pytest.approx(found, rel=2e-3)


def crowded(k: float, tangential: float, m: float, inertia: float, arm: float) -> float:
    """Largest eigenvalue [1/s²] of voxels that all touch their six neighbours: waves of a crystal without end.

    A pair with the normal n has the energy k (n . s)² / 2 + tangential k |s - n (n . s)|² / 2, with the slip
    s = d_1 - d_2 - arm n × (w_1 + w_2) of the points that touch.
    """
    largest = 0.0
    unit = np.repeat([1 / np.sqrt(m), 1 / np.sqrt(inertia)], 3)
    for wave in np.stack(np.meshgrid(*[np.linspace(0, np.pi, 5)] * 3), axis=-1).reshape(-1, 3):
        K = np.zeros((6, 6), dtype=complex)
        for n, phase in zip(np.eye(3), np.exp(1j * wave)):
            turn = np.cross(n, np.eye(3)).T  # n × w as a matrix
            slip = np.hstack([(1 - phase) * np.eye(3), -arm * (1 + phase) * turn])
            along, aside = np.outer(n, n), np.eye(3) - np.outer(n, n)
            K += k * slip.conj().T @ (along + tangential * aside) @ slip
        largest = max(largest, float(np.linalg.eigvalsh(K * unit[:, None] * unit).max()))
    return largest


def test_the_bound_of_contacts_is_above_a_crystal_that_touches_everywhere() -> None:
    """Its numbers for voxels of one kind: k = E l, m l² / 6, arm l / 2, so that arm²/I = 1.5 / m."""
    body, collision = block((2, 2, 2)), Collision()
    m, l, young = body.model.mass[0], body.model.size[0], body.model.values("young")[0]
    k, t = young * l, TANGENTIAL
    rates = contact_rates(body.model, collision)[0]
    assert rates[0] == pytest.approx(k / m * (4 + 15 * t), rel=1e-12)
    assert rates[2] == pytest.approx(k / m * 15 * t, rel=1e-12)
    assert crowded(k, t, m, m * l * l / 6, l / 2) <= rates[0] * (1 + 1e-12)
