"""Voxel bodies in a scene file, and their materials."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import PlainValidator, model_validator

from supple.files.scenes.section import Section, check_table, complaint, shorten
from supple.files.scenes.values import (
    Cells,
    Colour,
    FieldNumbers,
    Name,
    Number,
    NumberInTime,
    PairRows,
    Vector,
    number_each,
)

MAX_CELLS = 2**24
EMPTY = "."


class VoxelMaterial(Section):
    """A material of voxels; keys as in `VoxelMaterial`."""

    young: Number
    density: Number
    poisson: Number | None = None
    expansion: Number | None = None
    static_friction: Number | None = None
    kinetic_friction: Number | None = None
    bond_damping: Number | None = None
    ground_damping: Number | None = None
    contact_damping: Number | None = None
    colour: Colour | None = None
    yield_stress: Number | None = None
    plastic_modulus: Number | None = None
    curve: PairRows | None = None
    fail_strain: Number | None = None
    fail_stress: Number | None = None
    rigid: bool | None = None


def _row(value: Any) -> list[int]:
    """A row of cells along x: text of digits, "." or 0 for empty, or whole numbers."""
    if isinstance(value, str) and value and all(c == EMPTY or (c.isascii() and c.isdigit()) for c in value):
        return [0 if c == EMPTY else int(c) for c in value]
    if isinstance(value, list) and value and all(isinstance(v, int) and not isinstance(v, bool) for v in value):
        return value
    raise complaint("has a row that is neither text of digits nor whole numbers", value=shorten(value))


def _layers(value: Any) -> Any:
    """Layers from the lowest up, each of rows along y, each of cells along x; as an array (nx, ny, nz)."""
    if not isinstance(value, list) or not value or not all(isinstance(layer, list) and layer for layer in value):
        raise complaint("is not a list of layers", value=shorten(value), allowed="lists of rows")
    rows, cells = len(value[0]), len(_row(value[0][0]))
    if len(value) * rows * cells > MAX_CELLS:
        raise complaint("there are too many cells", value=len(value) * rows * cells, allowed=f"{MAX_CELLS}")
    table = [[_row(row) for row in layer] for layer in value]
    if any(len(layer) != rows for layer in table) or any(len(row) != cells for layer in table for row in layer):
        raise complaint("the layers or rows are not of equal length")
    numbers = {number for layer in table for row in layer for number in row}
    if min(numbers) < 0 or max(numbers) > np.iinfo(np.int32).max:
        raise complaint("a material's number is out of range", value=shorten(min(numbers)))
    return np.array(table, dtype=np.int64).transpose(2, 1, 0)


def _by_number(value: Any, what: str, kind: type | tuple[type, ...]) -> dict[int, Any]:
    """A table from a material's number to something."""
    out = {}
    for key, entry in check_table(value).items():
        if not (key.isascii() and key.isdigit() and len(key) < 10) or int(key) == 0:
            raise complaint("is not a table by the numbers of materials", value=shorten(key), allowed="1, 2, ...")
        if not isinstance(entry, kind) or isinstance(entry, bool):
            raise complaint(f"is not {what}", key=key, value=shorten(entry))
        out[int(key)] = entry
    if not out:
        raise complaint("the table is empty")
    return out


def _palette(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _by_number(value, "a material's name", str)
    raise complaint(
        "is not a material", value=shorten(value), allowed="a voxel material's name, or a table from number to name"
    )


def _per_voxel(value: Any) -> Any:
    if isinstance(value, dict):
        table = _by_number(value, "a number", (int, float))
        if not all(abs(number) < float("inf") for number in table.values()):
            raise complaint("a number is not finite")
        return {key: float(number) for key, number in table.items()}
    return number_each(value)


PerVoxel = Annotated[Any, PlainValidator(_per_voxel)]


class BoxGrid(Section):
    """A full block. cells: along x, y, z."""

    cells: Cells


class SphereGrid(Section):
    """The cells whose centres lie in a ball. cells: along the diameter."""

    cells: int


class Driver(Section):
    """A control variable: amplitude and frequency of a sine, or a signal, times an amplitude."""

    amplitude: Number | None = None
    frequency: Number | None = None
    signal: NumberInTime = None
    phase: PerVoxel = None
    gain: PerVoxel = None
    period: Number | None = None
    rise: Number | None = None
    phase_shift: Number | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.signal is not None or self.choose("amplitude", "signal") == "signal":
            if self.frequency is not None:
                raise complaint("'frequency' does not go with 'signal'")
            if self.rise is not None:
                raise complaint("'rise' does not go with 'signal'")
            if not callable(self.signal):
                raise complaint("is not a function of time", key="signal", allowed="sine, table, ramp or samples")
        elif self.frequency is None:
            raise complaint("a sine needs its frequency", key="frequency")
        elif self.period is not None:
            raise complaint("'period' does not go with 'frequency'")
        return self


def _drivers(value: Any) -> list[Driver]:
    given = value if isinstance(value, list) else [value]
    if not given or len(given) > 100:
        raise complaint("is not a list of control variables", value=len(given), allowed="1 to 100")
    return [Driver.model_validate(one) for one in given]


class VoxelKeys(Section):
    """What a voxel body is made of: a file of VoxCAD's, or a grid with materials and control variables."""

    file: Name | None = None
    layers: Annotated[Any, PlainValidator(_layers)] = None
    box: BoxGrid | None = None
    sphere: SphereGrid | None = None
    voxel_size: Number | None = None
    origin: Vector | None = None
    material: Annotated[Any, PlainValidator(_palette)] = None
    actuation: Annotated[Any, PlainValidator(_drivers)] = None
    young: FieldNumbers | None = None
    density: FieldNumbers | None = None
    transverse: bool | None = None
    stiffness_by_rest: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.choose("file", "layers", "box", "sphere") == "file":
            others = self.given("voxel_size", "origin", "material", "actuation", "young", "density", "transverse")
            if others:
                raise complaint(f"'{next(iter(others))}' does not go with 'file'")
            return self
        for name in ("voxel_size", "material"):
            if getattr(self, name) is None:
                raise complaint("the key is missing", key=name)
        return self
