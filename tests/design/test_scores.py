"""Scores of tasks and what they are found from, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.design.tasks.score_kernels import LOWEST, NEAREST, SUMMARY, UPRIGHT, compute_summary
from supple.design.tasks.scores import SCORES, Moment


def test_a_summary_is_that_of_its_voxels() -> None:
    """Voxels of 1 and 2 cm with masses 1 and 3, the first turned by 60 degrees about x: the mean cosine is 3/4."""
    x = np.zeros((2, 7))
    x[:, :3] = [(0.0, 0.1, 0.02), (0.04, 0.1, 0.05)]
    x[:, 3:] = rotations.exp(np.array([(np.pi / 3, 0.0, 0.0), (0.0, 0.0, 0.7)]))
    found = np.full(SUMMARY, np.nan)
    compute_summary(x, np.array([1.0, 3.0]), np.array([0.01, 0.02]), np.array([0.04, 0.1, 0.25]), found)
    assert found[:3] == pytest.approx([0.03, 0.1, 0.0425], rel=1e-12)
    assert found[LOWEST] == pytest.approx(0.015, rel=1e-12)
    assert found[UPRIGHT] == pytest.approx(0.75, rel=1e-12)
    assert found[NEAREST] == pytest.approx(0.2, rel=1e-12)


@pytest.mark.parametrize("size", [(0.01, 0.04), (0.04, 0.01)])
def test_the_lowest_underside_is_that_of_the_voxel_that_reaches_lowest(size: tuple[float, float]) -> None:
    """Voxels at one height: the larger one reaches lowest, whichever it is."""
    x = np.zeros((2, 7))
    x[:, 2], x[:, 3] = 0.05, 1.0
    found = np.full(SUMMARY, np.nan)
    compute_summary(x, np.ones(2), np.array(size), np.zeros(3), found)
    assert found[LOWEST] == pytest.approx(0.05 - 0.02, rel=1e-12)


def test_reaching_counts_from_a_quarter_of_a_metre() -> None:
    """The best so far stays."""
    far, near = np.zeros(SUMMARY), np.zeros(SUMMARY)
    far[NEAREST], near[NEAREST] = 0.31, 0.05
    reach, start = SCORES["reach"], Moment(far, far)
    assert reach(start, start, -np.inf) == pytest.approx(-0.06, rel=1e-12)
    best = reach(start, Moment(near, near), -0.06)
    assert best == pytest.approx(0.2, rel=1e-12)
    assert reach(start, start, best) == best
