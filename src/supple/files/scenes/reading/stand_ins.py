"""Stand-ins: bodies that take the place of those of a scene file, before what acts on them is read.

Regions and places are then found on the stand-in. Numbers of points mean others there, so that they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from supple.errors import SuppleError
from supple.files.scenes.places import Place
from supple.files.scenes.schema.acting import Points
from supple.files.scenes.schema.scene import Document
from supple.files.scenes.section import Section

ACTING = ("loads", "springs", "masses", "joints", "filters", "events")
"""Tables of a document that may name points of a body."""


def check_stand_in(document: Document, body: str, place: Place) -> None:
    """Refuse a document in which something acts on numbers of points of a body that another one stands in for."""
    for keys, section in _sections(document):
        if _is_numbered(section, body):
            raise _error(place.at(keys), body)


def _sections(document: Document) -> Iterator[tuple[str, Section]]:
    """Every section that acts, and the points in it, with their keys."""
    for kind in ACTING:
        for k, section in enumerate(getattr(document, kind)):
            yield f"{kind}[{k}]", section
            for key, value in section:
                if isinstance(value, Points):
                    yield f"{kind}[{k}].{key}", value


def _is_numbered(section: Any, body: str) -> bool:
    """Whether numbers of points of a body stand in a section, those inside it aside unless it is points."""
    if isinstance(section, Points):
        inner = [*(section.join or ()), *([] if section.of is None else [section.of])]
        numbers = section.numbers is not None or section.nodes is not None
        return any(_is_numbered(one, body) for one in inner) or (numbers and _counts(section, body))
    patches = (("a", "patch_a"), ("b", "patch_b"), ("body", "numbers"))
    return any(
        getattr(section, side, None) == body and isinstance(getattr(section, patch, None), np.ndarray)
        for side, patch in patches
    )


def _counts(points: Points, body: str) -> bool:
    """Whether the count of points depends on a body: all of it, or a region."""
    inner = [*(points.join or ()), *([] if points.of is None else [points.of])]
    if inner:
        return any(_counts(one, body) for one in inner)
    return points.body == body and points.at is None and points.local is None


def _error(place: Place, body: str) -> SuppleError:
    return place.error(
        f"this acts on numbers of the voxels of '{body}', which are others in each design",
        fix='Give a region = "x_min", ..., "z_max", or places: at = [[x, y, z], ...].',
    )
