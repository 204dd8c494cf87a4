"""XML of strangers: parsed with bounds, read tag by tag with finite numbers, and written.

A `Section` remembers which of its tags were asked for, so that those nobody asked for can be named afterwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.sax.saxutils import escape, quoteattr

from supple.errors import FileFormatError, InputError
from supple.geometry.files.file_guard import read_bounded

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 40
MAX_TAGS = 1_000_000
MAX_DIGITS = 100  # of one number: to read a long one takes time

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_FLAGS = {"0": False, "1": True, "false": False, "true": True}


class _BoundedBuilder(TreeBuilder):
    """Builds a tree of bounded depth and number of tags."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file, self._depth, self._count = file, 0, 0

    def start(self, tag: Any, attrs: Any, /) -> Element:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_DEPTH:
            raise FileFormatError("the tags are nested too deeply", where=self._file, allowed=f"{MAX_DEPTH} levels")
        if self._count > MAX_TAGS:
            raise FileFormatError("the file has too many tags", where=self._file, allowed=f"{MAX_TAGS}")
        spaced = [name for name in (tag, *attrs) if name.startswith("{")]
        if spaced:
            raise FileFormatError("XML namespaces are not read", where=self._file, value=spaced[0][:80])
        return super().start(tag, attrs)

    def end(self, tag: Any, /) -> Element:
        self._depth -= 1
        return super().end(tag)


def load_xml(path: Path) -> Element:
    """The root of an XML file; refuses large files, document types, entities and deep nesting."""
    return parse_xml(read_bounded(path, MAX_BYTES), path.name)


def parse_xml(data: bytes, file: str) -> Element:
    """The root of an XML text."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    if not data.strip():
        raise FileFormatError("the file is empty", where=file)
    parser = DefusedXMLParser(target=_BoundedBuilder(file), forbid_dtd=True)
    try:
        parser.feed(data)
        root: Element = parser.close()
    except DefusedXmlException as error:
        raise FileFormatError(
            "the file defines XML document types or entities, which are not read", where=file
        ) from error
    except ParseError as error:
        raise FileFormatError(f"damaged, cut short or not XML: {error}", where=file) from error
    except (ValueError, LookupError) as error:
        raise FileFormatError(f"the text encoding is not read: {str(error)[:100]}", where=file) from error
    return root


@dataclass(frozen=True)
class UnreadTag:
    """A tag that was not read. path: where it is, `VXC/Palette/Material[2]/Name`, or `…/@name` of an attribute.

    xml: the tag as text, or the attribute's value.
    """

    path: str
    xml: str


class Section:
    """A tag whose children are asked for by name."""

    def __init__(self, element: Element, path: str, file: str) -> None:
        self.element, self.path, self.file = element, path, file
        self.kept_as: str | None = None  # the path its unread tags are given, where not the section's own
        self._read: dict[int, Section] = {}
        self._attributes: set[str] = set()

    @property
    def where(self) -> str:
        """The file and the path of the tag."""
        return f"{self.file}, {self.path or self.element.tag}"

    def section(self, tag: str) -> Section | None:
        """The first child of that name."""
        found = self.element.findall(tag)
        return self._open(found[0], step_of(tag, 1, len(found))) if found else None

    def need(self, tag: str) -> Section:
        """As `section`, for tags a file must have."""
        found = self.section(tag)
        if found is None:
            raise FileFormatError(f"the tag <{tag}> is missing", where=self.where)
        return found

    def sections(self, tag: str) -> list[Section]:
        """All children of that name."""
        found = self.element.findall(tag)
        return [self._open(child, step_of(tag, i, len(found))) for i, child in enumerate(found, start=1)]

    def _open(self, child: Element, step: str) -> Section:
        return self._read.setdefault(id(child), Section(child, joined(self.path, step), self.file))

    def count(self, tag: str) -> int:
        """How many children have that name."""
        return len(self.element.findall(tag))

    def attribute(self, name: str) -> str | None:
        """An attribute's value."""
        self._attributes.add(name)
        return self.element.get(name)

    def has(self, tag: str) -> bool:
        """Is there such a child? Asking does not read it."""
        return self.element.find(tag) is not None

    def peek(self, tag: str) -> str | None:
        """The text of a child, without reading it."""
        found = self.element.find(tag)
        return None if found is None else (found.text or "").strip()

    def text(self, tag: str) -> str | None:
        """The text of a child, with single spaces."""
        found = self.section(tag)
        return None if found is None else " ".join((found.element.text or "").split())

    def number(self, tag: str, default: float | None = None) -> float:
        """A finite number; the tag must be there where there is no default."""
        found = self._leaf(tag, default is None)
        if found is None:
            assert default is not None
            return default
        return found.own_number()

    def own_number(self) -> float:
        """The text of this tag as a finite number."""
        text = (self.element.text or "").strip()
        value = float(text) if len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text) else float("nan")
        if not abs(value) < float("inf"):
            raise FileFormatError("not a finite number", where=self.where, value=text[:60])
        return value

    def integer(self, tag: str, default: int | None = None) -> int:
        """A whole number."""
        found = self._leaf(tag, default is None)
        if found is None:
            assert default is not None
            return default
        text = (found.element.text or "").strip()
        if not _INTEGER.fullmatch(text):
            raise FileFormatError("not a whole number", where=found.where, value=text[:60])
        return int(text)

    def flag(self, tag: str, default: bool) -> bool:
        """True or false."""
        found = self._leaf(tag, False)
        if found is None:
            return default
        text = (found.element.text or "").strip().lower()
        if text not in _FLAGS:
            raise FileFormatError("not a flag", where=found.where, value=text[:60], allowed="0, 1")
        return _FLAGS[text]

    def _leaf(self, tag: str, needed: bool) -> Section | None:
        return self.need(tag) if needed else self.section(tag)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """A complaint about a value becomes one about this tag."""
        try:
            yield
        except InputError as error:
            raise FileFormatError(
                error.what, where=self.where, value=error.value, allowed=error.allowed, fix=error.fix
            ) from error

    def unread(self, path: str | None = None) -> Iterator[UnreadTag]:
        """What was not asked for, here and below, in the order of the file. path: to go by instead of its own."""
        path = self.kept_as or (self.path if path is None else path)
        for name, value in self.element.items():
            if name not in self._attributes:
                yield UnreadTag(joined(path, f"@{name}"), value)
        alike, seen = Counter(c.tag for c in self.element), Counter[str]()
        for child in self.element:
            seen[child.tag] += 1
            below = joined(path, step_of(child.tag, seen[child.tag], alike[child.tag]))
            if id(child) in self._read:
                yield from self._read[id(child)].unread(below)
            else:
                yield UnreadTag(below, format_xml(child))


def step_of(tag: str, index: int, count: int) -> str:
    """A step of a path: the tag, with its number where there are several."""
    return tag if count == 1 else f"{tag}[{index}]"


def joined(path: str, step: str) -> str:
    """A path and one step more."""
    return f"{path}/{step}" if path else step


def format_xml(element: Element, indent: str = "") -> str:
    """A tag as text, a line for each tag; the data of layers as CDATA, which other readers need."""
    attributes = "".join(f" {name}={quoteattr(value)}" for name, value in element.items())
    text = (element.text or "").strip()
    if element.tag == "Layer" and text.isascii() and "]]>" not in text and "\r" not in text:
        inside = f"<![CDATA[{text}]]>"
    else:
        inside = _escaped(text)
    for child in element:
        tail = _escaped((child.tail or "").strip())
        inside += f"\n{indent}  {format_xml(child, indent + '  ')}{tail}"
    if len(element):
        inside += f"\n{indent}"
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>" if inside else f"<{element.tag}{attributes}/>"


def _escaped(text: str) -> str:
    return escape(text, {"\r": "&#13;"})
