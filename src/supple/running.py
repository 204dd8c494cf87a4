"""run: simulate a scene: compile, prepare, then the loop of `supple.record.loop` until a reason to stop."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

import supple
from supple.errors import DivergenceError, InputError, SuppleError, check_instance, check_number, check_path
from supple.record.fields import check_fields
from supple.record.ground import ground_of
from supple.record.loop import Loop, Observer, OnStep
from supple.record.progress import Interrupts, progress_bar
from supple.record.run_result import Run
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.choosing import choose
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.protocol import Solver

ROUND_OFF = 1e-9  # part of a step that is round-off
MOST_STEPS = 1e15  # of a run: beyond them t + dt is no longer a later time
SURFACE_POINTS = 20_000
"""Points of a tree's surface that a record shows to other programs, at most."""


def run(
    scene: Scene,
    *,
    until: float,
    start: State | None = None,
    out: str | Path | None = None,
    dt: float | None = None,
    solver: Any = None,
    record_every: float = 1 / 30,
    surface_points: int | None = SURFACE_POINTS,
    fields: Sequence[str] = (),
    checkpoint_every: float = 30.0,
    observers: Sequence[Observer] = (),
    on_step: OnStep | None = None,
    resume: bool = False,
    progress: bool | None = None,
    threads: int | None = None,
) -> Run:
    """Simulate a scene.

    until: simulated time to reach [s]; the last step is the first that does not end before it. start: the state to
    begin with at t = 0, such as one of `settle`; None: as the bodies were placed. out: folder
    for the record and the checkpoint, replaced if it holds older ones. dt: step [s], instead of the solver's
    own. solver: the scene's, or the one that suits what is in it. record_every: simulated time between frames [s].
    surface_points: most points that the record shows of a tree's surface to other programs, such as ParaView, None:
    all; `open_record` makes all points again, and a run that goes on keeps to what its record has.
    fields: what else the record holds at the points of surfaces, for ParaView and `export(colour=...)`: "velocity"
    [m/s], "strain" [-], "stress" [Pa], von Mises' of bodies made of elements; "volume": the nodes [m] inside bodies
    made of tets, for a tet mesh in USD; a resumed run keeps to its record's.
    checkpoint_every: wall time between checkpoints [s]; there is always one at the end. observers: called
    with each `Frame`. on_step: called with the state and the StepReport after each step; returns True to
    stop. resume: go on from the checkpoint in `out`. progress: a bar on standard error; None: on a terminal
    only. threads: of the kernels; None: all.

    Raises DivergenceError where the simulation leaves the finite or the plausible; `error.run` is the run up
    to then.

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -10))
    >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    >>> sp.run(scene, until=1.0, dt=0.1).steps
    10
    """
    if resume and out is None:
        raise InputError("resume needs the folder of the run", where="run", fix="Give out=.")
    check_instance(scene, Scene, "a scene", where="run")
    if start is not None:
        check_instance(start, State, "a state", where="run, start")
    check_dt(record_every, "run, record_every")
    check_number(until, name="until", where="run", least=0.0)
    if on_step is not None and not callable(on_step):
        raise InputError("on_step cannot be called", where="run", value=type(on_step).__name__)
    if not isinstance(observers, list | tuple) or not all(map(callable, observers)):
        raise InputError("the observers are no row of functions", where="run", value=observers)
    if surface_points is not None:
        check_number(surface_points, name="surface_points", where="run", least=1, whole=True)
    asked = check_fields(fields, "run, fields")
    if asked and out is None:
        raise InputError("fields are kept in the record of a run", where="run, fields", fix="Give out=.")
    check_number(checkpoint_every, name="checkpoint_every", where="run", least=0.0, infinite=True)
    if dt is not None:
        check_dt(dt, "run")
    folder = None if out is None else check_path(out, where="run, out")
    with thread_count(threads):
        system = scene.compile()
        solver = choose_solver(scene, system, solver, dt)
        solver.prepare(system)
        last_step = count_steps(until, solver.dt)
        loop = Loop(system, solver, folder, record_every, checkpoint_every, tuple(observers), on_step, surface_points,
                    asked, scene.events)  # fmt: skip
        loop.begin(about_run(scene, system, solver), resume=resume, start=start)
        error: BaseException | None = None
        try:
            bar = progress_bar(progress, name=system.name, start=loop.state.t, until=last_step * solver.dt)
            with Interrupts() as interrupts, bar as shown:
                outcome = loop.advance(last_step, shown, interrupts)
        except KeyboardInterrupt:
            outcome = "interrupted"
            loop.go_back(to=loop.whole)
        except DivergenceError as caught:
            outcome, error = "diverged", caught
            loop.go_back(to=loop.good)
        except BaseException as caught:
            outcome, error = "failed", caught
            loop.go_back(to=loop.whole)
        result = loop.end(outcome, keep_errors=error is None)
    if error is not None:
        if isinstance(error, SuppleError):
            error.run = result  # type: ignore[attr-defined]
        raise error
    return result


def choose_solver(scene: Scene, system: System, solver: Any, dt: float | None) -> Any:
    """The solver of a run, with the given step [s] where there is one; the system notes which was chosen and why."""
    chosen = solver if solver is not None else scene.solver
    if chosen is None:
        solver, why = choose(scene, dt, system)
        system.notes.append(f"advanced by {type(solver).__name__}: {why}")
        return solver
    if not isinstance(chosen, Solver):
        raise InputError(
            "this solver does not step through time",
            where="run",
            value=type(chosen).__name__,
            fix="Use solve_statics.",
        )
    if dt is None:
        return chosen
    if not is_dataclass(chosen):
        raise InputError("this solver has a step of its own", where="run", value=dt, fix="Leave dt out.")
    return replace(chosen, dt=dt)  # type: ignore[type-var]


def count_steps(until: float, dt: float) -> int:
    """The smallest number of steps of dt that does not end before `until`, round-off aside."""
    if until / dt > MOST_STEPS:
        raise InputError(
            "there are too many steps", where="run", value=f"{until:g} s", allowed=f"{MOST_STEPS * dt:g} s"
        )
    return math.ceil(until / dt * (1 - ROUND_OFF) - ROUND_OFF)


@contextmanager
def thread_count(threads: int | None) -> Iterator[None]:
    """Kernels on so many threads inside."""
    if threads is None:
        yield
        return
    import numba

    largest = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    if not isinstance(threads, int) or not 1 <= threads <= largest:
        raise InputError("this number of threads cannot be had", where="run", value=threads, allowed=f"1..{largest}")
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        yield
    finally:
        numba.set_num_threads(before)


def about_run(scene: Scene, system: System, solver: Any) -> dict[str, Any]:
    """What the record of a run says of it."""
    about: dict[str, Any] = {
        "version": supple.__version__,
        "name": system.name,
        "solver": type(solver).__name__,
        "dt": float(solver.dt),
        "gravity": [float(g) for g in system.gravity],
    }
    ground = ground_of(system)
    if ground is not None:
        about["ground"] = ground
    document = getattr(scene, "document", None)
    return about if document is None else {**about, "scene": document}
