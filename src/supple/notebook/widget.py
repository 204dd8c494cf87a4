"""The widget: the canvas in a notebook. All that it draws with is sent packed by gzip; nothing is fetched."""

from __future__ import annotations

import gzip
from pathlib import Path

import anywidget
import traitlets

from supple.exports.html import canvas_js, three_js
from supple.notebook.film import Film


class CanvasWidget(anywidget.AnyWidget):
    """Draws a film. three, canvas: the modules that draw; header, data: see `Header`; times [s], frames: of the film;
    height: in pixels. All bytes are packed."""

    _esm = Path(__file__).parent / "widget.js"
    three = traitlets.Bytes().tag(sync=True)
    canvas = traitlets.Bytes().tag(sync=True)
    header = traitlets.Dict().tag(sync=True)
    data = traitlets.Bytes().tag(sync=True)
    times = traitlets.List(traitlets.Float()).tag(sync=True)
    frames = traitlets.Bytes().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    @classmethod
    def of(cls, film: Film, height: int) -> CanvasWidget:
        """The widget of a film."""
        return cls(
            three=packed(three_js().read_bytes()),
            canvas=packed(canvas_js().read_bytes()),
            header=film.header.about,
            data=packed(film.header.data),
            times=film.times,
            frames=packed(film.frames),
            height=height,
        )


def packed(data: bytes) -> bytes:
    """By gzip, always to the same bytes."""
    return gzip.compress(data, 6, mtime=0)
