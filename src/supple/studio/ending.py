"""Ending: the simulation's process ends with the one that began it, even where that was killed and has said nothing."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

PATIENCE = 0.5
"""Wall time [s] in which a process may end by itself, as the end of its pipe tells it to."""


def end_with_parent() -> None:
    """From now on this process ends when its parent has, whatever it does. What it has of shared memory is removed by
    the tracker of multiprocessing, which outlives both."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        time.sleep(PATIENCE)
        os._exit(1)

    threading.Thread(target=wait, name="supple-ending", daemon=True).start()
