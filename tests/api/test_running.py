"""run: how it steps, stops, reports, and tells when a simulation has diverged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import DivergenceError, InputError
from supple.record import load_checkpoint, measure, open_record
from supple.record.measures import best_rotation
from supple.record.memory import MAX_FRAMES
from supple.record.plausibility import Plausibility
from supple.running import count_steps
from supple.solvers import Outcome, StepReport

INTERRUPTED = """
import signal
import sys
import supple as sp
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
scene = sp.Scene(gravity=(0, 0, -9.81))
scene.add(sp.RigidBody.box((1, 1, 1), density=1), name="box")
run = sp.run(scene, until=1e5, record_every=1.0, out=sys.argv[1])
print(run.outcome, run.steps, run.state.t == run.steps * 0.01)
"""


def make_ball(**more) -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), **more)
    scene.add(sp.RigidBody.box((0.1, 0.2, 0.3), density=500), at=(0, 0, 1), name="ball")
    return scene


def make_chain(count: int = 4, **more) -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    X = np.c_[np.arange(float(count)), np.zeros((count, 2))]
    springs = [(i, i + 1) for i in range(count - 1)]
    node = scene.add(sp.Particles(X, 0.1, springs=springs, stiffness=200, **more), name="chain")
    scene.add(sp.FixedPoints(node, [0]))
    return scene


@dataclass
class ExplicitEuler:
    """The classical unstable one: x moves by h v, v by h a, both of the old state."""

    dt: float

    def prepare(self, system) -> None:
        """Nothing."""

    def step(self, system, state) -> StepReport:
        """Advance."""
        from supple.solvers.linear.mass_solve import acceleration

        a = acceleration(system, system.propagate(state.t, state.x, state.v), self.dt)
        system.filter.project(a)
        state.x = system.retract(state.x, self.dt * state.v)
        state.v = state.v + self.dt * a
        return StepReport(Outcome.SOLVED)


@dataclass(frozen=True, eq=False)
class Broken:
    """A force that is not a number from a time on."""

    on: object
    since: float

    def energy(self, state) -> float:
        return 0.0

    def add_force(self, state, f_out) -> None:
        if state.t > self.since:
            f_out[2] = np.nan

    def linearize(self, state, *, definite: bool = False):
        return self

    def add_product(self, dv, df_out, stiffness: float, damping: float) -> None:
        pass


@pytest.mark.parametrize(
    ("until", "dt", "steps"),
    [
        (1.0, 0.01, 100),
        (0.3, 0.1, 3),
        (2.0, 1 / 30, 60),
        (1.0, 0.3, 4),
        (0.0, 0.1, 0),
        (1e4, 1e-3, 10**7),
        (0.1, 1.0, 1),
    ],
)
def test_steps_are_counted_not_summed(until: float, dt: float, steps: int) -> None:
    assert count_steps(until, dt) == steps


def test_time_does_not_drift() -> None:
    run = sp.run(make_ball(), until=0.9, dt=0.001, record_every=0.3)
    assert run.steps == 900
    assert run.time == 900 * 0.001  # not a sum of 900 steps, which is off by 1e-14
    assert run.energies.times.tolist() == [0.0, 0.3, 0.6, 0.9]


def test_run_describes_itself() -> None:
    run = sp.run(make_ball(name="fall"), until=0.5)
    assert run.outcome == "finished"
    assert run.worst_residual < 1e-10
    told = json.loads(json.dumps(run.to_json()))
    assert set(told) == {"outcome", "time", "steps", "real_time_factor", "bodies", "energy"}
    (ball,) = told["bodies"]
    assert set(ball) == {"name", "kind", "centre_of_mass", "displacement", "orientation"}
    drop = 9.81 * 0.5 * (0.5 + 0.01) / 2  # implicit Euler: g t (t + h) / 2
    assert ball["displacement"] == pytest.approx([0, 0, -drop])
    assert ball["centre_of_mass"] == pytest.approx([0, 0, 1 - drop])
    assert ball["orientation"] == [1, 0, 0, 0]
    assert told["energy"]["kinetic"] == pytest.approx(0.5 * 3 * (9.81 * 0.5) ** 2)
    report = run.report()
    for word in ("fall", "real time", "kinetic", "total", "ball", "All 50 steps met"):
        assert word in report


def test_orientation_of_soft_bodies_is_the_best_rotation() -> None:
    rng = np.random.default_rng(3)
    a, weight = rng.normal(size=(12, 3)), rng.uniform(1, 2, size=(12, 1))
    from supple.algebra.dense import rotations

    q = rotations.exp([0.4, -1.1, 2.0])
    found = best_rotation(a, rotations.rotate(q, a), weight)
    assert abs(found @ q) == pytest.approx(1, abs=1e-12)
    line = np.outer(np.linspace(-1, 1, 5), [1.0, 0, 0])
    quarter = best_rotation(line, line @ rotations.to_matrix(rotations.exp([0, 0, np.pi / 2])).T, np.ones((5, 1)))
    assert rotations.rotate(quarter, np.array([1.0, 0, 0])) == pytest.approx([0, 1, 0], abs=1e-12)
    assert best_rotation(np.zeros((1, 3)), np.zeros((1, 3)), np.ones((1, 1))).tolist() == [1, 0, 0, 0]


def test_observers_and_on_step_are_called() -> None:
    frames, steps = [], []

    def on_step(state, report) -> bool:
        steps.append(report.outcome)
        return state.t >= 0.2 - 1e-12

    run = sp.run(
        make_ball(), until=1.0, on_step=on_step, observers=[lambda f: frames.append((f.step, f.measures.total))]
    )
    assert run.outcome == "stopped"
    assert run.steps == len(steps) == 20
    assert [step for step, _ in frames] == [0, 4, 7, 10, 14, 17, 20]
    assert run.energies.total.tolist() == [total for _, total in frames]


def test_solver_and_step_are_chosen() -> None:
    assert type(sp.run(make_ball(), until=0.01).solver) is sp.ImplicitEuler
    own = sp.Midpoint(0.02)
    assert sp.run(make_ball(solver=own), until=0.1).steps == 5
    assert sp.run(make_ball(solver=own), until=0.1, dt=0.01).steps == 10
    assert own.dt == 0.02
    assert sp.run(make_ball(solver=own), until=0.1, solver=sp.ImplicitEuler(0.05)).steps == 2


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"until": -1.0}, "until"),
        ({"until": float("nan")}, "until"),
        ({"until": 1.0, "dt": 0.0}, "not positive"),
        ({"until": 1.0, "record_every": 0.0}, "record_every"),
        ({"until": 1.0, "threads": 10_000}, "threads"),
        ({"until": 1.0, "solver": sp.Statics()}, "solve_statics"),
    ],
)
def test_wrong_arguments_are_refused(arguments, word: str) -> None:
    with pytest.raises(InputError, match=word):
        sp.run(make_ball(), **arguments)


def test_steps_above_their_tolerance_are_counted_and_told() -> None:
    solver = sp.ImplicitEuler(0.05, linear="cg", max_iterations=1, tolerance=1e-12)
    run = sp.run(make_chain(12), until=0.5, solver=solver)
    assert run.under_converged > 5
    assert f"{run.under_converged} of 10 steps stopped above their tolerance" in run.report()
    assert f"{run.worst_residual:.1e}" in run.report()


def test_frames_without_a_folder_stay_few() -> None:
    run = sp.run(make_ball(), until=6.0, dt=0.01, record_every=0.01)
    assert len(run.energies.times) == 601
    assert len(run.frames.times) <= MAX_FRAMES
    steps = run.frames.columns["step"]
    assert steps[0] == 0
    assert steps[-1] == 600
    assert len(set(np.diff(steps[:-1]))) == 1


def test_what_is_not_finite_is_found_and_the_rest_is_kept(tmp_path: Path) -> None:
    scene = make_chain(damping=0.5)
    scene.add(Broken(scene.node("chain"), since=0.255))
    with pytest.raises(DivergenceError, match=r"body 'chain', particle 2, t = 0.26 s, step 27.*smaller dt") as caught:
        sp.run(scene, until=1.0, out=tmp_path)
    run = caught.value.run
    assert run.outcome == "diverged"
    assert run.state.is_finite
    assert run.time == pytest.approx(0.24)  # the last frame before
    record = open_record(tmp_path)
    assert record.times[-1] == run.time
    saved = load_checkpoint(tmp_path / "checkpoint.npz", run.system, run.solver)
    assert saved.state.x.tobytes() == run.state.x.tobytes()


def test_energy_from_nowhere_is_found_before_it_overflows() -> None:
    with pytest.raises(DivergenceError, match=r"energy has grown to .* J, more than 10 times the") as caught:
        sp.run(make_chain(), until=100.0, solver=ExplicitEuler(0.02), record_every=0.02)
    run = caught.value.run
    assert "particle" in caught.value.where
    assert np.abs(run.state.v).max() < 1e4
    assert run.energies.total.max() < 1e5


def push(scene: sp.Scene) -> None:
    scene.add(sp.Load(scene.node("chain").points([3]), lambda t: (0, 0, 40 * np.sin(20 * t))))


def shake(scene: sp.Scene) -> None:
    scene.add(sp.PrescribedMotion(scene.node("chain"), [3], displacement=lambda t: (0, 0, 3 * np.sin(9 * t))))


def fall(scene: sp.Scene) -> None:
    scene.filters.clear()


def rest(scene: sp.Scene) -> None:
    scene.gravity = np.zeros(3)


@pytest.mark.parametrize("change", [push, shake, fall, rest, lambda scene: None])
@pytest.mark.parametrize(
    "solver", [sp.ImplicitEuler(0.01), sp.Midpoint(0.02), sp.SymplecticEuler(0.005), sp.RungeKutta4(0.01)]
)
def test_no_false_alarm(change, solver) -> None:
    scene = make_chain()
    change(scene)
    assert sp.run(scene, until=2.0, solver=solver).outcome == "finished"


def test_motor_may_feed_energy() -> None:
    scene = sp.Scene()
    rod = scene.add(sp.RigidBody.box((1.0, 0.1, 0.1), density=500), at=(0.5, 0, 0), name="rod")
    hinge = {"at": (0, 0, 0), "axis": (0, 1, 0)}
    scene.add(sp.HingeJoint(rod, **hinge, motor_speed=5.0))
    run = sp.run(scene, until=0.5)
    assert run.energies.kinetic[-1] > 1.0


@pytest.mark.parametrize("law", ["stvk", "neo-hookean"])
def test_inverted_elements_end_a_run_only_where_there_is_no_way_back(law: str) -> None:
    rubber = sp.Material(young=1e5, poisson=0.3, density=1000)
    scene = sp.Scene()
    body = sp.FemBody(sp.box_tets(size=(0.3, 0.1, 0.1), cells=(2, 1, 1)), rubber, law=law)
    scene.add(body, name="block")
    system = scene.compile()
    state = system.initial_state()
    guard = Plausibility(system, 0.01, state, measure(system, state), 1e9)  # what follows was put in by hand
    before = state.copy()
    assert guard.check_frame(state, measure(system, state), 1, before) == 0
    x = system.positions(state, "block")
    x[x[:, 0] > 0.29] *= [-1, 1, 1]
    measures = measure(system, state)
    if law == "stvk":
        with pytest.raises(DivergenceError, match=r"body 'block', element \d+.*neo-hookean"):
            guard.check_frame(state, measures, 1, before)
    else:
        assert guard.check_frame(state, measures, 1, before) > 0


def test_error_of_a_callback_closes_the_record(tmp_path: Path) -> None:
    def fail(frame) -> None:
        if frame.step:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        sp.run(make_ball(), until=1.0, out=tmp_path, observers=[fail])
    assert len(open_record(tmp_path)) == 2
    assert sp.run(make_ball(), until=0.2, out=tmp_path, resume=True).steps == 20


def test_control_c_ends_between_steps(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "record.vtkhdf").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGINT)
    told, errors = process.communicate(timeout=300)  # kernels may have to be compiled first
    outcome, steps, consistent = told.split()
    assert (outcome, consistent) == ("interrupted", "True"), errors
    assert open_record(tmp_path / "out").columns["step"][-1] == int(steps)


def test_bar_shows_only_where_it_is_asked_for(capfd) -> None:
    sp.run(make_ball(), until=0.5)
    assert capfd.readouterr() == ("", "")
    sp.run(make_ball(), until=0.5, progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "of 0.5 s" in err
