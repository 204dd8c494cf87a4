"""What a frame asks of a large tree, found in one pass, against what is found one after another."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree import TreeModel
from supple.bodies.tree.body import FEW_DOMAINS
from supple.bodies.tree.kinematics import TreeKinematics
from supple.bodies.tree.looking import TreeLook
from supple.validation.tree.coupling import beam_domain_tree, random_state
from supple.validation.tree.reference import mixed_domain_tree

Array = np.ndarray
TREES = {
    "mixed": lambda: mixed_domain_tree(free=False, chain=False),
    "mixed chain": lambda: mixed_domain_tree(free=False, chain=True),
    "free": lambda: mixed_domain_tree(free=True, chain=False),
    "of one kind": lambda: beam_domain_tree(2 * LANES + 3, 6),
}


def looking(model: TreeModel) -> tuple[sp.TreeBody, TreeLook]:
    body = sp.TreeBody(model, stiffness_damping=0.001)
    return body, TreeLook(body.dynamics, body.inversion_check(body.rest_points), True)


def coordinates(body: sp.TreeBody, rng: np.random.Generator, factor: float = 1.0) -> tuple[Array, Array]:
    state = random_state(body.dynamics, rng)
    x, v = body.rest_coordinates, np.zeros((1, body.coordinates.v_width))
    state.q[:] *= factor
    body.pack(state, x, v)
    return x, v


@pytest.mark.parametrize("name", TREES)
def test_one_pass_finds_what_several_do(name: str) -> None:
    body, look = looking(TreeModel.of(TREES[name]()))
    rng = np.random.default_rng(5)
    for factor in (1.0, 0.05, 1.0):  # the widest gap of one look is where the next one begins
        x, v = coordinates(body, rng, factor)
        state = body.unpack(x, v)
        expected = TreeKinematics(body.model).motion(state.q, state.v, state.frame, state.velocity).measures()
        found = look.at(x, v)
        assert found.measures.kinetic == pytest.approx(expected.kinetic, rel=1e-12)
        assert found.measures.elastic == pytest.approx(expected.elastic, rel=1e-11)
        size = np.abs(expected.momentum).max()
        assert found.measures.momentum == pytest.approx(expected.momentum, rel=1e-11, abs=1e-12 * size)
        assert found.measures.first_moment == pytest.approx(expected.first_moment, rel=1e-12, abs=1e-12)
        assert found.gap == pytest.approx(body.deviation.largest(x), rel=1e-10)


def test_no_domain_with_an_inverted_element_is_left_out() -> None:
    body, look = looking(TreeModel.of(TREES["of one kind"]()))
    check, rng, seen = body.inversion_check(body.rest_points), np.random.default_rng(6), []
    for factor in (0.02, 0.2, 0.5, 1.0, 1.0):  # once more, when forms that cover strains are known
        x, v = coordinates(body, rng, factor)
        inverted = check.inverted(x)
        domains = np.unique(np.searchsorted(check.start, inverted, side="right") - 1)
        near = look.at(x, v).near
        assert np.isin(domains, near).all()
        seen.append((len(domains), len(near)))
    assert seen[0] == (0, 0)
    assert seen[-1][0] > 0


def test_a_large_tree_tells_the_same_of_itself() -> None:
    """From `FEW_DOMAINS` on bodies look in one pass: measures, gaps, inverted elements and the surface."""
    body = sp.TreeBody(
        TreeModel.of(beam_domain_tree(FEW_DOMAINS + 2, 4, cells=FEW_DOMAINS + 2)), stiffness_damping=0.001
    )
    x, v = coordinates(body, np.random.default_rng(7), 0.3)
    state = body.unpack(x, v)
    expected = TreeKinematics(body.model).motion(state.q, state.v, state.frame, state.velocity).measures()
    assert body.measures(x, v).kinetic == pytest.approx(expected.kinetic, rel=1e-12)
    assert body.measures(x).elastic == pytest.approx(expected.elastic, rel=1e-11)
    check = body.inversion_check(body.rest_points)
    domains = [d for d in range(body.model.domain_count) if _is_inverted(body, x, d)]
    assert np.unique(np.searchsorted(check.start, check.inverted(x), side="right") - 1).tolist() == domains
    assert len(domains) > 0
    points = body.skin.whole.apply(x)
    assert np.abs(body.skin.single(x) - points).max() < 1e-6 * np.abs(points).max()
    carried = body.skin.carriers.positions(body.skin.carriage(x))
    assert np.abs(carried - points).max() < 1e-6 * np.abs(points).max()
    moved = x + 0.0
    moved[0, 7:] *= 0.5
    assert body.measures(moved).elastic < body.measures(x).elastic
    x[0, 7:] *= 0.5  # in place: what was kept is no longer of these coordinates
    assert body.measures(x).elastic == body.measures(moved).elastic


def _is_inverted(body: sp.TreeBody, x: Array, domain: int) -> bool:
    """Whether an element of a domain is, by the determinants of all."""
    check = body.inversion_check(body.rest_points)
    first, last = body.model.q_starts[domain], body.model.q_starts[domain + 1]
    copies, _ = check.kinds[int(body.model.domain_class[domain])].seen(x[:, 7 + first : 7 + last])
    return bool(len(copies))
