"""The matrix of a step with its contacts, against dense matrices; their points, against those of whole bodies."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

import supple as sp
from supple.algebra.dense.outer_kernels import add_outer
from supple.algebra.sparse.block_rows import BlockRows
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.preconditioners import BlockJacobi
from supple.bodies.floating import FloatingBody
from supple.bodies.layered.body import LayeredBody
from supple.contact.contact_set import ContactSet, point_rows
from supple.contact.surfaces import surface_of
from supple.modal import ElasticSolid
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.linearization import dense_blocks, slot_jacobian
from supple.solvers.coupling.contact_blocks import ContactBlocks, Coupling, WideMatrix
from supple.solvers.coupling.touched_part import SMALL, TouchedPart, components
from supple.solvers.linear.unsymmetric import solve_unsymmetric

Array = np.ndarray
N, K = 7, 5  # block rows, contacts


def random_step(rng: np.random.Generator) -> tuple[BlockSparse, sparse.csr_array]:
    """A, and J of contacts on two to three blocks each."""
    rows, cols = rng.integers(0, N, 12), rng.integers(0, N, 12)
    A = BlockSparse.from_pairs(N, np.r_[rows, cols], np.r_[cols, rows])
    A.data[:] = rng.normal(size=A.data.shape)
    J = np.zeros((K, 3, N, 3))
    for k in range(K):
        for column in rng.choice(N, 2 + k % 2, replace=False):
            J[k, :, column] = rng.normal(size=(3, 3))
    return A, sparse.csr_array(J.reshape(3 * K, 3 * N))


def filter_of(blocks: Array, projectors: Array) -> SystemFilter:
    empty = np.zeros(0)
    return SystemFilter(blocks, projectors, empty, empty, (), ())


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_wide_matrix_and_coupling_are_the_sum(coupled: bool, filtered: bool) -> None:
    rng = np.random.default_rng(5)
    A, J = random_step(rng)
    rows = BlockRows.from_scipy(J)
    blocks = np.array([1, 4]) if filtered else np.zeros(0, dtype=int)
    projectors = np.stack([np.diag([1.0, 0, 1]), np.zeros((3, 3))])[: len(blocks)]
    wide, held = WideMatrix(A, rows), filter_of(blocks, projectors)
    wide.begin(A, rows, held)
    P = np.eye(3 * N)
    for block, projector in zip(blocks, projectors):
        P[3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = projector
    for _ in range(2):  # the second call writes over the first
        own, coupling = rng.normal(size=(K, 3, 3)), None
        dense = np.zeros((K, 3, K, 3))
        dense[range(K), :, range(K)] = own
        if coupled:  # contacts 0 and 3 push on one tree
            F = rng.normal(size=(2, 3, 2, 3))
            F[range(2), :, range(2)] = 0.0
            coupling = Coupling(np.array([0, 3]), F.reshape(6, 6))
            dense[np.ix_([0, 3], range(3), [0, 3], range(3))] += F
        added = ContactBlocks(rows, own, coupling, False)
        expected = J.T @ dense.reshape(3 * K, 3 * K) @ J.toarray()
        assert np.abs(added.matrix().toarray() - expected).max() < 1e-12
        d = rng.normal(size=3 * N)
        assert np.allclose(added.product(d), expected @ d, rtol=0, atol=1e-12)
        q = dense_blocks(wide.add(added.K)) @ d
        outer = added.outer(held)
        if outer is not None:
            add_outer(outer, d, 1.0, q)
        assert np.abs(q - (dense_blocks(A) + P @ expected @ P) @ d).max() < 1e-12
    assert wide.fits(A, BlockRows.from_scipy(J))
    assert not wide.fits(A, BlockRows.from_scipy(J[:12]))


@pytest.mark.parametrize("copies", [1, 60])  # a dense matrix, and a sparse one
@pytest.mark.parametrize("coupled", [False, True])
def test_a_part_answers_as_the_whole_does(copies: int, coupled: bool) -> None:
    """Chains of blocks, two of them joined by a contact, others by a tree that they touch; the last stays apart."""
    rng, chain = np.random.default_rng(3), 3 * copies
    n = 4 * chain
    first = np.array([k for k in range(n - 1) if (k + 1) % chain])
    A = BlockSparse.from_pairs(n, np.r_[first, first + 1], np.r_[first + 1, first])
    A.data[:] = 0.1 * rng.normal(size=A.data.shape)
    A.data[A.diagonal] += 4 * np.eye(3)
    # contacts: chain 0 and 1; chain 1 and the tree; chain 2 and the tree; the tree alone; chain 3 and an obstacle
    cols = np.array([0, chain, chain + 1, 2 * chain, 3 * chain])
    J = BlockRows.of([0, 2, 3, 4, 4, 5], cols, rng.normal(size=(5, 3, 3)), n)
    F = 0.2 * rng.normal(size=(9, 9))
    coupling = Coupling(np.array([1, 2, 3]), F) if coupled else None
    extra = ContactBlocks(J, rng.normal(size=(5, 3, 3)), coupling, False)
    touched = np.zeros(n, dtype=bool)
    touched[1] = True
    part = TouchedPart.of(A, components(A), extra, touched, None)
    assert part.keep.sum() == (3 if coupled else 2) * chain
    assert isinstance(part.matrix, np.ndarray) == (3 * part.keep.sum() <= SMALL)
    B = np.zeros((3 * n, 2))
    B[np.repeat(touched, 3)] = rng.normal(size=(3, 2))
    expected = np.linalg.solve(dense_blocks(A) + extra.matrix().toarray(), B)
    np.testing.assert_allclose(part.solve(B[part.unknowns]), expected[part.unknowns], rtol=0, atol=1e-12)
    assert np.abs(np.delete(expected, part.unknowns, axis=0)).max() < 1e-14


def test_conjugate_gradients_with_a_dense_coupling() -> None:
    """A + J^T F J solved without being assembled, by the compiled loop and by the general one."""
    rng = np.random.default_rng(8)
    A, J = random_step(rng)
    A.data[:] = 0.0
    for k in range(N):
        A.data[A.locate([k], [k])] = 3 * np.eye(3) * (1 + k)
    B = rng.normal(size=(3 * K, 3 * K))
    added = ContactBlocks(BlockRows.from_scipy(J), np.zeros((K, 3, 3)), Coupling(np.arange(K), B @ B.T), True)
    outer, b = added.outer(filter_of(np.zeros(0, dtype=int), np.zeros((0, 3, 3)))), rng.normal(size=3 * N)
    expected = np.linalg.solve(dense_blocks(A) + added.matrix().toarray(), b)
    for way in ({}, {"fixed": lambda x: None}):
        report = solve_cg(A, b, outer=outer, tolerance=1e-12, **way)
        assert report.is_converged
        assert np.abs(report.x - expected).max() < 1e-9 * np.abs(expected).max()


def boxes(linear: str) -> sp.Scene:
    """A soft box with a rigid one on it, which slides: friction, sticking and sliding contacts, and a held face."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.ImplicitEuler(0.01, linear=linear, tolerance=1e-9))
    soft = sp.FemBody(sp.box_tets((0.3, 0.3, 0.1), (3, 3, 1)), sp.Material(young=1e5, poisson=0.3, density=500))
    low = scene.add(soft, at=(0, 0, 0.05), name="soft")
    scene.add(sp.FixedPoints(low, "x_min"))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=300), at=(0.12, 0, 0.1501), velocity=(0.3, 0, 0), name="box")
    scene.add(sp.Plane())
    scene.add(sp.Contact(friction=0.3))
    return scene


def test_conjugate_gradients_and_the_direct_solver_agree() -> None:
    """Both solve the same contacts; the one with a symmetric tangent, the other with the full one."""
    runs = {}
    for linear in ("cg", "direct"):
        system = (scene := boxes(linear)).compile()
        state = system.initial_state()
        for _ in range(25):
            report = scene.solver.step(system, state)
            assert report.outcome.name == "SOLVED", report
        runs[linear] = state
    travelled = np.abs(runs["cg"].x - system.x0).max()
    assert travelled > 0.01
    assert np.abs(runs["cg"].x - runs["direct"].x).max() < 1e-5 * travelled


def test_points_on_frames_have_the_rows_of_the_end() -> None:
    """J of some points at a state foreseen is that of all points there; h J v and the departure are the way there."""
    rubber, h = sp.Material(young=1e5, poisson=0.3, density=500), 0.02
    mesh = sp.box_tets((0.2, 0.2, 0.2), (3, 3, 3))
    layered = LayeredBody.from_mesh(mesh, rubber, core=lambda X: np.abs(X - X.mean(axis=0)).max(axis=1) < 0.05)
    scene = sp.Scene()
    turning = {"velocity": (1.0, 0, -2.0), "spin": (3.0, -5.0, 2.0)}
    scene.add(sp.RigidBody.sphere(0.1, density=300), at=(0, 0, 1), **turning)
    scene.add(FloatingBody.from_solid(ElasticSolid(mesh, rubber), modes=4, fixed="x_min"), at=(0, 0, 2), **turning)
    scene.add(layered, at=(0, 0, 3), **turning)
    scene.add(sp.Contact())
    system = scene.compile()
    state = system.initial_state()
    state.v = state.v + 0.1 * np.random.default_rng(3).normal(size=state.v.size)
    kin = system.propagate(0.0, state.x, state.v)
    ahead = system.propagate(h, system.retract(state.x, h * state.v), state.v)
    for slot in system.contacts[0].slots:
        points = np.array([4, 0, 4, 9])
        J, departure = point_rows(kin, slot, points, h)
        part = sparse.bsr_array((J.blocks, J.cols, J.ptr), shape=(12, system.v_size)).toarray()
        whole = slot_jacobian(ahead, slot, system.v_size).toarray().reshape(-1, 3, system.v_size)
        assert np.abs(part.reshape(-1, 3, system.v_size) - whole[points]).max() < 1e-13
        way = ahead.x[slot.index][points] - kin.x[slot.index][points]
        assert np.abs(h * (part @ state.v).reshape(-1, 3) + departure - way).max() < 1e-13
        assert np.abs(departure).max() > 1e-5  # a point that turns does not go straight


def test_the_surface_of_a_layered_body_is_its_outer_one() -> None:
    """Neither the core's surface nor the inner side of the layer touches anything."""
    rubber = sp.Material(young=1e5, poisson=0.3, density=500)
    body = LayeredBody.from_mesh(
        sp.sphere_tets(0.1, 3), rubber, core=lambda X: np.linalg.norm(X, axis=1) < 0.07, core_density=200
    )
    node = sp.Scene().add(body, at=(1, 2, 3))
    surface = surface_of(node)
    assert np.abs(np.linalg.norm(surface.points.rest - (1, 2, 3), axis=1) - 0.1).max() < 1e-12
    corners = (surface.points.rest - (1, 2, 3))[surface.triangles]
    assert np.linalg.det(corners).min() > 0  # outward
    volume = np.linalg.det(corners).sum() / 6
    assert abs(volume - sp.sphere_tets(0.1, 3).volumes.sum()) < 1e-12 * volume + 1e-15


def test_unsymmetric_matrices_by_biconjugate_gradients() -> None:
    """A + J^T K J with unsymmetric K, and a dense coupling, against a dense solution; both preconditioners."""
    rng = np.random.default_rng(4)
    A, J = random_step(rng)
    A.data[:] *= 0.2
    for k in range(N):
        A.data[A.locate([k], [k])] = 3 * np.eye(3) * (1 + k)
    B = 0.3 * rng.normal(size=(3 * K, 3 * K))
    added = ContactBlocks(BlockRows.from_scipy(J), np.zeros((K, 3, 3)), Coupling(np.arange(K), B), False)
    outer, b = added.outer(filter_of(np.zeros(0, dtype=int), np.zeros((0, 3, 3)))), rng.normal(size=3 * N)
    whole = dense_blocks(A) + added.matrix().toarray()
    assert np.abs(whole - whole.T).max() > 0.1
    expected = np.linalg.solve(whole, b)
    other = BlockJacobi()
    other.update(A)
    for M in (None, other):
        found = solve_unsymmetric(A, b, outer, M, start=rng.normal(size=3 * N), tolerance=1e-11)
        assert found is not None
        assert np.abs(found.x - expected).max() < 1e-8 * np.abs(expected).max()
        assert abs(found.residual - np.linalg.norm(b - whole @ found.x) / np.linalg.norm(b)) < 1e-12


def test_a_departure_counts_along_the_normal_and_across_it() -> None:
    """Contacts that turn do not go straight: the way that J v leaves out closes the gap and stretches the slip."""
    rng = np.random.default_rng(4)
    n = rng.normal(size=(5, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    none = np.zeros((5, 4), dtype=np.int64)
    contacts = ContactSet.bare(none, np.zeros((5, 4)), n, rng.normal(size=5), none[:, :2])
    contacts, way = contacts._replace(slip=rng.normal(size=(5, 3))), rng.normal(size=(5, 3))
    departed = contacts.departing(way)
    np.testing.assert_allclose(departed.gap, contacts.gap + np.sum(n * way, axis=1), rtol=1e-14)
    np.testing.assert_allclose(departed.slip, contacts.slip + way, rtol=1e-14)
