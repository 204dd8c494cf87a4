"""The gusts of the wind have the spectrum of von Karman, to the percent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from supple.scene.acting.wind import SHORTEST, waves


@pytest.mark.parametrize("length", [0.5, 2.0])
def test_the_wave_lengths_share_out_the_spectrum(length: float) -> None:
    """Waves of equal amplitude: the mean of 1/k is 4 L / (3 pi) [VonKarman48]. Lengths are drawn in 3000 strata, which
    leaves an error of less than 1e-3; quantiles of k follow from E(k) alone."""
    k, a, _ = waves(3000, length, 7)
    size = np.linalg.norm(k, axis=1)
    assert np.ptp(np.linalg.norm(a, axis=1)) < 1e-12
    assert 0.75 * np.pi * np.mean(1 / size) == pytest.approx(length, rel=1e-3)

    def energy(z: float) -> float:
        return z**4 / (1 + z * z) ** (17 / 6)

    whole = quad(energy, 0, SHORTEST, limit=200)[0]
    scale = 0.75 * np.pi * quad(lambda z: energy(z) / z, 0, SHORTEST, limit=200)[0] / whole / length
    for part in (0.1, 0.5, 0.9):
        z = np.quantile(size, part) / scale
        assert quad(energy, 0, z, limit=200)[0] / whole == pytest.approx(part, abs=2e-3)
