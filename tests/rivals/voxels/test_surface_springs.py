"""Springs between a lattice and other bodies, as the sweep finds them, are those that act between all other kinds."""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.touching.surface_contact_kernels import spring_force
from supple.interaction.springs import SpringForce


@compiled
def compute_pulls(k, c, rest, e, u, f_out):
    for m in range(len(k)):
        way, speed = (e[m, 0], e[m, 1], e[m, 2]), (u[m, 0], u[m, 1], u[m, 2])
        f_out[m, 0], f_out[m, 1], f_out[m, 2] = spring_force(k[m], c[m], rest[m], way, speed)


def test_a_spring_of_the_sweep_is_a_spring() -> None:
    """Pulls of both on the far end, with a rest length and without, at random places and speeds."""
    rng, count = np.random.default_rng(0), 20
    k, c, rest = rng.uniform(1, 10, count), rng.uniform(0.1, 1, count), rng.uniform(0.5, 2, count)
    rest[::3] = 0.0
    e, u = rng.normal(size=(2, count, 3))
    found = np.full((count, 3), np.nan)
    compute_pulls(k, c, rest, e, u, found)
    pairs = np.arange(2 * count).reshape(count, 2)
    x, v, f = np.zeros((3, 2 * count, 3))
    x[1::2], v[1::2] = e, u
    SpringForce.make(pairs, k, rest, c, where="test").add_force(LocalState(0.0, x, v), f)
    np.testing.assert_allclose(found, f[1::2], rtol=1e-12, atol=1e-12)
