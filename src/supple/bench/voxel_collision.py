"""voxel/collision: steps a second of the source's clapper with its four ways to find colliding pairs [HL12, table 3].

Only ratios to all voxels tested at every step can be compared with the source's: 1.001 by leaving out inner voxels,
5.94 by the horizon, 5.95 by both. The rows without a limit are for looking at; the gain of the horizon must be real.
"""

from __future__ import annotations

from time import perf_counter

from supple.bench.row import Row, at_least, measured, threads
from supple.validation.voxel.schemes import schemes, source_clapper, sweep_of

CASE = "voxel/collision"
PUBLISHED = {
    "all, every step": 140.4,
    "surface, every step": 140.6,
    "all, horizon": 834.4,
    "surface, horizon": 835.4,
}  # steps a second [HL12, table 3]
PARTS = 24  # of a period, measured one after the other with each scheme


def times() -> dict[str, float]:
    """Seconds for one period of the control, by scheme; parts of the period alternate between the schemes."""
    _, _, dt, period = source_clapper()
    sweeps = {name: sweep_of(collision) for name, collision in schemes().items()}
    found = dict.fromkeys(sweeps, 0.0)
    for sweep in sweeps.values():
        sweep.advance(dt, 1)
    for _ in range(PARTS):
        for name, sweep in sweeps.items():
            start = perf_counter()
            sweep.advance(dt, int(period / dt / PARTS))
            found[name] += perf_counter() - start
    return found


def collision() -> list[Row]:
    """Rates, and ratios beside the source's."""
    with threads(1):
        found = times()
    _, _, dt, period = source_clapper()
    steps = PARTS * int(period / dt / PARTS)
    first = "all, every step"
    rows = [
        measured(CASE, f"{name}: steps a second", steps / time, unit="1/s", threads=1) for name, time in found.items()
    ]
    for name, time in found.items():
        ratio = found[first] / time
        if name in PUBLISHED:
            published = PUBLISHED[name] / PUBLISHED[first]
            what = f"{name}: gain (source: {published:.3g})"
        else:
            what = f"{name}: gain"
        if "horizon" in name:
            rows.append(at_least(CASE, what, ratio, 2.0, unit="-", threads=1))
        elif name != first:
            rows.append(measured(CASE, what, ratio, unit="-", threads=1))
    return rows


CASES = {CASE: collision}
