"""The cases of `supple validate` that are quick hold; the longer ones are marked. Voxels have a file of their own."""

from __future__ import annotations

import pytest

from supple.validation import registry

SLOW = {
    "scene/spin",
    "fem/cantilever",
    "floating/spin-up",
    "floating/layered-flight",
    "floating/layered-fem",
    *(name for name in registry() if name.startswith("contact/pairs/") and name != "contact/pairs/particles-particles"),
    *(name for name in registry() if name.startswith("scene/couplings/")),
    *(name for name in registry() if name.startswith("design/")),
    "contact/rolling",
    "contact/friction",
    "tree/flower",
    "tree/fig7",
    "tree/parts-flower",
    "tree/parts-armadillo",
}
OTHERS = [name for name in registry() if not name.startswith("voxel/")]


CASES = [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in OTHERS]


@pytest.mark.parametrize("name", CASES)
def test_case_is_within_its_limits(name: str) -> None:
    rows = registry()[name]()
    assert rows
    for row in rows:
        assert row.ok, row
