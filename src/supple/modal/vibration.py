"""`linear_modes`: vibration modes of a held or free solid, K psi = lambda M psi, psi^T M psi = 1.

Modes of a free solid are its elastic ones: the rigid motions are left out, and what rounding leaves of them is
projected away, so that int rho U = 0 and int rho X x U = 0 [BZ11, sec. 5, free-flying].
The largest component of each mode is positive and the search starts from a fixed vector: results repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.eigenpairs import smallest_eigenpairs
from supple.errors import InputError
from supple.modal.support import Support

Array = np.ndarray
RIGID_GAP = 1e-5
"""Values of rigid motions must be below this part of the first elastic one."""


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
    free, rigid = len(support.free), support.rigid_modes.shape[1]
    if not 1 <= count <= free - rigid:
        raise InputError(
            "this many modes do not exist", where="linear_modes", value=count, allowed=f"1 to {free - rigid}"
        )
    pairs = smallest_eigenpairs(support.stiffness, support.mass, count + rigid)
    values, shapes = pairs.values[rigid:], np.zeros((3 * support.solid.node_count, count))
    if (rigid and not np.abs(pairs.values[:rigid]).max() < RIGID_GAP * values[0]) or values[0] <= 0.0:
        raise InputError(
            "rigid and elastic modes cannot be told apart",
            where="linear_modes",
            value=pairs.values[: rigid + 1].tolist(),
            fix="The mesh likely falls into parts that are not connected; keep one of them, or hold all.",
        )
    shapes[support.free] = pairs.vectors[:, rigid:]
    shapes = support.without_rigid(shapes)
    shapes /= np.sqrt(np.einsum("ij,ij->j", shapes, support.solid.mass_product(shapes)))
    return LinearModes(values, shapes)
