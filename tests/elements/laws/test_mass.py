"""Masses of elements and of several materials."""

from __future__ import annotations

import numpy as np
import pytest
from tests.elements.laws.deformed import ROUNDING, SIZE, STUFF, all_kinds, deformed, force_at, mesh_of

from supple.bodies.fem import FemBody
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.elements.element_set import ElementSet
from supple.elements.mass import element_masses, lumped_mass
from supple.geometry import Region, TetMesh
from supple.material import Law, Material
from supple.scene.derivatives import relative_error


def box_inertia(mass):
    return mass / 12 * np.diag(np.sum(SIZE**2) - SIZE**2)


@all_kinds
def test_consistent_mass_has_the_total_and_the_energy_of_rigid_motion(kind):
    """Quadratic integrands are exact: v = a + w × x over a box of known inertia."""
    mesh = mesh_of(kind)
    body = FemBody(mesh, STUFF, mass="consistent")
    total = STUFF.density * SIZE.prod()
    assert body.total_mass == pytest.approx(total, rel=1e-13)
    centre = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    a, w = np.array([0.3, -1.0, 2.0]), np.array([1.5, 0.4, -0.7])
    v = a + np.cross(w, mesh.nodes - centre)
    p = np.zeros_like(v)
    body.point_mass.add_product(v, p, 1.0)
    expected = 0.5 * total * a @ a + 0.5 * w @ box_inertia(total) @ w
    assert 0.5 * np.sum(p * v) == pytest.approx(expected, rel=1e-12)
    momentum = body.point_mass.momentum(LocalState(0.0, mesh.nodes - centre, v))
    np.testing.assert_allclose(momentum[:3], total * a, rtol=1e-12)
    np.testing.assert_allclose(momentum[3:], box_inertia(total) @ w, rtol=1e-12)


@all_kinds
def test_consistent_mass_is_symmetric_positive_and_sums_to_the_lumped(kind):
    mesh = mesh_of(kind)
    m = FemBody(mesh, STUFF, mass="consistent").point_mass.m.toarray()
    assert np.abs(m - m.T).max() <= 1e-15 * np.abs(m).max()
    assert np.linalg.eigvalsh(m)[0] > 0
    lumped = lumped_mass(mesh.nodes, mesh.elements, np.float64(STUFF.density))
    np.testing.assert_allclose(m.sum(axis=1), lumped, rtol=1e-13)
    assert (lumped > 0).all()
    assert lumped.sum() == pytest.approx(STUFF.density * SIZE.prod(), rel=1e-13)


@all_kinds
def test_mass_solve_inverts_the_product(kind):
    mesh = mesh_of(kind)
    for choice in ("lumped", "consistent"):
        mass = FemBody(mesh, STUFF, mass=choice).point_mass
        v, p = np.random.default_rng(0).normal(size=mesh.nodes.shape), np.zeros_like(mesh.nodes)
        mass.add_product(v, p, 1.0)
        np.testing.assert_allclose(mass.solve(p), v, atol=1e-12)


def test_density_of_each_element_counts():
    mesh = mesh_of("tets")
    density = np.linspace(100.0, 1000.0, len(mesh.elements))
    volumes = element_masses(mesh.nodes, mesh.elements, np.float64(1.0)).sum(axis=(1, 2))
    m = lumped_mass(mesh.nodes, mesh.elements, density)
    assert m.sum() == pytest.approx(density @ volumes, rel=1e-13)


def test_elements_of_two_materials_share_the_force():
    """One body of two regions: its forces are those of its parts, and the energy is their sum."""
    mesh = mesh_of("tets")
    middle = mesh.nodes[mesh.elements].mean(axis=1)[:, 0]
    left = np.flatnonzero(middle < 0.5)
    right = np.flatnonzero(middle >= 0.5)
    tagged = TetMesh(mesh.nodes, mesh.elements, {"soft": Region(elements=left), "hard": Region(elements=right)})
    soft = Material(young=1e5, poisson=0.2, density=500, name="soft")
    hard = Material(young=1e6, poisson=0.4, density=2000, name="hard")
    placed = FemBody(tagged, {"soft": soft, "hard": hard}).place(Placement())
    x = deformed("tets")
    f, energy = np.zeros_like(x), 0.0
    for _, force in placed.forces:
        force.add_force(LocalState(0.0, x, np.zeros_like(x)), f)
        energy += force.energy(LocalState(0.0, x, np.zeros_like(x)))
    lam, mu = np.empty(len(mesh.elements)), np.empty(len(mesh.elements))
    lam[left], mu[left], lam[right], mu[right] = soft.lam, soft.mu, hard.lam, hard.mu
    whole = ElementSet.make(mesh.nodes, mesh.elements, lam, mu)
    assert relative_error(f, force_at(whole, Law.COROTATIONAL, x)) <= ROUNDING
    assert energy == pytest.approx(whole.energy(Law.COROTATIONAL, x), rel=ROUNDING)


def test_each_region_is_damped_by_its_own_material():
    """One body of two regions, moving: f - f_elastic is the sum of the dampings of its parts, each with its beta."""
    mesh = mesh_of("tets")
    left = mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 0.5
    parts = {"soft": np.flatnonzero(left), "hard": np.flatnonzero(~left)}
    tagged = TetMesh(mesh.nodes, mesh.elements, {name: Region(elements=part) for name, part in parts.items()})
    stuff = {
        "soft": Material(young=1e5, poisson=0.2, density=500, stiffness_damping=0.03, name="soft"),
        "hard": Material(young=1e6, poisson=0.4, density=2000, stiffness_damping=0.002, name="hard"),
    }
    x, v = deformed("tets"), np.random.default_rng(4).normal(size=mesh.nodes.shape)
    f, expected = np.zeros_like(x), np.zeros_like(x)
    for _, force in FemBody(tagged, stuff).place(Placement()).forces:
        force.add_force(LocalState(0.0, x, v), f)
        force.add_force(LocalState(0.0, x, np.zeros_like(v)), still := np.zeros_like(x))
        f -= still
    for name, part in parts.items():
        own = ElementSet.make(mesh.nodes, mesh.elements[part], stuff[name].lam, stuff[name].mu)
        own.add_viscous_force(Law.COROTATIONAL, x, v, stuff[name].stiffness_damping, expected)
    assert relative_error(f, expected) <= 1e3 * ROUNDING
