"""What a person's run costs beside the bare kernels of its bodies, frames 1/30 s apart in memory, one thread.

run/tree: flower and dragon, which hands pull at, in steps of 1/120 s. run/lattice: the quadruped, 1/300 s.
run/floating: 8 modes of a beam in free flight, 1 ms. The ratio is that of processor times, the two taken in turns, best
of several.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from supple.bench.row import Row, at_most, measured, threads
from supple.bodies.floating import FloatingBody
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.body import advance_finite
from supple.examples import dragon, flower, quadruped
from supple.geometry import box_tets
from supple.material import Material
from supple.modal import ElasticSolid
from supple.running import run
from supple.scene import Scene

TREE, LATTICE, FLOATING = "run/tree", "run/lattice", "run/floating"
REPEATS = 5
LIMIT = 1.3
"""Of the kernel's time."""


def compare(case: str, name: str, scene: Scene, until: float, kernel: Callable[[], Any]) -> list[Row]:
    """Rows of a run and of the kernels that do the same steps."""
    times: dict[str, list[float]] = {"run": [], "kernel": []}
    with threads(1):
        steps = run(scene, until=until).steps
        kernel()
        for _ in range(REPEATS):
            for label, work in (("run", lambda: run(scene, until=until)), ("kernel", kernel)):
                start = process_time()
                work()
                times[label].append(process_time() - start)
    whole, bare = min(times["run"]), min(times["kernel"])
    return [
        measured(case, f"user's step, {name}", 1e3 * whole / steps, unit="ms", threads=1),
        measured(case, f"kernel, {name}", 1e3 * bare / steps, unit="ms", threads=1),
        at_most(case, f"user's step over kernel, {name}", whole / bare, LIMIT, unit="-", threads=1),
    ]


def trees() -> list[Row]:
    """Trees with loads in time."""
    rows = []
    for name, example in (("flower", flower), ("dragon", dragon)):
        scene, until = example.make(), 2.0
        tree = scene.nodes[0].held_body.dynamics  # type: ignore[attr-defined]

        def kernel(tree: Any = tree, step: float = example.STEP, until: float = until) -> None:
            tree.advance(tree.state(), step, steps=round(until / step))

        rows += compare(TREE, name, scene, until, kernel)
    return rows


def lattice() -> list[Row]:
    """A robot that walks."""
    scene, until = quadruped.make(), 2.0
    done = run(scene, until=until)
    solver, system, start = done.solver, done.system, done.system.initial_state()
    small = solver.step(system, start).iterations  # steps of the sweep in one of the solver's
    x, v = (start.x.reshape(-1, 7), start.v.reshape(-1, 6))

    def kernel() -> None:
        advance_finite(
            solver.sweep, LocalState(0.0, x, v), solver.dt / small, small * round(until / solver.dt), system.gravity
        )

    return compare(LATTICE, "quadruped", scene, until, kernel)


def floating() -> list[Row]:
    """A body that flies freely."""
    rubber = Material(young=1e7, poisson=0.3, density=1000.0)
    body = FloatingBody.from_solid(ElasticSolid(box_tets(size=(1.0, 0.1, 0.1), cells=(20, 4, 4)), rubber), modes=8)
    scene, until = Scene(), 4.0
    node = scene.add(body, spin=(1.0, 2.0, 15.0), name="beam")
    placed = body.place(node.placement)

    def kernel() -> None:
        body.advance(placed.x.copy(), np.array(placed.v), 1e-3, steps=round(until / 1e-3))

    return compare(FLOATING, "8 modes", scene, until, kernel)


CASES = {TREE: trees, LATTICE: lattice, FLOATING: floating}
