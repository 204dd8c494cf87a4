"""The oak with few leaves: the example's own assertions on a tree that is made in seconds."""

from __future__ import annotations

import supple as sp
from supple.examples.oak import EXAMPLE, check, make


def test_a_small_oak_bends_downwind() -> None:
    run = sp.run(make(leaves=60), until=EXAMPLE.until, record_every=EXAMPLE.record_every)
    for row in check(run):
        assert row.ok, row
