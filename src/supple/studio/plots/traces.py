"""Traces: the rows of a simulation's samples as the server keeps them, as far back as frames are kept."""

from __future__ import annotations

import json
import struct
import threading
from typing import Any

import numpy as np

from supple.studio.history import FRAMES
from supple.studio.plots.columns import COLUMNS, POINT_WIDTH, POINTS, WIDTH

Array = np.ndarray


class Traces:
    """Rows (n, WIDTH), at most `most` of them. generation: counts what cannot be told by new rows alone: another run,
    other points. end: number of the row after the last, of all that there ever were."""

    def __init__(self, most: int = FRAMES) -> None:
        self.most = most
        self._lock = threading.Lock()
        self.generation = 0
        self._clear()

    def _clear(self) -> None:
        self.run, self.end = -1, 0
        self.points: list[dict[str, Any] | None] = [None] * POINTS
        self.rows = np.zeros((0, WIDTH))
        self.generation += 1

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._clear()

    def add(self, told: dict[str, Any]) -> None:
        """What `Samples.tell` has sent."""
        with self._lock:
            if told["run"] != self.run:
                self._clear()
                self.run = told["run"]
            if told["points"] != self.points:
                for k, (old, new) in enumerate(zip(self.points, told["points"])):
                    if old != new:
                        start = len(COLUMNS) + k * POINT_WIDTH
                        self.rows[:, start : start + POINT_WIDTH] = np.nan
                self.points = told["points"]
                self.generation += 1
            rows = told["rows"]
            self.rows = np.concatenate([self.rows, rows])[-self.most :]
            self.end += len(rows)

    def since(self, generation: int, end: int) -> tuple[int, int, bytes] | None:
        """What a page lacks that was last told up to a generation and a row, as bytes, and what it knows then; None:
        nothing.

        The length of the JSON (u4), the JSON, {"anew", "points"}, then rows (f8) from a multiple of 8 bytes on. anew:
        whether rows that were told before are forgotten.
        """
        with self._lock:
            anew = generation != self.generation
            if not anew and end == self.end:
                return None
            rows = self.rows if anew else self.rows[len(self.rows) - min(self.end - end, len(self.rows)) :]
            text = json.dumps({"anew": anew, "points": self.points}).encode()
            text += b" " * (-(4 + len(text)) % 8)
            message = struct.pack("<I", len(text)) + text + rows.astype("<f8").tobytes()
            return self.generation, self.end, message
