"""What trees leave unsettled is a residual, is counted, and is told once, whoever steps them."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from tests.rivals.trees.test_tree_springs import leafy

import supple as sp
from supple.bodies.tree.dynamics import UNSETTLED
from supple.errors import StepWarning
from supple.solvers.coupling.trees import halving, springs
from supple.solvers.coupling.trees import step as tree_step
from supple.validation.tree.coupling import beam_domain_tree

WEIGHT = 100.0  # [m/s²]


def told(scene: sp.Scene, solver: sp.TreeSolver | sp.Partitioned, steps: int = 4) -> tuple[sp.Run, list[str]]:
    """The run, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = sp.run(scene, until=steps * solver.dt, solver=solver)
    return run, [str(w.message) for w in caught if isinstance(w.message, StepWarning)]


def whip(weight: float = WEIGHT) -> sp.Scene:
    """A beam that its weight throws down."""
    scene = sp.Scene(gravity=(0.0, 0.0, -weight))
    scene.add(sp.TreeBody(beam_domain_tree(3, 10), stiffness_damping=0.001), name="whip")
    return scene


def held() -> sp.Scene:
    """The same, its tip on a joint to the world."""
    scene = whip(0.3 * WEIGHT)
    (node,) = scene.nodes
    scene.add(sp.BallJoint(node, at=node.body.rest_points.max(axis=0) * (1.0, 0.0, 0.0)))
    return scene


def landing() -> sp.Scene:
    """The same, on a floor close below it."""
    scene = whip()
    low = float(scene.nodes[0].body.rest_points[:, 2].min())
    scene.add(sp.Floor(height=low - 1e-4))
    scene.add(sp.Contact(stiffness=1e5))
    return scene


def pulled(stiffness: float = 1e4, way: float = 0.2) -> sp.Scene:
    """A leaf of a tenth of a gram that a spring pulls aside at once."""
    scene = sp.Scene()
    node = scene.add(sp.TreeBody(leafy(), mass_damping=3.0, stiffness_damping=0.02), name="whip")
    tip = node.body.rest_points[int(np.argmax(node.body.rest_points[:, 0]))]
    scene.add(
        sp.Springs(node.points(at=tip), sp.World.points(tip + np.array([0.0, 0.0, way])), stiffness, rest_length=0.0)
    )
    return scene


def is_told(run: sp.Run, said: list[str]) -> None:
    assert run.worst_residual > UNSETTLED
    assert 0 < run.under_converged <= run.steps
    assert f"{run.under_converged} of {run.steps} steps stopped above their tolerance of 0.03" in run.convergence
    assert len(said) == 1
    assert "tree 'whip'" in said[0]


@pytest.mark.parametrize("solver", [sp.TreeSolver, sp.Partitioned])
def test_a_tree_that_all_halvings_leave_unsettled(solver: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halving, "HALVINGS", 1)
    is_told(*told(whip(), solver(0.05)))


def test_both_solvers_say_the_same_of_a_tree_alone() -> None:
    runs = [told(whip(), solver(0.1))[0] for solver in (sp.TreeSolver, sp.Partitioned)]
    assert runs[0].worst_residual == runs[1].worst_residual
    assert 0 < runs[0].worst_residual <= UNSETTLED
    assert runs[0].convergence == runs[1].convergence


@pytest.mark.parametrize(("scene", "dt"), [(held, 0.1), (landing, 0.2)])
def test_a_coupled_tree_that_stays_unsettled(
    scene: Callable[[], sp.Scene], dt: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a step that may be halved, and by implicit Euler's, which is not."""
    monkeypatch.setattr(tree_step, "HALVINGS", 0)
    run, said = told(scene(), sp.Partitioned(dt), steps=3)
    is_told(run, said)
    assert "halved" not in said[0]


@pytest.mark.parametrize("solver", [sp.TreeSolver, sp.Partitioned])
def test_a_pulled_tree_that_gains_energy_in_its_shortest_steps(solver: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(springs, "HALVINGS", 0)
    run, said = told(pulled(), solver(1 / 30))
    is_told(run, said)
    assert "springs pull too hard" in said[0]


@pytest.mark.parametrize("solver", [sp.TreeSolver, sp.Partitioned])
def test_a_pulled_tree_whose_steps_are_halved_until_they_do_not(solver: type) -> None:
    run, said = told(pulled(1000.0), solver(1 / 30))
    assert not said
    assert run.under_converged == 0
    assert run.worst_residual <= UNSETTLED


@pytest.mark.parametrize("solver", [sp.TreeSolver, sp.Partitioned])
def test_passes_of_a_pulled_tree_that_do_not_settle(solver: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """They lose energy, and a fourth one would change the motion by a fifth."""
    monkeypatch.setattr(springs, "HALVINGS", 0)
    is_told(*told(pulled(1000.0, 0.02), solver(1 / 30)))


@pytest.mark.parametrize("solver", [sp.TreeSolver, sp.Partitioned])
@pytest.mark.parametrize(("stiffness", "way"), [(30.0, 0.01), (3600.0, 0.004), (1000.0, 0.02)])
def test_a_tree_that_springs_pull_has_a_residual(solver: type, stiffness: float, way: float) -> None:
    """The last pass of the second one's first step moves it by a fifth, and leaves one more pass 0.5 %."""
    run, said = told(pulled(stiffness, way), solver(1 / 30))
    assert not said
    assert run.under_converged == 0
    assert 0 < run.worst_residual <= UNSETTLED


@pytest.mark.parametrize("solver", [sp.TreeSolver(1 / 30), sp.Partitioned(1 / 30)], ids=["trees", "partitioned"])
def test_what_was_said_is_not_said_again_after_a_change(
    solver: sp.TreeSolver | sp.Partitioned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(springs, "HALVINGS", 0)
    system = pulled().compile()
    state, said = system.initial_state(), 0
    for stiffness in (1e4, 1.1e4, 1.2e4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            system.change(state, "springs", stiffness=stiffness)
            assert not solver.step(system, system.initial_state()).is_solved
        said += sum(isinstance(w.message, StepWarning) for w in caught)
    assert said == 1
