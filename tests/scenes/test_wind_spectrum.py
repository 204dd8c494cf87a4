"""The gusts of the wind have the spectrum of von Karman, to the percent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from supple.scene import Wind
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


def test_a_wind_has_gusts_of_its_length_and_intensity() -> None:
    """The field of a wind, as far as it can be measured at points that are far apart: rms of each component."""
    wind = Wind(velocity=(6.0, 8.0, 0.0), intensity=0.3, length=1.5, modes=9000, seed=3)
    assert 0.75 * np.pi * np.mean(1 / np.linalg.norm(wind.flow.k, axis=1)) == pytest.approx(1.5, rel=3e-3)
    gusts = wind.at(np.random.default_rng(0).uniform(-1e3, 1e3, (20_000, 3)), 5.0) - [6.0, 8.0, 0.0]
    np.testing.assert_allclose(np.sqrt((gusts**2).mean(axis=0)), 3.0, rtol=0.02)  # of 20000 samples: 0.005
    np.testing.assert_allclose(gusts.mean(axis=0), 0.0, atol=0.1)
