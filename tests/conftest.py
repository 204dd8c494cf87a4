"""For all tests: those of random inputs are not judged by the clock, which runs on while other work has the machine.
Where several workers share the tests, those of a file go to one of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
TESTS = Path(__file__).parent
SPREAD = ("analytic/test_validation.py",)
"""Files of many long tests that share nothing, which go wherever there is room."""


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of a file go to one worker: the studio, the browser and the kernels that they share are begun once, and
    no second studio of theirs runs beside the first one."""
    for item in items:
        file = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else item.path.name
        if file not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(file))
