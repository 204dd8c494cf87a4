"""Showing: how scenes and runs show themselves in a notebook, by a widget, and as text where its extra is missing.

The widget needs what stands far below: it is looked up by its name when something is shown, and not before.
"""

from __future__ import annotations

import importlib
from typing import Any

from supple.errors import SuppleError

WIDGETS = "supple.notebook"


def mime_bundle(shown: Any, **options: Any) -> Any:
    """What IPython's display asks for, see its `_repr_mimebundle_`; None: as text."""
    try:
        found = importlib.import_module(WIDGETS).show(shown)._repr_mimebundle_(**options)
    except SuppleError:  # the extra is missing, or there is nothing that could be drawn
        return None
    if found is None:
        return None
    data, about = found
    return {**data, "text/plain": repr(shown)}, about
