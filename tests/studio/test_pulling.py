"""Picking and pulling: rays against closed forms, and springs to the pointer on bodies of every kind."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.tree import TreeBody
from supple.modal import ElasticSolid
from supple.record.surfaces import make_surfaces
from supple.running import choose_solver
from supple.solvers.choosing import prepared
from supple.studio.picking import pick
from supple.studio.pulling import BOUND, FREQUENCY, Pointer, Pulls
from supple.validation.tree.coupling import beam_domain_tree

Array = np.ndarray
RUBBER = sp.Material(1e5, 0.3, 1000, stiffness_damping=0.005)
SIDE = 0.1


def box() -> sp.TetMesh:
    return sp.box_tets(size=(SIDE, SIDE, SIDE), cells=(2, 2, 2))


def particles() -> sp.Particles:
    corners = SIDE * np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
    pairs = [(a, b) for a in range(8) for b in range(a)]
    return sp.Particles(corners, 0.1, springs=pairs, stiffness=500.0, damping=1.0)


def layered() -> LayeredBody:
    mesh = sp.box_tets(size=(SIDE, SIDE, SIDE), cells=(3, 3, 3))
    return LayeredBody.from_mesh(mesh, RUBBER, core=lambda X: np.abs(X - (SIDE / 2, 0, 0)).max(axis=1) < 0.2 * SIDE)


KINDS = {
    "fem": lambda: sp.FemBody(box(), RUBBER),
    "rigid": lambda: sp.RigidBody.box((SIDE, SIDE, SIDE), density=500),
    "voxel": lambda: sp.VoxelBody(
        sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIDE / 3), sp.VoxelMaterial(1e5, density=1000)
    ),
    "floating": lambda: FloatingBody.from_solid(ElasticSolid(box(), RUBBER), modes=6),
    "tree": lambda: TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.01),
    "layered": layered,
    "particles": particles,
}


def test_a_ray_meets_the_nearest_side() -> None:
    scene = sp.Scene()
    scene.add(KINDS["rigid"](), at=(0, 0, 0), name="far")
    scene.add(KINDS["rigid"](), at=(0.5, 0, 0), velocity=(0, 0, 1.0), name="near")
    system = scene.compile()
    start, state = system.initial_state(), system.initial_state()
    sp.SymplecticEuler(1e-2).step(system, state)  # the near one is 1 cm higher now
    surfaces = make_surfaces(system)
    found = pick(surfaces, state, start, np.array([2.0, 0.013, 0.021]), np.array([-1.0, 0, 0]))
    assert found is not None
    assert surfaces[found.surface].name == "near"
    assert found.place == pytest.approx((0.55, 0.013, 0.021), abs=1e-6)
    assert found.start == pytest.approx((0.55, 0.013, 0.011), abs=1e-6)
    assert pick(surfaces, state, start, np.array([2.0, 0.2, 0]), np.array([-1.0, 0, 0])) is None
    assert pick(surfaces, state, start, np.array([2.0, 0, 0]), np.array([1.0, 0, 0])) is None  # behind


def test_the_end_stays_in_the_plane_across_the_view() -> None:
    pointer = Pointer.of(np.array([0, 0, 0, 0.6, 0, 0.8, 0, 0, 2.0]))
    assert pointer.at_depth(4.0) == pytest.approx((3.0, 0, 4.0))
    assert pointer.is_sound
    assert not Pointer.of(np.array([0, 0, 0, 0, 0, -1.0, 0, 0, 1.0])).is_sound
    assert not Pointer.of(np.array([np.nan, 0, 0, 0, 0, 1.0, 0, 0, 1.0])).is_sound


def towards(place: Array, target: Array) -> Pointer:
    """From far above."""
    origin = place + np.array([0, 0, 10.0])
    ray = (target - origin) / np.linalg.norm(target - origin)
    return Pointer(origin, ray, np.array([0.0, 0, -1.0]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_of_any_kind_follows_the_pointer(kind: str) -> None:
    """To where it is held, at rest in the end; let go, it stays free. Two watchers pull, one leaves."""
    scene = sp.Scene()
    node = scene.add(KINDS[kind](), name="body")
    system = scene.compile()
    solver = choose_solver(scene, system, None, None)
    solver.prepare(system)
    state = system.initial_state()
    surfaces = make_surfaces(system)
    pulls = Pulls(system, surfaces, state.copy(), solver.dt)
    points = surfaces[0].points(state).astype(float)
    top = points[np.argmax(points[:, 2])] if kind != "tree" else points[np.argmax(points[:, 0])]
    middle = points.mean(axis=0)
    inside = top + 0.02 * (middle - top)
    assert pulls.grab(1, towards(inside, inside), state, state)
    other = inside if kind == "particles" else middle  # there is nothing between particles
    assert pulls.grab(2, towards(other, other), state, state)
    solver = prepared(solver, system)
    assert pulls.stiffness(2.0) == pytest.approx(
        min(2 * (2 * np.pi * FREQUENCY) ** 2, BOUND * 2 / solver.dt**2)
    )  # fmt: skip
    pulls.release(2, state)
    solver = prepared(solver, system)
    assert list(pulls.held) == [1]
    target = inside + np.array([0.01, -0.02, 0.0])
    pulls.drag(1, towards(inside, target), state)
    pull = pulls.held[1]
    held = next(f for f in system.forces if f.label == pull.name)
    assert system.propagate(state.t, state.x, state.v).x[held.slot.index][1] == pytest.approx(pull.target)
    for _ in range(round(3.0 / solver.dt)):
        solver.step(system, state)
    x = system.propagate(state.t, state.x, state.v).x[held.slot.index]
    apart = np.linalg.norm(x[0] - x[1])
    if kind == "tree":  # its root is held: it is bent towards the pointer
        first = system.initial_state()
        before = system.propagate(0.0, first.x, first.v).x[held.slot.index]
        assert apart < np.linalg.norm(before[0] - pull.target)
    else:
        assert apart < 1e-3
    assert pulls.release(1, state)
    assert not pulls.release(1, state)
    assert not [f for f in system.forces if f.label.startswith("pull")]
    assert node.name == "body"


def test_a_pull_damps_by_twice_its_stiffness_over_the_circular_frequency() -> None:
    """c = k / (pi f): a body of mass m on a pull of strength 1 has k = m w², c = 2 m w, which is critical."""
    scene = sp.Scene()
    scene.add(KINDS["rigid"](), name="box")
    system = scene.compile()
    state = system.initial_state()
    pulls = Pulls(system, make_surfaces(system), state.copy(), 1e-3)
    inside = np.array([0.01, 0.02, SIDE / 2])
    assert pulls.grab(1, towards(inside, inside), state, state)
    force = next(f.force for f in system.forces if f.label == pulls.held[1].name)
    mass, w = 500 * SIDE**3, 2 * np.pi * FREQUENCY
    assert force.stiffness == pytest.approx(mass * w**2, rel=1e-12)
    assert force.damping == pytest.approx(2 * mass * w, rel=1e-12)


def test_a_pull_is_no_stiffer_than_a_step_bears() -> None:
    """At most m / (4 h²): a step of h moves the body by no more than a quarter of the way to the pointer."""
    scene = sp.Scene()
    scene.add(KINDS["rigid"](), name="box")
    system = scene.compile()
    pulls = Pulls(system, make_surfaces(system), system.initial_state(), 0.1, strength=50.0)
    assert pulls.stiffness(2.0) == pytest.approx(2.0 / (4 * 0.1**2), rel=1e-12)
