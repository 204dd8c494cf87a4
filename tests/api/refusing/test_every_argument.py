"""Each argument of what is public, given a value of a wrong kind, answers in words, never with an error of Python's."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.refusing.every_call import CALLS
from tests.api.refusing.method_calls import METHOD_CALLS
from tests.api.refusing.other_calls import OTHER_CALLS
from tests.requiring import missing

import supple as sp
from supple.errors import InputError, MissingExtraError, SuppleError

WRONG: dict[str, Any] = {
    "nothing": None,
    "a text": "nope",
    "no number": float("nan"),
    "a thing": object(),
    "rows of different lengths": [[1], [2, 3]],
    "no rows": [],
    "texts": ["a", "b", "c"],
    "a table": {"a": 1},
    "a function of text": lambda *given: "x",
    "an array": np.ones((2, 2)),
    "an infinite number": float("inf"),
    "a negative number": -1.5,
    "nearly nothing": 1e-320,
    "more than can be squared": 1e308,
    "more than an integer of 64 bits": 2**63,
    "more than a float": 10**400,
    "a fraction": Fraction(1, 3),
    "half precision": np.float16(1.0),
    "bytes": b"ab",
    "nothing, three times": (None, None, None),
    "no numbers, three times": (float("nan"),) * 3,
    "no length": (0.0, 0.0, 0.0),
    "no points": np.zeros((0, 3)),
    "an array of no axis": np.array(3.0),
    "an array of many axes": np.zeros((1, 1, 1, 1, 1)),
    "things": np.array([None, "a"], dtype=object),
    "a function of nothing useful": lambda *given: None,
}


NOT_CALLED = {
    "Node": "made by Scene.add",
    "State": "plain arrays; every call that takes one checks that it fits",
    "System": "made by Scene.compile",
    "World": "has no arguments",
    "register_kind": "acts on the whole process; tests/api/test_kinds.py",
}
"""What is public and has no call of its own, and why."""


def test_every_public_callable_is_called_or_has_a_reason() -> None:
    public = {name for name in sp.__all__ if callable(getattr(sp, name))}
    called = {name.split(".")[0] for name in CALLS}
    assert called | NOT_CALLED.keys() == public
    assert not called & NOT_CALLED.keys()


ALL = CALLS | OTHER_CALLS | METHOD_CALLS


@pytest.mark.parametrize("name", ALL)
def test_the_right_call_is_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ALL[name].function()
        except MissingExtraError as error:
            missing(str(error))


@pytest.mark.parametrize("name", ALL)
def test_a_wrong_argument_is_refused_in_words(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or taken, where it makes sense."""
    monkeypatch.chdir(tmp_path)
    raw = []
    for argument in ALL[name].names:
        for kind, wrong in WRONG.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    ALL[name].function(**{argument: wrong})
                except SuppleError:
                    pass
                except Exception as error:
                    raw.append(f"{argument} given {kind}: {type(error).__name__}: {error}")
    assert not raw, "\n".join(raw)


def test_names_in_the_place_of_nodes_are_refused() -> None:
    """They were taken without a word, and no body touched itself."""
    with pytest.raises(InputError, match="nodes of the scene"):
        sp.Contact(self_contact=["grains"])  # type: ignore[list-item]
