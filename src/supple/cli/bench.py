"""supple bench: speed, case by case, with the machine it was measured on."""

from __future__ import annotations

from typing import Annotated, Any

import typer

COLUMNS = ("case", "quantity", "value", "unit", "threads", "device", "dtype", "limit", "ok")


def bench(
    cases: Annotated[list[str] | None, typer.Argument(help="kind/name, or a kind for all of its cases.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure speed; exit 1 where a limit is not kept."""
    from supple.bench import registry
    from supple.cli.names import chosen_cases
    from supple.cli.printing import as_row, print_json, print_table

    known = registry()
    rows = [as_row(row) for case in chosen_cases(cases or [], known) for row in known[case]()]
    about = machine()
    if json:
        print_json({"machine": about, "results": rows})
    else:
        print_table(COLUMNS, rows)
        print(", ".join(f"{name} {value}" for name, value in about.items()))
    if not all(row.get("ok") in (True, None) for row in rows):
        raise typer.Exit(1)


def machine() -> dict[str, Any]:
    """The processor, its cores, the system, and the versions that decide speed."""
    import os
    import platform
    from importlib.metadata import version
    from pathlib import Path

    processor = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        lines = listed.read_text(errors="replace").splitlines()
        processor = next((s.split(":", 1)[1].strip() for s in lines if s.startswith("model name")), processor)
    names = ("supple", "numpy", "scipy", "numba")
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {name: version(name) for name in names}
