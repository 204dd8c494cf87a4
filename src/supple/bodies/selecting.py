"""Numbers of points given by a person, checked: for kinds whose points have no mesh to name regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import InputError

Array = np.ndarray


def check_numbers(given: Any, count: int) -> Array:
    """Numbers (k,) of `count` points; an InputError where there are none or one is out of range."""
    index = np.asarray(given, dtype=np.int64).ravel()
    if index.size == 0:
        raise InputError("the selection is empty")
    if index.min() < 0 or index.max() >= count:
        raise InputError(
            "a point's number is out of range",
            value=int(index[(index < 0) | (index >= count)][0]),
            allowed=f"0..{count - 1}",
        )
    return index
