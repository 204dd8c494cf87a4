"""How a studio ends: soon, whatever is open, and with nothing left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
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
STUDIOS = 3
"""Of which one at least ends in time: others may have the machine while one does. All of them leave nothing behind."""
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


def is_gone(pids: list[int], memory: set[str]) -> bool:
    return not any(is_alive(pid) for pid in pids) and not any(Path(name).exists() for name in memory)


def seconds_until_gone(pids: list[int], memory: set[str]) -> float:
    begun = time.monotonic()
    wait_for(lambda: is_gone(pids, memory), READY)
    return time.monotonic() - begun


def is_soon(once: Callable[[], float]) -> bool:
    """Whether one of some studios ends in time, of which a processor that many share gives each a part."""
    return any(once() < SECONDS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) for _ in range(STUDIOS))


def test_a_killed_server_leaves_nothing_behind(scene: Path) -> None:
    def once() -> float:
        with Studio(scene) as studio:
            studio.wait_until_ready()
            left = processes(studio)
            studio.process.kill()
            return seconds_until_gone(*left)

    assert is_soon(once)


def test_nor_does_one_that_is_killed_while_a_scene_is_made(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_SCENE)

    def once() -> float:
        with Studio(tmp_path / "slow.py") as studio:
            left = processes(studio)
            studio.process.kill()
            return seconds_until_gone(*left)

    assert is_soon(once)


def test_it_ends_with_open_tabs(scene: Path, chromium: Any) -> None:
    def once() -> float:
        size = {"width": 320, "height": 240}
        with Studio(scene) as studio, new_page(chromium, viewport=size) as (tab, wrong):
            left = processes(studio)
            visit(tab, studio.address)
            visit(tab.context.new_page(), studio.address)
            assert not wrong  # what follows, the browser notes
            begun = time.monotonic()
            studio.process.send_signal(signal.SIGINT)
            assert studio.process.wait(READY) == 0
            ended = time.monotonic() - begun
            left_for = seconds_until_gone(*left)
            tab.get_by_text("The connection was lost").wait_for()
            return ended + left_for

    assert is_soon(once)
