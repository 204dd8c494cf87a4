"""The small pictures of built-in scenes that the studio's page of things to open shows.

    python tools/studio/thumbnails.py               makes those that are missing
    python tools/studio/thumbnails.py oak garden    makes these anew

Each example runs for a short time and is drawn by the package's own renderer. Pictures lie in the package, as WebP.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from supple.examples import Example, registry
from supple.exports.camera import Camera
from supple.exports.canvas import reduced
from supple.exports.layers import Place, Sheet
from supple.exports.picture import draw_moments
from supple.exports.view import View
from supple.running import run
from supple.studio.shelf.shelf import THUMBNAILS

SIZE = (288, 192)
"""Pixels, three to two."""
QUALITY = 80
SECONDS = 0.5
"""Simulated time after which an example is drawn [s]."""


def picture_of(example: Example) -> np.ndarray:
    """What an example looks like after a while, (height, width, 3) of bytes."""
    result = run(example.make(), until=min(SECONDS, example.until), progress=False)
    assert result.frames is not None
    view = View(result.frames, (len(result.frames.times) - 1,), Camera(), None)
    return reduced(draw_moments(view, Sheet(SIZE, background="white"), Place.of(SIZE, (0.0, 0.0, 1.0, 1.0))))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Make the thumbnails of built-in scenes.")
    parser.add_argument("names", nargs="*", metavar="EXAMPLE")
    given, known = parser.parse_args(), registry()
    if unknown := set(given.names) - set(known):
        parser.error(f"unknown examples: {', '.join(sorted(unknown))}")
    THUMBNAILS.mkdir(exist_ok=True)
    missing = [name for name in known if not path_of(name).is_file()]
    for name in given.names or missing:
        Image.fromarray(picture_of(known[name])).save(path_of(name), quality=QUALITY, method=6)
        print(f"{name}: {path_of(name).stat().st_size} bytes", file=sys.stderr, flush=True)
    print(f"in all {sum(path.stat().st_size for path in THUMBNAILS.glob('*.webp'))} bytes", file=sys.stderr)


def path_of(name: str) -> Path:
    """Where the picture of an example lies."""
    return THUMBNAILS / f"{name}.webp"


if __name__ == "__main__":
    main()
