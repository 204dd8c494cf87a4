"""Walking a Gmsh `.msh` file before it is read: sections closed, counts true, nodes known.

The library that reads it allocates what the file claims, and indexes by node numbers as they come.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.geometry.meshes.region import IntArray

# nodes an element, by Gmsh's number of its kind
_WIDTH = {1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 10: 9, 11: 10, 12: 27, 15: 1, 16: 8, 17: 20}


class _Cursor:
    """Numbers of a section, one after another, as text or as bytes."""

    def __init__(self, section: bytes, is_text: bool, where: str) -> None:
        self.words = section.split() if is_text else []
        self.section, self.is_text, self.where, self.at = section, is_text, where, 0

    def take(self, count: int, dtype: str) -> NDArray:
        if self.is_text:
            words = self.words[self.at : self.at + count]
            self.at += count
            if len(words) < count:
                raise FileFormatError("the section is cut short or claims too much", where=self.where)
            try:
                return np.array([float(word) if dtype == "<f8" else int(word) for word in words])
            except (ValueError, OverflowError) as error:
                raise FileFormatError("the section holds something that is no number", where=self.where) from error
        size = np.dtype(dtype).itemsize
        if count * size > len(self.section) - self.at:
            raise FileFormatError("the section is cut short or claims too much", where=self.where)
        self.at += count * size
        return np.frombuffer(self.section, dtype, count, self.at - count * size)

    def one(self, dtype: str) -> int:
        return int(self.take(1, dtype)[0])


def check_msh(data: bytes, name: str) -> None:
    """Refuse a `.msh` file, of version 2 or 4.1, whose sections do not hold what they claim."""
    header = data[:200].split(b"\n")
    words = header[1].split() if header[0].strip() == b"$MeshFormat" and len(header) > 1 else []
    if len(words) != 3 or words[1] not in (b"0", b"1"):
        raise FileFormatError("the file does not begin with $MeshFormat", where=f"{name}, line 1")
    version, is_text = words[0].decode(errors="replace"), words[1] == b"0"
    if not (version.startswith("2") or version in ("4", "4.1")) or words[2] not in (b"4", b"8"):
        raise FileFormatError(
            "the version is not read",
            where=f"{name}, line 2",
            value=version,
            fix="Save it as version 2.2 or 4.1.",
        )
    nodes = _Cursor(_section(data, b"Nodes", name), is_text, f"{name}, $Nodes")
    elements = _Cursor(_section(data, b"Elements", name), is_text, f"{name}, $Elements")
    if version.startswith("2"):
        tags = _nodes_2(nodes)
        used = _elements_2(elements)
    else:
        size = "<u8" if words[2] == b"8" else "<u4"
        tags = _nodes_4(nodes, size)
        used = _elements_4(elements, size)
    if tags.min() < 1 or tags.max() > 10 * len(tags) + 10_000_000 or len(np.unique(tags)) < len(tags):
        raise FileFormatError(
            "node numbers are repeated, not positive, or too scattered",
            where=nodes.where,
            value=int(tags.max()),
            allowed="distinct numbers from 1, without wide gaps",
        )
    unknown = used[~np.isin(used, tags)]
    if unknown.size:
        raise FileFormatError("an element uses an unknown node", where=elements.where, value=int(unknown[0]))


def _section(data: bytes, title: bytes, name: str) -> bytes:
    start = data.find(b"\n$" + title)
    begin = data.find(b"\n", start + 1) + 1
    end = data.find(b"$End" + title, begin)
    if start < 0 or begin == 0 or end < 0:
        text = title.decode()
        raise FileFormatError(f"${text} ... $End{text} is missing: the file is cut short", where=name)
    return data[begin:end]


def _split_count(cursor: _Cursor) -> int:
    """The count of a version 2 section, which is text even in a binary file."""
    if cursor.is_text:
        return cursor.one("<i4")
    line, _, cursor.section = cursor.section.partition(b"\n")
    if not line.strip().isdigit() or len(line) > 20:
        raise FileFormatError("the count is missing", where=cursor.where)
    return int(line)


def _nodes_2(cursor: _Cursor) -> IntArray:
    count = _split_count(cursor)
    if cursor.is_text:
        return cursor.take(4 * count, "<f8").reshape(count, 4)[:, 0].astype(np.int64)
    row = np.dtype([("tag", "<i4"), ("x", "<f8", 3)])
    return cursor.take(count, row)["tag"].astype(np.int64)  # type: ignore[arg-type]


def _elements_2(cursor: _Cursor) -> IntArray:
    used: list[IntArray] = []
    left = _split_count(cursor)
    while left > 0:
        if cursor.is_text:
            _, kind, tag_count = cursor.take(3, "<i4")
            many = 1
        else:
            kind, many, tag_count = cursor.take(3, "<i4")
        if tag_count < 0 or many < 1:
            raise FileFormatError("an element has a negative count", where=cursor.where)
        lead = int(tag_count) + (0 if cursor.is_text else 1)
        width = _width(int(kind), cursor.where)
        used.append(cursor.take(int(many) * (lead + width), "<i4").reshape(-1, lead + width)[:, lead:].ravel())
        left -= int(many)
    return np.concatenate(used).astype(np.int64) if used else _none(cursor)


def _nodes_4(cursor: _Cursor, size: str) -> IntArray:
    block_count, total, _, _ = cursor.take(4, size)
    tags: list[IntArray] = []
    for _ in range(int(block_count)):
        _, _, parametric = cursor.take(3, "<i4")
        if parametric:
            raise FileFormatError("parametric nodes are not read", where=cursor.where)
        count = cursor.one(size)
        tags.append(cursor.take(count, size).astype(np.int64))
        cursor.take(3 * count, "<f8")
    if not tags or sum(map(len, tags)) != int(total) or int(total) == 0:
        raise FileFormatError("the blocks do not hold the nodes claimed", where=cursor.where, value=int(total))
    return np.concatenate(tags)


def _elements_4(cursor: _Cursor, size: str) -> IntArray:
    block_count, total, _, _ = cursor.take(4, size)
    used: list[IntArray] = []
    found = 0
    for _ in range(int(block_count)):
        _, _, kind = cursor.take(3, "<i4")
        count, width = cursor.one(size), _width(int(kind), cursor.where)
        rows = cursor.take(count * (1 + width), size).reshape(-1, 1 + width)
        used.append(rows[:, 1:].astype(np.int64).ravel())
        found += count
    if found != int(total):
        raise FileFormatError("the blocks do not hold the elements claimed", where=cursor.where, value=int(total))
    return np.concatenate(used) if used else _none(cursor)


def _width(kind: int, where: str) -> int:
    if kind not in _WIDTH:
        raise FileFormatError("the kind of element is not read", where=where, value=kind)
    return _WIDTH[kind]


def _none(cursor: _Cursor) -> IntArray:
    raise FileFormatError("there are no elements", where=cursor.where)
