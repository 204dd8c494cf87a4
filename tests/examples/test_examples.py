"""Every built-in scene runs and ends in its physical assertion."""

from __future__ import annotations

import pytest

import supple as sp
from supple.examples import registry

LARGE = {"letters", "dragon", "space-station", "oak"}  # their modes take minutes to find where nothing is kept
LONG = {"stack", "gripper", "garden"}  # ten seconds and more, with contacts in every step


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * (name in LARGE | LONG)


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in sorted(registry())])
def test_example_keeps_its_physics(name: str) -> None:
    example = registry()[name]
    run = sp.run(example.make(), until=example.until, record_every=example.record_every)
    checks = example.check(run)
    assert checks
    for check in checks:
        assert check.ok, check
