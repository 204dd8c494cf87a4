"""Elements inside out are counted in every kind of body that has elements, and links of voxels in lattices."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.capabilities import Inverting
from supple.elements.shapes import rest_gradients
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid, Support, reduced_basis
from supple.modal.basis_inversion import BasisInversion
from supple.validation.tree.coupling import beam_domain_tree

RUBBER = sp.Material(1e6, 0.3, 1000)


def coordinates(body: Inverting, **placed: object) -> np.ndarray:
    scene = sp.Scene()
    scene.add(body, name="body", **placed)  # type: ignore[arg-type]
    system = scene.compile()
    return system.body("body").view_x(system.initial_state().x)


@pytest.mark.parametrize("make", [sp.box_tets, sp.box_hexes])
def test_the_bound_of_a_basis_misses_no_element(make) -> None:
    """Of many q, from small ones to such that most elements are inverted, against looking at all elements."""
    mesh = make(size=(0.4, 0.1, 0.1), cells=(8, 2, 2))
    U = reduced_basis(Support(ElasticSolid(mesh, RUBBER), "x_min"), 8).U
    check = BasisInversion.of(mesh.nodes, mesh.elements, U)
    q = np.random.default_rng(0).normal(size=(400, 8)) * np.geomspace(1e-4, 3.0, 400)[:, None]
    expected = check.elements.mask(mesh.nodes + (q @ U.T).reshape(400, -1, 3))
    copies, elements = check.inverted(q)
    found = np.zeros_like(expected)
    found[copies, elements] = True
    assert np.array_equal(found, expected)
    assert 0.02 < expected.mean() < 0.98
    ruled_out = np.abs(q) @ check.strains < 1
    assert 50 < ruled_out.sum() < 350
    bound = np.linalg.norm(q @ check.covering, axis=1)
    strains = np.array([_largest_strain(mesh, row) for row in (q @ U.T).reshape(400, -1, 3)])
    assert (strains <= bound).all()
    assert (bound <= 1.05 * np.sqrt(8) * strains).all()


def _largest_strain(mesh, u: np.ndarray) -> float:
    """The largest |sym grad u| of any element at its quadrature points."""
    A = np.einsum("eai,eqaj->eqij", u[mesh.elements], rest_gradients(mesh.nodes, mesh.elements)[0])
    return float(np.linalg.norm(0.5 * (A + A.swapaxes(2, 3)), axis=(2, 3)).max())


def test_a_rigid_turn_inverts_nothing_and_a_mirror_everything() -> None:
    grid = sp.VoxelGrid(np.ones((2, 3, 2), dtype=int), 0.01)
    lattice = sp.VoxelBody(grid, VoxelMaterial(1e6, density=1000))
    check = lattice.inversion_check(lattice.rest_points)
    x = coordinates(lattice, rotation=rotations.exp([0.3, 2.0, -1.0]), at=(1, 2, 3))
    assert check.count == 20
    assert len(check.inverted(x)) == 0
    x[:, :3] *= -1.0
    assert len(check.inverted(x)) == 20


def test_a_voxel_that_passes_its_neighbour_is_named() -> None:
    lattice = sp.VoxelBody(sp.VoxelGrid(np.ones((4, 1, 1), dtype=int), 0.01), VoxelMaterial(1e6, density=1000))
    check, x = lattice.inversion_check(lattice.rest_points), coordinates(lattice)
    x[3, 0] = x[2, 0] - 1e-4
    assert check.inverted(x).tolist() == [2]
    assert check.place(2) == "link of voxels 2 and 3"


def test_links_that_may_fail_are_left_out() -> None:
    stuff = VoxelMaterial(1e6, density=1000, fail_stress=1e5)
    check = sp.VoxelBody(sp.VoxelGrid(np.ones((4, 1, 1), dtype=int), 0.01), stuff).inversion_check(np.zeros((4, 3)))
    assert check.count == 0


def test_elements_of_a_tree_are_numbered_through_its_domains() -> None:
    """The second of three domains is squeezed through itself along its axis."""
    body = sp.TreeBody(beam_domain_tree(3, 9))
    check, x = body.inversion_check(np.zeros((0, 3))), coordinates(body)
    kind = body.model.classes[0]
    each = check.count // 3
    assert len(check.inverted(x)) == 0
    wanted = np.zeros(kind.nodes.shape)
    wanted[:, 0] = -1.5 * kind.nodes[:, 0]
    x[0, 7 + 9 : 7 + 18] = np.linalg.lstsq(kind.U, wanted.ravel(), rcond=None)[0]
    found = check.inverted(x)
    assert each <= found.min() <= found.max() < 2 * each
    assert len(found) > 0.5 * each
    assert check.place(int(found[0])) == f"domain 1 ('part'), element {found[0] - each}"


@pytest.mark.parametrize("law", ["linear", "stvk"])
def test_elements_of_a_layer_are_named_as_in_the_mesh(law: str) -> None:
    """One free node is pushed deep into the core."""
    mesh = sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 3))
    body = sp.LayeredBody.from_mesh(mesh, RUBBER, core=lambda X: X[:, 2] < 0.05, law=law)
    check, x = body.inversion_check(mesh.nodes), coordinates(body)
    assert check.stays == (law == "stvk")
    assert check.count == np.count_nonzero(~body.model.core)
    assert len(check.inverted(x)) == 0
    x[0, 9] -= 0.3
    found, node = check.inverted(x), int(np.arange(len(mesh.nodes))[body.model.free][0])
    assert len(found)
    for number in found.tolist():
        assert node in mesh.elements[int(check.place(number).split()[1])]


def test_a_floating_body_of_bare_nodes_has_no_elements() -> None:
    mesh = sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    solid = ElasticSolid(mesh, RUBBER)
    body = sp.FloatingBody.from_matrices(mesh.nodes, solid.mass_matrix, solid.stiffness, modes=3)
    check = body.inversion_check(mesh.nodes)
    assert check.count == 0
    assert len(check.inverted(coordinates(body))) == 0
