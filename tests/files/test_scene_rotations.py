"""Rotations in scene files: three numbers are a rotation vector in radians, four a quaternion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.algebra.dense import rotations
from supple.files import load

SCENE = """
supple = 1

[[bodies]]
name = "box"
kind = "rigid"
box = {{ size = [0.1, 0.2, 0.3] }}
density = 500
rotation = {rotation}
"""


@pytest.mark.parametrize("vector", [(0.5, 0.0, 0.0), (0.1, -0.2, 1.3)])
def test_a_rotation_is_the_one_written(tmp_path: Path, vector: tuple[float, float, float]) -> None:
    q = rotations.exp(vector)
    for written in (list(vector), q.tolist()):
        path = tmp_path / "scene.toml"
        path.write_text(SCENE.format(rotation=written))
        system = load(path).compile()
        np.testing.assert_allclose(system.x0[3:7], q, atol=1e-15)
