"""Fit the constants of the rule that chooses between a factor and conjugate gradients, and judge them.

The shapes of each kind are dealt out by turns into two halves. Constants are fitted to one half: first to the
logarithms of the times of steps in all three ways, then those that decide between them to the regret, the time as
chosen over that of the quickest way. The other half judges, beside the constants in use. An iteration with aggregates
takes no less than one without.

    python tools/costs/fit.py tools/costs/steps.csv
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import least_squares, minimize

from supple.solvers.linear.costs import FITTED, Constants, Costs

Array = np.ndarray
TOLERANCE = 1e-6
WAYS = ("factor", "blocks", "aggregates")


class Case(NamedTuple):
    """What the rule knows of a system, its step dt [s], and times of a step in each way [s], infinite where it was too
    long."""

    name: str
    costs: Costs
    dt: float
    times: dict[str, float]

    @property
    def weights(self) -> dict[str, float]:
        """Of mass, damping and stiffness in the step's matrix."""
        return {"mass": 1.0, "damping": -self.dt, "stiffness": -self.dt * self.dt}

    def chosen(self, constants: Constants) -> str:
        """The way that the rule takes."""
        costs = replace(self.costs, constants=constants)
        if not costs.iterates(TOLERANCE, **self.weights):
            return "factor"
        return "aggregates" if costs.aggregates(TOLERANCE, **self.weights) else "blocks"

    def regret(self, constants: Constants) -> float:
        """Time of the way that is taken over that of the quickest."""
        time = self.times[self.chosen(constants)]
        longest = max(t for t in self.times.values() if t < inf)
        return min(time, 2 * longest) / min(self.times.values())


def load_cases(path: Path) -> tuple[list[Case], list[Case]]:
    """The two halves."""
    halves: tuple[list[Case], list[Case]] = ([], [])
    seen: dict[str, int] = {}
    count: Counter[str] = Counter()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            name = row["shape"]
            if name not in seen:
                kind = name.split()[0]
                seen[name], count[kind] = count[kind] % 2, count[kind] + 1
            touches, unknowns = row["hold"] == "floor", int(row["unknowns"])
            known = (float(row[key]) for key in ("stiffness", "damping"))
            flops = float(row["flops"])
            costs = Costs(int(row["blocks"]), int(row["way"]), *known, unknowns, 0, float(row["flatness"]), touches,
                          lambda flops=flops: flops)  # fmt: skip
            times = {way: 1e-3 * float(row[f"{way} [ms]"]) if row[f"{way} [ms]"] else inf for way in WAYS}
            case = f"{name}, {row['hold']}, E = {float(row['young']):g} Pa, {row['dt [ms]']} ms"
            halves[seen[name]].append(Case(case, costs, 1e-3 * float(row["dt [ms]"]), times))
    return halves


def flat(constants: Constants) -> Array:
    """As one vector, logarithms of positive numbers."""
    return np.log(np.hstack([np.atleast_1d(value) for value in constants]))


def shaped(vector: Array) -> Constants:
    """Of such a vector."""
    values, start, out = np.exp(vector), 0, []
    for value in FITTED:
        size = np.size(value)
        part = tuple(float(v) for v in values[start : start + size])
        out.append(part if isinstance(value, tuple) else part[0])
        start += size
    return Constants(*out)


def fit_times(cases: list[Case]) -> Constants:
    """Constants by which steps take what they took: what all ways share, in proportion to blocks, and their own."""
    size = len(flat(FITTED))

    def misfit(vector: Array) -> Array:
        constants, shared = shaped(vector[:size]), np.exp(vector[size:])
        out = []
        for case in cases:
            costs = replace(case.costs, constants=constants)
            found = costs.iterations(TOLERANCE, **case.weights)
            known = {"factor": (costs.factor,), "blocks": (found.blocks,), "aggregates": found[1:]}
            common = shared[0] + shared[1] * costs.block_count
            for way, times in known.items():
                if case.times[way] < inf:
                    out += [np.log((common + time) / case.times[way]) / len(times) for time in times]
        return np.array([*out, *(0.02 * (vector[:size] - flat(FITTED)))])  # what the data do not tell stays

    start = np.concatenate([flat(FITTED), np.log([3e-4, 1e-7])])
    least = np.full(len(start), -np.inf)
    least[:size] = flat(FITTED._replace(**{n: _least(n) for n in FITTED._fields}))
    start = np.maximum(start, least + 1e-3)
    return shaped(least_squares(misfit, start, bounds=(least, np.inf), loss="soft_l1", f_scale=0.2).x[:size])


def _least(name: str) -> Any:
    """Bounds of a constant from below: 1 for what multiplies an iteration, else far below anything measured."""
    value = getattr(FITTED, name)
    bound = tuple(1.0 if name in ("aggregates", "made") and k == 1 else 1e-15 for k in range(np.size(value)))
    return bound if isinstance(value, tuple) else bound[0]


def fit_choice(cases: list[Case], start: Constants) -> Constants:
    """The same, with the factors of each way changed so that regrets are least."""
    names = ("by_mass", "by_way", "by_aggregates", "at_most")

    def changed(by: Array) -> Constants:
        values: dict[str, Any] = {name: getattr(start, name) * np.exp(f) for name, f in zip(names, by)}
        values["factor"] = tuple(v * np.exp(by[-1]) for v in start.factor)
        return start._replace(**values)

    def regret(by: Array) -> float:
        constants = changed(by)
        return float(np.mean([np.log(case.regret(constants)) for case in cases]) + 1e-3 * (by @ by))

    best = min(
        (
            minimize(regret, first, method="Nelder-Mead")
            for first in (0.2 * s * np.eye(5)[k] for k in range(5) for s in (-1, 1))
        ),
        key=lambda found: found.fun,
    )
    return changed(best.x)


def told(name: str, cases: list[Case], constants: Constants) -> str:
    """Regrets in a line."""
    regrets = sorted((case.regret(constants), case.name) for case in cases)
    values = np.array([r for r, _ in regrets])
    line = f"median {np.median(values):.3f}, 90 % {np.quantile(values, 0.9):.2f}, mean {values.mean():.3f}"
    wrong = int((values > 1.1).sum())
    return f"{name:<34} {line}, worst {values[-1]:.2f} ({regrets[-1][1]}); above 1.1: {wrong} of {len(values)}"


def main(path: Path) -> None:
    """Fit to one half, judge by the other, and the other way round."""
    halves = load_cases(path)
    for k in (0, 1):
        fitted, held_out = halves[k], halves[1 - k]
        by_times = fit_times(fitted)
        found = fit_choice(fitted, by_times)
        print(f"fitted to half {k + 1}, {len(fitted)} cases; judged by the other, {len(held_out)}")
        print(told("  in use, fitted half", fitted, FITTED))
        print(told("  fitted, fitted half", fitted, found))
        print(told("  in use, held-out half", held_out, FITTED))
        print(told("  fitted to times, held-out half", held_out, by_times))
        print(told("  fitted, held-out half", held_out, found))
        for name, value in found._asdict().items():
            print(f"    {name} = {np.array2string(np.array(value), precision=3, separator=', ')}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
