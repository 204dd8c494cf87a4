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
    """No force acts, so both momenta about the world's origin are constant whatever the step, for thirty seconds; the
    damping only takes energy."""
    body = sp.TreeBody(free_chain(count), stiffness_damping=0.01, settings=sp.TreeSettings(converge=converge))
    scene = sp.Scene(solver=sp.TreeSolver(1 / 120))
    scene.add(body, spin=(1.0, 3.0, 5.0), name="tree")
    run = sp.run(scene, until=30.0)
    for part in (slice(0, 3), slice(3, 6)):
        momentum = run.frames.columns["momentum"][:, part]
        assert np.linalg.norm(momentum - momentum[0], axis=1).max() < 1e-9 * np.linalg.norm(momentum[0])
    assert run.energies.total.max() < (1 + 1e-3) * run.energies.total[0]


def pulled_flower(settings: sp.TreeSettings, dt: float) -> tuple[sp.Scene, sp.TreeBody]:
    """A spring of 10 N/m and no length of its own pulls the flower's top down by up to 11 cm; there is no weight."""
    body = sp.TreeBody(flower(), stiffness_damping=0.004, settings=settings)
    scene = sp.Scene(solver=sp.TreeSolver(dt))
    node = scene.add(body, name="flower")
    top = body.skin.rest[int(np.argmax(body.skin.rest[:, 2]))]
    scene.add(sp.Springs(node.points(at=top), sp.World.points(top - [0, 0, 0.11]), 10.0, rest_length=0.0))
    return scene, body


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")  # that the step is long may be said
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_pulled_flower_comes_no_further_from_the_hand_than_it_was(dt: float) -> None:
    """At the start all energy is in the spring; damping only takes from it, so the spring is never longer again.
    Two percent more are left to the scheme, which solves springs within its steps."""
    scene, body = pulled_flower(sp.TreeSettings(), dt)
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


def test_a_flower_pulled_by_a_newton_stays_in_one_piece() -> None:
    """At 1/60 s: its domains part by less than a tenth of the stem's width of 12 mm, and its top comes to rest where
    steps of a quarter have it, but for what it still swings."""
    ends = []
    for dt in (1 / 60, 1 / 240):
        body = sp.TreeBody(flower())
        scene = sp.Scene(solver=sp.TreeSolver(dt))
        node = scene.add(body, name="flower")
        top = int(np.argmax(body.skin.rest[:, 2]))
        scene.add(sp.Load(node.points(at=body.skin.rest[top]), (1.0, 0.0, 0.0)))
        run = sp.run(scene, until=2.0)
        assert run.gaps["flower"] < 1.2e-3
        ends.append(run.system.points(run.state, "flower")[top] - body.skin.rest[top])
    np.testing.assert_allclose(*ends, atol=0.02 * np.linalg.norm(ends[1]))


def test_a_twig_that_breaks_off_flies_on_its_parabola() -> None:
    """Of the velocity that its centre has as it breaks; nothing but its weight acts on it from then on."""
    g, dt, steps = np.array([0.0, 0.0, -9.81]), 1 / 120, 24
    scene = sp.Scene(gravity=g, solver=sp.TreeSolver(dt))
    scene.add(sp.TreeBody(beam_domain_tree(4, 10), stiffness_damping=0.002), name="branch")
    system = scene.compile()
    state = system.initial_state()
    for _ in range(steps):
        scene.solver.step(system, state)
    name = system.break_off(state, "branch", 2, name="twig")

    def centre() -> np.ndarray:
        slot = system.body(name)
        measured = slot.node.body.measures(slot.view_x(state.x), slot.view_v(state.v))
        return np.stack([measured.first_moment, measured.momentum[:3]]) / slot.node.body.model.total_mass

    start, t = centre(), steps * dt
    for _ in range(steps):
        scene.solver.step(system, state)
    np.testing.assert_allclose(centre()[0], start[0] + t * start[1] + 0.5 * t**2 * g, atol=1e-12)
