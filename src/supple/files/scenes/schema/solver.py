"""Solvers in a scene file. Their keys are the fields of the solvers, so that no default is written twice."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, get_type_hints

from pydantic import create_model

from supple import solvers
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
OF_PARTS: dict[str, type] = {"implicit": solvers.ImplicitEuler, "lattice": solvers.LatticeSolver}
"""Solvers of the parts of `Partitioned`, which have its step."""


def _parameters(solver: type) -> list[str]:
    return [f.name for f in dataclasses.fields(solver) if f.init and f.name not in OF_PARTS]


def _section(kind: str, solver: type) -> type[Section]:
    """A table with the solver's parameters, each optional."""
    hints = get_type_hints(solver)
    keys: dict[str, Any] = {name: (hints[name] | None, None) for name in _parameters(solver)}
    if solver is solvers.Partitioned:
        keys |= {name: (_part_section(part) | None, None) for name, part in OF_PARTS.items()}
    return create_model(solver.__name__, __base__=Section, kind=(str, ...), **keys)


def _part_section(solver: type) -> type[Section]:
    hints = get_type_hints(solver)
    keys: dict[str, Any] = {name: (hints[name] | None, None) for name in _parameters(solver) if name != "dt"}
    return create_model(f"{solver.__name__}Part", __base__=Section, **keys)


def make_solver(section: Any) -> Any:
    """The solver of a table."""
    kind = SOLVERS[section.kind]
    given = section.given(*_parameters(kind))
    if kind is solvers.Partitioned:
        for name, part in OF_PARTS.items():
            own = getattr(section, name)
            if own is not None:
                given[name] = part(**own.given(*type(own).model_fields))
    return kind(**given)


def describe_solver(solver: Any) -> dict[str, Any] | None:
    """The table of a solver, with what differs from its defaults; None for a solver of the user's own."""
    kind = next((name for name, cls in SOLVERS.items() if type(solver) is cls), None)
    if kind is None:
        return None
    table = {"kind": kind} | _changed(solver)
    if isinstance(solver, solvers.Partitioned):
        parts = {name: _changed(getattr(solver, name)) for name in OF_PARTS}
        table |= {name: {k: v for k, v in own.items() if k != "dt"} for name, own in parts.items() if set(own) - {"dt"}}
    return table


def _changed(solver: Any) -> dict[str, Any]:
    """What differs from the defaults."""
    default, values = type(solver)(), {name: getattr(solver, name) for name in _parameters(type(solver))}
    return {name: v for name, v in values.items() if v is not None and v != getattr(default, name)}


Solver = Annotated[Any, by_kind({kind: _section(kind, solver) for kind, solver in SOLVERS.items()})]
