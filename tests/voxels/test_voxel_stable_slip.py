"""The stable step of colliding voxels is where the dense step matrix, with all the friction there can be, grows."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.sweep.stable_step import stable_step
from supple.bodies.voxel.touching.collision import Collision, contact_rates
from supple.validation.voxel.blocks import block


def growth(shape: tuple[int, int, int], damping: float, part: float) -> float:
    """Largest |eigenvalue| of a step of `part` times the stable one: v += h M^-1 (-K x - C v), x += h v."""
    body, collision = block(shape, bond_damping=damping, contact_damping=damping), Collision()
    model, n = body.model, 6 * body.model.voxel_count
    h = part * body.stable_step(collision=collision, safety=1.0)
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
    K, C = K + np.diag(among[0].ravel()), C + np.diag(among[1].ravel())
    by_x, by_v = -h * K / mass[:, None], np.eye(n) - h * C / mass[:, None]
    step = np.block([[np.eye(n) + h * by_x, h * by_v], [by_x, by_v]])
    return float(np.abs(np.linalg.eigvals(step)).max())


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 2, 1)])
@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_the_step_is_the_largest_that_does_not_grow(shape: tuple[int, int, int], damping: float) -> None:
    """It is found to 1e-3; beyond it the eigenvalue -1 moves out, on this side none is larger than 1 (double roots
    of free motions are computed to 1e-7)."""
    assert growth(shape, damping, 0.995) < 1 + 1e-6
    assert growth(shape, damping, 1.005) > 1 + 1e-3


def test_a_step_that_was_found_before_is_where_to_begin() -> None:
    """From any start the same step is found, to the tolerance."""
    body = block((3, 2, 2), bond_damping=0.3)
    found = stable_step(body.model, safety=0.7)
    for start in (0.2 * found, found, 5.0 * found):
        assert stable_step(body.model, safety=0.7, start=start) == pytest.approx(found, rel=2e-3)
