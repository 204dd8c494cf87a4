"""A scene file with a place for the robot is an arena."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from supple.contact import Floor
from supple.design import Arena, Design, FileArena, arena_of, evaluate, try_design
from supple.errors import FileFormatError, InputError
from supple.files import RunSettings, load, save
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


ACTING = {
    "a load on a region": '[[loads]]\non = { body = "robot", region = "x_max" }\nforce = [0.0, 0.0, 0.3]\n',
    "a load at a place": '[[loads]]\non = { body = "robot", at = [[0.545, 0.005, 0.005]] }\nforce = [0.0, 0.0, 0.1]\n',
    "masses": '[[masses]]\non = { body = "robot", region = "z_max" }\nmass = 0.0005\n',
    "a spring": '[[springs]]\na = { body = "robot", region = "x_max", centroid = true }\n'
    "b = { world = [[0.6, 0.01, 0.05]] }\nstiffness = 20.0\nrest_length = 0.0\n",
    "a ball joint": '[[joints]]\nkind = "ball"\na = "robot"\nat = [0.54, 0.02, 0.02]\n',
    "a fixed region": '[[filters]]\nkind = "fixed"\nbody = "robot"\nregion = "x_max"\n',
}
LONG = SCENE.replace("cells = [2, 2, 2]", "cells = [4, 2, 2]")


@pytest.mark.parametrize("what", ACTING)
def test_what_acts_on_the_robot_acts_on_the_design(what: str, tmp_path: Path) -> None:
    """As in a file in which the design itself is the robot: the voxels of a region or at a place are those of the
    design."""
    paths = tmp_path / "short.toml", tmp_path / "long.toml"
    design = Design(np.ones((4, 2, 2)))
    shift = LONG.replace("[0.5, 0.0, 0.0]", "[0.49, 0.0, 0.0]")  # so that the middles of both undersides are one
    for path, text in zip(paths, (SCENE, shift)):
        path.write_text(f"{text}\n{ACTING[what]}")
    short, long = (try_design(design, path, ("forward", "height")) for path in paths)
    plain = tmp_path / "plain.toml"
    plain.write_text(SCENE)
    assert long.ok, long.message
    assert long.scores != try_design(design, plain, ("forward", "height")).scores
    assert short.scores == long.scores


NUMBERED = {
    "loads[0].on": '[[loads]]\non = { body = "robot", numbers = [0, 1] }\nforce = [0.0, 0.0, 1.0]\n',
    "springs[0].a": '[[springs]]\na = { body = "robot", nodes = [[0, 1]], weights = [[0.5, 0.5]] }\n'
    "b = { world = [[0.6, 0.01, 0.05]] }\nstiffness = 20.0\n",
    "masses[0].on": '[[masses]]\non = { of = { body = "robot", region = "x_max" }, numbers = [0] }\nmass = 0.1\n',
    "filters[0]": '[[filters]]\nkind = "fixed"\nbody = "robot"\nnumbers = [0]\n',
    "joints[0]": '[[joints]]\nkind = "fixed"\na = "robot"\nat = [0.5, 0.0, 0.0]\npatch_a = [0, 1]\n',
    "events[0]": '[[events]]\nstep = 3\npull = "pull"\nbody = "robot"\nnumbers = [0]\n'
    "end = [0.0, 0.0, 0.1]\nstiffness = 1.0\n",
}


@pytest.mark.parametrize("where", NUMBERED)
def test_numbers_of_voxels_that_a_design_does_not_have_are_refused(where: str, path: Path) -> None:
    path.write_text(f"{SCENE}\n{NUMBERED[where]}")
    with pytest.raises(
        FileFormatError, match=re.escape(where) + r".*numbers of the voxels of 'robot'.*region = .*at = "
    ):
        FileArena(path)


def test_numbers_of_places_are_taken(path: Path) -> None:
    points = "of = { body = 'robot', at = [[0.5, 0.0, 0.0], [0.5, 0.0, 0.02]] }, numbers = [1]"
    path.write_text(f"{SCENE}\n[[loads]]\non = {{ {points} }}\nforce = [0.1, 0.0, 0.0]\n")
    assert try_design(WALKER, path).ok


def test_a_design_with_another_count_of_points_does_not_fit(path: Path) -> None:
    path.write_text(f"{SCENE}\n[[masses]]\non = {{ body = 'robot' }}\nmass = {[1e-4] * 8}\n")
    result = try_design(WALKER, path)
    assert (result.outcome, result.ok) == ("refused", False)
    assert "does not fit" in result.message
    assert "masses[0]" in result.message


def test_a_scene_is_an_arena_as_its_file_is(path: Path, tmp_path: Path) -> None:
    """Loaded from a file and given itself, or saved to another file."""
    scene = load(path)
    expected = try_design(WALKER, path).scores
    assert try_design(WALKER, scene, duration=0.2, record_every=0.02).scores == expected
    save(scene, tmp_path / "world.toml", run=RunSettings(until=0.2, record_every=0.02))
    assert try_design(WALKER, tmp_path / "world.toml").scores == expected
