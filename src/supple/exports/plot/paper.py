"""Paper: empty figures that all look alike, and colours that tell curves apart."""

from __future__ import annotations

from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from supple.errors import MissingExtraError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, WARNING = "#23272d", "#c9ced5", "#b3261e"
CURVES = ("#2f6fb3", "#c8641b", "#2e7d4f", "#a03a73", "#6a56b8", "#8a7112", "#1f7f90", "#855239")
"""One after another: each has a contrast of at least 3 with white."""
SIZE = (6.4, 4.0)
"""Width and height of a figure [inches]."""


def make_figure(rows: int = 1, *, title: str = "") -> tuple[Figure, list[Any]]:
    """A figure with rows of axes that share their x; pictures of it are drawn without a display."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("render", needed_for="a plot") from error
    figure = Figure(figsize=(SIZE[0], SIZE[1] if rows == 1 else 1.0 + 1.5 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])
    for one in axes:
        one.grid(color=FAINT, linewidth=0.6)
        one.set_axisbelow(True)
        one.spines[["top", "right"]].set_visible(False)
    if title:
        axes[0].set_title(title, color=INK)
    return figure, axes


def colours(count: int) -> list[str]:
    """So many, again from the first one where they end."""
    return list(islice(cycle(CURVES), count))
