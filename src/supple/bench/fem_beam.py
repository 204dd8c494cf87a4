"""fem/beam: steps of a corotational beam, and how the cost grows with the mesh and falls with threads.

The small beam has 20x4x4 cells, 525 nodes and 1920 tets: 1 m x 0.1 m x 0.1 m, E = 1 MPa, Poisson's ratio 0.3, 1000
kg/m³.
"""

from __future__ import annotations

from math import log

import numba
import numpy as np

from supple.algebra.sparse.conjugate_gradients import CgWorkspace, solve_cg
from supple.bench.row import Row, at_least, at_most, best_of, threads
from supple.bodies.fem import FemBody
from supple.geometry import box_tets
from supple.material import Material
from supple.scene import Scene, State, System
from supple.solvers import ImplicitEuler

CASE = "fem/beam"


def sagging_beam(cells: tuple[int, int, int]) -> tuple[System, State]:
    """A clamped beam a few steps into its fall."""
    rubber = Material(young=1e6, poisson=0.3, density=1000.0)
    scene = Scene(gravity=(0, 0, -9.81))
    scene.add(FemBody(box_tets(size=(1.0, 0.1, 0.1), cells=cells, pattern="uniform"), rubber), fix="x_min", name="beam")
    system = scene.compile()
    return system, system.initial_state()


def step_time(system: System, state: State, solver: ImplicitEuler, repeats: int) -> float:
    """Best time of one step [s] from the same state."""

    def work() -> None:
        solver.step(system, state.copy())

    return best_of(repeats, work)


def small_beam() -> list[Row]:
    """One thread: 25 iterations, and a true residual of 1e-6 at dt = 10 ms."""
    rows = []
    with threads(1):
        system, state = sagging_beam((20, 4, 4))
        warm = ImplicitEuler(1e-2, linear="cg")
        for _ in range(5):
            warm.step(system, state)
        fixed = ImplicitEuler(1e-2, linear="cg", tolerance=0.0, max_iterations=25)
        value = 1e3 * step_time(system, state, fixed, 200)
        rows.append(at_most(CASE, "step_time, 25 CG iterations, 1920 tets", value, 1.5, unit="ms", threads=1))
        solved = ImplicitEuler(1e-2, linear="cg", tolerance=1e-6)
        value = 1e3 * step_time(system, state, solved, 50)
        rows.append(at_most(CASE, "step_time, residual 1e-6, dt = 10 ms", value, 8.0, unit="ms", threads=1))
    return rows


def iteration_time(cells: tuple[int, int, int]) -> tuple[float, int]:
    """Time of one CG iteration [s], from the difference of 30 and 10 of them, and the number of tets."""
    system, state = sagging_beam(cells)
    h = 1e-2
    lin = system.linearize(system.propagate(0.0, state.x, state.v), definite=True)
    A = lin.assemble(mass=1.0, damping=-h, stiffness=-h * h)
    assert A is not None
    assert system.assembly is not None
    system.assembly.project(system, 1.0)
    b = np.random.default_rng(0).normal(size=system.v_size)
    system.filter.project(b)
    workspace = CgWorkspace(A.block_row_count)

    def iterate(count: int) -> None:
        solve_cg(A, b, tolerance=0.0, max_iterations=count, workspace=workspace)

    few, many = best_of(5, lambda: iterate(10)), best_of(5, lambda: iterate(30))
    return (many - few) / 20, 6 * cells[0] * cells[1] * cells[2]


def growth() -> list[Row]:
    """Exponent of the cost of a CG iteration from 200,000 to 2,000,000 tets, one thread."""
    with threads(1):
        small, n_small = iteration_time((100, 18, 19))
        large, n_large = iteration_time((220, 39, 39))
    exponent = log(large / small) / log(n_large / n_small)
    return [
        at_most(CASE, "exponent of a CG iteration's cost, 2e5 to 2e6 tets", exponent, 1.1, unit="-", threads=1),
        at_most(CASE, "CG iteration, 2e5 tets", 1e3 * small, float("inf"), unit="ms", threads=1),
        at_most(CASE, "CG iteration, 2e6 tets", 1e3 * large, float("inf"), unit="ms", threads=1),
    ]


def speedup() -> list[Row]:
    """Two threads against one, a step of 50 CG iterations on 200,000 tets, in one process."""
    if numba.get_num_threads() < 2:
        return []
    system, state = sagging_beam((100, 18, 19))
    solver = ImplicitEuler(1e-2, linear="cg", tolerance=0.0, max_iterations=50)
    times = {1: float("inf"), 2: float("inf")}
    for _ in range(8):  # by turns, so that both see the same machine
        for count in times:
            with threads(count):
                times[count] = min(times[count], step_time(system, state, solver, 1))
    ratio = times[1] / times[2]
    return [
        at_least(CASE, "two threads over one, step on 2e5 tets", ratio, 1.6, unit="-", threads=2),
        at_most(CASE, "step_time, 50 CG iterations, 2e5 tets", 1e3 * times[2], float("inf"), unit="ms", threads=2),
    ]


def beam() -> list[Row]:
    """All of it."""
    return [*small_beam(), *growth(), *speedup()]


CASES = {CASE: beam}
