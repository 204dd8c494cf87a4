"""Mappings that users write."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.laws.mappings.implementers import PUSH, RNG, START, Polar, moved

import supple as sp
from supple.scene.derivatives import check_derivatives, differentiate


@dataclass(frozen=True)
class RadialSpring:
    """f_r = -k (r - r0) on the first of the mapped coordinates, with a tangent but without blocks."""

    k: float
    r0: float

    def energy(self, state):
        return 0.5 * self.k * float(np.sum((state.x[:, 0] - self.r0) ** 2))

    def add_force(self, state, f_out):
        f_out[:, 0] -= self.k * (state.x[:, 0] - self.r0)

    def linearize(self, state, *, definite=False):
        return self

    def add_product(self, dv, df_out, stiffness, damping):
        df_out[:, 0] -= stiffness * self.k * dv[:, 0]


def written_by_mapping() -> sp.Scene:
    scene = sp.Scene()
    dots = scene.add(sp.Particles(START, [0.5, 0.8]), name="dots")
    scene.add(RadialSpring(12.0, 0.7), on=dots.points().mapped(Polar(2)))
    return scene


def written_by_springs() -> sp.Scene:
    scene = sp.Scene()
    dots = scene.add(sp.Particles(START, [0.5, 0.8]), name="dots")
    scene.add(sp.Springs(dots.points(), sp.World.points(np.zeros((2, 3))), 12.0, rest_length=0.7))
    return scene


def test_user_mapping_and_force_have_the_right_derivatives():
    system = written_by_mapping().compile()
    assert system.assembly is None  # the general path: products only
    assert check_derivatives(system, START + 0.1, PUSH).is_ok
    lin = system.linearize(system.propagate(0.0, START.ravel(), PUSH.ravel()))
    other = written_by_springs().compile()
    expected = other.linearize(other.propagate(0.0, START.ravel(), PUSH.ravel()))
    plane = np.ix_([0, 1, 3, 4], [0, 1, 3, 4])  # the springs are spherical, the mapping cylindrical: they differ in z
    found, wanted = (A.matrix(mass=1.0, stiffness=-0.3).toarray()[plane] for A in (lin, expected))
    np.testing.assert_allclose(found, wanted, atol=1e-12)


SOLVERS = {
    "implicit Euler": lambda: sp.ImplicitEuler(0.02),
    "implicit Euler, cg": lambda: sp.ImplicitEuler(
        0.02, linear="cg", tolerance=1e-13, newton=True, newton_tolerance=1e-11
    ),
    "implicit Euler, Newton": lambda: sp.ImplicitEuler(0.02, newton=True, newton_tolerance=1e-12),
    "midpoint": lambda: sp.Midpoint(0.02),
    "Newmark": lambda: sp.Newmark(0.02, newton_tolerance=1e-12),
    "generalised alpha": lambda: sp.GeneralizedAlpha(0.02, newton_tolerance=1e-12),
    "symplectic Euler": lambda: sp.SymplecticEuler(0.02),
    "Runge-Kutta": lambda: sp.RungeKutta4(0.02),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_physics_by_a_user_mapping_is_the_physics_of_springs(name):
    """Every solver takes the user's mapping by the general path and the springs by blocks, to the same end."""
    ends = []
    for make in (written_by_mapping, written_by_springs):
        system, solver = make().compile(), SOLVERS[name]()
        state = system.initial_state()
        state.v[:] = PUSH.ravel()
        for _ in range(40):
            assert solver.step(system, state).is_solved
        ends.append(np.concatenate([state.x, state.v]))
    # both solve the same equations to 1e-11 or better; forty steps keep that
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)


def test_user_mapping_on_a_frame_has_the_right_derivatives():
    """A chain with curvature in both links: frame -> points -> polar coordinates."""
    scene = sp.Scene()
    box = scene.add(sp.RigidBody.box((0.3, 0.2, 0.4), density=700), at=(1.0, 0.2, 0.0), name="box")
    corners = box.points(local=[[0.1, 0.2, 0.3], [-0.2, 0.1, 0.1]])
    scene.add(RadialSpring(12.0, 0.7), on=corners.mapped(Polar(2)))
    system = scene.compile()
    x, v = moved(system)
    report = check_derivatives(system, x, v, step=1e-3)
    assert report.is_ok, str(report)
    d = RNG.normal(size=6)
    energy = lambda e: system.potential_energy(system.propagate(0.0, system.retract(x, e * d), v))  # noqa: E731
    assert system.force(system.propagate(0.0, x, v)) @ d == pytest.approx(-differentiate(energy, 1e-3), rel=1e-8)


def test_a_joint_holds_points_of_a_user_mapping():
    """Any mapping may carry a joint: a bead kept at (r, angle, z) = (1, pi/2, 0) does not move."""
    scene = sp.Scene(gravity=(0, 0, -10))
    bead = scene.add(sp.Particles([[0.0, 1.0, 0.0]], 1.0), name="bead")
    scene.add(sp.BallJoint(bead.points().mapped(Polar(1)), sp.World.points([[1.0, np.pi / 2, 0.0]])))
    system = scene.compile()
    state = system.initial_state()
    for _ in range(3):
        assert sp.ImplicitEuler(0.01).step(system, state).is_solved
    np.testing.assert_allclose(state.x, [0.0, 1.0, 0.0], atol=1e-9)
