"""The oak with few leaves: the example's own assertions on a tree that is made in seconds; and all of it, for long."""

from __future__ import annotations

import pytest

import supple as sp
from supple.examples.oak import EXAMPLE, check, make


def test_a_small_oak_bends_downwind() -> None:
    run = sp.run(make(leaves=60), until=EXAMPLE.until, record_every=EXAMPLE.record_every)
    for row in check(run):
        assert row.ok, row


@pytest.mark.slow
def test_the_oak_stands_ten_seconds_of_wind() -> None:
    run = sp.run(make(), until=10.0, record_every=EXAMPLE.record_every)
    assert run.outcome == "finished"
    assert run.under_converged == 0
    assert (run.energies.kinetic + run.energies.potential).max() < 100.0  # [J]; 38 in its strongest gust
