"""The app: verbs, `--version`, `--debug`. Nothing heavy is imported before a verb runs."""

from __future__ import annotations

from typing import Annotated

import typer

from supple.cli.bench import bench
from supple.cli.design import design
from supple.cli.examples import examples
from supple.cli.export import export
from supple.cli.modes import modes
from supple.cli.run import run
from supple.cli.validate import validate
from supple.cli.view import view


def _print_version(wanted: bool) -> None:
    if wanted:
        from supple import __version__

        typer.echo(f"supple {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Soft-body dynamics: finite elements, voxels, trees of domains, rigid bodies and particles in one scene."""


def make_app() -> typer.Typer:
    """The command line's app."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.callback()(_options)
    for verb in (run, examples, validate, bench, export, modes, view, design):
        app.command()(verb)
    return app
