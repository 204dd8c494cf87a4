"""What pydantic finds wrong, as one sentence with the file, the path of the key and what to do."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from supple.errors import FileFormatError, SuppleError
from supple.files.scenes.section import one_line, shorten

_SENTENCES = {
    "string_type": "is not text",
    "bool_type": "is neither true nor false",
    "int_type": "is not a whole number",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "too_long": "has too many entries",
    "list_type": "is not a list",
    "dict_type": "is not a table of keys",
    "literal_error": "is not a known choice",
}


def path_text(parts: tuple[Any, ...]) -> str:
    """A path as a person writes it: bodies[0].mesh.box."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def as_format_error(error: ValidationError, file: str) -> FileFormatError:
    """The first complaint of a validation, about a file."""
    parts, fields = _first(error, ())
    path = one_line(path_text(parts))
    shown = {k: one_line(v) if isinstance(v, str) and k != "value" else v for k, v in fields.items()}
    return FileFormatError(where=f"{file}, {path}" if path else file, **shown)


def _first(error: ValidationError, before: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    found = error.errors(include_url=False)[0]
    parts = (*before, *found["loc"])
    kind, context = found["type"], found.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ValidationError):
        return _first(cause, parts)
    if isinstance(cause, SuppleError):
        fields = {"what": cause.what, "value": cause.value, "allowed": cause.allowed, "fix": cause.fix}
    elif kind == "supple":
        fields = {name: context.get(name) for name in ("what", "value", "allowed", "fix")}
        if context.get("key") is not None:
            parts = (*parts, context["key"])
    elif kind == "missing":
        fields = {"what": "the key is missing"}
    else:
        fields = {"what": _SENTENCES.get(kind, found["msg"]), "value": shorten(found.get("input"))}
        fields["allowed"] = context.get("expected")
    return parts, fields
