"""supple examples: what `run`, `view` and `design` know by name."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def examples(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the built-in scenes and searches."""
    from supple.cli.printing import print_json, print_table
    from supple.examples import registry
    from supple.examples.designs import studies

    rows: list[dict[str, Any]] = [
        {"name": name, "command": f"supple run {name}", "summary": e.summary, "until": e.until}
        for name, e in registry().items()
    ]
    rows += [
        {"name": name, "command": f"supple design {name}", "summary": summary, "until": None}
        for name, summary in studies().items()
    ]
    if json:
        print_json(rows)
    else:
        print_table(("command", "summary"), rows)
