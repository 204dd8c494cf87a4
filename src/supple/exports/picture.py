"""Pictures: a shaded view of all bodies and obstacles at a few moments, with the energies beneath; needs no display
and no GL.

Earlier moments are faint and stand behind, the last one is solid and casts a shadow straight down.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.exports.camera import Camera
from supple.exports.canvas import reduced
from supple.exports.fields import Colouring
from supple.exports.layers import Place, Sheet, save_png
from supple.exports.view import ARROW, FAINT_INK, INK, View
from supple.material.colour import PALETTE
from supple.record.reader import Trajectory

Array = np.ndarray
SIZE = (1170, 1040)
"""Of a picture [pixels]."""
MOMENTS = 4
MAX_LOOKED_AT = 60
"""Frames, when moments are chosen."""
FAINTEST, FAINTER = 0.14, 0.36
"""Opacities of the first moment and of the last but one."""
VIEW, VIEW_ALONE = (0.03, 0.29, 0.94, 0.61), (0.03, 0.03, 0.94, 0.87)
PLOT = (0.085, 0.075, 0.785, 0.185)
SCALE = (0.7, 0.935, 0.25, 0.016)
NAMES = 8
"""Bodies that are named at most."""


def save_picture(
    trajectory: Trajectory,
    path: Path,
    frames: Sequence[int] | None = None,
    *,
    contacts: bool = False,
    colour: str | None = None,
) -> None:
    """A PNG of the given frames, or of a few moments from the first to the last; on request with forces of contacts, or
    in the colours of a field, see `supple.exports.fields`."""
    chosen = choose_moments(trajectory) if frames is None else sorted(set(frames))
    has_energies = len(trajectory.times) > 1
    place = Place.of(SIZE, VIEW if has_energies else VIEW_ALONE)
    tint = None if colour is None else Colouring.of(trajectory, colour, chosen)
    view = View(trajectory, tuple(chosen), Camera(), tint)
    base = Sheet(SIZE, background="white")
    times = ", ".join(f"{trajectory.times[k]:.3g}" for k in chosen)
    draw_titles(base.figure, trajectory.name, f"t = {times} s", view)
    if tint is not None:
        tint.draw_scale(base.figure, SCALE)
    if has_energies:
        draw_energies(base.figure.add_axes(PLOT), trajectory, chosen)
    over = Sheet(SIZE)
    if contacts:
        largest = view.draw_contacts(trajectory.contacts(chosen[-1]), over.plane(place, view.window(place)))
        if largest:
            base.figure.text(0.04, 0.905, f"contact forces up to {largest:.3g} N", fontsize=9.5, color=ARROW, va="top")
    picture = draw_moments(view, base, place)
    if contacts:
        over.lay(picture)
    save_png(reduced(picture), path)


def draw_moments(view: View, base: Sheet, place: Place) -> Array:
    """The ground at a place of a sheet with the view's moments upon it, all but the last faint; the finer picture."""
    axes = base.plane(place, view.window(place))
    view.draw_walls(axes)
    view.draw_ground(axes)
    picture = base.pixels()[..., :3].copy()
    part, last = place.of_picture(picture), len(view.frames) - 1
    for order, frame in enumerate(view.frames[:-1]):
        view.lay_moment(part, frame, opacity=FAINTEST + (FAINTER - FAINTEST) * order / max(last - 1, 1))
    view.lay_moment(part, view.frames[-1])
    return picture


def choose_moments(trajectory: Trajectory) -> list[int]:
    """First, last and a few frames between, evenly along the way that the points go."""
    last = len(trajectory.times) - 1
    looked_at = np.unique(np.linspace(0, last, min(last + 1, MAX_LOOKED_AT)).astype(int))
    way = np.zeros(len(looked_at))
    before: Array | None = None
    for k, frame in enumerate(looked_at):
        points = np.concatenate([trajectory.points(body, int(frame)) for body in trajectory.body_names])
        if before is not None:
            way[k] = way[k - 1] + float(np.sqrt(np.mean((points - before) ** 2)))
        before = points
    if way[-1] == 0:
        way = trajectory.times[looked_at]
    wanted = np.linspace(way[0], way[-1], MOMENTS)
    nearest = {int(looked_at[np.argmin(np.abs(way - w))]) for w in wanted}
    return sorted(nearest | {0, last})


def draw_energies(axes: Any, trajectory: Trajectory, frames: Sequence[int]) -> None:
    """Kinetic and potential energy over time, the latter from its start, their sum, and the moments of the
    view.
    """
    columns, t = trajectory.columns, trajectory.times
    kinetic, potential = columns["kinetic"], columns["potential"] - columns["potential"][0]
    for k in frames:
        axes.axvline(t[k], color="#d5d9de", linewidth=1.0, zorder=0)
    series = (("kinetic", kinetic, PALETTE[1], 1.6), ("potential", potential, PALETTE[0], 1.6))
    for label, values, colour, width in (*series, ("total", kinetic + potential, INK, 1.8)):
        axes.plot(t, values, color=colour, linewidth=width, label=label, solid_capstyle="round")
    axes.set_xlim(t[0], t[-1])
    axes.set_xlabel("time [s]", fontsize=9, color=INK)
    axes.set_title("energy [J], the potential from its start", fontsize=9, color=INK, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9, labelcolor=INK)
    axes.tick_params(labelsize=8, colors=INK, length=3)
    axes.grid(axis="y", color="#eceef1", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_titles(figure: Any, title: str, moments: str, view: View) -> None:
    """Name and moments at the top left, the bodies at the top right, each in the colour that most of it has, where they
    are in their own colours."""
    figure.text(0.04, 0.965, title, fontsize=14, color=INK, weight="bold", va="top")
    figure.text(0.04, 0.93, moments, fontsize=9.5, color=FAINT_INK, va="top")
    if view.tint is not None:
        return
    colours = view.main_colours
    for index, (name, own) in enumerate(list(colours.items())[:NAMES]):
        y = 0.962 - 0.026 * index
        figure.text(0.945, y, name, fontsize=9.5, color=INK, ha="right", va="top")
        figure.text(0.953, y, "\u25cf", fontsize=11, color=own, ha="left", va="top")
    if len(colours) > NAMES:
        more = f"and {len(colours) - NAMES} more"
        figure.text(0.945, 0.962 - 0.026 * NAMES, more, fontsize=9, color=FAINT_INK, ha="right", va="top")
