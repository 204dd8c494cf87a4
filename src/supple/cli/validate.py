"""supple validate: published numbers and closed forms against ours."""

from __future__ import annotations

from typing import Annotated

import typer

COLUMNS = ("case", "quantity", "value", "reference", "unit", "error", "limit", "ok", "source")


def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="kind/name, or a kind for all of its cases.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare with published numbers; exit 1 where one falls short."""
    from supple.cli.names import chosen_cases
    from supple.cli.printing import as_row, print_json, print_table
    from supple.validation import registry

    known = registry()
    rows = [as_row(row) for case in chosen_cases(cases or [], known) for row in known[case]()]
    if json:
        print_json(rows)
    else:
        print_table(COLUMNS, rows)
        short = sum(not row["ok"] for row in rows)
        print(f"{short} of {len(rows)} fall short." if short else f"All {len(rows)} hold.")
    if not all(row["ok"] for row in rows):
        raise typer.Exit(1)
