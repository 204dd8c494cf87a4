"""Trees stepped by their own scheme: a free flight keeps momentum, a tip goes no further than its pull's energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple as sp
from supple.errors import ConvergenceError
from supple.examples.shapes import flower
from supple.validation.tree.coupling import beam_domain_tree


def free_chain(count: int) -> sp.DomainTree:
    """A beam of equal domains of eight modes whose first domain is held nowhere."""
    held = beam_domain_tree(count, 8, cells=4 * count)
    root = replace(held.kinds["part"], name="root", held=np.zeros(0, dtype=np.int64))
    return sp.DomainTree({**held.kinds, "root": root}, [sp.Domain("root"), *held.domains[1:]])


@pytest.mark.parametrize("count", [1, 6])
@pytest.mark.parametrize("converge", [False, True])
def test_a_free_spinning_tree_keeps_its_momentum(count: int, converge: bool) -> None:
    """No force acts, so both momenta about the world's origin are constant whatever the step. Partitioned keeps them to
    1e-13; 1e-8 leaves workspace for an iterated solve and is far below the 1e-3 of a scheme that is only accurate."""
    body = sp.TreeBody(free_chain(count), stiffness_damping=0.01, settings=sp.TreeSettings(converge=converge))
    scene = sp.Scene(solver=sp.TreeSolver(1 / 120))
    scene.add(body, spin=(1.0, 3.0, 5.0), name="tree")
    system = scene.compile()
    state, slot = system.initial_state(), system.body("tree")
    start = body.measures(slot.view_x(state.x), slot.view_v(state.v)).momentum
    for _ in range(120):
        scene.solver.step(system, state)
    end = body.measures(slot.view_x(state.x), slot.view_v(state.v)).momentum
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(end[part] - start[part]) < 1e-8 * np.linalg.norm(start[part])


def pulled_flower(settings: sp.TreeSettings, dt: float) -> tuple[sp.Scene, sp.TreeBody]:
    """A spring of 10 N/m and no length of its own pulls the flower's top down by up to 11 cm; there is no weight."""
    body = sp.TreeBody(flower(), stiffness_damping=0.004, settings=settings)
    scene = sp.Scene(solver=sp.TreeSolver(dt))
    node = scene.add(body, name="flower")
    top = body.skin.rest[int(np.argmax(body.skin.rest[:, 2]))]
    scene.add(sp.Springs(node.points(at=top), sp.World.points(top - [0, 0, 0.11]), 10.0, rest_length=0.0))
    return scene, body


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")  # that the step is long may be said
def test_a_pulled_flower_comes_no_further_from_the_hand_than_it_was() -> None:
    """At the start all energy is in the spring; damping only takes from it, so the spring is never longer again.
    Two percent more are left to the scheme, which solves springs within its steps."""
    scene, body = pulled_flower(sp.TreeSettings(), 1 / 60)
    top = int(np.argmax(body.skin.rest[:, 2]))
    hand = body.skin.rest[top] - [0, 0, 0.11]
    longest = 0.0

    def measure(state: sp.State, report: object) -> None:
        nonlocal longest
        x = body.skin.positions(state.x[None, :])
        longest = max(longest, float(np.linalg.norm(x[top] - hand)))

    sp.run(scene, until=0.7, on_step=measure)
    assert longest < 1.02 * 0.11


def test_a_tree_step_that_fails_says_why() -> None:
    scene, _ = pulled_flower(sp.TreeSettings(converge=True, max_iterations=2), 1 / 60)
    with pytest.raises(ConvergenceError, match="step"):
        sp.run(scene, until=0.7)
