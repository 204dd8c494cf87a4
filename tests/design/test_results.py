"""Results hold finite scores and known outcomes, and travel between processes."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from supple.design import Result
from supple.errors import InputError


def test_a_result_is_its_content() -> None:
    one = Result("k", "d", "finished", {"travel": 0.25}, 1.5)
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert hash(again) == hash(one)
    assert again.seconds == 1.5
    assert one == Result("k", "d", "finished", {"travel": 0.25}, 9.0)
    assert one != Result("k", "d", "finished", {"travel": 0.5}, 1.5)
    assert one.ok
    assert not Result("k", "d", "crashed", {"travel": -1e9}, message="it died").ok
    with pytest.raises(TypeError):
        one.scores["travel"] = 1.0  # type: ignore[index]


@pytest.mark.parametrize(("outcome", "score"), [("won", 1.0), ("finished", float("nan")), ("finished", float("inf"))])
def test_what_is_no_result_is_refused(outcome: Any, score: float) -> None:
    with pytest.raises(InputError, match="result"):
        Result("k", "d", outcome, {"travel": score})
