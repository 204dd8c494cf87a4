"""The scenes of the voxel benches are what their rows say; nothing here is timed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from supple.bench import registry, voxel_everything
from supple.bench.row import measured
from supple.bench.voxel_sparse import gyroid
from supple.bench.voxel_start import PROGRAM
from supple.bodies.voxel.model import face_neighbours
from supple.geometry import VoxelGrid
from supple.validation.voxel.schemes import schemes, source_clapper


def test_all_cases_are_known() -> None:
    names = {name for name in registry() if name.startswith("voxel/")}
    parts = ("block", "collision", "everything", "fields", "floor", "scaling", "sparse", "start", "step", "threads")
    assert names == {f"voxel/{part}" for part in (*parts, "time")}


def test_the_gyroid_fills_a_fifth_and_hangs_together() -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    grid = VoxelGrid(gyroid(40, 0.2), 1e-3)
    assert grid.voxel_count == pytest.approx(0.2 * 40**3, rel=0.01)
    pairs, _ = face_neighbours(grid)
    n = grid.voxel_count
    count, _ = connected_components(coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n)))
    assert count == 1


def test_the_source_clapper_has_its_voxels_and_its_strain() -> None:
    body, held, dt, period = source_clapper()
    assert body.model.voxel_count == 600
    assert len(held) == 120
    assert body.swing is not None
    sizes = body.swing.sizes(0.25 * period) / body.grid.voxel_size
    np.testing.assert_allclose(np.unique(sizes.round(6)), [0.4, 1.0, 1.6])
    assert dt < 1e-3 * period
    assert {c.horizon for c in schemes().values()} == {2.0}


def test_touching_voxels_are_counted() -> None:
    body = voxel_everything.plates()
    x = body.model.rest_frames.copy()
    assert voxel_everything.touching_part(body, x, 0.0) == 0.0
    x[body.grid.voxels[:, 2] > 5, 2] -= 1.1 * body.grid.voxel_size
    links = np.bincount(body.model.link_voxels.ravel(), minlength=4000)
    assert voxel_everything.touching_part(body, x, 0.0) == pytest.approx(800 / np.count_nonzero(links < 6))


@pytest.mark.slow
def test_the_plates_touch_and_travel() -> None:
    body, sweep, x, v, t, dt = voxel_everything.sliding()
    assert voxel_everything.touching_part(body, x, t) > 0.05
    assert v[:, 0].mean() > 0.2
    sweep.load(x, v, t)
    sweep.advance(dt, 400, gravity=voxel_everything.G)
    assert sweep.lists_made >= 2


def test_the_program_of_the_first_step_runs() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert float(ended.stdout) > 0


def test_a_number_without_a_limit_is_ok() -> None:
    row = measured("voxel/time", "simulated", 0.1, unit="s/s", threads=1)
    assert row.ok
    assert row.limit is None
