"""Seen: what a picture needs of bodies and obstacles at a few moments, of a run or of a mode that swings."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from supple.record.files.obstacles import RecordedObstacle

Array = np.ndarray


class Seen(Protocol):
    """Surfaces at numbered moments, with the obstacles and the ground; see `Trajectory`."""

    @property
    def body_names(self) -> list[str]: ...
    @property
    def ground(self) -> list[float] | None: ...
    @property
    def obstacles(self) -> list[RecordedObstacle]: ...
    def points(self, body: str, frame: int) -> Array: ...
    def poses(self, frame: int) -> Array: ...
    def triangles(self, body: str) -> Array: ...
    def lines(self, body: str) -> Array: ...
    def colours(self, body: str) -> Array | None: ...
