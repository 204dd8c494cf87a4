"""Friction between bodies of every two kinds: what holds, what slides, and how fast."""

from __future__ import annotations

import pytest

from supple.validation.contact_friction import CASES

FAST = ("rigid-tree", "tree-layered", "voxel-voxel")


def marks(case: str) -> list[pytest.MarkDecorator]:
    return [] if case.endswith(FAST) else [pytest.mark.slow]


@pytest.mark.parametrize("case", [pytest.param(case, marks=marks(case)) for case in CASES])
def test_a_block_holds_below_the_slope_of_friction_and_slides_above(case: str) -> None:
    for row in CASES[case]():
        assert row.ok, row
