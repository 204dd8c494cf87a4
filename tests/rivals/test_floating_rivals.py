"""Floating bodies against other ways to the same motion: solvers, strides, rigid and finite-element bodies."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.floating import FloatingBody, Stride
from supple.modal import ElasticSolid, reduced_basis
from supple.modal.support import Support

RUBBER = sp.Material(young=1e6, poisson=0.3, density=1000)


def beam(young: float = 1e6, cells: tuple[int, int, int] = (6, 1, 1)) -> ElasticSolid:
    material = sp.Material(young=young, poisson=0.3, density=1000)
    return ElasticSolid(sp.box_tets(size=(0.6, 0.1, 0.08), cells=cells), material)


def spinning(body: FloatingBody, **more: object) -> tuple[sp.System, sp.State]:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(body, spin=(1, 5, 12), name="beam", **more)
    system = scene.compile()
    return system, system.initial_state()


def test_stride_and_scene_solver_make_the_same_steps() -> None:
    body = FloatingBody.from_solid(beam(), modes=5, fixed="x_min", damping_ratio=0.02)
    system, state = spinning(body)
    alone = state.copy()
    for _ in range(20):
        assert sp.Midpoint(2e-3).step(system, state).is_solved
    body.advance(alone.x[None], alone.v[None], 2e-3, steps=20, gravity=(0, 0, -9.81))
    assert np.allclose(alone.x, state.x, atol=1e-10)
    assert np.allclose(alone.v, state.v, atol=1e-8)


def test_runge_kutta_alone_and_in_a_scene_agree() -> None:
    body = FloatingBody.from_solid(beam(), modes=5, fixed="x_min", stiffening=True)
    system, state = spinning(body)
    alone = state.copy()
    for _ in range(10):
        sp.RungeKutta4(1e-3).step(system, state)
    body.advance(
        alone.x[None], alone.v[None], 1e-3, steps=10, gravity=(0, 0, -9.81), stride=Stride(method="runge-kutta")
    )
    assert np.allclose(alone.x, state.x, atol=1e-13)
    assert np.allclose(alone.v, state.v, atol=1e-11)


def test_forces_on_nodes_alone_and_in_a_scene_agree() -> None:
    body = FloatingBody.from_solid(beam(), modes=4)
    scene = sp.Scene()
    node = scene.add(body, spin=(0, 2, 1), name="beam")
    scene.add(sp.Load(node.points([3, 9]), (0.5, 1.0, -2.0)))
    system = scene.compile()
    state = system.initial_state()
    alone = state.copy()
    for _ in range(20):
        sp.Midpoint(2e-3).step(system, state)
    given = np.tile(np.array([0.5, 1.0, -2.0]) / 2, (2, 1))
    body.advance(alone.x[None], alone.v[None], 2e-3, steps=20, stride=Stride(nodes=(3, 9), forces=given))
    assert np.allclose(alone.x, state.x, atol=1e-10)


def test_a_very_stiff_body_moves_as_a_rigid_one() -> None:
    body = FloatingBody.from_solid(beam(young=1e12), modes=3)
    g = body.model.integrals
    rigid = sp.RigidBody(g.mass, np.trace(g.P0) * np.eye(3) - g.P0)
    ends = []
    for thing in (body, rigid):
        scene = sp.Scene()
        at = -body.origin if thing is body else np.zeros(3)
        velocity = -np.cross((1, 5, 12), -at) if thing is body else np.zeros(3)
        scene.add(thing, at=at, velocity=velocity, spin=(1, 5, 12))
        system = scene.compile()
        state = system.initial_state()
        for _ in range(50):
            sp.Midpoint(2e-3).step(system, state)
        ends.append(state.x[:7])
    assert np.allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize(
    "solver",
    [
        sp.ImplicitEuler(2e-4),
        sp.ImplicitEuler(2e-4, newton=True),
        sp.Midpoint(1e-3),
        sp.Newmark(1e-3),
        sp.GeneralizedAlpha(1e-3, rho=0.9),
        sp.SymplecticEuler(1e-4),
    ],
    ids=lambda s: type(s).__name__,
)
def test_every_solver_finds_the_motion_of_runge_kutta(solver: object) -> None:
    """20 ms of a held beam that falls; the tolerance is a few times the first-order rules' error."""
    body = FloatingBody.from_solid(beam(young=1e5), modes=4, fixed="x_min")
    system, start = spinning(body, fix=True)
    start.v[:6] = 0.0
    exact, state = start.copy(), start.copy()
    for _ in range(40):
        sp.RungeKutta4(5e-4).step(system, exact)
    solver.prepare(system)  # type: ignore[attr-defined]
    while state.t < 0.02 - 1e-9:
        solver.step(system, state)  # type: ignore[attr-defined]
    moved = np.abs(exact.x[7:]).max()
    assert moved > 1e-4
    assert np.abs(state.x - exact.x).max() < 0.03 * moved


def test_a_hinge_holds_a_floating_pendulum_that_keeps_its_energy() -> None:
    """A clamped-root beam on a hinge: joint gap, energy, and the period of the rigid pendulum within flexibility."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    body = FloatingBody.from_solid(beam(young=1e9), modes=3, fixed="x_min")
    node = scene.add(body, name="beam")
    scene.add(sp.HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0)))
    system = scene.compile()
    state = system.initial_state()
    kin = system.propagate(0.0, state.x, state.v)
    E0 = system.kinetic_energy(kin) + system.potential_energy(kin)
    solver = sp.Midpoint(2e-3)
    while state.t < 0.2 - 1e-9:
        assert solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    g = body.model.integrals
    assert system.kinetic_energy(kin) + system.potential_energy(kin) == pytest.approx(
        E0, abs=1e-3 * g.mass * 9.81 * 0.3
    )
    assert np.abs(system.violation(kin)).max() < 1e-9
    # the angle of a rigid bar released level: theta" = -(3 g / 2 L) cos(theta), integrated finely
    inertia, arm, angle, rate, h = (g.P0[0, 0] + g.P0[2, 2]), g.S0[0], 0.0, 0.0, 1e-5
    for _ in range(20000):
        rate += h * 9.81 * arm * np.cos(angle) / inertia
        angle += h * rate
    pointing = rotations.rotate(state.x[3:7], np.array([1.0, 0, 0]))
    assert np.arctan2(-pointing[2], pointing[0]) == pytest.approx(angle, rel=5e-3)


def test_two_bodies_joined_by_a_ball_keep_momentum() -> None:
    scene = sp.Scene()
    first = scene.add(FloatingBody.from_solid(beam(), modes=4), spin=(0, 0, 6), name="first")
    second = scene.add(FloatingBody.from_solid(beam(), modes=4), at=(0.6, 0, 0), name="second")
    tip = (0.6, 0.0, 0.0)
    second.placement.velocity[:] = np.cross((0, 0, 6), tip)
    scene.add(sp.BallJoint(first, second, at=tip))
    system = scene.compile()
    state = system.initial_state()
    L0 = system.momentum(system.propagate(0.0, state.x, state.v))
    solver = sp.Midpoint(2e-3)
    for _ in range(20):
        assert solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    assert np.allclose(system.momentum(kin), L0, atol=1e-8 * np.abs(L0).max())
    assert np.abs(system.violation(kin)).max() < 1e-10


def test_cubic_force_bends_a_held_beam_as_finite_elements_do() -> None:
    """Static sag by a fifth of the length: St. Venant-Kirchhoff in a basis with modal derivatives, against FEM."""
    material = sp.Material(young=1e6, poisson=0.0, density=1000)
    mesh = sp.box_hexes(size=(0.6, 0.06, 0.06), cells=(10, 1, 1))
    support = Support(ElasticSolid(mesh, material), "x_min")
    body = FloatingBody.from_basis(support, reduced_basis(support, 14, linear=6).U, cubic=True)
    drops = []
    for thing in (body, sp.FemBody(mesh, material, law="stvk")):
        scene = sp.Scene()
        node = scene.add(thing, fix=True if thing is body else "x_min", name="beam")
        scene.add(sp.Load(node.points("x_max"), (0.0, 0.0, -4.0)))
        system = scene.compile()
        x = system.positions(sp.solve_statics(system, load_steps=5), "beam")
        nodes = body.positions(x) if thing is body else x
        drops.append(-float(nodes[mesh.node_region("x_max"), 2].mean()))
    assert drops[1] > 0.1
    assert drops[0] == pytest.approx(drops[1], rel=0.02)


def test_a_run_is_recorded_and_drawn(tmp_path: object) -> None:
    """The surface moves with the modes; the measured turn is the frame's."""
    from supple.record.measures import measure_bodies
    from supple.record.surfaces import make_surface

    body = FloatingBody.from_solid(beam(), modes=4)
    system, state = spinning(body)
    for _ in range(5):
        sp.Midpoint(2e-3).step(system, state)
    surface = make_surface(system.bodies[0])
    nodes = body.mesh.boundary.node_indices
    assert np.allclose(surface.points(state), body.positions(state.x[None])[nodes], atol=1e-6)
    assert np.allclose(measure_bodies(system, state)[0].orientation, state.x[3:7])
