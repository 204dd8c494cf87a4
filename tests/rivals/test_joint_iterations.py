"""Joints by conjugate gradients: the solution of the direct solver, closed joints, and momentum whatever the
tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.solvers.linear.joint_iterations import JointIterations, Operator
from supple.solvers.linear.joint_solve import JointSystem, solve_with_joints

DT, CELLS, SIZE = 0.01, (12, 4, 4), (0.3, 0.1, 0.1)
JOINTS = {
    "ball": sp.BallJoint,
    "hinge": lambda a, b, at: sp.HingeJoint(a, b, at=at, axis=(0, 0, 1)),
    "slider": lambda a, b, at: sp.SliderJoint(a, b, at=at, axis=(0, 0, 1)),
    "fixed": sp.FixedJoint,
}


def pair(joint: str, other: str, solver: sp.ImplicitEuler) -> tuple[sp.System, sp.State]:
    """A soft beam that turns and flies, joined to another beam, a rigid one, or the world."""
    scene = sp.Scene(solver=solver)
    beam = sp.FemBody(sp.box_tets(size=SIZE, cells=CELLS), sp.Material(1e5, 0.3, 1000.0))
    a, b = scene.add(beam, name="a", spin=(0.5, 0.3, 4.0), velocity=(0.2, 0.0, 0.0)), sp.World
    if other == "fem":
        b = scene.add(beam, name="b", at=(0.32, 0, 0), velocity=(0.0, 0.3, 0.1))
    elif other == "rigid":
        b = scene.add(sp.RigidBody.box(SIZE, density=1000), name="b", at=(0.47, 0, 0), spin=(0, 1, 2))
    scene.add(JOINTS[joint](a, b, at=(0.31, 0, 0)))
    system = scene.compile()
    return system, system.initial_state()


@pytest.mark.parametrize("other", ["fem", "rigid", "world"])
@pytest.mark.parametrize("joint", JOINTS)
def test_a_step_is_that_of_the_direct_solver(joint: str, other: str) -> None:
    """With the same definite stiffness, joints closed at the end."""
    ends = []
    for linear in ("direct", "cg"):
        solver = sp.ImplicitEuler(DT, linear=linear, tolerance=1e-12)
        system, state = pair(joint, other, solver)
        step = solver.begin(system, system.propagate(state.t, state.x, state.v), definite=True)
        ends.append(step.close(step.solve(step.b), None))
    d, l = (max(np.abs(getattr(s, name)).max() for s in ends) for name in ("d", "multipliers"))
    np.testing.assert_allclose(ends[1].d, ends[0].d, rtol=0, atol=1e-8 * d)
    np.testing.assert_allclose(ends[1].multipliers, ends[0].multipliers, rtol=0, atol=1e-8 * l)


@pytest.mark.parametrize("other", ["fem", "rigid"])
@pytest.mark.parametrize("joint", JOINTS)
def test_joints_are_closed_and_momentum_is_kept_however_loose_the_solution(joint: str, other: str) -> None:
    solver = sp.ImplicitEuler(DT, linear="cg", tolerance=1e-4)
    system, state = pair(joint, other, solver)
    before = system.momentum(system.propagate(state.t, state.x, state.v))[:3]
    for _ in range(10):
        report = solver.step(system, state)
        assert report.is_solved
        assert report.linear_iterations > 0
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() < 1e-9 * SIZE[0]
    np.testing.assert_allclose(system.momentum(kin)[:3], before, atol=1e-12 * np.linalg.norm(before))


@pytest.mark.parametrize("solver", [sp.GeneralizedAlpha, sp.Midpoint])
def test_newtons_method_takes_them(solver: type) -> None:
    """A beam on a hinge swings as by the direct solver."""
    ends = []
    for linear in ("direct", "cg"):
        method = solver(0.002, linear=linear, newton_tolerance=1e-10)
        system, state = pair("hinge", "world", method)
        for _ in range(2):
            assert method.step(system, state).is_solved
        ends.append(state.x)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-8 * SIZE[0])


def test_a_large_beam_on_a_hinge_takes_them_unasked_and_a_slender_one_the_factor() -> None:
    for cells, iterates in (((30, 8, 8), True), ((200, 2, 2), False)):
        scene, size = sp.Scene(), tuple(0.01 * n for n in cells)
        beam = scene.add(sp.FemBody(sp.box_tets(size=size, cells=cells), sp.Material(1e6, 0.3, 1000.0)))
        scene.add(sp.HingeJoint(beam, at=(0, 0, 0), axis=(0, 1, 0)))
        weights = {"mass": 1.0, "damping": -DT, "stiffness": -DT * DT}
        assert sp.ImplicitEuler(DT)._solve.options.uses_cg(scene.compile(), **weights) == iterates


def test_a_beam_on_a_hinge_falls_on_a_floor_as_by_the_direct_solver() -> None:
    """Contacts with friction make the matrix unsymmetric."""
    ends = []
    for linear in ("direct", "cg"):
        scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.004, linear=linear, tolerance=1e-10))
        beam = sp.FemBody(sp.box_tets(size=SIZE, cells=CELLS), sp.Material(1e6, 0.3, 1000.0))
        node = scene.add(beam, name="beam", velocity=(0, 0, -0.5))
        scene.add(sp.HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0)))
        scene.add(sp.Floor(-0.052, friction=0.4))
        system = scene.compile()
        state = system.initial_state()
        for _ in range(4):
            assert scene.solver.step(system, state).is_solved
        assert np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max() < 1e-9 * SIZE[0]
        ends.append(state.x.reshape(-1, 3))
    assert ends[0][:, 2].min() < -0.052
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-4 * SIZE[0])


def test_motors_and_limits_rest_as_by_the_direct_solver() -> None:
    """A weak motor turns a beam against its weight to a limit."""
    ends = []
    for linear in ("direct", "cg"):
        scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(DT, linear=linear, tolerance=1e-10))
        mesh = sp.box_tets(size=SIZE, cells=CELLS)
        beam = scene.add(sp.FemBody(mesh, sp.Material(1e8, 0.3, 1000.0)), name="beam")
        motor = {"limits": (-0.1, 0.1), "motor_speed": -2.0, "motor_torque": 0.5}
        scene.add(sp.HingeJoint(beam, at=(0, 0, 0), axis=(0, 1, 0), **motor), name="hinge")
        system = scene.compile()
        state = system.initial_state()
        for _ in range(20):
            assert scene.solver.step(system, state).is_solved
        ends.append((state, system.joint_readings(state)["hinge"]))
    assert abs(ends[0][1].angle) == pytest.approx(0.1, abs=1e-9)
    assert ends[1][1].angle == pytest.approx(ends[0][1].angle, abs=1e-9)
    np.testing.assert_allclose(ends[1][0].memory["multipliers"], ends[0][0].memory["multipliers"], atol=1e-4)


def test_redundant_and_resting_rows_and_rows_that_differ() -> None:
    """Two rows say the same, one rests; rows at the end are not those that pull."""
    rng = np.random.default_rng(3)
    n, m = 30, 5
    root = rng.normal(size=(n, n))
    A, pull = root @ root.T + n * np.eye(n), rng.normal(size=(m, n))
    pull[4] = 2.0 * pull[1]
    G = pull + 0.05 * rng.normal(size=(m, n))
    G[4] = 2.0 * G[1]
    held, known, g = np.full(m, np.nan), rng.normal(size=m), rng.normal(size=m)
    held[2], g[4] = 0.7, 2.0 * g[1]
    joints, b = JointSystem(pull, G, g, held, known), rng.normal(size=n)
    by = solve_with_joints(A, b, joints, pull, G)
    found = JointIterations(Operator(A.__matmul__, None, lambda v: None), joints, pull, G).solve(
        b, joints, G, tolerance=1e-13
    )
    assert found is not None
    assert found.ok
    np.testing.assert_allclose(found.d, by.d, atol=1e-11)
    np.testing.assert_allclose(found.multipliers, by.multipliers, atol=1e-9)
    np.testing.assert_allclose(np.delete(G @ found.d - g, 2), 0.0, atol=1e-12)
