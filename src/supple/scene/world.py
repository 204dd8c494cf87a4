"""Who makes the contact of bodies with obstacles, where a scene has obstacles and says nothing of contacts.

Contacts are found by `supple.contact`, which stands below the scene and registers itself here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from supple.errors import InputError

_makers: list[Callable[[], Any]] = []


def register_contact(make: Callable[[], Any]) -> None:
    """Make contacts with obstacles by this function, which returns something with `bind_contact`."""
    _makers[:] = [make]


def default_contact() -> Any:
    """A contact of all bodies with all obstacles."""
    if not _makers:
        raise InputError("nothing finds contacts with obstacles", where="scene", fix="Import supple.contact.")
    return _makers[0]()
