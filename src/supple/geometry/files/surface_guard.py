"""What `.stl` and `.ply` files claim, before they are read by a library that believes it."""

from __future__ import annotations

import re

from supple.errors import FileFormatError
from supple.geometry.files.file_guard import check_claim

_SIZE = {
    **dict.fromkeys(("char", "uchar", "int8", "uint8"), 1),
    **dict.fromkeys(("short", "ushort", "int16", "uint16"), 2),
    **dict.fromkeys(("int", "uint", "int32", "uint32", "float", "float32"), 4),
    **dict.fromkeys(("double", "float64"), 8),
}


def check_stl(data: bytes, name: str) -> int:
    """How many triangles an `.stl` file, binary or text, holds; refuses one that is cut short."""
    count = int.from_bytes(data[80:84], "little")
    if len(data) >= 84 and len(data) == 84 + 50 * count:
        if count == 0:
            raise FileFormatError("the file holds no triangle", where=name)
        return count
    if not data.lstrip()[:5].lower() == b"solid":
        raise FileFormatError(
            f"the file has {len(data)} bytes, not the 84 + 50 · {count} of its {count} triangles", where=name
        )
    counted = {
        word: len(re.findall(rb"\b" + word + rb"\b", data, re.IGNORECASE))
        for word in (b"facet", b"endfacet", b"vertex", b"endloop", b"endsolid")
    }
    count = counted[b"facet"]
    if not count or counted != {
        b"facet": count, b"endfacet": count, b"endloop": count, b"vertex": 3 * count, b"endsolid": 1,
    }:  # fmt: skip
        raise FileFormatError(
            "the text is cut short or is not one solid of triangles",
            where=name,
            value={word.decode(): number for word, number in counted.items()},
        )
    return count


def check_ply(data: bytes, name: str) -> tuple[int, int]:
    """How many vertices and faces a `.ply` file claims; refuses one too short to hold them."""
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise FileFormatError("the file does not begin with ply ... end_header", where=f"{name}, line 1")
    body = data[data.find(b"\n", end) + 1 :]
    counts: dict[str, int] = {}
    smallest: dict[str, int] = {}
    element, is_text = "", False
    for number, line in enumerate(data[:end].decode("ascii", "replace").splitlines(), start=1):
        words = line.split()
        try:
            if words[:1] == ["format"]:
                is_text = words[1] == "ascii"
            elif words[:1] == ["element"]:
                element = words[1]
                counts[element], smallest[element] = int(words[2]), 0
            elif words[:2] == ["property", "list"]:
                smallest[element] += _SIZE[words[2]] + (3 * _SIZE[words[3]] if element == "face" else 0)
            elif words[:1] == ["property"]:
                smallest[element] += _SIZE[words[1]]
        except (IndexError, KeyError, ValueError) as error:
            where = f"{name}, line {number}"
            raise FileFormatError("the header is not understood", where=where, value=line[:80]) from error
    if not counts.get("vertex") or not counts.get("face"):
        raise FileFormatError("the file holds no vertices or no faces", where=name, value=counts)
    if is_text:
        rows = sum(1 for row in body.splitlines() if row.strip())
        check_claim(sum(counts.values()), rows, "elements", name)
    else:
        for kind, count in counts.items():
            check_claim(count, len(body), kind, name)
        needed = sum(count * smallest[kind] for kind, count in counts.items())
        check_claim(needed, len(body), "bytes of elements", name)
    return counts["vertex"], counts["face"]
