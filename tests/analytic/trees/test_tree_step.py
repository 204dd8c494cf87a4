"""The step of a tree: momentum of free flight, energy, order in the step, pulls by springs. [theory.md, Trees]."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import supple as sp
from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    TreeSettings,
    TreeState,
)
from supple.errors import ConvergenceError
from supple.examples.shapes import flower
from supple.material import Material
from supple.validation.tree.coupling import GRAVITY
from supple.validation.tree.reference import block_mesh, face, mixed_domain_tree

Array = np.ndarray
SPIN = np.array([1.0, 3.0, 5.0])  # [rad/s]


def chain(*, free: bool = True, modes: int = 8, damping: float = 0.0, **settings: float) -> TreeDynamics:
    """Six blocks of soft rubber in a row, which bend and hardly stretch: nothing is faster than the steps."""
    mesh = block_mesh((0.2, 0.05, 0.04), (4, 1, 1))
    tip, rubber = face(mesh, 0.2), Material(2e6, 0.35, 1000)
    tips = {"tip": DomainInterface(tip, np.ones(len(tip)))}
    root = DomainTemplate("root", mesh, rubber, modes, [] if free else face(mesh, 0.0), tips)
    part = DomainTemplate("part", mesh, rubber, modes, face(mesh, 0.0), tips)
    domains = [Domain("root"), *(Domain("part", k, "tip") for k in range(5))]
    model = TreeModel.of(DomainTree({"root": root, "part": part}, domains), statics=False)
    return TreeDynamics(model, stiffness_damping=damping, settings=TreeSettings(**settings))  # type: ignore[arg-type]


def measured(tree: TreeDynamics, state: TreeState) -> tuple[Array, Array, Array, float]:
    """P, angular momentum about the world's origin, centre of mass, energy without gravity."""
    m = TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity).measures()
    return m.momentum[:3], m.momentum[3:], m.first_moment / tree.model.total_mass, m.kinetic + m.elastic


@pytest.mark.parametrize("modes", [8, 12])  # f and K of the second pass: anew, and by their change
@pytest.mark.parametrize(("rate", "drift"), [(120, 2e-6), (60, 2e-5), (30, 1e-4)])
def test_free_flight_keeps_momentum_and_nearly_energy(rate: int, drift: float, modes: int) -> None:
    tree = chain(modes=modes)
    state = tree.state()
    state.velocity[:] = [0.3, -0.2, 0.5, *SPIN]
    P0, L0, _, E0 = measured(tree, state)
    worst = np.zeros(2)
    for _ in range(12):
        tree.advance(state, 1 / rate, steps=rate // 2)
        P, L, _, E = measured(tree, state)
        worst = np.maximum(
            worst, [np.linalg.norm(P - P0) / np.linalg.norm(P0), np.linalg.norm(L - L0) / np.linalg.norm(L0)]
        )
    assert worst[0] <= 1e-14  # round-off
    assert worst[1] <= 1e-11  # round-off of L about an origin that is left behind
    assert abs(E / E0 - 1) <= drift


def test_a_scene_of_a_free_tree_keeps_momentum_step_by_step() -> None:
    tree = chain()
    scene = sp.Scene()
    scene.add(sp.TreeBody(tree.model, stiffness_damping=0.0), name="chain", spin=SPIN)
    system, solver = scene.compile(), sp.TreeSolver(1 / 120)
    state = system.initial_state()
    momentum = [system.momentum(system.propagate(state.t, state.x, state.v))]
    for _ in range(720):
        solver.step(system, state)
    momentum.append(system.momentum(system.propagate(state.t, state.x, state.v)))
    change = np.abs(momentum[1] - momentum[0])
    assert change[:3].max() <= 1e-13 * np.linalg.norm(momentum[0][:3])
    assert change[3:].max() <= 1e-11 * np.linalg.norm(momentum[0][3:])


def test_a_free_tree_falls_along_its_parabola() -> None:
    tree, g = chain(damping=0.001), GRAVITY
    state = tree.state()
    state.velocity[:] = [1.0, 0.5, 2.0, *SPIN]
    P, _, centre, _ = measured(tree, state)
    v = P / tree.model.total_mass
    tree.advance(state, 1 / 60, steps=60, gravity=g)
    assert np.abs(measured(tree, state)[2] - (centre + v + 0.5 * g)).max() < 1e-13


def test_a_force_on_a_domain_changes_momentum_by_its_impulse() -> None:
    """Constant in the axes of a domain that turns: against the mean over many short steps."""
    tree = chain(damping=0.001)
    wrenches = np.zeros((6, 6))
    wrenches[3] = [0.002, -0.001, 0.003, 0.02, 0.05, -0.03]

    def end(rate: int) -> Array:
        state = tree.state()
        state.velocity[3:] = SPIN
        tree.advance(state, 1 / rate, steps=rate // 2, wrenches=wrenches)
        P, L, _, _ = measured(tree, state)
        return np.concatenate([P, L])

    fine = end(1920)
    errors = [np.abs(end(rate) - fine).max() for rate in (60, 120)]
    assert errors[1] < 1e-3 * np.abs(fine).max()
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)


@pytest.mark.parametrize("free", [False, True])
def test_the_trajectory_is_of_second_order(free: bool) -> None:
    tree = chain(free=free, modes=6, damping=0.002)

    def end(rate: int) -> Array:
        state = tree.state()
        if free:
            state.velocity[3:] = SPIN
        tree.advance(state, 1 / rate, steps=rate // 4, gravity=GRAVITY)
        motion = TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity)
        return np.concatenate([motion.o[-1], motion.R[-1].ravel()])

    fine = end(3840)
    errors = [np.abs(end(rate) - fine).max() for rate in (120, 240, 480)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([2, 2], abs=0.3)


def test_a_fixed_beam_at_a_thirtieth_does_not_gain_energy() -> None:
    from supple.validation.tree.coupling import released

    assert released(TreeSettings(), seconds=30.0, every=5, statics=False).growth < 0.003


@pytest.mark.parametrize(("rate", "damping"), [(60, 0.0), (30, 1e-4)])
def test_a_beam_that_stretches_needs_short_steps_or_some_damping(rate: int, damping: float) -> None:
    """The chain stretches at 22 Hz and more. Undamped, it gains without bound at 1/30 s; TreeBody's damping is 1e-3."""
    from supple.validation.tree.coupling import released

    assert released(TreeSettings(), seconds=30.0, dt=1 / rate, every=10, damping=damping).growth < 0.003


def pulled_flower(rate: int, stiffness: float, **settings: object) -> tuple[sp.Scene, sp.System, Array]:
    """A flower whose top is pulled by a spring to a place 11 cm away. It bends and hardly stretches."""
    scene, model = sp.Scene(solver=sp.TreeSolver(1 / rate)), TreeModel.of(flower(), statics=False)
    node = scene.add(sp.TreeBody(model, settings=TreeSettings(**settings)), name="flower")  # type: ignore[arg-type]
    rest = node.body.skin.rest
    top = rest[int(np.argmax(rest[:, 2]))]
    target = top + np.array([0.1, 0.04, -0.02])
    scene.add(sp.Springs(node.points(at=top), sp.World.points(target), stiffness, rest_length=0.0))
    return scene, scene.compile(), np.stack([top, target])


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("stiffness", [10.0, 1000.0])
def test_a_pulled_flower_does_not_gain_energy(rate: int, stiffness: float) -> None:
    scene, system, _ = pulled_flower(rate, stiffness)
    state, energies = system.initial_state(), []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(rate):
            kin = system.propagate(state.t, state.x, state.v)
            energies.append(system.kinetic_energy(kin) + system.potential_energy(kin))
            assert scene.solver.step(system, state).is_solved
    assert np.diff(energies).max() < 2e-3 * energies[0]  # damped: it only falls, but for the scheme's own error
    assert energies[-1] < energies[0]


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_a_step_that_does_not_converge_says_so_itself(gravity: float) -> None:
    scene, _, _ = pulled_flower(60, 1e5, converge=True, max_iterations=2)
    scene.gravity = (0.0, 0.0, -gravity)
    with pytest.raises(ConvergenceError, match="did not converge"):
        sp.run(scene, until=0.1)


@pytest.mark.parametrize("free", [False, True])
def test_elastic_force_and_weight_are_slopes_of_the_energy(free: bool) -> None:
    body, g = sp.TreeBody(mixed_domain_tree(free=free, chain=False)), np.array([1.0, -2.0, -9.0])
    scene, rng = sp.Scene(gravity=g), np.random.default_rng(2)
    scene.add(body, name="tree", rotation=(0.3, 0.1, -0.2))
    system = scene.compile()
    state, n = system.initial_state(), body.model.coordinate_count
    state.x[7 : 7 + n] = 0.05 * rng.normal(size=n)
    force, e = system.force(system.propagate(0.0, state.x, state.v)), 1e-6
    for k in range(6 + n):
        move = np.zeros((1, body.coordinates.v_width))
        move[0, k] = e
        moved = [body.coordinates.retract(state.x[None], s * move)[0] for s in (1, -1)]
        energy = [system.potential_energy(system.propagate(0.0, x, state.v)) for x in moved]
        assert -(energy[0] - energy[1]) / (2 * e) == pytest.approx(force[k], abs=1e-6 * np.abs(force).max())
