"""A font of strokes: capitals and digits as centre lines in a box of height 1, for a round pen."""

from __future__ import annotations

import numpy as np

from supple.errors import InputError

Array = np.ndarray
Stroke = list[tuple[float, float]]
W = 0.62  # width of most letters


def _arc(x: float, y: float, rx: float, ry: float, start: float, stop: float) -> Stroke:
    """A part of an ellipse, angles in degrees from the x axis."""
    angle = np.radians(np.linspace(start, stop, max(4, int(abs(stop - start) / 15)) + 1))
    return [(x + rx * float(np.cos(a)), y + ry * float(np.sin(a))) for a in angle]


def _bowl(low: float, high: float, reach: float) -> Stroke:
    """A half round to the right between two heights, from the stem at x = 0."""
    r = (high - low) / 2
    return [(0.0, high), *_arc(reach - r, (low + high) / 2, r, r, 90, -90), (0.0, low)]


_STEM = [(0.0, 0.0), (0.0, 1.0)]
_RING = _arc(W / 2, 0.5, W / 2, 0.5, 0, 360)
_GLYPHS: dict[str, list[Stroke]] = {
    "A": [[(0, 0), (W / 2, 1), (W, 0)], [(0.15 * W / 0.5 / 2, 0.3), (W - 0.15 * W / 0.5 / 2, 0.3)]],
    "B": [_STEM, _bowl(0.52, 1.0, 0.52), _bowl(0.0, 0.52, 0.6)],
    "C": [_arc(W / 2, 0.5, W / 2, 0.5, 50, 310)],
    "D": [_STEM, [(0, 1), (0.2, 1), *_arc(0.2, 0.5, W - 0.2, 0.5, 90, -90), (0, 0)]],
    "E": [_STEM, [(0, 1), (0.52, 1)], [(0, 0.5), (0.44, 0.5)], [(0, 0), (0.52, 0)]],
    "F": [_STEM, [(0, 1), (0.52, 1)], [(0, 0.52), (0.44, 0.52)]],
    "G": [[*_arc(W / 2, 0.5, W / 2, 0.5, 50, 340), (W, 0.45)], [(W, 0.45), (W * 0.55, 0.45)]],
    "H": [_STEM, [(0.55, 0), (0.55, 1)], [(0, 0.5), (0.55, 0.5)]],
    "I": [_STEM],
    "J": [[(0.42, 1), (0.42, 0.21), *_arc(0.21, 0.21, 0.21, 0.21, 0, -180)]],
    "K": [_STEM, [(0.55, 1), (0, 0.42)], [(0.2, 0.62), (0.55, 0)]],
    "L": [_STEM, [(0, 0), (0.5, 0)]],
    "M": [[(0, 0), (0, 1), (0.36, 0.35), (0.72, 1), (0.72, 0)]],
    "N": [[(0, 0), (0, 1), (0.56, 0), (0.56, 1)]],
    "O": [_RING],
    "P": [_STEM, _bowl(0.45, 1.0, 0.56)],
    "Q": [_RING, [(0.36, 0.3), (0.62, 0)]],
    "R": [_STEM, _bowl(0.47, 1.0, 0.54), [(0.24, 0.47), (0.56, 0)]],
    "S": [[*_arc(0.27, 0.75, 0.27, 0.25, 30, 270), *_arc(0.27, 0.25, 0.27, 0.25, 90, -150)]],
    "T": [[(0, 1), (0.6, 1)], [(0.3, 0), (0.3, 1)]],
    "U": [[(0, 1), (0, 0.28), *_arc(0.28, 0.28, 0.28, 0.28, 180, 360), (0.56, 1)]],
    "V": [[(0, 1), (W / 2, 0), (W, 1)]],
    "W": [[(0, 1), (0.2, 0), (0.42, 0.75), (0.64, 0), (0.84, 1)]],
    "X": [[(0, 0), (0.56, 1)], [(0, 1), (0.56, 0)]],
    "Y": [[(0, 1), (0.3, 0.5), (0.6, 1)], [(0.3, 0.5), (0.3, 0)]],
    "Z": [[(0, 1), (0.54, 1), (0, 0), (0.54, 0)]],
    "0": [_arc(0.25, 0.5, 0.25, 0.5, 0, 360)],
    "1": [[(0, 0.75), (0.22, 1), (0.22, 0)]],
    "2": [[*_arc(0.26, 0.74, 0.26, 0.26, 170, -30), (0, 0), (0.54, 0)]],
    "3": [[*_arc(0.25, 0.76, 0.24, 0.24, 150, -90), *_arc(0.25, 0.26, 0.27, 0.26, 90, -150)]],
    "4": [[(0.4, 0), (0.4, 1), (0, 0.3), (0.56, 0.3)]],
    "5": [[(0.48, 1), (0.06, 1), (0.03, 0.55), *_arc(0.24, 0.31, 0.27, 0.31, 115, -140)]],
    "6": [_arc(0.26, 0.28, 0.26, 0.28, 0, 360), [(0, 0.28), (0.08, 0.65), (0.38, 1)]],
    "7": [[(0, 1), (0.52, 1), (0.16, 0)]],
    "8": [_arc(0.26, 0.77, 0.22, 0.23, 0, 360), _arc(0.26, 0.27, 0.27, 0.27, 0, 360)],
    "9": [_arc(0.26, 0.72, 0.26, 0.28, 0, 360), [(0.52, 0.72), (0.44, 0.35), (0.14, 0)]],
}


def strokes(character: str) -> list[Array]:
    """Centre lines of a character, polylines (n, 2) in units of the height; small letters are drawn as capitals.

    >>> [line.tolist() for line in strokes("I")]
    [[[0.0, 0.0], [0.0, 1.0]]]
    """
    found = _GLYPHS.get(character.upper())
    if found is None:
        raise InputError("the font has no such character", value=character, allowed="A to Z, 0 to 9")
    return [np.array(line, dtype=float) for line in found]
