"""What published baselines are compared by: to the bit on x86 with FMA, within what rounding does elsewhere."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest
from numba.core import config

from supple.design import Design, try_design
from supple.design.tasks import find_task, tasks
from supple.design.tasks.baselines import load_baselines
from supple.design.tasks.rounding import FLOOR, SHIFT, Shifted, band_of, widths_off
from supple.validation.design.tasks import baseline_row, is_x86_with_fma

STORED = load_baselines()


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("kind", ["random", "searched"])
def test_scores_that_rounding_makes_pass_where_bits_differ(name: str, kind: str) -> None:
    published, bands = STORED[name][kind], STORED[name]["bands"][kind]

    def row(scores: list[float], *, exact: bool) -> Any:
        return baseline_row(name, kind, scores, published, bands, exact=exact)

    for k, (least, greatest) in enumerate(bands):
        assert least <= published[k] <= greatest
        width = max(greatest - least, FLOOR)
        for edge, away in ((least, -width), (greatest, width)):
            near, far = ([*published[:k], edge + part * away, *published[k + 1 :]] for part in (1.9, 2.1))
            assert not row(near, exact=True).ok
            assert (row(near, exact=False).ok, row(near, exact=False).value) == (True, pytest.approx(1.9, rel=1e-6))
            assert not row(far, exact=False).ok
    for exact in (True, False):
        assert row(published, exact=exact).value == 0.0


def test_a_row_says_which_criterion_it_is_of() -> None:
    ours, bands = STORED["walk-v1"]["searched"], STORED["walk-v1"]["bands"]["searched"]
    bits, off = (baseline_row("walk-v1", "searched", ours, ours, bands, exact=exact) for exact in (True, False))
    assert "that differ, of 3" in bits.quantity
    assert "x86 with FMA" in bits.source
    assert "in widths" in off.quantity
    assert "without FMA" in off.source
    assert (bits.limit, off.limit) == (0.0, 2.0)


def test_shifts_are_next_to_nothing_and_change_the_path() -> None:
    """All bodies of a task start within 1e-14 m of where they do, and end elsewhere in the last bits."""
    task = find_task("push-v1")
    design = Design.from_json(STORED["push-v1"]["designs"][0])
    plain, shifted = task.scene(design), Shifted(task, 1).scene(design)
    moved = [two.placement.at - one.placement.at for one, two in zip(plain.nodes, shifted.nodes, strict=True)]
    assert len(moved) == 2
    assert 0 < np.abs(moved).max() < 1.01 * SHIFT
    scores = {try_design(design, Shifted(task, number)).scores["score"] for number in (1, 1, 2)}
    assert len(scores) == 2
    assert len({Shifted(task, 1).key(), Shifted(task, 2).key(), Shifted(tasks()["jump-v1"], 1).key()}) == 3


def test_the_band_of_a_robot_that_does_not_move_is_its_score() -> None:
    task = find_task("jump-v1")
    low, high = band_of(task, Design(np.full((2, 2, 2), 3), {"gain": np.zeros((2, 2, 2))}), 0.0)
    assert (low, high) == (0.0, pytest.approx(0.0, abs=1e-9))
    assert widths_off(1e-9, (0.0, 0.0)) == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("features", "machine", "fused"),
    [("+avx,+fma", "x86_64", True), ("+avx,-fma", "x86_64", False), ("+avx", "AMD64", False), ("+fma", "arm64", False)],
)
def test_the_processor_decides(features: str, machine: str, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that kernels are compiled for."""
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert is_x86_with_fma() is fused
