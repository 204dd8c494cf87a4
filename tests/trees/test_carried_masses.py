"""Masses on points of a tree: they are in its inertia, its weight and its parts, as on bodies of other kinds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.point_mass import PointMass
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.errors import InputError
from supple.scene import State, System
from supple.validation.contact_kinds import DENSITY, RUBBER, cube
from supple.validation.tree.coupling import beam_domain_tree
from supple.validation.tree.reference import mixed_domain_tree

G = np.array([0.0, 0.0, -9.81])


def beaded(body: TreeBody, m: float = 0.3, number: int = -1, **kwargs: object) -> tuple[sp.Scene, sp.Node]:
    """A scene of a tree with a bead on one of its points."""
    scene = sp.Scene(gravity=kwargs.pop("gravity", (0, 0, 0)))
    node = scene.add(body, name="tree", **kwargs)
    number = len(node.rest) - 1 if number < 0 else number
    scene.add(PointMass(np.array([m])), on=node.points([number]), name="bead")
    return scene, node


def shaken(system: System, seed: int = 0) -> State:
    """A state away from rest, with velocities."""
    rng, state = np.random.default_rng(seed), system.initial_state()
    state.x[3:7] = rotations.exp(rng.normal(size=3))
    state.x[7:-1] += 0.02 * rng.normal(size=state.x.size - 8)
    state.v[:-1] = rng.normal(size=state.v.size - 1)
    return state


@pytest.mark.parametrize("number", [0, 7, -1])
def test_energy_and_momentum_are_those_of_the_tree_and_of_the_bead(number: int) -> None:
    tree, m = mixed_domain_tree(free=True, chain=False), 0.3
    domains = [replace(d, density_factor=1.7) for d in tree.domains]  # the factor is the domain's, not the bead's
    body = TreeBody(DomainTree(tree.kinds, domains, tree.welds, tree.is_free))
    scene, node = beaded(body, m, number)
    bare = sp.Scene()
    other = bare.add(body, name="tree")
    number = len(node.rest) - 1 if number < 0 else number
    system, alone = scene.compile(), bare.compile()
    state = shaken(system)
    mapping = other.points([number]).mapping
    x, v = state.x[None], state.v[None]
    at, speed = mapping.apply(x)[0], mapping.linearize(x).product(v)[0]
    kinetic = alone.kinetic_energy(state) + m * speed @ speed / 2
    assert system.kinetic_energy(state) == pytest.approx(kinetic, rel=1e-12)
    momentum = alone.momentum(state) + m * np.concatenate([speed, np.cross(at, speed)])
    assert np.abs(system.momentum(state) - momentum).max() < 1e-12 * np.abs(momentum).max()


def test_a_rigid_tree_with_a_bead_turns_as_the_rigid_body_of_both() -> None:
    kind = DomainTemplate("cube", cube(), RUBBER, 0)
    body, m = TreeBody(DomainTree({"cube": kind}, [Domain("cube")])), 0.2
    scene, node = beaded(body, m, 0, velocity=(0.1, 0.2, 0.0), spin=(2.0, 1.0, 3.0))
    run = sp.run(scene, until=0.5, dt=1e-3)
    place = node.rest[0]
    solid = sp.RigidBody.box((0.1,) * 3, density=DENSITY)
    box = sp.Scene()
    whole = box.add(solid, name="box", velocity=(0.1, 0.2, 0.0), spin=(2.0, 1.0, 3.0))
    corner = whole.points(at=[place])
    box.add(PointMass(np.array([m])), on=corner)
    rival = sp.run(box, until=0.5, solver=sp.Midpoint(1e-3))
    there = rival.system.positions(rival.state, "box")[0]
    here = run.state.x[:7]
    assert np.abs(here[:3] - there[:3]).max() < 1e-5  # both of second order, by different rules
    assert np.abs(np.abs(here[3:7] @ there[3:7]) - 1) < 1e-9


def test_a_bead_lowers_the_frequency_of_a_beam_as_with_finite_elements() -> None:
    tree = beam_domain_tree(2, 14)
    body = TreeBody(tree, stiffness_damping=0.0)
    tip = int(np.argmax(body.skin.rest @ [1.0, 1e-3, 1e-3]))
    m = 0.5 * body.total_mass
    scene, _ = beaded(body, m, tip)
    bare = sp.Scene()
    bare.add(body)
    with_bead, without = (sp.vibration_modes(s.compile(), count=2).frequencies[0] for s in (scene, bare))
    # Rayleigh: the modal mass of the first bending mode of a uniform cantilever is a quarter of its mass at the tip
    assert with_bead / without == pytest.approx(np.sqrt(0.2427 / (0.2427 + 0.5)), rel=0.01)


def test_what_hangs_on_a_grown_tree_pulls_it_down_and_follows_gravity() -> None:
    body = TreeBody(beam_domain_tree(2, 8), grown=True, stiffness_damping=0.02)
    tip, m = int(np.argmax(body.skin.rest[:, 0])), 1e-4
    scene, _ = beaded(body, m, tip, gravity=G)
    system = scene.compile()
    assert "bead" in str(system)
    pulled = sp.Scene()
    same = pulled.add(body, name="tree")
    pulled.add(sp.Load(same.points([tip]), m * G))
    low, rival = (sp.solve_statics(s.compile()) for s in (scene, pulled))
    assert np.abs(low.x - rival.x).max() < 1e-5 * np.abs(rival.x[7:]).max()  # Newton stops there
    state = system.initial_state()
    force = lambda: system.force(system.propagate(0.0, state.x, state.v))  # noqa: E731
    before = force()
    system.change(state, "gravity", value=(0, 0, 2 * G[2]))
    assert np.abs(before).max() > 0
    assert np.allclose(force(), 2 * before, rtol=1e-12, atol=1e-15)


def test_a_free_tree_with_a_bead_falls_with_its_centre_on_the_parabola() -> None:
    scene, _ = beaded(TreeBody(mixed_domain_tree(free=True, chain=False)), 0.3, gravity=G, spin=(1.0, 2.0, 0.5))
    run = sp.run(scene, until=0.3)
    first, last = (run.system.momentum(s) for s in (run.system.initial_state(), run.state))
    total = sum(mass.first_moment(run.system.initial_state().x[None])[0] for _, _, mass in run.system.masses)
    assert np.abs(last[:3] - first[:3] - total * G * 0.3).max() < 1e-11 * np.abs(last).max()


def test_a_bead_breaks_off_with_its_branch() -> None:
    body = TreeBody(beam_domain_tree(3, 6))
    scene, _ = beaded(body, 0.3, int(np.argmax(body.skin.rest[:, 0])), gravity=G)
    run = sp.run(scene, until=0.1)
    system, state = run.system, run.state
    before = system.momentum(state)[:3]
    system.break_off(state, "tree", 2)
    assert np.abs(system.momentum(state)[:3] - before).max() < 1e-12 * np.abs(before).max()
    heavy = [label for label, _, _ in system.masses if "bead" in label]
    assert heavy == ["tree-2 mass, with bead"]


def test_a_bead_beside_other_kinds_and_its_change_of_density() -> None:
    scene, node = beaded(TreeBody(beam_domain_tree(2, 6)), 0.3, gravity=G)
    ball = scene.add(sp.RigidBody.sphere(0.05, density=500), at=(3, 0, 0), name="ball")
    scene.add(sp.Springs(node.points([0]), ball.points(local=(0, 0, 0)), 10.0, 0.1))
    run = sp.run(scene, until=0.05)
    system, state = run.system, run.state
    mass = lambda: next(m.first_moment(s.view_x(state.x))[0] for label, s, m in system.masses if "bead" in label)  # noqa: E731
    before = mass()
    system.change(state, "tree", density_factor=2.0)
    assert mass() - 0.3 == pytest.approx(2 * (before - 0.3), rel=1e-12)


def test_bad_masses_on_trees_are_refused() -> None:
    scene = sp.Scene()
    node = scene.add(TreeBody(beam_domain_tree(2, 6)), name="tree")
    ball = scene.add(sp.RigidBody.sphere(0.05, density=500), at=(3, 0, 0), name="ball")
    both = sp.join(node.points([0]), ball.points(local=(0, 0, 0)))
    scene.add(PointMass(np.array([0.1])), on=both.combined([[0.5, 0.5]]), name="bead")
    with pytest.raises(InputError, match="several bodies"):
        scene.compile()
    scene.masses.clear()
    scene.add(PointMass(np.array([0.1, 0.2])), on=node.points([0]), name="bead")
    with pytest.raises(InputError, match="does not fit"):
        scene.compile()
