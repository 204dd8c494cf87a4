"""letters: a word of soft letters, held together by rigid bars, flying freely [BZ11, section 5].

The word reads along x and stands in z; its depth is along y. Letters and bars alternate in a chain, whose middle is the
root: between eight letters that is the fourth bar.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from supple.bodies.tree.domains.domain_tree import DomainTree
from supple.errors import InputError
from supple.examples.shapes.fields import Field, Part, fill
from supple.examples.shapes.labelled import Labelled
from supple.examples.shapes.stroke_font import strokes
from supple.geometry import TetMesh
from supple.material import Material

Array = np.ndarray
HEIGHT, DEPTH, PEN = 0.2, 0.042, 0.021  # [m]: of the centre lines; along y; radius of the pen
GAP = 0.024  # [m], between neighbouring letters where they are nearest
BAR = 0.0105  # [m], half the height of a bar
BITE = 0.012  # [m], how deep a bar reaches into a letter
CELL = 0.0098  # [m]
MODES = 20
RUBBER = Material(young=1e6, poisson=0.45, density=1000, stiffness_damping=0.002, name="letter", colour="#e0705a")
STEEL = Material(young=2e9, poisson=0.3, density=1000, name="bar", colour="#8a929c")
HEIGHTS = np.linspace(0.0, 1.0, 41)  # where a bar may be, in parts of the height


def letters_mesh(text: str = "EIGHTLTR", cell: float = CELL) -> tuple[TetMesh, Array, tuple[str, ...]]:
    """The whole word, the number of its domain for each tet (m,), and their names. cell: of the lattice [m]."""
    whole = _fill(text, cell)
    return whole.mesh, whole.labels, whole.names


def letters(text: str = "EIGHTLTR", *, modes: int = MODES, cell: float = CELL) -> DomainTree:
    """A chain of letters with `modes` coordinates each, between rigid bars. cell: size of the lattice [m].

    >>> letters("HI", cell=0.012).coordinate_count
    40
    """
    whole = _fill(text, cell)
    is_bar = [name.startswith("bar") for name in whole.names]
    return whole.cut([0 if bar else modes for bar in is_bar], [STEEL if bar else RUBBER for bar in is_bar])


@lru_cache(maxsize=2)
def _fill(text: str, cell: float) -> Labelled:
    """The labelled whole, the middle of the chain first."""
    if not text:
        raise InputError("there is no letter", where="letters", value=text)
    chain = _chain(text)
    middle = len(chain) // 2
    order = sorted(range(len(chain)), key=lambda k: abs(k - middle))
    parts = []
    for k in order:
        toward = k + int(np.sign(middle - k))
        name, field, lower, upper = chain[k]
        parts.append(Part(name, "" if k == middle else chain[toward][0], field, lower, upper))
    return fill(parts, cell)


def _chain(text: str) -> list[tuple[str, Field, Array, Array]]:
    """Letters and bars from left to right: name, field and box. The word is centred at the origin."""
    lines = [[HEIGHT * line for line in strokes(character)] for character in text]
    places = [0.0]
    for before, after in pairwise(lines):
        places.append(places[-1] + _advance(before, after))
    width = places[-1] + max(line[:, 0].max() for line in lines[-1])
    shift = np.array([-width / 2, -HEIGHT / 2])
    placed = [[line + shift + (x, 0.0) for line in letter] for letter, x in zip(lines, places)]
    chain: list[tuple[str, Field, Array, Array]] = []
    for k, (character, letter) in enumerate(zip(text, placed)):
        if k:
            bar = _bar(placed[k - 1], letter, shift[1])
            chain.append((f"bar {k}", *bar))
        chain.append((f"{character.upper()} {k + 1}", *_letter(letter)))
    return chain


def _letter(lines: list[Array]) -> tuple[Field, Array, Array]:
    def field(x: Array) -> Array:
        return np.maximum(_distance(lines, x[:, [0, 2]]) - PEN, np.abs(x[:, 1]) - DEPTH / 2)

    corners = np.concatenate(lines)
    (x0, z0), (x1, z1) = corners.min(axis=0) - PEN, corners.max(axis=0) + PEN
    return field, np.array([x0, -DEPTH / 2, z0]), np.array([x1, DEPTH / 2, z1])


def _bar(left: list[Array], right: list[Array], base: float) -> tuple[Field, Array, Array]:
    """A bar along x at the height where the letters are nearest, as near to the middle of them as may be."""
    start, stop = _reach(left, 1, base), _reach(right, -1, base)
    workspace = np.where(np.isfinite(stop - start), stop - start, np.inf)
    best = np.argmin(workspace + 0.02 * HEIGHT * np.abs(HEIGHTS - 0.5))
    x0, x1 = start[best] + PEN - BITE, stop[best] - PEN + BITE
    z = base + HEIGHT * HEIGHTS[best]
    centre, half = np.array([(x0 + x1) / 2, 0.0, z]), np.array([(x1 - x0) / 2, BAR * 1.3, BAR])

    def field(x: Array) -> Array:
        return (np.abs(x - centre) - half).max(axis=1)

    return field, centre - half, centre + half


def _advance(before: list[Array], after: list[Array]) -> float:
    """How far right of a letter the next one starts [m], so that the gap between them is `GAP` where it is least."""
    p, q = _samples(before), _samples(after)
    up = p[:, None, 1] - q[None, :, 1]
    apart = (GAP + 2 * PEN) ** 2 - up**2
    start = p[:, None, 0] - q[None, :, 0] + np.sqrt(np.maximum(apart, 0.0))
    return float(start[apart > 0].max())


def _samples(lines: list[Array]) -> Array:
    """Points along the centre lines, (n, 2)."""
    t = np.linspace(0.0, 1.0, 41)[:, None]
    return np.concatenate([a + t * (b - a) for line in lines for a, b in pairwise(line)])


def _reach(lines: list[Array], side: int, base: float) -> Array:
    """How far the centre lines reach to the right (1) or left (-1) at `HEIGHTS` [m]; not finite where none is."""
    found = np.full(len(HEIGHTS), -side * np.inf)
    points = _samples(lines)
    row = np.rint((points[:, 1] - base) / HEIGHT * (len(HEIGHTS) - 1)).astype(int).clip(0, len(HEIGHTS) - 1)
    (np.maximum if side > 0 else np.minimum).at(found, row, points[:, 0])
    return found


def _distance(lines: list[Array], q: Array) -> Array:
    """Distance of points (n, 2) from the nearest centre line [m]."""
    least = np.full(len(q), np.inf)
    for line in lines:
        for a, b in pairwise(line):
            edge = b - a
            t = np.clip((q - a) @ edge / max(edge @ edge, 1e-30), 0.0, 1.0)
            np.minimum(least, np.linalg.norm(q - a - t[:, None] * edge, axis=1), out=least)
    return least
