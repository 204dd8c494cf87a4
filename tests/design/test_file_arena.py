"""A scene file with a place for the robot is an arena."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from supple.contact import Floor
from supple.design import Arena, Design, FileArena, arena_of, evaluate, try_design
from supple.errors import InputError
from supple.material.voxel import VoxelMaterial

SCENE = """
supple = 1
gravity = [0.0, 0.0, -9.81]

[run]
until = 0.2
record_every = 0.02

[voxel_materials.soft]
young = 1e5
density = 1000.0
expansion = 0.01

[[bodies]]
name = "robot"
kind = "voxel"
box = { cells = [2, 2, 2] }
voxel_size = 0.01
material = "soft"
origin = [0.5, 0.0, 0.0]
actuation = [{ amplitude = 20.0, frequency = 5.0 }]

[[obstacles]]
kind = "floor"
name = "floor"
"""
PHASE = np.linspace(0.0, 1.0, 12).reshape(3, 2, 2)
WALKER = Design(np.ones((3, 2, 2)), {"phase": PHASE})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The scene as a file."""
    file = tmp_path / "walk.toml"
    file.write_text(SCENE)
    return file


def test_a_file_scores_as_the_arena_that_it_describes(path: Path) -> None:
    soft = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, name="soft")
    arena = Arena({1: soft}, 0.01, duration=0.15, settle=0.05, amplitude=20.0, frequency=5.0, obstacles=(Floor(),),
                  place=(0.51, 0.01, 0.0), record_every=0.02)  # fmt: skip
    names = ("travel", "height")
    found, expected = try_design(WALKER, FileArena(path, settle=0.05), names), try_design(WALKER, arena, names)
    assert found.ok, found.message
    assert found.scores == expected.scores
    assert found.scores["travel"] > 1e-4


def test_a_path_is_enough(path: Path) -> None:
    (result,) = evaluate([WALKER], path, workers=0)
    assert result == try_design(WALKER, FileArena(path))
    assert result.key == evaluate([WALKER], str(path), workers=0)[0].key


def test_the_key_is_the_content(path: Path) -> None:
    arena = FileArena(path)
    key = arena.key()
    assert pickle.loads(pickle.dumps(arena)).key() == key
    assert FileArena(path, settle=0.1).key() != key
    path.write_text(SCENE.replace("frequency = 5.0", "frequency = 6.0"))
    assert FileArena(path).key() != key


def test_what_is_no_arena_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match=r"no body of that name.*got 'dog'; allowed: robot"):
        FileArena(path, body="dog")
    with pytest.raises(InputError, match=r"run\.until"):
        FileArena(path, settle=1.0)
    with pytest.raises(InputError, match="no task of this name"):
        arena_of("dance-v1")
    with pytest.raises(InputError, match="not an arena"):
        arena_of(3)  # type: ignore[arg-type]
