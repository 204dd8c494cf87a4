"""Figures of validation cases: made by matplotlib without a display, saved as PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supple.errors import MissingExtraError

INK, GREY = "#222222", "#8a8a8a"
COLOURS = ("#1f6fb4", "#d1495b", "#2a9d5c", "#e09f3e")
DPI = 150


def make_figure(
    width: float, height: float, *, rows: int = 1, columns: int = 1, heights: Sequence[float] | None = None
) -> tuple[Any, Any]:
    """A figure of so many inches, and its axes, (rows, columns); MissingExtraError without matplotlib.

    heights: of the rows, relative to each other.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("render", needed_for="a picture") from error
    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False, height_ratios=heights)
    for ax in axes.ravel():
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=9, color=GREY)
    return figure, axes


def save_figure(figure: Any, path: Path) -> None:
    """Write a PNG."""
    figure.savefig(path, format="png")
