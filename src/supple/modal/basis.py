"""`reduced_basis`: the r displacement fields that a domain may move in, by mass-weighted principal components.

The snapshots, scaled by how far a load of unit mass norm moves the solid along them, compete for the r places:

    (lambda_1 / lambda_i) psi_i                                      linear modes
    (lambda_1² / (lambda_i lambda_j)) phi_ij / |phi_ij|_M             modal derivatives             [BJ05]
    (lambda_1 m_c / sqrt m) K^-1 b,   (lambda_1 m_c l_c / sqrt m) K^-1 t     attachment modes

A scaled linear mode is lambda_1 times the static response to the load M psi_i, of acceleration amplitude about
1 / sqrt(m), m the solid's mass. An attachment mode is the response to the unit force b or torque t of an interface, so
it is scaled to the same acceleration of what hangs there: a mass m_c at the distance l_c. The singular vectors of the
snapshots in the mass norm are the basis, U^T M U = I, largest component positive.

What bends moves far and wins, what is only stretched moves little and loses. With `statics`, the basis gives as many
places as are needed to static responses, so that it is soft enough under all loads of a domain (`compliance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.linalg

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.eigenpairs import fix_signs
from supple.errors import InputError, check_choice
from supple.modal.alignment import align_equal
from supple.modal.compliance import Loaded, Loss, StaticLoads, inertia_loads, missed_responses, needed_vectors
from supple.modal.derivatives import pair_indices, second_differential
from supple.modal.interfaces.interface import Interface
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support
from supple.modal.vibration import LinearModes, linear_modes

Array = np.ndarray
Inner = Literal["mass", "lumped"]

MAX_LINEAR = 20
"""Linear modes that are derived from, unless told otherwise."""
SMALLEST_SHARE = 1e-7
"""Of the largest singular value: directions with less are rounding."""
SECOND_SHARE = 0.01
"""Modal derivatives that the losses of compliance count: lambda_1² / (lambda_i lambda_j) at least."""
MORE = 12
"""Vectors beyond twice the count among which those needed are looked for, where a basis is too small."""
EQUAL = 1e-6
"""Singular values that differ by less than this part are one multiple value."""


@dataclass(frozen=True, eq=False)
class Attachment:
    """An interface that carries something. mass: what hangs there [kg]. arm: how far from it the mass lies [m]."""

    interface: Interface
    mass: float = field(kw_only=True)
    arm: float = field(kw_only=True)

    def __post_init__(self) -> None:
        for name in ("mass", "arm"):
            value = getattr(self, name)
            if not np.isfinite(value) or value <= 0:
                raise InputError(f"the {name} of the attachment is not positive", where="Attachment", value=value)


@dataclass(frozen=True, eq=False)
class Basis:
    """U (3 node_count, r), orthonormal in the mass. sizes: singular values (all of them), descending.

    modes: the linear modes the basis was made from. loss: of compliance.
    """

    U: Array
    sizes: Array
    modes: LinearModes
    loss: Loss


def attachment_modes(support: Support, interface: Interface) -> Array:
    """Responses (3 node_count, 6) to three unit forces [m/N], then three unit torques [m/(N m)] of an interface."""
    return support.static_response(interface.unit_loads())


def mass_principal_components(
    solid: ElasticSolid, snapshots: Array, count: int, *, inner: Inner = "mass"
) -> tuple[Array, Array]:
    """The `count` leading directions (3 node_count, count) of snapshots, and all singular values.

    inner: the norm, "mass" the solid's own or "lumped" its row sums.
    """
    heavy = inner_product(solid, inner)
    return _leading(solid, snapshots, heavy(snapshots), np.ones(snapshots.shape[1]), count, heavy)


def inner_product(solid: ElasticSolid, inner: Inner) -> Callable[[Array], Array]:
    """The product of columns (3 node_count, r) with the matrix of an inner product."""
    check_choice(inner, ("mass", "lumped"), "inner product")
    row_mass = np.repeat(solid.lumped_mass, 3)[:, None]
    return solid.mass_product if inner == "mass" else lambda U: row_mass * U


def _leading(
    solid: ElasticSolid,
    snapshots: Array,
    products: Array,
    scale: Array,
    count: int,
    heavy: Callable[[Array], Array],
) -> tuple[Array, Array]:
    """The same of the columns of snapshots times `scale` (k,). heavy: the inner product; products: of the snapshots."""
    with one_blas_thread():
        squares, weights = np.linalg.eigh((snapshots.T @ products) * scale[:, None] * scale)
        sizes = np.sqrt(np.maximum(squares[::-1], 0.0))
        known = int(np.count_nonzero(sizes > SMALLEST_SHARE * sizes[0]))
        if not 1 <= count <= known:
            raise InputError(
                "the snapshots do not hold so many directions",
                where="mass_principal_components",
                value=count,
                allowed=f"1 to {known}",
                fix="Ask for fewer, or give more linear modes.",
            )
        more = min(count + 1, known)  # the last may have an equal
        U = snapshots @ (scale[:, None] * weights[:, ::-1][:, :more] / sizes[:more])
        U = align_equal(sizes[:more], U, solid.lumped_mass, tolerance=EQUAL)[:, :count]
    return _orthonormal(U, heavy), sizes  # takes out what squaring cost


def _orthonormal(U: Array, heavy: Callable[[Array], Array]) -> Array:
    """Columns (3 node_count, r), each less its part along those before it; the largest component positive."""
    with one_blas_thread():
        U = U / np.sqrt(np.einsum("ij,ij->j", U, heavy(U)))
        U = scipy.linalg.solve_triangular(np.linalg.cholesky(U.T @ heavy(U)), U.T, lower=True).T
    U = np.ascontiguousarray(U)
    fix_signs(U)
    return U


def reduced_basis(
    support: Support,
    count: int,
    *,
    linear: int | None = None,
    attachments: Sequence[Attachment] = (),
    inner: Inner = "mass",
    statics: bool = False,
) -> Basis:
    """A basis of `count` columns. linear: linear modes to derive from, by default `count`, but at most 20.

    statics: give places to the responses to interface loads, weight and spin where the basis would be too stiff. What
    it leaves out of these responses is known either way.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> beam = ElasticSolid(box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1)), Material(1e6, 0.3, 1000))
    >>> reduced_basis(Support(beam, "x_min"), 6).U.shape
    (108, 6)
    """
    if not isinstance(count, int | np.integer) or count < 1:
        raise InputError("the number of basis vectors is not a positive whole number", value=count)
    linear = min(count, MAX_LINEAR) if linear is None else linear
    solid, modes, heavy = support.solid, linear_modes(support, linear), inner_product(support.solid, inner)
    masses = np.array([a.mass for a in attachments])
    loads = np.concatenate(
        [np.empty((3 * solid.node_count, 0)), *(a.interface.unit_loads() for a in attachments)], axis=1
    )
    places = np.array([a.interface.x_hat for a in attachments])
    loads = np.concatenate([loads, inertia_loads(support, loads, masses, places)], axis=1)
    bends = second_differential(solid, modes.shapes)
    pairs = bends.shape[1]
    # all static responses at once: the cost of a solve is that of reading the factor
    responses = support.static_response(np.concatenate([bends, loads], axis=1))
    snapshots = np.concatenate([modes.shapes, responses[:, : pairs + 6 * len(attachments)]], axis=1)
    products = solid.mass_product(snapshots)
    scale = _scales(modes, snapshots, products, attachments, solid.total_mass)
    if inner != "mass":
        products = heavy(snapshots)

    def leading(columns: int) -> tuple[Array, Array]:
        return _leading(solid, snapshots, products, scale, columns, heavy)

    U, sizes = leading(count)
    matter, weights = _bending_pairs(modes)
    second = Loaded(weights * bends[:, matter], weights * responses[:, matter])
    static = StaticLoads.of(support, Loaded(loads, responses[:, pairs:]), masses, second)
    missed, loss = missed_responses(support, U, static, most=None if statics else 0)
    if loss.is_large:
        known = int(np.count_nonzero(sizes > SMALLEST_SHARE * sizes[0]))
        larger, fewer = leading(min(known, 2 * count + MORE))[0], count if statics else count - 1
        loss = loss._replace(needed=needed_vectors(support, larger, static, fewer))
    if missed.shape[1]:
        kept = U[:, : count - missed.shape[1]]
        U = _orthonormal(np.concatenate([kept, missed - kept @ (heavy(kept).T @ missed)], axis=1), heavy)
    return Basis(U, sizes, modes, loss)


def _scales(
    modes: LinearModes, snapshots: Array, products: Array, attachments: Sequence[Attachment], mass: float
) -> Array:
    """Of the snapshots, as in the module's text; products: M times the snapshots; mass: the solid's [kg]."""
    linear, shares = len(modes.values), modes.values[0] / modes.values
    i, j = pair_indices(linear)
    derivatives, scale = slice(linear, linear + len(i)), np.ones(snapshots.shape[1])
    norms = np.sqrt(np.einsum("ij,ij->j", snapshots[:, derivatives], products[:, derivatives]))
    scale[:linear] = shares
    scale[derivatives] = np.divide(-shares[i] * shares[j], norms, out=np.zeros_like(norms), where=norms > 0)
    for k, attachment in enumerate(attachments):
        load = modes.values[0] * attachment.mass / np.sqrt(mass)
        start = derivatives.stop + 6 * k
        scale[start : start + 6] = load * np.repeat([1.0, attachment.arm], 3)
    return scale


def _bending_pairs(modes: LinearModes) -> tuple[Array, Array]:
    """Numbers of the pairs of modes whose derivatives count in losses of compliance, and their weights."""
    i, j = pair_indices(len(modes.values))
    weights = modes.values[0] ** 2 / (modes.values[i] * modes.values[j])
    matter = np.flatnonzero(weights > SECOND_SHARE)
    return matter, weights[matter]
