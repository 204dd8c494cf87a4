"""Energies of a run over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from supple.exports.export import trajectory_of
from supple.exports.plot.paper import CURVES, INK, make_figure
from supple.record.reader import Trajectory
from supple.record.run_result import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def energies(run: Run | Trajectory | str | Path) -> Figure:
    """Kinetic, potential and total energy [J] of a run, its record or its folder, over time [s].

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81), name="fall")
    >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=1000))
    >>> figure = sp.plot.energies(sp.run(scene, until=0.2))
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['kinetic', 'potential', 'total']
    """
    found = trajectory_of(run, where="plot.energies")
    if isinstance(run, Run):  # which knows them at all frames, where memory holds fewer pictures
        t, kinetic, potential = run.energies
    else:
        t, kinetic, potential = (found.columns[name] for name in ("time", "kinetic", "potential"))
    figure, (axes,) = make_figure(title=f"{found.name}: energies")
    axes.plot(t, kinetic, color=CURVES[0], label="kinetic")
    axes.plot(t, potential, color=CURVES[1], label="potential")
    axes.plot(t, kinetic + potential, color=INK, linewidth=1.8, label="total")
    axes.set(xlabel="time [s]", ylabel="energy [J]")
    axes.legend(frameon=False)
    return figure
