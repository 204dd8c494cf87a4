"""Chains of domains stretch as the unreduced bar does, or their making says that they cannot."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from supple.bodies.tree import TreeModel
from supple.errors import BasisWarning
from supple.examples import shapes
from supple.modal import Attachment, ElasticSolid, Interface, Support, reduced_basis
from supple.validation.tree.coupling import BEAM, LENGTH, SIDE, beam_domain_tree
from supple.validation.tree.reference import block_mesh, face
from supple.validation.tree.stretch import LOADS, chain_ways, whole_ways

pytestmark = pytest.mark.filterwarnings("error::supple.errors.BasisWarning")


@pytest.mark.parametrize(("count", "modes"), [(2, 20), (3, 12), (4, 9), (4, 12), (4, 24)])
def test_a_chain_stretches_as_a_bar(count: int, modes: int) -> None:
    """L / (E A) holds to 0.1 % for this bar of tets; rigid frames at the interfaces make up to 2 %."""
    ratios = chain_ways(count, modes) / whole_ways()
    np.testing.assert_allclose(ratios, 1.0, atol=0.02, err_msg=str(LOADS))


def test_the_force_along_is_that_of_a_bar() -> None:
    """What the rows compare with: stretch L / (E A)."""
    assert whole_ways()[0] == pytest.approx(LENGTH / (BEAM.young * SIDE**2), rel=2e-3)


@pytest.mark.parametrize("modes", [2, 4, 6, 8])
def test_a_basis_that_is_too_small_says_how_many_modes_are_needed(modes: int) -> None:
    """And with so many it is silent. The warning is given for a reduction that is read from the cache as well."""
    for _ in range(2):
        with pytest.warns(BasisWarning, match=f"'part' is too stiff with {modes} modes") as said:
            TreeModel.of(beam_domain_tree(4, modes), statics=True)
    needed = int(re.findall(r"Give it (\d+) modes or more", str(said[0].message))[0])
    assert modes < needed <= 10
    for more in range(needed, needed + 4):
        TreeModel.of(beam_domain_tree(4, more), statics=True)


def test_the_count_of_coordinates_is_that_asked_for() -> None:
    mesh = block_mesh((0.4, 0.1, 0.1), (8, 2, 2))
    support, tip = Support(ElasticSolid(mesh, BEAM), face(mesh, 0.0)), Interface(mesh.nodes, face(mesh, 0.4))
    given = [Attachment(tip, mass=8.0, arm=0.5)]
    for count in (1, 3, 10, 12, 20):
        basis = reduced_basis(support, count, attachments=given, statics=True)
        product = basis.U.T @ support.solid.mass_product(basis.U)
        np.testing.assert_allclose(product, np.eye(count), atol=1e-12)
        assert not basis.U.reshape(-1, 3, count)[support.fixed_nodes].any()


def test_the_loss_is_that_of_the_basis() -> None:
    """The loss that a basis states is what its own static responses miss of the solid's, load by load at most."""
    mesh = block_mesh((0.4, 0.1, 0.1), (8, 2, 2))
    support, tip = Support(ElasticSolid(mesh, BEAM), face(mesh, 0.0)), Interface(mesh.nodes, face(mesh, 0.4))
    basis = reduced_basis(support, 12, attachments=[Attachment(tip, mass=8.0, arm=0.5)], statics=True)
    U, loads = basis.U, tip.unit_loads()
    whole = np.einsum("ij,ij->j", loads, support.static_response(loads))
    b = U.T @ loads
    held = np.einsum("ij,ij->j", b, np.linalg.solve(U.T @ (support.solid.stiffness @ U), b))
    missing = (1 - held / whole) * 8.0 / (8.0 + support.solid.total_mass)
    assert basis.loss is not None
    assert basis.loss.load_name(["tip"]) == "a force along x on interface 'tip'"
    assert missing.max() == pytest.approx(basis.loss.weighted, rel=1e-6)
    assert missing[0] == missing.max()


def test_a_free_solid_has_no_weight() -> None:
    """Its accelerations move it rigidly; spins strain it all the same. No rigid motion comes in."""
    mesh = block_mesh((0.4, 0.1, 0.1), (8, 2, 2))
    support = Support(ElasticSolid(mesh, BEAM))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        basis = reduced_basis(support, 8, statics=True)
    assert basis.loss is not None
    assert basis.loss.weighted < 0.05
    assert "spin" in basis.loss.load_name([])
    assert np.abs(support.rigid_modes.T @ support.solid.mass_product(basis.U)).max() < 1e-12


def test_the_flower_and_the_oak_are_large_enough() -> None:
    for shape in (shapes.flower(), shapes.oak(leaves=20)):
        TreeModel.of(shape, statics=True)
