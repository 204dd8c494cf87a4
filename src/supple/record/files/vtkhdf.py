"""The VTKHDF layout: one file of HDF5, one block of polygons a body, points that move over the steps.

    /VTKHDF                      Type PartitionedDataSetCollection
      Assembly/<body>            soft links to the blocks: the tree ParaView shows
      <body>                     Type PolyData, Index
        Points                   (steps * points, 3) float32: one stretch a step
        Vertices, Lines, Polygons, Strips    written once: every step has the same
        CellData/colour          (cells, 3) bytes: red, green, blue, once too; of bodies that have colours
        PointData/<field>        (steps * points, ...) float32: as the points; of runs that record fields
        Steps                    NSteps, Values, and where each step's stretch begins

Only points and their fields grow with the steps: all offsets but PointOffsets and PointDataOffsets stay zero. Blocks of
as many points and the same fields share their Steps, and blocks of the same cells share those: one group of the file
that lies in each of them by a hard link, so that a hundred boxes have one, not a hundred. The layout is described at
https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format/index.html.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from supple.record.fields import FIELDS
from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Dataset, Group, check_dataset, check_group, read_all, stored_rows, whole_number
from supple.record.surfaces import Surface

Array = np.ndarray

VERSION = np.array([2, 3], dtype=np.int64)
CELL_KINDS = ("Vertices", "Lines", "Polygons", "Strips")
STEP_TABLES: dict[str, tuple[str, tuple[int, ...]]] = {
    "Values": ("f8", ()),
    "PartOffsets": ("i8", ()),
    "NumberOfParts": ("i8", ()),
    "PointOffsets": ("i8", ()),
    "CellOffsets": ("i8", (4,)),
    "ConnectivityIdOffsets": ("i8", (4,)),
}
CHUNK_BYTES = 1 << 16
DATA, OFFSETS = "PointData", "PointDataOffsets"


def block_names(bodies: list[str]) -> list[str]:
    """Names of blocks for bodies: letters, digits, - and _ only, each once, none of the layout's own."""
    taken = {"Assembly", "Steps"}
    out = []
    for body in bodies:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", body)
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        name = next(n for k in range(len(taken) + 1) if (n := plain if k == 0 else f"{plain}_{k}") not in taken)
        taken.add(name)
        out.append(name)
    return out


def make_collection(file: Group, surfaces: list[Surface]) -> list[Group]:
    """The empty layout in a new file; returns the blocks in the order of the surfaces."""
    import h5py

    root = file.create_group("VTKHDF", track_order=True)
    _set_type(root, "PartitionedDataSetCollection")
    names = block_names([s.name for s in surfaces])
    assembly = root.create_group("Assembly", track_order=True)
    blocks, made = [], dict[Any, Group]()
    for index, (name, surface) in enumerate(zip(names, surfaces)):
        block = root.create_group(name)
        block.attrs["Index"] = np.int64(index)
        _fill_block(block, surface, made)
        assembly[name] = h5py.SoftLink(f"/VTKHDF/{name}")
        blocks.append(block)
    return blocks


def add_block(root: Group, surface: Surface) -> Group:
    """One more block in the layout, without steps, under a name of its own."""
    names = block_names([*(name for name in root if name not in ("Assembly", "Steps")), surface.name])
    block = root.create_group(names[-1])
    block.attrs["Index"] = np.int64(len(names) - 1)
    _fill_block(block, surface, {})
    return block


def append_points(block: GrowingGroup, first: int, points: Array, fields: dict[str, Array] | None = None) -> None:
    """Add points (k, n, 3) of the steps from `first` on, and fields (k, n, ...); those that are not given are NaN."""
    count, n = points.shape[:2]
    block.extend("Points", n * first, n * count, points.reshape(-1, 3))
    for name in block.names(DATA):
        data = block.group[f"{DATA}/{name}"]
        given = np.nan if fields is None or name not in fields else fields[name].reshape(-1, *data.shape[1:])
        block.extend(f"{DATA}/{name}", n * first, n * count, given)


def append_steps(blocks: Sequence[GrowingGroup], sizes: Sequence[int], first: int, times: Array) -> None:
    """Add steps from `first` on, times (k,) [s], to blocks of so many points, whose own are there."""
    count, done = len(times), set()
    for block, n in zip(blocks, sizes):
        steps = block["Steps"]
        if steps.group.id in done:  # blocks of as many points have the same
            continue
        done.add(steps.group.id)
        offsets = n * np.arange(first, first + count)
        values = {"Values": times, "NumberOfParts": 1, "PointOffsets": offsets}
        for name in STEP_TABLES:
            steps.extend(name, first, count, values.get(name, 0))
        for name in block.names(DATA):
            steps.extend(f"{OFFSETS}/{name}", first, count, offsets)
        steps.set_number("NSteps", first + count)


def field_names(block: Group) -> list[str]:
    """Names of the fields of a block."""
    return list(check_group(block, DATA)) if DATA in block else []


def _field_tables(block: Group) -> list[tuple[Dataset, Dataset]]:
    """Values and offsets of each field."""
    names = field_names(block)
    offsets = check_group(check_group(block, "Steps"), OFFSETS) if names else None
    return [
        (check_dataset(check_group(block, DATA), name, "f4"), check_dataset(offsets, name, "i8", ())) for name in names
    ]


def read_field(block: Group, name: str, frame: int) -> Array | None:
    """A field of one step, (n,) or (n, 3) float32; None where the block has none of that name."""
    if name not in field_names(block):
        return None
    values, offsets = _field_tables(block)[field_names(block).index(name)]
    n, start = point_count(block), int(offsets[frame])
    if not 0 <= start <= min(len(values), stored_rows(values)) - n:
        raise ValueError(f"the field '{name}' of frame {frame} is not in the file")
    return np.asarray(values[start : start + n])


def point_count(block: Group) -> int:
    """Number of points of a step."""
    count = check_dataset(block, "NumberOfPoints", tail=())
    if len(count) != 1:
        raise ValueError(f"'NumberOfPoints' has {len(count)} values")
    return whole_number(read_all(count)[0], "the number of points", least=1)


def count_steps(block: Group) -> tuple[int, int]:
    """How many steps a block claims, and how many are stored."""
    steps, n = check_group(block, "Steps"), point_count(block)
    tables = [check_dataset(steps, name, kind, tail) for name, (kind, tail) in STEP_TABLES.items()]
    fields = _field_tables(block)
    tables += [offsets for _, offsets in fields]
    points = [check_dataset(block, "Points", "f4", (3,)), *(values for values, _ in fields)]
    claimed = whole_number(steps.attrs.get("NSteps"), "the number of steps")
    return (
        min(claimed, *(len(table) for table in tables), *(len(values) // n for values in points)),
        min(*(stored_rows(table) for table in tables), *(stored_rows(values) // n for values in points)),
    )


def truncate(block: Group, count: int) -> None:
    """Keep the first `count` steps only."""
    block["Points"].resize(point_count(block) * count, axis=0)
    for name in STEP_TABLES:
        block["Steps"][name].resize(count, axis=0)
    for values, offsets in _field_tables(block):
        values.resize(point_count(block) * count, axis=0)
        offsets.resize(count, axis=0)
    block["Steps"].attrs["NSteps"] = np.int64(count)


def read_points(block: Group, frame: int) -> Array:
    """Points of one step, (n, 3) float32 [m]."""
    n, points = point_count(block), check_dataset(block, "Points", "f4", (3,))
    start = int(check_dataset(check_group(block, "Steps"), "PointOffsets", "i8", ())[frame])
    if not 0 <= start <= min(len(points), stored_rows(points)) - n:
        raise ValueError(f"the points of frame {frame} are not in the file")
    return np.asarray(points[start : start + n])


def read_cells(block: Group, kind: str, width: int) -> Array:
    """Cells of one kind, all of `width` points, (k, width)."""
    cells = read_all(check_dataset(check_group(block, kind), "Connectivity", "i8", ()))
    if cells.size % width or (cells.size and not 0 <= cells.min() <= cells.max() < point_count(block)):
        raise ValueError(f"'{kind}' names points that the block does not have")
    return cells.reshape(-1, width)


def read_colours(block: Group) -> Array | None:
    """Colours of the triangles (k, 3), or of the whole (1, 3) where there are none, 0 to 1; None: it has none."""
    if "CellData" not in block or "colour" not in check_group(block, "CellData"):
        return None
    rows = read_all(check_dataset(check_group(block, "CellData"), "colour", "u1", (3,)))
    kinds = (("Vertices", 1), ("Lines", 2), ("Polygons", 3))
    counts = [len(read_cells(block, kind, width)) for kind, width in kinds]
    if len(rows) != sum(counts):
        raise ValueError(f"it has {len(rows)} colours for {sum(counts)} cells")
    return np.asarray(rows[-counts[-1] :] if counts[-1] else rows[:1]) / 255


def _fill_block(block: Group, surface: Surface, made: dict[Any, Group]) -> None:
    """A block without steps. made: groups that blocks share, by what is in them."""
    _set_type(block, "PolyData")
    n = surface.point_count
    block.create_dataset("NumberOfPoints", data=np.array([n], dtype=np.int64))
    rows = min(n * max(1, CHUNK_BYTES // (12 * n)), 1 << 20)
    block.create_dataset("Points", (0, 3), maxshape=(None, 3), dtype="f4", chunks=(rows, 3))
    cells = {"Vertices": surface.vertices, "Lines": surface.lines, "Polygons": surface.triangles}
    for kind in CELL_KINDS:
        found = cells.get(kind, np.zeros((0, 3), dtype=np.int64))
        _share(block, kind, made, (found.shape, found.tobytes()), partial(_write_cells, cells=found))
    if surface.colours is not None:
        count = sum(len(found) for found in cells.values())
        shades = np.broadcast_to(np.rint(255 * surface.colours).astype(np.uint8), (count, 3))
        block.create_group("CellData").create_dataset("colour", data=shades)
    for name in surface.fields:
        tail, chunk = FIELDS[name], (rows, *FIELDS[name])
        block.require_group(DATA).create_dataset(name, (0, *tail), maxshape=(None, *tail), dtype="f4", chunks=chunk)
    fields = tuple(surface.fields)
    _share(block, "Steps", made, (n, fields), partial(_make_steps, fields=fields))


def _share(block: Group, name: str, made: dict[Any, Group], key: Any, fill: Callable[[Group], None]) -> None:
    """A group of a block: that of another one where it has the same key, or a new one."""
    if key in made:
        block[name] = made[key]
    else:
        made[key] = block.create_group(name)
        fill(made[key])


def _make_steps(steps: Group, fields: Sequence[str]) -> None:
    """Tables of steps, empty."""
    steps.attrs["NSteps"] = np.int64(0)
    for name, (kind, tail) in STEP_TABLES.items():
        steps.create_dataset(name, (0, *tail), maxshape=(None, *tail), dtype=kind, chunks=(256, *tail))
    for name in fields:
        steps.require_group(OFFSETS).create_dataset(name, (0,), maxshape=(None,), dtype="i8", chunks=(256,))


def _write_cells(group: Group, cells: Array) -> None:
    width = cells.shape[1]
    group.create_dataset("NumberOfCells", data=np.array([len(cells)], dtype=np.int64))
    group.create_dataset("NumberOfConnectivityIds", data=np.array([cells.size], dtype=np.int64))
    group.create_dataset("Offsets", data=np.arange(0, cells.size + 1, width, dtype=np.int64))
    group.create_dataset("Connectivity", data=cells.ravel().astype(np.int64))


def _set_type(group: Group, kind: str) -> None:
    import h5py

    group.attrs["Version"] = VERSION
    group.attrs.create("Type", kind.encode("ascii"), dtype=h5py.string_dtype("ascii", len(kind)))
