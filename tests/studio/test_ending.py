"""How a studio ends: soon, whatever is open, and with nothing left behind."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from tests.studio.process import READY, SECONDS, WAIT, Studio, is_alive, shared_memory, wait_for

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


def is_gone(pids: list[int], memory: set[str]) -> bool:
    return not any(is_alive(pid) for pid in pids) and not any(Path(name).exists() for name in memory)


def test_a_killed_server_leaves_nothing_behind(studio: Studio) -> None:
    studio.wait_until_ready()
    pids, memory = processes(studio)
    studio.process.kill()
    wait_for(lambda: is_gone(pids, memory), SECONDS)


def test_nor_does_one_that_is_killed_while_a_scene_is_made(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_SCENE)
    studio = Studio(tmp_path / "slow.py")
    pids, memory = processes(studio)
    studio.process.kill()
    wait_for(lambda: is_gone(pids, memory), SECONDS)


def test_it_ends_with_open_tabs(studio: Studio, chromium: Any) -> None:
    pids, memory = processes(studio)
    context = chromium.new_context(viewport={"width": 320, "height": 240})
    tabs = [context.new_page() for _ in range(2)]
    for tab in tabs:
        tab.goto(studio.address)
        tab.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
    deadline = time.monotonic() + SECONDS
    studio.process.send_signal(signal.SIGINT)
    assert studio.process.wait(SECONDS) == 0
    wait_for(lambda: is_gone(pids, memory), deadline - time.monotonic())
    tabs[0].get_by_text("The connection was lost").wait_for(timeout=WAIT)
    context.close()
