"""`linear_modes`: vibration modes of a held or free solid, K psi = lambda M psi, psi^T M psi = 1.

Modes of a free solid are its elastic ones: the rigid motions are left out, and what rounding leaves of them is
projected away, so that int rho U = 0 and int rho X x U = 0 [BZ11, sec. 5, free-flying]. They are the pairs with the
largest 1 / lambda of the static response to inertia, u = K^-1 M psi of `Support`, whose factor derivatives and
attachment modes share.
The largest component of each mode is positive, modes of equal values are turned alike (`alignment`), and the search
starts from fixed vectors: results repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.eigenpairs import DENSE_SIZE, fix_signs, smallest_eigenpairs
from supple.algebra.sparse.lanczos.block_lanczos import largest_eigenpairs
from supple.errors import ConvergenceError, InputError, check_instance, check_number
from supple.modal.alignment import align_equal
from supple.modal.support import Support

Array = np.ndarray
RIGID_GAP = 1e-5
"""Values of rigid motions must be below this part of the first elastic one."""
EQUAL = 1e-9
"""Values that differ by less than this part are one multiple value."""


@dataclass(frozen=True, eq=False)
class LinearModes:
    """values: lambda (count,) [1/s²], ascending. shapes: (3 node_count, count), mass-normalised, zero at held nodes."""

    values: Array
    shapes: Array

    @property
    def frequencies(self) -> Array:
        """(count,) [Hz]."""
        return np.sqrt(self.values) / (2 * np.pi)


def linear_modes(support: Support, count: int) -> LinearModes:
    """The `count` lowest elastic modes.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.modal.solid import ElasticSolid
    >>> beam = ElasticSolid(box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1)), Material(1e6, 0.3, 1000))
    >>> linear_modes(Support(beam, "x_min"), 3).shapes.shape
    (108, 3)
    """
    check_instance(support, Support, "a Support", where="linear_modes")
    free, rigid = len(support.free), support.rigid_modes.shape[1]
    check_number(count, name="count", where="linear_modes", whole=True)
    if not 1 <= count <= free - rigid:
        raise InputError(
            "this many modes do not exist", where="linear_modes", value=count, allowed=f"1 to {free - rigid}"
        )
    wanted = min(count + 1, free - rigid)  # the last may have an equal
    values, vectors = _few(support, wanted) if free <= max(DENSE_SIZE, 4 * wanted) else _many(support, wanted)
    vectors = align_equal(values, support.without_rigid(vectors), support.solid.lumped_mass, tolerance=EQUAL)
    values, shapes = values[:count], np.ascontiguousarray(vectors[:, :count])
    shapes /= np.sqrt(np.einsum("ij,ij->j", shapes, support.solid.mass_product(shapes)))
    fix_signs(shapes)
    return LinearModes(values, shapes)


def _few(support: Support, count: int) -> tuple[Array, Array]:
    """Values and vectors of a small solid, by a dense method."""
    rigid = support.rigid_modes.shape[1]
    pairs = smallest_eigenpairs(support.stiffness, support.mass, count + rigid)
    values, vectors = pairs.values[rigid:], np.zeros((3 * support.solid.node_count, count))
    if (rigid and not np.abs(pairs.values[:rigid]).max() < RIGID_GAP * values[0]) or values[0] <= 0.0:
        raise _loose_parts(pairs.values[: rigid + 1].tolist())
    vectors[support.free] = pairs.vectors[:, rigid:]
    return values, vectors


def _many(support: Support, count: int) -> tuple[Array, Array]:
    """The same by block Lanczos on static responses, one more of them, and Rayleigh-Ritz in the space found."""
    solid = support.solid
    try:
        _ = support.factor
    except ConvergenceError as error:
        raise _loose_parts(str(error.value)) from error
    found = largest_eigenpairs(support.static_response, solid.mass_product, 3 * solid.node_count, count)
    space = support.static_response(solid.mass_product(found.vectors))
    with one_blas_thread():
        values, weights = scipy.linalg.eigh(space.T @ (solid.stiffness @ space), space.T @ solid.mass_product(space))
        return values, space @ weights


def _loose_parts(value: object) -> InputError:
    return InputError(
        "rigid and elastic modes cannot be told apart",
        where="linear_modes",
        value=value,
        fix="The mesh likely falls into parts that are not connected; keep one of them, or hold all.",
    )
