"""Mass integrals, inertia of deformed domains, interface fits: symmetries, rigid domains, the limits of a fit."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.geometry import box_tets
from supple.material import Material
from supple.modal import ElasticSolid, Interface, MassIntegrals, Support, linear_modes
from supple.modal.inertia_kernels import DomainInertia, compute_inertia, domain_inertia, mixed_rows, system_force
from supple.modal.interfaces.interface_kernels import InterfaceMotion, compute_interfaces, interface_motion

WOOD = Material(young=1e6, poisson=0.3, density=600.0)
MESH = box_tets(size=(0.6, 0.3, 0.2), cells=(3, 2, 1)).moved(at=(-0.3, 0, 0))  # its centre at the origin


def random_state(r, n=4):
    rng = np.random.default_rng(7)
    return rng.normal(size=(n, r)), rng.normal(size=(n, r)), rng.normal(size=(n, 3))


@pytest.mark.parametrize("mass", ["consistent", "lumped"])
def test_integrals_have_their_symmetries(mass):
    solid = ElasticSolid(MESH, WOOD, mass=mass)
    U = np.random.default_rng(1).normal(size=(3 * solid.node_count, 4))
    W = MassIntegrals.of(solid, U)
    np.testing.assert_allclose(W.W4, U.T @ solid.mass_product(U), rtol=1e-12)
    np.testing.assert_allclose(W.W6, -W.W6.transpose(1, 0, 2), atol=1e-14 * np.abs(W.W6).max())
    np.testing.assert_allclose(W.W1[0], -(solid.mass_product(U)[:, 0].reshape(-1, 3)).sum(axis=0), rtol=1e-12)
    assert W.mass == pytest.approx(0.6 * 0.3 * 0.2 * 600)


def test_a_rigid_domain_is_a_box():
    """r = 0: the inertia of a box about its centre; the consistent mass integrates it exactly."""
    solid = ElasticSolid(MESH, WOOD)
    W = MassIntegrals.of(solid, np.zeros((3 * solid.node_count, 0)))
    w = np.array([[0.3, -0.5, 0.7]])
    found = domain_inertia(W, np.zeros((1, 0)), np.zeros((1, 0)), w)
    a, b, c = 0.6, 0.3, 0.2
    J = W.mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    np.testing.assert_allclose(found.J[0], J, atol=1e-13)
    np.testing.assert_allclose(found.h[0, :3], np.cross(w[0], J @ w[0]), atol=1e-13)


def test_free_modes_do_not_move_the_centre():
    """int rho U = 0 and int rho X x U = 0, so at rest no acceleration of the frame excites them."""
    solid = ElasticSolid(MESH, WOOD)
    W = MassIntegrals.of(solid, linear_modes(Support(solid), 4).shapes)
    zero = np.zeros((1, 4))
    rest = domain_inertia(W, zero, zero, np.zeros((1, 3)))
    f = system_force(W, rest, np.array([[1.0, 2.0, 3.0]]), np.array([[9.0, 5.0, 7.0]]))
    assert np.abs(f).max() < 1e-11


def test_the_kernel_writes_every_output():
    solid = ElasticSolid(MESH, WOOD)
    W = MassIntegrals.of(solid, np.random.default_rng(2).normal(size=(3 * solid.node_count, 3)))
    q, v, w = random_state(3)
    out = DomainInertia(*(np.full_like(a, np.nan) for a in DomainInertia.empty(4, 3)))
    compute_inertia(W.S0, W.P0, W.U_bar, W.W5, mixed_rows(W), q, v, w, out)
    for name, value in domain_inertia(W, q, v, w)._asdict().items():
        np.testing.assert_array_equal(getattr(out, name), value)


def test_kinetic_energy_is_that_of_the_points():
    """1/2 int rho |v0 + w x x + U q'|² by the blocks of the frame against the nodes."""
    solid = ElasticSolid(MESH, WOOD, mass="lumped")
    U = np.random.default_rng(3).normal(size=(3 * solid.node_count, 3))
    W = MassIntegrals.of(solid, U)
    q, v, w = random_state(3, 1)
    v0 = np.array([0.4, -1.0, 0.2])
    d = domain_inertia(W, q, v, w)
    energy = 0.5 * (
        W.mass * v0 @ v0 + w[0] @ d.J[0] @ w[0] + v[0] @ W.W4 @ v[0]
        + 2 * v0 @ np.cross(w[0], d.S[0]) + 2 * v0 @ (W.U_bar @ v[0]) + 2 * w[0] @ (d.H[0] @ v[0])
    )  # fmt: skip
    x = MESH.nodes + (U @ q[0]).reshape(-1, 3)
    speed = v0 + np.cross(w[0], x) + (U @ v[0]).reshape(-1, 3)
    assert energy == pytest.approx(0.5 * solid.lumped_mass @ (speed**2).sum(axis=1), rel=1e-12)


def test_forces_of_motion_are_masses_times_accelerations():
    """Nodes of a domain whose frame accelerates and turns have a + alpha x x + w x (w x x) + 2 w x U q': its terms of
    velocity, and what the frame's motion does to the modes, are the sums over nodes."""
    solid = ElasticSolid(MESH, WOOD, mass="lumped")
    U = np.random.default_rng(3).normal(size=(3 * solid.node_count, 3))
    W, m = MassIntegrals.of(solid, U), solid.lumped_mass[:, None]
    q, v, w = random_state(3)
    a, alpha = np.random.default_rng(8).normal(size=(2, 4, 3))
    found = domain_inertia(W, q, v, w)
    force = system_force(W, found, alpha, a)
    for k in range(4):
        x, u = MESH.nodes + (U @ q[k]).reshape(-1, 3), (U @ v[k]).reshape(-1, 3)
        own = np.cross(w[k], np.cross(w[k], x) + 2 * u)
        np.testing.assert_allclose(found.h[k, :3], (np.cross(x, m * own)).sum(axis=0), rtol=1e-11)
        np.testing.assert_allclose(found.h[k, 3:], (m * own).sum(axis=0), rtol=1e-11)
        whole = m * (a[k] + np.cross(alpha[k], x) + own)
        np.testing.assert_allclose(force[k], -U.T @ whole.ravel(), rtol=1e-10)


def test_a_linear_tilt_is_fitted_as_its_arctangent():
    nodes = MESH.node_region("x_max")
    U = np.cross([0.0, 1.0, 0.0], MESH.nodes - [0.3, 0, 0]).reshape(-1, 1)
    tilt = np.deg2rad(40.0)
    R = interface_motion(Interface(MESH.nodes, nodes).fit(U), np.array([[tilt]]), np.zeros((1, 1))).R[0]
    angle = np.linalg.norm(rotations.log(rotations.from_matrix(R)))
    assert np.rad2deg(angle) == pytest.approx(34.9, abs=0.05)
    assert angle == pytest.approx(np.arctan(tilt), rel=1e-12)


def test_the_rest_frame_is_the_rest_rotation():
    rest = rotations.to_matrix(rotations.exp([0.4, 0.2, -0.9]))
    interface = Interface(MESH.nodes, MESH.node_region("x_max"), rest_rotation=rest)
    fit = interface.fit(np.random.default_rng(4).normal(size=(3 * len(MESH.nodes), 2)))
    motion = interface_motion(fit, np.zeros((3, 2)), np.zeros((3, 2)))
    np.testing.assert_allclose(motion.R, np.broadcast_to(rest, (3, 3, 3)), atol=1e-14)
    np.testing.assert_allclose(motion.x, np.broadcast_to([0.3, 0, 0], (3, 3)), atol=1e-15)
    np.testing.assert_allclose(motion.margin, 1.0, rtol=1e-12)  # a plane has singular values 1, 1, 0
    assert interface.is_planar


def test_an_interface_of_a_rigid_domain_stays():
    fit = Interface(MESH.nodes, MESH.node_region("x_max")).fit(np.zeros((3 * len(MESH.nodes), 0)))
    motion = interface_motion(fit, np.zeros((2, 0)), np.zeros((2, 0)))
    np.testing.assert_allclose(motion.R, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-14)
    np.testing.assert_array_equal(motion.omega, 0.0)


def test_a_frame_does_not_depend_on_its_neighbours():
    """Eleven instances, lanes full and not: each as alone, bit for bit."""
    fit = Interface(MESH.nodes, MESH.node_region("x_max")).fit(
        np.random.default_rng(5).normal(size=(3 * len(MESH.nodes), 2))
    )
    q, v, _ = random_state(2, 11)
    together = interface_motion(fit, 0.1 * q, v)
    for k in range(11):
        alone = interface_motion(fit, 0.1 * q[k : k + 1], v[k : k + 1])
        for name, value in alone._asdict().items():
            np.testing.assert_array_equal(getattr(together, name)[k], value[0], err_msg=name)


def test_the_interface_kernel_writes_every_output():
    fit = Interface(MESH.nodes, MESH.node_region("x_max")).fit(
        np.random.default_rng(5).normal(size=(3 * len(MESH.nodes), 2))
    )
    q, v, _ = random_state(2)
    out = InterfaceMotion(*(np.full_like(a, np.nan) for a in InterfaceMotion.empty(4, 2)))
    compute_interfaces(fit.x_hat, fit.a_hat, fit.A_rest, fit.A_modes, 0.1 * q, v, out)
    assert all(np.isfinite(a).all() for a in out)


def test_bad_interfaces_are_told():
    X = MESH.nodes
    edge = MESH.node_region(lambda x: (x[:, 0] > 0.29) & (x[:, 2] > 0.09))
    with pytest.raises(InputError, match="in line"):
        Interface(X, edge)
    with pytest.raises(InputError, match="each once"):
        Interface(X, [0, 1, 1, 2])
    with pytest.raises(InputError, match="out of range"):
        Interface(X, [0, 1, 1000])
    with pytest.raises(InputError, match="weights"):
        Interface(X, [0, 1, 2, 3], weights=[1, 1, -1, 1])
    with pytest.raises(InputError, match="not a rotation"):
        Interface(X, [0, 1, 2, 3], rest_rotation=np.diag([1, 1, -1]))
    fit = Interface(X, [0, 1, 2, 3]).fit(np.zeros((3 * len(X), 2)))
    with pytest.raises(InputError, match="do not fit"):
        interface_motion(fit, np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(InputError, match="basis does not fit"):
        Interface(X, [0, 1, 2, 3]).fit(np.zeros((4, 2)))
    with pytest.raises(InputError, match="basis does not fit"):
        MassIntegrals.of(ElasticSolid(MESH, WOOD), np.zeros((4, 2)))
