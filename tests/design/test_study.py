"""Studies: files are checked, the command line searches, resumes and writes, and designs go to VoxCAD and back."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.cli import main
from supple.cli.scenes import find_scene
from supple.contact import Floor
from supple.design import Arena, Design, FileArena, Store, measures_of, try_design
from supple.design.controllers import Network
from supple.design.search import Candidate, CmaEs, MapElites
from supple.design.study.dressing import dressed
from supple.design.study.outputs import LiveOutputs
from supple.design.study.study import load_study
from supple.design.study.voxcad_design import lost_in_voxcad, save_design, voxcad_of
from supple.design.study.written import write_voxcad
from supple.design.tasks import find_task
from supple.errors import ExportNotice, FileFormatError, InputError
from supple.examples.designs import studies, study_file
from supple.files.voxcad.load import load_voxcad, voxcad_body
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial

SMALL = """
design = 1
seed = 0
measures = ["energy"]
[arena]
voxel_size = 0.01
duration = 0.1
amplitude = 5.0
frequency = 10.0
[arena.materials.1]
young = 1e5
density = 1000
expansion = 0.01
[encoding]
kind = "direct"
shape = [3, 2, 2]
mirror = "y"
[search]
kind = "age-fitness"
objectives = ["forward"]
population = 3
generations = 2
"""


def written(tmp_path: Path, text: str = SMALL) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(text)
    return path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_a_study_runs_and_leaves_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    code, text, err = call(capsys, "design", str(written(tmp_path)), "--out", str(out), "--workers", "0", "--json")
    told = json.loads(text)
    assert code == 0, err
    assert told["designs"] == 6
    assert told["notes"] == []
    assert {"best.toml", "best.vxa", "best.json", "history.csv", "archive.csv", "results.csv"} <= set(told["files"])
    assert {"progress.png", "generations.png", "best.gif"} <= set(told["files"])
    design = Design.from_json(json.loads((out / "best.json").read_text()))
    assert design.key() == told["best"][0]["design"]
    study = load_study(tmp_path / "small.toml")
    assert try_design(design, study.arena, ("forward", "energy")).scores == told["best"][0]["scores"]
    run = sp.run(sp.load(out / "best.toml"), until=0.1, progress=False, threads=1)
    moved = run.system.centre_of_mass(run.state, run.system.body("robot"))[0]
    assert moved == pytest.approx(told["best"][0]["scores"]["forward"] + _start(study.arena, design), abs=1e-12)


def test_tables_and_the_plot_grow_with_the_search(tmp_path: Path) -> None:
    study, sizes = load_study(written(tmp_path)), []

    def look(row: Any, told: Any) -> None:
        rows = (tmp_path / "history.csv").read_text().splitlines()
        sizes.append((len(rows) - 1, (tmp_path / "progress.png").is_file()))

    live = LiveOutputs(tmp_path, lambda: search.found(), plot=True, every=0.0)
    search = study.search(workers=0, observers=[live, look])
    search.run(2)
    assert sizes == [(1, True), (2, True)]


def _start(arena: Any, design: Design) -> float:
    system = arena.scene(design).compile()
    return float(system.centre_of_mass(system.initial_state(), system.body("robot"))[0])


def test_a_search_is_resumed_and_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(written(tmp_path)), tmp_path / "out"
    plain = ("design", path, "--workers", "0", "--no-pictures", "--json")
    assert call(capsys, *plain, "--out", str(out), "--generations", "1")[0] == 0
    code, _, err = call(capsys, *plain, "--out", str(out))
    assert code == 2
    assert "--resume" in err
    code, _, err = call(capsys, *plain, "--out", str(out), "--resume", "--seed", "3")
    assert (code, "seed" in err) == (2, True)
    resumed = json.loads(call(capsys, *plain, "--out", str(out), "--resume")[1])
    whole = json.loads(call(capsys, *plain, "--out", str(tmp_path / "whole"))[1])
    assert resumed["archive"] == whole["archive"]
    assert resumed["best"] == whole["best"]
    same = ["archive.csv", *sorted(path.name for path in (tmp_path / "whole").glob("best*"))]
    assert len(same) == 13
    assert [name for name in same if (out / name).read_bytes() != (tmp_path / "whole" / name).read_bytes()] == []
    with Store(out / "store.db"):
        code, _, err = call(capsys, *plain, "--out", str(out), "--resume")
    assert (code, "another run" in err) == (2, True), err


@pytest.mark.parametrize(
    ("given", "fix"),
    [
        (("run", "evolve-walker"), "Search with it: supple design evolve-walker"),
        (("design", "walk-v1"), 'Name it in a file: task = "walk-v1"'),
        (("design", "garden"), "Run it: supple run garden"),
        (("design", "evolve-waker"), "Did you mean 'evolve-walker'?"),
    ],
)
def test_scenes_searches_and_tasks_are_told_apart(
    given: tuple[str, str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, *given)
    assert (code, fix in err) == (2, True), err


def test_people_read_how_many_designs_a_day(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of those that were evaluated: a search that finds all its results in its store says nothing."""
    plain = ["design", str(written(tmp_path)), "--workers", "0", "--no-pictures", "--out", str(tmp_path / "out")]
    assert re.search(r"^[\d,]{3,} designs a day: those evaluated now, over [\d.]+ s$", call(capsys, *plain)[1], re.M)
    assert "designs a day" not in call(capsys, *plain, "--resume")[1]


def test_a_folder_without_a_result_is_free(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(written(tmp_path)), tmp_path / "out"
    plain = ("design", path, "--no-pictures", "--json", "--out", str(out))
    assert call(capsys, *plain, "--workers", "-1")[0] == 2
    assert call(capsys, *plain, "--workers", "0", "--generations", "1")[0] == 0


def test_a_run_that_is_refused_leaves_the_note_of_the_one_on_its_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = str(written(tmp_path)), tmp_path / "out"
    plain = ("design", path, "--no-pictures", "--json", "--out", str(out), "--workers", "0")
    out.mkdir()
    with Store(out / "store.db"):
        code, _, err = call(capsys, *plain, "--seed", "7")
    assert (code, "another run" in err) == (2, True), err
    assert not (out / "study.json").exists()


BAD = {
    ("kind = \"direct\"", "kind = \"dirct\""): "Did you mean 'direct'",
    ("kind = \"age-fitness\"", "kind = \"age\""): "unknown kind",
    ("objectives = [\"forward\"]", "objectives = [\"foward\"]"): "Did you mean 'forward'",
    ("measures = [\"energy\"]", "measures = [\"enrgy\"]"): "Did you mean 'energy'",
    ("population = 3", "popluation = 3"): "Did you mean 'population'",
    ("population = 3", "population = 1"): "population",
    ("generations = 2", "generations = 0"): "is not positive",
    ("voxel_size = 0.01", "voxel_size = -1.0"): "voxel_size",
    ("seed = 0", "seed = -1"): "seed",
    ("design = 1", "design = 2"): "version of a study",
    ("mirror = \"y\"", "fields = [\"phse\"]"): "Did you mean 'phase'",
    ("[arena.materials.1]", "[arena.materials.soft]"): "named by its number",
    ("shape = [3, 2, 2]", ""): "shape",
    ("shape = [3, 2, 2]", "shape = [0, 2, 2]"): "three positive counts",
    ("seed = 0", "task = \"walk-v1\""): "exclude each other",
    ("mirror = \"y\"", "muscles = [1, 2]"): "no material of this number",
    ("mirror = \"y\"", "fields = { heat = { low = 0, high = 1 } }"): "does not know this field",
    ("expansion = 0.01", ""): "no muscle swells",
    ("expansion = 0.01", "expansion = 0.2"): "makes every muscle vanish",
    ("shape = [3, 2, 2]", "shape = [4000, 3000, 3000]"): "encoding.shape: has too many cells",
    ("population = 3", "population = 100000000000"): "search.population: is out of range",
    ("objectives = [\"forward\"]", "objectives = [\"score\"]"): "no score of its own",
    ("measures = [\"energy\"]", "measures = [\"nowhere:hop\"]"): "cannot be imported",
    ("amplitude = 5.0", "amplitude = 5.0\ncontroller = \"nowhere:drive\""): "arena.controller",
    ("population = 3", "population = 3\ncrossing = 7.0"): "crossing",
    ("mirror = \"y\"", "filled = 2.0"): "filled",
    ("mirror = \"y\"", "smooth = -1.0"): "smooth",
    ("seed = 0", "seed = 0\ntime_limit = 0"): "time_limit",
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), BAD.items(), ids=list(BAD.values()))
def test_a_file_with_an_error_is_refused(change: tuple[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises((FileFormatError, InputError), match=said):
        load_study(written(tmp_path, SMALL.replace(*change)))


def test_a_map_that_fills_the_memory_is_refused(tmp_path: Path) -> None:
    axis = 'descriptors = [{ measure = "height", low = 0.0, high = 1.0, cells = 1000000000 }]'
    text = SMALL.replace("age-fitness", "map-elites").replace("population = 3", f"population = 3\n{axis}")
    with pytest.raises(FileFormatError, match=r"search.descriptors: have too many cells \(got \[1000000000\]"):
        load_study(written(tmp_path, text))


TASK = """
design = 1
task = "walk-v1"
[encoding]
kind = "waves"
[search]
kind = "cma-es"
population = 2
generations = 1
"""


@pytest.mark.parametrize(
    ("more", "said"), [("shape = [6, 5, 5]", "larger than the grid"), ('fields = ["stiffness"]', "does not know")]
)
def test_bodies_that_no_task_takes_are_refused(more: str, said: str, tmp_path: Path) -> None:
    load_study(written(tmp_path, TASK))
    with pytest.raises(FileFormatError, match=said):
        load_study(written(tmp_path, TASK.replace("[search]", f"{more}\n[search]")))


OWN = """
from supple.bodies.voxel import Actuation

def lift(trial):
    return float(trial.centres[:, 2].max())

def drive(design, arena, grid):
    return Actuation(2.0, 20.0)
"""


def test_functions_of_a_file_beside_the_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_gaits.py").write_text(OWN)
    text = SMALL.replace('"energy"', '"own_gaits:lift"').replace("amplitude = 5.0", 'controller = "own_gaits:drive"')
    out = tmp_path / "out"
    code, told, err = call(capsys, "design", str(written(tmp_path, text)), "--out", str(out), "--workers", "1",
                           "--generations", "1", "--no-pictures", "--json")  # fmt: skip
    assert code == 0, err
    assert json.loads(told)["best"][0]["scores"]["lift"] > 0.005
    assert json.loads(told)["notes"][0].startswith("best.vxa lacks the controller")


COMMANDED = """
import numpy as np
from supple.bodies.voxel import Commands

def drive(design, arena, grid):
    return Commands(lambda t, state: np.array([5.0 * np.sin(60.0 * t)]), rate=100.0, count=1)
"""


def test_robots_that_python_drives_are_scenes_in_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of numbers cannot hold a function; a file of Python reads the arena in the study and the design beside."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_commands.py").write_text(COMMANDED)
    path = written(tmp_path, SMALL.replace("amplitude = 5.0", 'controller = "own_commands:drive"'))
    code, text, err = call(capsys, "design", path.name, "--out", "out/there", "--workers", "0", "--generations", "1",
                           "--no-pictures", "--json")  # fmt: skip
    told = json.loads(text)
    assert code == 0, err
    assert {"best.py", "best-2.py"} <= set(told["files"]), told["notes"]
    assert "best.toml" not in told["files"]
    assert not any("not written" in note for note in told["notes"])
    out = tmp_path / "out" / "there"
    chosen = find_scene(str(out / "best.py"))
    assert chosen.settings == {"until": 0.1}
    design = Design.from_json(json.loads((out / "best.json").read_text()))
    scene = load_study(path).arena.scene(design)
    runs = [sp.run(one, until=0.1, record_every=0.05, progress=False, threads=1) for one in (chosen.scene, scene)]
    assert np.array_equal(runs[0].state.x, runs[1].state.x)
    measured = json.loads(call(capsys, "run", str(out / "best.py"), "--measure", "forward", "--json")[1])["measures"]
    assert measured["forward"] == told["best"][0]["scores"]["forward"]


def test_it_is_said_why_designs_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_nans.py").write_text("def nan(trial):\n    return float('nan')\n")
    path = written(tmp_path, SMALL.replace('"energy"', '"own_nans:nan"'))
    code, text, err = call(capsys, "design", str(path), "--out", str(tmp_path / "out"), "--workers", "0")
    assert (code, "None of 6 designs came to its end" in text) == (0, True)
    assert "6 of 6 designs failed, the first one: refused: " in text
    assert err.count("the first design that failed, refused: measure 'nan'") == 1


WORLD = """
supple = 1
gravity = [0, 0, -2]
[voxel_materials.soft]
young = 1e5
density = 1000
[[bodies]]
name = "robot"
kind = "voxel"
voxel_size = 0.01
box = { cells = [2, 1, 1] }
material = "soft"
[run]
until = 0.1
"""


def test_a_scene_file_is_the_world(tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text(WORLD)
    head, _, rest = SMALL.partition("[arena]")
    text = f'{head}[scene]\nfile = "world.toml"\n[encoding]{rest.partition("[encoding]")[2]}'
    arena = load_study(written(tmp_path, text)).arena
    scene = arena.scene(Design(np.ones((3, 1, 1))))
    assert np.asarray(scene.gravity).tolist() == [0.0, 0.0, -2.0]
    assert [node.body.grid.voxel_count for node in scene.nodes] == [3]


def test_the_best_of_a_task_are_scenes_and_go_to_voxcad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of numbers cannot hold what asks for actions; a file of Python names the task and reads the design."""
    encoding = '[encoding]\nkind = "direct"\nshape = [3, 3, 3]'
    search = '[search]\nkind = "random"\npopulation = 1\ngenerations = 1'
    text = f'design = 1\ntask = "push-v1"\n{encoding}\n{search}'
    out = tmp_path / "out"
    arguments = ("--out", str(out), "--workers", "0", "--no-pictures", "--json")
    code, printed, err = call(capsys, "design", str(written(tmp_path, text)), *arguments)
    told = json.loads(printed)
    assert code == 0, err
    assert "best.py" in told["files"]
    assert ["best.vxa lacks objects" in note for note in told["notes"]] == [True]  # VoxCAD has one body alone
    assert {"best.vxa", "best.vxa.json"} <= set(told["files"])
    chosen = find_scene(str(out / "best.py"))
    design = Design.from_json(json.loads((out / "best.json").read_text()))
    task = find_task("push-v1")
    assert chosen.settings == {"until": task.duration}
    runs = [
        sp.run(scene, until=0.3, record_every=0.05, progress=False, threads=1)
        for scene in (chosen.scene, task.scene(design))
    ]
    assert np.array_equal(runs[0].state.x, runs[1].state.x)


def test_the_robots_of_tasks_and_scene_files_go_to_voxcad(tmp_path: Path) -> None:
    """They swing there as they do at their tasks, but for the time that a task holds each action."""
    phase = np.linspace(0, 0.9, 12).reshape(3, 2, 2)
    muscle = Design(np.full((3, 2, 2), 3), {"phase": phase})
    with pytest.warns(ExportNotice, match="1/20 s"):
        save_design(muscle, find_task("walk-v1"), tmp_path / "task.vxa")
    body = voxcad_body(load_voxcad(tmp_path / "task.vxa"))
    assert body.swing is not None
    expected = 0.05 * (1 + 0.15 * np.sin(2 * np.pi * (2.0 * 0.35 + phase)))
    np.testing.assert_allclose(np.sort(body.swing.sizes(0.35)), np.sort(expected.ravel()), rtol=1e-9)
    (tmp_path / "world.toml").write_text(WORLD)
    save_design(Design(np.ones((3, 1, 1))), FileArena(tmp_path / "world.toml"), tmp_path / "file.vxa")
    assert load_voxcad(tmp_path / "file.vxa").environment.gravity_acceleration == -2.0


LOST = {
    "swim-v1": "the fluid", "stairs-v1": "plain floor", "rough-v1": "plain floor", "gap-v1": "plain floor",
    "slope-v1": "turned", "stand-v1": "turned", "push-v1": "objects", "throw-v1": "objects", "carry-v1": "objects",
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_the_robot_of_any_task_goes_to_voxcad_with_what_is_lost(name: str, tmp_path: Path) -> None:
    """The body and its swing are whole; what the world lacks is told."""
    muscle = Design(np.full((3, 2, 2), 3), {"phase": np.linspace(0, 0.9, 12).reshape(3, 2, 2)})
    with pytest.warns(ExportNotice, match=f"lacks .*{LOST[name]}"):
        lost = save_design(muscle, find_task(name), tmp_path / "robot.vxa")
    assert any(LOST[name] in one for one in lost)
    file = load_voxcad(tmp_path / "robot.vxa")
    assert file.grid.voxel_count == 12
    assert file.environment.floor_enabled == (name != "swim-v1")
    assert file.environment.temperature_varies
    assert voxcad_body(file).swing is not None


def test_a_written_robot_has_its_score_beside_it(tmp_path: Path) -> None:
    """Where nothing is lost the file scores as the design does; in place of a fluid it scores what it does there."""
    design = walker()
    for arena, lost in ((ARENA, []), (ARENA.with_(settle=0.05, fluid=Fluid(1000.0)), ["the fluid", "that the swing"])):
        result = try_design(design, arena, ("forward", "height"))
        found = Candidate(0, None, design, result)
        notes = write_voxcad(found, measures_of(("forward", "height")), arena, tmp_path / "best.vxa")
        told = json.loads((tmp_path / "best.vxa.json").read_text())
        assert [one.startswith(start) for one, start in zip(told["lost"], lost, strict=True)] == [True] * len(lost)
        assert told["in its arena"] == dict(result.scores)
        near = told["scores"]["forward"] == pytest.approx(
            result.scores["forward"], abs=1e-8
        )  # steps differ in round-off
        assert near == (not lost)
        assert [f"forward {result.scores['forward']:.4g}, " in note for note in notes] == [True] * bool(lost)


def test_trying_a_written_robot_warns_of_nothing(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    """It bends beyond the theory in the file, where its swing does not grow; that says nothing of the robot."""
    arena = Arena({1: VoxelMaterial(1e5, 1000, expansion=0.01)}, 0.01, duration=0.02, settle=0.05, amplitude=20.0,
                  frequency=10.0)  # fmt: skip
    phase = np.zeros((4, 2, 2))
    phase[..., 1] = 0.5
    design = Design(np.ones((4, 2, 2)), {"phase": phase})
    one = Candidate(0, None, design, try_design(design, arena, "forward"))
    assert not recwarn
    assert write_voxcad(one, measures_of("forward"), arena, tmp_path / "best.vxa")
    assert not recwarn


def test_a_robot_with_a_controller_stands_still_in_voxcad(tmp_path: Path) -> None:
    network = Network.random([14, 1], seed=0).to_data()
    with pytest.warns(ExportNotice, match="the controller"):
        save_design(Design(np.ones((2, 1, 1)), {}, network), ARENA, tmp_path / "robot.vxa")
    assert voxcad_body(load_voxcad(tmp_path / "robot.vxa")).swing is None


@pytest.mark.parametrize("name", studies())
def test_built_in_studies_can_be_read(name: str) -> None:
    study = load_study(study_file(name))
    designs = study.method.ask()
    assert designs
    assert all(study.arena.scene(design).nodes for design in designs[:2])
    assert isinstance(study.method, {"swim": CmaEs, "map-of-gaits": MapElites}.get(name, object))


ARENA = Arena(
    {1: VoxelMaterial(1e5, 1000, expansion=0.01), 2: VoxelMaterial(2e5, 1000)}, 0.01, duration=0.1, amplitude=5.0,
    frequency=10.0,
)  # fmt: skip


def walker() -> Design:
    rng = np.random.default_rng(3)
    cells = rng.choice([1, 2], (3, 2, 2)).astype(int)
    return Design(np.pad(cells, 1), {"phase": rng.random((5, 4, 4)), "stiffness": rng.uniform(0.5, 2.0, (5, 4, 4))})


def test_colours_change_nothing() -> None:
    arena, design = dressed(ARENA, walker())
    assert (
        try_design(design, arena, ("travel", "height")).scores
        == try_design(walker(), ARENA, ("travel", "height")).scores
    )
    assert len({one.colour for one in arena.materials.values()}) > 3


def test_a_design_goes_to_voxcad_and_back(tmp_path: Path) -> None:
    design = walker()
    save_design(design, ARENA, tmp_path / "walker.vxa")
    file = load_voxcad(tmp_path / "walker.vxa")
    assert file == voxcad_of(design, ARENA)
    ours, theirs = ARENA.body_of(design), voxcad_body(file)
    np.testing.assert_array_equal(theirs.model.values("young"), ours.model.values("young"))
    assert ours.swing is not None
    assert theirs.swing is not None
    np.testing.assert_allclose(theirs.swing.sizes(0.037), ours.swing.sizes(0.037), rtol=1e-12)
    runs = [
        sp.run(scene, until=0.05, progress=False, threads=1)
        for scene in (ARENA.scene(design), sp.load(tmp_path / "walker.vxa"))
    ]
    moved = [run.system.positions(run.state, run.system.bodies[0].name) for run in runs]
    shift = moved[0] - moved[1]
    np.testing.assert_allclose(
        shift, np.broadcast_to(shift[0], shift.shape), atol=1e-9
    )  # steps differ in their last bit


@pytest.mark.parametrize(
    ("arena", "said"),
    [
        (ARENA.with_(fluid=Fluid(1000.0)), ["the fluid"]),
        (ARENA.with_(obstacles=(Floor(0.1),)), ["obstacles other than one plain floor at z = 0"]),
        (ARENA.with_(gravity=(1, 0, 0)), ["gravity that is not along z"]),
        (ARENA, []),
    ],
)
def test_what_voxcad_cannot_say_is_told(arena: Arena, said: list[str]) -> None:
    assert lost_in_voxcad(walker(), arena) == said
