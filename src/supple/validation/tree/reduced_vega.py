"""Reduced domains against VegaFEM's files of a dragon, where they are at hand (see `reference_forces`).

Material, held nodes, basis, coefficients and a trajectory are read. What the trajectory's file does not say follows
from it by inverse dynamics: a constant force of 0.5 on the first coordinate during the first ten steps, and a step
written as 0.0066666666 s (with 1/150 s the paths part by 4e-8). Without the files these cases are left out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from supple.files.vega.reduced import load_basis, load_cub, load_matrix
from supple.geometry import load_bou, load_veg
from supple.material import Material
from supple.modal import CubicForce, ElasticSolid, ReducedDomain, Support, linear_modes, reduced_basis
from supple.validation.reference_forces import reference_file
from supple.validation.row import Row, bounded

Array = np.ndarray
SOURCE = "VegaFEM 4.0, dragon"
STEP, FORCE, FORCED_STEPS = 0.0066666666, 0.5, 10


def dragon(folder: Path) -> Support:
    """The dragon with its material and its held nodes."""
    file = load_veg(folder / "asianDragon.veg")
    density, young, poisson = file.materials["BODY"].numbers
    solid = ElasticSolid(file.mesh, Material(young=young, poisson=poisson, density=density))
    return Support(solid, load_bou(folder / "asianDragon.bou"))


def relative(value: Array, reference: Array) -> float:
    """Norm of the difference over the norm of the reference."""
    return float(np.linalg.norm(value - reference) / np.linalg.norm(reference))


def coefficients() -> list[Row]:
    """The cubic polynomials of two bases."""
    rows, folder = [], reference_file(CUB).parent
    solid = dragon(folder).solid
    for r in (8, 20):
        ours = CubicForce.of(solid, load_basis(folder / f"dragon.{r}.U", solid.node_count))
        theirs = load_cub(folder / f"dragon.{r}.cub")
        for part in ("linear", "quadratic", "cubic"):
            error = relative(getattr(ours, part), getattr(theirs, part))
            rows.append(bounded("tree/vega-coefficients", f"r = {r}, {part}", error, 1e-9, source=SOURCE))
    return rows


def frequencies() -> list[Row]:
    """Twenty frequencies and modes."""
    folder = reference_file(CUB).parent
    support = dragon(folder)
    modes = linear_modes(support, 20)
    error = np.abs(modes.frequencies / np.loadtxt(folder / "dragon.freq") - 1).max()
    theirs = load_basis(folder / "dragon.Ulin", support.solid.node_count)
    overlap = np.abs(np.einsum("ij,ij->j", theirs, support.solid.mass_product(modes.shapes)))
    case = "tree/vega-frequencies"
    return [
        bounded(case, "20 frequencies", float(error), 1e-6, source=SOURCE),
        bounded(case, "20 modes, 1 - |overlap|", float(np.abs(1 - overlap).max()), 1e-9, source=SOURCE),
    ]


def bases() -> list[Row]:
    """The spaces of 8 and 20 columns made from 20 modes and their derivatives, in the lumped mass."""
    rows, folder = [], reference_file(CUB).parent
    support = dragon(folder)
    root = np.repeat(np.sqrt(support.solid.lumped_mass), 3)[:, None]
    for r in (8, 20):
        ours = root * reduced_basis(support, r, linear=20, inner="lumped").U
        theirs = root * load_basis(folder / f"dragon.{r}.U", support.solid.node_count)
        error = float(np.linalg.norm(theirs - ours @ (ours.T @ theirs), 2))
        rows.append(bounded("tree/vega-basis", f"sine of the angle, r = {r}", error, 1e-8, source=SOURCE))
    return rows


def trajectory() -> list[Row]:
    """Three hundred semi-implicit Newmark steps with 20 coordinates, from our own coefficients."""
    folder = reference_file(CUB).parent
    solid = dragon(folder).solid
    force = CubicForce.of(solid, load_basis(folder / "dragon.20.U", solid.node_count))
    domain = ReducedDomain(force, mass_damping=0.1, stiffness_damping=0.001)
    theirs, state = load_matrix(folder / "dragon.20.traj"), domain.state()
    ours = np.empty_like(theirs)
    for k in range(theirs.shape[1]):
        load = np.zeros(20)
        load[0] = FORCE if k < FORCED_STEPS else 0.0
        domain.advance(state, STEP, f_ext=load)
        ours[:, k] = state.q[0]
    error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    return [bounded("tree/vega-trajectory", "300 steps, r = 20", error, 1e-8, source=SOURCE)]


CUB = "reduced/dragon.20.cub"
CASES = {
    "tree/vega-basis": bases,
    "tree/vega-coefficients": coefficients,
    "tree/vega-frequencies": frequencies,
    "tree/vega-trajectory": trajectory,
}
NEEDS = dict.fromkeys(CASES, CUB)
