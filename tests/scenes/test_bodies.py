"""Laws of particles, springs, rigid inertia and placements; and the sentences that refuse bad input."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.algebra.dense.checks import as_quaternion
from supple.bodies.coordinates import Frames, Points
from supple.bodies.placement import Placement
from supple.bodies.point_mass import MassDamping, PointMass
from supple.bodies.protocols import LocalState
from supple.bodies.rigid.mass import FrameMass
from supple.errors import InputError
from supple.interaction.springs import SpringForce
from supple.scene.derivatives import check_derivatives, differentiate, relative_error

RNG = np.random.default_rng(3)
X = RNG.normal(size=(6, 3))
V = RNG.normal(size=(6, 3))
PAIRS = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)])
DIFFERENCED = 1e-8
"""Richardson's differences of smooth functions of size one leave about ten digits."""


def springs(rest: Any = 0.8, damping: Any = 0.0) -> SpringForce:
    stiffness = np.linspace(10.0, 40.0, len(PAIRS))
    return SpringForce.make(PAIRS, stiffness, rest, damping, where="test")


def force_of(force: Any, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    f = np.zeros_like(v)
    force.add_force(LocalState(0.0, x, v), f)
    return f


def dense_tangent(force: Any, x: np.ndarray, v: np.ndarray, stiffness: float, damping: float, definite: bool = False):
    """By the blocks of the pattern, (3n, 3n)."""
    rows, cols = force.block_pattern()
    data = np.zeros((len(rows), 3, 3))
    tangent = force.linearize(LocalState(0.0, x, v), definite=definite)
    tangent.add_blocks(data, np.arange(len(rows)), stiffness, damping)
    K = np.zeros((len(x), 3, len(x), 3))
    np.add.at(K, (rows, slice(None), cols), data)
    return K.reshape(3 * len(x), -1)


# ---- springs ----

CASES = {
    "elastic": springs(),
    "damped": springs(damping=np.linspace(0.5, 2.0, len(PAIRS))),
    "soft attachments": springs(rest=0.0, damping=1.5),
    "mixed": springs(rest=np.where(np.arange(len(PAIRS)) % 2, 0.0, 1.1), damping=0.7),
}


@pytest.mark.parametrize("name", CASES)
def test_spring_force_is_the_slope_of_its_energy(name):
    force, d = CASES[name], RNG.normal(size=X.shape)
    f = force_of(force, X, np.zeros_like(V))
    slope = -differentiate(lambda e: force.energy(LocalState(0.0, X + e * d, V)), 1e-3)
    assert abs(np.sum(f * d) - slope) <= DIFFERENCED * np.linalg.norm(f) * np.linalg.norm(d)


@pytest.mark.parametrize("name", CASES)
def test_spring_tangents_are_slopes_of_the_force(name):
    force = CASES[name]
    K, B = dense_tangent(force, X, V, 1.0, 0.0), dense_tangent(force, X, V, 0.0, 1.0)
    for d in RNG.normal(size=(3, *X.shape)):
        assert (
            relative_error(K @ d.ravel(), differentiate(lambda e, d=d: force_of(force, X + e * d, V).ravel(), 1e-3))
            <= DIFFERENCED
        )
        assert (
            relative_error(B @ d.ravel(), differentiate(lambda e, d=d: force_of(force, X, V + e * d).ravel(), 1.0))
            <= DIFFERENCED
        )
    assert np.abs(B - B.T).max() <= 1e-13 * max(np.abs(B).max(), 1.0)
    if name == "elastic":
        assert np.abs(K - K.T).max() <= 1e-13 * np.abs(K).max()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("definite", [False, True])
def test_spring_products_equal_blocks(name, definite):
    d, df = RNG.normal(size=X.shape), np.full_like(X, 2.0)
    tangent = CASES[name].linearize(LocalState(0.0, X, V), definite=definite)
    tangent.add_product(d, df, 0.3, -1.2)
    expected = dense_tangent(CASES[name], X, V, 0.3, -1.2, definite) @ d.ravel()
    assert relative_error(df.ravel() - 2.0, expected) <= 1e-13


@pytest.mark.parametrize("name", CASES)
def test_springs_balance_and_turn_with_the_particles(name):
    force = CASES[name]
    f = force_of(force, X, V)
    assert np.abs(f.sum(axis=0)).max() <= 1e-13 * np.abs(f).sum()
    if name in ("elastic", "damped"):  # a soft attachment is damped in all directions, so it has a moment
        assert np.abs(np.cross(X, f).sum(axis=0)).max() <= 1e-13 * np.abs(f).sum()
    R = rotations.to_matrix(rotations.exp([0.4, -1.0, 2.0]))
    assert relative_error(force_of(force, X @ R.T + 1.0, V @ R.T), f @ R.T) <= 1e-12


@pytest.mark.parametrize("name", CASES)
def test_spring_damping_dissipates(name):
    damping = force_of(CASES[name], X, V) - force_of(CASES[name], X, np.zeros_like(V))
    power = np.sum(damping * V)
    assert power == 0.0 if name == "elastic" else power < 0


@pytest.mark.parametrize("name", CASES)
def test_definite_spring_tangent_has_no_positive_eigenvalue(name):
    short = 0.3 * X  # most springs are compressed: the exact tangent is indefinite
    K = dense_tangent(CASES[name], short, V, 1.0, 0.0, definite=True)
    B = dense_tangent(CASES[name], short, V, 0.0, 1.0, definite=True)
    for A in (K, B):
        assert np.linalg.eigvalsh(A)[-1] <= 1e-12 * max(np.abs(A).max(), 1.0)
    if name == "elastic":
        assert np.linalg.eigvalsh(dense_tangent(CASES[name], short, V, 1.0, 0.0))[-1] > 1.0


def test_zero_length_attachment_is_smooth_where_its_ends_meet():
    force = SpringForce.make([(0, 1)], 25.0, 0.0, 3.0, where="test")
    x = np.zeros((2, 3))
    v = np.array([[0.0, 0, 0], [1.0, -2.0, 0.5]])
    np.testing.assert_array_equal(force_of(force, x, v)[0], 3.0 * v[1])
    K = dense_tangent(force, x, v, 1.0, 0.0)
    np.testing.assert_allclose(K[:3, :3], -25.0 * np.eye(3), atol=0)
    np.testing.assert_allclose(K[:3, 3:], 25.0 * np.eye(3), atol=0)


def test_spring_pulls_its_ends_together():
    """The sign, said once in plain numbers: k = 10 N/m, 0.5 m too long, 5 N towards each other."""
    force = SpringForce.make([(0, 1)], 10.0, 1.0, 0.0, where="test")
    f = force_of(force, np.array([[0.0, 0, 0], [1.5, 0, 0]]), np.zeros((2, 3)))
    np.testing.assert_allclose(f, [[5.0, 0, 0], [-5.0, 0, 0]], atol=1e-14)
    assert force.energy(LocalState(0.0, np.array([[0.0, 0, 0], [1.5, 0, 0]]), np.zeros((2, 3)))) == pytest.approx(1.25)


def test_particles_take_the_distance_as_rest_length():
    net = sp.Particles(X, 1.0, springs=PAIRS, stiffness=5.0)
    assert np.abs(force_of(net.spring_force, X, np.zeros_like(X))).max() <= 1e-14
    np.testing.assert_allclose(net.spring_force.rest_length, np.linalg.norm(X[PAIRS[:, 1]] - X[PAIRS[:, 0]], axis=1))


def test_mass_damping_has_its_tangent_and_dissipates():
    drag = MassDamping(PointMass(np.linspace(1.0, 2.0, 6)), 0.4)
    np.testing.assert_allclose(force_of(drag, X, V), -0.4 * np.linspace(1.0, 2.0, 6)[:, None] * V)
    report = check_derivatives(drag, X, V)
    assert report.errors["B = df/dv"] <= DIFFERENCED
    assert report.errors["K = df/dx"] == 0.0


# ---- the check of derivatives can fail ----


@dataclass(frozen=True)
class Faulty:
    """A spring net with one fault."""

    inner: SpringForce
    fault: str

    def energy(self, state):
        return self.inner.energy(state) * (-1 if self.fault == "energy sign" else 1)

    def add_force(self, state, f_out):
        self.inner.add_force(state, f_out)

    def linearize(self, state, *, definite=False):
        tangent = self.inner.linearize(state)
        if self.fault == "stiffness sign":
            return replace(tangent, elastic=-tangent.elastic)
        if self.fault == "transverse stiffness":
            return self.inner.linearize(state, definite=True)
        if self.fault == "damping sign":
            return replace(tangent, viscous=-tangent.viscous)
        if self.fault == "no damping":
            return replace(tangent, viscous=0 * tangent.viscous)
        if self.fault == "one entry":
            elastic = tangent.elastic.copy()
            elastic[2, 0, 1] += 1e-3
            return replace(tangent, elastic=elastic)
        if self.fault == "not a number":
            return replace(tangent, elastic=np.nan * tangent.elastic)
        return tangent


FAULTS = {
    "none": set(),
    "energy sign": {"force = -dE/dx"},
    "stiffness sign": {"K = df/dx"},
    "transverse stiffness": {"K = df/dx"},
    "damping sign": {"B = df/dv"},
    "no damping": {"B = df/dv"},
    "one entry": {"K = df/dx"},
    "not a number": {"K = df/dx", "B = df/dv"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_names_each_fault_of_a_force(fault):
    report = check_derivatives(Faulty(springs(damping=0.9), fault), X, V)
    wrong = {name for name, error in report.errors.items() if not error <= report.tolerance}
    assert wrong == FAULTS[fault], str(report)
    assert report.is_ok == (not wrong)
    assert ("WRONG" in str(report)) == bool(wrong)


def test_differentiate_is_fourth_order():
    errors = [abs(differentiate(np.sin, h) - 1.0) for h in (0.4, 0.2, 0.1)]
    slopes = np.diff(np.log(errors)) / np.diff(np.log([0.4, 0.2, 0.1]))
    np.testing.assert_allclose(slopes, 4.0, atol=0.05)


def test_relative_error_of_unequal_values():
    assert relative_error([1.0, 0.0], [1.0, 0.0]) == 0.0
    assert relative_error(1.0, -1.0) == 2.0
    assert relative_error(0.0, 0.0) == 0.0
    assert relative_error(1e-9, 0.0, floor=1.0) == 1e-9
    assert not relative_error([1.0, 2.0], [np.nan, 2.0]) <= 1.0


def test_relative_error_of_what_is_not_a_number():
    assert not relative_error([np.nan, 2.0], [1.0, 2.0]) <= 1.0


# ---- rigid inertia ----

INERTIA = rotations.to_matrix(rotations.exp([0.3, 0.5, -0.2]))
INERTIA = INERTIA @ np.diag([1.0, 2.0, 2.5]) @ INERTIA.T
FRAMES = FrameMass(np.array([3.0, 0.7]), np.stack([INERTIA, 0.4 * INERTIA]))


def random_frames(n=2):
    return np.hstack([RNG.normal(size=(n, 3)), rotations.normalise(RNG.normal(size=(n, 4)))])


def world_momentum(x, v):
    """(m v, R I w) of each frame: the momenta whose changes are forces and torques in the world."""
    spin = rotations.rotate(x[:, 3:], np.einsum("nij,nj->ni", FRAMES.inertia, v[:, 3:]))
    return np.hstack([FRAMES.mass[:, None] * v[:, :3], spin])


def test_bias_keeps_the_angular_momentum():
    """d(R I w)/dt = 0 with I dw/dt = bias: the gyroscopic term, sign and all."""
    x, v = random_frames(), RNG.normal(size=(2, 6))
    bias = np.zeros((2, 6))
    FRAMES.add_bias(LocalState(0.0, x, v), bias)
    dv = FRAMES.solve(bias)
    coordinates = Frames(2)
    rate = differentiate(lambda t: world_momentum(coordinates.retract(x, t * v), v + t * dv), 1e-3)
    assert np.abs(rate).max() <= 1e-10  # (1e-3)^4 of truncation, 1e-13 of rounding
    assert np.abs(bias[:, 3:]).max() > 0.1
    assert (bias[:, :3] == 0).all()


def test_impulse_is_the_change_of_momentum_seen_from_the_end():
    x0, x1 = random_frames(), random_frames()
    v0, v1 = RNG.normal(size=(2, 2, 6))
    change = world_momentum(x1, v1) - world_momentum(x0, v0)
    change[:, 3:] = rotations.rotate_inverse(x1[:, 3:], change[:, 3:])
    np.testing.assert_allclose(FRAMES.compute_impulse(x0, v0, x1, v1), change, atol=1e-14)


def test_impulse_over_a_short_time_is_mass_times_acceleration_less_bias():
    """impulse / h -> M dv/dt - bias as h -> 0, the form solvers use either way."""
    x, v, dv = random_frames(), RNG.normal(size=(2, 6)), RNG.normal(size=(2, 6))
    coordinates = Frames(2)
    expected, bias = np.zeros((2, 6)), np.zeros((2, 6))
    FRAMES.add_product(dv, expected, 1.0)
    FRAMES.add_bias(LocalState(0.0, x, v), bias)

    def change(h):
        return FRAMES.compute_impulse(x, v, coordinates.retract(x, h * v), v + h * dv)

    assert relative_error(differentiate(change, 1e-2), expected - bias) <= 1e-7  # h^4 with derivatives of order 10


def test_frame_mass_product_solve_and_blocks_agree():
    v, f = RNG.normal(size=(2, 6)), np.zeros((2, 6))
    FRAMES.add_product(v, f, 1.0)
    np.testing.assert_allclose(FRAMES.solve(f), v, atol=1e-13)
    rows, cols = FRAMES.block_pattern()
    data = np.zeros((len(rows), 3, 3))
    FRAMES.add_blocks(data, np.arange(len(rows)), 1.0)
    assert (rows == cols).all()
    np.testing.assert_allclose(np.einsum("kij,kj->ki", data, v.reshape(-1, 3)), f.reshape(-1, 3), atol=1e-14)


def test_frame_momentum_is_that_of_its_particles():
    """Eight particles of a box, moved rigidly, against the rigid body with their mass and inertia."""
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-2, 2) for c in (-0.5, 0.5)], dtype=float)
    m = np.full(8, 0.25)
    inertia = np.einsum("n,nij->ij", m, np.eye(3) * np.sum(corners**2, axis=1)[:, None, None]) - corners.T @ (
        corners * m[:, None]
    )
    body = FrameMass(np.array([2.0]), inertia[None])
    x, v = random_frames(1), RNG.normal(size=(1, 6))
    R = rotations.to_matrix(x[0, 3:])
    points = x[0, :3] + corners @ R.T
    velocities = v[0, :3] + np.cross(v[0, 3:], corners) @ R.T
    found = body.momentum(LocalState(0.0, x, v))
    expected = PointMass(m).momentum(LocalState(0.0, points, velocities))
    np.testing.assert_allclose(found, expected, atol=1e-13)
    p = np.zeros((1, 6))
    body.add_product(v, p, 1.0)
    assert 0.5 * np.sum(p * v) == pytest.approx(0.5 * np.sum(m[:, None] * velocities**2), rel=1e-13)


def test_solids_have_textbook_inertia():
    box = sp.RigidBody.box((1.0, 2.0, 3.0), density=2.0)
    assert box.mass == pytest.approx(12.0)
    np.testing.assert_allclose(np.diag(box.inertia), [13.0, 10.0, 5.0])
    ball = sp.RigidBody.sphere(0.5, density=3.0)
    assert ball.mass == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(np.diag(ball.inertia), 0.4 * ball.mass * 0.25)
    rod = sp.RigidBody.cylinder(0.1, 2.0, density=10.0)
    assert rod.mass == pytest.approx(0.2 * np.pi)
    np.testing.assert_allclose(np.diag(rod.inertia), rod.mass * np.array([0.0025 + 1 / 3, 0.0025 + 1 / 3, 0.005]))
    for body in (box, ball, rod):
        centre = (body.surface.nodes.min(axis=0) + body.surface.nodes.max(axis=0)) / 2
        assert np.abs(centre).max() <= 1e-12


# ---- coordinates and placement ----


@pytest.mark.parametrize("coordinates", [Points(4), Frames(4)], ids=["points", "frames"])
def test_retract_and_difference_are_inverse(coordinates):
    a = RNG.normal(size=(4, 3)) if coordinates.x_width == 3 else random_frames(4)
    d = 0.8 * RNG.normal(size=(4, coordinates.v_width))
    b = coordinates.retract(a, d)
    np.testing.assert_allclose(coordinates.difference(a, b), d, atol=1e-13)
    np.testing.assert_allclose(coordinates.retract(a, np.zeros_like(d)), a, atol=1e-15)


def test_velocity_is_the_rate_of_position():
    """Linear velocity in world axes, angular in body axes: d/dt R = R [w]x."""
    x, v = random_frames(1), RNG.normal(size=(1, 6))
    moved = lambda t: Frames(1).retract(x, t * v)  # noqa: E731
    R = rotations.to_matrix(x[0, 3:])
    rate = differentiate(lambda t: rotations.to_matrix(moved(t)[0, 3:]), 1e-2)
    np.testing.assert_allclose(rate, R @ rotations.skew(v[0, 3:]), atol=1e-8)
    np.testing.assert_allclose(differentiate(lambda t: moved(t)[:, :3], 1e-2), v[:, :3], atol=1e-12)


BODIES = {
    "particles": sp.Particles(X, 1.0),
    "rigid": sp.RigidBody.box((0.3, 0.2, 0.1), density=500),
    "fem": sp.FemBody(
        sp.box_tets(size=(0.3, 0.2, 0.1), cells=(1, 1, 1)), sp.Material(young=1e5, poisson=0.3, density=500)
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_placed_bodies_move_as_told(name):
    """at, rotation, velocity and spin (world axes) give the same points and point velocities for every kind."""
    at, turn = np.array([1.0, -2.0, 0.5]), np.array([0.3, -0.8, 1.1])
    velocity, spin = np.array([0.1, 0.2, -0.3]), np.array([2.0, -1.0, 0.5])
    scene = sp.Scene()
    node = scene.add(BODIES[name], at=at, rotation=turn, velocity=velocity, spin=spin, name="body")
    points = node.points() if name != "rigid" else node.points(at=node.rest)
    scene.add(sp.Springs(points, sp.World.points(points.rest), 1.0))
    system = scene.compile()
    state = system.initial_state()
    kin = system.propagate(0.0, state.x, state.v)
    slot = next(s for s in system.slots if not s.is_body and s.parents and len(s.parents) == 2)
    x, v = kin.x[slot.index][: points.count], kin.v[slot.index][: points.count]
    own = {"particles": X, "rigid": getattr(BODIES["rigid"], "surface").nodes, "fem": BODIES["fem"].mesh.nodes}[name]  # noqa: B009
    R = rotations.to_matrix(rotations.exp(turn))
    np.testing.assert_allclose(x, at + own @ R.T, atol=1e-14)
    np.testing.assert_allclose(v, velocity + np.cross(spin, x - at), atol=1e-13)
    assert np.abs(system.force(kin)).max() <= 1e-9  # placed without strain


def test_rotations_are_read_from_vectors_and_quaternions():
    theta = np.array([0.1, 0.7, -0.4])
    np.testing.assert_allclose(as_quaternion(theta), rotations.exp(theta))
    np.testing.assert_allclose(as_quaternion(5 * rotations.exp(theta)), rotations.exp(theta))
    np.testing.assert_array_equal(as_quaternion(None), [1, 0, 0, 0])
    np.testing.assert_array_equal(Placement().apply(X), X)


# ---- refusals ----


def rubber(**changes):
    return sp.Material(**{"young": 1e6, "poisson": 0.4, "density": 1000.0, **changes})


def particles(**changes):
    given = {"positions": X, "mass": 1.0, "springs": PAIRS, "stiffness": 1.0, **changes}
    return sp.Particles(given.pop("positions"), given.pop("mass"), **given)


def in_scene(**more):
    return sp.Scene().add(BODIES["rigid"], **more)


REFUSED = {
    "negative density": (lambda: rubber(density=-1.0), "density is not positive", "-1.0"),
    "zero Young": (lambda: rubber(young=0.0), "Young's modulus is not positive", "> 0 Pa"),
    "Poisson one half": (lambda: rubber(poisson=0.5), "Poisson's ratio is out of range", "0.49"),
    "Poisson minus one": (lambda: rubber(poisson=-1.0), "Poisson's ratio is out of range", "-1 < poisson"),
    "Young not a number": (lambda: rubber(young=float("nan")), "young is not a finite number", "nan"),
    "density a word": (lambda: rubber(density="heavy"), "density is not a finite number", "heavy"),
    "negative damping": (lambda: rubber(stiffness_damping=-1e-3), "stiffness_damping is negative", ">= 0"),
    "unknown law": (
        lambda: sp.FemBody(BODIES["fem"].mesh, rubber(), law="hooke"),
        "unknown elastic law",
        "corotational",
    ),
    "unknown mass": (
        lambda: sp.FemBody(BODIES["fem"].mesh, rubber(), mass="heavy"),
        "unknown kind of mass",
        "consistent",
    ),
    "no mesh": (lambda: sp.FemBody("beam", rubber()), "needs a TetMesh or a HexMesh", "str"),
    "no material": (lambda: sp.FemBody(BODIES["fem"].mesh, 3.0), "neither a Material nor a mapping", ""),
    "massless": (lambda: sp.RigidBody(0.0, (1, 1, 1)), "mass is not positive", "> 0 kg"),
    "triangle inequality": (lambda: sp.RigidBody(1.0, (1, 1, 2.1)), "principal moments", "sum of the others"),
    "negative inertia": (lambda: sp.RigidBody(1.0, (-1, 1, 1)), "principal moments", "positive"),
    "skew inertia": (lambda: sp.RigidBody(1.0, [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "not a symmetric 3x3", ""),
    "flat box": (lambda: sp.RigidBody.box((1, 0, 1), density=1), "size is not positive", ""),
    "light ball": (lambda: sp.RigidBody.sphere(1, density=-2), "density is not positive", "-2"),
    "small ball": (lambda: sp.RigidBody.sphere(0, density=2), "radius is out of range", "> 0"),
    "massless particle": (lambda: particles(mass=[1, 1, 0, 1, 1, 1]), "mass is not positive", "> 0 kg"),
    "too few masses": (lambda: particles(mass=[1.0, 2.0]), "mass", ""),
    "positions in a plane": (lambda: particles(positions=X[:, :2]), "(n, 3) finite numbers", ""),
    "positions not finite": (lambda: particles(positions=np.nan * X), "(n, 3) finite numbers", ""),
    "spring to itself": (lambda: particles(springs=[(2, 2)]), "joins a particle to itself", ""),
    "spring to nowhere": (lambda: particles(springs=[(0, 6)]), "does not exist", "6"),
    "spring from nowhere": (lambda: particles(springs=[(-1, 2)]), "does not exist", "-1"),
    "spring of three": (lambda: particles(springs=[(0, 1, 2)]), "spring", ""),
    "negative stiffness": (lambda: particles(stiffness=-1.0), "stiffness is negative", ">= 0"),
    "too few stiffnesses": (lambda: particles(stiffness=[1.0, 2.0]), "stiffness has not one value a spring", "(2,)"),
    "negative rest length": (lambda: particles(rest_length=-0.1), "rest_length is negative", ">= 0"),
    "damping not finite": (lambda: particles(damping=np.inf), "damping is negative or not finite", ""),
    "place not a vector": (lambda: in_scene(at=(1, 2)), "at is not a vector of 3 finite numbers", "(1, 2)"),
    "spin not finite": (lambda: in_scene(spin=(0, 0, np.inf)), "spin is not a vector", ""),
    "no rotation": (lambda: in_scene(rotation=(0, 0, 0, 0)), "not a rotation", "quaternion"),
    "rotation of five": (lambda: in_scene(rotation=(1, 0, 0, 0, 0)), "not a rotation", "rotation vector"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_a_sentence(name):
    make, says, also = REFUSED[name]
    with pytest.raises(InputError) as caught:
        make()
    assert says in str(caught.value)
    assert also in str(caught.value)


@pytest.mark.parametrize("number", [10**6, np.float64(1e6), np.float32(1e6), np.int64(1_000_000)])
def test_numbers_of_numpy_are_numbers(number):
    assert rubber(young=number).young == 1e6


def test_given_arrays_are_copied_and_frozen():
    given = X.copy()
    body = sp.Particles(given, 1.0)
    given[:] = 0
    np.testing.assert_array_equal(body.positions, X)
    with pytest.raises(ValueError, match="read-only"):
        body.positions[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        BODIES["rigid"].inertia[0, 0] = 1.0
