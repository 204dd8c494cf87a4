"""A run as one page that plays by itself in a browser, without a server or a network.

The page holds the canvas, three.js (as nicegui carries it, MIT), the header and all frames, each packed by gzip.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from html import escape
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from supple.canvas import encode_frame, make_header
from supple.errors import MissingExtraError, check_number
from supple.exports.staging import Staging
from supple.record.reader import Trajectory

Array = np.ndarray
CLOSE = 1e-3
"""Of the time between two frames: rounding of recorded times."""
THREE = Path("elements") / "scene" / "dist" / "index.js"
LICENCE = """The MIT License

Copyright © 2010-2025 three.js authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def save_html(
    trajectory: Trajectory,
    path: Path,
    frames: list[int] | None = None,
    *,
    fps: float | None = None,
    controls: bool = True,
) -> None:
    """Write the page. frames: numbers of those that it plays, by default all; fps: at most so many a second of the
    run; controls: whether it has a title and controls, or a button to play and pause alone, as part of another page."""
    chosen = choose_frames(trajectory.times, frames, fps)
    three = three_js().read_bytes()
    staging = Staging(trajectory, chosen)
    header = make_header(trajectory.name, staging.shapes, staging.box, trajectory.ground, outline=staging.outline)
    steps, times = trajectory.columns["step"], trajectory.times
    encoded = [
        encode_frame(staging.shapes, staging.rows(frame), number, int(steps[frame]), float(times[frame]))
        for number, frame in enumerate(chosen)
    ]
    told = {"canvas": header.about, "times": [float(times[frame]) for frame in chosen], "bare": not controls}
    parts = {
        "TITLE": escape(trajectory.name),
        "LICENCE": LICENCE,
        "THREE": _packed(three),
        "CANVAS": _packed(canvas_js().read_bytes()),
        "HEADER": json.dumps(told, allow_nan=False).replace("<", "\\u003c"),
        "DATA": _packed(header.data),
        "FRAMES": _packed(b"".join(encoded)),
    }
    page = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    path.write_text(re.sub("__([A-Z]+)__", lambda found: parts[found[1]], page), encoding="utf-8")


def choose_frames(times: Array, frames: list[int] | None = None, fps: float | None = None) -> list[int]:
    """Numbers of the frames to play, ascending. times (n,) [s]: of all; frames: of those to choose from, None: all;
    fps: at most so many a second, the last among them.

    >>> choose_frames(np.array([0.0, 0.1, 0.2, 0.3, 0.45]), fps=5)
    [0, 2, 4]
    """
    chosen = list(range(len(times))) if frames is None else sorted(set(frames))
    if fps is None:
        return chosen
    check_number(fps, name="fps", where="export to html", above=0.0)
    kept, apart = [chosen[0]], (1 - CLOSE) / fps
    for frame in chosen[1:-1]:
        if min(times[frame] - times[kept[-1]], times[chosen[-1]] - times[frame]) >= apart:
            kept.append(frame)
    return kept + chosen[1:][-1:]


def canvas_js() -> Path:
    """The ES module that draws."""
    import supple.canvas

    return Path(supple.canvas.__file__).parent / "web" / "canvas.js"


def three_js() -> Path:
    """The bundle with three.js that nicegui carries."""
    found = find_spec("nicegui")
    places = list(found.submodule_search_locations or []) if found is not None else []
    path = Path(places[0]) / THREE if places else None
    if path is None or not path.is_file():
        raise MissingExtraError("studio", needed_for="a page that plays a run")
    return path


def _packed(data: bytes) -> str:
    return b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")
