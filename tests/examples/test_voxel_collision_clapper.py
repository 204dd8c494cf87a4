"""The clapping arms, driven by their own stride."""

from __future__ import annotations

from types import SimpleNamespace

from supple.examples.clapper import EXAMPLE, SIZE, clapper, clearance
from supple.solvers import LatticeSolver


def test_the_arms_clap_and_do_not_pass() -> None:
    scene = EXAMPLE.make()
    system = scene.compile()
    state, stride = system.initial_state(), LatticeSolver()
    assert clapper().model.voxel_count == 600
    while state.t < EXAMPLE.until:
        assert stride.step(system, state).is_solved
        assert clearance(clapper(), system.body("clapper").view_x(state.x)) > 0.7 * SIZE
    for check in EXAMPLE.check(SimpleNamespace(system=system, state=state)):
        assert check.ok, check


def test_without_self_contact_they_do_pass() -> None:
    scene = EXAMPLE.make()
    scene.contacts.clear()
    system = scene.compile()
    state, stride = system.initial_state(), LatticeSolver()
    least = SIZE
    while state.t < 0.5:
        stride.step(system, state)
        least = min(least, clearance(clapper(), system.body("clapper").view_x(state.x)))
    assert least < -SIZE
