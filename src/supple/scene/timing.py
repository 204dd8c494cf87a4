"""Where the time of a system goes: calls and seconds under each label."""

from __future__ import annotations

from time import perf_counter


class Timings:
    """Accumulated calls and seconds a label."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def measure(self, label: str) -> Measured:
        """Add the time of the block to a label."""
        return Measured(self, label)

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


class Measured:
    """A block whose time is added to a label; a generator would take three times as long."""

    __slots__ = ("label", "start", "timings")

    def __init__(self, timings: Timings, label: str) -> None:
        self.timings, self.label, self.start = timings, label, 0.0

    def __enter__(self) -> None:
        self.start = perf_counter()

    def __exit__(self, *_: object) -> None:
        seconds, calls, label = self.timings.seconds, self.timings.calls, self.label
        seconds[label] = seconds.get(label, 0.0) + perf_counter() - self.start
        calls[label] = calls.get(label, 0) + 1
