"""Loops of joints whose rows are redundant: planar linkages against rivals without redundancy and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import supple as sp
from supple.errors import ConvergenceError

G = 9.81
Z = (0.0, 0.0, 1.0)
SOLVERS = {
    "implicit Euler": lambda h: sp.ImplicitEuler(h),
    "implicit Euler, Newton": lambda h: sp.ImplicitEuler(h, newton=True),
    "midpoint": lambda h: sp.Midpoint(h),
    "Newmark": lambda h: sp.Newmark(h, beta=0.3025, gamma=0.6),
    "generalised alpha": lambda h: sp.GeneralizedAlpha(h, rho=0.8),
}
all_solvers = pytest.mark.parametrize("name", SOLVERS)


def bar(scene: sp.Scene, p, q, name: str, density: float = 1000.0) -> sp.Node:
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    d = q - p
    body = sp.RigidBody.box((float(np.linalg.norm(d)), 0.02, 0.02), density=density)
    return scene.add(body, at=(p + q) / 2, rotation=(0, 0, np.arctan2(d[1], d[0])), name=name)


def four_bar(*, hinges: bool = True, last: dict | None = None, **motor) -> sp.Scene:
    """Crank, coupler, rocker; the coupler between hinges, three rows too many, or between balls, none too many."""
    scene = sp.Scene(gravity=(0, -G, 0))
    A, B, C, D = (0, 0, 0), (0.1, 0.2, 0), (0.5, 0.3, 0), (0.4, 0, 0)
    crank, coupler, rocker = bar(scene, A, B, "crank"), bar(scene, B, C, "coupler"), bar(scene, C, D, "rocker")
    scene.add(sp.HingeJoint(crank, at=A, axis=Z, **motor))
    for a, b, at in ((crank, coupler, B), (coupler, rocker, C)):
        scene.add(sp.HingeJoint(a, b, at=at, axis=Z) if hinges else sp.BallJoint(a, b, at=at))
    scene.add(sp.HingeJoint(rocker, at=D, axis=Z, **(last or {})))
    return scene


def slider_crank(*, hinges: bool = True) -> sp.Scene:
    scene = sp.Scene(gravity=(0, -G, 0))
    A, B, C = (0, 0, 0), (0.06, 0.08, 0), (0.35, 0, 0)
    crank, rod = bar(scene, A, B, "crank"), bar(scene, B, C, "rod")
    slider = scene.add(sp.RigidBody.box((0.05, 0.05, 0.05), density=500), at=C, name="slider")
    scene.add(sp.HingeJoint(crank, at=A, axis=Z))
    for a, b, at in ((crank, rod, B), (rod, slider, C)):
        scene.add(sp.HingeJoint(a, b, at=at, axis=Z) if hinges else sp.BallJoint(a, b, at=at))
    scene.add(sp.SliderJoint(slider, at=C, axis=(1, 0, 0)))
    return scene


def moved(system: sp.System, solver, steps: int) -> sp.State:
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


@pytest.mark.parametrize("make", [four_bar, slider_crank])
@all_solvers
def test_a_planar_linkage_of_hinges_moves_as_one_of_balls(name, make):
    """Both linkages have the same motion in the plane; the hinges' rows out of it are three too many."""
    steps, h = 150, 0.002
    ends = []
    for hinges in (True, False):
        system = make(hinges=hinges).compile()
        state = moved(system, SOLVERS[name](h), steps)
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() <= (2e-3 if name == "implicit Euler" else 1e-10)
        ends.append(state.x.reshape(-1, 7)[:, :3])
        if hinges:
            lever = 0.5 * G * 3.0  # [N] no multiplier is much larger than the weights and the forces of the motion
            assert np.abs(state.memory["multipliers"]).max() <= 20 * lever
    assert np.abs(ends[0] - system.x0.reshape(-1, 7)[:, :3]).max() > 0.02
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def parallelogram(links: int) -> sp.Scene:
    """A platform on parallel links of length 0.3 m: from the third link on, rows in the plane are redundant too."""
    scene = sp.Scene(gravity=(0, -G, 0))
    tilt = np.array([np.sin(1.0), -np.cos(1.0), 0.0]) * 0.3
    roots = [np.array([x, 0.0, 0.0]) for x in np.linspace(0, 0.5, links)]
    platform = bar(scene, roots[0] + tilt, roots[-1] + tilt, "platform")
    for k, root in enumerate(roots):
        link = bar(scene, root, root + tilt, f"link {k}")
        scene.add(sp.HingeJoint(link, at=root, axis=Z))
        scene.add(sp.HingeJoint(link, platform, at=root + tilt, axis=Z))
    return scene


@pytest.mark.parametrize("links", [2, 3, 4])
@all_solvers
def test_a_parallelogram_swings_like_its_pendulum(name, links):
    """(n m L²/3 + n I + M L²) theta'' = -(n m / 2 + M) g L sin theta, m: of a link, M: of the platform."""
    scene, L, h = parallelogram(links), 0.3, 0.002
    system = scene.compile()
    state = moved(system, SOLVERS[name](h), 150)
    m, M = scene.node("link 0").body.mass, scene.node("platform").body.mass
    inertia = links * m * (L**2 / 3 + 0.02**2 / 12) + M * L**2
    weight = (links * m / 2 + M) * G * L
    exact = solve_ivp(
        lambda t, y: [y[1], -weight / inertia * np.sin(y[0])], (0, 0.3), [1.0, 0.0], rtol=1e-10, atol=1e-12
    )
    at = system.positions(state, "link 0")[0, :2]
    theta = np.arctan2(at[0], -at[1])
    first_order = "Euler" in name or name == "Newmark"  # with gamma > 1/2, which joints need
    assert theta == pytest.approx(exact.y[0, -1], abs=3e-2 if first_order else 1e-4)
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() <= (2e-3 if name == "implicit Euler" else 1e-10)


def test_doubled_joints_share_their_load():
    """Least-norm multipliers: two equal joints carry half of the weight each."""
    scene = sp.Scene(gravity=(0, 0, -G))
    lamp = scene.add(sp.RigidBody(2.0, (0.1, 0.1, 0.1)), name="lamp")
    for _ in range(2):
        scene.add(sp.FixedJoint(lamp))
    system = scene.compile()
    for make in SOLVERS.values():
        state = moved(system, make(0.01), 3)
        np.testing.assert_allclose(state.x, system.x0, atol=1e-12)
        np.testing.assert_allclose(state.memory["multipliers"].reshape(2, 6)[:, 2], -G, rtol=1e-9)


def test_a_driven_four_bar_turns_at_its_motors_speed():
    """A motor on one hinge is no contradiction; the rows of the loop carry it around."""
    for make in SOLVERS.values():
        system = four_bar(motor_speed=2.0).compile()
        state = moved(system, make(0.002), 50)
        assert system.velocities(state, "crank")[0, 5] == pytest.approx(2.0, rel=1e-3)


def two_motors() -> sp.Scene:
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=Z, motor_speed=4.0))
    scene.add(sp.HingeJoint(wheel, axis=Z, motor_speed=5.0))
    return scene


def too_far_apart() -> sp.Scene:
    scene = sp.Scene()
    rod = scene.add(sp.RigidBody.box((1.0, 0.1, 0.1), density=100), name="rod")
    for x, to in ((-0.5, -0.5), (0.5, 0.6)):
        scene.add(sp.BallJoint(rod.held_points([[x, 0.0, 0.0]]), sp.World.points([[to, 0.0, 0.0]])))
    return scene


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (two_motors, r"hinge wheel - world, limits and motor: the condition 'motor' contradicts"),
        (too_far_apart, r"ball .*rod.*: the condition 'points meet in x' contradicts"),
        (lambda: four_bar(motor_speed=2.0, last={"motor_speed": 2.0}), r"hinge .*the condition '.*' contradicts"),
    ],
)
@all_solvers
def test_joints_that_contradict_each_other_are_named(name, make, says):
    system = make().compile()
    state, solver = system.initial_state(), SOLVERS[name](0.01)
    with pytest.raises(ConvergenceError, match=says):
        solver.step(system, state)


def test_a_joint_between_held_bodies_asks_for_nothing():
    scene = sp.Scene(gravity=(0, 0, -G))
    held = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), fix=True, name="held")
    free = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), at=(0, 0, -0.2), name="free")
    scene.add(sp.FixedJoint(held))
    scene.add(sp.BallJoint(held, free, at=(0, 0, -0.1)))
    system = scene.compile()
    for make in SOLVERS.values():
        np.testing.assert_allclose(moved(system, make(0.01), 3).x, system.x0, atol=1e-9)
