"""The tables of docs/truth.md, from what `supple validate --json` printed.

    supple validate --json > out/truth.json
    python tools/docs/truth.py out/truth.json            writes the tables of the page anew
    python tools/docs/truth.py a.json b.json             of cases that were run in several goes

The text of the page is written by hand; the tables stand between two marks. A case of up to six rows is shown whole.
Of a longer one stand the row that comes nearest to its limit, and how many hold beside it. Rows beside another
program are all shown. Cases of one family, such as `contact/pairs/...`, count as one.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from supple.validation import registry

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "truth.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"
SHOWN_WHOLE = 6
PROGRAMS = ("Voxelyze", "VegaFEM", "Exudyn")
KINDS = {
    "fem": "Finite elements",
    "voxel": "Voxel lattices",
    "tree": "Trees of reduced domains",
    "floating": "Floating and layered bodies",
    "contact": "Contact",
    "scene": "Whole scenes",
    "design": "Populations",
}


def family_of(case: str) -> str:
    """The case, or what it shares with its family: kind and name without the pair of bodies."""
    return "/".join(case.split("/")[:2])


def number(value: float) -> str:
    """As people read it."""
    return "0" if value == 0 else f"{value:.4g}"


def row_of(row: dict[str, Any], more: str = "") -> str:
    """A line of a table; a quantity that should be zero has no reference but 0."""
    unit = "" if row["unit"] in ("-", "") else f" {row['unit']}"
    short = "" if row["ok"] else " **falls short**"
    cells = [
        f"`{row['case']}`",
        row["quantity"] + more,
        number(row["value"]) + unit,
        number(row["reference"]) + unit,
        f"{row['error']:.1e}{short}",
        "none" if row["limit"] is None else f"{row['limit']:.1e}",
        row["source"],
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def nearness(row: dict[str, Any]) -> float:
    """How much of its limit a row's error takes; nothing where the row only tells and has no limit."""
    if row["limit"] is None:
        return 0.0
    return float(row["error"] / row["limit"]) if row["limit"] else float(row["error"] > 0)


def lines_of(rows: list[dict[str, Any]]) -> list[str]:
    """The lines of a case or family; rows that fall short are all shown."""
    if len(rows) <= SHOWN_WHOLE or any(name in row["source"] for row in rows for name in PROGRAMS):
        return [row_of(row) for row in rows]
    short = [row for row in rows if not row["ok"]]
    shown = short or [max(rows, key=nearness)]
    more = "" if short else f" (the nearest to its limit of {len(rows)} rows)"
    return [row_of(row, more) for row in shown]


def tables_of(rows: list[dict[str, Any]]) -> str:
    """One table for each kind of body, and how many rows hold."""
    parts = []
    for kind, title in KINDS.items():
        mine = [row for row in rows if row["case"].split("/")[0] == kind]
        if not mine:
            continue
        families: dict[str, list[dict[str, Any]]] = {}
        for row in mine:
            families.setdefault(family_of(row["case"]), []).append(row)
        short = sum(not row["ok"] for row in mine)
        held = f"All {len(mine)} rows hold." if not short else f"{short} of {len(mine)} rows fall short."
        head = ["| case | quantity | ours | should be | error | limit | source |", "|---|---|---|---|---|---|---|"]
        body = [line for name in sorted(families) for line in lines_of(families[name])]
        parts.append("\n".join([f"### {title}", "", held, "", *head, *body]))
    return "\n\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write the tables of the page; 1 where a case of the registry has no rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="what `supple validate --json` printed")
    files = parser.parse_args(arguments).files
    rows = [row for path in files for row in json.loads(path.read_text(encoding="utf-8"))]
    missing = sorted(set(registry()) - {row["case"] for row in rows})
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables_of(rows)}\n\n{END}{after}", encoding="utf-8")
    if missing:
        print("No rows of: " + ", ".join(missing), file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
