"""Modes, derivatives, attachment modes and bases of solids, held and free, against second ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.lanes.lane_type import LANES
from supple.algebra.sparse import eigenpairs
from supple.algebra.sparse.lanczos import block_lanczos
from supple.bodies.fem.elastic import ElasticForce
from supple.bodies.protocols import LocalState
from supple.elements.element_set import ElementSet
from supple.errors import InputError
from supple.geometry import TetMesh, box_hexes, box_tets
from supple.material import Law, Material
from supple.modal import (
    Attachment,
    ElasticSolid,
    Interface,
    Support,
    attachment_modes,
    linear_modes,
    modal_derivatives,
    reduced_basis,
    vibration,
)
from supple.modal.basis import mass_principal_components
from supple.modal.derivative_kernels import add_second_differential
from supple.modal.derivatives import pair_indices, second_differential
from supple.modal.interfaces.interface_kernels import interface_motion
from supple.modal.support import rigid_motions

RUBBER = Material(young=1e6, poisson=0.3, density=1000.0)
MESHES = [box_tets(size=(1.0, 0.2, 0.3), cells=(5, 1, 2)), box_hexes(size=(1.0, 0.2, 0.3), cells=(5, 1, 2))]
kinds = pytest.mark.parametrize("mesh", MESHES, ids=["tets", "hexes"])


def crooked(mesh):
    """The tets with their nodes moved, so that no symmetry hides a mistake."""
    return TetMesh(mesh.nodes + np.random.default_rng(1).uniform(-0.02, 0.02, mesh.nodes.shape), mesh.elements)


def scene_frequencies(mesh, mass, fix, count):
    """By the assembled system of a scene, which shares no assembly with the modal folder."""
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, RUBBER, law="linear", mass=mass), **({"fix": fix} if fix else {}))
    return sp.vibration_modes(scene.compile(), count).frequencies


@kinds
@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_frequencies_are_those_of_the_scene(mesh, mass):
    modes = linear_modes(Support(ElasticSolid(mesh, RUBBER, mass=mass), "x_min"), 6)
    np.testing.assert_allclose(modes.frequencies, scene_frequencies(mesh, mass, "x_min", 6), rtol=1e-9)


@kinds
def test_free_modes_are_elastic_alone(mesh):
    solid = ElasticSolid(mesh, RUBBER)
    modes = linear_modes(Support(solid), 5)
    np.testing.assert_allclose(modes.frequencies, scene_frequencies(mesh, "consistent", None, 11)[6:], rtol=1e-8)
    moved = solid.mass_product(modes.shapes).reshape(-1, 3, 5)
    scale = np.sqrt(solid.total_mass)  # of int rho U for a mode of unit mass norm
    assert np.abs(moved.sum(axis=0)).max() < 1e-12 * scale
    assert np.abs(np.cross(mesh.nodes[:, :, None], moved, axis=1).sum(axis=0)).max() < 1e-12 * scale


@pytest.mark.parametrize(("fixed", "left"), [(None, 6), ([0], 3), ([0, 7], 1), ("line", 1), ([0, 7, 22], 0)])
def test_held_nodes_leave_their_rigid_motions(fixed, left):
    mesh = MESHES[0]
    if fixed == "line":
        fixed = mesh.node_region(lambda x: (x[:, 1] == x[0, 1]) & (x[:, 2] == x[0, 2]))
    solid = ElasticSolid(crooked(mesh) if left != 1 else mesh, RUBBER)
    support = Support(solid, fixed)
    R = support.rigid_modes
    assert R.shape[1] == left
    np.testing.assert_allclose(R.T @ solid.mass_product(R), np.eye(left), atol=1e-13)
    assert np.abs(solid.stiffness @ R).max(initial=0.0) < 1e-8 * abs(solid.stiffness).max()
    modes = linear_modes(support, 3)
    assert np.abs(R.T @ solid.mass_product(modes.shapes)).max(initial=0.0) < 1e-12
    load = np.random.default_rng(2).normal(size=(3 * solid.node_count, 2))
    u = support.static_response(load)
    miss = (solid.stiffness @ u - support.in_equilibrium(load))[support.free]
    assert np.abs(miss).max() < 1e-8 * np.abs(load).max()
    assert np.abs(R.T @ solid.mass_product(u)).max(initial=0.0) < 1e-10 * np.abs(u).max()
    np.testing.assert_array_equal(u.reshape(-1, 3, 2)[support.fixed_nodes], 0.0)


def test_results_repeat_and_signs_are_fixed():
    solid = ElasticSolid(crooked(MESHES[0]), RUBBER)  # without symmetry there is one largest component
    first, second = (reduced_basis(Support(solid, [0, 1, 2, 3]), 7).U for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.all(first[np.abs(first).argmax(axis=0), np.arange(7)] > 0)


def test_equal_modes_of_a_square_rod_are_turned_alike(monkeypatch):
    """Bending in y and in z has one value; whatever the search found, the basis is the same, its last pair cut too."""
    mesh = box_hexes(size=(1.0, 0.2, 0.2), cells=(8, 2, 2))
    support = Support(ElasticSolid(mesh, RUBBER), "x_min")
    modes = linear_modes(support, 7)
    equal = np.abs(np.diff(modes.values)) < 1e-9 * modes.values[1:]
    assert equal[0]
    along = np.linalg.norm(modes.shapes[:, :2].reshape(-1, 3, 2), axis=0)
    assert along[2, 0] < 0.01 * along[1, 0]  # the first bends in y, but for the section's own bending
    assert along[1, 1] < 0.01 * along[2, 1]
    bases = []
    for width in (8, 5):
        monkeypatch.setattr(block_lanczos, "BLOCK", width)
        bases.append(reduced_basis(support, 7).U)
    np.testing.assert_allclose(bases[1], bases[0], atol=1e-6 * np.abs(bases[0]).max())


def test_large_and_small_solids_have_the_same_modes(monkeypatch):
    """Block Lanczos on static responses against the dense method, held, hinged on a line, and free."""
    solid = ElasticSolid(crooked(box_tets(size=(1.0, 0.2, 0.3), cells=(6, 2, 2))), RUBBER)
    for fixed in ("x_min", [0, 1], None):
        support = Support(solid, fixed)
        sparse = linear_modes(support, 8)
        with monkeypatch.context() as patch:
            patch.setattr(vibration, "DENSE_SIZE", 10_000)
            patch.setattr(eigenpairs, "DENSE_SIZE", 10_000)
            dense = linear_modes(support, 8)
        np.testing.assert_allclose(sparse.values, dense.values, rtol=1e-9)
        np.testing.assert_allclose(sparse.shapes, dense.shapes, atol=1e-6 * np.abs(dense.shapes).max())


def test_the_hessian_is_the_difference_of_tangents():
    """K(u) of St. Venant-Kirchhoff is quadratic in u, so a central difference is exact but for rounding."""
    mesh = crooked(MESHES[0])
    U = np.random.default_rng(3).normal(size=(3 * len(mesh.nodes), 3))
    elements = ElementSet.make(mesh.nodes, mesh.elements, RUBBER.lam, RUBBER.mu)
    H = second_differential(ElasticSolid(mesh, RUBBER), U)
    for column, (i, j) in enumerate(zip(*pair_indices(3), strict=True)):
        expected = np.zeros_like(mesh.nodes)
        for sign in (1.0, -1.0):
            x = mesh.nodes + sign * 0.1 * U[:, i].reshape(-1, 3)
            tangent = ElasticForce(elements, Law.STVK).linearize(LocalState(0.0, x, np.zeros_like(x)))
            tangent.add_product(U[:, j].reshape(-1, 3).copy(), expected, -sign / 0.2, 0.0)
        error = np.linalg.norm(H[:, column] - expected.ravel()) / np.linalg.norm(expected)
        assert error < 1e-12, (i, j)


def test_the_points_of_a_hex_are_enough_for_its_hessian():
    """The integrand has degree 3 in each coordinate of a box: two points are exact, so 27 change nothing."""
    solid = ElasticSolid(MESHES[1], RUBBER)
    U = np.random.default_rng(3).normal(size=(solid.node_count, 3, LANES))
    few = second_differential(solid, U[..., :3].reshape(-1, 3))
    out = np.zeros((solid.node_count, 3, 6))
    lam, mu = (solid.element_values(name) for name in ("lam", "mu"))
    add_second_differential(solid.mesh.elements, *solid.quadrature, lam, mu, U, 3, out)
    assert solid.quadrature.weights.shape[1] == 27
    np.testing.assert_allclose(few, out.reshape(-1, 6), atol=1e-13 * np.abs(out).max())


def test_derivatives_bend_the_static_response():
    """u(p) of f(u) = M psi lambda p has u" = phi, here by differences of nonlinear static solutions."""
    support = Support(ElasticSolid(MESHES[0], RUBBER), "x_min")
    solid, modes = support.solid, linear_modes(support, 1)
    phi = modal_derivatives(support, modes.shapes)[:, 0]
    elements = ElementSet.make(solid.mesh.nodes, solid.mesh.elements, RUBBER.lam, RUBBER.mu)
    load = modes.values[0] * solid.mass_product(modes.shapes)[:, 0]

    def static(p):
        u = np.zeros(3 * solid.node_count)
        for _ in range(40):  # the rest stiffness is near enough for such small loads
            f = np.zeros_like(solid.mesh.nodes)
            elements.add_force(Law.STVK, solid.mesh.nodes + u.reshape(-1, 3), f)
            u += support.static_response((p * load + f.ravel())[:, None])[:, 0]
        return u

    h = 2e-3 / np.abs(modes.shapes).max()
    second = (static(h) + static(-h)) / h**2
    # The error is of order h², about (2e-3 / thickness)² here.
    assert np.linalg.norm(second - phi) < 1e-3 * np.linalg.norm(phi)


@pytest.mark.parametrize("face", ["planar", "thick"])
def test_unit_loads_have_unit_force_and_torque_and_work_on_the_fit(face):
    mesh = crooked(MESHES[0]) if face == "thick" else MESHES[0]
    nodes = mesh.node_region(lambda x: x[:, 0] > (0.7 if face == "thick" else 0.99))
    weights = np.random.default_rng(4).uniform(1, 2, len(nodes))
    interface = Interface(mesh.nodes, nodes, weights=weights)
    assert interface.is_planar == (face == "planar")
    loads = interface.unit_loads().reshape(-1, 3, 6)
    torque = np.cross((mesh.nodes - interface.x_hat)[:, :, None], loads, axis=1).sum(axis=0)
    np.testing.assert_allclose(np.vstack([loads.sum(axis=0), torque]), np.eye(6), atol=1e-12)
    U = np.random.default_rng(5).normal(size=(3 * len(mesh.nodes), 4))
    fit = interface.fit(U)
    motion = interface_motion(fit, np.zeros((1, 4)), np.zeros((1, 4)))
    np.testing.assert_allclose(loads.reshape(-1, 6).T @ U, np.vstack([fit.a_hat, motion.Gamma[0]]), atol=1e-12)


def test_attachment_modes_compete_and_carry_the_tip_load():
    """Of ten places, attachment modes win enough to bend and twist as the mesh does; clamped modes alone do not."""
    mesh = box_tets(size=(0.4, 0.1, 0.1), cells=(6, 2, 2))
    support = Support(ElasticSolid(mesh, RUBBER), "x_min")
    interface = Interface(mesh.nodes, mesh.node_region("x_max"))
    loads, K = interface.unit_loads(), support.solid.stiffness
    exact = np.diag(loads.T @ attachment_modes(support, interface))

    def lost(attachments):
        U = reduced_basis(support, 10, attachments=attachments).U
        reduced = U.T @ loads
        return 1 - np.diag(reduced.T @ np.linalg.solve(U.T @ (K @ U), reduced)) / exact

    tip = Attachment(interface, mass=support.solid.total_mass, arm=0.2)
    without, with_tip = lost([]), lost([tip])
    assert with_tip[1:].max() < 0.01 < without[1:].max()  # forces across, torques; the rod hardly stretches
    assert np.all(with_tip > -1e-12)  # a smaller space is never softer


@pytest.mark.parametrize(("length", "density"), [(3.0, 1.0), (1.0, 7.0), (0.2, 50.0)])
def test_the_basis_does_not_depend_on_units(length, density):
    """A larger, heavier copy with a child that grows alike keeps the same modes, derivatives and attachments."""

    def space(length, density):
        mesh = TetMesh(length * crooked(MESHES[0]).nodes, MESHES[0].tets)
        solid = ElasticSolid(mesh, Material(young=1e6, poisson=0.3, density=1000.0 * density))
        tip = Interface(mesh.nodes, MESHES[0].node_region("x_max"))
        child = Attachment(tip, mass=30.0 * length**3 * density, arm=0.2 * length)
        return np.linalg.qr(reduced_basis(Support(solid, [0, 1, 2, 3, 4, 5]), 8, attachments=[child]).U)[0]

    one, other = space(1.0, 1.0), space(length, density)
    assert np.linalg.norm(other - one @ (one.T @ other), 2) < 1e-7


def test_a_free_basis_has_no_rigid_part():
    """Modes, derivatives and inertia-relieved attachment modes alike: int rho U = 0, int rho X x U = 0."""
    solid = ElasticSolid(crooked(MESHES[0]), RUBBER)
    tip = Interface(solid.mesh.nodes, solid.mesh.node_region(lambda x: x[:, 0] > 0.9))
    U = reduced_basis(Support(solid), 12, attachments=[Attachment(tip, mass=1.0, arm=0.1)]).U
    moved = solid.mass_product(U).reshape(-1, 3, 12)
    scale = np.sqrt(solid.total_mass)
    assert np.abs(moved.sum(axis=0)).max() < 1e-11 * scale
    assert np.abs(np.cross(solid.mesh.nodes[:, :, None], moved, axis=1).sum(axis=0)).max() < 1e-11 * scale


@pytest.mark.parametrize("inner", ["mass", "lumped"])
def test_bases_are_orthonormal(inner):
    support = Support(ElasticSolid(MESHES[0], RUBBER), "x_min")
    basis = reduced_basis(support, 8, inner=inner)
    m = support.solid.lumped_mass
    product = support.solid.mass_product(basis.U) if inner == "mass" else np.repeat(m, 3)[:, None] * basis.U
    np.testing.assert_allclose(basis.U.T @ product, np.eye(8), atol=1e-12)
    assert np.all(np.diff(basis.sizes) <= 0)
    np.testing.assert_array_equal(basis.U.reshape(-1, 3, 8)[support.fixed_nodes], 0.0)


def test_principal_components_keep_the_largest_snapshots():
    support = Support(ElasticSolid(MESHES[0], RUBBER), "x_min")
    shapes = linear_modes(support, 4).shapes
    U, sizes = mass_principal_components(support.solid, shapes * [1.0, 8.0, 2.0, 4.0], 2)
    np.testing.assert_allclose(sizes, [8, 4, 2, 1], rtol=1e-12)
    np.testing.assert_allclose(np.abs(U), np.abs(shapes[:, [1, 3]]), atol=1e-12)


def test_rigid_motions_are_rotations_about_the_origin():
    X = np.random.default_rng(6).normal(size=(4, 3))
    turned = rigid_motions(X, 2.0).reshape(4, 3, 6) @ np.array([0, 0, 0, 0.2, -0.4, 0.6])
    np.testing.assert_allclose(turned, np.cross([0.1, -0.2, 0.3], X), atol=1e-15)


def test_regions_have_their_own_materials():
    mesh = box_tets(size=(1.0, 0.2, 0.2), cells=(4, 1, 1)).with_regions(
        {"soft": sp.geometry.Region(elements=np.arange(12)), "hard": sp.geometry.Region(elements=np.arange(12, 24))}
    )
    hard = Material(young=5e6, poisson=0.2, density=2000.0)
    solid = ElasticSolid(mesh, {"soft": RUBBER, "hard": hard})
    assert solid.total_mass == pytest.approx(0.02 * 1000 + 0.02 * 2000)
    scene = sp.Scene()
    scene.add(sp.FemBody(mesh, {"soft": RUBBER, "hard": hard}, law="linear", mass="consistent"), fix="x_min")
    expected = sp.vibration_modes(scene.compile(), 4).frequencies
    np.testing.assert_allclose(linear_modes(Support(solid, "x_min"), 4).frequencies, expected, rtol=1e-9)


def test_bad_input_is_told():
    solid = ElasticSolid(MESHES[0], RUBBER)
    with pytest.raises(InputError, match="TetMesh or a HexMesh"):
        ElasticSolid(None, RUBBER)
    with pytest.raises(InputError, match="kind of mass"):
        ElasticSolid(MESHES[0], RUBBER, mass="none")
    with pytest.raises(InputError, match="elements have no material"):
        ElasticSolid(MESHES[0].with_regions({"a": sp.geometry.Region(elements=[0])}), {"a": RUBBER})
    with pytest.raises(InputError, match="modes do not exist"):
        linear_modes(Support(solid, "x_min"), 10_000)
    with pytest.raises(InputError, match="every node"):
        linear_modes(Support(solid, np.arange(solid.node_count)), 1)
    with pytest.raises(InputError, match="cannot be told apart"):
        linear_modes(Support(ElasticSolid(MESHES[0].merged(MESHES[0].moved(at=(0, 3, 0))), RUBBER)), 2)
    with pytest.raises(InputError, match="so many directions"):
        reduced_basis(Support(solid, "x_min"), 9, linear=2)
    with pytest.raises(InputError, match="positive whole number"):
        reduced_basis(Support(solid, "x_min"), 0)
    with pytest.raises(InputError, match="mass of the attachment"):
        Attachment(Interface(MESHES[0].nodes, [0, 1, 2, 3]), mass=0.0, arm=1.0)
