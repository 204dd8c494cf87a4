"""VoxCAD files on the command line: run to the file's own end, with what changes nothing named first."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.api.calling import call

import supple as sp
from supple.files import load_scene_file
from supple.files.voxcad.load import StopKind, VoxcadEnvironment, VoxcadFile, VoxcadSimulator, save_voxcad
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

SLIPPERY = VoxelMaterial(young=1e6, density=1000, static_friction=0.0, kinetic_friction=0.0, poisson=0.3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with slide.vxa: a block on a slippery slope."""
    monkeypatch.chdir(tmp_path)
    surroundings = VoxcadEnvironment(gravity_enabled=True, floor_enabled=True, floor_slope=-30.0)
    simulator = VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=0.3, measured_from=0.1)
    grid = VoxelGrid(np.ones((2, 2, 1), dtype=int), 0.01)
    save_voxcad(VoxcadFile(grid, (SLIPPERY,), (), {}, simulator, surroundings), "slide.vxa")
    return tmp_path


def test_a_file_runs_to_its_own_end(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "run", "slide.vxa", "--json")
    result = json.loads(out)
    assert (code, result["outcome"]) == (0, "finished")
    assert result["time"] == pytest.approx(0.3, abs=1e-9)
    (body,) = result["bodies"]
    assert (body["name"], body["kind"]) == ("robot", "voxel")
    assert body["orientation"] == pytest.approx([np.cos(np.pi / 12), 0, np.sin(np.pi / 12), 0], abs=0.01)
    travel = result["travel"]
    assert travel["since"] == 0.1
    assert 0 < travel["displacement"][0] < body["displacement"][0]
    assert travel["distance_in_voxels"] == pytest.approx(travel["distance"] / 0.01)
    assert result["unsupported"] == []
    assert [line[:8] for line in err.splitlines()] == ["supple: "] * len(err.splitlines())
    assert err.count("Poisson's ratio") == 1
    assert "DtFrac is not applied" in err


def test_people_read_the_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "run", "slide.vxa")
    assert code == 0
    assert "Since 0.1 s the centre of mass moved by (" in out
    assert "orientation (w, x, y, z)" in out
    code, out, _ = call(capsys, "run", "slide.vxa", "--until", 0.05)
    assert "the run did not reach" in out


def test_a_loaded_file_is_the_scene_of_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its slope, gravity and time to stop, read in Python."""
    told = json.loads(call(capsys, "run", "slide.vxa", "--json")[1])
    file = load_scene_file("slide.vxa")
    run = sp.run(sp.load("slide.vxa"), until=file.run.until, record_every=file.run.record_every)
    assert run.time == told["time"]
    assert run.system.centre_of_mass(run.state).tolist() == told["bodies"][0]["centre_of_mass"]


@pytest.mark.parametrize("varies", [True, False], ids=["swings", "constant"])
def test_a_loaded_file_is_driven_by_its_temperature(
    varies: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on the command line; with the temperature off, or by a material that does not expand, the way is another."""
    surroundings = VoxcadEnvironment(
        gravity_enabled=True, floor_enabled=True, temperature_enabled=True, temperature_amplitude=20.0,
        temperature_varies=varies, temperature_period=0.1,
    )  # fmt: skip
    muscle = VoxelMaterial(young=1e6, density=1000, expansion=0.01)
    simulator = VoxcadSimulator(stop_kind=StopKind.TIME, stop_value=0.12)
    file = VoxcadFile(VoxelGrid(np.ones((3, 2, 1), dtype=int), 0.01), (muscle,), (), {}, simulator, surroundings)
    save_voxcad(file, "warm.vxa")
    save_voxcad(replace(file, environment=replace(surroundings, temperature_enabled=False)), "cold.vxa")
    ends, widths = {}, {}
    for name in ("warm", "cold"):
        told = json.loads(call(capsys, "run", f"{name}.vxa", "--json")[1])
        read = load_scene_file(f"{name}.vxa")
        run = sp.run(sp.load(f"{name}.vxa"), until=read.run.until, record_every=read.run.record_every)
        ends[name] = run.system.centre_of_mass(run.state).tolist()
        assert ends[name] == told["bodies"][0]["centre_of_mass"]
        widths[name] = float(np.ptp(run.system.positions(run.state, "robot")[:, 0]))
    assert widths["cold"] == pytest.approx(0.02, rel=1e-2)  # between the middles of three voxels
    # after 1.2 periods, or always: by 20 degrees times 0.01
    expected = 1.2 if not varies else 1 + 0.2 * np.sin(2 * np.pi * 0.12 / 0.1)
    assert widths["warm"] == pytest.approx(0.02 * expected, rel=3e-2)


def test_a_resumed_run_measures_from_the_same_time(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads(call(capsys, "run", "slide.vxa", "--json", "--out", "whole")[1])
    call(capsys, "run", "slide.vxa", "--out", "part", "--until", 0.2)
    resumed = json.loads(call(capsys, "run", "slide.vxa", "--json", "--out", "part", "--resume")[1])
    assert (resumed["travel"], resumed["bodies"]) == (whole["travel"], whole["bodies"])


def test_changes_to_a_base_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("slide.vxa").rename("base.vxa")
    change = '<A replace="VXA.Environment.Gravity.FloorSlope">0</A><B replace="VXA.GPU.HeapSize">1</B>'
    Path("robot.vxd").write_text(f"<VXD>{change}</VXD>")
    code, out, err = call(capsys, "run", "robot.vxd", "--json")
    assert code == 0
    assert abs(json.loads(out)["travel"]["displacement"][0]) < 1e-9
    assert json.loads(out)["unsupported"] == ["GPU"]
    assert "These tags change nothing here: GPU." in err


def test_the_base_of_changes_may_be_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("robot.vxd").write_text('<VXD><A replace="VXA.Environment.Gravity.FloorSlope">0</A></VXD>')
    code, _, err = call(capsys, "run", "robot.vxd")
    assert code == 2
    assert "Give the .vxa file that is changed: --base FILE" in err
    code, out, _ = call(capsys, "run", "robot.vxd", "--base", "slide.vxa", "--json")
    assert code == 0
    assert abs(json.loads(out)["travel"]["displacement"][0]) < 1e-9
    code, _, err = call(capsys, "run", "slide.vxa", "--base", "slide.vxa")
    assert (code, err) == (2, "supple: slide.vxa: only .vxd files have a base. Leave out --base.\n")


def test_a_file_without_an_end_asks_for_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_voxcad(VoxcadFile(VoxelGrid(np.ones((1, 1, 2), dtype=int), 0.01), (SLIPPERY,)), "still.vxa")
    code, out, err = call(capsys, "run", "still.vxa")
    assert (code, out) == (2, "")
    assert (
        err.splitlines()[-1] == "supple: nothing says how long to run. Give --until SECONDS, or `until` in the scene."
    )
    assert call(capsys, "run", "still.vxa", "--until", 0.01)[0] == 0


def test_a_damaged_file_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.vxa").write_text("<VXA>")
    assert call(capsys, "run", "a.vxa")[::2] == (
        2,
        "supple: a.vxa: damaged, cut short or not XML: no element found: line 1, column 5\n",
    )
    assert call(capsys, "run", "none.vxa")[2] == "supple: there is no such file (got 'none.vxa')\n"


def test_python_runs_the_package() -> None:
    done = subprocess.run([sys.executable, "-m", "supple", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("supple ")
