"""A VoxCAD scene and object that use every tag, and how tests write and read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.files.voxcad.samples import SCENE, read

from supple.files.voxcad.load import (
    VoxcadFile,
)


@pytest.fixture
def scene(tmp_path: Path) -> VoxcadFile:
    return read(tmp_path, SCENE)
