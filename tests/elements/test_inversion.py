"""Elements that are inside out: found in every kind of body that has elements, and told by a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.elements.inversion import ElementInversion, ShapeElements
from supple.material import Law
from supple.modal import ElasticSolid
from supple.record import measure
from supple.record.plausibility import Plausibility

RUBBER = sp.Material(young=1e5, poisson=0.3, density=1000)
MESH = sp.box_tets((0.3, 0.1, 0.1), (6, 2, 2))
LOW = float(MESH.nodes[:, 0].min())


def layered() -> Any:
    return sp.LayeredBody.from_mesh(MESH, RUBBER, core=lambda X: X[:, 0] < LOW + 0.14)


def floating() -> Any:
    return sp.FloatingBody.from_solid(ElasticSolid(MESH, RUBBER), modes=4)


def tree() -> Any:
    low, high = (np.flatnonzero(np.abs(MESH.nodes[:, 0] - LOW - end) < 1e-9) for end in (0.0, 0.3))
    mesh = sp.TetMesh(MESH.nodes - MESH.nodes[low].mean(axis=0), MESH.tets)
    tip = {"tip": sp.DomainInterface(high, np.ones(len(high)))}
    part = sp.DomainTemplate("part", mesh, RUBBER, 4, held=low, interfaces=tip)
    return sp.TreeBody(sp.DomainTree({"part": part}, [sp.Domain("part"), sp.Domain("part", 0, "tip")]))


MAKERS = (layered, floating, tree)


def started(make: Any) -> tuple[sp.Scene, Any, Any]:
    scene = sp.Scene()
    scene.add(make(), name="block", rotation=(0.3, 0.2, 0.1), at=(0.1, 0.2, 0.3))
    system = scene.compile()
    return scene, system, system.initial_state()


@pytest.mark.parametrize("make", MAKERS)
def test_they_are_counted_in_every_kind(make: Any) -> None:
    _, system, state = started(make)
    guard = Plausibility(system, 0.01, measure(system, state))
    guard.is_closed = False  # the energy of what follows was put in by hand
    (x,) = system.body("block").view_x(state.x)
    bent = np.random.default_rng(1).normal(size=len(x) - 7)
    for size, is_told in ((0.0, False), (1e-6, False), (1.0, True)):
        x[7:] = size * bent
        assert (guard.check_frame(state, measure(system, state), 1) > 0) is is_told


@pytest.mark.parametrize("make", MAKERS)
def test_a_run_says_so(make: Any) -> None:
    scene, system, state = started(make)
    (x,) = system.body("block").view_x(state.x)
    x[7:] = np.random.default_rng(1).normal(size=len(x) - 7)
    solver = sp.Partitioned(1e-7) if make is tree else sp.ImplicitEuler(1e-7)
    run = sp.run(scene, until=1e-7, solver=solver, start=state)
    assert run.inverted > 0
    assert f"{run.inverted} elements are turned inside out" in run.report()


def test_those_of_shapes_are_those_of_the_nodes_they_move() -> None:
    rng = np.random.default_rng(2)
    U, q = rng.normal(size=(3 * len(MESH.nodes), 3)), 0.02 * rng.normal(size=(2, 3))
    where, first = np.arange(6).reshape(2, 3), np.array([0, len(MESH.tets)])
    shapes = ShapeElements.of(MESH.nodes, MESH.tets, U, where, first, len(MESH.tets))
    check = ElementInversion.of(MESH.nodes, MESH.tets, Law.STVK)
    each = [check.inverted(MESH.nodes + (U @ one).reshape(-1, 3)) for one in q]
    assert 0 < len(each[0]) < len(MESH.tets)
    assert shapes.inverted(q.ravel()).tolist() == [*each[0], *(each[1] + len(MESH.tets))]


def test_few_are_looked_at_where_many_are() -> None:
    """Those that a shape strains most."""
    U = np.zeros((len(MESH.nodes), 3, 1))
    U[:, 0, 0] = -np.maximum(0.0, MESH.nodes[:, 0] - LOW - 0.25)
    one = np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64)
    shapes = ShapeElements.of(MESH.nodes, MESH.tets, U.reshape(-1, 1), *one, 20)
    assert len(shapes.elements) == 20
    assert (MESH.nodes[MESH.tets[shapes.elements]][..., 0].max(axis=1) > LOW + 0.25).all()
    assert not len(shapes.inverted(np.array([0.9])))
    assert len(shapes.inverted(np.array([1.1]))) == 20
