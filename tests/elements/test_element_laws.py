"""Laws of the elastic elements: every law on irregular tets and hexes, against differences and closed forms."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense import rotations
from supple.algebra.lanes.lane_type import LANES, load
from supple.bodies.fem import FemBody
from supple.bodies.fem.elastic import ElasticForce
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.elements.element_set import ElementSet
from supple.elements.laws import compute_tangent
from supple.elements.mass import element_masses, lumped_mass
from supple.elements.recovery import first_piola
from supple.elements.shapes import rest_gradients
from supple.geometry import HexMesh, Region, TetMesh, box_hexes, box_tets
from supple.material import Law, Material
from supple.scene.derivatives import check_derivatives, differentiate, relative_error

LAWS = list(Law)
KINDS = ["tets", "hexes"]
SIZE = np.array([1.0, 0.8, 0.9])
STUFF = Material(young=2.0e5, poisson=0.32, density=900.0)
STEP = 1e-3
"""[m] Richardson's differences at 1e-3 of the body leave 1e-11 of truncation and 1e-12 of rounding."""
DIFFERENCED = 1e-8
"""Relative agreement with differences, ten times what was asked of the tangent and far above their error."""
ROUNDING = 1e-12
"""Sums of some hundred terms of the size of the largest force."""

all_laws = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.label)
all_kinds = pytest.mark.parametrize("kind", KINDS)


@cache
def mesh_of(kind: str) -> TetMesh | HexMesh:
    """A box of 3x3x3 cells whose inner nodes are out of place: irregular, with a boundary known in closed form."""
    regular = (box_tets if kind == "tets" else box_hexes)(size=SIZE, cells=(3, 3, 3))
    nodes = regular.nodes.copy()
    nodes[inner_nodes(nodes)] += np.random.default_rng(1).uniform(-0.07, 0.07, (8, 3))
    return type(regular)(nodes, regular.elements)


def inner_nodes(nodes: np.ndarray) -> np.ndarray:
    low, high = nodes.min(axis=0), nodes.max(axis=0)
    return np.flatnonzero(((nodes > low + 1e-9) & (nodes < high - 1e-9)).all(axis=1))


@cache
def elements_of(kind: str) -> ElementSet:
    mesh = mesh_of(kind)
    return ElementSet.make(mesh.nodes, mesh.elements, np.float64(STUFF.lam), np.float64(STUFF.mu))


def random_rotation(seed: int = 0) -> np.ndarray:
    return rotations.to_matrix(rotations.normalise(np.random.default_rng(seed).normal(size=4)))


def deformed(kind: str, seed: int = 0, amount: float = 0.05) -> np.ndarray:
    """A large stretch and turn of the whole, and a random part of each node: strains of 20 to 40 %."""
    rng = np.random.default_rng(seed)
    X = mesh_of(kind).nodes
    F = random_rotation(seed) @ (np.eye(3) + 0.15 * rng.uniform(-1, 1, (3, 3)))
    return X @ F.T + amount * rng.uniform(-1, 1, X.shape) + rng.normal(size=3)


def force_at(elements: ElementSet, law: Law, x: np.ndarray) -> np.ndarray:
    f = np.zeros_like(x)
    elements.add_force(law, x, f)
    return f


def tangent_at(elements: ElementSet, law: Law, x: np.ndarray, *, definite: bool = False) -> np.ndarray:
    """K = df/dx, dense (3n, 3n)."""
    rows, cols = elements.block_pattern()
    blocks = np.zeros((len(rows), 3, 3))
    elements.add_blocks(law, x, 1.0, np.arange(len(rows), dtype=np.int32), blocks, definite=definite)
    n = elements.node_count
    K = np.zeros((n, 3, n, 3))
    np.add.at(K, (rows, slice(None), cols), blocks)
    return K.reshape(3 * n, 3 * n)


# ---- derivatives ----


@all_laws
@all_kinds
def test_force_is_the_slope_of_the_energy(law, kind):
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, law, x)
    rng = np.random.default_rng(5)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        slope = -differentiate(lambda e, d=d: elements.energy(law, x + e * d), STEP)
        size = np.linalg.norm(f) * np.linalg.norm(d)
        assert abs(np.sum(f * d) - slope) <= DIFFERENCED * size


@all_laws
@all_kinds
def test_tangent_is_the_slope_of_the_force(law, kind):
    elements, x = elements_of(kind), deformed(kind)
    K = tangent_at(elements, law, x)
    rng = np.random.default_rng(6)
    for _ in range(3):
        d = rng.normal(size=x.shape)
        slope = differentiate(lambda e, d=d: force_at(elements, law, x + e * d), STEP)
        assert relative_error(K @ d.ravel(), slope.ravel()) <= DIFFERENCED


@all_laws
@all_kinds
def test_tangent_is_symmetric(law, kind):
    K = tangent_at(elements_of(kind), law, deformed(kind))
    assert np.abs(K - K.T).max() <= ROUNDING * np.abs(K).max()


@all_laws
@all_kinds
def test_the_public_check_agrees(law, kind):
    force = ElasticForce(elements_of(kind), law)
    x = deformed(kind)
    report = check_derivatives(force, x, np.zeros_like(x))
    assert report.is_ok, str(report)
    assert set(report.errors) == {"force = -dE/dx", "K = df/dx", "B = df/dv"}


# ---- invariance and balance ----


@all_laws
@all_kinds
def test_energy_is_zero_at_rest_and_positive_elsewhere(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    scale = STUFF.young * SIZE.prod()
    assert abs(elements.energy(law, X)) <= 1e-14 * scale
    assert np.abs(force_at(elements, law, X)).max() <= ROUNDING * STUFF.young
    for seed in range(6):
        assert elements.energy(law, deformed(kind, seed)) > 1e-4 * scale


@all_laws
@all_kinds
def test_rigid_motion_gives_no_force(law, kind):
    """But under the linear law, which takes a rotation for a strain: that is its known fault, shown here."""
    elements, X = elements_of(kind), mesh_of(kind).nodes
    moved = X + np.array([3.0, -2.0, 1.0])
    turned = moved @ random_rotation(3).T
    size = STUFF.young * 0.1  # a strain of one on a face of the mesh's size
    assert np.abs(force_at(elements, law, moved)).max() <= 1e-11 * size
    force = np.abs(force_at(elements, law, turned)).max()
    if law == Law.LINEAR:
        assert force > 0.1 * size
    else:
        assert force <= 1e-11 * size
        assert abs(elements.energy(law, turned)) <= 1e-11 * STUFF.young


@all_laws
@all_kinds
def test_forces_and_moments_balance(law, kind):
    """Internal forces have no sum and no moment; the linear law's moment vanishes about the rest positions."""
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, law, x)
    size = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= ROUNDING * size
    arm = mesh_of(kind).nodes if law == Law.LINEAR else x
    assert np.abs(np.cross(arm, f).sum(axis=0)).max() <= ROUNDING * size * np.abs(arm).max()


@all_laws
@all_kinds
def test_forces_turn_with_the_body(law, kind):
    if law == Law.LINEAR:
        pytest.skip("the linear law is not objective")
    elements, x, R = elements_of(kind), deformed(kind), random_rotation(9)
    f, turned = force_at(elements, law, x), force_at(elements, law, x @ R.T)
    assert relative_error(turned, f @ R.T) <= ROUNDING
    assert elements.energy(law, x @ R.T) == pytest.approx(elements.energy(law, x), rel=ROUNDING)


@all_laws
@all_kinds
def test_all_laws_have_the_stiffness_of_linear_elasticity_at_rest(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    linear = tangent_at(elements, Law.LINEAR, X)
    assert relative_error(tangent_at(elements, law, X), linear) <= ROUNDING


@all_kinds
def test_six_motions_at_rest_cost_nothing_and_no_more(kind):
    values = np.linalg.eigvalsh(-tangent_at(elements_of(kind), Law.LINEAR, mesh_of(kind).nodes))
    assert np.abs(values[:6]).max() <= ROUNDING * values[-1]
    assert values[6] > 1e-4 * values[-1]


# ---- patch test ----


@all_laws
@all_kinds
def test_affine_motion_gives_constant_stress_and_no_inner_force(law, kind):
    mesh, elements = mesh_of(kind), elements_of(kind)
    F = np.array([[1.2, 0.1, -0.05], [0.0, 0.9, 0.15], [0.08, -0.1, 1.1]])
    x = mesh.nodes @ F.T + 0.3
    f = force_at(elements, law, x)
    inner = inner_nodes(mesh.nodes)
    assert len(inner) == 8
    assert np.abs(f[inner]).max() <= ROUNDING * np.abs(f).max()
    stress = FemBody(mesh, STUFF, law=law).stress(x).stress
    P = first_piola(law, F, STUFF.lam, STUFF.mu)
    expected = P if law == Law.LINEAR else P @ F.T / np.linalg.det(F)
    np.testing.assert_allclose(stress, np.broadcast_to(expected, stress.shape), rtol=0, atol=1e-11 * STUFF.young)
    # the boundary carries P N: by the divergence theorem sum f X^T = -V P
    np.testing.assert_allclose(f.T @ mesh.nodes, -SIZE.prod() * P, rtol=0, atol=ROUNDING * np.abs(f).sum())


# ---- the definite tangent ----


@all_laws
@all_kinds
def test_definite_tangent_has_no_positive_eigenvalue(law, kind):
    elements = elements_of(kind)
    X = mesh_of(kind).nodes
    squeezed = X * np.array([0.4, 0.9, 0.6]) + 0.03 * np.random.default_rng(2).uniform(-1, 1, X.shape)
    exact = np.linalg.eigvalsh(tangent_at(elements, law, squeezed))
    definite = np.linalg.eigvalsh(tangent_at(elements, law, squeezed, definite=True))
    if law != Law.LINEAR:
        assert exact[-1] > 1e-3 * abs(exact[0]), "the state is too mild to show anything"
    assert definite[-1] <= ROUNDING * abs(definite[0])


@all_laws
@all_kinds
def test_definite_tangent_is_the_exact_one_at_rest_and_close_near_it(law, kind):
    """What is left out is of the order of the strain."""
    elements, X = elements_of(kind), mesh_of(kind).nodes
    assert relative_error(tangent_at(elements, law, X, definite=True), tangent_at(elements, law, X)) <= ROUNDING
    errors = []
    for size in (1e-3, 1e-4):
        x = X + size * np.random.default_rng(4).uniform(-0.1, 0.1, X.shape)
        errors.append(relative_error(tangent_at(elements, law, x, definite=True), tangent_at(elements, law, x)))
    assert errors[0] <= 1e-3
    assert errors[1] <= max(0.2 * errors[0], ROUNDING)


@all_kinds
def test_stretched_elements_need_no_change(kind):
    """In pure extension each law but the linear one is convex: definite and exact agree far from rest."""
    elements, x = elements_of(kind), 1.2 * mesh_of(kind).nodes
    for law in (Law.COROTATIONAL, Law.STVK):
        K = tangent_at(elements, law, x)
        assert relative_error(tangent_at(elements, law, x, definite=True), K) <= ROUNDING


# ---- inverted elements ----


@pytest.mark.parametrize("squash", [0.0, -0.05, -0.5, -2.0])
@all_kinds
def test_neo_hookean_is_finite_and_pushes_back_when_inverted(kind, squash):
    mesh, elements = mesh_of(kind), elements_of(kind)
    x = mesh.nodes * np.array([squash, 1.0, 1.0])
    f = force_at(elements, Law.NEO_HOOKEAN, x)
    K = tangent_at(elements, Law.NEO_HOOKEAN, x)
    assert np.isfinite(f).all()
    assert np.isfinite(K).all()
    assert np.isfinite(elements.energy(Law.NEO_HOOKEAN, x))
    towards_rest = mesh.nodes * np.array([1.0, 0.0, 0.0])
    assert np.sum(f * towards_rest) > 0


@all_laws
@all_kinds
def test_forces_and_tangents_are_finite_for_crumpled_elements(law, kind):
    elements, X = elements_of(kind), mesh_of(kind).nodes
    x = np.random.default_rng(8).normal(size=X.shape)
    assert np.isfinite(force_at(elements, law, x)).all()
    assert np.isfinite(tangent_at(elements, law, x)).all()
    definite = tangent_at(elements, law, x, definite=True)
    values = np.linalg.eigvalsh(definite)
    assert values[-1] <= ROUNDING * abs(values[0])


# ---- rivals ----


@all_laws
@all_kinds
def test_kernels_equal_the_formulas_in_numpy(law, kind):
    """f_a = -sum_q w_q P(F_q) g_a with the stress written a second time."""
    mesh, x = mesh_of(kind), deformed(kind)
    gradients, weights = rest_gradients(mesh.nodes, mesh.elements)
    F = np.einsum("eai,eqaj->eqij", x[mesh.elements], gradients)
    P = first_piola(law, F, np.full(F.shape[:2], STUFF.lam), np.full(F.shape[:2], STUFF.mu))
    local = -np.einsum("eq,eqij,eqaj->eai", weights, P, gradients)
    expected = np.zeros_like(x)
    np.add.at(expected, mesh.elements, local)
    assert relative_error(force_at(elements_of(kind), law, x), expected) <= ROUNDING


@all_laws
def test_first_piola_is_what_the_energy_says(law):
    """P = dpsi/dF of the energies in the module's docstring, written here a third time."""
    rng = np.random.default_rng(10)
    lam, mu = STUFF.lam, STUFF.mu
    F = random_rotation(10) @ (np.eye(3) + 0.3 * rng.uniform(-1, 1, (3, 3)))

    def psi(F):
        if law == Law.LINEAR:
            e = (F + F.T) / 2 - np.eye(3)
            return mu * np.sum(e * e) + lam / 2 * np.trace(e) ** 2
        if law == Law.COROTATIONAL:
            s = np.linalg.svd(F, compute_uv=False)
            return mu * np.sum((s - 1) ** 2) + lam / 2 * np.sum(s - 1) ** 2
        if law == Law.STVK:
            e = (F.T @ F - np.eye(3)) / 2
            return mu * np.sum(e * e) + lam / 2 * np.trace(e) ** 2
        m, l = 4 / 3 * mu, lam + 5 / 6 * mu
        I, J, a = np.sum(F * F), np.linalg.det(F), 1 + 3 * m / (4 * l)
        return m / 2 * (I - 3) - m / 2 * np.log(I + 1) + l / 2 * (J - a) ** 2

    P = first_piola(law, F, lam, mu)
    D = rng.normal(size=(3, 3))
    assert np.sum(P * D) == pytest.approx(differentiate(lambda e: psi(F + e * D), 1e-3), rel=DIFFERENCED)


@compiled
def tangent_of_lanes(law, F_lanes, lam, mu, definite, work, C_out):
    """Call `compute_tangent` on 9 groups of lanes."""
    F = (
        load(F_lanes, 0, LANES),
        load(F_lanes, LANES, LANES),
        load(F_lanes, 2 * LANES, LANES),
        load(F_lanes, 3 * LANES, LANES),
        load(F_lanes, 4 * LANES, LANES),
        load(F_lanes, 5 * LANES, LANES),
        load(F_lanes, 6 * LANES, LANES),
        load(F_lanes, 7 * LANES, LANES),
        load(F_lanes, 8 * LANES, LANES),
    )
    compute_tangent(law, F, load(lam, 0, LANES), load(mu, 0, LANES), definite, work, C_out)


@all_laws
def test_tangent_kernel_writes_its_whole_triangle_over_poison(law):
    rng = np.random.default_rng(11)
    F = random_rotation(1) @ (np.eye(3) + 0.2 * rng.uniform(-1, 1, (LANES, 3, 3)))
    lam, mu = np.full(LANES, STUFF.lam), np.full(LANES, STUFF.mu)
    work, C = np.full(36 * LANES, np.nan), np.full(81 * LANES, np.nan)
    tangent_of_lanes(int(law), np.ascontiguousarray(F.reshape(LANES, 9).T).ravel(), lam, mu, False, work, C)
    upper = np.triu_indices(9)
    found = C.reshape(9, 9, LANES)[upper]
    assert np.isfinite(found).all()
    expected = np.empty((9, 9, LANES))
    for k in range(9):
        D = np.zeros((3, 3))
        D.flat[k] = 1.0
        slope = differentiate(lambda e, D=D: first_piola(law, F + e * D, lam, mu), STEP)
        expected[:, k] = slope.reshape(LANES, 9).T
    np.testing.assert_allclose(found, expected[upper], rtol=0, atol=DIFFERENCED * np.abs(expected).max())


def test_tangents_are_values_and_their_memory_is_cleared():
    """A tangent keeps its state when the force is used elsewhere; memory it takes over holds poison."""
    force, x = ElasticForce(elements_of("tets"), Law.STVK), deformed("tets")
    d = np.random.default_rng(0).normal(size=x.shape)
    tangent = force.linearize(LocalState(0.0, x, np.zeros_like(x)))
    first, again = np.zeros_like(x), np.zeros_like(x)
    tangent.add_product(d, first, 1.0, 0.0)
    other = force.linearize(LocalState(0.0, deformed("tets", 2), np.zeros_like(x)))
    other.add_product(d, np.zeros_like(x), 1.0, 0.0)
    tangent.add_product(d, again, 1.0, 0.0)
    assert np.array_equal(first, again)
    other.matrix.data[:] = np.nan
    del other
    fresh = np.zeros_like(x)
    force.linearize(LocalState(0.0, x, np.zeros_like(x))).add_product(d, fresh, 1.0, 0.0)
    assert np.array_equal(first, fresh)


@all_kinds
def test_forces_add_to_what_is_there(kind):
    elements, x = elements_of(kind), deformed(kind)
    f = force_at(elements, Law.COROTATIONAL, x)
    twice = f.copy()
    elements.add_force(Law.COROTATIONAL, x, twice)
    assert relative_error(twice, 2 * f) <= ROUNDING


# ---- damping ----


def damping_force(force: ElasticForce, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    f = np.zeros_like(x)
    force.add_force(LocalState(0.0, x, v), f)
    return f - force_at(force.elements, force.law, x)


@all_laws
@all_kinds
def test_stiffness_damping_dissipates_and_keeps_momentum(law, kind):
    """Power < 0; sums of forces and, but for the linear law, of moments vanish in a turned and strained body."""
    x, force = deformed(kind), ElasticForce(elements_of(kind), law, 0.01)
    rng = np.random.default_rng(12)
    for _ in range(5):
        v = rng.normal(size=x.shape)
        f = damping_force(force, x, v)
        size = np.abs(f).sum()
        assert np.sum(f * v) < 0
        assert np.abs(f.sum(axis=0)).max() <= ROUNDING * size
        if law != Law.LINEAR:
            assert np.abs(np.cross(x, f).sum(axis=0)).max() <= ROUNDING * size * np.abs(x).max()


@all_laws
@all_kinds
def test_stiffness_damping_leaves_rigid_motion_alone(law, kind):
    """In a turned and strained body too; the linear law, which does not know turned bodies, in its rest shape."""
    x = mesh_of(kind).nodes if law == Law.LINEAR else deformed(kind)
    force = ElasticForce(elements_of(kind), law, 0.01)
    rigid = np.array([1.0, 2.0, 3.0]) + np.cross([0.3, -0.2, 0.5], x)
    any_motion = np.random.default_rng(14).normal(size=x.shape)
    size = np.abs(damping_force(force, x, any_motion)).max()
    assert np.abs(damping_force(force, x, rigid)).max() <= 1e2 * ROUNDING * size  # rounding of the elastic force


@all_laws
@all_kinds
def test_damping_at_rest_is_rayleighs(law, kind):
    """f = beta K v at the rest shape, in whatever rotation it stands."""
    elements, beta = elements_of(kind), 0.01
    R = np.eye(3) if law == Law.LINEAR else rotations.to_matrix(rotations.exp([0.9, -0.4, 1.3]))
    x = mesh_of(kind).nodes @ R.T
    v = np.random.default_rng(15).normal(size=x.shape)
    expected = beta * tangent_at(elements, law, x) @ v.ravel()
    assert relative_error(damping_force(ElasticForce(elements, law, beta), x, v).ravel(), expected) <= 1e-10


@all_laws
@all_kinds
@pytest.mark.parametrize("squeeze", [1.0, 0.6])
def test_damped_tangents_are_exact(law, kind, squeeze):
    """K and B of a moving body, also where the elastic stiffness is indefinite."""
    force, x = ElasticForce(elements_of(kind), law, 0.01), squeeze * deformed(kind)
    v = 3.0 * np.random.default_rng(13).normal(size=x.shape)
    report = check_derivatives(force, x, v, step=STEP, tolerance=DIFFERENCED)
    assert report.is_ok, str(report)


@all_laws
@all_kinds
def test_a_definite_tangent_of_a_damped_body_is_symmetric(law, kind):
    force, x = ElasticForce(elements_of(kind), law, 0.01), deformed(kind)
    v = np.random.default_rng(16).normal(size=x.shape)
    tangent = force.linearize(LocalState(0.0, x, v), definite=True)
    for factors in ((1.0, 0.0), (0.0, 1.0)):
        A = np.zeros((x.size, x.size))
        for row, d in zip(A, np.eye(x.size)):
            tangent.add_product(d.reshape(-1, 3), row.reshape(-1, 3), *factors)
        assert np.abs(A - A.T).max() <= ROUNDING * np.abs(A).max()
        assert np.linalg.eigvalsh(A)[-1] <= 1e-9 * np.abs(A).max()


# ---- recovery ----


@pytest.mark.parametrize("s", [0.7, 1.0, 1.4])
@all_laws
@all_kinds
def test_stress_of_a_confined_stretch(law, kind, s):
    """F = diag(s, 1, 1), closed form law by law, in a body that stands turned in the world."""
    lam, mu = STUFF.lam, STUFF.mu
    if law == Law.LINEAR or law == Law.COROTATIONAL:
        along, across = (lam + 2 * mu) * (s - 1), lam * (s - 1)
        across = across if law == Law.LINEAR else across / s
    elif law == Law.STVK:
        green = (s * s - 1) / 2
        along, across = s * (lam + 2 * mu) * green, lam * green / s
    else:
        m, l, I = 4 / 3 * mu, lam + 5 / 6 * mu, s * s + 2
        p = l * (s - 1) - 0.75 * m
        along, across = m * (1 - 1 / (I + 1)) * s + p, (m * (1 - 1 / (I + 1)) + p * s) / s
    mesh = mesh_of(kind)
    body = FemBody(mesh, STUFF, law=law)
    x = mesh.nodes * np.array([s, 1.0, 1.0])
    found = body.stress(x)
    close = {"rtol": 0, "atol": 1e-11 * STUFF.young}
    expected = np.broadcast_to(np.diag([along, across, across]), found.stress.shape)
    np.testing.assert_allclose(found.stress, expected, **close)
    np.testing.assert_allclose(found.von_mises, abs(along - across), **close)
    strain = s - 1 if law == Law.LINEAR else (s * s - 1) / 2
    np.testing.assert_allclose(found.strain[:, 0, 0], strain, atol=1e-13)
    if law != Law.LINEAR:
        R = random_rotation(2)
        placement = Placement(np.array([1.0, 2.0, 3.0]), rotations.from_matrix(R))
        turned = body.stress(placement.apply(x), placement)
        np.testing.assert_allclose(turned.stress, R @ expected @ R.T, **close)


@all_laws
def test_small_uniaxial_tension_gives_youngs_modulus(law):
    mesh, strain = mesh_of("tets"), 1e-6
    stretch = 1 + strain * np.array([1.0, -STUFF.poisson, -STUFF.poisson])
    stress = FemBody(mesh, STUFF, law=law).stress(mesh.nodes * stretch).stress
    expected = np.diag([STUFF.young * strain, 0.0, 0.0])
    # second-order terms of the nonlinear laws are of the size of the strain
    np.testing.assert_allclose(stress, np.broadcast_to(expected, stress.shape), atol=5 * strain**2 * STUFF.young)


# ---- mass ----


def box_inertia(mass):
    return mass / 12 * np.diag(np.sum(SIZE**2) - SIZE**2)


@all_kinds
def test_consistent_mass_has_the_total_and_the_energy_of_rigid_motion(kind):
    """Quadratic integrands are exact: v = a + w × x over a box of known inertia."""
    mesh = mesh_of(kind)
    body = FemBody(mesh, STUFF, mass="consistent")
    total = STUFF.density * SIZE.prod()
    assert body.total_mass == pytest.approx(total, rel=1e-13)
    centre = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    a, w = np.array([0.3, -1.0, 2.0]), np.array([1.5, 0.4, -0.7])
    v = a + np.cross(w, mesh.nodes - centre)
    p = np.zeros_like(v)
    body.point_mass.add_product(v, p, 1.0)
    expected = 0.5 * total * a @ a + 0.5 * w @ box_inertia(total) @ w
    assert 0.5 * np.sum(p * v) == pytest.approx(expected, rel=1e-12)
    momentum = body.point_mass.momentum(LocalState(0.0, mesh.nodes - centre, v))
    np.testing.assert_allclose(momentum[:3], total * a, rtol=1e-12)
    np.testing.assert_allclose(momentum[3:], box_inertia(total) @ w, rtol=1e-12)


@all_kinds
def test_consistent_mass_is_symmetric_positive_and_sums_to_the_lumped(kind):
    mesh = mesh_of(kind)
    m = FemBody(mesh, STUFF, mass="consistent").point_mass.m.toarray()
    assert np.abs(m - m.T).max() <= 1e-15 * np.abs(m).max()
    assert np.linalg.eigvalsh(m)[0] > 0
    lumped = lumped_mass(mesh.nodes, mesh.elements, np.float64(STUFF.density))
    np.testing.assert_allclose(m.sum(axis=1), lumped, rtol=1e-13)
    assert (lumped > 0).all()
    assert lumped.sum() == pytest.approx(STUFF.density * SIZE.prod(), rel=1e-13)


@all_kinds
def test_mass_solve_inverts_the_product(kind):
    mesh = mesh_of(kind)
    for choice in ("lumped", "consistent"):
        mass = FemBody(mesh, STUFF, mass=choice).point_mass
        v, p = np.random.default_rng(0).normal(size=mesh.nodes.shape), np.zeros_like(mesh.nodes)
        mass.add_product(v, p, 1.0)
        np.testing.assert_allclose(mass.solve(p), v, atol=1e-12)


def test_density_of_each_element_counts():
    mesh = mesh_of("tets")
    density = np.linspace(100.0, 1000.0, len(mesh.elements))
    volumes = element_masses(mesh.nodes, mesh.elements, np.float64(1.0)).sum(axis=(1, 2))
    m = lumped_mass(mesh.nodes, mesh.elements, density)
    assert m.sum() == pytest.approx(density @ volumes, rel=1e-13)


def test_elements_of_two_materials_share_the_force():
    """One body of two regions: its forces are those of its parts, and the energy is their sum."""
    mesh = mesh_of("tets")
    middle = mesh.nodes[mesh.elements].mean(axis=1)[:, 0]
    left = np.flatnonzero(middle < 0.5)
    right = np.flatnonzero(middle >= 0.5)
    tagged = TetMesh(mesh.nodes, mesh.elements, {"soft": Region(elements=left), "hard": Region(elements=right)})
    soft = Material(young=1e5, poisson=0.2, density=500, name="soft")
    hard = Material(young=1e6, poisson=0.4, density=2000, name="hard")
    placed = FemBody(tagged, {"soft": soft, "hard": hard}).place(Placement())
    x = deformed("tets")
    f, energy = np.zeros_like(x), 0.0
    for _, force in placed.forces:
        force.add_force(LocalState(0.0, x, np.zeros_like(x)), f)
        energy += force.energy(LocalState(0.0, x, np.zeros_like(x)))
    lam, mu = np.empty(len(mesh.elements)), np.empty(len(mesh.elements))
    lam[left], mu[left], lam[right], mu[right] = soft.lam, soft.mu, hard.lam, hard.mu
    whole = ElementSet.make(mesh.nodes, mesh.elements, lam, mu)
    assert relative_error(f, force_at(whole, Law.COROTATIONAL, x)) <= ROUNDING
    assert energy == pytest.approx(whole.energy(Law.COROTATIONAL, x), rel=ROUNDING)
