"""Scene files with random damage: they load, or are refused in one short sentence."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from hypothesis import strategies as st

from supple.errors import SuppleError
from supple.files import load

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


def load_with_damaged_values(text: str, data: st.DataObject, folder: Path) -> None:
    """Replace or delete a value of a TOML text at random, and load what is left as JSON."""
    table = tomllib.loads(text)
    *above, key = data.draw(st.sampled_from(_places(table)[1:]))
    inner = table
    for part in above:
        inner = inner[part]
    if data.draw(st.booleans()):
        inner[key] = data.draw(JSON)
    else:
        del inner[key]
    path = folder / "scene.json"
    path.write_text(json.dumps(table), encoding="utf-8")
    load_or_refuse(path)


def load_or_refuse(path: Path) -> None:
    """Load a scene; an error is one of ours, in one line."""
    sentence = ""
    try:
        load(path).compile()
    except SuppleError as error:
        sentence = error.sentence()
    assert "\n" not in sentence
    assert len(sentence) < 1000


def _places(data: object, path: tuple = ()) -> list[tuple]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for key, value in items for place in _places(value, (*path, key)))]
