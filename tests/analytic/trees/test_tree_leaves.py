"""Damped thin domains, as leaves and twigs: elastic and damping forces at the ends of a step. [theory.md, T16]."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeDynamics, TreeModel, TreeSettings, TreeState
from supple.bodies.tree.domains.grouping import THIN, thickness
from supple.bodies.tree.dynamics import UNSETTLED
from supple.material import Material
from supple.validation.tree.reference import block_mesh, face

Array = np.ndarray
LEAF, TWIG, BLOCK = (0.1, 0.05, 0.001), (0.1, 0.01, 0.01), (0.1, 0.05, 0.05)  # [m]
SOFT, DAMPING = Material(2e5, 0.3, 500), 0.02  # [s]


def held(size: tuple[float, float, float], damping: float = DAMPING, **settings: float) -> TreeDynamics:
    """One domain of eight coordinates, held at one end."""
    mesh = block_mesh(size, (8, 4, 1))
    kind = DomainTemplate("leaf", mesh, SOFT, 8, face(mesh, 0.0))
    model = TreeModel.of(DomainTree({"leaf": kind}, [Domain("leaf")]), statics=False)
    return TreeDynamics(model, stiffness_damping=damping, settings=TreeSettings(**settings))  # type: ignore[arg-type]


def bent(tree: TreeDynamics, speed: float) -> TreeState:
    """Undeformed, and moving along the softest shape, its tip at `speed` [m/s]."""
    state, kind = tree.state(), tree.model.classes[0]
    assert kind.force is not None
    shape = np.linalg.eigh(kind.force.linear)[1][:, 0]  # the basis is orthonormal in the mass
    state.v[:] = speed / np.abs(kind.U @ shape).max() * shape
    return state


def residuals(tree: TreeDynamics, start: TreeState, end: TreeState, h: float) -> tuple[Array, Array, float]:
    """What is left of the step's equations with forces at its ends, and in its middle; and the size of M q"."""
    kind, beta = tree.model.classes[0], float(np.asarray(tree.stiffness_damping)[0])
    assert kind.force is not None
    u, a = (end.q - start.q) / h, (end.v - start.v) / h
    f_0, f_1 = (kind.force.evaluate(q)[0] for q in (start.q, end.q))
    f_m, K_m = kind.force.evaluate((start.q + end.q) / 2)
    inertia = kind.integrals.W4 @ a
    ends = inertia + (f_0 + f_1) / 2 + beta * (f_1 - f_0) / h
    return ends, inertia + f_m + beta * K_m @ u, float(np.abs(inertia).max())


def test_leaves_and_twigs_are_thin_and_blocks_are_not() -> None:
    for size in (LEAF, TWIG, BLOCK):
        assert thickness(held(size).model.classes[0].integrals) == pytest.approx(min(size) / max(size), rel=1e-6)
    assert 0.1 < THIN < 0.5


@pytest.mark.parametrize(
    ("size", "damping", "is_ended"),
    [(LEAF, DAMPING, True), (TWIG, DAMPING, True), (LEAF, 2e-3, False), (BLOCK, DAMPING, False)],
)
def test_a_step_has_its_forces_at_its_ends_or_in_its_middle(
    size: tuple[float, float, float], damping: float, is_ended: bool
) -> None:
    tree, h = held(size, damping, converge=True, epsilon=1e-12), 1 / 240
    start = bent(tree, 1.0)
    tree.advance(start, h, steps=2)
    end = start.copy()
    tree.advance(end, h)
    at_ends, in_middle, size_of = residuals(tree, start, end, h)
    solved, other = (at_ends, in_middle) if is_ended else (in_middle, at_ends)
    assert np.abs(solved).max() < 1e-8 * size_of
    assert np.abs(other).max() > 1e-5 * size_of


def test_a_leaf_that_swings_wide_settles_in_two_passes() -> None:
    tree, h = held(LEAF), 1 / 60
    state, worst = tree.state(), 0.0
    for _ in range(30):
        tree.advance(state, h, gravity=(0.0, 0.0, -9.81))
        worst = max(worst, float(tree.workspace.moved[0]))
    assert worst < UNSETTLED


def test_a_call_is_as_unsettled_as_its_worst_step() -> None:
    tree, h = held(LEAF, passes=2), 1 / 30
    start = bent(tree, 6.0)
    one, found = start.copy(), []
    for _ in range(2):
        tree.advance(one, h)
        found.append(float(tree.workspace.moved[0]))
    tree.advance(start, h, steps=2)
    assert found[0] > UNSETTLED
    assert found[0] > 2 * found[1]
    assert tree.workspace.moved[0] == found[0]


def test_steps_of_a_leaf_are_of_order_two() -> None:
    tree, ends = held(LEAF, converge=True), []
    for rate in (60, 120, 240, 1920):
        state = bent(tree, 1.0)
        tree.advance(state, 1 / rate, steps=rate // 10)
        ends.append(tree.model.classes[0].U @ state.q)
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert errors[0] < 0.1 * np.abs(ends[-1]).max()
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.05)
