"""A run as one page that plays by itself in a browser, without a server or a network.

The page holds the canvas, three.js (as nicegui carries it, MIT), the header and all frames, each packed by gzip.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from html import escape
from importlib.util import find_spec
from pathlib import Path

from supple.canvas import encode_frame, make_header
from supple.errors import MissingExtraError
from supple.exports.staging import Staging
from supple.record.reader import Trajectory

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


def save_html(trajectory: Trajectory, path: Path, frames: list[int] | None = None) -> None:
    """Write the page; frames: numbers of those that it plays, by default all."""
    chosen = list(range(len(trajectory.times))) if frames is None else frames
    staging = Staging(trajectory, chosen)
    header = make_header(trajectory.name, staging.shapes, staging.box, trajectory.ground)
    steps, times = trajectory.columns["step"], trajectory.times
    encoded = [
        encode_frame(staging.shapes, staging.rows(frame), number, int(steps[frame]), float(times[frame]))
        for number, frame in enumerate(chosen)
    ]
    told = {"canvas": header.about, "times": [float(times[frame]) for frame in chosen]}
    parts = {
        "TITLE": escape(trajectory.name),
        "LICENCE": LICENCE,
        "THREE": _packed(three_js().read_bytes()),
        "CANVAS": _packed(canvas_js().read_bytes()),
        "HEADER": json.dumps(told, allow_nan=False).replace("<", "\\u003c"),
        "DATA": _packed(header.data),
        "FRAMES": _packed(b"".join(encoded)),
    }
    page = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace(f"__{name}__", text)
    path.write_text(page, encoding="utf-8")


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
