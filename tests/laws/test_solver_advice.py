"""A solver that refuses a scene sends to one that takes it, or says to leave the choice to the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import supple as sp
from supple.errors import InputError
from supple.solvers.choosing import choose
from supple.validation.contact_kinds import KINDS, SIDE

H = 1e-3
SOLVERS: dict[str, Callable[[], Any]] = {
    "ImplicitEuler": lambda: sp.ImplicitEuler(H),
    "Midpoint": lambda: sp.Midpoint(H),
    "Newmark": lambda: sp.Newmark(H),
    "GeneralizedAlpha": lambda: sp.GeneralizedAlpha(H),
    "SymplecticEuler": lambda: sp.SymplecticEuler(1e-6),
    "RungeKutta4": lambda: sp.RungeKutta4(1e-6),
    "LatticeSolver": lambda: sp.LatticeSolver(H),
    "TreeSolver": lambda: sp.TreeSolver(H),
    "StrideSolver": lambda: sp.StrideSolver(H),
    "Partitioned": lambda: sp.Partitioned(H),
}
THINGS: dict[str, Callable[[sp.Scene, sp.Node], Any]] = {
    "nothing": lambda scene, node: None,
    "a floor": lambda scene, node: scene.add(sp.Floor(-SIDE)),
    "a joint": lambda scene, node: scene.add(sp.BallJoint(node, at=(0.4 * SIDE,) * 3)),
    "a wind": lambda scene, node: scene.add(sp.Wind(velocity=(5.0, 0, 0))),
}
PAIRS = [("rigid", "tree"), ("voxel", "tree"), ("fem", "voxel")]


def refusal(solver: Any, system: sp.System) -> str | None:
    """What a solver says of a system that it refuses."""
    try:
        solver.prepare(system)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), *PAIRS], ids="-".join)
def test_who_refuses_names_one_who_does_not(kinds: tuple[str, ...], thing: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    nodes = [scene.add(KINDS[kind](), at=(1.2 * SIDE * k, 0, 0), name=kind) for k, kind in enumerate(kinds)]
    THINGS[thing](scene, nodes[-1])
    system = scene.compile()
    said = {name: refusal(make(), system) for name, make in SOLVERS.items()}
    assert refusal(choose(scene, H).solver, system) is None
    for name, refused in said.items():
        if refused is None or "Leave the solver out" in refused:
            continue
        named = [other for other in SOLVERS if other != name and re.search(rf"\b{other}\b", refused)]
        assert any(said[other] is None for other in named), refused
