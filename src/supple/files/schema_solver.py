"""Solvers in a scene file. Their keys are the fields of the solvers, so that no default is written twice."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, get_type_hints

from pydantic import create_model

from supple import solvers
from supple.files.section import Section, by_kind

SOLVERS: dict[str, type] = {
    "implicit_euler": solvers.ImplicitEuler,
    "midpoint": solvers.Midpoint,
    "newmark": solvers.Newmark,
    "generalized_alpha": solvers.GeneralizedAlpha,
    "symplectic_euler": solvers.SymplecticEuler,
    "runge_kutta_4": solvers.RungeKutta4,
}


def _section(kind: str, solver: type) -> type[Section]:
    """A table with the solver's parameters, each optional."""
    hints = get_type_hints(solver)
    keys: dict[str, Any] = {f.name: (hints[f.name] | None, None) for f in dataclasses.fields(solver) if f.init}
    return create_model(solver.__name__, __base__=Section, kind=(str, ...), **keys)


def make_solver(section: Any) -> Any:
    """The solver of a table."""
    kind = SOLVERS[section.kind]
    return kind(**section.given(*(f.name for f in dataclasses.fields(kind) if f.init)))


def describe_solver(solver: Any) -> dict[str, Any] | None:
    """The table of a solver, with what differs from its defaults; None for a solver of the user's own."""
    kind = next((name for name, cls in SOLVERS.items() if type(solver) is cls), None)
    if kind is None:
        return None
    default = SOLVERS[kind]()
    changed = {f.name: getattr(solver, f.name) for f in dataclasses.fields(solver) if f.init}
    return {"kind": kind} | {k: v for k, v in changed.items() if v != getattr(default, k)}


Solver = Annotated[Any, by_kind({kind: _section(kind, solver) for kind, solver in SOLVERS.items()})]
