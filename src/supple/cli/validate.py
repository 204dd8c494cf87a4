"""supple validate: published numbers and closed forms against ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

COLUMNS = ("case", "quantity", "value", "reference", "unit", "error", "limit", "ok", "source")


def validate(
    cases: Annotated[list[str] | None, typer.Argument(help="kind/name, or a kind for all of its cases.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    pictures: Annotated[Path | None, typer.Option("--pictures", help="Write the cases' figures to a folder.")] = None,
) -> None:
    """Compare with published numbers; exit 1 where one falls short."""
    from supple.cli.names import chosen_cases
    from supple.cli.printing import as_row, print_json, print_table
    from supple.validation import left_out, registry

    if pictures is not None:
        prepare_pictures(pictures)
    known, lacking = registry(), left_out()
    named = chosen_cases(cases or [], [*known, *lacking])
    chosen, missing = [case for case in named if case in known], [case for case in named if case in lacking]
    rows = [as_row(row) for case in chosen for row in known[case]()]
    if json:
        print_json(rows)
    else:
        print_table(COLUMNS, rows)
        short = sum(not row["ok"] for row in rows)
        print(f"{short} of {len(rows)} fall short." if short else f"All {len(rows)} hold.")
    if pictures is not None:
        written = write_pictures(pictures, chosen)
        if not json:
            print(f"Pictures in {pictures}: {written}" if written else "None of these cases has a picture.")
    if missing:
        tell_missing(missing)
    if not all(row["ok"] for row in rows):
        raise typer.Exit(1)


def tell_missing(cases: list[str]) -> None:
    """Say which cases were not run, since the files that they compare with are not there."""
    from supple.cli.notices import tell

    tell(
        f"{len(cases)} cases were not run, since the files of other programs that they compare with are not there: "
        f"{', '.join(cases)}. Name their folder by SUPPLE_REFERENCE."
    )


def prepare_pictures(folder: Path) -> None:
    """Make the folder, and see that the drawing library is there, before cases run for minutes."""
    from supple.errors import InputError
    from supple.validation.figure import make_figure

    make_figure(1.0, 1.0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", value=str(folder)) from error


def write_pictures(folder: Path, chosen: list[str]) -> int:
    """Write the pictures of the chosen cases, `kind-name.png`; returns how many there are."""
    from supple.validation import pictures

    drawn = {case: draw for case, draw in pictures().items() if case in chosen}
    for case, draw in drawn.items():
        draw(folder / f"{case.replace('/', '-')}.png")
    return len(drawn)
