"""Chains of domains stretch as the unreduced bar does, or their making says that they cannot."""

from __future__ import annotations

import re
import warnings
from contextlib import nullcontext

import numpy as np
import pytest

from supple.bodies.tree import TreeBody, TreeModel
from supple.errors import BasisWarning
from supple.examples import shapes
from supple.modal import Attachment, ElasticSolid, Interface, Support, reduced_basis
from supple.modal.compliance import Loaded, StaticLoads, inertia_loads, missing_parts
from supple.validation.tree.coupling import BEAM, LENGTH, SIDE, beam_domain_tree
from supple.validation.tree.reference import block_mesh, face
from supple.validation.tree.stretch import LOADS, chain_ways, whole_ways

Array = np.ndarray
pytestmark = pytest.mark.filterwarnings("error::supple.errors.BasisWarning")


@pytest.mark.parametrize(("count", "modes"), [(2, 20), (3, 12), (4, 9), (4, 12), (4, 24), (6, 12)])
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
            TreeModel.of(beam_domain_tree(4, modes))
    needed = int(re.findall(r"Give it (\d+) modes or more", str(said[0].message))[0])
    assert modes < needed <= 10
    for more in range(needed, needed + 4):
        TreeModel.of(beam_domain_tree(4, more))


def test_the_count_of_coordinates_is_that_asked_for() -> None:
    mesh = block_mesh((0.4, 0.1, 0.1), (8, 2, 2))
    support, tip = Support(ElasticSolid(mesh, BEAM), face(mesh, 0.0)), Interface(mesh.nodes, face(mesh, 0.4))
    given = [Attachment(tip, mass=8.0, arm=0.5)]
    for count in (1, 3, 10, 12, 20):
        basis = reduced_basis(support, count, attachments=given, statics=True)
        product = basis.U.T @ support.solid.mass_product(basis.U)
        np.testing.assert_allclose(product, np.eye(count), atol=1e-12)
        assert not basis.U.reshape(-1, 3, count)[support.fixed_nodes].any()


def test_inertia_loads_are_mass_times_acceleration() -> None:
    """Of the solid and of what hangs on its interface: sums of the loads of unit accelerations and spins."""
    mesh = block_mesh((0.4, 0.1, 0.1), (8, 2, 2))
    support, tip = Support(ElasticSolid(mesh, BEAM), face(mesh, 0.0)), Interface(mesh.nodes, face(mesh, 0.4))
    hung, place = 8.0, np.array([0.4, 0.05, 0.02])
    loads = inertia_loads(support, tip.unit_loads(), np.array([hung]), place[None]).reshape(-1, 3, 6).sum(axis=0)
    own = support.solid.total_mass
    np.testing.assert_allclose(loads[:, :3], (own + hung) * np.eye(3), atol=1e-9 * own)
    centre = support.solid.lumped_mass @ mesh.nodes / own
    for axis in range(3):
        across = np.eye(3) - np.outer(np.eye(3)[axis], np.eye(3)[axis])
        np.testing.assert_allclose(loads[:, 3 + axis], across @ (own * centre + hung * place), atol=1e-9 * own)


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
        assert all(kind.loss is not None and not kind.loss.is_large for kind in TreeModel.of(shape).classes)


@pytest.mark.parametrize(("damping", "stretches"), [(0.001, True), (1e-4, True), ((0.01, 0.0), False), (0.0, False)])
def test_trees_stretch_by_default_where_they_are_damped(damping: object, stretches: bool) -> None:
    """Undamped, what stretches gains energy at long steps; the way of the tip under its weight tells."""
    tree = beam_domain_tree(2, 12)
    with nullcontext() if stretches else pytest.warns(BasisWarning, match="no static responses"):
        body = TreeBody(tree, stiffness_damping=damping)  # type: ignore[arg-type]
        plain = TreeModel.of(tree, statics=stretches)
    assert np.array_equal(body.model.classes[0].U, plain.classes[0].U)
    assert body.model.classes[0].stretches == stretches


@pytest.mark.parametrize(("count", "modes", "more"), [(4, 8, True), (4, 12, False), (2, 12, False)])
def test_an_undamped_tree_that_hardly_stretches_says_so(count: int, modes: int, more: bool) -> None:
    """The part that is had is that of the chain's stretch, of one load or another, 0.49 to 0.51 for four domains of
    twelve; the warning's fix mends it."""
    tree = beam_domain_tree(count, modes)
    with pytest.warns(BasisWarning, match=f"'part' is too stiff with {modes} modes and no static responses") as said:
        TreeBody(tree, stiffness_damping=0.0)
    message = str(said[0].message)
    part = float(re.findall(r"it moves (\d+)%", message)[0]) / 100
    with pytest.warns(BasisWarning):
        ratios = chain_ways(count, modes, statics=False) / whole_ways()
    assert part == pytest.approx(ratios[:3].min(), abs=0.04)
    assert "statics=True" in message
    assert ("modes or more" in message) == more
    if more:
        modes = int(re.findall(r"and (\d+) modes or more", message)[0])
    TreeBody(beam_domain_tree(count, modes), stiffness_damping=0.0, statics=True)
    TreeBody(beam_domain_tree(count, modes), stiffness_damping=1e-4)


def single_ways(modes: int, statics: bool) -> tuple[Array, Array]:
    """One held domain: the stretch under a pull, its own weight and a spin over that of finite elements (3,), and what
    the estimate says of it (3,)."""
    mesh = block_mesh((0.4, 0.1, 0.1), (16, 2, 2))
    solid, tip = ElasticSolid(mesh, BEAM), Interface(mesh.nodes, face(mesh, 0.4))
    support = Support(solid, face(mesh, 0.0))
    given = [Attachment(tip, mass=8.0, arm=0.5)]
    U = reduced_basis(support, modes, attachments=given, statics=statics).U
    units, own = tip.unit_loads(), inertia_loads(support, np.empty((len(U), 0)), np.empty(0), np.empty((0, 3)))
    loads = np.concatenate([units, own], axis=1)
    responses = support.static_response(loads)
    second = Loaded(np.empty((len(U), 0)), np.empty((len(U), 0)))
    estimated = 1 - missing_parts(
        support, U, StaticLoads.of(support, Loaded(loads, responses), np.array([8.0]), second)
    )
    K, shown = np.array(solid.stiffness.toarray()), np.zeros(len(U))
    shown[::3] = solid.lumped_mass  # the mean way along, as the work of weight has it
    X, ratios = mesh.nodes, []
    free = np.setdiff1d(np.arange(len(U)), (3 * face(mesh, 0.0)[:, None] + np.arange(3)).ravel())
    fields = np.zeros((2, len(X), 3))
    fields[0, :, 0], fields[1, :, :2] = 1.0, X[:, :2]
    pull, weight, spin = units[:, 0], *((solid.node_mass @ field).ravel() for field in fields)
    for flat, seen in ((pull, pull), (weight, shown), (spin, shown)):
        whole = np.zeros(len(U))
        whole[free] = np.linalg.solve(K[np.ix_(free, free)], flat[free])
        ratios.append(seen @ (U @ np.linalg.solve(U.T @ K @ U, U.T @ flat)) / (seen @ whole))
    return np.array(ratios), estimated[[0, 6, 11]]


@pytest.mark.parametrize(
    ("modes", "statics"), [(4, False), (8, False), (12, False), (20, False), (8, True), (12, True)]
)
def test_the_estimate_is_what_finite_elements_say(modes: int, statics: bool) -> None:
    """A pull and weight to rounding: their estimate is the mean way that their own work sees. A spin's work weighs the
    far end more than the mean way does."""
    ratios, estimated = single_ways(modes, statics)
    np.testing.assert_allclose(ratios[:2], estimated[:2], rtol=1e-6)
    assert ratios[2] == pytest.approx(estimated[2], abs=0.025)  # 0.020 and less


def test_loads_of_inertia_have_their_names_without_attachment_modes() -> None:
    with pytest.warns(BasisWarning, match="under (a spin about|weight along)"):
        TreeModel.of(beam_domain_tree(2, 6), attachment_modes=False, statics=False)


def test_without_static_responses_a_chain_is_too_stiff_along() -> None:
    with pytest.warns(BasisWarning, match="no static responses"):
        ratios = chain_ways(2, 12, statics=False) / whole_ways()
    assert ratios[:3].max() < 0.5
    assert ratios[3] == pytest.approx(1.0, abs=0.02)


def test_a_tree_with_static_responses_breaks_changes_and_carries() -> None:
    """The parts and the changed tree have the bases of the whole one, whatever their damping."""
    body = TreeBody(beam_domain_tree(3, 12), statics=True)
    x, v = np.zeros((1, body.coordinates.x_width)), np.zeros((1, body.coordinates.v_width))
    body.pack(body.dynamics.state(), x, v)
    parts = [part.body for part in body.broken(x, v, 1)]
    changed = body.changed({"stiffness_damping": 0.0}, where="here")
    for other in (*parts, changed):
        assert np.array_equal(other.model.classes[0].U, body.model.classes[0].U)
    recast = body.recast(x, v, {"domain": 1, "modes": 9}, where="here")
    assert recast is not None
    assert recast.body.model.classes[1].loss is not None
