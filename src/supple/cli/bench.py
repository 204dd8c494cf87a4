"""supple bench: speed, case by case, with the machine it was measured on."""

from __future__ import annotations

from typing import Annotated, Any

import typer

COLUMNS = ("case", "quantity", "value", "unit", "threads", "device", "dtype", "limit", "ok")


def bench(
    cases: Annotated[list[str] | None, typer.Argument(help="kind/name, or a kind for all of its cases.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    against: Annotated[
        str | None, typer.Option(metavar="REV", help="Compare with a git revision, or another checkout's folder.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each case on each side, with --against; default: 3.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(min=0.0, help="What --against calls slower, a part of the time; default: 0.05.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of both sides, with --against; default: 1.")
    ] = None,
) -> None:
    """Measure speed; exit 1 where a limit is not kept, or where it is slower than another revision."""
    if against is not None:
        from supple.cli.bench_against import Settings, bench_against

        given = {"rounds": rounds, "tolerance": tolerance, "threads": threads}
        settings = Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
        bench_against(cases or [], against, settings, as_json=json)
        return
    if (rounds, tolerance, threads) != (None, None, None):
        from supple.errors import InputError

        raise InputError("--rounds, --tolerance and --threads belong to a comparison", fix="Give --against REV too.")
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
