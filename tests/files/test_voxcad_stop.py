"""What VoxCAD files say of their end and of their temperature, by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from supple.files.voxcad.load import (
    StopKind,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
    load_voxcad,
    save_voxcad,
)
from supple.files.voxcad.stop import stop_test
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

GRID, SOFT = VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01), VoxelMaterial(young=1e6, density=1000)


@pytest.mark.parametrize("kind", [StopKind.KINETIC_ENERGY_BELOW, StopKind.MOTION_BELOW])
def test_a_stop_condition_measures_what_it_says(kind: StopKind) -> None:
    """Voxels of 1 g: (m v² + I w²) / 2 of both over two [J], or the faster one's way in a step of the file's own [m];
    the threshold is in thousandths."""
    test = stop_test(VoxcadFile(GRID, (SOFT,), simulator=VoxcadSimulator(stop_kind=kind, stop_value=3.0)))
    assert test is not None
    v = np.zeros((2, 6))
    v[0, :3], v[1, 1], v[1, 5] = (0.3, 0.0, 0.4), 0.2, 10.0
    energy = 0.5 * (1e-3 * (0.25 + 0.04) + 1e-3 * 1e-4 / 6 * 100) / 2
    expected = energy if kind is StopKind.KINETIC_ENERGY_BELOW else 0.5 * test.step
    assert test.value(v) == pytest.approx(expected, rel=1e-12)
    assert test.threshold == pytest.approx(3e-3, rel=1e-12)
    assert test.duration == pytest.approx(500 * test.step, rel=1e-12)


def test_a_temperature_without_a_period_has_that_of_voxcad(tmp_path: Path) -> None:
    warm = VoxcadEnvironment(temperature_enabled=True, temperature_amplitude=5.0, temperature_varies=True)
    path = tmp_path / "warm.vxa"
    save_voxcad(VoxcadFile(GRID, (SOFT,), environment=warm), path)
    text, count = re.subn(r"<TempPeriod>.*?</TempPeriod>", "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    assert count == 1
    assert load_voxcad(path).environment.temperature_period == 0.1
