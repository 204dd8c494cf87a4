"""supple examples: what `run` knows by name."""

from __future__ import annotations

from typing import Annotated

import typer


def examples(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the built-in scenes."""
    from supple.cli.printing import print_json, print_table
    from supple.examples import registry

    rows = [{"name": name, "summary": e.summary, "until": e.until} for name, e in registry().items()]
    if json:
        print_json(rows)
    else:
        print_table(("name", "summary"), rows)
