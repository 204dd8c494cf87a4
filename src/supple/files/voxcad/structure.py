"""The layers of a VoxCAD structure: material numbers and per-voxel tables, one layer for each z, x fastest.

ASCII_READABLE    one character a cell, its code less 48
BASE64            base64 of one byte a cell
ZLIB              base64 of a zlib stream of one byte a cell
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Literal

import numpy as np

from supple.errors import FileFormatError, InputError
from supple.files.voxcad.record import FIELD_WIDTHS
from supple.files.voxcad.xml import MAX_DIGITS, Section

Array = np.ndarray
Compression = Literal["ascii", "base64", "zlib"]

MAX_CELLS = 2**24
NAMES: dict[str, str] = {"ascii": "ASCII_READABLE", "base64": "BASE64", "zlib": "ZLIB"}
_MAX_READABLE = 44  # the next character is a bracket, which could end a CDATA section


def read_materials(structure: Section) -> Array:
    """The material numbers of a <Structure>, (nx, ny, nz)."""
    form = structure.attribute("Compression")
    if form is None or form not in NAMES.values():
        raise FileFormatError(
            "this form of the layers is not read",
            where=f"{structure.where}, attribute Compression",
            value=None if form is None else form[:60],
            allowed=", ".join(NAMES.values()),
        )
    shape = _read_shape(structure)
    data = structure.need("Data")
    layers = _layers(data, shape)
    cells = shape[0] * shape[1]
    decoded = [_decode(layer, form, cells) for layer in layers]
    return np.stack([layer.reshape(shape[1], shape[0]).T for layer in decoded], axis=2)


def _read_shape(structure: Section) -> tuple[int, int, int]:
    nx, ny, nz = (structure.integer(f"{axis}_Voxels") for axis in "XYZ")
    if min(nx, ny, nz) < 1 or nx * ny * nz > MAX_CELLS:
        raise FileFormatError(
            "the number of cells is out of range",
            where=f"{structure.where}, X_Voxels, Y_Voxels, Z_Voxels",
            value=(nx, ny, nz),
            allowed=f"1 to {MAX_CELLS} in all",
        )
    return nx, ny, nz


def _layers(data: Section, shape: tuple[int, int, int]) -> list[Section]:
    """The layers; as many as claimed."""
    count = data.count("Layer")
    if count != shape[2]:
        raise FileFormatError(
            "the number of layers differs from Z_Voxels", where=data.where, value=count, allowed=f"{shape[2]}"
        )
    return data.sections("Layer")


def _decode(layer: Section, form: str, cells: int) -> Array:
    text = (layer.element.text or "").strip()
    if form == NAMES["ascii"]:
        if not text.isascii():
            raise FileFormatError("a character stands for no material", where=layer.where)
        numbers = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
        if len(numbers) and numbers.min() < ord("0"):
            raise FileFormatError(
                "a character stands for no material", where=layer.where, value=chr(numbers.min()), allowed="'0' to '~'"
            )
        numbers = numbers - np.uint8(ord("0"))
    else:
        numbers = np.frombuffer(_decode_bytes(layer, text, form, cells), dtype=np.uint8)
    if len(numbers) != cells:
        raise FileFormatError(
            "the cells of the layer are not X_Voxels times Y_Voxels",
            where=layer.where,
            value=len(numbers),
            allowed=f"{cells}",
        )
    return numbers


def _decode_bytes(layer: Section, text: str, form: str, cells: int) -> bytes:
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
        if form == NAMES["base64"]:
            return data
        stream = zlib.decompressobj()
        data = stream.decompress(data, cells + 1)  # one more than wanted shows that there are too many
    except (binascii.Error, zlib.error, ValueError) as error:
        raise FileFormatError(f"the layer is not {form}: {error}", where=layer.where) from error
    if len(data) == cells and not stream.eof:
        raise FileFormatError("the compressed layer is cut short or has a wrong length", where=layer.where)
    return data


def read_field(structure: Section, name: str, shape: tuple[int, int, int]) -> Array | None:
    """A per-voxel table, (nx, ny, nz) or (nx, ny, nz, width)."""
    table = structure.section(name)
    if table is None:
        return None
    nx, ny, _ = shape
    width = FIELD_WIDTHS[name]
    layers = [_read_numbers(layer, nx * ny * width) for layer in _layers(table, shape)]
    array = np.stack([layer.reshape(ny, nx, width).transpose(1, 0, 2) for layer in layers], axis=2)
    return array[..., 0] if width == 1 else array


def _read_numbers(layer: Section, count: int) -> Array:
    words = (layer.element.text or "").strip().removesuffix(",").split(",")
    if len(words) != count:
        raise FileFormatError(
            "the numbers of the layer do not fit the voxels", where=layer.where, value=len(words), allowed=f"{count}"
        )
    if max(map(len, words)) > MAX_DIGITS:
        raise FileFormatError(
            "a number of the layer is too long", where=layer.where, allowed=f"{MAX_DIGITS} characters"
        )
    try:
        numbers = np.array([float(word) for word in words])
    except ValueError as error:
        raise FileFormatError(f"the layer holds more than numbers: {str(error)[:80]}", where=layer.where) from error
    if not np.isfinite(numbers).all():
        raise FileFormatError("a number of the layer is not finite", where=layer.where)
    return numbers


def encode_materials(materials: Array, compression: Compression) -> list[str]:
    """The texts of the layers."""
    if compression == "ascii" and materials.max() > _MAX_READABLE:
        raise InputError(
            "a material number is too large for readable layers",
            value=int(materials.max()),
            allowed=f"0 to {_MAX_READABLE}",
            fix="Save with compression='zlib'.",
        )
    return [_encode(materials[:, :, k].T.astype(np.uint8), compression) for k in range(materials.shape[2])]


def _encode(layer: Array, compression: Compression) -> str:
    if compression == "ascii":
        return (layer + np.uint8(ord("0"))).tobytes().decode("ascii")
    data = layer.tobytes()
    return base64.b64encode(zlib.compress(data) if compression == "zlib" else data).decode("ascii")


def encode_field(table: Array) -> list[str]:
    """The texts of the layers of a per-voxel table."""
    wide = table.reshape(*table.shape[:3], -1)
    return [", ".join(map(repr, wide[:, :, k].transpose(1, 0, 2).ravel().tolist())) for k in range(wide.shape[2])]
