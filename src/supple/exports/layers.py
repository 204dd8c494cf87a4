"""Layers: sheets of one size, each drawn by matplotlib without a display, laid upon each other and reduced.

A faint moment is a sheet laid with an opacity of its own, so that its triangles do not shine through each
other. Sheets are drawn at twice the size and reduced.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import MissingExtraError

Array = np.ndarray
SIZE, DPI, FINER = (9.0, 8.0), 130, 2


class Sheet:
    """A figure of the picture's size; `figure` is matplotlib's."""

    def __init__(self, *, background: str = "none") -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("render", needed_for="a picture") from error
        self.figure: Any = Figure(figsize=SIZE, dpi=DPI * FINER, facecolor=background)
        self.canvas = FigureCanvasAgg(self.figure)

    def plane(self, place: tuple[float, float, float, float], low: Array, high: Array) -> Any:
        """Axes without a frame at a place of the sheet, one scale for both directions, that show low..high."""
        axes = self.figure.add_axes(place)
        workspace = np.array([place[2] * SIZE[0], place[3] * SIZE[1]])
        half = workspace * ((high - low) / workspace).max() / 2
        (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
        axes.set(xlim=(left, right), ylim=(bottom, top))
        axes.set_axis_off()
        return axes

    def pixels(self) -> Array:
        """The drawn sheet, (height, width, 4)."""
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba()).copy()


def lay(sheets: list[tuple[Sheet, float]], path: Path) -> None:
    """Lay sheets with their opacities upon each other, the first at the bottom, and save a PNG."""
    from PIL import Image

    picture = None
    for sheet, opacity in sheets:
        pixels = sheet.pixels()
        if opacity < 1:
            pixels[..., 3] = (pixels[..., 3] * opacity).astype(np.uint8)
        layer = Image.fromarray(pixels)
        picture = layer if picture is None else Image.alpha_composite(picture, layer)
    assert picture is not None
    size = (picture.width // FINER, picture.height // FINER)
    picture.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(path, format="PNG", optimize=True)
