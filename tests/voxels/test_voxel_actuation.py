"""Control variables: sizes against formulas of their own, commands at a rate, the sweep against general operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.actuation import Driver
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.errors import InputError

Array = np.ndarray
SIZE, N = 0.01, 24
GAINS = np.linspace(-1.0, 1.0, N)
PHASES = np.linspace(0.0, 0.9, N)


def body(actuation: Driver | list[Driver] | None, shape: tuple[int, int, int] = (4, 3, 2)) -> sp.VoxelBody:
    palette = {
        3: sp.VoxelMaterial(young=1e6, density=1000.0, expansion=0.01, bond_damping=0.3),
        7: sp.VoxelMaterial(young=2e6, density=1000.0, expansion=-0.02, bond_damping=0.3),
    }
    numbers = np.where(np.arange(np.prod(shape)) % 3 == 0, 7, 3).reshape(shape)
    return sp.VoxelBody(sp.VoxelGrid(numbers, SIZE), palette, actuation=actuation)


EXPANSION = np.where(np.arange(N) % 3 == 0, -0.02, 0.01)
IS_SEVEN = np.arange(N) % 3 == 0
TABLE = sp.TableInTime([0.0, 0.1, 0.25], [0.0, 5.0, -3.0])
LOOP = sp.Samples([0.0, 2.0, -1.0, 4.0], rate=20.0, repeats=True)


def table(t: Array) -> Array:
    return np.interp(t, [0.0, 0.1, 0.25], [0.0, 5.0, -3.0])


def loop(t: Array) -> Array:
    """Period 0.2 s, linear between the samples and back to the first."""
    return np.interp(np.mod(t, 0.2), [0.0, 0.05, 0.1, 0.15, 0.2], [0.0, 2.0, -1.0, 4.0, 0.0])


def grown(s: Array) -> Array:
    return np.where(s < 1, 3 * s**2 - 2 * s**3, 1.0)


DRIVERS: dict[str, tuple[Driver | list[Driver], Any]] = {
    "sine by voxel": (
        sp.Actuation(10.0, 3.0, PHASES, GAINS),
        lambda t: GAINS * 10.0 * np.sin(2 * np.pi * (3.0 * t + PHASES)),
    ),
    "sine by material": (
        sp.Actuation(10.0, 3.0, {3: 0.25, 7: 0.0}, {3: 1.0, 7: -0.5}),
        lambda t: np.where(IS_SEVEN, -5.0 * np.sin(6 * np.pi * t), 10.0 * np.sin(6 * np.pi * t + np.pi / 2)),
    ),
    "sine that rises": (
        sp.Actuation(10.0, 3.0, PHASES, rise=0.1),
        lambda t: grown(t / 0.1) * 10.0 * np.sin(2 * np.pi * (3.0 * t + PHASES)),
    ),
    "table": (sp.Drive(TABLE, GAINS), lambda t: GAINS * table(t)),
    "table with a phase": (
        sp.Drive(TABLE, phase={3: 0.0, 7: 0.5}, period=0.2),
        lambda t: np.where(IS_SEVEN, table(t + 0.1), table(t)),
    ),
    "function": (sp.Drive(lambda t: 3 * t**2), lambda t: np.full(N, 3 * t**2)),
    "samples": (sp.Drive(LOOP, phase=np.round(PHASES, 1)), lambda t: loop(t + 0.2 * np.round(PHASES, 1))),
    "samples that end": (sp.Drive(sp.Samples([1.0, 3.0], 10.0)), lambda t: np.full(N, np.interp(t, [0, 0.1], [1, 3]))),
    "several": (
        [sp.Actuation(4.0, 5.0, gain=GAINS), sp.Drive(TABLE, {3: 0.0, 7: 2.0}), sp.Actuation(2.0, 1.0, PHASES)],
        lambda t: (
            GAINS * 4 * np.sin(10 * np.pi * t)
            + np.where(IS_SEVEN, 2.0, 0.0) * table(t)
            + 2 * np.sin(2 * np.pi * (t + PHASES))
        ),
    ),
}


def sizes_of(sweep: LatticeSweep) -> Array:
    layout = sweep.layout
    return layout.fields(layout.bricks.state, STATE)[layout.brick, 13, layout.lane]


@pytest.mark.parametrize("name", DRIVERS)
def test_sizes_follow_their_formula_at_every_step(name: str) -> None:
    given, control = DRIVERS[name]
    swing = body(given).swing
    assert swing is not None
    sweep = LatticeSweep.make(body(given).model, swing=swing)
    dt = body(given).stable_step()
    for steps in (1, 1, 7, 200, 300):
        sweep.advance(dt, steps)
        expected = SIZE * (1 + EXPANSION * control(np.asarray(sweep.t)))
        np.testing.assert_allclose(sizes_of(sweep), expected, rtol=1e-12)
        np.testing.assert_allclose(swing.sizes(sweep.t), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["sine by voxel", "several", "samples"])
def test_the_sweep_equals_the_general_operations(name: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    node = scene.add(body(DRIVERS[name][0]), fix="x_min", name="block")
    system = scene.compile()
    dt = node.body.stable_step(safety=0.5)
    one, two = system.initial_state(), system.initial_state()
    stride, rival = sp.LatticeSolver(dt, bend_limit=None), sp.SymplecticEuler(dt)
    for _ in range(300):
        stride.step(system, one)
        rival.step(system, two)
    np.testing.assert_allclose(one.x, two.x, atol=1e-11)


def test_implicit_euler_converges_to_the_sweep() -> None:
    """Halving the implicit step halves what lies between them: both see the same sizes at the same times."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(body(DRIVERS["several"][0]), fix="x_min", name="block")
    system = scene.compile()
    stride, fine = sp.LatticeSolver(4e-4, bend_limit=None, safety=0.02), system.initial_state()
    for _ in range(20):
        stride.step(system, fine)
    errors = []
    for dt in (4e-5, 2e-5):
        state, solver = system.initial_state(), sp.ImplicitEuler(dt, newton=True)
        for _ in range(round(0.008 / dt)):
            solver.step(system, state)
        errors.append(float(np.abs(state.x - fine.x).max()))
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.35)
    assert errors[1] < 0.1 * np.abs(fine.x - system.x0).max()


class Controller:
    """Counts its calls and notes what it was shown."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, Array, Array]] = []

    def __call__(self, t: float, state: LocalState) -> list[float]:
        assert state.t == t
        self.calls.append((t, state.x.copy(), state.v.copy()))
        value = 5.0 * np.sin(40 * t) + 100.0 * float(state.x[-1, 0] - 0.035)
        state.x[:] = np.nan  # what a person does to it stays theirs
        return [value, 2.0]


def commanded(rate: float, controller: Any) -> tuple[Any, Any]:
    scene = sp.Scene()
    gain = np.stack([GAINS, np.ones(N)])
    scene.add(body(sp.Actuation(5.0, 10.0), (4, 3, 2)), at=(0.3, 0, 0), name="before")
    scene.add(body([sp.Commands(controller, rate, 2, gain), sp.Actuation(3.0, 4.0)]), fix="x_min", name="block")
    return scene, scene.compile()


@pytest.mark.parametrize(("rate", "calls"), [(50.0, 10), (300.0, 60), (1000.0, 200), (90.0, 18), (7.0, 2)])
def test_commands_are_asked_at_their_rate_and_held_in_between(rate: float, calls: int) -> None:
    controller = Controller()
    _, system = commanded(rate, controller)
    stride, state, shown = sp.LatticeSolver(1 / 300, bend_limit=None), system.initial_state(), []
    for _ in range(60):
        shown.append((state.t, system.body("block").view_x(state.x).copy()))
        stride.step(system, state)
        last = controller.calls[-1]
        block = sizes_of(stride.sweep)[N:]
        value = 5.0 * np.sin(40 * last[0]) + 100.0 * (last[1][-1, 0] - 0.035)
        control = GAINS * value + 2.0 + 3.0 * np.sin(8 * np.pi * state.t)
        np.testing.assert_allclose(block, SIZE * (1 + EXPANSION * control), rtol=1e-10)
    assert abs(len(controller.calls) - calls) <= 1
    times = {round(t, 9): x for t, x in shown}
    for t, x, _ in controller.calls:
        if round(t, 9) in times:
            np.testing.assert_array_equal(x, times[round(t, 9)])  # what it saw is current
    gaps = np.diff([t for t, _, _ in controller.calls])
    assert (gaps < 1 / rate + 1 / 300 + 1e-9).all()


def test_commands_see_other_lattices() -> None:
    """The function is given the present state of the other body, which falls."""
    heights: list[tuple[float, float]] = []

    def look(t: float, own: LocalState, other: LocalState) -> float:
        assert len(own.x) == N
        assert len(other.x) == 8
        heights.append((t, float(other.x[:, 2].mean())))
        return 0.0

    scene = sp.Scene(gravity=(0, 0, -10.0))
    scene.add(body(None, (2, 2, 2)), at=(0.3, 0, 0), name="other")
    scene.add(body(sp.Commands(look, 50.0, sees=("other",))), fix="x_min", name="block")
    system = scene.compile()
    stride, state = sp.LatticeSolver(1 / 50, bend_limit=None), system.initial_state()
    for _ in range(4):
        stride.step(system, state)
    (_, start), *later = heights
    for t, z in later:
        assert z - start == pytest.approx(-5.0 * t * t, rel=0.05)


def test_commands_go_on_from_a_saved_state_with_the_same_bits() -> None:
    _, system = commanded(90.0, Controller())
    stride, state = sp.LatticeSolver(1 / 300, bend_limit=None), system.initial_state()
    for k in range(40):
        if k == 17:
            saved = state.copy()
        stride.step(system, state)
    _, again = commanded(90.0, Controller())
    other = sp.LatticeSolver(1 / 300, bend_limit=None)
    for _ in range(17, 40):
        other.step(again, saved)
    np.testing.assert_array_equal(saved.x, state.x)
    np.testing.assert_array_equal(saved.v, state.v)
    held = slice(7 * N, 7 * N + 7 * 6)  # x_min of the second body
    np.testing.assert_array_equal(state.x[held], system.x0[held])
    assert (state.x[: 7 * N] != system.x0[: 7 * N]).any()


def test_commands_run_record_and_resume(tmp_path: Any) -> None:
    runs = []
    for folder, parts in (("one", [0.2]), ("two", [0.1, 0.2])):
        for k, until in enumerate(parts):
            scene, _ = commanded(90.0, Controller())
            result = sp.run(
                scene,
                until=until,
                solver=sp.LatticeSolver(1 / 300, bend_limit=None),
                out=tmp_path / folder,
                resume=k > 0,
                progress=False,
            )
        runs.append(result.state)
    np.testing.assert_array_equal(runs[0].x, runs[1].x)


def test_commands_need_the_stride() -> None:
    scene, system = commanded(50.0, lambda t, s: [0.0, 0.0])
    with pytest.raises(InputError, match="LatticeSolver"):
        sp.ImplicitEuler(1e-3).step(system, system.initial_state())
    block = scene.node("block").body
    with pytest.raises(InputError, match="LatticeSolver"):
        block.advance(LocalState(0.0, block.model.rest_frames, np.zeros((N, 6))), 1e-6, 1)


@pytest.mark.parametrize("bad", [[1.0], [1.0, np.nan], "fast", None, [[1.0, 2.0], [3.0]], 3.0])
def test_commands_that_return_something_else_are_refused(bad: Any) -> None:
    _, system = commanded(50.0, lambda t, s: bad)
    with pytest.raises(InputError, match=r"one for each control variable.*2 numbers"):
        sp.LatticeSolver().step(system, system.initial_state())


def test_wrong_controls_are_refused() -> None:
    bad: list[Any] = [
        lambda: sp.Actuation(np.inf, 1.0),
        lambda: sp.Actuation(1.0, -1.0),
        lambda: sp.Actuation(1.0, 1.0, rise=-1.0),
        lambda: body(sp.Actuation(1.0, 1.0, gain=np.ones(5))),
        lambda: body(sp.Actuation(1.0, 1.0, phase=np.full(N, np.nan))),
        lambda: body(sp.Actuation(1.0, 1.0, gain={3: 1.0})),  # a material without a gain
        lambda: body(sp.Actuation(1.0, 1.0, gain={3: 1.0, 7: np.inf})),
        lambda: body(sp.Actuation(60.0, 1.0)),  # 0.02 * 60 > 1
        lambda: body(sp.Drive(TABLE, phase=0.5)),  # no period
        lambda: body(sp.Drive(TABLE, phase=np.linspace(0, 1, 24), period=0.0)),
        lambda: sp.Drive(3.0),
        lambda: sp.Samples([1.0, np.nan], 10.0),
        lambda: sp.Samples([], 10.0),
        lambda: sp.Samples([1.0], 0.0),
        lambda: sp.TableInTime([0.0, 1.0], [0.0, np.nan]),
        lambda: sp.Commands(lambda t, s: 1.0, 0.0),
        lambda: sp.Commands(lambda t, s: 1.0, 10.0, count=0),
        lambda: body(sp.Commands(lambda t, s: 1.0, 10.0, gain=np.ones(5))),
        lambda: body(sp.Commands(lambda t, s: 1.0, 10.0, gain={3: 1.0, 7: 2.0})),
        lambda: body("sine"),
        lambda: body([sp.Actuation(1.0, 1.0), 3.0]),
    ]
    for make in bad:
        with pytest.raises(InputError):
            make()


def test_signals_that_vanish_a_voxel_or_are_not_finite_are_refused_when_they_do() -> None:
    for signal, message in (
        (lambda t: 1e3 * t, "vanish"),
        (lambda t: np.nan if t > 0.01 else 0.0, r"t = 0\.01\d* s: a control signal is not finite"),
    ):
        block = body(sp.Drive(signal))
        state = LocalState(0.0, block.model.rest_frames, np.zeros((N, 6)))
        dt = block.stable_step()
        early = block.advance(state, dt, 3)
        assert np.isfinite(early.x).all()
        with pytest.raises(InputError, match=message):
            block.advance(state, dt, int(0.2 / dt))
