"""Domains of several classes in the lanes of one group move as each does in a group of its own."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import eigh

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    TreeDynamics,
    TreeModel,
    TreeSettings,
)
from supple.bodies.tree.domains import layout
from supple.bodies.tree.domains.grouping import changes_forces, group_cost, make_groups
from supple.examples.shapes.oak_leaf import leaf
from supple.geometry import box_tets
from supple.material import Material
from supple.modal.forces.force_change_kernels import FEW
from supple.validation.tree.reference import mixed_domain_tree, mixed_kind


def bush(*counts: int) -> TreeModel:
    """A root whose interfaces carry domains with unequal coordinates and interfaces, and some of them children of
    their own. counts: coordinates of the five kinds."""
    kinds = mixed_domain_tree(free=False, chain=True).kinds
    if counts:
        kinds = {f"k{k}": mixed_kind(f"k{k}", r, free=False, seed=k) for k, r in enumerate(counts)}
    names = list(kinds)
    domains = [Domain(names[0])]
    for k in range(9):
        domains.append(Domain(names[1 + k % (len(names) - 1)], 0, ("tip", "top")[k % 2], scale=0.9 + 0.02 * k))
    domains += [Domain(names[2], 1, "tip"), Domain(names[3], 2, "tip"), Domain(names[1], 3, "tip")]
    return TreeModel.of(DomainTree(kinds, domains))


def end(model: TreeModel, push: float = 0.1, **settings: object) -> np.ndarray:
    tree = TreeDynamics(
        model,
        stiffness_damping=0.002,
        mass_damping=0.1,
        settings=TreeSettings(**settings),  # type: ignore[arg-type]
    )
    state = tree.state()
    state.v[:] = push * np.random.default_rng(4).normal(size=len(state.v))
    wrenches = push * np.random.default_rng(5).normal(size=(model.domain_count, 6))
    tree.advance(state, 1 / 200, steps=20, gravity=(0, 0, -9.81), wrenches=wrenches)
    return np.concatenate([state.q, 1e-2 * state.v, 1e-4 * state.a])


@pytest.mark.parametrize("counts", [(), (12, 10, 3, 9, 11), (12, 10, 9, 9, 11)])
def test_company_changes_nothing(counts: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    model = bush(*counts)
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


def test_changes_of_forces_lead_where_new_forces_do() -> None:
    """Passes that change f and K of many coordinates settle on the step that takes both anew, but for single
    precision; so do two passes, within their order."""
    model = bush(12, 10, 3, 9, 11)
    iterated = end(model, converge=True, epsilon=1e-12)
    size = np.abs(iterated).max()
    np.testing.assert_allclose(end(model, passes=12), iterated, rtol=0, atol=5e-6 * size)  # two passes are off by 1e-4
    assert np.abs(end(model) - iterated).max() < 0.2 * np.abs(end(model, renew_forces=False) - iterated).max()


def leafy_beam() -> TreeModel:
    """A beam of ten coordinates with two leaves of an oak, whose membrane is 5e5 times as stiff as their bending."""
    beam = box_tets(size=(0.3, 0.01, 0.01), cells=(8, 1, 1))
    interfaces = {
        name: DomainInterface(nodes, np.ones(len(nodes)))
        for name, nodes in (("tip", beam.node_region("x_max")), ("top", beam.node_region("z_max")))
    }
    kinds = {
        "beam": DomainTemplate("beam", beam, Material(1e9, 0.3, 700), 10, beam.node_region("x_min"), interfaces),
        "leaf": leaf(),
    }
    domains = [Domain("beam"), Domain("leaf", 0, "tip"), Domain("leaf", 0, "top")]
    return TreeModel.of(DomainTree(kinds, domains), statics=False)  # what stretches settles on 1e-12 of itself


def test_a_tree_of_thin_leaves_settles_on_the_exact_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of its domains are leaves, so the beam takes its forces anew as well. To change those of the beam leads
    elsewhere, since stiffness damping lacks a term of second order in the change."""
    model, push = leafy_beam(), 1e-3
    thin = model.classes[1]
    spread = eigh(thin.force.linear, thin.integrals.W4, eigvals_only=True)
    assert spread[-1] / spread[0] > 1e5
    iterated = end(model, push, converge=True, epsilon=1e-13)
    size = np.abs(iterated).max()
    assert not changes_forces(model).any()
    exact = np.abs(end(model, push, passes=12) - iterated).max() / size
    monkeypatch.setattr(layout, "changes_forces", lambda model: model.mode_counts >= FEW)
    changed = np.abs(end(model, push, passes=12) - iterated).max() / size
    assert exact < 1e-10 < 1e-6 < changed


def test_groups_hold_every_domain_once_on_its_level_and_cost_no_more_than_one_each() -> None:
    model = bush(12, 10, 3, 9, 11)
    groups, level_start = make_groups(model)
    changes = changes_forces(model)
    sides = [set(changes[g[model.mode_counts[g] > 0]].tolist()) for g in groups]
    assert max(map(len, sides)) == 1  # forces changed and taken anew never share
    assert len({side for both in sides for side in both}) == 2
    assert sorted(np.concatenate(groups).tolist()) == list(range(model.domain_count))
    assert max(len(g) for g in groups) <= LANES
    for level, (first, last) in enumerate(pairwise(level_start)):
        assert all((model.levels[g] == level).all() for g in groups[first:last])
    bears = np.isin(np.arange(model.domain_count), model.parent)
    interfaces = bears * np.array([len(c.interfaces) for c in model.classes])[model.domain_class]
    together = sum(group_cost(model.mode_counts[g].max(), interfaces[g].max()) for g in groups)
    assert together < 0.7 * sum(map(group_cost, model.mode_counts, interfaces))
