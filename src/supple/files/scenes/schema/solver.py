"""Solvers in a scene file. Their keys are the fields of the solvers, so that no default is written twice."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, get_type_hints

from pydantic import create_model

from supple import solvers
from supple.errors import InputError
from supple.files.scenes.section import Section, by_kind

SOLVERS: dict[str, type] = {
    "implicit_euler": solvers.ImplicitEuler,
    "midpoint": solvers.Midpoint,
    "newmark": solvers.Newmark,
    "generalized_alpha": solvers.GeneralizedAlpha,
    "symplectic_euler": solvers.SymplecticEuler,
    "runge_kutta_4": solvers.RungeKutta4,
    "lattice_solver": solvers.LatticeSolver,
    "tree_solver": solvers.TreeSolver,
    "stride_solver": solvers.StrideSolver,
    "partitioned": solvers.Partitioned,
}
APART = ("ties",)  # in programs alone
PARTITIONED = ("implicit", "lattice")  # of parts: solvers of their own, with their defaults in a file


def _parameters(solver: type) -> list[str]:
    return [f.name for f in dataclasses.fields(solver) if f.init and f.name not in APART + PARTITIONED]


def _section(kind: str, solver: type) -> type[Section]:
    """A table with the solver's parameters, each optional."""
    hints = get_type_hints(solver)
    keys: dict[str, Any] = {name: (hints[name] | None, None) for name in _parameters(solver)}
    return create_model(solver.__name__, __base__=Section, kind=(str, ...), **keys)


def make_solver(section: Any) -> Any:
    """The solver of a table."""
    kind = SOLVERS[section.kind]
    return kind(**section.given(*_parameters(kind)))


def describe_solver(solver: Any) -> dict[str, Any] | None:
    """The table of a solver, with what differs from its defaults; None for a solver of the user's own, or with ties."""
    kind = next((name for name, cls in SOLVERS.items() if type(solver) is cls), None)
    if kind is None or len(getattr(solver, "ties", ())) > 0:
        return None
    if isinstance(solver, solvers.Partitioned):
        _check_plain(solver)
    default = SOLVERS[kind]()
    changed = {name: getattr(solver, name) for name in _parameters(SOLVERS[kind])}
    return {"kind": kind} | {k: v for k, v in changed.items() if v is not None and v != getattr(default, k)}


def _check_plain(solver: solvers.Partitioned) -> None:
    """Refuse parts whose solvers have options, which a file does not hold."""
    plain = solvers.Partitioned(solver.dt)
    if solver.implicit != plain.implicit or solver.lattice != plain.lattice:
        raise InputError(
            "parts with options of their solvers cannot be saved",
            where="Partitioned",
            fix="Leave the solver out, or keep the scene as a .py file.",
        )


Solver = Annotated[Any, by_kind({kind: _section(kind, solver) for kind, solver in SOLVERS.items()})]
