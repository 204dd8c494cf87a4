"""Designs are data: the same content is the same design, and bad content is refused with what to do."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

from supple.design import Design, is_one_piece, largest_piece
from supple.errors import FileFormatError, InputError, SuppleError


def walker() -> Design:
    rng = np.random.default_rng(3)
    cells = rng.integers(1, 3, (3, 2, 2))
    weights = {"weights": rng.normal(size=(4, 3)).astype(np.float32), "rates": [1.0, 2], "name": "n"}
    return Design(cells, {"phase": rng.uniform(size=cells.shape), "gain": np.ones(cells.shape)}, {"network": weights})


def test_content_is_the_design() -> None:
    one = walker()
    back = Design.from_json(json.loads(json.dumps(one.to_json())))
    again = pickle.loads(pickle.dumps(one))
    for other in (back, again, Design(one.cells, dict(reversed(one.fields.items())), one.controller)):
        assert other == one
        assert hash(other) == hash(one)
        assert other.key() == one.key()
    np.testing.assert_array_equal(back.fields["phase"], one.fields["phase"])
    assert back.controller["network"]["weights"].dtype == np.float32  # type: ignore[index]


def test_keys_do_not_depend_on_the_machine() -> None:
    known = Design(np.array([[[1, 2]]]), {"phase": np.array([[[0.0, 0.25]]])}, {"a": [1, 2.0, "x", None, True]})
    assert known.key() == KNOWN


KNOWN = "57ebfce2d4ea8620dc831d9789412942ed16ae3ccb00aed5c6376035555caf4f"


@pytest.mark.parametrize("what", ["cell", "phase", "controller", "field's name", "shape"])
def test_any_change_is_another_design(what: str) -> None:
    cells, phase = np.ones((2, 2, 1)), np.full((2, 2, 1), 0.5)
    one = Design(cells, {"phase": phase}, {"a": 1})
    other = {
        "cell": lambda: Design(np.where(np.arange(4).reshape(2, 2, 1) == 0, 2, 1), {"phase": phase}, {"a": 1}),
        "phase": lambda: Design(cells, {"phase": np.nextafter(phase, 1)}, {"a": 1}),
        "controller": lambda: Design(cells, {"phase": phase}, {"a": 1.0}),
        "field's name": lambda: Design(cells, {"gain": phase}, {"a": 1}),
        "shape": lambda: Design(cells.reshape(2, 1, 2), {"phase": phase.reshape(2, 1, 2)}, {"a": 1}),
    }[what]()
    assert other != one


def test_fields_of_empty_cells_do_not_count() -> None:
    cells = np.array([[[1, 0]]])
    phases = [{"phase": np.array([[[0.5, other]]])} for other in (0.0, 7.0, np.nan, -0.0)]
    assert len({Design(cells, fields).key() for fields in phases}) == 1


def test_nobody_can_change_a_design() -> None:
    cells = np.ones((2, 1, 1), dtype=np.uint8)
    weights = np.zeros(3)
    one = Design(cells, {"phase": np.zeros((2, 1, 1))}, {"w": weights})
    key = one.key()
    cells[0], weights[:] = 2, 1.0
    assert Design.from_json(one.to_json()).key() == key
    for array in (one.cells, one.fields["phase"], one.controller["w"]):  # type: ignore[index]
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1
    with pytest.raises(TypeError):
        one.fields["gain"] = weights  # type: ignore[index]


BAD: dict[str, tuple[Any, Any, Any, str]] = {
    "empty": (np.zeros((2, 2, 2)), {}, None, "Fill at least one cell"),
    "two pieces": ([[[1, 0, 1]]], {}, None, "largest_piece"),
    "joined by an edge": ([[[1, 0], [0, 1]]], {}, None, "not one piece"),
    "flat": (np.ones((2, 2)), {}, None, "whole numbers"),
    "half a number": (np.full((1, 1, 1), 0.5), {}, None, "number of the palette"),
    "too large": (np.full((1, 1, 1), 300), {}, None, "number of the palette"),
    "negative": (np.full((1, 1, 1), -1), {}, None, "number of the palette"),
    "not a number": (np.full((1, 1, 1), np.nan), {}, None, "number of the palette"),
    "text": ("abc", {}, None, "whole numbers"),
    "ragged": ([[[1, 0], [1]]], {}, None, "whole numbers"),
    "field's shape": (np.ones((2, 1, 1)), {"phase": np.zeros(2)}, None, "another shape"),
    "field of NaN": (np.ones((1, 1, 1)), {"phase": np.full((1, 1, 1), np.nan)}, None, "not finite"),
    "field of text": (np.ones((1, 1, 1)), {"phase": "abc"}, None, "does not hold numbers"),
    "function": (np.ones((1, 1, 1)), {}, {"f": print}, "not plain data"),
    "objects": (np.ones((1, 1, 1)), {}, {"a": np.array([None])}, "does not hold numbers"),
    "list": (np.ones((1, 1, 1)), {}, [1], "not a mapping"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_designs_are_refused(name: str) -> None:
    cells, fields, controller, message = BAD[name]
    with pytest.raises(InputError, match=message):
        Design(cells, fields, controller)


@pytest.mark.parametrize("change", [
    lambda d: d.clear(), lambda d: d.update(design=2), lambda d: d.pop("cells"), lambda d: d["cells"].update(data="!!"),
    lambda d: d["cells"].update(array="|O"), lambda d: d["cells"].update(shape=[9, 9, 9]),
    lambda d: d["cells"].update(shape="x"),
])  # fmt: skip
def test_damaged_json_is_refused(change: Any) -> None:
    data = walker().to_json()
    change(data)
    with pytest.raises(SuppleError):
        Design.from_json(data)
    with pytest.raises(FileFormatError):
        Design.from_json(3)


def test_largest_piece_makes_a_design() -> None:
    rng = np.random.default_rng(0)
    cells = (rng.uniform(size=(5, 5, 5)) < 0.35).astype(int)
    assert not is_one_piece(cells)
    piece = largest_piece(cells)
    assert is_one_piece(piece)
    assert ((piece == cells) | (piece == 0)).all()
    assert Design(piece).voxel_count > 1
