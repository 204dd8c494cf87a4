"""The stride of lattices: many bodies against each alone, guides and loads against the general solvers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Collision
from supple.errors import InputError
from supple.interaction.obstacles import Plane
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
SIZE = 0.01


def body(shape: tuple[int, int, int] = (4, 2, 3), size: float = SIZE, **more: Any) -> sp.VoxelBody:
    values = {"young": 1e6, "density": 1000.0, "bond_damping": 0.2, **more}
    return sp.VoxelBody(sp.VoxelGrid(np.ones(shape, dtype=int), size), sp.VoxelMaterial(**values))


def ran(system: System, stride: sp.LatticeSolver, steps: int) -> State:
    state = system.initial_state()
    for _ in range(steps):
        stride.step(system, state)
    return state


def frames(system: System, state: State, name: str) -> tuple[Array, Array]:
    slot = system.body(name)
    return slot.view_x(state.x), slot.view_v(state.v)


# many bodies

PLACES = [
    (body((5, 2, 3)), {"at": (0.0, 0.0, 0.02), "velocity": (0.1, 0, 0)}),
    (body((2, 6, 2), 0.004, young=3e5, density=600.0), {"at": (0.5, 0.1, 0.1), "rotation": (0.4, -0.3, 1.0)}),
    (body((9, 1, 1), 0.02, young=4e6, density=1500.0), {"at": (-0.6, 0.2, 0.05), "spin": (0.0, 3.0, 4.0)}),
]


def test_bodies_far_apart_move_as_each_alone() -> None:
    together = sp.Scene(gravity=(0, 0, -9.81))
    for k, (each, place) in enumerate(PLACES):
        together.add(each, name=f"body {k}", **place)
    planes = (Plane(),)
    together.add(planes[0])
    together.add(sp.Contact(self_contact=True))
    system = together.compile()
    stride = sp.LatticeSolver(1 / 200, bend_limit=None)
    state = ran(system, stride, 20)
    dt = (1 / 200) / stride.step(system, state.copy()).iterations
    for k, (each, place) in enumerate(PLACES):
        alone = sp.Scene(gravity=(0, 0, -9.81))
        alone.add(each, name="body", **place)
        own = alone.compile()
        x, v = (part.reshape(-1, w) for part, w in ((own.x0, 7), (own.v0, 6)))
        end = each.advance(
            LocalState(0.0, x, v), dt, round(0.1 / dt), gravity=(0, 0, -9.81), planes=planes, collision=Collision()
        )
        xk, vk = frames(system, state, f"body {k}")
        np.testing.assert_allclose(xk, end.x, atol=1e-11)
        np.testing.assert_allclose(vk, end.v, atol=1e-7)


def test_a_rotated_placement_gives_the_rotated_result() -> None:
    q = rotations.exp(np.array([0.5, -1.1, 0.7]))
    found = []
    for turn in (np.array([1.0, 0, 0, 0]), q):
        scene = sp.Scene(gravity=rotations.rotate(turn, np.array([1.0, -2.0, -9.0])))
        scene.add(body(), fix="x_min", rotation=turn, name="block")
        system = scene.compile()
        found.append(ran(system, sp.LatticeSolver(1e-2), 10).x.reshape(-1, 7))
    np.testing.assert_allclose(found[1][:, :3], rotations.rotate(q, found[0][:, :3]), atol=1e-13)
    np.testing.assert_allclose(found[1][:, 3:], rotations.multiply(q, found[0][:, 3:]), atol=1e-11)


def test_bodies_collide_and_keep_their_momentum() -> None:
    scene = sp.Scene()
    scene.add(body((3, 3, 3)), velocity=(0.8, 0.0, 0.0), spin=(1.0, 2.0, 3.0), name="one")
    scene.add(body((4, 2, 2), 0.008, density=700.0), at=(0.045, 0.002, 0.013), rotation=(0.3, 0.2, 0.1), name="two")
    apart = replace(scene)
    scene.contacts = [sp.Contact(self_contact=True)]
    system, free = scene.compile(), apart.compile()
    start, stride = system.initial_state(), sp.LatticeSolver(1e-3, bend_limit=None)
    state, momentum = start.copy(), []
    for _ in range(40):
        stride.step(system, state)
        momentum.append(system.momentum(system.propagate(state.t, state.x, state.v)))
    first = system.momentum(system.propagate(0.0, start.x, start.v))
    np.testing.assert_allclose(np.array(momentum)[:, :3], np.tile(first[:3], (40, 1)), atol=1e-12 * abs(first[0]))
    np.testing.assert_allclose(np.array(momentum)[:, 3:], np.tile(first[3:], (40, 1)), atol=1e-8 * abs(first[3:]).max())
    moved = frames(system, state, "two")[1][:, 0].mean()
    assert moved > 0.3  # it was pushed
    through = ran(free, sp.LatticeSolver(1e-3, bend_limit=None), 40)
    v = frames(system, through, "two")[1]
    np.testing.assert_allclose(v[:, :3], 0.0, atol=1e-12)
    fastest = 2 / system.bodies[1].node.body.stable_step(safety=1.0, staged=False)  # [rad/s], 2e4
    np.testing.assert_allclose(v[:, 3:], 0.0, atol=np.finfo(float).eps * fastest)  # turned by round-off, it swings


# guides, against the general solver with the same small steps


def sine(t: float) -> Array:
    return np.array([2e-3, -1e-3, 3e-3]) * np.sin(40 * t)


GUIDES: dict[str, Callable[[Any], list[Any]]] = {
    "fixed axes": lambda n: [sp.FixedAxes(n, "x_min", "xz")],
    "fixed axes and turns": lambda n: [sp.FixedAxes(n, "x_min", "xz", rotation=True)],
    "sliding plane": lambda n: [sp.SlidingPlane(n, "x_min", (1.0, 2.0, -0.5))],
    "led": lambda n: [sp.PrescribedMotion(n, "x_min", displacement=sine)],
    "led and turned": lambda n: [
        sp.PrescribedMotion(n, "x_min", displacement=sine, rotation=lambda t: (0.3 * np.sin(30 * t), 0.0, 0.2 * t)),
        sp.FixedAxes(n, "x_max", "y"),
    ],
    "turned in place": lambda n: [sp.PrescribedMotion(n, [0, 5], rotation=lambda t: (0, 0, 5 * t))],
}


@pytest.mark.parametrize("name", GUIDES)
@pytest.mark.parametrize("rotation", [None, (0.3, -0.4, 0.9)])
def test_guides_follow_the_general_solver(name: str, rotation: tuple[float, ...] | None) -> None:
    scene = sp.Scene(gravity=(1.0, 2.0, -9.81))
    node = scene.add(body(), rotation=rotation, at=(0.1, 0.2, 0.3), name="block")
    for guide in GUIDES[name](node):
        scene.add(guide)
    system = scene.compile()
    dt = node.body.stable_step(safety=0.3)
    stride, rival = sp.LatticeSolver(dt, bend_limit=None), sp.SymplecticEuler(dt)
    one, two = system.initial_state(), system.initial_state()
    for _ in range(120):
        assert stride.step(system, one).iterations == 1
        rival.step(system, two)
    # led voxels: the stride has the mean velocity of a step, the rival the one at its end, O(dt) apart
    close = (1e-11, 1e-8) if name.startswith(("fixed", "sliding")) else (2e-8, 2e-3)
    np.testing.assert_allclose(one.x, two.x, atol=close[0])
    np.testing.assert_allclose(one.v, two.v, atol=close[1])
    coarse = ran(system, sp.LatticeSolver(40 * dt, bend_limit=None), 3)  # many steps a call: still exactly there
    np.testing.assert_allclose(system.filter.increment(coarse.x, coarse.t), 0.0, atol=1e-14)


# loads


def test_loads_follow_the_general_solver() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    one = scene.add(body(), fix="x_min", name="one")
    two = scene.add(body((2, 3, 4), 0.008), at=(0.1, 0.0, 0.01), rotation=(0.2, 0.5, -0.3), name="two")
    scene.add(sp.Load(one.points("x_max"), lambda t: (0.1, 0.05 * np.sin(100 * t), 0.0)))
    scene.add(sp.Load(two.points(at=[(0.105, 0.004, 0.012)]), (0.0, 0.02, 0.01)))  # off a centre: it turns its voxel
    scene.add(sp.Wrench(two, "z_max", force=(0.02, 0, 0), torque=lambda t: (0, 1e-4, 2e-4)))
    system = scene.compile()
    dt = 0.3 * min(one.body.stable_step(), two.body.stable_step())
    a, b = system.initial_state(), system.initial_state()
    stride, rival = sp.LatticeSolver(dt, bend_limit=None), sp.SymplecticEuler(dt)
    for _ in range(200):
        assert stride.step(system, a).iterations == 1
        rival.step(system, b)
    np.testing.assert_allclose(a.x, b.x, atol=1e-10)
    np.testing.assert_allclose(a.v, b.v, atol=1e-6)


def on_a_spring(stiffness: float, dt: float, *, means: bool) -> tuple[Array, float]:
    """Places of a block on a spring to the world, and its frequency [rad/s]."""
    scene = sp.Scene()
    block = body((3, 2, 2), bond_damping=0.3)
    node = scene.add(block, velocity=(0.2, 0, 0), name="block")
    held = [node.points([k]).centroid() for k in range(12)] if means else [node.points()]
    for points in held:
        scene.add(sp.Springs(points, sp.World.points(points.rest), stiffness / 12, rest_length=0.0))
    system = scene.compile()
    stride, state, places = sp.LatticeSolver(dt), system.initial_state(), []
    start = system.x0.reshape(-1, 7)[:, 0].mean()
    for _ in range(round(1.2 / dt)):
        stride.step(system, state)
        places.append(state.x.reshape(-1, 7)[:, 0].mean() - start)
    return np.array(places), float(np.sqrt(stiffness / block.total_mass))


@pytest.mark.parametrize("means", [False, True])
@pytest.mark.parametrize("stiffness", [4.0, 40.0, 4000.0])
def test_springs_neither_gain_nor_lose_energy_over_long_strides(stiffness: float, *, means: bool) -> None:
    """Springs on points are solved within the small steps. Those on means are loads, constant over a part: those of a
    place foreseen; stiff ones are asked more often."""
    places, omega = on_a_spring(stiffness, 1 / 300, means=means)
    t = np.arange(1, len(places) + 1) / 300
    envelope = 0.2 / omega
    part = len(places) // 4
    first, last = np.abs(places[:part]).max(), np.abs(places[-part:]).max()
    assert first == pytest.approx(envelope, rel=0.04)  # (1 - h² k / 4)^(1/2) of the longest part, and the sampling
    assert last == pytest.approx(first, rel=0.01)
    if stiffness < 100:
        early = t < 0.3
        np.testing.assert_allclose(places[early], envelope * np.sin(omega * t[early]), atol=0.03 * envelope)


def test_the_derivatives_of_a_wrench() -> None:
    turned = {"rotation": (0.5, -0.2, 0.9)}
    rigid = sp.Scene().add(sp.RigidBody.box((1, 2, 3), density=100.0), name="box", **turned)
    voxels = sp.Scene().add(body(), name="block", **turned)
    for node, selector in ((rigid, None), (voxels, "x_max"), (voxels, None)):
        scene = sp.Scene()
        scene.root.children.append(node)
        scene.add(sp.Wrench(node, selector, force=(1.0, 2.0, 3.0), torque=(0.3, -0.5, 0.7)))
        report = sp.check_derivatives(scene.compile())
        assert report.is_ok, str(report)


def test_a_wrench_turns_a_rigid_body_about_its_centre() -> None:
    """Constant torque about a principal axis: angle T t²/(2 I); force F t²/(2 m)."""
    for solver, tolerance in ((sp.ImplicitEuler(1e-3), 5e-3), (sp.SymplecticEuler(5e-4), 3e-3)):
        scene = sp.Scene()
        box = sp.RigidBody.box((0.1, 0.2, 0.3), density=1000.0)
        node = scene.add(box, name="box")
        scene.add(sp.Wrench(node, force=(0, 3.0, 0), torque=(0, 0, 0.02)))
        system = scene.compile()
        state = system.initial_state()
        while state.t < 0.5 - 1e-9:
            solver.step(system, state)
        mass = 6.0
        assert state.x[1] == pytest.approx(3.0 / mass * 0.125, rel=tolerance)
        angle = rotations.log(state.x[3:7])
        inertia = mass * (0.1**2 + 0.2**2) / 12
        np.testing.assert_allclose(angle, [0, 0, 0.02 / inertia * 0.125], rtol=tolerance, atol=1e-12)


@pytest.mark.parametrize("nu", [0.0, 0.4])
def test_a_torque_twists_a_beam_by_its_links(nu: float) -> None:
    """A row of n voxels held at the first: T (n - 1) / a2, a2 = G l³/6; each link bears the whole torque.

    The energy has 4 tau = 4 tan(angle/4) in place of the angle: T = a2 4 tau (1 + tau²) for a twist of one link.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        beam = body((6, 1, 1), poisson=nu, ground_damping=0.3)
    a2 = 1e6 / (2 * (1 + nu)) * SIZE**3 / 6
    torque = 0.2 * a2
    tau = float(np.min([r.real for r in np.roots([4 * a2, 0, 4 * a2, -torque]) if abs(r.imag) < 1e-12]))
    expected = 5 * 4 * np.arctan(tau)
    scene = sp.Scene()
    node = scene.add(beam, fix="x_min", name="beam")
    scene.add(sp.Wrench(node, "x_max", torque=(torque, 0, 0)))
    system = scene.compile()
    rest = sp.solve_statics(system).x.reshape(-1, 7)
    angle = rotations.log(rest[-1, 3:])
    np.testing.assert_allclose(angle, [expected, 0, 0], rtol=1e-6, atol=1e-9)
    implicit, stride = system.initial_state(), sp.LatticeSolver(5e-3, bend_limit=None)
    solver = sp.ImplicitEuler(5e-3)
    explicit = system.initial_state()
    for _ in range(200):
        solver.step(system, implicit)
        stride.step(system, explicit)
    for state in (implicit, explicit):
        np.testing.assert_allclose(rotations.log(state.x.reshape(-1, 7)[-1, 3:]), angle, rtol=1e-3, atol=1e-6)


def test_a_force_is_shared_equally() -> None:
    block = body((3, 3, 2))
    node = sp.Scene().add(block, name="block")
    chosen = np.array([0, 4, 11])
    f = np.zeros((18, 6))
    state = LocalState(0.0, block.model.rest_frames, np.zeros((18, 6)))
    sp.Wrench(node, chosen, force=(3.0, 0.0, -6.0), torque=(0.3, 0, 0)).add_force(state, f)
    np.testing.assert_allclose(f[chosen], np.tile([1.0, 0, -2.0, 0.1, 0, 0], (3, 1)))
    assert not np.delete(f, chosen, axis=0).any()


def test_what_the_stride_would_ignore_is_refused() -> None:
    scene = sp.Scene()
    node = scene.add(body(), name="block")
    scene.add(PointMass(np.ones(len(node.indices("x_max")))), on=node.points("x_max"))
    with pytest.raises(InputError, match="masses of its voxels alone"):
        sp.LatticeSolver().prepare(scene.compile())
    with pytest.raises(InputError, match="off a line"):
        sp.Wrench(sp.Scene().add(sp.Particles(np.eye(3)[:2], 1.0), name="dots"))
    with pytest.raises(InputError):
        sp.Wrench(node, "x_max", force=(1.0, np.nan, 0.0))
    with pytest.raises(InputError):
        sp.Wrench(node, "x_max", torque=(1.0, 0.0))


def test_a_single_voxel_falls_freely() -> None:
    """Nothing is stiff, so any step is stable: it takes those of two linked voxels, h each, and falls by
    g t²/2 (1 + h/t)."""
    scene = sp.Scene(gravity=(0, 0, -10.0))
    scene.add(body((1, 1, 1)), name="voxel")
    system = scene.compile()
    solver = sp.LatticeSolver(0.01)
    small = solver.step(system, system.initial_state()).iterations
    state = ran(system, solver, 100)
    assert state.x[2] == pytest.approx(SIZE / 2 - 5.0 * (1 + 0.01 / small))
