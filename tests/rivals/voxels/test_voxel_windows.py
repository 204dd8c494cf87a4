"""The stable step of large lattices by windows: never above that of the whole, nor more than 5 % below it; the whole's
by Lanczos iteration against dense eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability import stable_step as search
from supple.bodies.voxel.stability.stable_step import find_step, largest_eigenvector
from supple.bodies.voxel.stability.stages import STAGES, Stages
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

Array = np.ndarray
SHAPE = (12, 11, 10)


def fields(kind: str) -> tuple[Array, Array, Array]:
    """Cells, Young's moduli [Pa] and densities [kg/m³]."""
    rng = np.random.default_rng(5)
    cells, young, density = np.ones(SHAPE, dtype=int), np.full(SHAPE, 1e6), np.full(SHAPE, 1000.0)
    if kind == "stiff pair":
        young[3:5, 4, 5] = 1e7
    elif kind == "light voxel":
        density[9, 8, 7] = 300.0
    elif kind == "stiff corner":
        young[0, 0, 0] = 1e8
    elif kind == "layers":
        young[:, :, 5:] = 3e6
    elif kind == "two materials":
        young = np.where(rng.random(SHAPE) < 0.3, 1e8, 1e6)
        density = np.where(young > 1e7, 2000.0, 500.0)
    elif kind == "random":
        young, density = young * 10 ** rng.random(SHAPE), density * 3 ** rng.random(SHAPE)
    elif kind == "holes":
        cells = (rng.random(SHAPE) > 0.45).astype(int)
    elif kind == "plate":
        cells, young, density = np.ones((30, 30, 1), dtype=int), np.full((30, 30, 1), 1e6), np.full((30, 30, 1), 1e3)
    return cells, young, density


def model_of(kind: str, damping: float) -> VoxelModel:
    cells, young, density = fields(kind)
    material = VoxelMaterial(young=1e6, density=1000, bond_damping=damping, ground_damping=1e-3)
    return VoxelBody(VoxelGrid(cells, 0.01), {1: material}, young=young, density=density).model


KINDS = ("one", "stiff pair", "light voxel", "stiff corner", "layers", "two materials", "random", "holes", "plate")


@pytest.mark.parametrize("damping", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_windows_stay_below_the_whole(kind: str, damping: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(kind, damping)
    more = [{"contact": 1}, {"held": np.flatnonzero(model.cells[:, 0] < 3)}] if damping == 1.0 else []
    for options in ({}, *more):
        monkeypatch.setattr(search, "LARGE", 100)
        windows = find_step(model, safety=1.0, **options)
        monkeypatch.setattr(search, "LARGE", model.voxel_count)
        whole = find_step(model, safety=1.0, **options)
        assert windows.stages == whole.stages
        for one, other in ((windows.step, whole.step), (windows.single, whole.single)):
            assert 0.95 * other < one < other, options


@pytest.mark.parametrize("how", ["stretched", "bent"])
def test_windows_of_a_deformed_lattice(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("layers", 1.0)
    x = model.rest_frames.copy()
    if how == "bent":
        angle, radius = x[:, 0] / 0.2, 0.2 - x[:, 2]
        x[:, 0], x[:, 2] = radius * np.sin(angle), 0.2 - radius * np.cos(angle)
        x[:, 3:] = rotations.exp(np.outer(-angle, (0, 1, 0)))
    else:
        x[:, 0] *= 1.3
    monkeypatch.setattr(search, "LARGE", 100)
    windows = find_step(model, x=x, safety=1.0)
    monkeypatch.setattr(search, "LARGE", model.voxel_count)
    whole = find_step(model, x=x, safety=1.0)
    for one, other in ((windows.step, whole.step), (windows.single, whole.single)):
        assert 0.93 * other < one < 1.01 * other


def test_a_step_that_was_found_stays_where_it_is_stable() -> None:
    model = model_of("layers", 1.0)
    found, x = find_step(model), model.rest_frames.copy()
    assert find_step(model, x=x, known=found) is found
    x[:, 0] *= 1.4
    anew = find_step(model, x=x, known=found)
    assert anew.step < 0.97 * found.step
    assert anew.step == pytest.approx(find_step(model, x=x).step, rel=2e-3)
    short = found._replace(single=0.5 * found.single, step=0.5 * found.step)
    assert find_step(model, x=x, known=short) is short


def dense(model: VoxelModel, **options) -> tuple[Array, Array, Array]:
    """K, C, C_o of the search, scaled by the roots of the masses."""
    lattice = search._lattice_of(model, options.get("held", ()), None, options.get("contact", 0), None)
    motions = search._Motions.of(lattice, model, None)
    unit = np.eye(motions.size)
    return tuple(  # type: ignore[return-value]
        np.stack([motions.combined(*weights)(column) for column in unit], axis=1)
        for weights in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    )


def growth(K: Array, C: Array, C_o: Array, h: float, stages: Stages) -> float:
    """The largest factor of a step of (x, v)."""
    one = np.eye(len(K))
    left = one
    for share in stages.shares:
        left = left - share * h * C @ left
    left = left - h * C_o
    return float(np.abs(np.linalg.eigvals(np.block([[one - h * h * K, h * left], [-h * K, left]]))).max())


@pytest.mark.parametrize("seed", range(3))
def test_steps_of_mixed_lattices_by_dense_eigenvalues(seed: int) -> None:
    """Nothing grows at any step below the limit, of one stage and of those that were chosen."""
    rng = np.random.default_rng(seed)
    shape = (2, 3, 2 + seed % 2)
    cells = (rng.random(shape) > 0.15).astype(int)
    palette = [
        VoxelMaterial(young=1e6, density=1000, bond_damping=1.0),
        VoxelMaterial(young=2e7, density=300, bond_damping=0.3, ground_damping=0.05),
        VoxelMaterial(young=1e5, density=3000, bond_damping=0.9),
    ]
    model = VoxelBody(VoxelGrid(cells * rng.integers(1, 4, shape), 0.01), palette).model
    for options in ({}, {"contact": 1}, {"held": [0, 1]}):
        found, matrices = find_step(model, safety=1.0, **options), dense(model, **options)
        for step, stages in ((found.step, found.stages), (found.single, STAGES[0])):
            for part in (0.4, 0.8, 0.95, 0.998):
                assert growth(*matrices, part * step, stages) < 1 + 3e-6, (options, part)
        assert growth(*matrices, 1.005 * found.single, STAGES[0]) > 1 + 1e-4


def test_an_eigenvector_is_found_to_its_tolerance() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 60))
    A = A @ A.T
    y = largest_eigenvector(lambda v: A @ v, rng.normal(size=60), 1e-6)
    assert np.linalg.norm(A @ y - (y @ A @ y) * y) < 1e-5 * np.linalg.norm(A, 2)
    assert y @ A @ y == pytest.approx(np.linalg.norm(A, 2), rel=1e-9)
