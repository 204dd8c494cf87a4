"""Vibration modes by number: frequencies, and modes that grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.errors import check_instance
from supple.exports.plot.paper import CURVES, INK, WARNING, make_figure
from supple.solvers.methods.modes import Modes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def modes(found: Modes) -> Figure:
    """Frequencies [Hz] of `vibration_modes` by number. Modes that grow have no frequency; they are crosses on a second
    scale, of their growth [1/s].

    >>> import supple as sp
    >>> scene = sp.Scene(name="beam")
    >>> body = sp.FemBody(sp.box_hexes((1, 0.1, 0.1), (8, 1, 1)), sp.Material(1e7, 0.3, 1000))
    >>> _ = scene.add(body, fix="x_min")
    >>> figure = sp.plot.modes(sp.vibration_modes(scene.compile(), 4))
    >>> figure.axes[0].get_ylabel()
    'frequency [Hz]'
    """
    check_instance(found, Modes, "modes of a scene", where="plot.modes", fix="Give vibration_modes(scene.compile()).")
    numbers = np.arange(1, len(found.frequencies) + 1)
    swings = found.growth == 0.0
    figure, (axes,) = make_figure(title=f"{found.system.name}: modes")
    axes.vlines(numbers[swings], 0.0, found.frequencies[swings], color=CURVES[0], linewidth=2.0)
    axes.plot(numbers[swings], found.frequencies[swings], "o", color=CURVES[0], label="frequency")
    for number, frequency in zip(numbers[swings], found.frequencies[swings]):
        axes.annotate(
            f"{frequency:.3g}", (number, frequency), (0, 5), textcoords="offset points", ha="center", color=INK
        )
    axes.set(xlabel="mode", ylabel="frequency [Hz]", xlim=(0.5, len(numbers) + 0.5), ylim=(0.0, None))
    axes.margins(y=0.12)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if not found.is_stable:
        beside = axes.twinx()
        beside.plot(numbers[~swings], found.growth[~swings], "x", color=WARNING, label="growth")
        beside.set_ylabel("growth [1/s]", color=WARNING)
        beside.set_ylim(0.0, None)
    return figure
