"""Control signals of voxels that go wrong are named with the time at which they do."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError


def test_a_signal_that_is_not_finite_is_named_with_its_time() -> None:
    lost: list[float] = []

    def signal(t: float) -> float:
        if t > 0.0123:
            lost.append(t)
            return float("nan")
        return 1.0

    material = sp.VoxelMaterial(young=1e6, density=1000, expansion=0.01)
    grid = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    scene = sp.Scene(solver=sp.LatticeSolver(0.02))
    scene.add(sp.VoxelBody(grid, material, actuation=sp.Drive(signal)), name="bar")
    with pytest.raises(InputError, match="not finite") as caught:
        sp.run(scene, until=0.1)
    assert f"t = {min(lost):g} s" in str(caught.value)
