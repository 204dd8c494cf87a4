"""Every validation case of voxel lattices holds."""

from __future__ import annotations

import pytest

from supple.validation.voxel import CASES


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name: str) -> None:
    for row in CASES[name]():
        assert row.ok, row
