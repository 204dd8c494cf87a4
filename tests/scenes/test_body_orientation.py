"""The orientation that is reported of a deformed soft body: the best rotation, points weighted by their masses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import supple as sp
from supple.algebra.dense import rotations
from supple.record.measures import measure_bodies


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_mass_weighted_best_rotation_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, mass = rng.normal(size=(12, 3)), rng.uniform(0.1, 10.0, size=12)
    turned = Rotation.from_rotvec(rng.normal(size=3))
    x = turned.apply(X) + 0.3 * rng.normal(size=X.shape) + rng.normal(size=3)
    scene = sp.Scene()
    scene.add(sp.Particles(X, mass), name="cloud")
    system = scene.compile()
    state = system.initial_state()
    state.x[:] = x.ravel()
    found = rotations.to_matrix(measure_bodies(system, state)[0].orientation)
    centred = [p - np.average(p, axis=0, weights=mass) for p in (x, X)]
    expected = Rotation.align_vectors(*centred, weights=mass)[0].as_matrix()
    even = Rotation.align_vectors(*centred)[0].as_matrix()
    assert np.abs(found - expected).max() < 1e-12
    assert np.abs(even - expected).max() > 1e-3  # masses matter here
