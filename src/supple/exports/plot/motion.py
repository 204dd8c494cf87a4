"""Where things go, and how often they swing: trajectories and spectra of bodies of a run, or of one of their points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from supple.errors import InputError
from supple.exports.export import trajectory_of
from supple.exports.plot.paper import FAINT, INK, colours, make_figure
from supple.record.reader import Trajectory
from supple.record.run_result import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray
AXES = ("x", "y", "z")
FEWEST = 8
"""Frames that a spectrum needs."""
EVEN = 1e-3
"""By how much times between frames may differ, over their mean."""


def trajectories(
    run: Run | Trajectory | str | Path, body: str | None = None, *, at: Sequence[float] | None = None
) -> Figure:
    """x, y and z [m] over time [s]: of the mean of each body's surface points, or of one body; at (3,) [m]: of its
    point that is nearest to a place at the first frame.

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81), name="fall")
    >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=1000), name="ball")
    >>> figure = sp.plot.trajectories(sp.run(scene, until=0.2))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['x [m]', 'y [m]', 'z [m]']
    """
    where = "plot.trajectories"
    found = trajectory_of(run, where=where)
    names = chosen_bodies(found, body, at, where)
    figure, rows = make_figure(3, title=f"{found.name}: {'trajectories' if len(names) > 1 else names[0]}")
    for name, colour in zip(names, colours(len(names))):
        x = path_of(found, name, at, where)
        for k, axes in enumerate(rows):
            axes.plot(found.times, x[:, k], color=colour, label=name)
    for name, axes in zip(AXES, rows):
        axes.set_ylabel(f"{name} [m]")
    rows[-1].set_xlabel("time [s]")
    if len(names) > 1:
        figure.legend(*rows[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def spectra(
    run: Run | Trajectory | str | Path,
    body: str | None = None,
    *,
    at: Sequence[float] | None = None,
    axis: str = "z",
) -> Figure:
    """Amplitudes [m] of the motion along an axis ("x", "y", "z") over frequency [Hz], of bodies or points as
    `trajectories` has them. The largest peak of each is named.

    Amplitudes are those of sines, by Hann's window, of the motion about its mean; frequencies end at half the rate of
    the frames. A run keeps all its frames in its record (`out=`, `record_every=`), and fewer in memory.
    """
    where = "plot.spectra"
    found = trajectory_of(run, where=where)
    if not isinstance(axis, str) or axis not in AXES:
        raise InputError("there is no such axis", where=where, value=axis, allowed=", ".join(AXES))
    k = AXES.index(axis)
    check_even(found.times, where)
    names = chosen_bodies(found, body, at, where)
    figure, (axes,) = make_figure(title=f"{found.name}: motion along {axis}")
    for name, colour in zip(names, colours(len(names))):
        f, a = spectrum(found.times, path_of(found, name, at, where)[:, k])
        axes.plot(f, a, color=colour, label=name)
        top = int(np.argmax(a))
        if a[top] > 0.0:
            axes.axvline(f[top], color=FAINT, linewidth=0.8, zorder=0)
            axes.annotate(f"{f[top]:.3g} Hz", (f[top], a[top]), (4, -2), textcoords="offset points", color=INK)
    axes.set(xlabel="frequency [Hz]", ylabel="amplitude [m]", xlim=(0.0, None), ylim=(0.0, None))
    if len(names) > 1:
        axes.legend(frameon=False)
    return figure


def spectrum(times: Array, values: Array) -> tuple[Array, Array]:
    """Frequencies (m,) [Hz] and amplitudes (m,), in the unit of values (n,), of sines in them; times (n,) [s]."""
    window = np.hanning(len(values) + 1)[:-1]
    mean = float(window @ values / window.sum())
    amplitudes = 2 * np.abs(np.fft.rfft(window * (values - mean))) / window.sum()
    return np.fft.rfftfreq(len(values), float(times[-1] - times[0]) / (len(times) - 1)), amplitudes


def check_even(times: Array, where: str) -> None:
    """Refuse frames that a spectrum cannot be made of."""
    apart = np.diff(times)
    if len(times) < FEWEST:
        fix = "Run longer, or record more often."
        raise InputError(
            "too few frames for a spectrum", where=where, value=len(times), allowed=f">= {FEWEST}", fix=fix
        )
    if np.ptp(apart) > EVEN * apart.mean():
        value = f"{apart.min():.3g} to {apart.max():.3g} s apart"
        fix = "Record at a multiple of the step, and end the run at one of these times."
        raise InputError("frames are not evenly spaced in time", where=where, value=value, fix=fix)


def chosen_bodies(found: Trajectory, body: str | None, at: Sequence[float] | None, where: str) -> list[str]:
    """Names of the bodies that are meant."""
    if not len(found.times) or not found.body_names:
        raise InputError("there is nothing to plot", where=where, value=found.name)
    if body is not None and (not isinstance(body, str) or body not in found.body_names):
        raise InputError("there is no such body", where=where, value=body, allowed=", ".join(found.body_names))
    if body is None and at is not None and len(found.body_names) > 1:
        raise InputError("the body that the place belongs to is not named", where=where, fix="Give body=... too.")
    return found.body_names if body is None else [body]


def path_of(found: Trajectory, body: str, at: Sequence[float] | None, where: str) -> Array:
    """Places (frames, 3) [m] of a body, or of its point that was nearest to a place."""
    frames = range(len(found.times))
    if at is None:
        return np.array([found.points(body, frame).mean(axis=0, dtype=float) for frame in frames])
    place = np.asarray(at, dtype=float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise InputError("a place has three finite numbers", where=where, value=at, allowed="(x, y, z) [m]")
    nearest = int(np.argmin(np.linalg.norm(found.points(body, 0) - place, axis=1)))
    return np.array([found.points(body, frame)[nearest] for frame in frames], dtype=float)
