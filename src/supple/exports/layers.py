"""Sheets: what matplotlib draws of a picture, without a display: titles, the ground's grid, curves, arrows."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.errors import MissingExtraError
from supple.exports.canvas import FINER, Window

Array = np.ndarray
DPI = 130


class Place(NamedTuple):
    """A part of a picture: left, top, width, height [pixels of the finer picture]."""

    left: int
    top: int
    width: int
    height: int

    @classmethod
    def of(cls, size: tuple[int, int], part: tuple[float, float, float, float]) -> Place:
        """A part of a picture of a size (width, height): left, bottom, width, height, each 0 to 1."""
        width, height = FINER * size[0], FINER * size[1]
        left, bottom, w, h = part
        return cls(round(left * width), round((1 - bottom - h) * height), round(w * width), round(h * height))

    def of_picture(self, picture: Array) -> Array:
        """Its pixels, a view."""
        return picture[self.top : self.top + self.height, self.left : self.left + self.width]


class Sheet:
    """A figure of the picture's size (width, height) [pixels]; `figure` is matplotlib's. dpi: pixels an inch, by which
    texts are large."""

    def __init__(self, size: tuple[int, int], *, background: str = "none", dpi: float = DPI) -> None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise MissingExtraError("render", needed_for="a picture") from error
        inches = size[0] / dpi, size[1] / dpi
        self.size = size
        self.figure: Any = Figure(figsize=inches, dpi=dpi * FINER, facecolor=background)
        self.canvas = FigureCanvasAgg(self.figure)

    def plane(self, place: Place, window: Window) -> Any:
        """Axes without a frame at a place, that show the plane of a window [m]."""
        width, height = FINER * self.size[0], FINER * self.size[1]
        bottom = 1 - (place.top + place.height) / height
        axes = self.figure.add_axes((place.left / width, bottom, place.width / width, place.height / height))
        half = np.array(window.size) / window.scale / 2
        (left, low), (right, high) = (window.low + window.high) / 2 - half, (window.low + window.high) / 2 + half
        axes.set(xlim=(left, right), ylim=(low, high))
        axes.set_axis_off()
        return axes

    def pixels(self) -> Array:
        """The drawn sheet, (height, width, 4), 0 to 1."""
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba(), dtype=np.float32) / 255

    def lay(self, picture: Array) -> None:
        """Lay it upon a picture (height, width, 3), in place."""
        own = self.pixels()
        picture += own[..., 3:] * (own[..., :3] - picture)


def save_png(pixels: Array, path: Path) -> None:
    """Write bytes (height, width, 3) as a PNG."""
    from PIL import Image

    Image.fromarray(pixels).save(path, format="PNG", optimize=True)
