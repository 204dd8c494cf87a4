"""Controllers: own functions against numpy's, networks as data, errors that name the time."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense.function_kernels import compute_layer, compute_sines, exponential, hyperbolic_tangent
from supple.design.controllers import Network, Waves
from supple.errors import InputError


def test_functions_agree_with_the_library() -> None:
    x = np.concatenate([np.linspace(-30, 30, 6001), np.logspace(-12, 1, 200), [0.0, -0.0]])
    ours = np.full((len(x), 1), np.nan)
    compute_layer(np.ones((1, 1)), np.zeros(1), x[:, None], ours)
    np.testing.assert_allclose(ours[:, 0], np.tanh(x), rtol=1e-14, atol=0)
    wide = np.linspace(-700, 700, 2001)
    np.testing.assert_allclose([exponential(a) for a in wide], np.exp(wide), rtol=1e-14)
    sines = np.full_like(x, np.nan)
    compute_sines(x, sines)
    np.testing.assert_allclose(sines, np.sin(2 * np.pi * (x - np.round(x))), rtol=0, atol=1e-14)


def test_functions_at_their_ends() -> None:
    assert exponential(1e4) == np.inf
    assert exponential(-1e4) == 0.0
    assert hyperbolic_tangent(100.0) == 1.0
    assert hyperbolic_tangent(-100.0) == -1.0
    assert np.isnan(hyperbolic_tangent(np.nan))


def test_network_is_data() -> None:
    network = Network.random([14, 6, 1], seed=3)
    again = Network.from_data(network.to_data())
    given = np.random.default_rng(0).normal(size=(20, 14))
    assert np.array_equal(network(given), again(given))
    (w0, b0), (w1, b1) = network.layers
    np.testing.assert_allclose(network(given), np.tanh(np.tanh(given @ w0.T + b0) @ w1.T + b1), rtol=1e-12)


def test_random_weights_fill_their_range() -> None:
    """Evenly from -s/sqrt(k) to s/sqrt(k) for k inputs: the largest of ten thousand are within a thousandth of it."""
    (weights, biases), (second, _) = Network.random([100, 200, 100], seed=1, scale=3.0).layers
    for values, reach in ((weights, 0.3), (second, 3.0 / np.sqrt(200))):
        assert 0.999 * reach < np.abs(values).max() <= reach
        assert np.abs(values).mean() == pytest.approx(reach / 2, rel=0.02)
    assert np.abs(biases).max() <= 0.3


def test_network_that_is_not_finite_names_the_time() -> None:
    network = Network([([[1.0]], [0.0])])
    with pytest.raises(InputError, match=r"t = 0.35 s"):
        network.act(0.35, np.full((1, 1, 1, 1), np.nan))


@pytest.mark.parametrize(
    "layers",
    [[], [([[1.0, 2.0]], [0.0, 1.0])], [([[np.nan]], [0.0])], [([[1.0]], [0.0]), ([[1.0, 1.0]], [0.0])], [3]],
)
def test_bad_networks_are_refused(layers: list) -> None:
    with pytest.raises(InputError):
        Network(layers)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"kind": "wave"}, r"not a network \(got 'wave'"),
        ({"kind": "network"}, r"no row of layers \(got 'NoneType'"),
        ({"kind": "network", "layers": "all"}, r"no row of layers \(got 'str'"),
        ({"kind": "network", "layers": [{"weights": [[1.0]]}]}, "lacks weights or biases"),
    ],
)
def test_data_that_is_no_network_is_told_apart(data: dict, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Network.from_data(data)


def test_waves_are_sines() -> None:
    phase = np.linspace(0, 1, 8).reshape(2, 2, 2)
    expected = np.sin(2 * np.pi * (2.0 * 0.3 + phase))
    np.testing.assert_allclose(Waves(2.0, phase).act(0.3), expected, atol=1e-14)
