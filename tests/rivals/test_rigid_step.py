"""Rigid bodies by compiled loops against the general way: the same equations, so the same motion to rounding."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.solvers.report import Outcome
from supple.solvers.rigid.step import RigidStep

H, G = 0.005, 9.81


def tumbling(friction: float, seed: int = 0) -> sp.Scene:
    """Boxes, balls and a drum that fall, roll and slide on a plane and onto a block."""
    rng = np.random.default_rng(seed)
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(H))
    for k in range(6):
        body = sp.RigidBody.box((0.1, 0.08, 0.12), density=500) if k % 2 else sp.RigidBody.sphere(0.05, density=500)
        turn = rng.normal(size=3)
        scene.add(
            body, at=(0.03 * k, 0.02 * (k % 3), 0.12 + 0.14 * k), rotation=turn, spin=rng.normal(size=3), name=f"{k}"
        )
    scene.add(sp.RigidBody.cylinder(0.05, 0.1, density=500), at=(-0.2, 0, 0.06), velocity=(1, 0, 0), name="drum")
    scene.add(sp.Floor())
    scene.add(sp.Box((0.3, 0, 0.05), (0.2, 0.2, 0.1)))
    scene.add(sp.Contact(friction=friction))
    return scene


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_compiled_steps_are_the_general_ones(friction: float) -> None:
    scene = tumbling(friction)
    fast, slow = scene.compile(), scene.compile()
    assert RigidStep.of(fast) is not None
    slow.memo["rigid step"] = None
    one, other = fast.initial_state(), slow.initial_state()
    touched = 0
    for _ in range(60):
        scene.solver.step(fast, one)
        scene.solver.step(slow, other)
        touched = max(touched, len(fast.contacts[0].touching(one.memory).force))
        assert np.abs(one.v - other.v).max() < 1e-7  # both leave 1e-8 of the contacts' impulse open
        other.x, other.v, other.memory = one.x.copy(), one.v.copy(), dict(one.memory)
    assert touched > 3


def test_free_bodies_move_as_by_the_general_way() -> None:
    rng, scene = np.random.default_rng(3), sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(H))
    for k in range(4):
        body = sp.RigidBody.cylinder(0.05, 0.1 * (1 + k), density=500)
        scene.add(body, at=(k, 0, 0), rotation=rng.normal(size=3), spin=5 * rng.normal(size=3), name=f"{k}")
    fast, slow = scene.compile(), scene.compile()
    assert RigidStep.of(fast) is not None
    slow.memo["rigid step"] = None
    one, other = fast.initial_state(), slow.initial_state()
    for _ in range(50):
        scene.solver.step(fast, one)
        scene.solver.step(slow, other)
    np.testing.assert_allclose(one.x, other.x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(one.v, other.v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(one.x.reshape(-1, 7)[:, 3:], axis=1), 1.0, atol=1e-15)


def test_a_stiff_pile_settles_in_every_step() -> None:
    """Twenty times the default stiffness: half of these steps were left open where residual forces decided how far to
    go along Newton's direction, and the pile gained energy."""
    rng = np.random.default_rng(1)
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(H))
    for k in range(24):
        layer, (i, j) = k // 4, divmod(k % 4, 2)
        at = 0.1 * (np.array([1.78 * i, 1.78 * j, 1.0 + 1.78 * layer]) + rng.uniform(-0.02, 0.02, 3))
        scene.add(sp.RigidBody.box((0.1,) * 3, density=500), at=at, rotation=rng.normal(size=3), name=f"{k}")
    scene.add(sp.Floor())
    scene.add(sp.Contact(friction=0.5, stiffness=1e9))
    system = scene.compile()
    state, rigid = system.initial_state(), RigidStep.of(system)
    assert rigid is not None
    top = 0.5 * 9.81 * state.x.reshape(-1, 7)[:, 2].sum()
    for step in range(600):
        report = rigid.step(system, state, H, 1e-6)
        assert report is not None, f"step {step}"
        assert report.outcome is Outcome.SOLVED, f"step {step}"
        assert 0.25 * (state.v.reshape(-1, 6)[:, :3] ** 2).sum() < top
    assert np.abs(state.v).max() < 1e-3


def test_anything_else_takes_the_general_way() -> None:
    for change in ("spring", "fixed", "soft", "part"):
        scene = sp.Scene(gravity=(0, 0, -G))
        box = scene.add(
            sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.06), name="box", fix=change == "fixed"
        )
        parts = {"box": lambda x: x[:, 2] < 1.0} if change == "part" else {}
        if change == "spring":
            scene.add(sp.Springs(box.points(at=[(0, 0, 0.1)]), sp.World.points((0, 0, 0.3)), stiffness=10.0))
        if change == "soft":
            rubber = sp.Material(young=2e5, poisson=0.3, density=500)
            scene.add(sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)), rubber), at=(1, 0, 0), name="soft")
        scene.add(sp.Floor())
        scene.add(sp.Contact(parts=parts))
        assert RigidStep.of(scene.compile()) is None, change


def test_a_ball_rolls_as_the_theory_says() -> None:
    """5/7 g sin a, by a ball that a surface of flat triangles would hold back at every edge."""
    angle = 0.2
    scene = sp.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)), solver=sp.ImplicitEuler(0.001))
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 0.1), name="ball")
    scene.add(sp.Floor())
    scene.add(sp.Contact(friction=0.5))
    system = scene.compile()
    state = system.initial_state()
    for k in range(500):
        scene.solver.step(system, state)
        if k == 99:
            before = state.v.copy()
    gained = (state.v - before) / 0.4
    assert gained[0] == pytest.approx(5 / 7 * G * np.sin(angle), rel=1e-3)
    assert 0.1 * gained[4] == pytest.approx(gained[0], rel=1e-3)
