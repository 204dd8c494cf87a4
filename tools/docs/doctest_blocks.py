"""A griffe extension: examples in docstrings, lines that begin with >>>, are shown as code and not as quotations."""

from __future__ import annotations

from typing import Any

import griffe


def with_code_blocks(text: str) -> str:
    """Put each run of >>> lines, with the output up to the next empty line, into a fenced block."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        begins = line.lstrip().startswith(">>>")
        if begins and not inside:
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line.strip() if begins else line)
    return "\n".join([*lines, "```"] if inside else lines)


class DoctestBlocks(griffe.Extension):
    """Rewrites the docstrings that have examples, before they are shown."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            obj.docstring.value = with_code_blocks(obj.docstring.value)
