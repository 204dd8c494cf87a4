"""The header: all that the canvas must know before the first frame, as JSON and bytes.

    {"version", "name", "up", "box", "outline", "ground", "frame", "models": [...], "shapes": [...]}

A shape is {"name", "kind", "form", ...}; arrays are told by their places in the bytes, see `Pack`. A model is what
carried shapes that are copies of each other share, as a hundred equal boxes or two equal trees: all but their names and
colours; shapes tell its number, and are drawn together. box (2, 3) [m] is
where things are, by which the picture is framed; outline (n, 3) [m]: points between which all lies, where the corners
of the box are too far out, or null; ground (4,) normal and offset [m] of a plane, or null;
frame: bytes of a frame. closed: whether nobody outside sees the back of a triangle, so that backs are not drawn; of
points that are sent, where their triangles face outward, which the canvas sees.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.algebra.dense.rotations import cross
from supple.bodies.carried import Carriers
from supple.canvas.frames import frame_size
from supple.canvas.pack import Pack
from supple.canvas.shapes import CarriedShape, PointsShape, Shape
from supple.geometry.surfaces.surface_edges import count_edges

Array = np.ndarray
VERSION = 2


@dataclass(frozen=True, eq=False)
class Header:
    """about: what JSON holds. data: the bytes that it tells places in."""

    about: dict[str, Any]
    data: bytes


def make_header(
    name: str,
    shapes: Sequence[Shape],
    box: Array,
    ground: Sequence[float] | None = None,
    up: Sequence[float] = (0, 0, 1),
    outline: Array | None = None,
) -> Header:
    """Of shapes, in the order in which frames hold them. box (2, 3) [m]; ground: normal and offset [m] of a plane;
    outline (n, 3) [m]: see above."""
    pack = Pack()
    models: dict[str, int] = {}  # as JSON: places of arrays that are the same are the same
    told = [_of_points(s, pack) if isinstance(s, PointsShape) else _of_carried(s, pack, models) for s in shapes]
    about = {
        "version": VERSION,
        "name": name,
        "up": [float(value) for value in up],
        "box": np.asarray(box, dtype=float).tolist(),
        "outline": None if outline is None else np.round(outline, 6).tolist(),
        "ground": None if ground is None else [float(value) for value in ground],
        "frame": frame_size(shapes),
        "models": [json.loads(model) for model in models],
        "shapes": told,
    }
    return Header(about, pack.data)


def _of_points(shape: PointsShape, pack: Pack) -> dict[str, Any]:
    triangles, copies, colours = split_by_colour(shape)
    return {
        "name": shape.name,
        "kind": shape.kind,
        "form": "points",
        "count": shape.count,
        "balls": shape.is_balls,
        "closed": is_closed(shape.triangles),
        "copies": pack.add_numbers(copies),
        "colours": pack.add(_bytes(colours), "u1"),
        "triangles": pack.add_numbers(triangles),
        "lines": pack.add_numbers(shape.lines),
    }


def split_by_colour(shape: PointsShape) -> tuple[Array, Array, Array]:
    """Triangles (t, 3) in which each corner has one colour: of the points, and of copies of some. copies (c,): numbers
    of the points that are drawn again; colours (n + c, 3), or (1, 3) of all."""
    n, none = shape.count, np.zeros(0, dtype=np.int64)
    if len(shape.colours) != len(shape.triangles) or len(shape.colours) <= 1:
        return shape.triangles, none, shape.colours[:1]
    tints, tint = np.unique(_bytes(shape.colours), axis=0, return_inverse=True)
    corners = np.stack([shape.triangles.ravel(), np.repeat(tint.ravel(), 3)], axis=1)
    pairs, place = np.unique(corners, axis=0, return_inverse=True)
    is_first = np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 0]])
    copies = pairs[~is_first, 0]
    number = np.where(is_first, pairs[:, 0], n - 1 + np.cumsum(~is_first))
    colours = np.zeros((n + len(copies), 3))
    colours[number] = tints[pairs[:, 1]] / 255
    return number[place.ravel()].reshape(-1, 3), copies, colours


def _of_carried(shape: CarriedShape, pack: Pack, models: dict[str, int]) -> dict[str, Any]:
    model = json.dumps(_model_of(shape.carriers, pack))
    told = {} if shape.parents is None else {"parents": pack.add_numbers(shape.parents + 1)}  # 0: on none
    return told | {
        "name": shape.name,
        "kind": shape.kind,
        "form": "carried",
        "model": models.setdefault(model, len(models)),
        "colours": pack.add(_bytes(shape.colours), "u1"),
    }


def _model_of(c: Carriers, pack: Pack) -> dict[str, Any]:
    told = {} if c.weights is None else {"weights": pack.add(c.weights, "f4")}
    if c.faces is not None:
        told["faces"] = pack.add_numbers(c.faces)
    return told | {
        "kinds": [
            {
                "points": len(kind.X),
                "modes": kind.U.shape[2],
                "X": pack.add(kind.X, "f4"),
                "U": pack.add_scaled(kind.U.reshape(3 * len(kind.X), kind.U.shape[2])),
                "triangles": pack.add_numbers(triangles),
            }
            for kind, triangles in zip(c.kinds, seen_triangles(c))
        ],
        "closed": c.faces is None and all(is_closed(k.triangles) and holds_space(k.X, k.triangles) for k in c.kinds),
        "kind_of": pack.add_numbers(c.kind),
        "scale": pack.add(c.scale, "f4"),
        "seams": pack.add_numbers(c.seams),
        "groups": pack.add_numbers(c.group_start),
    }


def is_closed(triangles: Array) -> bool:
    """Whether nobody outside sees the back of a triangle (t, 3): each edge has two, which agree on what is outside."""
    if not len(triangles):
        return False
    edges = count_edges(triangles)
    return edges.is_closed and edges.is_oriented


def holds_space(X: Array, triangles: Array) -> bool:
    """Whether the triangles of a closed surface face outward."""
    return float(np.einsum("ki,ki->", X[triangles[:, 0]], cross(X[triangles[:, 1]], X[triangles[:, 2]]))) > 0.0


def seen_triangles(carriers: Carriers) -> list[Array]:
    """Of each kind, the triangles (t, 3) that are not hidden in all its copies: copies are drawn alike, and what is
    hidden in some lies inside; none where faces cross from domain to domain."""
    if carriers.faces is not None:
        return [kind.triangles[:0] for kind in carriers.kinds]
    counts = np.array([len(k.triangles) for k in carriers.kinds])
    starts = np.concatenate([[0], np.cumsum(counts[carriers.kind])])
    hidden = np.zeros(int(starts[-1]), dtype=bool)
    hidden[carriers.hidden] = True
    seen = [np.zeros(count, dtype=bool) for count in counts]
    for domain, kind in enumerate(carriers.kind):
        seen[kind] |= ~hidden[starts[domain] : starts[domain + 1]]
    return [kind.triangles[is_seen] for kind, is_seen in zip(carriers.kinds, seen)]


def _bytes(colours: Array) -> Array:
    return np.rint(255 * np.clip(np.asarray(colours, dtype=float), 0.0, 1.0)).astype(np.uint8)
