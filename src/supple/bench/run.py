"""What a person's run costs beside the bare kernels of its bodies: recorded to disk at 30 Hz, on one thread.

    once a run        processor time of `sp.run` to t = 0: scene compiled, solver prepared, record made and closed
    user's step       of `sp.run` beyond that, over its steps
    real_time_factor  simulated time over that of the clock, the same loop; a limit in real time is held by this one
    kernel            of the bodies' own compiled loop, or of the solver's bare steps, which do the same
    tax               what the run takes beyond the kernel, over what it may: a tenth of the kernel, or 5 µs a step and
                      0.3 ms a frame where that is more
    run over kernel   the first beside the second alone; the robot's may be a tenth more
    record            bytes on disk over simulated time

The oak's kernel is a tree at rest; two rows more set the run beside the solver's bare steps in the wind.

run/floating: 8 modes of a beam, 1 ms, in free flight and on a hinge. run/flower: a hand pulls, 1/120 s. run/oak: in the
wind, 1/60 s. run/robot: 122 voxels that walk, run/block: 20x20x10 that hang; bond damping 1. run/fem: cubes of 750 to
105,456 tets, 10 ms. run/pile: a hundred boxes that fall on each other, 5 ms. Runs and kernels are taken in turns, best
of several, BLAS on one thread: others would count while they wait.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.bench.rigid_contact import pile_scene
from supple.bench.row import Row, at_least, at_most, measured, threads
from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Actuation, VoxelBody
from supple.bodies.voxel.body import advance_finite
from supple.contact import Floor
from supple.examples import flower, oak, quadruped
from supple.geometry import VoxelGrid, box_tets
from supple.material import Material
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.running import choose_solver, run
from supple.scene import HingeJoint, Scene
from supple.solvers.protocol import Striding

FLOATING, FLOWER, OAK, ROBOT, BLOCK, FEM, PILE = (
    f"run/{n}" for n in ("floating", "flower", "oak", "robot", "block", "fem", "pile")
)
REPEATS = 5
OF_KERNEL, A_STEP, A_FRAME = 0.1, 5e-6, 3e-4
"""What a run may take beyond its kernels: part of their time, or seconds a step and a frame."""
TETS = {5: 750, 9: 4_374, 14: 16_464, 20: 48_000, 26: 105_456}
"""Cells along an edge of a cube, and its tets."""
TWICE_VOXELYZE = 3.5
"""Real-time factor: Voxelyze takes such a robot, not recorded, 1.75 simulated seconds a second."""
FOUR_VOXELYZE = 4 * 0.049
"""The same of the block: Voxelyze takes 0.049 simulated seconds a second, measured once, on another machine."""
OAK_SPEED = 4.0
"""Real-time factor of the oak in the wind."""
LARGEST = {"free": 120.0, "on the floor": 240.0}
"""Limits of a step of the cube with most tets [ms]."""
STEEP = 14  # cells from which on the exponent of the cost is taken


class Cost(NamedTuple):
    """Processor times of a run's loop, of its kernels, and of what is done once a run [s]; the loop's time by the clock
    [s]; steps and frames; megabytes of its record."""

    run: float
    kernel: float
    once: float
    clock: float
    steps: int
    frames: int
    megabytes: float

    @property
    def tax(self) -> float:
        """What the run takes beyond its kernels, over what it may."""
        may = max(OF_KERNEL * self.kernel, A_STEP * self.steps + A_FRAME * self.frames)
        return (self.run - self.kernel) / may


def cost(scene: Scene, until: float, kernel: Callable[[], Any], repeats: int = REPEATS) -> Cost:
    """Of a run with its record, and of the kernels that do the same steps."""
    times: dict[str, list[tuple[float, float]]] = {"run": [], "kernel": [], "once": []}
    with threads(1), one_blas_thread(), tempfile.TemporaryDirectory() as folder:

        def whole(until: float = until) -> Any:
            return run(scene, until=until, out=folder)

        done = whole()
        size = (Path(folder) / "record.vtkhdf").stat().st_size
        kernel()
        for _ in range(repeats):
            for label, work in (("run", whole), ("kernel", kernel), ("once", lambda: whole(0.0))):
                clock, start = perf_counter(), process_time()
                work()
                times[label].append((process_time() - start, perf_counter() - clock))
    least = {label: np.min(found, axis=0) for label, found in times.items()}
    loop, clock = least["run"] - least["once"]
    bare, once = least["kernel"][0], least["once"][0]
    return Cost(loop, bare, once, clock, done.steps, len(done.energies.times), size / 1e6)


def rows_of(
    case: str, name: str, found: Cost, until: float, limit: float | None = None, least: float | None = None
) -> list[Row]:
    """Rows of a run; limit: of the user's step [ms]; least: of the real-time factor."""
    step, what = 1e3 * found.run / found.steps, f"user's step, {name}"
    speed, factor = until / found.clock, f"real_time_factor, {name}"
    return [
        measured(case, factor, speed, unit="-", threads=1)
        if least is None
        else at_least(case, factor, speed, least, unit="-", threads=1),
        measured(case, f"simulated over processor time, {name}", until / found.run, unit="-", threads=1),
        measured(case, what, step, unit="ms", threads=1)
        if limit is None
        else at_most(case, what, step, limit, unit="ms", threads=1),
        measured(case, f"once a run, {name}", 1e3 * found.once, unit="ms", threads=1),
        measured(case, f"kernel, {name}", 1e3 * found.kernel / found.steps, unit="ms", threads=1),
        at_most(case, f"tax over what a run may cost, {name}", found.tax, 1.0, unit="-", threads=1),
        measured(case, f"record, {name}", found.megabytes / until, unit="MB/s", threads=1),
    ]


def floating() -> list[Row]:
    """A body that flies freely, and one on a hinge."""
    rubber = Material(young=1e7, poisson=0.3, density=1000.0)
    body = FloatingBody.from_solid(ElasticSolid(box_tets(size=(1.0, 0.1, 0.1), cells=(20, 4, 4)), rubber), modes=8)
    scene, until = Scene(), 4.0
    node = scene.add(body, spin=(1.0, 2.0, 15.0), name="beam")
    placed = body.place(node.placement)

    def kernel() -> None:
        body.advance(placed.x.copy(), np.array(placed.v), 1e-3, steps=round(until / 1e-3))

    rows = rows_of(FLOATING, "alone", cost(scene, until, kernel), until, 0.02)
    hung = Scene(gravity=(0, 0, -9.81))
    beam = hung.add(body, name="beam")
    hung.add(HingeJoint(beam, at=(0.0, 0.05, 0.05), axis=(0, 1, 0)))
    hung.solver = choose_solver(hung, hung.compile(), None, 1e-3)
    return rows + rows_of(FLOATING, "on a hinge", cost(hung, until, bare_steps(hung, until)), until, 0.08)


def bare_steps(scene: Scene, until: float) -> Callable[[], None]:
    """The steps of a scene's solver and nothing else, all in one call where it takes them."""
    system = scene.compile()
    solver = choose_solver(scene, system, None, None)
    solver.prepare(system)

    def steps() -> None:
        state, count = system.initial_state(), round(until / solver.dt)
        if isinstance(solver, Striding):
            solver.advance(system, state, count)
            return
        for k in range(count):
            solver.step(system, state)
            state.t = (k + 1) * solver.dt

    return steps


def pulled_flower() -> list[Row]:
    """A tree with a load in time."""
    scene, until = flower.make(), 2.0
    tree = scene.nodes[0].held_body.dynamics  # type: ignore[attr-defined]

    def kernel() -> None:
        tree.advance(tree.state(), flower.STEP, steps=round(until / flower.STEP))

    return rows_of(FLOWER, "pulled", cost(scene, until, kernel, repeats=4 * REPEATS), until, 0.2)


def windy_oak() -> list[Row]:
    """A large tree in the wind."""
    scene, until = oak.make(), 1.0
    tree, solver = scene.nodes[0].held_body.dynamics, scene.solver  # type: ignore[attr-defined]
    assert solver is not None

    def kernel() -> None:
        tree.advance(tree.state(), solver.dt / solver.steps, steps=solver.steps * round(until / solver.dt))

    found = cost(scene, until, kernel)
    blown = cost(scene, until, bare_steps(scene, until))
    rate = found.megabytes / until
    return [
        *rows_of(OAK, "in the wind", found, until, least=OAK_SPEED)[:-1],
        at_most(OAK, "record, in the wind", rate, 15.0, unit="MB/s", threads=1),
        measured(OAK, "the solver's bare steps in the wind", 1e3 * blown.kernel / blown.steps, unit="ms", threads=1),
        measured(OAK, "tax beside the bare steps in the wind", blown.tax, unit="-", threads=1),
    ]


def walker() -> VoxelBody:
    """A robot of 9x5x2 voxels on four legs of 2x2x2, 122 in all."""
    numbers = np.zeros((9, 5, 4), dtype=int)
    numbers[:, :, 2:] = quadruped.BODY
    for x in (slice(0, 2), slice(-2, None)):
        for y in (slice(0, 2), slice(-2, None)):
            numbers[x, y, :2] = quadruped.MUSCLE
    grid = VoxelGrid(numbers, quadruped.SIZE)
    i, j, _ = grid.voxels.T
    phase = np.where((i >= 5) == (j >= 3), 0.0, 0.5) + np.where(i % 2 == 1, 0.0, 0.25)
    palette = {number: replace(m, bond_damping=1.0) for number, m in quadruped.palette(1e6).items()}
    return VoxelBody(grid, palette, actuation=Actuation(15.0, 5.0, phase))


def swept(case: str, name: str, scene: Scene, until: float, least: float, of_kernel: float | None = None) -> list[Row]:
    """Rows of a lattice and of its sweep, at the step that the run has taken. least: real-time factor; of_kernel: what
    the run may take, over its kernel."""
    done = run(scene, until=until, threads=1)
    solver, system, start = done.solver, done.system, done.system.initial_state()
    x, v = start.x.reshape(-1, 7), start.v.reshape(-1, 6)
    _, stable = solver.found_step(done.state)
    small = math.ceil(solver.dt / stable.step)  # steps of the sweep in one of the solver's
    dt, steps = solver.dt / small, small * round(until / solver.dt)

    def kernel() -> None:
        advance_finite(solver.sweep, LocalState(0.0, x, v), dt, steps, system.gravity, stages=stable.stages_of(dt))

    found = cost(scene, until, kernel)
    ratio, what = found.run / found.kernel, f"run over kernel, {name}"
    return [
        *rows_of(case, name, found, until, least=least),
        measured(case, what, ratio, unit="-", threads=1)
        if of_kernel is None
        else at_most(case, what, ratio, of_kernel, unit="-", threads=1),
    ]


def robot() -> list[Row]:
    """A robot that walks."""
    scene = Scene(gravity=(0, 0, -9.81), name="robot")
    scene.add(walker(), name="robot")
    scene.add(Floor())
    return swept(ROBOT, "122 voxels", scene, 2.0, least=TWICE_VOXELYZE, of_kernel=1 + OF_KERNEL)


def block() -> list[Row]:
    """A block that hangs from one end."""
    soft = VoxelMaterial(young=1e6, density=1000, bond_damping=1.0, ground_damping=1e-3)
    scene = Scene(gravity=(0, 0, -9.81), name="block")
    scene.add(VoxelBody(VoxelGrid(np.ones((20, 20, 10), dtype=int), 0.01), {1: soft}), fix="x_min", name="block")
    return swept(BLOCK, "20x20x10", scene, 0.2, least=FOUR_VOXELYZE)


def fem() -> list[Row]:
    """Cubes that fly and spin, and cubes that sink in on a floor, beside the solver's bare steps."""
    rows, steps, largest = [], 10, max(TETS)
    soft, per_step = Material(young=1e5, poisson=0.3, density=1000.0), {}
    for cells, tets in TETS.items():
        for name, limit in LARGEST.items():
            scene, until = Scene(gravity=(0, 0, -9.81)), steps * 1e-2
            body = FemBody(box_tets(size=(0.2, 0.2, 0.2), cells=(cells,) * 3), soft)
            if name == "free":
                scene.add(body, spin=(1.0, 2.0, 15.0), name="cube")
            else:
                scene.add(body, at=(0, 0, 0.1), name="cube")
                scene.add(Floor())
            scene.solver = choose_solver(scene, scene.compile(), None, 1e-2)
            found = cost(scene, until, bare_steps(scene, until), repeats=2 if cells >= STEEP else 2 * REPEATS)
            per_step[name, cells] = found.run / found.steps
            rows += rows_of(FEM, f"{tets} tets, {name}", found, until, limit if cells == largest else None)
    for name in LARGEST:
        growth = math.log(per_step[name, largest] / per_step[name, STEEP]) / math.log(TETS[largest] / TETS[STEEP])
        rows.append(at_most(FEM, f"exponent from {TETS[STEEP]} tets on, {name}", growth, 1.1, unit="-", threads=1))
    return rows


def pile() -> list[Row]:
    """Many bodies and contacts."""
    scene, until = pile_scene(), 2.0
    return rows_of(PILE, "100 boxes", cost(scene, until, bare_steps(scene, until)), until)


CASES = {
    FLOATING: floating, FLOWER: pulled_flower, OAK: windy_oak, ROBOT: robot, BLOCK: block, FEM: fem, PILE: pile
}  # fmt: skip
