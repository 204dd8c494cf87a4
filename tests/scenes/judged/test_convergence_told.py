"""What a run says of its steps is true: a tolerance that it names was met, and what did not settle is counted."""

from __future__ import annotations

import re

import numpy as np
import pytest

import supple as sp
from supple.errors import StepWarning
from supple.solvers.coupling import contact_steps
from supple.solvers.report import Outcome, StepReport
from supple.solvers.rigid import step as rigid_step
from supple.validation.tree.coupling import beam_domain_tree

SOLVERS = [
    sp.ImplicitEuler(0.01),
    sp.ImplicitEuler(0.01, newton=True),
    sp.Midpoint(0.01),
    sp.Newmark(0.01),
    sp.GeneralizedAlpha(0.01),
    sp.Partitioned(0.01),
]


def chain() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    X = np.c_[np.arange(4.0), np.zeros((4, 2))]
    node = scene.add(sp.Particles(X, 0.1, springs=[(0, 1), (1, 2), (2, 3)], stiffness=200), name="chain")
    scene.add(sp.FixedPoints(node, [0]))
    return scene


def cantilever_tree() -> sp.Scene:
    """A tree of three domains that falls from its straight shape."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.TreeBody(beam_domain_tree(3, 10), stiffness_damping=0.01), name="tree")
    return scene


def test_a_tree_s_tolerance_stands_beside_a_residual_below_it() -> None:
    solver = sp.TreeSolver(1 / 120)
    run = sp.run(cantilever_tree(), until=0.3, solver=solver)
    told = re.search(r"met their tolerance of (\S+) \(worst residual (\S+)\)", run.report())
    assert told is not None, run.convergence
    assert run.worst_residual <= solver.residual_limit == pytest.approx(float(told[1]), rel=0.05)
    assert run.under_converged == 0


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: f"{type(s).__name__} {s.residual_limit:g}")
def test_a_tolerance_that_was_met_stands_beside_a_residual_below_it(solver) -> None:
    run = sp.run(chain(), until=0.1, solver=solver)
    told = re.search(r"met their tolerance of (\S+) \(worst residual (\S+)\)", run.report())
    assert told is not None, run.convergence
    assert float(told[2]) <= 1.05 * float(told[1])  # both are rounded
    assert run.worst_residual <= solver.residual_limit


def test_a_residual_above_the_tolerance_is_not_called_solved_to_it() -> None:
    run = sp.run(chain(), until=0.1, solver=sp.Midpoint(0.01))
    run.worst_residual = 1e-3
    assert "met their tolerance" not in run.convergence
    assert "worst residual 1.0e-03, tolerance of 1e-12" in run.convergence


def test_an_explicit_run_names_no_tolerance() -> None:
    assert "tolerance" not in sp.run(chain(), until=0.1, solver=sp.SymplecticEuler(0.005)).convergence


@pytest.mark.parametrize("outcome", [o for o in Outcome if o not in (Outcome.SOLVED, Outcome.NOT_FINITE)])
def test_every_step_that_did_not_settle_is_counted(outcome: Outcome) -> None:
    reports = [StepReport(outcome), StepReport(Outcome.SOLVED), StepReport(outcome)]
    assert StepReport(outcome).under_converged == 1
    assert StepReport.joined(reports).under_converged == 2


@pytest.mark.parametrize("solver", [sp.ImplicitEuler(0.01), sp.Partitioned(0.01)], ids=["implicit", "partitioned"])
def test_contacts_that_did_not_settle_are_counted_where_a_warning_tells_them(solver, monkeypatch) -> None:
    """One iteration is too few for a box that lands on its edge."""
    monkeypatch.setattr(contact_steps, "MAX_ITERATIONS", 1)
    monkeypatch.setattr(rigid_step, "MAX_ITERATIONS", 1)
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=solver)
    box = sp.RigidBody.box((0.1,) * 3, density=1000)
    scene.add(box, at=(0, 0, 0.05), spin=(1.0, 2.0, 0.0), velocity=(1.0, 0.0, -1.0), name="box")
    scene.add(sp.Plane())
    scene.add(sp.Contact())
    with pytest.warns(StepWarning, match="did not settle"):
        run = sp.run(scene, until=0.05)
    assert run.under_converged > 0
    assert "left contacts or joints open" in run.report()
