"""Frames of a tree's domains where they were asked for last: wind, contacts and pulls all look at one instant.

A run that has taken the steps to several frames asks for what there is to know of each, one after the other. It says
so before (`FrameCache.all`): what follows from the coordinates is then found for all of them in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from supple.bodies.tree.surface.instant_kernels import compute_all_frames, is_same
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames

Array = np.ndarray
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Instants:
    """Coordinates x (k, width) of a tree at k instants, and frames (k, d, ...) of its first d domains."""

    x: Array
    frames: Frames
    keys: RowKeys

    def number(self, x: Array) -> int:
        """Of the instant with coordinates x (1, width); -1: none."""
        return self.keys.number(x)


class RowKeys:
    """Rows of numbers by their bytes, which are compared ten times as fast as arrays. One that is asked for is likely
    to be the last one or the next."""

    def __init__(self, rows: Array) -> None:
        self.all = [row.tobytes() for row in rows]
        self._last = 0

    def number(self, row: Array) -> int:
        """Where the row is among them; -1: nowhere."""
        own, keys, k = row.tobytes(), self.all, self._last
        if own == keys[k]:
            return k
        if k + 1 < len(keys) and own == keys[k + 1]:
            self._last = k + 1
            return k + 1
        if own not in keys:
            return -1
        self._last = keys.index(own)
        return self._last


class FrameCache:
    """The frames of one tree at the coordinates they were asked for last: the start of a step and its end, and at the
    instants that were foreseen."""

    def __init__(self) -> None:
        self._kept: tuple[Instants, ...] = ()

    def all(self, x: Array, chain: Chain) -> Instants:
        """At coordinates x (k, width) of several instants, of the domains of the chain; not to be written to."""
        keys = RowKeys(x)
        for kept in self._kept:
            if kept.keys.all == keys.all and kept.frames.o.shape[1] >= len(chain.parent):
                return kept
        k, d, n = len(x), len(chain.parent), chain.start[-1]
        frames = Frames(*(np.zeros((k, d, width)) for width in (9, 9, 3, 3, 9)))
        q, roots = np.ascontiguousarray(x[:, 7 : 7 + n]), np.ascontiguousarray(x[:, :7])
        compute_all_frames(chain, q, roots, frames)
        found = Instants(x.copy(), frames, keys)
        self._kept = (found, *self._kept[:1])
        return found

    def forget(self) -> None:
        """Keep nothing."""
        self._kept = ()

    def found(self, x: Array, chain: Chain) -> tuple[Instants, int]:
        """Instants among which coordinates x (1, width) are, and their number; of the first domains, at least those of
        the chain."""
        for kept in self._kept:
            if kept.frames.o.shape[1] >= len(chain.parent) and (number := kept.number(x)) >= 0:
                return kept, number
        return self.all(x, chain), 0

    def at(self, x: Array, chain: Chain) -> Frames:
        """At coordinates x (1, width), of the first domains, at least those of the chain; not to be written to."""
        instants, k = self.found(x, chain)
        return Frames(*(part[k] for part in instants.frames))


class SeenFrames:
    """Frames of the domains of a large tree that a frame of a run has asked for last, to show its surface. Those of
    `FrameCache`, from which forces follow, differ by round-off, and do not depend on who looks."""

    def __init__(self) -> None:
        self._x, self._R, self._o = np.zeros(0), np.zeros((0, 9)), np.zeros((0, 3))

    def keep(self, x: Array, R: Array, o: Array) -> None:
        """Rotations R (d, 9) and origins o (d, 3) at coordinates x (1, width), which stay until others are kept."""
        self._x, self._R, self._o = x[0].copy(), R, o

    def at(self, x: Array) -> tuple[Array, Array] | None:
        """R and o at coordinates x (1, width), where they were kept."""
        return (self._R, self._o) if is_same(self._x, x[0]) else None


class Foreseen(Generic[T]):
    """What `find` says of all instants that were foreseen, a row each, found when it is asked for the first of them."""

    def __init__(self, cache: FrameCache, chain: Chain, find: Callable[[Instants], Any]) -> None:
        self._cache, self._chain, self._find = cache, chain, find
        self._of: Instants | None = None
        self._values: Any = ()

    def at(self, x: Array) -> T:
        """At coordinates x (1, width)."""
        number = -1 if self._of is None else self._of.number(x)
        if number < 0:
            self._of, number = self._cache.found(x, self._chain)
            self._values = self._find(self._of)
        value: T = self._values[number]
        return value
