"""Where the time of a system goes: calls and seconds under each label."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Timings:
    """Accumulated calls and seconds a label."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, label: str) -> Iterator[None]:
        """Add the time of the block to a label."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[label] = self.seconds.get(label, 0.0) + perf_counter() - start
            self.calls[label] = self.calls.get(label, 0) + 1

    def report(self) -> str:
        """A table, slowest first."""
        if not self.seconds:
            return "nothing was run yet"
        width = max(len(label) for label in self.seconds)
        lines = [f"{'call':<{width}}  {'calls':>7}  {'total [ms]':>11}  {'each [µs]':>10}"]
        for label in sorted(self.seconds, key=lambda name: -self.seconds[name]):
            n, s = self.calls[label], self.seconds[label]
            lines.append(f"{label:<{width}}  {n:>7}  {1e3 * s:>11.2f}  {1e6 * s / n:>10.1f}")
        return "\n".join(lines)
