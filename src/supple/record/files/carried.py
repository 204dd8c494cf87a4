"""Surfaces of a record that frames carry: all their points are made again from a row of numbers a frame.

/supple/carried/<block>    of bodies whose block shows some of their points only (attribute `shown`: some), and of those
                           that show all but need few numbers a frame (all)
  points, modes            (kinds,): how many each kind has
  X, U                     of all kinds, flat, float32: rest positions [m] and how they follow coordinates
  corners, triangles       (kinds,) how many, and (t, 3) of all kinds, in the numbers of a kind's points
  kind, scale              (domains,)
  seams, groups, hidden    see `supple.bodies.carried.Carriers`
  weights, faces           float32 and (t, 3), likewise; of surfaces that have them
  parents, names           (domains,) number of the domain that each hangs on, -1: on none, and their names, a JSON
                           list as bytes; of trees
  colours                  (domains, 3) bytes: red, green, blue; of bodies that have colours
  values                   (frames, width) float32: frames of the domains, then their coordinates

So a record has the whole surface beside a coarser one that other programs open, and a page that plays it draws from
a few numbers a frame.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from supple.bodies.carried import Branches, CarriedKind, Carriers
from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Dataset, Group, check_dataset, check_group, plain_json, read_all, stored_rows

Array = np.ndarray
GROUP = "carried"
COUNTS = ("points", "modes", "corners", "kind", "seams", "groups", "hidden")
MOST_POINTS = 1 << 28
SHOWN, SOME, ALL = "shown", "some", "all"


def make_carried(
    own: Group, name: str, carriers: Carriers, *, is_thin: bool = True, colours: Array | None = None
) -> None:
    """What carries the surface of a block, and an empty table, in the group /supple of a record. is_thin: whether the
    block shows some of the points only; colours (t, 3): of the triangles, 0 to 1."""
    group = own.require_group(GROUP).create_group(name)
    group.attrs[SHOWN] = SOME if is_thin else ALL
    X, U, triangles = zip(*carriers.kinds)
    counts: dict[str, Any] = {
        "points": [len(x) for x in X],
        "modes": [u.shape[2] for u in U],
        "corners": [len(t) for t in triangles],
        "kind": carriers.kind,
        "seams": carriers.seams,
        "groups": carriers.group_start,
        "hidden": carriers.hidden,
    }
    for key, values in counts.items():
        group.create_dataset(key, data=np.asarray(values, dtype=np.int64))
    group.create_dataset("triangles", data=np.concatenate(triangles).astype(np.int64))
    for key, arrays in (("X", X), ("U", U)):
        group.create_dataset(key, data=np.concatenate([a.ravel() for a in arrays]).astype(np.float32))
    group.create_dataset("scale", data=np.asarray(carriers.scale, dtype=float))
    if carriers.weights is not None:
        group.create_dataset("weights", data=np.asarray(carriers.weights, dtype=np.float32))
    if carriers.faces is not None:
        group.create_dataset("faces", data=np.asarray(carriers.faces, dtype=np.int64))
    if carriers.branches is not None:
        group.create_dataset("parents", data=np.asarray(carriers.branches.parents, dtype=np.int64))
        text = json.dumps(list(carriers.branches.names), ensure_ascii=False).encode()
        group.create_dataset("names", data=np.frombuffer(text, dtype=np.uint8))
    if colours is not None:
        domains = np.zeros((len(carriers.kind), 3), dtype=np.uint8)
        domains[_domains(carriers)] = np.rint(255 * colours)  # a domain has one colour
        group.create_dataset("colours", data=domains)
    width = carriers.width
    group.create_dataset("values", (0, width), maxshape=(None, width), dtype="f4", chunks=(1, width))


def append_carried(own: GrowingGroup, block: str, first: int, values: Array) -> None:
    """Add what carries the surface of a block in frames from number `first` on, (k, width)."""
    own[GROUP][block].extend("values", first, len(values), values)


def carried_bytes(width: int, count: int) -> int:
    """So many rows take no more."""
    return 2 * 4 * width * count


def open_values(own: Group, name: str) -> Dataset | None:
    """The table of a block, None where nothing but its points is there."""
    if GROUP not in own or name not in check_group(own, GROUP):
        return None
    values = check_dataset(check_group(check_group(own, GROUP), name), "values", "f4")
    if values.ndim != 2 or values.shape[1] < 1:
        raise ValueError("the numbers that carry a surface are not a table")
    return values


def is_thin(own: Group, name: str) -> bool:
    """Whether a block shows some of the points only."""
    if open_values(own, name) is None:
        return False
    shown = check_group(check_group(own, GROUP), name).attrs.get(SHOWN, SOME)
    if shown not in (SOME, ALL):
        raise ValueError("which points of a carried surface are shown is not understood")
    return bool(shown == SOME)


def drop_carried(own: Group, name: str) -> None:
    """Forget what carries the surface of a block: its points alone are left."""
    if open_values(own, name) is not None:
        del own[GROUP][name]


def read_carriers(own: Group, name: str) -> Carriers:
    """What carries the surface of a block; each number of it is what it must be."""
    group = check_group(check_group(own, GROUP), name)
    points, modes, corners, kind, seams, groups, hidden = (
        read_all(check_dataset(group, key, "i8", ())) for key in COUNTS
    )
    X, U = (read_all(check_dataset(group, key, "f4", ())) for key in ("X", "U"))
    triangles, scale = (
        read_all(check_dataset(group, "triangles", "i8", (3,))),
        read_all(check_dataset(group, "scale", "f8", ())),
    )
    if not len(points) == len(modes) == len(corners) or min(map(_least, (points, modes, corners))) < 0:
        raise ValueError("the kinds of a carried surface are not understood")
    sizes = {"X": (3 * points, X), "U": (3 * points * modes, U), "triangles": (corners, triangles)}
    for key, (counts, values) in sizes.items():
        if max(map(int, counts), default=0) > MOST_POINTS or int(counts.sum()) != len(values):
            raise ValueError(f"'{key}' of a carried surface has {len(values)} values")
    if len(kind) != len(scale) or not _in_range(kind, len(points)):
        raise ValueError("the domains of a carried surface are of no kind")
    kinds = tuple(
        CarriedKind(x.reshape(-1, 3), u.reshape(len(x) // 3, 3, int(r)), t)
        for x, u, t, r in zip(*(_parts(counts, values) for counts, values in sizes.values()), modes)
    )
    if not all(_in_range(k.triangles, len(k.X)) for k in kinds):
        raise ValueError("a carried surface names points that it does not have")
    means, branches = _means(group, len(seams)), _branches(group, len(kind))
    found = Carriers(kinds, kind, scale, seams, groups, hidden, *means, branches)
    total = int(corners[kind].sum())
    if not (found.count <= MOST_POINTS and _in_range(seams, found.count) and _in_range(hidden, total)):
        raise ValueError("a carried surface names points that it does not have")
    if not len(groups) or groups[0] != 0 or groups[-1] != len(seams) or (np.diff(groups) < 1).any():
        raise ValueError("the seams of a carried surface are not in groups")
    if found.faces is not None and not _in_range(found.faces, found.count):
        raise ValueError("a carried surface names points that it does not have")
    return found


def _means(group: Group, seams: int) -> tuple[Array | None, Array | None]:
    """Weights and faces, where a surface has them."""
    weights = read_all(check_dataset(group, "weights", "f4", ())) if "weights" in group else None
    faces = read_all(check_dataset(group, "faces", "i8", (3,))) if "faces" in group else None
    if weights is not None and (len(weights) != seams or not np.isfinite(weights).all()):
        raise ValueError("the weights of a carried surface are not those of its seams")
    return weights, faces


def _branches(group: Group, count: int) -> Branches | None:
    """How so many domains hang on each other; None: the record does not say it, as older ones."""
    if "parents" not in group:
        return None
    parents = read_all(check_dataset(group, "parents", "i8", ()))
    text = read_all(check_dataset(group, "names", "u1", ())).tobytes()
    names = plain_json(text.decode("utf-8", errors="replace"), "the list of names of domains")
    if len(parents) != count or (parents < -1).any() or (parents >= np.arange(count)).any():
        raise ValueError("the domains of a carried surface do not hang on earlier ones")
    if not isinstance(names, list) or len(names) != count or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of domains are not one text a domain")
    return Branches(parents, tuple(names))


def read_carried_colours(own: Group, name: str) -> Array | None:
    """Colours of the triangles of a block's whole surface, (t, 3), 0 to 1; None: it has none."""
    group = check_group(check_group(own, GROUP), name)
    if "colours" not in group:
        return None
    rows, carriers = read_all(check_dataset(group, "colours", "u1", (3,))), read_carriers(own, name)
    if len(rows) != len(carriers.kind):
        raise ValueError(f"a carried surface has {len(rows)} colours for {len(carriers.kind)} domains")
    return np.asarray(rows[_domains(carriers)] / 255)


def read_carried_points(own: Group, name: str, frame: int) -> Array:
    """All points of a block's surface at a frame, (n, 3) float32 [m]."""
    carriers, row = read_carriers(own, name), read_carriage(own, name, frame)
    if len(row) != carriers.width:
        raise ValueError(f"what carries a surface in frame {frame} is not in the file")
    return carriers.positions(row).astype(np.float32)


def read_carriage(own: Group, name: str, frame: int) -> Array:
    """The numbers of a frame that carry a block's surface, (width,) float32."""
    values = open_values(own, name)
    if values is None or frame >= min(len(values), stored_rows(values)):
        raise ValueError(f"what carries a surface in frame {frame} is not in the file")
    return np.asarray(values[frame])


def _domains(carriers: Carriers) -> Array:
    """Of each triangle that is shown, (t,)."""
    return np.searchsorted(carriers.starts, carriers.triangles[:, 0], side="right") - 1


def _parts(counts: Array, values: Array) -> list[Array]:
    return np.split(values, np.cumsum(counts)[:-1])


def _least(values: Array) -> int:
    return int(values.min(initial=0))


def _in_range(values: Array, stop: int) -> bool:
    return not values.size or bool(0 <= values.min() <= values.max() < stop)
