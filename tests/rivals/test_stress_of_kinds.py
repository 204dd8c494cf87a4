"""Stress is asked for in one way of every kind of body with elements, and comes in the same axes."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.capabilities import Stressed
from supple.bodies.placement import Placement
from supple.modal.solid import ElasticSolid

STUFF = sp.Material(young=1e6, poisson=0.3, density=1000)
MESH = sp.box_tets((0.4, 0.1, 0.1), (4, 2, 2))
PLACED = Placement(np.array([0.1, 0.2, 0.3]), rotations.exp(np.array([0.4, -1.1, 0.7])))


def bent(body, size: float) -> np.ndarray:
    """Coordinates of a body put down at PLACED and bent at random by about `size` [m]."""
    x = body.place(PLACED).x.copy()
    x[0, 7:] = np.random.default_rng(3).normal(size=x.shape[1] - 7) * size / np.sqrt(x.shape[1])
    return x


def floating(cubic: bool) -> sp.FloatingBody:
    return sp.FloatingBody.from_solid(ElasticSolid(MESH, STUFF), modes=6, fixed="x_min", cubic=cubic)


def layered(law: str) -> sp.LayeredBody:
    return sp.LayeredBody.from_mesh(MESH, STUFF, core=lambda x: x[:, 0] < 0.11, law=law)


def close(found, wanted) -> None:
    for name in ("stress", "strain", "von_mises"):
        ours, theirs = getattr(found, name), getattr(wanted, name)
        assert ours == pytest.approx(theirs, abs=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("law", ["corotational", "stvk", "neo-hookean"])
def test_a_turned_layered_body_has_the_stress_of_its_elements(law: str) -> None:
    body = layered(law)
    x = bent(body, 0.01)
    x[0, 3:7] = rotations.multiply(rotations.exp(np.array([0.3, 0.2, 2.0])), x[0, 3:7])  # it has turned since
    close(body.stress(x, PLACED), sp.FemBody(MESH, STUFF, law=law).stress(body.positions(x), PLACED))


def test_a_turned_floating_body_has_the_stress_of_its_elements() -> None:
    body = floating(cubic=True)
    x = bent(body, 1e-3)
    x[0, 3:7] = rotations.multiply(rotations.exp(np.array([0.3, 0.2, 2.0])), x[0, 3:7])
    close(body.stress(x, PLACED), sp.FemBody(MESH, STUFF, law="stvk").stress(body.positions(x), PLACED))


@pytest.mark.parametrize("body", [floating(cubic=False), layered("linear")], ids=["floating", "layered"])
def test_a_linear_body_that_has_not_turned_has_the_stress_of_linear_elements(body) -> None:
    x = bent(body, 1e-4)
    turned = sp.FemBody(MESH, STUFF, law="linear").stress(body.positions(x), PLACED)
    close(body.stress(x, PLACED), turned)


@pytest.mark.parametrize("kind", [sp.FemBody, sp.FloatingBody, sp.LayeredBody])
def test_all_are_asked_in_the_same_way(kind: type) -> None:
    assert inspect.signature(kind.stress) == inspect.signature(Stressed.stress)
