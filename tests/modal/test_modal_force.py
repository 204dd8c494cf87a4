"""The reduced cubic force: exact for hexes with three points a direction, batched as alone, in chunks as whole."""

from __future__ import annotations

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import box_hexes, box_tets
from supple.material import Material
from supple.modal import CubicForce, ElasticSolid
from supple.modal.forces import cubic
from supple.modal.forces.force_kernels import compute_force
from supple.validation.tree.reduced import (
    RUBBER,
    crooked_tets,
    full_hex_force,
    full_tet_force,
    parallelepipeds,
    random_basis,
)


def tet_force(r=5, seed=2):
    mesh = crooked_tets()
    return CubicForce.of(ElasticSolid(mesh, RUBBER), random_basis(len(mesh.nodes), r, seed))


def test_three_points_integrate_a_parallelepiped_exactly_and_two_do_not():
    mesh = parallelepipeds()
    U, q = random_basis(len(mesh.nodes), 4), 0.05 * np.random.default_rng(1).normal(size=4)
    f = CubicForce.of(ElasticSolid(mesh, RUBBER), U).evaluate(q)[0]
    errors = [np.linalg.norm(U.T @ full_hex_force(mesh, U @ q, n) - f) / np.linalg.norm(f) for n in (2, 3, 5)]
    assert errors[0] > 1e-3
    assert max(errors[1:]) < 1e-13


def test_a_full_basis_is_the_mesh():
    mesh = box_tets(size=(1, 1, 1), cells=(1, 1, 1))
    n = 3 * len(mesh.nodes)
    u = 0.1 * np.random.default_rng(2).normal(size=n)
    f, _ = CubicForce.of(ElasticSolid(mesh, RUBBER), np.eye(n)).evaluate(u)
    np.testing.assert_allclose(f, full_tet_force(mesh, u), atol=1e-13 * np.abs(f).max())
    _, rest = CubicForce.of(ElasticSolid(mesh, RUBBER), np.eye(n)).evaluate(np.zeros(n))
    stiffness = ElasticSolid(mesh, RUBBER).stiffness.toarray()
    np.testing.assert_allclose(rest, stiffness, atol=1e-12 * np.abs(stiffness).max())
    turn = np.cross([0.3, -0.2, 0.5], mesh.nodes + u.reshape(-1, 3)).ravel()
    assert abs(f @ turn) < 1e-12 * np.linalg.norm(f)  # no moment, as a turn changes no energy


def test_no_instances_have_no_forces():
    f, K = tet_force().evaluate(np.zeros((0, 5)))
    assert f.shape == (0, 5)
    assert K.shape == (0, 5, 5)


def test_instances_in_one_product_are_instances_alone():
    force = tet_force()
    q = 0.1 * np.random.default_rng(3).normal(size=(2, 7, 5))
    f, K = force.evaluate(q)
    assert f.shape == (2, 7, 5)
    assert K.shape == (2, 7, 5, 5)
    for index in np.ndindex(2, 7):
        alone = force.evaluate(q[index])
        np.testing.assert_allclose(f[index], alone[0], rtol=0, atol=1e-13 * np.abs(f).max())
        np.testing.assert_allclose(K[index], alone[1], rtol=0, atol=1e-13 * np.abs(K).max())
        assert force.energy(q)[index] == pytest.approx(float(force.energy(q[index])), rel=1e-12)


def test_the_kernel_writes_every_output_and_reads_none():
    force, q = tet_force(), np.random.default_rng(4).normal(size=(3, 5))
    f, K = np.full((3, 5), np.nan), np.full((3, 5, 5), np.nan)
    compute_force(force.arrays, q, f, K)
    np.testing.assert_allclose(f, force.evaluate(q)[0])
    assert np.isfinite(K).all()


def test_the_packed_polynomial_is_the_evaluated_one():
    force, q = tet_force(4), np.random.default_rng(5).normal(size=4)
    expected = np.zeros(4)
    for l in range(4):
        expected[l] = force.linear[l] @ q
        pairs = [q[i] * q[j] for i in range(4) for j in range(i, 4)]
        triples = [q[i] * q[j] * q[k] for i in range(4) for j in range(i, 4) for k in range(j, 4)]
        expected[l] += force.quadratic[l] @ pairs + force.cubic[l] @ triples
    np.testing.assert_allclose(force.evaluate(q)[0], expected, rtol=1e-12)


def test_chunks_give_the_same(monkeypatch):
    whole = tet_force()
    monkeypatch.setattr(cubic, "CHUNK_BYTES", 5000)
    parts = tet_force()
    np.testing.assert_allclose(parts.cubic, whole.cubic, atol=1e-14 * np.abs(whole.cubic).max())


def test_auxetic_and_mixed_materials():
    mesh = box_hexes(size=(1, 1, 1), cells=(2, 1, 1))
    solid = ElasticSolid(mesh, Material(young=1e3, poisson=-0.4, density=1.0))
    stretch = (mesh.nodes * [1, 0, 0]).reshape(-1, 1)
    force = CubicForce.of(solid, stretch)
    modulus = solid.materials[0].lam + 2 * solid.materials[0].mu
    np.testing.assert_allclose([force.linear[0, 0], force.quadratic[0, 0], force.cubic[0, 0]],
                               modulus * np.array([1, 1.5, 0.5]), rtol=1e-12)  # fmt: skip


def test_tuning_multiplies():
    force, q = tet_force(3), np.array([0.1, -0.2, 0.3])
    np.testing.assert_allclose(force.multiplied(4.0).evaluate(q)[0], 4 * force.evaluate(q)[0], rtol=1e-14)


def test_bad_input_is_told():
    mesh = crooked_tets()
    with pytest.raises(InputError, match="basis does not fit"):
        CubicForce.of(ElasticSolid(mesh, RUBBER), np.zeros((5, 2)))
    with pytest.raises(InputError, match="coordinates do not fit"):
        tet_force(3).evaluate(np.zeros(4))
    with pytest.raises(InputError, match="wrong shapes"):
        CubicForce(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 5)))
