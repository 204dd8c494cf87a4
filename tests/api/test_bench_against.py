"""supple bench --against: what is compared, in which direction, what it says, and that nothing is left behind.

Both sides are a package of a few lines in a git repository of its own, whose bench prints what a file tells it to.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from supple.bench.compare import Best, best_of_rounds, compare, is_ok, label_of
from supple.cli import main

CASES = (
    "import json\nfrom pathlib import Path\nTOLD = json.loads((Path(__file__).parents[1] / 'told.json').read_text())\n"
)
FAKE = {
    "__init__.py": "",
    "bench/__init__.py": """
import json
from pathlib import Path
TOLD = json.loads((Path(__file__).parents[1] / "told.json").read_text())
def registry():
    return dict.fromkeys(TOLD)
""",
    "__main__.py": """
import json, os, sys, time
from pathlib import Path
from supple.bench import TOLD
_, verb, case, option = sys.argv
assert (verb, option) == ("bench", "--json")
log = os.environ.get("FAKE_LOG")
if log:
    with open(log, "a") as file:
        print(Path(__file__).parents[2].name, case, os.environ["NUMBA_NUM_THREADS"], file=file)
rows = TOLD[case]
if rows == "clock":
    start = time.perf_counter()
    time.sleep(0.3)
    rows = TOLD["rows"]
    rows[0]["value"] = time.perf_counter() - start
if rows == "sleep":
    time.sleep(60)
if isinstance(rows, str):
    sys.exit(f"a line before\\n{rows}")
print(json.dumps({"machine": {}, "results": rows}))
sys.exit(1)  # a limit is not kept, which is none of the comparison's business
""",
}
Told = dict[str, Any]


def row(quantity: str, value: float | None, unit: str = "ms", **more: Any) -> dict[str, Any]:
    usual = {"threads": 1, "device": "cpu", "dtype": "float64", "limit": None, "ok": True}
    return {"case": "", "quantity": quantity, "value": value, "unit": unit} | usual | more


class Repository:
    """A checkout of the fake package. write: what its bench tells; commit: keep that as a revision."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in FAKE.items():
            path = root / "src" / "supple" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def git(self, *arguments: str) -> str:
        who = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        command = ["git", "-C", str(self.root), *who, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def write(self, told: Told) -> None:
        (self.root / "src" / "supple" / "told.json").write_text(json.dumps(told))

    def commit(self, told: Told, tag: str) -> None:
        self.write(told)
        if not (self.root / ".git").exists():
            self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", tag)
        self.git("tag", tag)

    @property
    def worktrees(self) -> int:
        return len(self.git("worktree", "list").splitlines())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    made = Repository(tmp_path / "here")
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("supple.bench.checkout.own_sources", lambda: made.root / "src")
    monkeypatch.setattr("supple.cli.bench_against.own_sources", lambda: made.root / "src")
    return made


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["bench", *(str(a) for a in arguments)])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_a_slower_step_is_exit_code_one(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"fem/beam": [row("step_time", 2.0), row("nodes", 10, "-")]}, "before")
    repository.write({"fem/beam": [row("step_time", 2.2), row("nodes", 10, "-")]})
    code, out, err = call(capsys, "--against", "before", "--json")
    assert (code, err) == (1, "")
    step, nodes = json.loads(out)
    assert step == {
        "case": "fem/beam", "quantity": "step_time", "unit": "ms", "here": 2.2, "there": 2.0, "ratio": 1.1, "ok": False
    }  # fmt: skip
    assert (nodes["ratio"], nodes["ok"]) == (1.0, None)
    assert repository.worktrees == 1
    assert not list(repository.root.parent.glob("cache/against/*"))
    code, out, _ = call(capsys, "fem", "--against", "before", "--tolerance", "0.2", "--rounds", 1)
    assert code == 0
    assert "0 of 1 are slower than in before by more than 20 %" in out
    assert "SLOWER" not in out
    assert "SLOWER" in call(capsys, "--against", "before", "--rounds", 1)[1]


def test_sides_take_turns_in_processes_of_one_thread(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = repository.root.parent / "log"
    monkeypatch.setenv("FAKE_LOG", str(log))
    repository.commit({"tree/oak": [row("step_time", 1.0)]}, "first")
    other = Repository(repository.root.parent / "there")
    other.write({"substructure/oak": [row("step_time", 1.0)]})
    assert call(capsys, "tree/oak", "--against", other.root)[0] == 0
    here, there = ["here tree/oak 1"], ["there substructure/oak 1"]
    assert log.read_text().splitlines() == here + there + there + here + here + there
    log.unlink()
    assert call(capsys, "--against", other.root, "--threads", 2, "--rounds", 1)[0] == 0
    assert log.read_text().splitlines() == ["here tree/oak 2", "there substructure/oak 2"]


def test_one_thread_is_timed_by_the_processor(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"tree/oak": "clock", "rows": [row("step_time", 1.0, "s")]}, "first")
    for threads, slept in ((1, False), (2, True)):
        out = call(capsys, "tree", "--against", "first", "--rounds", 1, "--threads", threads, "--json")[1]
        (found,) = json.loads(out)
        for side in ("here", "there"):
            assert (found[side] > 0.25) is slept


def test_what_one_side_lacks_is_listed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    common = row("step_time", 1.0)
    repository.commit({"a/b": [common, row("old", 3.0)], "a/gone": [common], "c/d": [common]}, "before")
    repository.write({"a/b": [common, row("new", 4.0), row("lost", None)], "a/added": [common], "a/nothing": []})
    code, out, err = call(capsys, "a", "--against", "before", "--rounds", 1, "--json")
    assert code == 0
    found = {(r["case"], r["quantity"]): (r["here"], r["there"], r["ratio"], r["ok"]) for r in json.loads(out)}
    assert found == {
        ("a/b", "step_time"): (1.0, 1.0, 1.0, True),
        ("a/b", "new"): (4.0, None, None, None),
        ("a/b", "lost"): (None, None, None, None),
        ("a/b", "old"): (None, 3.0, None, None),
        ("a/added", "step_time"): (1.0, None, None, None),
        ("a/gone", "step_time"): (None, 1.0, None, None),
    }
    assert "a/nothing measures nothing with 1 thread" in err
    out = call(capsys, "a", "--against", "before", "--rounds", 1)[1]
    assert out.count("only here") == 2
    assert out.count("only there") == 2


@pytest.mark.parametrize(
    ("quantity", "unit", "ratio", "ok"),
    [
        ("step_time, oak", "ms", 1.04, True),
        ("step_time, oak", "ms", 1.06, False),
        ("step_time, oak", "ms", 0.5, True),
        ("rate, 20x20x10", "voxel-steps/s", 2.0, True),
        ("rate, 20x20x10", "voxel-steps/s", 0.94, False),
        ("speed_up", "-", 0.9, False),
        ("real_time_factor", "-", 0.9, False),
        ("real_time_factor", "-", 1.1, True),
        ("rate", "1/s", 0.0, False),
        ("domains", "-", 2.0, None),
        ("of a step: contacts", "ms", 2.0, None),
        ("precompute_time, without cache", "s", 2.0, None),
        ("step_time", "ms", None, None),
    ],
)
def test_times_should_be_small_and_gains_large(quantity: str, unit: str, ratio: float | None, ok: bool | None) -> None:
    assert is_ok(quantity, unit, ratio, 0.05) is ok


def test_the_best_of_all_rounds_counts() -> None:
    times = [[row("step_time", v), row("rate", v, "1/s"), row("size", v, "-")] for v in (3.0, 1.0, 2.5)]
    best = best_of_rounds(times)
    assert [b.value for b in best.values()] == [1.0, 3.0, 2.5]


def test_rows_that_differ_in_threads_or_type_are_apart() -> None:
    rows = [row("rate", 1.0), row("rate", 2.0, dtype="float32"), row("rate", 3.0, threads=2)]
    assert [label_of(r) for r in rows] == ["rate", "rate, float32", "rate, 2 threads"]


def test_renamed_quantities_meet_and_other_units_do_not() -> None:
    here = best_of_rounds([[row("real_time_factor", 2.0, "-"), row("cost", 1.0, "us")]])
    there = best_of_rounds([[row("simulated over real time", 1.0, "-"), row("cost", 1.0, "ms")]])
    assert [(r.quantity, r.unit, r.here, r.there) for r in compare("scene/garden", here, there, 0.05)] == [
        ("real_time_factor", "-", 2.0, 1.0),
        ("cost", "us", 1.0, None),
        ("cost", "ms", None, 1.0),
    ]
    assert compare("a", {("n", "-"): Best("n", 1.0)}, {("n", "-"): Best("n", 0.0)}, 0.05)[0].ratio is None


def assert_refused(result: tuple[int, str, str], *messages: str) -> None:
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for message in messages:
        assert message in err


def test_errors_say_what_to_do(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit({"a/b": "RuntimeError: it broke", "old/c": []}, "before")
    repository.write({"a/b": [row("step_time", 1.0)], "new/c": []})
    for wrong in ("none", "--help-me", str(repository.root.parent)):
        assert_refused(call(capsys, f"--against={wrong}"), "neither a revision", "git log")
    assert_refused(call(capsys, "a/b", "--against", "before"), "there, ", "case a/b failed: RuntimeError: it broke")
    assert_refused(call(capsys, "new", "old", "--against", "before"), "no case in common", "Cases of both: a/b.")
    assert_refused(call(capsys, "a/bb", "--against", "before"), "Did you mean 'a/b'?")
    assert_refused(call(capsys, "--rounds", 2), "Give --against REV too")
    assert_refused(call(capsys, "--against", "before", "--rounds", 0), "rounds")
    assert repository.worktrees == 1
    place = repository.root.parent / "cache" / "against" / repository.git("rev-parse", "before").strip()
    place.mkdir(parents=True)
    assert_refused(call(capsys, "--against", "before"), "is being measured already", "git worktree remove --force")
    monkeypatch.setattr("supple.bench.checkout.own_sources", lambda: repository.root.parent)
    assert_refused(call(capsys, "--against", "before"), "not imported from a git checkout", "the folder of another")


def test_a_revision_without_the_package_is_refused(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({}, "before")
    repository.git("mv", "src", "source")
    repository.git("commit", "-q", "-m", "moved")
    repository.git("tag", "moved")
    repository.git("checkout", "-q", "before")
    assert_refused(call(capsys, "--against", "moved"), "no folder src/supple")
    assert repository.worktrees == 1


def test_ctrl_c_removes_the_worktree(repository: Repository) -> None:
    repository.commit({"a/b": "sleep"}, "before")
    code = (
        "import signal, pathlib\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import supple.bench.checkout as c, supple.cli.bench_against as b\n"
        f"c.own_sources = b.own_sources = lambda: pathlib.Path({str(repository.root / 'src')!r})\n"
        "from supple.cli import main\nmain(['bench', '--against', 'before'])"
    )
    log = repository.root.parent / "log"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | {"FAKE_LOG": str(log)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while not log.is_file() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    assert repository.worktrees == 2
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    assert repository.worktrees == 1
    assert not list(repository.root.parent.glob("cache/against/*"))
