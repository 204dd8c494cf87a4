"""Points on points: chains, joins and embedded points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.laws.mappings.implementers import DIFFERENCED, RNG, moved

import supple as sp
from supple.bodies.mappings import FramePoints
from supple.errors import InputError
from supple.scene import join
from supple.scene.derivatives import check_derivatives, differentiate, relative_error
from supple.scene.linearization import slot_jacobian


def two_bodies() -> tuple[sp.Scene, Any, Any, Any]:
    scene = sp.Scene()
    box = scene.add(
        sp.RigidBody.box((0.3, 0.2, 0.4), density=700), at=(0.5, 0.2, 1.0), rotation=(0.3, -0.5, 0.8), name="box"
    )
    rod = scene.add(
        sp.RigidBody.cylinder(0.1, 0.5, density=900), at=(-0.4, 0.1, 0.9), rotation=(1.0, 0.2, 0.1), name="rod"
    )
    dots = scene.add(sp.Particles(RNG.normal(size=(4, 3)), 0.3), name="dots")
    return scene, box, rod, dots


def chained_scene() -> sp.Scene:
    """Points on two frames and particles, joined, some of them, averaged across bodies, and their centroid."""
    scene, box, rod, dots = two_bodies()
    a = box.points(local=RNG.uniform(-0.2, 0.2, (3, 3)))
    b = rod.points(local=RNG.uniform(-0.2, 0.2, (2, 3)))
    everything = join(a, b, dots.points([0, 2]), sp.World.points([[1.0, 1.0, 1.0]]))
    mixed = everything.combined(RNG.dirichlet(np.ones(8), 3), label="mixed")
    some = mixed.subset([2, 0])
    scene.add(sp.Springs(some, sp.World.points(RNG.normal(size=(2, 3))), 30.0, 0.5, rest_length=0.4), name="on some")
    scene.add(sp.Springs(mixed.centroid(), dots.points([3]), 20.0, rest_length=0.1), name="on the centroid")
    scene.add(sp.Springs(a, box.points(local=RNG.normal(size=(3, 3))), 5.0, rest_length=0.2), name="inside one body")
    return scene


def test_chains_and_joins_carry_positions_velocities_and_forces():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    kin = system.propagate(0.0, x, v)
    for slot in system.slots:
        if slot.is_body or slot.fixed is not None:
            continue
        d = np.random.default_rng(slot.index).normal(size=system.v_size)
        slope = differentiate(
            lambda e, d=d, k=slot.index: system.propagate(0.0, system.retract(x, e * d), v).x[k], 1e-3
        )
        pushed = kin.push(d)[slot.index]
        assert relative_error(pushed, slope) <= DIFFERENCED, slot.name
        np.testing.assert_allclose(slot_jacobian(kin, slot, system.v_size) @ d, pushed.ravel(), atol=1e-13)
        f = [np.zeros_like(w) for w in kin.v]
        f[slot.index] += np.random.default_rng(3).normal(size=f[slot.index].shape)
        work = np.sum(f[slot.index] * pushed)
        kin.pull(f)
        assert system.gather(f) @ d == pytest.approx(work, rel=1e-12)


def test_chained_forces_have_exact_tangents():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    report = check_derivatives(system, x, v, step=1e-3)
    assert report.is_ok, str(report)
    assert "assembled = products" in report.errors
    d = RNG.normal(size=system.v_size)
    kin = system.propagate(0.0, x, v)
    work = system.force(system.propagate(0.0, x, 0 * v)) @ d
    energy = lambda e: system.potential_energy(system.propagate(0.0, system.retract(x, e * d), v))  # noqa: E731
    assert work == pytest.approx(-differentiate(energy, 1e-3), rel=1e-8)
    # the dampers are at rest at v = 0 and dissipate elsewhere
    assert (system.force(kin) - system.force(system.propagate(0.0, x, 0 * v))) @ v < 0


def test_bias_of_chains_is_the_acceleration_at_constant_velocity():
    scene = chained_scene()
    system = scene.compile()
    x, v = moved(system)
    biases = system.propagate(0.0, x, v).biases()
    for slot in system.slots:
        rate = differentiate(lambda e, k=slot.index: system.propagate(0.0, system.retract(x, e * v), v).v[k], 1e-3)
        assert np.abs(biases[slot.index] - rate).max() <= 1e-8, slot.name


def test_embedded_points_of_a_soft_body_are_barycentric():
    mesh = sp.box_tets(size=(1.0, 0.4, 0.4), cells=(3, 2, 2))
    scene = sp.Scene()
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    beam = scene.add(sp.FemBody(mesh, stuff), at=(0.0, 1.0, 0.0), rotation=(0.0, 0.0, 0.7), name="beam")
    inside = beam.placement.apply(RNG.uniform([0.1, -0.1, -0.1], [0.9, 0.1, 0.1], (7, 3)))
    points = beam.points(at=inside)
    np.testing.assert_allclose(points.rest, inside, atol=1e-13)
    np.testing.assert_allclose(points.mapping.weights.sum(axis=1), 1.0, atol=1e-13)
    A = RNG.normal(size=(3, 3))  # an affine field is carried exactly
    np.testing.assert_allclose(points.mapping.apply(beam.rest @ A.T + 1.0), inside @ A.T + 1.0, atol=1e-12)
    np.testing.assert_allclose(
        beam.points("x_max").centroid().rest[0], beam.rest[mesh.node_region("x_max")].mean(axis=0)
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda s, n: n.points([0, 9]), "out of range"),
        (lambda s, n: n.points([-1, 2]), "got -1"),
        (lambda s, n: n.points([]), "selection is empty"),
        (lambda s, n: n.points("x_max"), "no named regions"),
        (lambda s, n: n.points(at=(0, 0, 0)), "no space to embed"),
        (lambda s, n: sp.World.points([[0.0, 1.0]]), "points in the world"),
        (lambda s, n: FramePoints.make([[0.0, np.nan, 1.0]]), "points on a frame"),
        (lambda s, n: s.group("all").points(), "a group has no points"),
        (lambda s, n: sp.Springs(n.points([0]), n.points([1, 2]), 1.0), "different numbers of points"),
    ],
)
def test_bad_points_are_refused(make, says):
    scene = sp.Scene()
    node = scene.add(sp.Particles(np.eye(3), 1.0), name="dots")
    with pytest.raises(InputError, match=says):
        make(scene, node)
