"""Laws of the mappings: J, its adjoint, geometric stiffness, bias; chains, joins, and mappings a user writes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.coordinates import Frames, Points
from supple.bodies.mappings import FramePoints, FramePointsTangent, WeightedPoints
from supple.bodies.point_mass import PointMass
from supple.errors import InputError
from supple.scene import join
from supple.scene.derivatives import check_derivatives, differentiate, relative_error
from supple.scene.linearization import slot_jacobian

RNG = np.random.default_rng(17)
DIFFERENCED = 1e-8
"""Richardson's differences of functions of size one at steps of 1e-3 leave about ten digits."""


def random_frames(n: int) -> np.ndarray:
    return np.hstack([RNG.normal(size=(n, 3)), rotations.normalise(RNG.normal(size=(n, 4)))])


@dataclass(frozen=True)
class Polar:
    """(x, y, z) -> (r, angle, z) about the world's z axis: a mapping as a user would write it, without blocks."""

    count: int

    def apply(self, x):
        return np.stack([np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0]), x[:, 2]], axis=1)

    def linearize(self, x):
        return PolarTangent(x.copy())


@dataclass(frozen=True)
class PolarTangent:
    """J = [[x/r, y/r, 0], [-y/r², x/r², 0], [0, 0, 1]] at positions x."""

    x: np.ndarray

    def jacobian(self):
        (a, b, _), r = self.x.T, np.hypot(self.x[:, 0], self.x[:, 1])
        J = np.zeros((len(self.x), 3, 3))
        J[:, 0, 0], J[:, 0, 1] = a / r, b / r
        J[:, 1, 0], J[:, 1, 1] = -b / r**2, a / r**2
        J[:, 2, 2] = 1
        return J

    def second(self):
        """H[n, c, i, j] = d²m_c / dx_i dx_j."""
        (a, b, _), r = self.x.T, np.hypot(self.x[:, 0], self.x[:, 1])
        H = np.zeros((len(self.x), 3, 3, 3))
        H[:, 0, 0, 0], H[:, 0, 1, 1], H[:, 0, 0, 1] = b * b / r**3, a * a / r**3, -a * b / r**3
        H[:, 1, 0, 0], H[:, 1, 1, 1], H[:, 1, 0, 1] = 2 * a * b / r**4, -2 * a * b / r**4, (b * b - a * a) / r**4
        H[:, :, 1, 0] = H[:, :, 0, 1]
        return H

    def product(self, v):
        return np.einsum("nij,nj->ni", self.jacobian(), v)

    def add_transpose(self, f, f_out):
        f_out += np.einsum("nij,ni->nj", self.jacobian(), f)

    def bias(self, v):
        return np.einsum("ncij,ni,nj->nc", self.second(), v, v)

    def add_geometric(self, f, dv, df_out, factor):
        df_out += factor * np.einsum("ncij,nc,nj->ni", self.second(), f, dv)


MAPPINGS: dict[str, tuple[Any, Any, np.ndarray]] = {
    "subset": (WeightedPoints.subset([4, 0, 4], 6), Points(6), RNG.normal(size=(6, 3))),
    "identity": (WeightedPoints.identity(3), Points(3), RNG.normal(size=(3, 3))),
    "barycentric": (
        WeightedPoints.barycentric(np.array([[0, 1, 2, 3], [2, 3, 4, 5]]), RNG.dirichlet(np.ones(4), 2), 6),
        Points(6),
        RNG.normal(size=(6, 3)),
    ),
    "frame points": (FramePoints.make(RNG.normal(size=(4, 3)), [0, 2, 1, 2]), Frames(3), random_frames(3)),
    "polar": (Polar(5), Points(5), RNG.normal(size=(5, 3)) + np.array([3.0, 1.0, 0.0])),
}
all_mappings = pytest.mark.parametrize("name", MAPPINGS)


# ---- one mapping, without the public check ----


@all_mappings
def test_jacobian_is_the_slope_of_the_positions(name):
    mapping, coordinates, x = MAPPINGS[name]
    for d in RNG.normal(size=(3, coordinates.count, coordinates.v_width)):
        slope = differentiate(lambda e, d=d: mapping.apply(coordinates.retract(x, e * d)), 1e-3)
        assert relative_error(mapping.linearize(x).product(d), slope) <= DIFFERENCED


@all_mappings
def test_transpose_is_adjoint_and_adds(name):
    mapping, coordinates, x = MAPPINGS[name]
    tangent = mapping.linearize(x)
    v, f = RNG.normal(size=(coordinates.count, coordinates.v_width)), RNG.normal(size=(mapping.count, 3))
    pulled = np.full_like(v, 7.0)
    tangent.add_transpose(f, pulled)
    assert np.sum(tangent.product(v) * f) == pytest.approx(np.sum(v * (pulled - 7.0)), rel=1e-12)


@all_mappings
def test_bias_is_the_acceleration_at_constant_velocity(name):
    """(dJ/dt) v: second derivative of the points along x moved by t v, which for a frame is a constant spin."""
    mapping, coordinates, x = MAPPINGS[name]
    v = RNG.normal(size=(coordinates.count, coordinates.v_width))
    path = lambda t: mapping.apply(coordinates.retract(x, t * v))  # noqa: E731
    h = 2e-3
    second = (-path(2 * h) + 16 * path(h) - 30 * path(0) + 16 * path(-h) - path(-2 * h)) / (12 * h * h)
    found = mapping.linearize(x).bias(v)
    assert np.abs(found - second).max() <= 1e-7  # rounding 1e-15 over h² = 4e-6, truncation h^4
    if name in ("frame points", "polar"):
        assert np.abs(found).max() > 0.1


@all_mappings
def test_geometric_part_is_the_slope_of_the_pulled_force(name):
    mapping, coordinates, x = MAPPINGS[name]
    d, f = RNG.normal(size=(coordinates.count, coordinates.v_width)), RNG.normal(size=(mapping.count, 3))

    def pulled(x):
        out = np.zeros_like(d)
        mapping.linearize(x).add_transpose(f, out)
        return out

    found = np.full_like(d, -4.0)
    mapping.linearize(x).add_geometric(f, d, found, 1.7)
    slope = differentiate(lambda e: pulled(coordinates.retract(x, e * d)), 1e-3)
    assert np.abs(found + 4.0 - 1.7 * slope).max() <= 1e-8 * np.linalg.norm(f) * np.linalg.norm(d)


@all_mappings
def test_the_public_check_agrees(name):
    mapping, coordinates, x = MAPPINGS[name]
    report = check_derivatives(mapping, x, RNG.normal(size=(coordinates.count, coordinates.v_width)), step=1e-3)
    assert report.is_ok, str(report)
    assert len(report.errors) == 4


@pytest.mark.parametrize("name", ["subset", "barycentric", "frame points"])
def test_jacobian_rows_are_the_same_matrix(name):
    mapping, coordinates, x = MAPPINGS[name]
    tangent = mapping.linearize(x)
    rows = tangent.jacobian_rows()
    v = RNG.normal(size=(coordinates.count, coordinates.v_width))
    blocks = v.reshape(-1, 3)
    for i, expected in enumerate(tangent.product(v)):
        entries = range(rows.ptr[i], rows.ptr[i + 1])
        np.testing.assert_allclose(sum(rows.blocks[e] @ blocks[rows.cols[e]] for e in entries), expected, atol=1e-14)


def test_geometric_blocks_are_the_products_and_can_be_made_definite():
    """[r]x [F]x: its skew part is half the moment; asked definite, nothing positive is left."""
    mapping, _, x = MAPPINGS["frame points"]
    tangent, f = mapping.linearize(x), RNG.normal(size=(mapping.count, 3))
    blocks = tangent.geometric_blocks(f, definite=False)
    d, out = RNG.normal(size=(3, 6)), np.zeros((3, 6))
    tangent.add_geometric(f, d, out, 1.0)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", blocks, d[:, 3:]), out[:, 3:], atol=1e-13)
    moment = np.zeros((3, 6))
    tangent.add_transpose(f, moment)
    np.testing.assert_allclose(rotations.axial(blocks), moment[:, 3:] / 2, atol=1e-13)
    definite = tangent.geometric_blocks(f, definite=True)
    assert np.linalg.eigvalsh(blocks + np.swapaxes(blocks, 1, 2)).max() > 0.1
    assert np.linalg.eigvalsh(definite).max() <= 1e-13
    np.testing.assert_allclose(definite, np.swapaxes(definite, 1, 2), atol=1e-14)


# ---- the check of derivatives can fail ----


@dataclass(frozen=True)
class Faulty:
    """Points on frames with one fault."""

    inner: FramePoints
    fault: str

    @property
    def count(self):
        return self.inner.count

    def apply(self, x):
        return self.inner.apply(x)

    def linearize(self, x):
        return FaultyTangent(self.inner.linearize(x), self.fault)


@dataclass(frozen=True)
class FaultyTangent:
    inner: FramePointsTangent
    fault: str

    def product(self, v):
        if self.fault == "body axes forgotten":
            return v[self.inner.mapping.frame, :3] + np.cross(v[self.inner.mapping.frame, 3:], self.inner.mapping.local)
        return self.inner.product(v)

    def add_transpose(self, f, f_out):
        if self.fault == "torque sign":
            m = self.inner.mapping
            flipped = replace(m, local=-m.local)
            return FramePointsTangent(flipped, self.inner.R).add_transpose(f, f_out)
        return self.inner.add_transpose(f, f_out)

    def bias(self, v):
        sign = {"no bias": 0.0, "bias sign": -1.0}.get(self.fault, 1.0)
        return sign * self.inner.bias(v)

    def add_geometric(self, f, dv, df_out, factor):
        sign = {"no geometric term": 0.0, "geometric sign": -1.0}.get(self.fault, 1.0)
        if self.fault == "symmetric part only":
            blocks = self.inner.geometric_blocks(f, definite=False)
            symmetric = (blocks + np.swapaxes(blocks, 1, 2)) / 2
            df_out[:, 3:] += factor * np.einsum("nij,nj->ni", symmetric, dv[:, 3:])
        else:
            self.inner.add_geometric(f, dv, df_out, sign * factor)


ADJOINT, GEOMETRIC = "<J d, f> = <d, J^T f>", "geometric d(J^T f)/dx"
MAPPING_FAULTS = {
    "none": set(),
    "body axes forgotten": {"J = dm/dx", ADJOINT},
    "torque sign": {ADJOINT, GEOMETRIC},
    "no bias": {"bias (dJ/dt) v"},
    "bias sign": {"bias (dJ/dt) v"},
    "no geometric term": {GEOMETRIC},
    "geometric sign": {GEOMETRIC},
    "symmetric part only": {GEOMETRIC},
}


@pytest.mark.parametrize("size", [1.0, 1e-3], ids=["metres", "millimetres"])
@pytest.mark.parametrize("fault", MAPPING_FAULTS)
def test_the_check_names_each_fault_of_a_mapping(fault, size):
    mapping, _, x = MAPPINGS["frame points"]
    small = replace(mapping, local=size * mapping.local)
    x = np.hstack([size * x[:, :3], x[:, 3:]])
    report = check_derivatives(Faulty(small, fault), x, RNG.normal(size=(3, 6)), step=1e-3)
    wrong = {name for name, error in report.errors.items() if not error <= report.tolerance}
    expected = MAPPING_FAULTS[fault]
    if fault == "body axes forgotten":
        wrong -= {"bias (dJ/dt) v"}  # its J does not change with time as the bias says
    assert wrong == expected, str(report)


# ---- through a system: chains, joins, combinations ----


def two_bodies() -> tuple[sp.Scene, Any, Any, Any]:
    scene = sp.Scene()
    box = scene.add(
        sp.RigidBody.box((0.3, 0.2, 0.4), density=700), at=(0.5, 0.2, 1.0), rotation=(0.3, -0.5, 0.8), name="box"
    )
    rod = scene.add(
        sp.RigidBody.cylinder(0.1, 0.5, density=900), at=(-0.4, 0.1, 0.9), rotation=(1.0, 0.2, 0.1), name="rod"
    )
    dots = scene.add(sp.Particles(RNG.normal(size=(4, 3)), 0.3), name="dots")
    return scene, box, rod, dots


def moved(system: Any, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return system.retract(system.x0, 0.2 * rng.normal(size=system.v_size)), rng.normal(size=system.v_size)


def chained_scene() -> sp.Scene:
    """Points on two frames and particles, joined, some of them, averaged across bodies, and their centroid."""
    scene, box, rod, dots = two_bodies()
    a = box.points(local=RNG.uniform(-0.2, 0.2, (3, 3)))
    b = rod.points(local=RNG.uniform(-0.2, 0.2, (2, 3)))
    everything = join(a, b, dots.points([0, 2]), sp.World.points([[1.0, 1.0, 1.0]]))
    mixed = everything.combined(RNG.dirichlet(np.ones(8), 3), label="mixed")
    some = mixed.subset([2, 0])
    scene.add(sp.Springs(some, sp.World.points(RNG.normal(size=(2, 3))), 30.0, 0.5, rest_length=0.4), name="on some")
    scene.add(sp.Springs(mixed.centroid(), dots.points([3]), 20.0, rest_length=0.1), name="on the centroid")
    scene.add(sp.Springs(a, box.points(local=RNG.normal(size=(3, 3))), 5.0, rest_length=0.2), name="inside one body")
    return scene


def test_chains_and_joins_carry_positions_velocities_and_forces():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    kin = system.propagate(0.0, x, v)
    for slot in system.slots:
        if slot.is_body or slot.fixed is not None:
            continue
        d = np.random.default_rng(slot.index).normal(size=system.v_size)
        slope = differentiate(
            lambda e, d=d, k=slot.index: system.propagate(0.0, system.retract(x, e * d), v).x[k], 1e-3
        )
        pushed = kin.push(d)[slot.index]
        assert relative_error(pushed, slope) <= DIFFERENCED, slot.name
        np.testing.assert_allclose(slot_jacobian(kin, slot, system.v_size) @ d, pushed.ravel(), atol=1e-13)
        f = [np.zeros_like(w) for w in kin.v]
        f[slot.index] += np.random.default_rng(3).normal(size=f[slot.index].shape)
        work = np.sum(f[slot.index] * pushed)
        kin.pull(f)
        assert system.gather(f) @ d == pytest.approx(work, rel=1e-12)


def test_chained_forces_have_exact_tangents():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    report = check_derivatives(system, x, v, step=1e-3)
    assert report.is_ok, str(report)
    assert "assembled = products" in report.errors
    d = RNG.normal(size=system.v_size)
    kin = system.propagate(0.0, x, v)
    work = system.force(system.propagate(0.0, x, 0 * v)) @ d
    energy = lambda e: system.potential_energy(system.propagate(0.0, system.retract(x, e * d), v))  # noqa: E731
    assert work == pytest.approx(-differentiate(energy, 1e-3), rel=1e-8)
    # the dampers are at rest at v = 0 and dissipate elsewhere
    assert (system.force(kin) - system.force(system.propagate(0.0, x, 0 * v))) @ v < 0


def test_bias_of_chains_is_the_acceleration_at_constant_velocity():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    biases = system.propagate(0.0, x, v).biases()
    for slot in system.slots:
        rate = differentiate(lambda e, k=slot.index: system.propagate(0.0, system.retract(x, e * v), v).v[k], 1e-3)
        assert np.abs(biases[slot.index] - rate).max() <= 1e-8, slot.name


def test_embedded_points_of_a_soft_body_are_barycentric():
    mesh = sp.box_tets(size=(1.0, 0.4, 0.4), cells=(3, 2, 2))
    scene = sp.Scene()
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    beam = scene.add(sp.FemBody(mesh, stuff), at=(0.0, 1.0, 0.0), rotation=(0.0, 0.0, 0.7), name="beam")
    inside = beam.placement.apply(RNG.uniform([0.1, -0.1, -0.1], [0.9, 0.1, 0.1], (7, 3)))
    points = beam.points(at=inside)
    np.testing.assert_allclose(points.rest, inside, atol=1e-13)
    np.testing.assert_allclose(points.mapping.weights.sum(axis=1), 1.0, atol=1e-13)
    A = RNG.normal(size=(3, 3))  # an affine field is carried exactly
    np.testing.assert_allclose(points.mapping.apply(beam.rest @ A.T + 1.0), inside @ A.T + 1.0, atol=1e-12)
    np.testing.assert_allclose(
        beam.points("x_max").centroid().rest[0], beam.rest[mesh.node_region("x_max")].mean(axis=0)
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda s, n: n.points([0, 9]), "out of range"),
        (lambda s, n: n.points([-1, 2]), "got -1"),
        (lambda s, n: n.points([]), "selection is empty"),
        (lambda s, n: n.points("x_max"), "no named regions"),
        (lambda s, n: n.points(at=(0, 0, 0)), "no space to embed"),
        (lambda s, n: sp.World.points([[0.0, 1.0]]), "points in the world"),
        (lambda s, n: FramePoints.make([[0.0, np.nan, 1.0]]), "points on a frame"),
        (lambda s, n: s.group("all").points(), "a group has no points"),
        (lambda s, n: sp.Springs(n.points([0]), n.points([1, 2]), 1.0), "different numbers of points"),
    ],
)
def test_bad_points_are_refused(make, says):
    scene = sp.Scene()
    node = scene.add(sp.Particles(np.eye(3), 1.0), name="dots")
    with pytest.raises(InputError, match=says):
        make(scene, node)


# ---- a mapping and a force of the user's own ----


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


START, PUSH = np.array([[0.9, 0.3, 0.0], [-0.2, 1.2, 0.0]]), np.array([[0.3, 1.0, 0.0], [1.1, -0.2, 0.0]])


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


# ---- masses on mapped points ----


def inertia_of(mass: float, r: np.ndarray) -> np.ndarray:
    return mass * (r @ r * np.eye(3) - np.outer(r, r))


LUMP, AT = 0.9, np.array([0.25, -0.1, 0.3])
BODY = sp.RigidBody(2.0, (0.05, 0.08, 0.06))


def with_mapped_mass(**placed) -> sp.Scene:
    scene = sp.Scene(gravity=(0.0, 1.0, -9.81))
    node = scene.add(BODY, name="body", **placed)
    scene.add(PointMass(np.array([LUMP])), on=node.points(local=AT))
    return scene


def test_a_mapped_mass_adds_its_inertia():
    """M = J^T m J at the frame's origin: first moment and parallel axes."""
    system = with_mapped_mass(rotation=(0.4, -0.9, 0.2)).compile()
    kin = system.propagate(0.0, system.x0, system.v0)
    M = system.linearize(kin).matrix(mass=1.0).toarray()
    R = rotations.to_matrix(system.x0[3:])
    r = rotations.skew(AT)
    expected = np.block(
        [
            [(2.0 + LUMP) * np.eye(3), -LUMP * R @ r],
            [LUMP * r @ R.T, np.diag([0.05, 0.08, 0.06]) + inertia_of(LUMP, AT)],
        ]
    )
    np.testing.assert_allclose(M, expected, atol=1e-14)
    d = RNG.normal(size=6)
    np.testing.assert_allclose(system.mass_product(kin, d), expected @ d, atol=1e-13)
    np.testing.assert_allclose(system.centre_of_mass(kin), R @ AT * LUMP / (2.0 + LUMP), atol=1e-14)


def test_bias_of_a_mapped_mass_keeps_energy_and_momentum():
    """Without forces, dT/dt and the rates of both momenta vanish along (v, M^-1 bias)."""
    scene = with_mapped_mass(rotation=(0.4, -0.9, 0.2))
    scene.gravity = np.zeros(3)
    system = scene.compile()
    x, v = moved(system, 5)
    kin = system.propagate(0.0, x, v)
    dv = np.linalg.solve(system.linearize(kin).matrix(mass=1.0).toarray(), system.bias(kin))
    ahead = lambda t: system.propagate(0.0, system.retract(x, t * v), v + t * dv)  # noqa: E731
    assert abs(differentiate(lambda t: system.kinetic_energy(ahead(t)), 1e-3)) <= 1e-9
    assert np.abs(differentiate(lambda t: system.momentum(ahead(t)), 1e-3)).max() <= 1e-9


def test_bias_of_a_mapped_mass_is_lagranges():
    """bias = dT/dq - (dM/dt) q' for a mass on polar coordinates, by differencing T alone."""
    scene = sp.Scene()
    dots = scene.add(sp.Particles(START, [0.5, 0.8]), name="dots")
    scene.add(PointMass(np.array([1.5, 0.3])), on=dots.points().mapped(Polar(2)))
    system = scene.compile()
    x, v = START.ravel() + 0.1, PUSH.ravel()
    kin = system.propagate(0.0, x, v)
    energy = lambda x: system.kinetic_energy(system.propagate(0.0, x, v))  # noqa: E731
    slope = np.array([differentiate(lambda h, e=e: energy(x + h * e), 1e-3) for e in np.eye(6)])
    rate = differentiate(lambda h: system.mass_product(system.propagate(0.0, x + h * v, v), v), 1e-3)
    np.testing.assert_allclose(system.bias(kin), slope - rate, atol=1e-9)


def combined_body() -> tuple[sp.RigidBody, np.ndarray]:
    """The rigid body that frame and lump make together, and its centre of mass in the frame's axes."""
    centre = LUMP * AT / (2.0 + LUMP)
    inertia = np.diag([0.05, 0.08, 0.06]) + inertia_of(2.0, centre) + inertia_of(LUMP, AT - centre)
    return sp.RigidBody(2.0 + LUMP, inertia), centre


def fly(solver_of, dt: float, time: float) -> tuple[np.ndarray, np.ndarray]:
    """Frame of the body with a mapped mass, and of the same body in one piece, after a tumbling flight."""
    spin, velocity, turn = np.array([3.0, -2.0, 4.0]), np.array([1.0, 0.5, 2.0]), np.array([0.4, -0.9, 0.2])
    R = rotations.to_matrix(rotations.exp(turn))
    whole, centre = combined_body()
    mapped = with_mapped_mass(rotation=turn, velocity=velocity, spin=spin)
    single = sp.Scene(gravity=(0.0, 1.0, -9.81))
    single.add(whole, at=R @ centre, rotation=turn, velocity=velocity + np.cross(spin, R @ centre), spin=spin)
    ends = []
    for scene in (mapped, single):
        system, solver = scene.compile(), solver_of(dt)
        state = system.initial_state()
        for _ in range(round(time / dt)):
            assert solver.step(system, state).is_solved
        ends.append(state.x.copy())
    ends[1][:3] -= rotations.to_matrix(ends[1][3:]) @ centre
    return ends[0], ends[1]


def test_a_point_mass_on_a_frame_moves_as_one_body():
    """The same trajectory as the rigid body of the combined inertia; RK4 at 2 ms is good to 1e-9 here."""
    mapped, single = fly(sp.RungeKutta4, 2e-3, 0.5)
    np.testing.assert_allclose(mapped, single, atol=1e-8)


@cache
def one_piece_end() -> np.ndarray:
    return fly(sp.RungeKutta4, 2e-3, 0.2)[1]


@pytest.mark.parametrize(
    ("solver", "order"),
    [
        (lambda dt: sp.ImplicitEuler(dt, newton=True, newton_tolerance=1e-11), 1),
        (sp.ImplicitEuler, 1),
        (sp.Midpoint, 2),
        (sp.Newmark, 2),
    ],
    ids=["implicit Euler, Newton", "implicit Euler", "midpoint", "Newmark"],
)
def test_solvers_keep_their_order_with_a_mapped_mass(solver, order):
    """Error against RK4 of the one-piece body when dt is halved: 2^order, within a quarter of the exponent."""
    exact = one_piece_end()
    errors = [np.linalg.norm(fly(solver, dt, 0.2)[0] - exact) for dt in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)
