"""How a studio ends: soon, whatever is open, and with nothing left behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.canvas.browser import new_page
from tests.studio.process import READY, SECONDS, Studio, is_alive, shared_memory, wait_for
from tests.studio.watching import visit

pytest.importorskip("nicegui")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks at processes as Linux shows them"),
]
SLOW_SCENE = """
import time
from multiprocessing.shared_memory import SharedMemory

memory = SharedMemory(create=True, size=64)  # as a ring that is there before the first step is compiled
time.sleep(600)
"""


def processes(studio: Studio) -> tuple[list[int], set[str]]:
    """Those that a studio has started, and their shared memory, when it is there."""
    found: dict[int, set[str]] = {}

    def has_memory() -> bool:
        found.update({pid: shared_memory(pid) for pid in studio.children()})
        return any(found.values())

    wait_for(has_memory, READY)
    return list(found), set().union(*found.values())


class Clock:
    """Wall time, less that in which some processes, and this one, stood in line for a processor that others had: what
    the same takes on a machine of one's own. Linux counts that wait for each thread, as long as it is there."""

    def __init__(self, pids: list[int]) -> None:
        self.pids, self.begun = [*pids, os.getpid()], time.monotonic()
        self.first, self.last = dict[str, float](), dict[str, float]()
        self.first = dict(self._read())

    def _read(self) -> dict[str, float]:
        """How long each thread has waited [s], those that have ended too."""
        for path in (path for pid in self.pids for path in Path("/proc").glob(f"{pid}/task/*/schedstat")):
            with suppress(OSError, IndexError):
                self.last[str(path)] = int(path.read_text().split()[1]) / 1e9
        return self.last

    def seconds(self) -> float:
        waited = sum(time - self.first.get(path, 0.0) for path, time in self._read().items())
        return time.monotonic() - self.begun - waited


def is_gone(pids: list[int], memory: set[str]) -> bool:
    return not any(is_alive(pid) for pid in pids) and not any(Path(name).exists() for name in memory)


def until_gone(clock: Clock, pids: list[int], memory: set[str]) -> float:
    """What the clock says then."""
    found = [0.0]

    def is_gone_now() -> bool:
        found[0] = clock.seconds()
        return is_gone(pids, memory)

    wait_for(is_gone_now, READY)
    return found[0]


def test_a_killed_server_leaves_nothing_behind(scene: Path) -> None:
    with Studio(scene) as studio:
        studio.wait_until_ready()
        left = processes(studio)
        clock = Clock([studio.process.pid, *left[0]])
        studio.process.kill()
        assert until_gone(clock, *left) < SECONDS


def test_nor_does_one_that_is_killed_while_a_scene_is_made(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_SCENE)
    with Studio(tmp_path / "slow.py") as studio:
        left = processes(studio)
        clock = Clock([studio.process.pid, *left[0]])
        studio.process.kill()
        assert until_gone(clock, *left) < SECONDS


def test_it_ends_with_open_tabs(scene: Path, chromium: Any) -> None:
    size = {"width": 320, "height": 240}
    with Studio(scene) as studio, new_page(chromium, viewport=size) as (tab, wrong):
        left = processes(studio)
        visit(tab, studio.address)
        visit(tab.context.new_page(), studio.address)
        assert not wrong  # what follows, the browser notes
        pids, memory = [studio.process.pid, *left[0]], left[1]
        clock = Clock(pids)
        studio.process.send_signal(signal.SIGINT)
        assert until_gone(clock, pids, memory) < SECONDS
        assert studio.process.wait(READY) == 0
        tab.get_by_text("The connection was lost").wait_for()


def test_the_clock_does_not_count_what_others_take() -> None:
    """It goes on in sleep, and by as much as a loop works, however long that stands in line."""
    clock = Clock([])
    time.sleep(0.3)
    begun = time.process_time()
    while time.process_time() < begun + 0.3:
        pass
    assert clock.seconds() == pytest.approx(0.6, abs=0.2)
