"""The contract of mappings, held by all of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.laws.mappings.implementers import DIFFERENCED, MAPPINGS, RNG

from supple.algebra.dense import rotations
from supple.scene.derivatives import check_derivatives, differentiate, relative_error

all_mappings = pytest.mark.parametrize("name", MAPPINGS)


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
