"""St. Venant-Kirchhoff forces: a case computed by hand here, and another program's forces where they are at hand.

The second compares with files of VegaFEM (a mesh, a displacement and its force), looked for in the folder named by
SUPPLE_REFERENCE, or in ../shared/reference beside the working folder; without them the case is left out, which
`supple validate` says.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.errors import InputError
from supple.geometry import TetMesh, load_mesh
from supple.material import Material
from supple.validation.row import Row, bounded

Array = np.ndarray


def reference_folder() -> Path | None:
    """Where other programs' solutions are, if anywhere."""
    folder = Path(os.environ.get("SUPPLE_REFERENCE", "../shared/reference"))
    return folder if folder.is_dir() else None


def reference_file(name: str) -> Path:
    """A file or folder of other programs' solutions, by its path in the reference folder."""
    folder = reference_folder()
    if folder is None or not (folder / name).exists():
        raise InputError("the files to compare with are not there", where="SUPPLE_REFERENCE", value=name)
    return folder / name


def stvk_force(mesh: TetMesh, material: Material, x: Array) -> Array:
    """Internal force dE/dx (node_count, 3) [N] at positions x."""
    placed = FemBody(mesh, material, law="stvk").place(Placement())
    f = np.zeros_like(x)
    for _, force in placed.forces:
        force.add_force(LocalState(0.0, x, np.zeros_like(x)), f)
    return -f


def single_tet() -> Row:
    """One tet, stretched and sheared: f_a = V F S grad N_a with every factor written out in numpy."""
    X = np.array([[0.0, 0, 0], [1, 0.1, 0], [0, 1, 0.2], [0.1, 0, 1]])
    material = Material(young=100.0, poisson=0.25, density=1.0)
    x = X @ np.array([[1.1, 0.2, 0], [0.0, 0.9, 0.1], [0.05, 0, 1.2]])
    D = (X[1:] - X[0]).T
    F = (x[1:] - x[0]).T @ np.linalg.inv(D)
    E = (F.T @ F - np.eye(3)) / 2
    S = material.lam * np.trace(E) * np.eye(3) + 2 * material.mu * E
    H = np.linalg.det(D) / 6 * F @ S @ np.linalg.inv(D).T
    expected = np.vstack([-H.sum(axis=1), H.T])
    value = stvk_force(TetMesh(X, np.array([[0, 1, 2, 3]])), material, x)
    error = float(np.linalg.norm(value - expected) / np.linalg.norm(expected))
    return bounded("fem/stvk-forces", "one tet", error, 1e-13, source="f = V F S grad N")


def read_vector(path: Path) -> Array:
    """A VegaFEM matrix file (int32 rows, int32 columns, float64 by columns), flattened."""
    return np.frombuffer(path.read_bytes(), dtype="<f8", offset=8)


def stvk_forces() -> list[Row]:
    """The hand-made case."""
    return [single_tet()]


def stvk_dragon() -> list[Row]:
    """The dragon."""
    folder = reference_file(FRAND).parent
    mesh = load_mesh(folder / "asianDragon.veg")
    assert isinstance(mesh, TetMesh)
    u, f = (read_vector(folder / f"dragon.{name}").reshape(-1, 3) for name in ("urand", "frand"))
    material = Material(young=1e7, poisson=0.4, density=1000.0)
    value = stvk_force(mesh, material, mesh.nodes + u)
    error = float(np.linalg.norm(value - f) / np.linalg.norm(f))
    return [bounded("fem/stvk-dragon", "2591 tets", error, 1e-9, source="VegaFEM 4.0, dragon.frand")]


FRAND = "reduced/dragon.frand"
CASES = {"fem/stvk-forces": stvk_forces, "fem/stvk-dragon": stvk_dragon}
NEEDS = {"fem/stvk-dragon": FRAND}
