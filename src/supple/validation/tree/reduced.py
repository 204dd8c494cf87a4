"""One reduced domain: forces against the full mesh, inertia against quadrature, fits against exact turns, scaling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.elements.recovery import first_piola
from supple.geometry import HexMesh, TetMesh, box_hexes, box_tets
from supple.material import Law, Material
from supple.modal import CubicForce, ElasticSolid, Interface, InterfaceFit, MassIntegrals, Support, linear_modes
from supple.modal.inertia_kernels import domain_inertia, system_force
from supple.modal.interfaces.interface_kernels import interface_motion
from supple.modal.solid import MassKind, hex_quadrature
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
RUBBER = Material(young=1e5, poisson=0.3, density=1100.0)


def crooked_tets(seed: int = 1) -> TetMesh:
    """A box of tets with every node moved at random."""
    mesh = box_tets(size=(0.6, 0.3, 0.2), cells=(3, 2, 2)).moved(at=(0.4, -0.1, 0.2))
    return TetMesh(mesh.nodes + np.random.default_rng(seed).uniform(-0.01, 0.01, mesh.nodes.shape), mesh.tets)


def parallelepipeds() -> HexMesh:
    """A box of hexes, sheared and turned."""
    mesh = box_hexes(size=(0.6, 0.3, 0.2), cells=(3, 2, 1))
    return HexMesh(mesh.nodes @ np.array([[1.0, 0.2, 0.1], [0.0, 1.1, -0.3], [0.2, 0.0, 0.9]]), mesh.hexes)


def random_basis(node_count: int, r: int, seed: int = 2) -> Array:
    """Columns of random displacements (3 node_count, r)."""
    return np.random.default_rng(seed).normal(size=(3 * node_count, r))


# --- the cubic force


def full_tet_force(mesh: TetMesh, u: Array) -> Array:
    """Internal force of the full mesh by the compiled sweeps of the finite elements, (3 node_count,) [N]."""
    x = mesh.nodes + u.reshape(-1, 3)
    f = np.zeros_like(x)
    for _, force in FemBody(mesh, RUBBER, law="stvk").place(Placement()).forces:
        force.add_force(LocalState(0.0, x, np.zeros_like(x)), f)
    return -f.ravel()


def full_hex_force(mesh: HexMesh, u: Array, points: int) -> Array:
    """Internal force of the full mesh with points³ Gauss points, (3 node_count,) [N]."""
    gradients, weights = hex_quadrature(mesh.nodes, mesh.hexes, points)
    x = (mesh.nodes + u.reshape(-1, 3))[mesh.hexes]
    F = np.einsum("eai,eqaj->eqij", x, gradients)
    P = first_piola(Law.STVK, F, np.full(F.shape[:2], RUBBER.lam), np.full(F.shape[:2], RUBBER.mu))
    local = np.einsum("eq,eqij,eqaj->eai", weights, P, gradients)
    f = np.zeros_like(mesh.nodes)
    np.add.at(f, mesh.hexes, local)
    return f.ravel()


def derivative(function: Callable[[float], Any], h: float) -> Any:
    """d/ds at 0 of a polynomial of degree 4 or less in s, exactly, from four values."""
    return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)


def cubic() -> list[Row]:
    """f against U^T f of the full mesh; f = dE/dq and K = df/dq, which differences of polynomials give exactly."""
    tets, hexes = crooked_tets(), parallelepipeds()
    return [
        *cubic_errors(tets, lambda u: full_tet_force(tets, u), "the full mesh"),
        *cubic_errors(hexes, lambda u: full_hex_force(hexes, u, 4), "the full mesh, 4x4x4 points"),
    ]


def cubic_errors(mesh: TetMesh | HexMesh, full: Callable[[Array], Array], source: str) -> list[Row]:
    """Rows of one mesh; full: its internal force as a function of displacements."""
    rng, U = np.random.default_rng(3), random_basis(len(mesh.nodes), 6)
    q, d = 0.05 * rng.normal(size=6), rng.normal(size=6)
    force = CubicForce.of(ElasticSolid(mesh, RUBBER), U)
    f, K = force.evaluate(q)
    slope = derivative(lambda s: force.energy(q + s * d), 0.1)
    change = derivative(lambda s: force.evaluate(q + s * d)[0], 0.1)
    errors = {
        "force": np.linalg.norm(f - U.T @ full(U @ q)) / np.linalg.norm(f),
        "f - dE/dq": abs(slope - f @ d) / (np.linalg.norm(f) * np.linalg.norm(d)),
        "K - df/dq": np.linalg.norm(change - K @ d) / np.linalg.norm(K @ d),
    }
    return [bounded("tree/cubic", f"{mesh.kind}: {name}", float(e), 1e-12, source=source) for name, e in errors.items()]


# --- inertia


def mass_points(mesh: TetMesh, mass: MassKind) -> tuple[Array, Array]:
    """Masses (p,) [kg] and shape values (p, node_count) of points that integrate products of two linear fields exactly.

    Four points of degree 2 in each tet; the nodes themselves where the mass is lumped.
    """
    near, far = (5 + 3 * np.sqrt(5)) / 20, (5 - np.sqrt(5)) / 20
    if mass == "lumped":
        shares = np.repeat(RUBBER.density * mesh.volumes / 4, 4)
        return np.bincount(mesh.tets.ravel(), weights=shares, minlength=len(mesh.nodes)), np.eye(len(mesh.nodes))
    values = np.zeros((len(mesh.tets), 4, len(mesh.nodes)))
    for point in range(4):
        for corner in range(4):
            share = near if point == corner else far
            values[np.arange(len(mesh.tets)), point, mesh.tets[:, corner]] = share
    return np.repeat(RUBBER.density * mesh.volumes / 4, 4), values.reshape(-1, len(mesh.nodes))


def integrals() -> list[Row]:
    """Inertia and system forces [BZ11, eqs. 13, 14] against quadrature over the deformed mesh, both kinds of mass."""
    rows, case, mesh, r = [], "tree/integrals", crooked_tets(), 5
    rng = np.random.default_rng(4)
    U = random_basis(len(mesh.nodes), r)
    kinds: tuple[MassKind, ...] = ("consistent", "lumped")
    for mass in kinds:
        q, q_dot, w, alpha, a = (rng.normal(size=n) for n in (r, r, 3, 3, 3))
        weights, shapes = mass_points(mesh, mass)
        modes = np.einsum("pn,nil->pil", shapes, U.reshape(-1, 3, r))
        x, flow = shapes @ mesh.nodes + modes @ q, modes @ q_dot
        g = np.cross(w, np.cross(w, x)) + 2 * np.cross(w, flow)
        expected = {
            "S": weights @ x,
            "J": np.einsum("p,pk,pk,ij->ij", weights, x, x, np.eye(3)) - np.einsum("p,pi,pj->ij", weights, x, x),
            "H": np.einsum("p,pil->il", weights, np.cross(x[:, :, None], modes, axis=1)),
            "h": np.concatenate([weights @ np.cross(x, g), weights @ g]),
            "h_modes": np.einsum("p,pil,pi->l", weights, modes, g),
            "f_sys": -np.einsum("p,pil,pi->l", weights, modes, a + np.cross(alpha, x) + g),
        }
        constants = MassIntegrals.of(ElasticSolid(mesh, RUBBER, mass=mass), U)
        inertia = domain_inertia(constants, q[None], q_dot[None], w[None])
        found = {name: getattr(inertia, name)[0] for name in ("S", "J", "H", "h", "h_modes")}
        found["f_sys"] = system_force(constants, inertia, alpha[None], a[None])[0]
        found["f_sys, eq. 14"] = printed_system_force(constants, q, q_dot, w, alpha, a)
        expected["f_sys, eq. 14"] = expected["f_sys"]
        for name, value in found.items():
            error = np.linalg.norm(value - expected[name]) / np.linalg.norm(expected[name])
            rows.append(bounded(case, f"{mass} mass: {name}", float(error), 1e-13, source="quadrature"))
    return rows


def printed_system_force(W: MassIntegrals, q: Array, q_dot: Array, w: Array, alpha: Array, a: Array) -> Array:
    """The system force as printed [BZ11, eq. 14], from the seven integrals."""
    square = w @ w
    return (
        W.W1 @ a - W.W2 @ alpha + (W.W3 + W.W4 @ q) * square
        - np.einsum("i,lij,j->l", w, W.W5, w) - 2 * np.einsum("p,lpi,i->l", q_dot, W.W6, w)
        - np.einsum("p,lpi,i->l", q, W.W6, alpha) - np.einsum("i,j,lpij,p->l", w, w, W.W7, q)
    )  # fmt: skip


# --- interfaces


def interface() -> list[Row]:
    """A turned interface returns its angle, planar or not; angular velocity and acceleration against differences."""
    rows, case = [], "tree/interface"
    mesh = box_tets(size=(0.6, 0.3, 0.2), cells=(3, 2, 2))
    planar, thick = mesh.node_region("x_max"), mesh.node_region(lambda x: x[:, 0] > 0.15)
    for label, nodes in (("planar", planar), ("thick", thick)):
        for axis in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.3, -0.5, 0.8)):
            R = rotations.to_matrix(rotations.exp(np.deg2rad(40.0) * np.array(axis) / np.linalg.norm(axis)))
            U = ((mesh.nodes - 0.1) @ (R - np.eye(3)).T).reshape(-1, 1)
            fitted = interface_motion(Interface(mesh.nodes, nodes).fit(U), np.ones((1, 1)), np.zeros((1, 1))).R[0]
            angle = np.rad2deg(np.linalg.norm(rotations.log(rotations.from_matrix(fitted))))
            quantity = f"{label}, turned by 40° about {axis}"
            rows.append(compare(case, quantity, angle, 40.0, 1e-12, unit="°", source="a rigid turn"))
            rows.append(bounded(case, quantity + ": R", float(np.abs(fitted - R).max()), 1e-12, source="a rigid turn"))
        rest = rotations.to_matrix(rotations.exp([0.4, -0.9, 0.3]))
        U = 0.3 * random_basis(len(mesh.nodes), 4)
        rows += motion_errors(f"{label}", Interface(mesh.nodes, nodes, rest_rotation=rest).fit(U))
    return rows


def motion_errors(label: str, fit: InterfaceFit) -> list[Row]:
    """Of q(t) = q + q' t + q" t²/2: w, alpha and Gamma against central differences of R [BZ11, eqs. 7-9]."""
    rng = np.random.default_rng(5)
    q, v, a = (0.05 * rng.normal(size=(1, 4)), 0.3 * rng.normal(size=(1, 4)), 0.5 * rng.normal(size=(1, 4)))

    def at(t: float) -> tuple[Array, Array]:
        motion = interface_motion(fit, q + v * t + a * t * t / 2, v + a * t)
        return motion.R[0], motion.omega[0]

    def difference(k: int) -> Array:
        h = 1e-3
        return (8 * (at(h)[k] - at(-h)[k]) - (at(2 * h)[k] - at(-2 * h)[k])) / (12 * h)

    now = interface_motion(fit, q, v)
    turning = difference(0) @ now.R[0].T
    w = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
    alpha, expected = now.Gamma[0] @ a[0] + now.alpha0[0], difference(1)
    errors = {
        "w": np.linalg.norm(now.omega[0] - w) / np.linalg.norm(w),
        "alpha": np.linalg.norm(alpha - expected) / np.linalg.norm(expected),
        "w - Gamma q'": np.linalg.norm(now.Gamma[0] @ v[0] - now.omega[0]) / np.linalg.norm(w),
    }
    case = "tree/interface"
    return [
        bounded(case, f"{label}: {name}", float(e), 1e-7, source="central differences") for name, e in errors.items()
    ]


# --- scaling


def scaling() -> list[Row]:
    """A solid 1.7 times as large: frequencies 1/s; coefficients s, 1, 1/s; integrals s³ ... s⁵; A_l 1/s."""
    s, case, source, mesh = 1.7, "tree/scaling", "a scaled mesh, computed anew", crooked_tets()
    large = TetMesh(s * mesh.nodes, mesh.tets)
    supports = [Support(ElasticSolid(m, RUBBER), [0, 5, 9, 14]) for m in (mesh, large)]
    small_modes, large_modes = (linear_modes(support, 8) for support in supports)
    ratio = large_modes.frequencies / small_modes.frequencies
    rows = [bounded(case, "8 frequencies", float(np.abs(ratio * s - 1).max()), 1e-9, source=source)]
    U, nodes = small_modes.shapes, mesh.node_region(lambda x: x[:, 0] > 0.5)
    pairs: list[tuple[Any, Any]] = [
        (CubicForce.of(supports[0].solid, U).scaled(s), CubicForce.of(supports[1].solid, U)),
        (MassIntegrals.of(supports[0].solid, U).scaled(s), MassIntegrals.of(supports[1].solid, U)),
        (Interface(mesh.nodes, nodes).fit(U).scaled(s), Interface(large.nodes, nodes).fit(U)),
    ]
    for scaled, anew in pairs:
        for name in (f.name for f in fields(anew)):
            value, reference = np.asarray(getattr(scaled, name)), np.asarray(getattr(anew, name))
            error = np.linalg.norm(value - reference) / np.linalg.norm(reference)
            rows.append(bounded(case, f"{type(anew).__name__}.{name}", float(error), 1e-12, source=source))
    return rows


CASES = {
    "tree/cubic": cubic,
    "tree/integrals": integrals,
    "tree/interface": interface,
    "tree/scaling": scaling,
}
