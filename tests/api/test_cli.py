"""The command line: what it prints, where its results go, its exit codes, and one sentence for every error."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.api.calling import call

import supple as sp
from supple.cli import main
from supple.cli.scenes import SUFFIXES
from supple.errors import InputError
from supple.examples import Check, Example, registry
from supple.examples.designs import studies
from supple.record import open_record

SCENE = """
supple = 1
gravity = [0, 0, -9.81]
materials.rubber = { young = 1e6, poisson = 0.45, density = 1100 }

[[bodies]]
name = "string"
kind = "particles"
positions = [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0]]
mass = 0.1
springs = [[0, 1], [1, 2]]
stiffness = 100

[[loads]]
on = { body = "string", numbers = [2] }
force = [0, 0, 1]

[[filters]]
kind = "fixed"
body = "string"
numbers = [0]

[run]
until = 0.05
"""
FEM = """
[[bodies]]
name = "beam"
kind = "fem"
mesh = { box = { size = [1, 1, 1], cells = [1, 1, 1] } }
material = "rubber"
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scene file in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "string.toml"
    path.write_text(SCENE)
    return path


def test_run_says_where_the_results_are(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "run", "string.toml")
    assert code == 0
    assert out.splitlines()[-1] == "Results are in out/string"
    assert list(Path("out/string").iterdir())


def test_run_keeps_checkpoints_as_often_as_it_is_told(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, *_ = call(capsys, "run", "string.toml", "--checkpoint-every", 0)
    assert code == 0
    assert open_record("out/string").state_steps == [1, 2, 3, 4, 5]
    code, *_ = call(capsys, "run", "string.toml")
    assert open_record("out/string").state_steps == [5]
    for wrong in ("-1", "nan"):
        code, _, err = call(capsys, "run", "string.toml", "--checkpoint-every", wrong)
        assert code == 2
        assert "checkpoint_every" in err


def test_run_records_as_often_as_it_is_told(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, *_ = call(capsys, "run", "string.toml", "--until", 0.05, "--dt", 0.01, "--record-every", 0.02)
    assert code == 0
    assert open_record("out/string").columns["step"].tolist() == [0, 2, 4, 5]
    code, _, err = call(capsys, "run", "string.toml", "--record-every", -1)
    assert code == 2
    assert "record_every" in err


def test_run_prints_no_escape_sequences(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = SCENE.replace("supple = 1", 'supple = 1\nname = "a\\u001B[31m\\u009Bb"').replace('"string"', '"x\\u009By"')
    scene.write_text(named)
    for more in ([], ["--json"]):
        code, out, err = call(capsys, "run", "string.toml", *more)
        assert code == 0
        assert all(line.isprintable() for line in (out + err).splitlines())


def test_run_as_json(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(
        capsys, "run", scene, "--json", "--out", "there", "--until", 0.02, "--dt", 0.005, "--threads", 1
    )
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert set(result) == {"outcome", "time", "steps", "real_time_factor", "bodies", "energy"}
    assert (result["outcome"], result["steps"]) == ("finished", 4)
    assert set(result["bodies"][0]) >= {"name", "kind", "centre_of_mass", "displacement", "orientation"}
    assert Path("there").is_dir()


def test_resume_goes_on(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads(call(capsys, "run", scene, "--json", "--out", "whole", "--until", 0.06)[1])
    call(capsys, "run", scene, "--out", "part", "--until", 0.03)
    code, out, _ = call(capsys, "run", scene, "--json", "--out", "part", "--until", 0.06, "--resume")
    assert code == 0
    assert json.loads(out)["bodies"] == whole["bodies"]


def test_python_files(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("neighbour.py").write_text("HEIGHT = 2.0\n")
    Path("ball.py").write_text(
        "import supple as sp\nfrom neighbour import HEIGHT\nuntil = 0.02\n\n\n"
        "def make_scene():\n    scene = sp.Scene(gravity=(0, 0, -10))\n"
        "    scene.add(sp.RigidBody.box((1, 1, 1), density=1), at=(0, 0, HEIGHT), name='ball')\n    return scene\n"
    )
    code, out, _ = call(capsys, "run", "ball.py", "--json")
    assert code == 0
    assert json.loads(out)["bodies"][0]["name"] == "ball"


def test_picture_and_exports(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "run", scene, "--picture")[0] == 0
    assert Path("out/string/picture.png").read_bytes().startswith(b"\x89PNG")
    assert Path("out/string/table.csv").is_file()
    code, out, _ = call(capsys, "export", "out/string", "--to", "vtk", "--json")
    assert code == 0
    assert Path(json.loads(out)["path"]).is_file()


def test_export_some_frames_as_a_page(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("nicegui")
    assert call(capsys, "run", "string.toml", "--until", 0.05, "--record-every", 0.01)[0] == 0
    code, out, _ = call(capsys, "export", "out/string", "--to", "html", "--frames", "1,3,-1", "--no-controls")
    assert code == 0
    page = Path(out.removeprefix("Written to ").strip()).read_text()
    told = json.loads(page.split('id="header">')[1].split("</script>")[0])
    assert told["times"] == pytest.approx([0.01, 0.03, 0.05])
    assert told["bare"]


def test_examples_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    known = registry()
    code, out, _ = call(capsys, "examples")
    assert code == 0
    assert all(name in out for name in known)
    assert {row["name"] for row in json.loads(call(capsys, "examples", "--json")[1])} == {*known, *studies()}


def test_examples_are_checked_at_their_end(
    scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def example(ok: bool) -> Example:
        checks = [Check("height [m]", 1.0, 2.0, 0.1, ok)]
        return Example("drop", "a string falls", lambda: sp.load(scene), 0.02, lambda run: checks)

    monkeypatch.setattr("supple.examples.registry", lambda: {"drop": example(True)})
    code, out, _ = call(capsys, "run", "drop")
    assert code == 0
    assert "height [m]" in out
    monkeypatch.setattr("supple.examples.registry", lambda: {"drop": example(False)})
    code, out, _ = call(capsys, "run", "drop", "--json")
    assert code == 1
    assert json.loads(out)["checks"][0]["ok"] is False
    assert call(capsys, "run", "drop", "--until", 0.01)[0] == 0


def _rows(ok: bool) -> list[dict[str, object]]:
    numbers = {"value": 1.0, "reference": 1.5, "error": 0.5, "limit": 0.1, "unit": "m"}
    return [{"case": "fem/beam", "quantity": "tip", **numbers, "ok": ok, "source": "a book"}]


def test_validate_exits_with_one_where_a_case_falls_short(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = {"fem/beam": lambda: _rows(False), "fem/wave": lambda: _rows(True), "rigid/spin": lambda: _rows(True)}
    monkeypatch.setattr("supple.validation.registry", lambda: cases)
    code, out, _ = call(capsys, "validate")
    assert code == 1
    assert "FALLS SHORT" in out
    assert "1 of 3 fall short" in out
    assert call(capsys, "validate", "rigid")[0] == 0
    code, out, _ = call(capsys, "validate", "fem", "fem/beam", "--json")
    assert code == 1
    assert len(json.loads(out)) == 2
    assert set(json.loads(out)[0]) == set(_rows(True)[0])
    code, _, err = call(capsys, "validate", "fem/baem")
    assert code == 2
    assert "Did you mean 'fem/beam'?" in err


def test_bench_names_the_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"case": "fem/beam", "quantity": "step_time", "value": 1.0, "unit": "ms", "threads": 1, "device": "cpu"}
    row |= {"dtype": "float64", "limit": None, "ok": True}
    monkeypatch.setattr("supple.bench.registry", lambda: {"fem/beam": lambda: [row]}, raising=False)
    code, out, _ = call(capsys, "bench", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["results"] == [row]
    assert result["machine"]["cores"] >= 1
    assert "step_time" in call(capsys, "bench", "fem")[1]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "--version") == (0, f"supple {sp.__version__}\n", "")
    for arguments in ((), ("--help",)):
        code, out, _ = call(capsys, *arguments)
        assert code == 0
        assert all(verb in out for verb in ("run", "examples", "validate", "bench", "export"))


@pytest.mark.parametrize("verb", ["run", "modes"])
def test_help_names_every_kind_of_scene_file(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, verb, "--help")
    assert code == 0
    assert [suffix for suffix in SUFFIXES if suffix not in out] == []


BAD = {
    "unknown key": ('name = "string"', 'nmae = "string"', "bodies[0].nmae: unknown key. Did you mean 'name'?"),
    "negative density": ("1100", "-1", "the density is not positive"),
    "Poisson's ratio": ("0.45", "0.5", "Poisson's ratio is out of range"),
    "empty region": ("[run]", FEM + 'fix = "x_mid"\n[run]', "no region is called 'x_mid'"),
    "load": ("[0, 0, 1]", "[0, 0, nan]", "loads[0].force"),
    "mesh": (
        "[run]",
        FEM.replace("box = { size = [1, 1, 1], cells = [1, 1, 1] }", 'file = "cut.veg"') + "[run]",
        "cut.veg",
    ),
    "syntax": ("[run]", "[run", "line"),
    "solver": ("[run]", "[solver]\nkind = 'rk5'\n[run]", "solver.kind: unknown kind"),
    "until": ("until = 0.05", "", "nothing says how long to run"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_scenes_end_with_one_sentence(case: str, scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, message = BAD[case]
    sp.save_mesh("whole.veg", sp.box_tets((1, 1, 1), (1, 1, 1)))
    Path("cut.veg").write_bytes(Path("whole.veg").read_bytes()[:200])
    scene.write_text(SCENE.replace(old, new, 1))
    _assert_refused(call(capsys, "run", scene), message)


def _assert_refused(result: tuple[int, str, str], message: str) -> None:
    code, out, err = result
    assert code == 2
    assert out == ""
    assert message in err
    assert err.startswith("supple: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


COMMANDS = {
    "unknown example": (("run", "hanging-baem"), "Did you mean 'hanging-beam'?"),
    "no such file": (("run", "none.toml"), "there is no such file"),
    "a mesh": (("run", "mesh.veg"), "load_mesh"),
    "cuda": (("run", "string.toml", "--device", "cuda"), "runs on the CPU only"),
    "unknown device": (("run", "string.toml", "--device", "tpu"), "--device"),
    "folder is a file": (("run", "string.toml", "--out", "string.toml/out"), "the folder cannot be made"),
    "no step": (("run", "string.toml", "--dt", "0"), "dt is not a positive time"),
    "end": (("run", "string.toml", "--until", "nan"), "until is not a positive time"),
    "threads": (("run", "string.toml", "--threads", "0"), "threads"),
    "nothing to resume": (("run", "string.toml", "--resume"), "checkpoint"),
    "unknown verb": (("runn",), "Did you mean 'run'?"),
    "unknown option": (("run", "string.toml", "--utnil", "1"), "--until"),
    "no run": (("export", "none", "--to", "vtk"), "none"),
    "unknown format": (("export", "none", "--to", "doc"), ""),
    "no scene in it": (("run", "empty.py"), "neither a Scene called `scene` nor make_scene()"),
    "an error in it": (("run", "wrong.py"), "wrong.py, line 2: ZeroDivisionError"),
    "not Python": (("run", "broken.py"), "broken.py, line 1: SyntaxError"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_bad_commands_end_with_one_sentence(case: str, scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mesh.veg").write_text("*VERTICES\n")
    Path("empty.py").write_text("scene = 3\n")
    Path("wrong.py").write_text("a = 0\nb = 1 / a\n")
    Path("broken.py").write_text("def (\n")
    arguments, message = COMMANDS[case]
    _assert_refused(call(capsys, *arguments), message)


def test_missing_extra_is_named(
    scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call(capsys, "run", scene)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    _assert_refused(call(capsys, "export", "out/string", "--to", "png"), "pip install 'supple[render]'")


@pytest.mark.parametrize("arguments", [("--debug", "run", "chian"), ("run", "chian", "--debug")])
def test_debug_shows_the_traceback(arguments: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        main(list(arguments))


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom supple.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'numba', 'pydantic', 'scipy', 'h5py') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


def test_broken_pipe_is_quiet(scene: Path) -> None:
    command = f"{sys.executable} -c 'from supple.cli import main; main()' examples | true"
    assert subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False).stderr == ""


def test_interrupt_closes_the_record(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = (
        "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from supple.cli import main\nmain(['run', 'string.toml', '--until', '10000', '--dt', '0.001'])"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    record = Path("out/string/record.vtkhdf")
    end = time.monotonic() + 30
    while not (record.is_file() and record.stat().st_size > 0) and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert call(capsys, "export", "out/string", "--to", "csv")[0] == 0
