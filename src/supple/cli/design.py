"""supple design: a search for robots, as a file says it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def design(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A built-in study, or a .toml or .json file.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the results; default: out/NAME.")] = None,
    generations: Annotated[int | None, typer.Option(help="How many; default: as the file says.")] = None,
    population: Annotated[int | None, typer.Option(help="Designs of a generation; default: as the file says.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the search; default: as the file says.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: one a core. 0: none but this one.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a search that was stopped.")] = False,
    no_pictures: Annotated[bool, typer.Option("--no-pictures", help="Write tables and designs only.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
) -> None:
    """Search for designs: a population, generation by generation."""
    from supple.cli.compiling import shown_compilations
    from supple.cli.design_run import run_study
    from supple.cli.notices import shown_warnings
    from supple.cli.printing import print_json

    given = {"generations": generations, "population": population, "seed": seed, "workers": workers}
    changes = {name: value for name, value in given.items() if value is not None}
    with shown_warnings(), shown_compilations():
        told = run_study(find_study(config), changes, out, resume=resume, pictures=not no_pictures, quiet=json)
    if json:
        print_json(told)
    else:
        _print(told)


def find_study(given: str) -> Path:
    """The file of the study a person means."""
    from supple.cli.names import unknown
    from supple.design.tasks import tasks
    from supple.errors import InputError
    from supple.examples import registry
    from supple.examples.designs import studies, study_file

    path = Path(given)
    if path.suffix.lower() in (".toml", ".json") or path.is_file():
        if not path.is_file():
            raise InputError("there is no such file", value=given)
        return path
    known = studies()
    if given in tasks():
        raise InputError(f"'{given}' is a task, not a search", fix=f'Name it in a file: task = "{given}"')
    if given in registry():
        raise InputError(f"'{given}' is a scene, not a search", fix=f"Run it: supple run {given}")
    if given not in known:
        raise unknown("built-in study", given, known, fix=f"Built-in studies: {', '.join(known)}; files end in .toml.")
    return study_file(given)


def _print(told: dict[str, Any]) -> None:
    from supple.errors import printable

    if told["best"]:
        best = ", ".join(f"{name} {value:.4g}" for name, value in told["best"][0]["scores"].items())
        print(f"The best of {told['designs']} designs: {best}")
    else:
        print(f"None of {told['designs']} designs came to its end.")
    if told["designs_per_day"]:
        print(f"{told['designs_per_day']:,.0f} designs a day: those evaluated now, over {told['seconds']:.1f} s")
    for note in told["notes"]:
        print(printable(f"Note: {note}"))
    folder = told["folder"]
    print(printable(f"Results are in {folder}"))
    scene = next((name for name in ("best.toml", "best.py") if name in told["files"]), None)
    if scene is not None:
        print(printable(f"Look at the best one: supple view {folder}/{scene}"))
