"""Volumetric actuation: voxels swell and shrink with control variables, "temperatures" that change in time.

    size_i(t) = l (1 + expansion_i sum_c gain_ci amplitude_c u_c(t, phase_ci + shift_c)),
    rest length of a link = (size_1 + size_2) / 2                                                      [HL12, eq. 40]
    a sine       u = g(t / rise) sin(2 pi (frequency t + phase)),   g(s) = s² (3 - 2 s), 1 from s = 1 on
    a signal     u = signal(t + phase period)
    commands     u: what a function of the person's own returned last, asked at a chosen rate

The stiffness of links, the mass and the inertia keep their nominal values. The sizes are sums of fixed patterns times
signals of time, size = l + sum_b pattern_ib s_b(t), exact at every step: a sine with a phase for each voxel is two of
them, any other signal one for each phase that occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.algebra.dense.function_kernels import compute_sines
from supple.bodies.voxel.model import VoxelModel
from supple.errors import NOT_NUMBERS, InputError, check_instance, check_number

Array = np.ndarray
QUARTER = 0.25  # of a turn: a cosine is a sine that is so much ahead
MAX_PHASES = 64  # different phases of one signal that is not a sine
PerVoxel = ArrayLike | Mapping[int, float]
"""One number for all voxels, one for each (n,), or one for each material by its number in the grid."""


@dataclass(frozen=True, eq=False)
class Actuation:
    """A control variable that swings. amplitude [unit of control], frequency [Hz], phase [periods], gain [-].

    rise [s]: the time in which the amplitude grows from nothing, so that phases start without a jerk; 0: at once.
    phase_shift [periods]: is added to all phases.

    >>> Actuation(amplitude=30.0, frequency=2.0, rise=0.5).frequency
    2.0
    """

    amplitude: float
    frequency: float
    phase: PerVoxel = 0.0
    gain: PerVoxel = 1.0
    rise: float = 0.0
    phase_shift: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        check_number(self.amplitude, name="amplitude", where="Actuation")
        check_number(self.frequency, name="frequency", where="Actuation", least=0.0)
        check_number(self.rise, name="rise", where="Actuation", least=0.0)
        check_number(self.phase_shift, name="phase_shift", where="Actuation")


@dataclass(frozen=True, eq=False)
class Drive:
    """A control variable that follows a signal: any function of time [s], such as `TableInTime` or `Samples`.

    phase: in periods of the signal, whose period [s] is then needed; phase_shift: is added to all phases. amplitude:
    times the signal.

    >>> Drive(lambda t: 10.0 * min(t, 1.0)).gain
    1.0
    """

    signal: Callable[[float], float]
    gain: PerVoxel = 1.0
    phase: PerVoxel = 0.0
    period: float | None = None
    amplitude: float = field(default=1.0, kw_only=True)
    phase_shift: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.signal):
            raise InputError("the signal is not a function of time", where="Drive", value=type(self.signal).__name__)
        period = self.period if self.period is not None else getattr(self.signal, "period", None)
        if period is not None:
            check_number(period, name="period", where="Drive", above=0.0)
        check_number(self.amplitude, name="amplitude", where="Drive")
        check_number(self.phase_shift, name="phase_shift", where="Drive")
        object.__setattr__(self, "period", period)


@dataclass(frozen=True, eq=False)
class Commands:
    """Control variables from a person's own function(t, state), called rate [Hz] times a second; held in between.

    function returns `count` numbers; state is a `LocalState` of the body: t, x (n, 7), v (n, 6). gain: one for each
    variable (count,), or one for each variable and voxel (count, n). sees: names of other lattices of the scene, whose
    states the function is given after the body's own. amplitude: times what it returns.

    >>> Commands(lambda t, state: [1.0 if state.x[:, 2].min() < 0.01 else 0.0], rate=50.0).count
    1
    """

    function: Callable[..., ArrayLike]
    rate: float
    count: int = 1
    gain: ArrayLike = 1.0
    sees: Sequence[str] = ()
    amplitude: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError("the function cannot be called", where="Commands", value=type(self.function).__name__)
        check_number(self.rate, name="rate", where="Commands", above=0.0)
        check_number(self.count, name="count", where="Commands", least=1, whole=True)
        check_instance(self.sees, (list, tuple), "a row of names of bodies", where="Commands, sees")
        check_number(self.amplitude, name="amplitude", where="Commands")

    def ask(self, t: float, state: Any, *others: Any) -> Array:
        """The control variables at time t, (count,); others: states of what it sees."""
        given = self.function(t, state, *others)
        try:
            values = np.asarray(given, dtype=float).ravel()
        except NOT_NUMBERS:
            values = np.full(0, np.nan)
        if values.shape != (self.count,) or not np.isfinite(values).all():
            raise InputError(
                "the function did not return finite numbers, one for each control variable",
                where=f"Commands, t = {t:g} s",
                value=given,
                allowed=f"{self.count} numbers",
            )
        return values


@dataclass(frozen=True, eq=False)
class Samples:
    """A signal from samples at a rate [Hz] from t = 0 on, linear in between; repeats, or stays at the last.

    >>> Samples([0.0, 1.0, 0.0], rate=10.0)(0.05)
    0.5
    """

    values: ArrayLike
    rate: float
    repeats: bool = False

    def __post_init__(self) -> None:
        values = check_array(self.values, name="values", where="Samples").copy()
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise InputError("the samples are not finite numbers in a row", where="Samples", value=values.shape)
        check_number(self.rate, name="rate", where="Samples", above=0.0)
        object.__setattr__(self, "values", values)

    @property
    def period(self) -> float | None:
        """Time after which the samples repeat [s]."""
        return np.asarray(self.values).size / self.rate if self.repeats else None

    def __call__(self, t: float) -> float:
        """The value at time t [s]."""
        return float(self.sample(np.array([t]))[0])

    def sample(self, times: Array) -> Array:
        """The values at times (k,) [s]."""
        values = np.asarray(self.values)
        place = times * self.rate
        if self.repeats:
            return np.interp(place, np.arange(values.size + 1), np.r_[values, values[0]], period=values.size)
        return np.interp(place, np.arange(values.size), values)


Driver = Actuation | Drive | Commands


@dataclass(frozen=True, eq=False)
class Swing:
    """Sizes in time: size = rest + patterns @ signals(t). rest (n,) [m]; patterns (n, b) [m].

    signals: functions of times (k,) giving (k,), one for each pattern but the last ones, which are commanded: commands,
    with where their patterns start.
    """

    rest: Array
    patterns: Array
    signals: tuple[Callable[[Array], Array], ...]
    commands: tuple[tuple[int, Commands], ...] = field(default=())

    @classmethod
    def of(cls, model: VoxelModel, given: Driver | Sequence[Driver], materials: Array | None = None) -> Swing:
        """The swing of a model's voxels. materials (n,): their numbers, for gains and phases by material."""
        drivers = list(given) if isinstance(given, Sequence) else [given]
        if not drivers:
            raise InputError("there is no control variable", where="actuation", fix="Leave actuation out.")
        for driver in drivers:
            if not isinstance(driver, Driver):
                raise InputError(
                    "not a control variable",
                    where="actuation",
                    value=type(driver).__name__,
                    allowed="Actuation, Drive, Commands",
                )
        n = model.voxel_count
        strength = model.values("expansion") * model.size
        columns: list[Array] = []
        signals: list[Callable[[Array], Array]] = []
        for driver in drivers:
            if isinstance(driver, Commands):
                continue
            parts = _sine_parts if isinstance(driver, Actuation) else _signal_parts
            phase = _per_voxel(driver.phase, n, materials, "phase") + driver.phase_shift
            gain = _per_voxel(driver.gain, n, materials, "gain")
            for pattern, signal in parts(driver, phase):  # type: ignore[arg-type]
                columns.append(strength * gain * pattern)
                signals.append(signal)
        commands = []
        for driver in drivers:
            if isinstance(driver, Commands):
                commands.append((len(columns), driver))
                columns += list(strength * _command_gains(driver, n))
        patterns = np.stack(columns, axis=1) if columns else np.zeros((n, 0))
        swing = cls(model.size, patterns, tuple(signals), tuple(commands))
        swing._check_sines(drivers, materials, model)
        return swing

    def _check_sines(self, drivers: list[Driver], materials: Array | None, model: VoxelModel) -> None:
        """Refuse sines that make a voxel vanish before anything runs."""
        n = model.voxel_count
        sines = [d for d in drivers if isinstance(d, Actuation)]
        strain = sum((abs(d.amplitude * _per_voxel(d.gain, n, materials, "gain")) for d in sines), np.zeros(n))
        _refuse_vanishing(float(np.max(np.abs(model.values("expansion")) * strain, initial=0.0)))

    def values(self, times: Array, commanded: Array | None = None) -> Array:
        """Signals at times (k,) [s], (k, b); commanded: values of the commands, zero if not given."""
        out = np.empty((len(times), self.patterns.shape[1]))
        for b, signal in enumerate(self.signals):
            out[:, b] = signal(times)
        free = len(self.signals)
        out[:, free:] = 0.0 if commanded is None else commanded
        finite = np.isfinite(out)
        if not finite.all():
            bad = ~finite.all(axis=1)
            raise InputError("a control signal is not finite", where=f"actuation, t = {times[np.argmax(bad)]:g} s")
        return out

    def largest(self, values: Array, allowed: float) -> float:
        """A bound of the sizes [m] while the signals are values (k, b), exact where it would be above the allowed
        size [m]; refuses signals that make a voxel vanish."""
        reach = np.abs(self.patterns) @ np.abs(values).max(axis=0, initial=0.0)
        largest = float(np.max(self.rest + reach))
        if largest < allowed and (reach < self.rest).all():
            return largest
        ends = [(c.min(axis=1), c.max(axis=1)) for c in (self.patterns @ part.T for part in _chunks(values))]
        least, most = np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)
        _refuse_vanishing(float(np.max(-least / self.rest, initial=0.0)))
        return float(np.max(self.rest + most))

    @property
    def is_free(self) -> bool:
        """Whether all signals are functions of time."""
        return not self.commands

    def check_free(self) -> None:
        """Refuse commands where nobody asks for them."""
        if not self.is_free:
            raise InputError(
                "commands from a function are given to the lattice's own stride alone",
                where="voxel body",
                fix="Use LatticeSolver, or a Drive of time.",
            )

    def sizes(self, t: float, commanded: Array | None = None) -> Array:
        """Sizes of the voxels at time t [s], (n,) [m]."""
        known = self._foreseen.get(t) if commanded is None else None
        return np.asarray(self.sizes_at(np.array([t]), commanded)[0] if known is None else known)

    def sizes_at(self, times: Array, commanded: Array | None = None) -> Array:
        """The same at several times (k,) [s], (k, n) [m]; where nothing is commanded, `sizes` will know them."""
        sizes = np.array([self.rest + self.patterns @ values for values in self.values(times, commanded)])
        if commanded is None and len(times) > 1:
            self._foreseen.clear()
            self._foreseen.update(zip(times.tolist(), sizes))
        return sizes

    @cached_property
    def _foreseen(self) -> dict[float, Array]:
        return {}

    @classmethod
    def joined(cls, models: Sequence[VoxelModel], swings: Sequence[Swing | None]) -> Swing | None:
        """The swings of several bodies, one after the other; commands stay last."""
        if len(swings) == 1:
            return swings[0]
        if all(swing is None for swing in swings):
            return None
        starts = np.cumsum([0, *(m.voxel_count for m in models)])
        free: list[tuple[int, Array, Any]] = []
        led: list[tuple[int, Array, Commands]] = []
        for start, swing in zip(starts, swings):
            if swing is None:
                continue
            for b, signal in enumerate(swing.signals):
                free.append((start, swing.patterns[:, b : b + 1], signal))
            for b, command in swing.commands:
                led.append((start, swing.patterns[:, b : b + command.count], command))
        width = len(free) + sum(command.count for _, _, command in led)
        patterns, at = np.zeros((starts[-1], width)), 0
        commands = []
        for start, block, what in [*free, *led]:
            if isinstance(what, Commands):
                commands.append((at, what))
            patterns[start : start + len(block), at : at + block.shape[1]] = block
            at += block.shape[1]
        rest = np.concatenate([m.size for m in models])
        return cls(rest, patterns, tuple(signal for _, _, signal in free), tuple(commands))


def _chunks(values: Array) -> list[Array]:
    return [values[k : k + 256] for k in range(0, len(values), 256)]


def _sine_parts(driver: Actuation, phase: Array) -> list[tuple[Array, Callable[[Array], Array]]]:
    """Patterns and signals of a sine: sin(a + b) = sin a cos b + cos a sin b. Sines are our own, so that robots of the
    same design go the same way on every processor."""
    frequency, amplitude = float(driver.frequency), float(driver.amplitude)

    def grown(t: Array) -> Array | float:
        if driver.rise == 0.0:
            return 1.0
        s = np.clip(t / driver.rise, 0.0, 1.0)
        return np.asarray(s * s * (3 - 2 * s))

    return [
        (amplitude * _sines(phase + QUARTER), lambda t: grown(t) * _sines(frequency * t)),
        (amplitude * _sines(phase), lambda t: grown(t) * _sines(frequency * t + QUARTER)),
    ]


def _sines(turns: Array) -> Array:
    """sin(2 pi turns) of turns (k,)."""
    out = np.empty(len(turns))
    compute_sines(np.array(turns, dtype=float), out)
    return out


def _signal_parts(driver: Drive, phase: Array) -> list[tuple[Array, Callable[[Array], Array]]]:
    """Patterns and signals of any other signal: one for each phase that occurs."""
    phases = np.unique(phase)
    if phases.any() and driver.period is None:
        raise InputError("a phase needs the signal's period", where="Drive", fix="Give period=, in seconds.")
    if len(phases) > MAX_PHASES:
        raise InputError(
            "too many different phases of a signal that is not a sine",
            where="Drive",
            value=len(phases),
            allowed=f"<= {MAX_PHASES}",
            fix="Round the phases, or use Actuation.",
        )
    period, signal = driver.period or 0.0, driver.signal

    def shifted(by: float) -> Callable[[Array], Array]:
        sample = getattr(signal, "sample", None)
        if sample is not None:
            return lambda t: np.asarray(sample(t + by), dtype=float)
        return lambda t: check_array([signal(time + by) for time in t], name="the signal", where="Drive")

    return [(np.where(phase == value, driver.amplitude, 0.0), shifted(float(value) * period)) for value in phases]


def _per_voxel(given: PerVoxel, n: int, materials: Array | None, name: str) -> Array:
    """Numbers (n,) from one, from one for each voxel, or from one for each material."""
    if isinstance(given, Mapping):
        if materials is None:
            raise InputError(f"the {name} is by material where the materials are not known", where="actuation")
        values = np.array([given.get(int(m), np.nan) for m in np.unique(materials)], dtype=float)
        lacking = ~np.isfinite(values)
        if lacking.any():
            number = int(np.unique(materials)[lacking][0])
            raise InputError(f"a material has no finite {name}", where="actuation", value=number)
        return values[np.searchsorted(np.unique(materials), materials)]
    values = check_array(given, name=name, where="actuation")
    if values.shape not in ((), (n,)) or not np.isfinite(values).all():
        raise InputError(
            f"the {name} is not one number or one a voxel",
            where="actuation",
            value=values.shape,
            allowed=f"() or ({n},)",
        )
    return np.broadcast_to(values, n)


def _command_gains(driver: Commands, n: int) -> Array:
    """Gains (count, n)."""
    try:
        gain = np.asarray(driver.gain, dtype=float)
    except NOT_NUMBERS:
        allowed = f"({driver.count},) or ({driver.count}, {n})"
        raise InputError("the gains are not numbers", where="Commands", value=driver.gain, allowed=allowed) from None
    if gain.ndim == 1:
        gain = gain[:, None]
    try:
        gains = np.broadcast_to(gain, (driver.count, n))
    except ValueError:
        allowed = f"({driver.count},) or ({driver.count}, {n})"
        raise InputError("the gains have another shape", where="Commands", value=gain.shape, allowed=allowed) from None
    if not np.isfinite(gains).all():
        raise InputError("a gain is not finite", where="Commands")
    return np.asarray(driver.amplitude * gains)


def _refuse_vanishing(strain: float) -> None:
    if strain >= 1:
        raise InputError(
            "the control makes a voxel vanish",
            where="actuation",
            value=strain,
            allowed="expansion times control < 1",
        )
