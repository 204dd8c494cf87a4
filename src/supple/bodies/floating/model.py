"""`FloatingModel`: what a floating body is made of, all computed before time starts.

    x = c + R (X + U q)          X positions at rest in the frame, U shapes, q (r,) reduced coordinates

    modes                        held nodes                 frame                               rigid motion in U
    "x_min" or other `fixed`     stay in the frame          moves with them                     none: they are held
    free, `fixed` None           none                       mean axes: int rho U = 0 and        taken out
                                                            int rho X x U = 0; at the centre
                                                            of mass
    a basis of one's own         as the caller says         as the caller says                  found and taken out,
                                                                                                with a warning

A stiffness is positive definite only without rigid motion among the shapes [GOMGL07, eq. 3]. Shapes of `reduce`, made
from vibration modes and responses to loads at interfaces, are the vibration modes of their span: U^T M U = I and K is
diagonal.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array, check_vector
from supple.algebra.sparse.eigenpairs import fix_signs
from supple.bodies.floating.kernels import InertiaNumbers
from supple.bodies.floating.stiffening import centrifugal_stiffness, turning_part
from supple.errors import InputError, check_flag, check_row
from supple.modal.basis import attachment_modes
from supple.modal.forces.cubic import CubicForce
from supple.modal.integrals import MassIntegrals
from supple.modal.interfaces.interface import Interface
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support
from supple.modal.vibration import linear_modes

Array = np.ndarray
RIGID = 1e-9
"""Rigid motion is in the span where the cosine of the angle between both, in the mass, is nearer to one."""
DEPENDENT = 1e-10
"""Of the largest eigenvalue of U^T M U: a smaller one means that the shapes depend on each other."""


@dataclass(frozen=True, eq=False)
class FloatingModel:
    """support: the solid and how it is held. U: shapes (3 node_count, r). origin: of the frame, in the mesh [m].

    K (r, r) [N/m]; stiffening (r, r, 3, 3) [kg] or None; cubic: the exact force of the modes, or None.
    """

    support: Support
    U: Array
    origin: Array
    K: Array
    stiffening: Array | None = field(default=None, kw_only=True)
    cubic: CubicForce | None = field(default=None, kw_only=True)

    @property
    def solid(self) -> Any:
        """The solid: an `ElasticSolid` or a `MatrixSolid`."""
        return self.support.solid

    def scaled(self, stiffness: float, density: float) -> FloatingModel:
        """With a stiffness and a mass so many times as large, in the same shapes."""
        support = replace(self.support, solid=self.solid.scaled(stiffness, density))
        cubic, s = self.cubic, stiffness
        if cubic is not None:
            cubic = CubicForce(s * cubic.linear, s * cubic.quadratic, s * cubic.cubic)
        tension = None if self.stiffening is None else density * self.stiffening
        return replace(self, support=support, K=stiffness * self.K, stiffening=tension, cubic=cubic)

    @property
    def mode_count(self) -> int:
        """r."""
        return self.U.shape[1]

    @cached_property
    def X(self) -> Array:
        """Node positions at rest in the frame, (node_count, 3) [m]."""
        return np.asarray(self.solid.mesh.nodes) - self.origin

    @cached_property
    def shapes(self) -> Array:
        """U by nodes, (node_count, 3, r)."""
        return self.U.reshape(-1, 3, self.mode_count)

    @cached_property
    def integrals(self) -> MassIntegrals:
        """Mass integrals about the frame's origin."""
        g, o = MassIntegrals.of(self.solid, self.U), self.origin
        shift = np.outer(g.S0, o)
        P0 = g.P0 - shift - shift.T + g.mass * np.outer(o, o)
        W5 = g.W5 - g.U_bar.T[:, :, None] * o
        return MassIntegrals(g.mass, g.S0 - g.mass * o, P0, g.U_bar, W5, g.W7)

    @cached_property
    def numbers(self) -> InertiaNumbers:
        """The integrals as the kernels take them."""
        g, r = self.integrals, self.mode_count

        def rows(W7: Array) -> Array:
            return np.ascontiguousarray(W7.transpose(1, 0, 2, 3)).reshape(r, 9 * r)

        turning = g.W7 if self.stiffening is None else turning_part(g.W7, self.stiffening)
        W5 = np.ascontiguousarray(g.W5).reshape(9 * r)
        return InertiaNumbers(g.mass, g.S0, g.P0, g.U_bar, W5, rows(g.W7), rows(turning), np.ascontiguousarray(g.W4))

    @cached_property
    def eigen(self) -> tuple[Array, Array]:
        """Values (r,) [1/s²] and vectors (r, r) of K against the reduced mass, in the held frame."""
        values, vectors = scipy.linalg.eigh(self.K, self.numbers.Me)
        return values, vectors

    @property
    def frequencies(self) -> Array:
        """Of the modes in the held frame, (r,) [Hz], ascending."""
        return np.sqrt(np.maximum(self.eigen[0], 0.0)) / (2 * np.pi)

    def damping(self, *, mass: float, stiffness: float, ratio: ArrayLike) -> Array:
        """D = mass M + stiffness K + modal damping of the given ratios, (r, r) [N s/m] for q [m]."""
        ratios = check_array(ratio, name="damping_ratio", where="FloatingBody")
        if ratios.shape not in ((), (self.mode_count,)):
            allowed = f"one number or {self.mode_count}"
            raise InputError(
                "there is not one damping_ratio a mode", where="FloatingBody", value=ratio, allowed=allowed
            )
        ratios = np.broadcast_to(ratios, (self.mode_count,))
        for name, given in (("mass_damping", mass), ("stiffness_damping", stiffness), ("damping_ratio", ratios)):
            if not np.isfinite(given).all() or np.min(given) < 0:
                raise InputError(f"{name} is negative or not finite", where="FloatingBody", value=given)
        values, vectors = self.eigen
        Me = self.numbers.Me
        turned = Me @ vectors
        modal = (turned * (2 * ratios * np.sqrt(np.maximum(values, 0.0)))) @ turned.T
        return mass * Me + stiffness * self.K + modal


def make_model(
    support: Support,
    U: Array,
    *,
    origin: ArrayLike | None,
    stiffening: bool,
    cubic: bool,
) -> FloatingModel:
    """A model of given shapes, rigid motion taken out."""
    for name, value in (("stiffening", stiffening), ("cubic", cubic)):
        check_flag(value, name=name, where="FloatingBody")
    if stiffening and cubic:
        raise InputError(
            "stiffening and the cubic force both hold the tension of a spinning body",
            where="FloatingBody",
            fix="Choose one: stiffening for bending modes, cubic for a basis with modal derivatives.",
        )
    U = without_rigid_span(support, np.ascontiguousarray(U, dtype=float))
    solid: Any = support.solid
    if origin is not None:
        o = check_vector(origin, name="origin", where="FloatingBody")
    elif len(support.fixed_nodes):
        o = np.zeros(3)
    else:
        o = solid.lumped_mass @ solid.mesh.nodes / solid.total_mass
    K = U.T @ (solid.stiffness @ U)
    force = None
    if cubic:
        if not isinstance(solid, ElasticSolid):
            raise InputError("the cubic force needs the elements and their material", where="FloatingBody")
        force = CubicForce.of(solid, U)
    G = centrifugal_stiffness(support, U, solid.mesh.nodes - o) if stiffening else None
    return FloatingModel(support, U, o, 0.5 * (K + K.T), stiffening=G, cubic=force)


def reduce(support: Support, modes: int, interfaces: Sequence[Interface] = ()) -> Array:
    """Shapes (3 node_count, r): `modes` vibration modes, and six attachment modes an interface, orthonormal."""
    shapes = linear_modes(support, modes).shapes
    check_row(interfaces, Interface, "interfaces", where="FloatingBody, interfaces")
    if not interfaces:
        return shapes
    parts = [shapes] + [attachment_modes(support, interface) for interface in interfaces]
    U = np.concatenate(parts, axis=1)
    solid: Any = support.solid
    U = U / np.sqrt(np.einsum("ij,ij->j", U, solid.mass_product(U)))
    values, vectors = np.linalg.eigh(U.T @ solid.mass_product(U))
    kept = values > DEPENDENT * values[-1]
    U = U @ (vectors[:, kept] / np.sqrt(values[kept]))
    _, turn = np.linalg.eigh(U.T @ (solid.stiffness @ U))
    U = np.ascontiguousarray(U @ turn)
    fix_signs(U)
    return U


def without_rigid_span(support: Support, U: Array) -> Array:
    """U, or where its span holds rigid motion, the elastic vibration modes of the span."""
    solid: Any = support.solid
    if U.ndim != 2 or U.shape[0] != 3 * solid.node_count or not U.shape[1] or not np.isfinite(U).all():
        allowed = f"({3 * solid.node_count}, r), finite"
        raise InputError("the basis does not fit the solid", where="FloatingBody", value=U.shape, allowed=allowed)
    M = U.T @ solid.mass_product(U)
    sizes = np.linalg.eigvalsh(M / np.sqrt(np.outer(M.diagonal(), M.diagonal())))
    if not sizes[0] > DEPENDENT * sizes[-1]:
        raise InputError(
            "the shapes depend on each other, so the reduced mass is not positive definite",
            where="FloatingBody",
            value=float(sizes[0] / sizes[-1]),
            fix="Leave out shapes that others already hold.",
        )
    V = scipy.linalg.solve_triangular(np.linalg.cholesky(0.5 * (M + M.T)), U.T, lower=True).T  # V^T M V = I
    motions = Support(solid, None).rigid_modes
    _, cosines, directions = np.linalg.svd(motions.T @ solid.mass_product(V))
    rigid = int(np.count_nonzero(cosines > 1.0 - RIGID))
    if not rigid:
        return U
    if rigid == U.shape[1]:
        raise InputError("all shapes are rigid motion", where="FloatingBody", fix="A RigidBody says the same.")
    warnings.warn(
        f"the shapes of a floating body hold {rigid} rigid motions, which its frame makes already; they were taken out "
        f"and the {U.shape[1] - rigid} vibration modes of the rest are used",
        stacklevel=4,
    )
    rest = support.without_rigid(V @ directions[rigid:].T)
    _, vectors = np.linalg.eigh(rest.T @ (solid.stiffness @ rest))
    out = np.ascontiguousarray(rest @ vectors)
    fix_signs(out)
    return out
