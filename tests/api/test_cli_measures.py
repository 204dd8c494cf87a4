"""`supple run --measure`: the numbers of `try_design`, by the same functions, whatever kind of file the scene is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.calling import call

from supple.design import Arena, Design, FileArena, try_design
from supple.design.study.voxcad_design import WrittenArena, save_design
from supple.design.tasks import find_task
from supple.material.voxel import VoxelMaterial

NAMES = ("travel", "forward", "speed", "height", "energy", "contact_time")
SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=0.1)
ARENA = Arena({1: SOFT}, 0.01, duration=0.3, settle=0.1, amplitude=15.0, frequency=8.0)
WALKER = Design(np.ones((3, 2, 2)), {"phase": np.linspace(0.0, 1.0, 12).reshape(3, 2, 2)})
SCENE = """
supple = 1
gravity = [0.0, 0.0, -9.81]

[run]
until = 0.25
record_every = 0.02

[voxel_materials.soft]
young = 1e5
density = 1000.0
expansion = 0.01

[[bodies]]
name = "robot"
kind = "voxel"
box = { cells = [3, 2, 2] }
voxel_size = 0.01
material = "soft"
actuation = [{ amplitude = 20.0, frequency = 5.0 }]

[[bodies]]
name = "other"
kind = "voxel"
box = { cells = [1, 1, 1] }
voxel_size = 0.01
material = "soft"
origin = [0.1, 0.0, 0.0]

[[obstacles]]
kind = "floor"
"""
OWN = """
def twice(trial):
    return 2 * float(trial.centres[-1, 2])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with walk.toml and own_ways.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "own_ways", raising=False)
    Path("walk.toml").write_text(SCENE)
    Path("own_ways.py").write_text(OWN)
    return tmp_path


def measured(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """The measures that a run prints."""
    code, out, err = call(capsys, "run", *arguments, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)["measures"]
    return found


def test_a_scene_file_has_the_scores_of_its_design(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the body named robot; with commas, or one by one."""
    expected = try_design(Design(np.ones((3, 2, 2))), FileArena("walk.toml"), NAMES)
    assert expected.ok, expected.message
    assert expected.scores["travel"] > 0
    assert measured(capsys, "walk.toml", "--measure", ",".join(NAMES)) == dict(expected.scores)
    some = measured(capsys, "walk.toml", "--measure", "travel", "--measure", "energy")
    assert some == {name: expected.scores[name] for name in ("travel", "energy")}
    still = measured(capsys, "walk.toml", "--measure", "energy,contact_time", "--body", "other", "--settle", 0.1)
    assert still["energy"] == 0.0
    assert still["contact_time"] == pytest.approx(0.15, abs=0.025)


def test_a_voxcad_file_has_the_scores_of_its_arena(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From the time on that the file measures from; travel is what runs of such files always tell."""
    with pytest.warns(match="lacks"):
        save_design(WALKER, ARENA, "walk.vxa")
    expected = try_design(WALKER, WrittenArena(Path("walk.vxa"), ARENA.settle, ARENA.duration), NAMES)
    assert measured(capsys, "walk.vxa", "--measure", ",".join(NAMES)) == dict(expected.scores)
    told = json.loads(call(capsys, "run", "walk.vxa", "--json")[1])
    assert told["travel"]["distance"] == expected.scores["travel"]
    assert "measures" not in told


def test_a_robot_of_a_task_has_its_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run ends where the judge has seen enough, as there."""
    text = "import numpy as np\nfrom supple.design import Design\nfrom supple.design.tasks import find_task\n"
    text += "task = find_task('jump-v1')\nuntil = task.settle + task.duration\n"
    text += "scene = task.scene(Design(np.full((3, 3, 2), 3)))\n"
    Path("jump.py").write_text(text)
    expected = try_design(Design(np.full((3, 3, 2), 3)), find_task("jump-v1"), ("score", "travel", "energy"))
    assert expected.ok, expected.message
    assert measured(capsys, "jump.py", "--measure", "score,travel,energy") == dict(expected.scores)


def test_a_function_of_a_person_is_a_measure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a file that is named, or in a module beside the scene."""
    by_file = measured(capsys, "walk.toml", "--measure", "own_ways.py:twice", "--until", 0.1)
    assert 0.01 < by_file["twice"] < 0.03
    assert measured(capsys, folder / "walk.toml", "--measure", "own_ways:twice", "--until", 0.1) == by_file


ANY_KIND = {
    "a rigid ball": """
[[bodies]]
name = "thing"
kind = "rigid"
sphere = { radius = 0.05 }
density = 500.0
at = [0.0, 0.0, 0.3]
velocity = [0.4, 0.3, 1.0]
""",
    "finite elements": """
[materials.rubber]
young = 1e6
poisson = 0.3
density = 1000.0

[[bodies]]
name = "thing"
kind = "fem"
material = "rubber"
mesh = { box = { size = [0.1, 0.1, 0.1], cells = [1, 1, 1] } }
at = [0.0, 0.0, 0.3]
velocity = [0.4, 0.3, 1.0]
""",
    "particles": """
[[bodies]]
name = "thing"
kind = "particles"
positions = [[0.0, 0.0, 0.3], [0.1, 0.0, 0.3]]
mass = 0.1
radius = 0.02
at = [0.0, 0.0, 0.0]
velocity = [0.4, 0.3, 1.0]
""",
}


@pytest.mark.parametrize("kind", ANY_KIND)
def test_a_body_of_any_kind_is_measured(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Thrown up at 1 m/s it rises v²/2g = 51 mm, and goes 0.1 m/s times 0.2 s along the ground; dt is 1 ms."""
    Path("thrown.toml").write_text(
        f"supple = 1\ngravity = [0.0, 0.0, -9.81]\n{ANY_KIND[kind]}\n[[obstacles]]\nkind = 'floor'\n"
    )
    names = ("travel", "forward", "speed", "height", "contact_time")
    run = ("thrown.toml", "--until", 0.2, "--dt", 0.001, "--record-every", 0.005, "--measure", ",".join(names))
    expected = {"travel": 0.1, "forward": 0.08, "speed": 0.5, "height": 1 / (2 * 9.81), "contact_time": 0.0}
    assert measured(capsys, *run) == {name: pytest.approx(v, rel=1e-9, abs=1e-3) for name, v in expected.items()}
    assert measured(capsys, *run, "--body", "thing")["travel"] == pytest.approx(0.1, rel=1e-6)
    code, _, err = call(capsys, "run", "thrown.toml", "--until", "0.2", "--measure", "travel,energy")
    assert code == 2
    assert "'energy' needs the work of muscles, which bodies of voxels alone have" in err
    assert "body 'thing' of" in err


def test_a_ball_that_rests_touches_the_floor(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        ANY_KIND["a rigid ball"]
        .replace("[0.0, 0.0, 0.3]", "[0.0, 0.0, 0.05]")
        .replace("[0.4, 0.3, 1.0]", "[0.0, 0.0, 0.0]")
    )
    Path("rests.toml").write_text(f"supple = 1\ngravity = [0.0, 0.0, -9.81]\n{text}\n[[obstacles]]\nkind = 'floor'\n")
    found = measured(capsys, "rests.toml", "--until", 0.3, "--settle", 0.1, "--measure", "contact_time,travel,height")
    assert found["contact_time"] == pytest.approx(0.2, rel=1e-6)
    assert max(found["travel"], found["height"]) < 1e-4


def test_people_read_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "run", "walk.toml", "--measure", "speed,energy", "--until", 0.1)
    assert code == 0
    assert [line.split()[::2] for line in out.splitlines() if line.startswith(("speed", "energy"))] == [
        ["speed", "m/s"],
        ["energy", "J"],
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--measure", "travle"], "no measure of that name"),
        (["--measure", "score"], "no score of its own"),
        (["--measure", "gone.py:way"], "there is no such file"),
        (
            ["--measure", "travel", "--body", "dog"],
            "the scene has no body of this name (got 'dog'; allowed: robot, other)",
        ),
        (["--measure", "travel", "--settle", "1"], "ends before measuring begins"),
        (["--measure", "travel", "--resume"], "Leave out --resume"),
        (["--settle", "0.1"], "nothing is measured"),
    ],
)
def test_what_cannot_be_measured_is_said(
    arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "run", "walk.toml", "--until", 0.1, *arguments)
    assert code == 2
    assert said in err
