"""Measure what a step costs by a factor and by conjugate gradients, over many shapes: the data of `fit.py`.

Cubes, plates, sheets of one flat layer and slabs of several, beams, L-shapes, balls and the flower's mesh, of 300 to
22,000 unknowns; free and spinning, clamped at one side, on a floor; soft and stiff. Each is stepped by implicit Euler
at 10 ms or other steps, to a residual of 1e-6, in three ways: by a factor, by conjugate gradients with diagonal
blocks, and with aggregates. The least processor time of single steps counts, on one thread; of steps that take over
`LONG`, the second one. What would take longer than `TOO_LONG` by the rule in use is left out. Steps [ms] and a part of
the shapes may be named, so that it can be done in pieces; rows of the same case are replaced.

    python tools/costs/measure.py tools/costs/steps.csv [1 4 10 16.7] [cube plate sheet slab beam ell ball flower]
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"

import csv
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import supple as sp
from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.examples.shapes import flower_mesh
from supple.geometry import TetMesh, box_tets
from supple.geometry.generators.shapes import sphere_tets
from supple.solvers.linear.costs import FEWEST, Costs

CELL, LONG, TOO_LONG = 0.01, 0.3, 1.0
HOLDS = ("free", "clamped", "floor")
WAYS: dict[str, dict[str, Any]] = {
    "factor": {"linear": "direct"},
    "blocks": {"linear": "cg", "preconditioner": "block_jacobi"},
    "aggregates": {"linear": "cg", "preconditioner": "aggregation"},
}
BOXES: dict[str, list[tuple[tuple[int, int, int], float]]] = {
    "cube": [((n, n, n), 1.0) for n in (4, 6, 8, 10, 13, 16)],
    "plate": [((n, n, layers), 1.0) for n, layers in ((10, 2), (16, 1), (24, 2), (32, 1), (36, 3), (50, 2))],
    "sheet": [((n, n, 1), thick) for n, thick in ((9, 0.1), (14, 0.3), (20, 0.05), (28, 0.2), (40, 0.1), (56, 0.3))],
    "slab": [
        ((n, n, m), thick) for n, m, thick in ((8, 3, 0.2), (12, 4, 0.1), (16, 5, 0.2), (24, 4, 0.2), (30, 3, 0.1))
    ],
    "beam": [((n, m, m), 1.0) for n, m in ((20, 2), (40, 3), (60, 4), (120, 3), (60, 7), (150, 6))],
}
ELLS, BALLS = ((8, 2), (12, 4), (20, 4), (28, 6)), (3, 4, 6, 8)
COLUMNS = (
    *("shape", "hold", "young", "dt [ms]", "unknowns", "blocks", "way", "stiffness", "damping", "flatness", "flops"),
    *(f"{way} [ms]" for way in WAYS),
)


def shapes(kinds: list[str]) -> Iterator[tuple[str, TetMesh]]:
    """Names and meshes, those of a kind by their size."""
    for kind in kinds:
        for cells, thick in BOXES.get(kind, []):
            size = CELL * np.array(cells) * (1.0, 1.0, thick)
            yield f"{kind} {'x'.join(map(str, cells))} {thick:g}", box_tets(size=tuple(size), cells=cells)
        for n, width in ELLS if kind == "ell" else ():
            whole = box_tets(size=(CELL * n, CELL * n, CELL * width), cells=(n, n, width))
            centre = whole.nodes[whole.elements].mean(axis=1)
            kept = whole.elements[(centre[:, 0] < CELL * width) | (centre[:, 1] < CELL * width)]
            used, numbers = np.unique(kept, return_inverse=True)
            yield f"ell {n} {width}", TetMesh(whole.nodes[used], numbers.reshape(kept.shape))
        for n in BALLS if kind == "ball" else ():
            yield f"ball {n}", sphere_tets(CELL * n, n)
        if kind == "flower":
            yield "flower", flower_mesh()[0]


def scene_of(mesh: TetMesh, hold: str, young: float) -> sp.Scene:
    """A body that flies and spins, is held at its lowest x, or rests on a floor."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    body = sp.FemBody(mesh, sp.Material(young, 0.3, 1000.0))
    low, high = mesh.nodes.min(axis=0), mesh.nodes.max(axis=0)
    if hold == "free":
        scene.add(body, spin=(1.0, 2.0, 5.0), name="body")
    elif hold == "clamped":
        near = np.flatnonzero(mesh.nodes[:, 0] < low[0] + 1e-3 * (high[0] - low[0]) + 1e-9)
        scene.add(body, fix=near, name="body")
    else:
        scene.add(body, at=(0.0, 0.0, -low[2]), name="body")
        scene.add(sp.Floor())
    return scene


def step_time(system: sp.System, solver: Any) -> float:
    """Least processor time of a step after the first one, which finds patterns [s]."""
    state = system.initial_state()
    solver.prepare(system)
    times = []
    for k in range(4):
        start = process_time()
        solver.step(system, state)
        state.t = (k + 1) * solver.dt
        times.append(process_time() - start)
        if k and times[-1] > LONG:
            break
    return min(times[1:])


def row_of(name: str, mesh: TetMesh, hold: str, young: float, dt: float) -> dict[str, Any]:
    """What is known of a system before it is stepped, and what a step took."""
    scene = scene_of(mesh, hold, young)
    system = scene.compile()
    costs = Costs.of(system)
    known = (
        name,
        hold,
        young,
        f"{1e3 * dt:g}",
        costs.unknowns,
        costs.block_count,
        costs.way,
        costs.stiffness,
        costs.damping,
    )
    row = dict(zip(COLUMNS, (*known, costs.flatness, costs.flops())))
    expected = costs.iterations(1e-6, mass=1.0, damping=-dt, stiffness=-dt * dt)
    allowed = {"factor": replace(costs, touches=False).factor < TOO_LONG, "blocks": expected.blocks < TOO_LONG}
    for way, options in WAYS.items():
        if allowed.get(way, costs.block_count >= FEWEST):
            time = step_time(scene.compile(), sp.ImplicitEuler(dt=dt, **options))
            row[f"{way} [ms]"] = f"{1e3 * time:.3f}"
    return row


def main(path: Path, steps: list[float], kinds: list[str]) -> None:
    """Measure and write."""
    kept: dict[tuple[str, ...], dict[str, Any]] = {}
    if path.exists():
        with open(path, newline="") as file:
            kept = {tuple(r[key] for key in COLUMNS[:4]): dict(r) for r in csv.DictReader(file)}
    for hold in HOLDS:  # compile
        row_of("", box_tets(size=(0.1, 0.1, 0.1), cells=(10, 10, 10)), hold, 1e5, 1e-2)
    for number, (name, mesh) in enumerate(shapes(kinds)):
        for hold, dt in product(HOLDS, steps):
            for young in (1e5, 1e8) if hold != "floor" else ((1e5, 1e7)[number % 2],):
                with one_blas_thread():
                    row = {key: str(value) for key, value in row_of(name, mesh, hold, young, dt).items()}
                kept[tuple(row[key] for key in COLUMNS[:4])] = row
                print(*row.values(), flush=True)
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(kept.values())


if __name__ == "__main__":
    words = sys.argv[2:]
    numbers = [word for word in words if word[0].isdigit()]
    named = [word for word in words if word not in numbers] or [*BOXES, "ell", "ball", "flower"]
    main(Path(sys.argv[1]), [1e-3 * float(number) for number in numbers] or [1e-2], named)
