"""Domains of several classes in the lanes of one group move as each does in a group of its own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree import Domain, DomainTree, TreeDynamics, TreeModel
from supple.bodies.tree.domains import layout
from supple.bodies.tree.domains.grouping import group_cost, make_groups
from supple.validation.tree.reference import mixed_domain_tree


def bush() -> TreeModel:
    """A root whose interfaces carry domains with unequal coordinates and interfaces, and some of them children of
    their own."""
    names = list(mixed_domain_tree(free=False, chain=True).kinds)
    domains = [Domain(names[0])]
    for k in range(9):
        domains.append(Domain(names[1 + k % (len(names) - 1)], 0, ("tip", "top")[k % 2], scale=0.9 + 0.02 * k))
    domains += [Domain(names[2], 1, "tip"), Domain(names[3], 2, "tip"), Domain(names[1], 3, "tip")]
    return TreeModel.of(DomainTree(mixed_domain_tree(free=False, chain=True).kinds, domains))


def end(model: TreeModel) -> np.ndarray:
    tree = TreeDynamics(model, stiffness_damping=0.002, mass_damping=0.1)
    state = tree.state()
    state.v[:] = 0.1 * np.random.default_rng(4).normal(size=len(state.v))
    wrenches = 0.1 * np.random.default_rng(5).normal(size=(model.domain_count, 6))
    tree.advance(state, 1 / 200, steps=20, gravity=(0, 0, -9.81), wrenches=wrenches)
    return np.concatenate([state.q, 1e-2 * state.v, 1e-4 * state.a])


def test_company_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = bush()
    tree = TreeDynamics(model).arrays
    assert (tree.group_class >= len(model.classes)).any()
    together = end(model)

    def alone(model: TreeModel) -> tuple[list[np.ndarray], np.ndarray]:
        order = np.argsort(model.levels, kind="stable")
        start = np.searchsorted(model.levels[order], np.arange(model.levels.max() + 2))
        return [order[k : k + 1] for k in range(len(order))], start

    monkeypatch.setattr(layout, "make_groups", alone)
    assert len(TreeDynamics(model).arrays.group_class) == model.domain_count
    np.testing.assert_allclose(together, end(model), rtol=0, atol=1e-11 * np.abs(together).max())


def test_groups_hold_every_domain_once_on_its_level_and_cost_no_more_than_one_each() -> None:
    model = bush()
    groups, level_start = make_groups(model)
    assert sorted(np.concatenate(groups).tolist()) == list(range(model.domain_count))
    assert max(len(g) for g in groups) <= LANES
    for level, (first, last) in enumerate(pairwise(level_start)):
        assert all((model.levels[g] == level).all() for g in groups[first:last])
    bears = np.isin(np.arange(model.domain_count), model.parent)
    interfaces = bears * np.array([len(c.interfaces) for c in model.classes])[model.domain_class]
    together = sum(group_cost(model.mode_counts[g].max(), interfaces[g].max()) for g in groups)
    assert together < 0.7 * sum(map(group_cost, model.mode_counts, interfaces))
