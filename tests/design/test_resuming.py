"""A run that is killed or stopped goes on where it was, and ends with the store of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from supple.design import Arena, Design, Result, Store, evaluate
from supple.errors import RecordError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.03, amplitude=20.0, frequency=10.0)
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # processes in the background are born without
sys.path[:0] = {paths!r}
from test_resuming import ARENA, walkers
from supple.design import evaluate
if __name__ == "__main__":
    evaluate(walkers({count}), ARENA, store=sys.argv[1], workers=2)
"""
GUARDLESS = SCRIPT.replace('if __name__ == "__main__":', "if True:")
PATIENCE = 300.0  # [s] before a test gives up


def walkers(count: int) -> list[Design]:
    """Robots with phases of their own."""
    rng = np.random.default_rng(2)
    return [Design(np.ones((2, 2, 1)), {"phase": rng.uniform(size=(2, 2, 1))}) for _ in range(count)]


def begun(folder: Path, count: int, text: str = SCRIPT) -> subprocess.Popen[str]:
    """A process of its own, with a group of its own, that evaluates."""
    script = folder / "script.py"
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    script.write_text(text.format(paths=paths, count=count))
    command = [sys.executable, str(script), str(folder / "s.db")]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, text=True)


def wait_for(least: int, path: Path) -> None:
    """Until a store has so many results."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        if path.exists():
            try:
                with Store(path, write=False) as store:
                    if len(store) >= least:
                        return
            except RecordError:  # it is being made
                pass
        sleep(0.02)
    raise AssertionError("no results came")


def is_alone(group: int) -> bool:
    """Whether no process of a group is left, but for dead ones that nobody has asked for."""
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(found) == group and state != "Z":
            return False
    return True


def content(path: Path) -> dict[str, Result]:
    """Results by key."""
    with Store(path, write=False) as store:
        return {result.key: result for result in store.results()}


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_stopped_and_resumed(how: signal.Signals, count: int, tmp_path: Path) -> None:
    designs, path = walkers(count), tmp_path / "s.db"
    process = begun(tmp_path, count)
    try:
        wait_for(count // 5, path)
        if how is signal.SIGINT:
            os.killpg(process.pid, how)  # as a terminal does
        else:
            process.kill()
        process.communicate(timeout=PATIENCE)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    end = monotonic() + PATIENCE
    while not is_alone(process.pid):
        assert monotonic() < end, "workers outlive their parent"
        sleep(0.05)
    before = content(path)
    assert count // 5 <= len(before) < count
    results = evaluate(designs, ARENA, store=path, workers=0)
    after = content(path)
    assert after == {result.key: result for result in results}
    assert len(after) == count
    assert before.items() <= after.items()
    assert results == evaluate(designs, ARENA, workers=0)  # as one that was never stopped


def test_a_script_without_its_guard_is_told(tmp_path: Path) -> None:
    process = begun(tmp_path, 2, GUARDLESS)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 1
    assert "no worker could start" in said
    assert "if __name__ == '__main__'" in said
