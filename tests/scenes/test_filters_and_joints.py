"""Laws of filters and joints: projectors, prescribed motion, what a joint leaves free, equal and opposite forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.scene.derivatives import differentiate, relative_error
from supple.solvers.linear.mass_solve import project_velocity
from supple.solvers.linear.newton import joint_forces

RNG = np.random.default_rng(23)
IMPLICIT = {
    "implicit Euler": lambda dt: sp.ImplicitEuler(dt),
    "implicit Euler, cg": lambda dt: sp.ImplicitEuler(dt, linear="cg", tolerance=1e-12),
    "implicit Euler, Newton": lambda dt: sp.ImplicitEuler(dt, newton=True),
    "midpoint": lambda dt: sp.Midpoint(dt),
    "Newmark": lambda dt: sp.Newmark(dt),
    "generalised alpha": lambda dt: sp.GeneralizedAlpha(dt),
}
EXPLICIT = {"symplectic Euler": lambda dt: sp.SymplecticEuler(dt), "Runge-Kutta": lambda dt: sp.RungeKutta4(dt)}
ORDER = {"implicit Euler": 1, "implicit Euler, cg": 1, "implicit Euler, Newton": 1, "symplectic Euler": 1}
all_implicit = pytest.mark.parametrize("name", IMPLICIT)
all_solvers = pytest.mark.parametrize("name", [*IMPLICIT, *EXPLICIT])


def solver_of(name: str, dt: float) -> Any:
    return {**IMPLICIT, **EXPLICIT}[name](dt)


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else A


def chain(scene: sp.Scene, n: int = 4, **more: Any) -> Any:
    X = np.c_[np.arange(n) * 0.3, np.zeros((n, 2))]
    return scene.add(
        sp.Particles(X, 0.2, springs=[(i, i + 1) for i in range(n - 1)], stiffness=40.0, damping=0.1),
        name="chain",
        **more,
    )


def run(system: Any, solver: Any, steps: int) -> Any:
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


# ---- projectors ----


def filtered_scene() -> tuple[sp.Scene, Any, Any]:
    scene = sp.Scene(gravity=(0.3, -0.5, -9.81))
    net = chain(scene, 6)
    box = scene.add(sp.RigidBody.box((0.2, 0.1, 0.3), density=800), at=(0, 1, 0), rotation=(0.3, 0.2, 0.1), name="box")
    scene.add(sp.FixedPoints(net, [0]))
    scene.add(sp.SlidingPlane(net, [1, 2], normal=(1.0, 2.0, -0.5)))
    scene.add(sp.FixedAxes(net, [3, 4], axes="xz"))
    scene.add(sp.SlidingPlane(net, [4], normal=(0.0, 0.0, 1.0)))
    scene.add(sp.FixedAxes(net, [2], axes="y"))
    scene.add(sp.FixedPoints(box, rotation=True))
    scene.add(sp.Springs(net.points([5]), box.points(local=[[0.1, 0, 0]]), 20.0))
    return scene, net, box


def test_projectors_are_orthogonal_and_idempotent():
    system = filtered_scene()[0].compile()
    C = system.filter.projectors
    np.testing.assert_allclose(C @ C, C, atol=1e-15)
    np.testing.assert_allclose(C, np.swapaxes(C, 1, 2), atol=0)
    d = RNG.normal(size=system.v_size)
    once = d.copy()
    system.filter.project(once)
    twice = once.copy()
    system.filter.project(twice)
    np.testing.assert_allclose(once, twice, atol=1e-15)
    assert once @ (d - once) == pytest.approx(0.0, abs=1e-14)


def test_filters_leave_the_right_number_of_free_motions():
    """Fixed 0, plane 2, plane and axis 1, two axes 1, axes and a plane they hold 1, free 3; the box is held."""
    system = filtered_scene()[0].compile()
    C = np.broadcast_to(np.eye(3), (system.v_size // 3, 3, 3)).copy()
    C[system.filter.blocks] = system.filter.projectors
    ranks = np.rint(np.trace(C, axis1=1, axis2=2)).astype(int)
    np.testing.assert_array_equal(ranks, [0, 2, 1, 1, 1, 3, 0, 0])


def test_position_and_velocity_projections_are_idempotent():
    system = filtered_scene()[0].compile()
    x, v = system.retract(system.x0, 0.1 * RNG.normal(size=system.v_size)), RNG.normal(size=system.v_size)
    for _ in range(2):
        system.filter.project_position(x, 0.3)
        system.filter.project_velocity(v, 0.3, 0.01)
    x2, v2 = x.copy(), v.copy()
    system.filter.project_position(x2, 0.3)
    system.filter.project_velocity(v2, 0.3, 0.01)
    np.testing.assert_allclose(x2, x, atol=1e-15)
    np.testing.assert_allclose(v2, v, atol=1e-15)
    assert np.abs(system.filter.increment(x, 0.3)).max() <= 1e-15


@all_solvers
def test_filtered_points_stay_where_they_must(name):
    scene, net, _ = filtered_scene()
    system = scene.compile()
    state = run(system, solver_of(name, 0.005), 60)
    x, v = system.positions(state, "chain"), system.velocities(state, "chain")
    start = net.rest
    n = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    exactly = {"atol": 1e-14}
    np.testing.assert_allclose(x[0], start[0], **exactly)
    np.testing.assert_allclose((x[1:3] - start[1:3]) @ n, 0.0, **exactly)
    np.testing.assert_allclose(x[2, 1], start[2, 1], **exactly)
    np.testing.assert_allclose(x[3:5][:, [0, 2]], start[3:5][:, [0, 2]], **exactly)
    np.testing.assert_allclose(system.positions(state, "box")[0], system.x0[18:], **exactly)
    assert np.abs(x - start).max() > 1e-2  # the free directions did move
    np.testing.assert_allclose(v[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(v[1:3] @ n, 0.0, atol=1e-12)
    np.testing.assert_allclose(system.velocities(state, "box"), 0.0, atol=1e-12)


def test_a_sliding_point_does_not_drift_in_a_thousand_steps():
    """It is thrown across the plane and pulled by a spring: after 1000 steps it is on it to the last bit but one."""
    scene = sp.Scene(gravity=(0.1, 0.2, -9.81))
    bead = scene.add(sp.Particles([[0.1, 0.2, 0.3]], 0.5), velocity=(1.0, -1.0, 2.0), name="bead")
    scene.add(sp.SlidingPlane(bead, normal=(1.0, 1.0, 1.0)))
    scene.add(sp.Springs(bead.points(), sp.World.points([[0.0, 0.0, 1.0]]), 30.0, rest_length=0.5))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    furthest = 0.0
    for _ in range(1000):
        assert solver.step(system, state).is_solved
        furthest = max(furthest, np.abs(state.x - system.x0).max())
        assert abs((state.x - system.x0).sum()) <= 1e-14
    assert furthest > 0.1


def test_free_spin_of_a_frame_fixed_in_its_origin():
    scene = sp.Scene(gravity=(0, 0, -9.81))
    top = scene.add(sp.RigidBody(1.0, (1.0, 1.0, 1.0)), spin=(0.0, 0.0, 2.0), name="top")
    scene.add(sp.FixedPoints(top, rotation=False))
    system = scene.compile()
    state = run(system, sp.Midpoint(0.01), 50)
    np.testing.assert_allclose(state.x[:3], 0.0, atol=1e-15)
    np.testing.assert_allclose(rotations.log(state.x[3:]), [0.0, 0.0, 1.0], atol=1e-12)


# ---- prescribed motion ----


def swing(t):
    return np.array([0.1 * (1 - np.cos(9 * t)), 0.05 * np.sin(7 * t), 0.2 * t])


def swing_rate(t):
    return np.array([0.9 * np.sin(9 * t), 0.35 * np.cos(7 * t), 0.2])


def turn(t):
    return np.array([0.0, 0.6 * np.sin(5 * t), 0.0])


def shaken() -> tuple[Any, Any]:
    """A chain led by its first particle, and a box led in place and rotation, tied to each other."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    net = chain(scene)
    box = scene.add(
        sp.RigidBody.box((0.2, 0.1, 0.3), density=100), at=(1.0, 0.0, 0.5), rotation=(0.4, 0.0, 0.0), name="box"
    )
    scene.add(sp.PrescribedMotion(net, [0], displacement=swing))
    scene.add(sp.PrescribedMotion(box, displacement=swing, rotation=turn))
    scene.add(sp.Springs(net.points([3]), box.points(local=[[-0.1, 0, 0]]), 20.0))
    return scene.compile(), net


@all_solvers
def test_prescribed_positions_are_followed_exactly(name):
    system, _ = shaken()
    state, solver = system.initial_state(), solver_of(name, 0.01)
    for _ in range(30):
        assert solver.step(system, state).is_solved
        np.testing.assert_allclose(system.positions(state, "chain")[0], swing(state.t), atol=1e-14)
        frame = system.positions(state, "box")[0]
        np.testing.assert_allclose(frame[:3], swing(state.t) + np.array([1.0, 0.0, 0.5]), atol=1e-14)
        q = rotations.multiply(rotations.exp(turn(state.t)), rotations.exp([0.4, 0.0, 0.0]))
        np.testing.assert_allclose(rotations.to_matrix(frame[3:]), rotations.to_matrix(q), atol=1e-14)


def velocity_error(name: str, dt: float) -> float:
    """Largest error of the prescribed velocities, the box's spin in body axes included, over 0.3 s."""
    system, _ = shaken()
    state, solver, worst = system.initial_state(), solver_of(name, dt), 0.0
    for _ in range(round(0.3 / dt)):
        assert solver.step(system, state).is_solved
        v = system.velocities(state, "box")[0]
        spin = np.array([0.0, 3.0 * np.cos(5 * state.t), 0.0])  # about a fixed axis
        spin = rotations.rotate_inverse(system.positions(state, "box")[0, 3:], spin)
        errors = [system.velocities(state, "chain")[0] - swing_rate(state.t), v[:3] - swing_rate(state.t), v[3:] - spin]
        worst = max(worst, *(np.abs(e).max() for e in errors))
    return worst


@pytest.mark.parametrize("name", [*IMPLICIT, *EXPLICIT])
def test_prescribed_velocities_are_followed_in_the_order_of_the_solver(name):
    """Implicit Euler's velocity is the mean of the last step; the others have the rate itself, or h² from it."""
    coarse, fine = velocity_error(name, 0.01), velocity_error(name, 0.005)
    if coarse > 1e-6:  # else the rate itself, differenced over 1e-5 s
        assert np.log2(coarse / fine) > ORDER.get(name, 2) - 0.2
    assert coarse < (0.5 if name in ORDER else 0.05)


@all_implicit
def test_uniform_prescribed_motion_is_exact_in_velocity(name):
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.PrescribedMotion(net, [0], displacement=lambda t: (0.3 * t, -0.2 * t, 0.1 * t)))
    system = scene.compile()
    state = run(system, solver_of(name, 0.01), 20)
    # rounding of x / dt, and for those who difference the path over 1e-3 of a step, of x / 1e-5
    np.testing.assert_allclose(system.velocities(state, "chain")[0], [0.3, -0.2, 0.1], atol=1e-10)


@all_implicit
def test_led_chain_ends_as_the_chain_seen_from_the_moving_point(name):
    """Led at constant velocity from rest relative to it, a chain moves as a fixed one: Galileo."""
    velocity = np.array([0.5, -0.3, 0.2])
    ends = []
    for moving in (True, False):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        net = chain(scene, velocity=velocity if moving else (0, 0, 0))
        path = (lambda t: velocity * t) if moving else (lambda t: np.zeros(3))
        scene.add(sp.PrescribedMotion(net, [0], displacement=path))
        system = scene.compile()
        state = run(system, solver_of(name, 0.01), 40)
        ends.append(system.positions(state, "chain") - (velocity * state.t if moving else 0.0))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)  # Newton's and cg's tolerances over 40 steps


def test_two_filters_that_both_move_a_point_are_refused():
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.FixedPoints(net, [0]))
    scene.add(sp.PrescribedMotion(net, [0], displacement=swing))
    with pytest.raises(InputError, match="two filters move one point"):
        scene.compile()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda s, n: s.add(sp.FixedAxes(n, [0], axes="xw")), "axes are not letters of xyz"),
        (lambda s, n: s.add(sp.FixedAxes(n, [0], axes="")), "axes are not letters of xyz"),
        (lambda s, n: s.add(sp.SlidingPlane(n, [0], normal=(0, 0, 0))), "normal is zero"),
        (lambda s, n: s.add(sp.FixedPoints(n, [9])), "out of range"),
        (lambda s, n: s.add(sp.FixedPoints(n, "x_max")), "no named regions"),
        (lambda s, n: s.add(sp.BallJoint(n.points([0]), n.points([1, 2]))), "different numbers of points"),
        (lambda s, n: s.add(sp.BallJoint(n, n)), "Give at="),
        (lambda s, n: s.add(sp.HingeJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.SliderJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.FixedJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.HingeJoint(n.points([0]))), "joins bodies of a scene and the world"),
        (lambda s, n: s.add(sp.BallJoint("chain", at=(0, 0, 0))), "joins bodies of a scene and the world"),
        (lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, axis=(0, 0, 0))), "axis is zero"),
        (lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, limits=(0.1, 0.2))), "do not contain the start"),
        (
            lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, motor_speed=1.0, motor_torque=0.0)),
            "motor_torque is out of range",
        ),
    ],
)
def test_bad_filters_and_joints_are_refused(make, says):
    scene = sp.Scene()
    with pytest.raises(InputError, match=says):
        make(scene, chain(scene))


def test_a_path_that_ends_in_nothing_is_refused_with_its_time():
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.PrescribedMotion(net, [0], displacement=lambda t: (0.0, 0.0, 0.0 if t < 0.015 else np.nan)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    solver.step(system, state)
    with pytest.raises(InputError, match=r"displacement at t = 0\.02 s"):
        solver.step(system, state)


# ---- joints: what they leave free ----

AT, AXIS = np.array([0.1, -0.2, 0.3]), np.array([0.3, 1.0, -0.4]) / np.linalg.norm([0.3, 1.0, -0.4])
JOINTS = {
    "ball": (lambda a, b: sp.BallJoint(a, b, at=AT), 3, 3),
    "hinge": (lambda a, b: sp.HingeJoint(a, b, at=AT, axis=AXIS), 5, 1),
    "slider": (lambda a, b: sp.SliderJoint(a, b, at=AT, axis=AXIS), 5, 1),
    "fixed": (lambda a, b: sp.FixedJoint(a, b, at=AT), 6, 0),
}
all_joints = pytest.mark.parametrize("kind", JOINTS)


def pair(kind: str | None, *, gravity=(0.0, 0.0, 0.0), to_world: bool = False, **more: Any) -> sp.Scene:
    scene = sp.Scene(gravity=gravity)
    a = scene.add(
        sp.RigidBody.box((0.2, 0.3, 0.4), density=500), at=(0.4, 0.1, 0.2), rotation=(0.5, -0.3, 0.8), name="a", **more
    )
    b = scene.add(
        sp.RigidBody.box((0.3, 0.1, 0.2), density=900), at=(-0.3, -0.4, 0.5), rotation=(-0.2, 1.1, 0.4), name="b"
    )
    if kind is not None:
        scene.add(JOINTS[kind][0](a, b))
    if to_world:
        scene.add(sp.BallJoint(a, at=(0.4, 0.1, 0.7)))
    return scene


def slide_or_turn(kind: str) -> np.ndarray:
    """Velocities of both bodies in which the joint moves freely, b against a, about the motion of a as a whole."""
    scene = pair(kind)
    a, b = scene.node("a"), scene.node("b")
    common_v, common_w = np.array([0.3, 0.2, -0.5]), np.array([0.4, -0.6, 0.2])
    slide = 0.8 * AXIS if kind == "slider" else np.zeros(3)
    spin = {"ball": np.array([0.5, 0.7, -0.9]), "hinge": 1.3 * AXIS}.get(kind, np.zeros(3))
    out = []
    for node, extra_w, extra_v in ((a, np.zeros(3), np.zeros(3)), (b, spin, slide)):
        w = common_w + extra_w
        v = common_v + np.cross(common_w, node.placement.at) + extra_v + np.cross(extra_w, node.placement.at - AT)
        out += [v, rotations.rotate_inverse(node.placement.rotation, w)]
    return np.concatenate(out)


@all_joints
def test_joints_leave_the_right_motions_free(kind):
    system = pair(kind).compile()
    kin = system.propagate(0.0, system.x0, system.v0)
    G = dense(system.linearize(kin).joint_jacobian())
    _, rows, free = JOINTS[kind]
    assert G.shape == (rows, 12)
    singular = np.linalg.svd(G, compute_uv=False)
    assert singular[-1] > 0.05 * singular[0], "rows say the same thing twice"
    assert 12 - np.linalg.matrix_rank(G) == 6 + free
    assert np.abs(system.violation(kin)).max() <= 1e-15
    np.testing.assert_allclose(G @ slide_or_turn(kind), 0.0, atol=1e-14)


@all_joints
def test_motions_along_a_joint_keep_it_closed_far_from_the_start(kind):
    """Frames moved by hand: b against a by a large slide or turn, then both together; phi stays zero, the rank full."""
    scene = pair(kind)
    system = scene.compile()
    a, b = (scene.node(n).placement for n in "ab")
    turn = {"ball": np.array([0.9, -1.4, 0.8]), "hinge": 2.1 * AXIS}.get(kind, np.zeros(3))
    slide = 0.9 * AXIS if kind == "slider" else np.zeros(3)
    q = rotations.exp(turn)
    moved_b = AT + rotations.rotate(q, b.at - AT) + slide
    all_turn, all_move = rotations.exp([0.7, 0.2, -1.5]), np.array([1.0, 2.0, 3.0])
    frames = []
    for at, rotation in ((a.at, a.rotation), (moved_b, rotations.multiply(q, b.rotation))):
        frames += [rotations.rotate(all_turn, at) + all_move, rotations.multiply(all_turn, rotation)]
    kin = system.propagate(0.0, np.concatenate(frames), system.v0)
    np.testing.assert_allclose(system.violation(kin), 0.0, atol=1e-14)
    G = dense(system.linearize(kin).joint_jacobian())
    assert np.linalg.matrix_rank(G) == JOINTS[kind][1]


@all_joints
def test_joint_jacobian_is_the_slope_of_the_violation(kind):
    system = pair(kind, to_world=True).compile()
    x = system.retract(system.x0, 0.3 * RNG.normal(size=12))
    v = np.zeros(12)
    G = system.linearize(system.propagate(0.0, x, v)).joint_jacobian()
    for d in RNG.normal(size=(3, 12)):
        slope = differentiate(lambda e, d=d: system.violation(system.propagate(0.0, system.retract(x, e * d), v)), 1e-3)
        assert relative_error(G @ d, slope) <= 1e-9


@all_joints
def test_joint_forces_and_their_tangent(kind):
    """G^T l adds up to no force and no moment; its derivative by position is in K when multipliers are given."""
    system = pair(kind).compile()
    x, l = system.retract(system.x0, 0.3 * RNG.normal(size=12)), RNG.normal(size=JOINTS[kind][1])
    start = system.propagate(0.0, system.x0, system.v0)
    f = joint_forces(system, start, l)
    np.testing.assert_allclose(f, system.linearize(start).joint_jacobian().T @ l, atol=1e-14)
    force, moment = np.zeros(3), np.zeros(3)
    for slot in system.bodies:
        frame, own = slot.view_x(system.x0)[0], slot.view_v(f)[0]
        force += own[:3]
        moment += np.cross(frame[:3], own[:3]) + rotations.rotate(frame[3:], own[3:])
    np.testing.assert_allclose(np.r_[force, moment], 0.0, atol=1e-13)
    lin = system.linearize(system.propagate(0.0, x, system.v0), multipliers=l)
    d = RNG.normal(size=12)
    slope = differentiate(
        lambda e: joint_forces(system, system.propagate(0.0, system.retract(x, e * d), system.v0), l), 1e-3
    )
    assert relative_error(lin.product(d, stiffness=1.0), slope) <= 1e-9
    assert relative_error(lin.matrix(stiffness=1.0) @ d, slope) <= 1e-9


# ---- joints in motion ----


def drift_of_a_free_pair(kind: str, dt: float, time: float) -> tuple[np.ndarray, float]:
    """Change of both momenta, relative, and of the energy, of a tumbling joined pair under no outer force."""
    system = pair(kind, velocity=(0.4, -0.2, 0.3), spin=(2.0, -1.0, 3.0)).compile()
    state, solver = system.initial_state(), sp.Midpoint(dt)
    every = np.zeros(system.joint_row_count)
    state.v = project_velocity(system, system.propagate(0.0, state.x, state.v), every)
    start = system.propagate(0.0, state.x, state.v)
    for _ in range(round(time / dt)):
        assert solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() <= 1e-11
    assert np.abs(system.difference(system.x0, state.x)).max() > 0.3
    change = system.momentum(kin) - system.momentum(start)
    size = np.linalg.norm(system.momentum(start))
    return change / size, system.kinetic_energy(kin) / system.kinetic_energy(start) - 1


@all_joints
def test_a_free_joined_pair_keeps_its_momentum(kind):
    """Joint forces are equal and opposite: linear momentum to round-off; angular momentum and energy in order h²."""
    change, energy = drift_of_a_free_pair(kind, 0.01, 0.4)
    assert np.abs(change[:3]).max() <= 1e-14
    assert np.abs(change[3:]).max() <= 2e-6
    assert abs(energy) <= 2e-5


@pytest.mark.parametrize("kind", ["slider", "ball", "hinge", "fixed"])
def test_a_free_joined_pair_keeps_its_angular_momentum(kind):
    """Equal and opposite forces on one line: nothing but rounding may turn the pair."""
    change, _ = drift_of_a_free_pair(kind, 0.02, 0.4)
    assert np.abs(change[3:]).max() <= 1e-13


@pytest.mark.parametrize(
    "name", ["implicit Euler", "implicit Euler, Newton", "midpoint", "Newmark", "generalised alpha"]
)
def test_a_swinging_chain_of_joints_stays_closed(name):
    """World - ball - a - hinge - b under gravity for 0.8 s."""
    system = pair("hinge", gravity=(0, 0, -9.81), to_world=True).compile()
    state, worst = system.initial_state(), 0.0
    solver = sp.Newmark(0.01, beta=0.3025, gamma=0.6) if name == "Newmark" else solver_of(name, 0.01)
    far = 0.0
    for _ in range(80):
        assert solver.step(system, state).is_solved
        worst = max(worst, np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max())
        far = max(far, np.abs(system.difference(system.x0, state.x)).max())
    # the linearised step asks for G v = -phi / h: what is left is of second order in the angle of one step
    assert worst <= (2e-2 if name == "implicit Euler" else 1e-9)
    assert far > 0.5


def test_a_hanging_body_rests_on_its_joint():
    """The multipliers carry the weight, and nothing else, whatever the solver calls them."""
    scene = sp.Scene(gravity=(0, 0, -10.0))
    lamp = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, -0.5), name="lamp")
    scene.add(sp.BallJoint(lamp, at=(0, 0, 0)))
    system = scene.compile()
    newmark = sp.Newmark(0.01, beta=0.3025, gamma=0.6)
    for solver in (sp.ImplicitEuler(0.01), sp.ImplicitEuler(0.01, newton=True), newmark, sp.Midpoint(0.01)):
        state = run(system, solver, 5)
        np.testing.assert_allclose(state.x, system.x0, atol=1e-9)
        kin = system.propagate(state.t, state.x, state.v)
        push = joint_forces(system, kin, state.memory["multipliers"])
        np.testing.assert_allclose(push + system.force(kin), 0.0, atol=1e-7 * np.abs(push).max())


def test_a_ball_joins_a_soft_body_and_a_rigid_one():
    """The joint pulls on the element's nodes by the barycentric weights: the pair falls as one, momentum as m g t."""
    scene = sp.Scene(gravity=(0, 0, -10.0))
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    beam = scene.add(sp.FemBody(sp.box_tets(size=(0.4, 0.1, 0.1), cells=(2, 1, 1)), stuff), name="beam")
    ball = scene.add(sp.RigidBody.sphere(0.05, density=8000), at=(0.3, 0.02, -0.1), spin=(3.0, 1.0, 0.0), name="ball")
    scene.add(sp.BallJoint(beam, ball, at=(0.3, 0.02, -0.03)))
    system = scene.compile()
    state = system.initial_state()
    total = ball.body.mass + beam.body.total_mass
    before = system.momentum(system.propagate(0.0, state.x, state.v))
    solver = sp.Midpoint(0.002)
    for _ in range(25):
        assert solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() <= 1e-11
    np.testing.assert_allclose(system.momentum(kin)[:3] - before[:3], [0, 0, -10 * total * state.t], atol=1e-9)


def test_a_led_body_leads_what_is_joined_to_it():
    scene = sp.Scene(gravity=(0, 0, -9.81))
    a = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.01)), name="a")
    b = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.01)), at=(0, 0, -0.3), name="b")
    scene.add(sp.PrescribedMotion(a, displacement=swing, rotation=turn))
    scene.add(sp.BallJoint(a, b, at=(0, 0, -0.1)))
    system = scene.compile()
    for solver in (sp.Midpoint(0.005), sp.ImplicitEuler(0.005, newton=True), sp.GeneralizedAlpha(0.005)):
        state = run(system, solver, 25)
        np.testing.assert_allclose(system.positions(state, "a")[0, :3], swing(state.t), atol=1e-14)
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() <= 1e-9


def test_explicit_solvers_and_cg_refuse_joints():
    system = pair("ball").compile()
    for solver in (sp.RungeKutta4(0.01), sp.SymplecticEuler(0.01)):
        with pytest.raises(InputError, match="joints need an implicit solver"):
            solver.prepare(system)
    with pytest.raises(InputError, match="joints need the direct solver"):
        sp.ImplicitEuler(0.01, linear="cg").step(system, system.initial_state())


def test_a_hinge_motor_turns_at_its_speed():
    """The speed of the first side against the second, through more than a whole turn."""
    for order, sign in ((1, 1.0), (-1, -1.0)):
        scene = sp.Scene()
        wheel = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), name="wheel")
        scene.add(sp.HingeJoint(*[wheel, sp.World][::order], axis=(0, 0, 1), motor_speed=40.0))
        state = run(scene.compile(), sp.ImplicitEuler(0.01), 20)
        assert state.v[5] == pytest.approx(sign * 40.0, rel=1e-9)


def test_a_hinge_motor_gives_no_more_than_its_torque():
    """0.2 N m on 0.1 kg m² for 0.3 s: 0.6 rad/s on the way to 5."""
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=5.0, motor_torque=0.2))
    state = run(scene.compile(), sp.ImplicitEuler(0.01), 30)
    assert state.v[5] == pytest.approx(0.6, rel=1e-6)


def test_hinge_limits_stop_the_turn():
    scene = sp.Scene()
    door = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), spin=(0, 0, 3.0), name="door")
    scene.add(sp.HingeJoint(door, axis=(0, 0, 1), limits=(-0.5, 0.2)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    for _ in range(20):
        solver.step(system, state)
        assert rotations.log(state.x[3:])[2] <= 0.2 + 1e-6
    assert rotations.log(state.x[3:])[2] == pytest.approx(0.2, abs=1e-6)
    assert abs(state.v[5]) <= 1e-6


@pytest.mark.parametrize("make", [sp.Newmark, lambda dt: sp.GeneralizedAlpha(dt, rho=1.0)])
def test_joints_without_numerical_damping_are_refused(make):
    """Multipliers of joints are neutrally unstable at gamma = 1/2: a hinged bar would gain energy without bound."""
    system = pair("hinge", gravity=(0, 0, -9.81), to_world=True).compile()
    with pytest.raises(InputError, match="numerical damping"):
        make(0.01).prepare(system)
    with pytest.raises(InputError, match="numerical damping"):
        make(0.01).step(system, system.initial_state())
