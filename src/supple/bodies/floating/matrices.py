"""`MatrixSolid`: a solid known by its mass and stiffness matrices alone, as finite-element programs export them.

The mass must be that of points, M = m ⊗ I3: only then do the velocities of the nodes say how much a turned body moves.
It must be positive definite: a mode without mass has no equation of motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from supple.algebra.dense.checks import check_array
from supple.errors import InputError, check_instance
from supple.geometry import HexMesh, TetMesh
from supple.geometry.files.array_files import load_matrix_market, load_npz, load_table
from supple.geometry.files.file_guard import guarded
from supple.geometry.meshes.region import as_indices
from supple.modal.solid import NodeMasses

Array = np.ndarray
SYMMETRY = 1e-9
"""Of the largest entry: how far a matrix may be from its transpose."""


@dataclass(frozen=True, eq=False)
class BareNodes:
    """Nodes (n, 3) [m] without elements."""

    nodes: Array

    @property
    def diagonal(self) -> float:
        """Length of the diagonal of the bounding box [m]."""
        return float(np.linalg.norm(np.ptp(self.nodes, axis=0)))

    def node_region(self, selector: Any) -> Array:
        """Node numbers, ascending, that a predicate (n, 3) -> (n,) bool or numbers select."""
        if isinstance(selector, str):
            raise InputError("nodes without elements have no named regions", value=selector, fix="Give node numbers.")
        chosen = (
            np.flatnonzero(selector(self.nodes))
            if callable(selector)
            else np.unique(as_indices(selector, "the selected nodes"))
        )
        if not chosen.size or chosen.min() < 0 or chosen.max() >= len(self.nodes):
            raise InputError("the selection is empty or out of range", allowed=f"0..{len(self.nodes) - 1}")
        return chosen


@dataclass(frozen=True, eq=False)
class MatrixSolid(NodeMasses):
    """nodes (n, 3) [m]; M [kg] and K [N/m], sparse (3 n, 3 n), unknowns x, y, z of each node after another.

    elements: a mesh on the same nodes, to draw and to embed points in; None: nodes alone.
    """

    nodes: Array
    M: Any
    K: Any
    elements: TetMesh | HexMesh | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        X = np.asarray(self.nodes, dtype=float)
        if X.ndim != 2 or X.shape[1] != 3 or len(X) < 3 or not np.isfinite(X).all():
            raise InputError("nodes are not (n, 3) finite numbers", where="MatrixSolid", value=np.shape(self.nodes))
        object.__setattr__(self, "nodes", X)
        for name in ("M", "K"):
            object.__setattr__(self, name, _checked(getattr(self, name), name, 3 * len(X)))
        if self.elements is not None:
            check_instance(self.elements, (TetMesh, HexMesh), "a mesh", where="MatrixSolid, elements")
        if self.elements is not None and len(self.elements.nodes) != len(X):
            raise InputError("the mesh has other nodes", value=len(self.elements.nodes), allowed=str(len(X)))
        _ = self.node_mass

    def scaled(self, stiffness: float, density: float) -> MatrixSolid:
        """With K and M so many times as large."""
        return replace(self, M=density * self.M, K=stiffness * self.K)

    @property
    def mesh(self) -> Any:
        """The mesh, or the bare nodes."""
        return BareNodes(self.nodes) if self.elements is None else self.elements

    @property
    def node_count(self) -> int:
        """n."""
        return len(self.nodes)

    @property
    def stiffness(self) -> Any:
        """K [N/m]."""
        return self.K

    @property
    def mass_matrix(self) -> Any:
        """M [kg]."""
        return self.M

    @cached_property
    def node_mass(self) -> Any:
        """m with M = m ⊗ I3, sparse (n, n) [kg]; checked to be positive definite."""
        m = sparse.csr_array(self.M[::3][:, ::3])
        apart = abs(sparse.csr_array(self.M - sparse.kron(m, sparse.eye_array(3))))
        if apart.nnz and apart.max() > SYMMETRY * abs(self.M).max():
            raise InputError(
                "the mass matrix is not that of points, m ⊗ I3",
                where="MatrixSolid",
                value=float(apart.max()),
                fix="Use solid elements with translations x, y, z of each node; rotations of nodes are not supported.",
            )
        if not is_positive_definite(m):
            raise InputError(
                "the mass matrix is not positive definite",
                where="MatrixSolid",
                fix="Every node needs mass; look for nodes without elements, or a file with other unknowns.",
            )
        return m

    def mass_product(self, U: Array) -> Array:
        """M U for columns U (3 n, r)."""
        return (self.node_mass @ U.reshape(self.node_count, -1)).reshape(U.shape)


def _checked(given: Any, name: str, size: int) -> Any:
    if not sparse.issparse(given):
        given = np.atleast_2d(check_array(given, name=name, where="MatrixSolid"))
        if given.ndim > 2:
            raise InputError(f"{name} is not a matrix", where="MatrixSolid", value=given.shape)
    A = sparse.csr_array(given, dtype=float)
    if A.shape != (size, size) or not np.isfinite(A.data).all():
        raise InputError(
            f"{name} does not fit the nodes", where="MatrixSolid", value=A.shape, allowed=f"({size}, {size})"
        )
    off = abs(A - A.T)
    if off.nnz and off.max() > SYMMETRY * abs(A).max():
        raise InputError(f"{name} is not symmetric", where="MatrixSolid", value=float(off.max()))
    return A


def is_positive_definite(A: Any) -> bool:
    """Whether a sparse symmetric matrix is: all pivots of a factorisation on the diagonal are positive."""
    if not (A.diagonal() > 0).all():
        return False
    options = {"SymmetricMode": True}
    try:
        factor = splu(sparse.csc_array(A), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:
        return False
    pivots = factor.U.diagonal()
    in_place = np.array_equal(factor.perm_r, factor.perm_c)
    return bool(in_place and pivots.min() > 1e-14 * pivots.max())


def load_matrices(folder_or_npz: str | Path) -> MatrixSolid:
    """A solid from a `.npz` file, or from a folder with nodes.txt, M.mtx and K.mtx (Matrix Market).

    The npz holds nodes (n, 3), M and K as dense arrays or by rows (M_data, M_indices, M_indptr, the same for K), and
    may hold tets (m, 4) or hexes (m, 8).
    """
    path = Path(folder_or_npz)
    if not path.exists():
        raise InputError("no such file or folder", value=str(path))
    if path.is_dir():
        missing = [name for name in ("nodes.txt", "M.mtx", "K.mtx") if not (path / name).exists()]
        if missing:
            raise InputError("the folder lacks files", where=str(path), value=missing)
        nodes = load_table(path / "nodes.txt")
        M, K = (load_matrix_market(path / f"{name}.mtx", 3 * len(nodes)) for name in "MK")
        return MatrixSolid(nodes, M, K)
    arrays = load_npz(path)
    with guarded(path, "the matrices of a solid"):
        return _solid_of(arrays)


def _solid_of(arrays: dict[str, Array]) -> MatrixSolid:
    if "nodes" not in arrays:
        raise InputError("the file has no nodes", value=sorted(arrays))
    size = 3 * len(arrays["nodes"])
    mesh: TetMesh | HexMesh | None = None
    if "tets" in arrays:
        mesh = TetMesh(arrays["nodes"], arrays["tets"])
    elif "hexes" in arrays:
        mesh = HexMesh(arrays["nodes"], arrays["hexes"])
    return MatrixSolid(arrays["nodes"], *(_rows_of(arrays, name, size) for name in "MK"), elements=mesh)


def _rows_of(arrays: dict[str, Array], name: str, size: int) -> Any:
    if name in arrays:
        return sparse.csr_array(arrays[name])
    parts = [arrays.get(f"{name}_{part}") for part in ("data", "indices", "indptr")]
    if any(part is None for part in parts):
        raise InputError(f"the file has no matrix {name}", value=sorted(arrays))
    try:
        return sparse.csr_array(tuple(parts), shape=(size, size))
    except ValueError as error:
        raise InputError(f"the rows of {name} do not fit together") from error
