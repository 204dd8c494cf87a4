"""Changes of a running tree: breaking, other factors, other kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import (
    LinearizedTree,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    detach,
    replaced,
    retuned,
)
from supple.errors import InputError
from supple.modal import ElasticSolid
from supple.scene.acting.breaking import break_off
from supple.validation.tree.coupling import GRAVITY, beam_domain_tree, random_state
from supple.validation.tree.joints import break_error
from supple.validation.tree.reference import lagrangian_accelerations, mixed_domain_tree, whole_mass


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("domain", [1, 2, 4])
def test_a_break_changes_no_position_energy_or_momentum(free: bool, domain: int) -> None:
    energy, momentum, moved = break_error(free=free, domain=domain)
    assert energy < 1e-13
    assert momentum < 1e-13
    assert moved < 1e-13


def test_a_broken_branch_falls_freely_and_the_rest_springs_back() -> None:
    scene = sp.Scene(gravity=GRAVITY)
    body = sp.TreeBody(beam_domain_tree(4, 10), stiffness_damping=0.01, mass_damping=4.0)
    node = scene.add(body, name="branch")
    scene.add(sp.Load(node.points("part"), (0.0, 0.01, 0.0)))  # points of both parts
    run = sp.run(scene, until=2.0, dt=1 / 60)
    broken = break_off(scene, run.state, "branch", 2, name="twig")
    system, stride, state = broken.scene.compile(), sp.TreeSolver(1 / 120), broken.state
    twig, rest = (system.body(name) for name in ("twig", "branch"))
    kin = system.propagate(state.t, state.x, state.v)
    start, mass = system.centre_of_mass(kin, twig), broken.branch.body.total_mass
    speed = broken.branch.body.measures(twig.view_x(state.x), twig.view_v(state.v)).momentum[:3] / mass
    low = broken.rest.body.skin.positions(rest.view_x(state.x))[:, 2].min()
    for _ in range(24):
        assert stride.step(system, state).outcome.name == "SOLVED"
    end = system.centre_of_mass(system.propagate(state.t, state.x, state.v), twig)
    side = len(broken.branch.body.skin.domain) / len(body.skin.domain) * 0.01 / mass
    expected = start + 0.2 * speed + 0.5 * 0.04 * (GRAVITY + np.array([0.0, side, 0.0]))
    assert np.abs(end - expected).max() < 1e-12  # though the release is faster than a step
    assert broken.rest.body.skin.positions(rest.view_x(state.x))[:, 2].min() > low + 0.01


@pytest.mark.parametrize("free", [False, True])
def test_factors_act_as_in_the_lagrangian(free: bool) -> None:
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=free, chain=True)))
    before = tree.arrays
    changed = retuned(tree, frequency_factor=np.linspace(0.5, 2, 5), density_factor=np.linspace(2, 0.3, 5))
    assert tree.arrays is before  # the old tree goes on as it was
    state, model, m = random_state(tree, 2), changed.model, whole_mass(changed.model)
    a, root = changed.accelerations(state, gravity=GRAVITY)
    weight = m @ np.tile(GRAVITY, m.shape[0] // 3)
    expected = lagrangian_accelerations(
        model, state.q, state.v, state.frame, state.velocity, np.zeros(model.coordinate_count), weight
    )
    found = np.concatenate([a, root]) if free else a
    assert np.linalg.norm(found - expected) < 1e-6 * np.linalg.norm(expected)  # differences of positions
    packed = TreeDynamics(model).accelerations(state, gravity=GRAVITY)[0]
    assert (packed == a).all()


def test_heavier_is_slower() -> None:
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=True, chain=True)))
    heavy, state = retuned(tree, density_factor=4.0), random_state(tree, 2)
    slow = LinearizedTree.of(heavy).frequencies(4)
    assert slow == pytest.approx(LinearizedTree.of(tree).frequencies(4) / 2, rel=1e-9)
    assert heavy.model.total_mass == pytest.approx(4 * tree.model.total_mass)
    moved, before = (
        TreeKinematics(t.model).motion(state.q, state.v, state.frame, state.velocity).measures() for t in (heavy, tree)
    )
    assert moved.momentum == pytest.approx(4 * before.momentum)
    assert moved.kinetic == pytest.approx(4 * before.kinetic)


def test_factors_that_change_again_are_those_of_the_whole() -> None:
    """A second factor is of the tree as it was made, in place of the first one."""
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=True, chain=True)))
    once = retuned(tree, density_factor=np.linspace(2, 0.3, 5), frequency_factor=0.5)
    twice = retuned(once, density_factor=np.linspace(0.5, 3, 5), frequency_factor=np.linspace(1, 2, 5))
    direct = retuned(tree, density_factor=np.linspace(0.5, 3, 5), frequency_factor=np.linspace(1, 2, 5))
    for name in ("tuning", "density", "total_mass"):
        np.testing.assert_allclose(getattr(twice.arrays, name), getattr(direct.arrays, name), rtol=1e-14)


def test_parts_keep_the_factors_and_scales_of_their_domains() -> None:
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=True, chain=False)))
    tuned = retuned(tree, frequency_factor=np.linspace(0.5, 2, 5), density_factor=np.linspace(2, 0.3, 5))
    broken = detach(tuned, tuned.state(), 2)
    for part in (broken.rest, broken.branch):
        numbers = [int(d.kind[1]) for d in part.model.domain_tree.domains]  # each is of a kind of its own
        for name in ("tuning", "density", "scale"):
            np.testing.assert_array_equal(getattr(part.model, name), getattr(tuned.model, name)[numbers])


def test_a_twig_of_a_turned_tree_has_turned_with_it() -> None:
    """Its frame at the break is that of its first domain; its node is placed there, and has not turned since."""
    scene = sp.Scene()
    body = sp.TreeBody(mixed_domain_tree(free=True, chain=False))
    scene.add(body, at=(0.5, 0.2, -0.1), rotation=(0.4, -1.1, 0.7), name="tree")
    broken = break_off(scene, scene.compile().initial_state(), "tree", 2, name="twig")
    system = broken.scene.compile()
    x = system.positions(broken.state, "twig")[0]
    np.testing.assert_allclose(broken.branch.placement.at, x[:3], atol=1e-12)
    np.testing.assert_allclose(np.abs(broken.branch.placement.rotation @ x[3:7]), 1.0, atol=1e-12)


def test_what_a_replaced_domain_cannot_hold_has_no_part_of_its_new_modes() -> None:
    """The new coordinates are the nearest by mass: the masses of what is left are orthogonal to all new modes."""
    tree = TreeDynamics(TreeModel.of(beam_domain_tree(3, 14)))
    kind, state = tree.model.domain_tree.kinds["part"], tree.state()
    state.q[:] = 1e-3 * np.random.default_rng(1).normal(size=len(state.q))
    other, now = replaced(tree, state, 1, replace(kind, name="fewer", modes=6))
    old, new = (t.model.classes[t.model.domain_class[1]] for t in (tree, other))
    left = old.U @ state.q[14:28] - new.U @ now.q[14:20]
    m = np.repeat(ElasticSolid(kind.mesh, kind.material).lumped_mass, 3)
    assert np.ptp(m) > 0.1 * m.max()
    part = np.abs(new.U.T @ (m * left)).max()
    assert part < 1e-12 * np.abs(new.U.T @ (m * (old.U @ state.q[14:28]))).max()


def test_a_replaced_domain_keeps_its_shape_as_far_as_it_can() -> None:
    tree = TreeDynamics(TreeModel.of(beam_domain_tree(3, 14)), stiffness_damping=0.01)
    state = tree.state()
    tree.advance(state, 1 / 60, steps=12, gravity=GRAVITY)
    kind = tree.model.domain_tree.kinds["part"]
    fewer = replace(kind, name="fewer", modes=10)
    other, now = replaced(tree, state, 1, fewer)
    assert other.model.coordinate_count == 38
    at, there = (
        TreeKinematics(t.model).motion(s.q, s.v, s.frame, s.velocity) for t, s in ((tree, state), (other, now))
    )
    reach = np.abs(at.o[2] - [1.6 * 2 / 3, 0, 0]).max()
    assert np.abs(at.o[2] - there.o[2]).max() < 0.02 * reach  # the ten modes hold nearly the shape
    back, again = replaced(other, now, 1, "part")
    assert back.model.coordinate_count == 42
    assert np.abs(again.q[:14] - state.q[:14]).max() == 0
    other.advance(now, 1 / 60, steps=5, gravity=GRAVITY)
    _, zero = replaced(tree, state, 1, replace(kind, name="rigid", modes=0), project=False)
    assert len(zero.q) == 28


def test_bad_changes_say_what_is_wrong() -> None:
    tree = TreeDynamics(TreeModel.of(beam_domain_tree(3, 6)))
    with pytest.raises(InputError, match="root"):
        detach(tree, tree.state(), 0)
    with pytest.raises(InputError, match="number"):
        detach(tree, tree.state(), 9)
    with pytest.raises(InputError, match="name"):
        detach(tree, tree.state(), "leaf")
    with pytest.raises(InputError, match="density_factor"):
        retuned(tree, density_factor=-1.0)
    with pytest.raises(InputError, match="kind of that name"):
        replaced(tree, tree.state(), 1, "leaf")
    bare = replace(tree.model.domain_tree.kinds["part"], name="bare", interfaces={})
    with pytest.raises(InputError, match="interface"):
        replaced(tree, tree.state(), 1, bare)
    scene = sp.Scene()
    scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    with pytest.raises(InputError, match="tree"):
        break_off(scene, scene.compile().initial_state(), "ball", 1)


def test_a_contact_that_names_a_tree_names_both_parts_after_a_break() -> None:
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(sp.TreeBody(beam_domain_tree(4, 10)), name="branch")
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 5.0), name="ball")
    scene.add(sp.Contact([node, ball], exclude=[("branch", "ball")], self_contact=[node]))
    broken = break_off(scene, scene.compile().initial_state(), "branch", 2, name="twig")
    contact = broken.scene.contacts[0]
    assert contact.bodies == [broken.rest, broken.branch, ball]
    assert contact.self_contact == [broken.rest, broken.branch]
    assert contact.exclude == [("branch", "ball"), ("twig", "ball")]
    broken.scene.compile()


def test_a_grown_tree_has_no_weight_to_lose_or_win() -> None:
    """Gravity does not act on it, so its energy is the same with and without."""
    energies = []
    for g in (np.zeros(3), GRAVITY):
        scene = sp.Scene(gravity=g)
        node = scene.add(sp.TreeBody(beam_domain_tree(3, 10), stiffness_damping=0.0, grown=True), name="plant")
        scene.add(sp.Load(node.points("part"), (0.0, 0.0, -0.01)))
        system = scene.compile()
        state, stride = system.initial_state(), sp.TreeSolver(1 / 120)
        for _ in range(10):
            stride.step(system, state)
        kin = system.propagate(state.t, state.x, state.v)
        energies.append(system.potential_energy(kin) + system.kinetic_energy(kin))
    assert energies[1] == pytest.approx(energies[0], rel=1e-12)


def test_a_grown_tree_that_swings_under_gravity_keeps_its_energy() -> None:
    """It was bent by gravity as it grew, so that gravity does no work on it: what was given to it stays."""
    scene = sp.Scene(gravity=GRAVITY, solver=sp.TreeSolver(1 / 480))
    body = sp.TreeBody(beam_domain_tree(3, 10), stiffness_damping=0.0, grown=True)
    node = scene.add(body, name="plant")
    scene.add(sp.Load(node.points("part"), lambda t: (0.0, 0.0, -0.02 if t < 0.05 else 0.0)))
    run = sp.run(scene, until=1.0)
    given = run.energies.total[run.energies.times > 0.06]
    assert np.ptp(run.energies.kinetic) > 0.2 * given[0]
    assert np.ptp(given) < 0.01 * given[0]  # of second order in the step
