"""Kinds of bodies that users bring, in scene files: how a body becomes a table of keys, and a table a body.

A scene file names a kind; it never brings code. Whoever loads it has registered the kind before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from supple.bodies.body_protocol import Body, check_body
from supple.errors import InputError, check_instance

BUILT_IN = ("fem", "rigid", "particles", "voxel", "tree", "floating", "layered", "group")
PLACED = ("kind", "name", "under", "at", "rotation", "velocity", "spin", "colour", "fix")


@dataclass(frozen=True)
class FileKind:
    """body: the class. read: a body from its keys; write: the keys of a body."""

    body: type
    read: Callable[[Mapping[str, Any]], Any]
    write: Callable[[Any], Mapping[str, Any]]

    def build(self, keys: Mapping[str, Any]) -> Body:
        """The body of the keys of a table."""
        try:
            made = self.read(keys)
        except KeyError as error:
            raise InputError("a key is missing", value=str(error.args[0]) if error.args else None) from error
        check_body(made)
        return made  # type: ignore[no-any-return]

    def describe(self, body: Any) -> dict[str, Any]:
        """The keys of a body, which leave those of its place free."""
        table = dict(self.write(body))
        for key in table:
            if key in PLACED:
                raise InputError("a key of a body's place is taken", where=self.body.__name__, value=key)
        return table


_KINDS: dict[str, FileKind] = {}


def register_kind(
    body: type, *, read: Callable[[Mapping[str, Any]], Any], write: Callable[[Any], Mapping[str, Any]]
) -> None:
    """Let scene files hold bodies of a class of yours, under its name `body.kind`.

    read: makes a body from its keys (numbers, texts, lists, tables); write: gives the keys of a body, as plain values
    or arrays. The keys of its place (name, at, rotation, velocity, spin, colour, fix, under) are read and written for
    it. Registering again replaces what was registered. Files never register anything.

    >>> import supple as sp
    >>> sp.register_kind(int, read=dict, write=dict)
    Traceback (most recent call last):
    supple.errors.InputError: register_kind: the class has no name for its kind (got 'int'). Give it an attribute kind.
    """
    check_instance(body, type, "a class", where="register_kind")
    kind = vars(body).get("kind")
    if not isinstance(kind, str) or not kind:
        raise InputError(
            "the class has no name for its kind",
            where="register_kind",
            value=body.__name__,
            fix="Give it an attribute kind.",
        )
    if kind in BUILT_IN:
        raise InputError("the kind is built in", where="register_kind", value=kind, fix="Choose another name.")
    _KINDS[kind] = FileKind(body, read, write)


def registered_kinds() -> dict[str, FileKind]:
    """What was registered, by kind."""
    return _KINDS
