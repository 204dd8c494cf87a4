"""What published baselines are compared by: to the bit on x86 with FMA, within their spread elsewhere."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from numba.core import config

from supple.design.tasks.baselines import load_baselines
from supple.validation.design.tasks import baseline_row, is_x86_with_fma

STORED = load_baselines()


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("kind", ["random", "searched"])
def test_scores_in_their_spread_pass_where_bits_differ(name: str, kind: str) -> None:
    published = STORED[name][kind]
    spread = np.std(published, ddof=1)
    moved = [(k, published[k] + step * spread) for k in range(3) for step in (-0.9, 0.9)]
    for k, value in moved if spread > 0 else []:
        scores = [*published[:k], value, *published[k + 1 :]]
        assert not baseline_row(name, kind, scores, published, exact=True).ok
        row = baseline_row(name, kind, scores, published, exact=False)
        assert (row.ok, row.value) == (True, pytest.approx(0.9))
        scores[k] = published[k] + 1.1 * (value - published[k]) / 0.9
        assert not baseline_row(name, kind, scores, published, exact=False).ok
    for exact in (True, False):
        assert baseline_row(name, kind, published, published, exact=exact).value == 0.0


def test_scores_without_a_spread_must_not_differ() -> None:
    """Random robots do not jump, whatever the last bits are."""
    assert STORED["jump-v1"]["random"] == [0.0, 0.0, 0.0]
    assert baseline_row("jump-v1", "random", [0.0] * 3, [0.0] * 3, exact=False).ok
    assert not baseline_row("jump-v1", "random", [0.0, 1e-9, 0.0], [0.0] * 3, exact=False).ok


def test_a_row_says_which_criterion_it_is_of() -> None:
    ours = STORED["walk-v1"]["searched"]
    bits, spread = (baseline_row("walk-v1", "searched", ours, ours, exact=exact) for exact in (True, False))
    assert "that differ, of 3" in bits.quantity
    assert "x86 with FMA" in bits.source
    assert "in spreads" in spread.quantity
    assert "without FMA" in spread.source
    assert (bits.limit, spread.limit) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("features", "machine", "fused"),
    [("+avx,+fma", "x86_64", True), ("+avx,-fma", "x86_64", False), ("+avx", "AMD64", False), ("+fma", "arm64", False)],
)
def test_the_processor_decides(features: str, machine: str, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that kernels are compiled for."""
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert is_x86_with_fma() is fused
