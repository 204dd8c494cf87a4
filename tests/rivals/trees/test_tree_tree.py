"""The tree against its rivals: brute-force Lagrangian, unreduced finite elements, one domain, threads, steps."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from supple.bodies.tree import (
    Domain,
    DomainTree,
    OneWayWarning,
    TreeDynamics,
    TreeModel,
    TreeSettings,
)
from supple.errors import DivergenceError
from supple.validation.tree import coupling as validation
from supple.validation.tree.reference import mixed_domain_tree, mixed_kind

GRAVITY = validation.GRAVITY


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("chain", [False, True])
def test_accelerations_are_the_lagrangians(free: bool, chain: bool) -> None:
    assert validation.acceleration_error(free=free, chain=chain) < 1e-6  # differences of positions


def test_the_composite_coupling_is_not_exact() -> None:
    assert validation.acceleration_error(free=False, chain=True, coupling="composite") > 1e-3


def test_one_domain_steps_as_a_dense_midpoint_rule_does() -> None:
    kind = mixed_kind("k", 5, seed=3)
    model = TreeModel.of(DomainTree({"k": kind}, [Domain("k")]), keep=False)
    tree = TreeDynamics(model, stiffness_damping=0.003, mass_damping=0.2)
    one, force = model.classes[0], model.classes[0].force
    assert force is not None
    load, M, state = one.integrals.U_bar.T @ GRAVITY, one.integrals.W4, tree.state()
    tree.advance(state, 1 / 100, steps=40, gravity=GRAVITY)
    k, q, v = 1 / 200, np.zeros(5), np.zeros(5)  # the midpoint rule, two passes with new forces
    for _ in range(40):
        middle = q + k * v
        for _ in range(2):
            f, K = (part[0] for part in force.evaluate(middle[None]))
            D = 0.2 * M + 0.003 * K
            a = np.linalg.solve(M + k * D + k * k * K, load - f - K @ (q + k * v - middle) - D @ v)
            middle = q + k * (v + k * a)
        q, v = q + 2 * k * (v + k * a), v + 2 * k * a
    assert np.abs(state.q - q).max() < 1e-10 * np.abs(q).max()


@pytest.mark.parametrize("free", [False, True])
def test_threads_and_strides_do_not_change_bits(free: bool) -> None:
    domains = [Domain("k0"), *(Domain("k2", 0, ("tip", "top")[k % 2]) for k in range(200))]
    domain_tree = DomainTree(mixed_domain_tree(free=free, chain=True).kinds, domains)
    tree = TreeDynamics(TreeModel.of(domain_tree), stiffness_damping=0.002)
    before, ends = numba.get_num_threads(), []
    try:
        for threads, strides in ((1, 1), (min(2, numba.config.NUMBA_NUM_THREADS), 1), (1, 4)):
            numba.set_num_threads(threads)
            state = tree.state()
            state.velocity[3:] = 1.0 if free else 0.0
            for _ in range(strides):
                tree.advance(state, 1 / 200, steps=8 // strides, gravity=GRAVITY)
            ends.append(np.concatenate([state.q, state.frame, state.velocity]))
    finally:
        numba.set_num_threads(before)
    assert (ends[0] == ends[1]).all()
    assert (ends[0] == ends[2]).all()


def hanging(model: TreeModel, **options: object) -> np.ndarray:
    """q of a tree that has come to rest under gravity, by strong damping."""
    settings = TreeSettings(theta=0.6)  # dissipates
    tree = TreeDynamics(model, mass_damping=4.0, stiffness_damping=0.05, settings=settings, **options)  # type: ignore[arg-type]
    state = tree.state()
    tree.advance(state, 1 / 20, steps=240, gravity=GRAVITY)
    assert np.abs(state.v).max() < 1e-4 * np.abs(state.q).max()
    return state.q


def test_one_way_couplings_hang_as_the_articulated_one_does_if_they_pass_on_torques() -> None:
    model = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    expected = hanging(model)
    for coupling in ("composite", "centroid", "lumped"):
        for torque in (True, False):
            error = np.abs(hanging(model, coupling=coupling, torque=torque) - expected).max() / np.abs(expected).max()
            # a mass at the interface turns nothing, whether torques are passed on or not
            assert (error < 1e-4) == (torque and coupling != "lumped"), (coupling, torque, error)


def test_processes_reduce_to_the_same() -> None:
    domain_tree, seen = mixed_domain_tree(free=False, chain=True), []
    two = TreeModel.of(domain_tree, keep=False, processes=2, progress=lambda *step: seen.append(step))
    one = TreeModel.of(domain_tree, keep=False)
    assert [step[1:] for step in seen] == [(k, 5) for k in range(1, 6)]
    assert {step[0] for step in seen} == set(domain_tree.kinds)
    assert all((a.U == b.U).all() for a, b in zip(one.classes, two.classes))


def test_one_way_couplings_warn_without_damping() -> None:
    model = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    with pytest.warns(OneWayWarning):
        TreeDynamics(model, coupling="lumped")


def test_a_lost_tree_says_so() -> None:
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=False, chain=False)))
    state = tree.state()
    with pytest.raises(DivergenceError, match="domain"):
        tree.advance(state, 0.1, steps=50, forces=np.full(tree.model.coordinate_count, 1e200))
    assert np.isfinite(state.q).all()
