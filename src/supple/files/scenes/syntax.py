"""Text and plain data: TOML and JSON, read with bounds on size and depth, and written."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.errors import FileFormatError, InputError, RecordError
from supple.geometry.files.file_guard import read_bounded
from supple.geometry.files.mesh_files import SUFFIXES as MESH_SUFFIXES

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 40
SUFFIXES = (".toml", ".json")
VOXCAD_SUFFIXES = (".vxa", ".vxc", ".vxd")


def check_suffix(path: Path) -> str:
    """The suffix of a scene file; refuses others, with what to do instead."""
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return suffix
    fix = None
    if suffix in MESH_SUFFIXES:
        fix = "A mesh is a shape without physics: use supple.load_mesh and put it in a FemBody."
    raise InputError("this is not a scene file", where=path.name, allowed=", ".join(SUFFIXES), fix=fix)


def read_data(path: Path) -> Any:
    """The plain data of a scene file."""
    suffix = check_suffix(path)
    text = _read_text(path)
    try:
        data = tomllib.loads(text) if suffix == ".toml" else json.loads(text, object_pairs_hook=_unique)
    except tomllib.TOMLDecodeError as error:
        raise FileFormatError(f"not TOML: {_lowered(str(error))}", where=path.name) from error
    except json.JSONDecodeError as error:
        what = f"not JSON: {_lowered(error.msg)} (at line {error.lineno}, column {error.colno})"
        raise FileFormatError(what, where=path.name) from error
    except RecursionError as error:
        raise FileFormatError("the tables are nested too deeply", where=path.name) from error
    except ValueError as error:
        raise FileFormatError(f"a value cannot be read: {_lowered(str(error))}", where=path.name) from error
    _check_depth(data, path.name)
    return data


def _read_text(path: Path) -> str:
    try:
        data = read_bounded(path, MAX_BYTES, fix="Keep large meshes in files of their own.")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"not text: byte {error.start} cannot be read", where=path.name) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        double, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key '{double[:60]}' stands twice in one table")
    return table


def _check_depth(data: Any, file: str) -> None:
    level = [data]
    for _ in range(MAX_DEPTH):
        level = [v for d in level for v in _children(d)]
        if not level:
            return
    raise FileFormatError("the tables are nested too deeply", where=file, allowed=f"{MAX_DEPTH} levels")


def _children(data: Any) -> list[Any]:
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [v for v in inner if isinstance(v, dict | list)]


def _lowered(text: str) -> str:
    """A library's message as the middle of a sentence."""
    text = " ".join(text.split())[:200].rstrip(".")
    return text[:1].lower() + text[1:]


def write_data(path: Path, data: dict[str, Any]) -> None:
    """Write plain data as a scene file; the old file stays until the new one is complete."""
    writers: dict[str, Callable[[dict[str, Any]], str]] = {".toml": _toml, ".json": _json}
    text = writers[check_suffix(path)](data)
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(text.encode("utf-8"))
        part.replace(path)
    except UnicodeEncodeError as error:
        raise InputError(
            "a name cannot be written as text", where=path.name, value=error.object[error.start]
        ) from error
    except OSError as error:
        raise RecordError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def _toml(data: dict[str, Any]) -> str:
    """TOML with a section for each table, also of a list; what is inside stays on one line a key."""
    lines = [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in data.items() if not _is_section(v)]
    for key, value in data.items():
        if _is_section(value):
            nested = isinstance(value, dict) and all(isinstance(v, dict) for v in value.values())
            parts = value.items() if nested else [(None, v) for v in (value if isinstance(value, list) else [value])]
            for name, table in parts:
                head = _toml_key(key) if name is None else f"{_toml_key(key)}.{_toml_key(name)}"
                lines += ["", f"[[{head}]]" if isinstance(value, list) else f"[{head}]"]
                lines += [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in table.items()]
    return "\n".join(lines) + "\n"


def _is_section(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict) for v in value))


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _toml_value(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    if isinstance(value, int | float):
        return str(value).lower()
    import tomli_w

    return tomli_w.dumps({"k": value}).removeprefix("k = ").rstrip("\n")


def _json(data: Any, indent: str = "") -> str:
    """JSON with a line for each key and each table; lists of numbers stay on one line."""
    inner = indent + "  "
    if isinstance(data, dict) and data:
        lines = [f"{inner}{json.dumps(k, ensure_ascii=False)}: {_json(v, inner)}" for k, v in data.items()]
        text = "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    elif isinstance(data, list) and any(isinstance(v, dict) for v in data):
        text = "[\n" + ",\n".join(inner + _json(v, inner) for v in data) + f"\n{indent}]"
    else:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return text if indent else text + "\n"
