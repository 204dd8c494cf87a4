"""GLB: a glTF 2.0 scene in one binary file, JSON and one buffer, as Khronos' specification has it.

The format is tables whose entries name each other by number; `Glb` appends to them, without a library.
"""

from __future__ import annotations

import json
import os
import struct
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

import supple
from supple.exports.formats.parts import linear
from supple.exports.solids import distinct

Array = np.ndarray
MAGIC, VERSION = 0x46546C67, 2
JSON_CHUNK, BINARY_CHUNK = 0x4E4F534A, 0x004E4942
FLOAT, UNSIGNED = 5126, {1: 5121, 2: 5123, 4: 5125}
VERTICES, CORNERS = 34962, 34963
WIDTHS = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
Y_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]
"""The turn (x, y, z, w) that brings z up to y up, as glTF has it."""
ROUGHNESS = 0.6


class Glb:
    """A scene that is made. tables: of glTF, by name."""

    def __init__(self, name: str) -> None:
        self.tables: dict[str, list[Any]] = {}
        self.data = bytearray()
        self.extras: dict[str, Any] = {}
        self.materials: dict[bytes, int] = {}
        self.name = name
        self.roots: list[int] = []

    @cached_property
    def root(self) -> int:
        """The node in which z is up."""
        self.roots.append(self.add("nodes", {"name": self.name, "rotation": Y_UP}))
        return self.roots[-1]

    def add(self, table: str, entry: dict[str, Any]) -> int:
        """Append to a table; returns the number of the entry."""
        rows = self.tables.setdefault(table, [])
        rows.append(entry)
        return len(rows) - 1

    def add_node(self, entry: dict[str, Any], parent: int | None = None) -> int:
        """A node below another, by default below the one in which z is up."""
        number = self.add("nodes", entry)
        above = self.tables["nodes"][self.root if parent is None else parent]
        above.setdefault("children", []).append(number)
        return number

    def add_array(
        self, values: Array, *, target: int | None = None, bounded: bool = False, is_share: bool = False
    ) -> int:
        """An array (n, ...), whole numbers as they are, others in single precision. bounded: with its extremes;
        is_share: whole numbers that stand for parts of the largest one."""
        given = np.asarray(values)
        is_whole = given.dtype.kind == "u"
        stored = np.ascontiguousarray(given if is_whole else given.astype(np.float32))
        self.data += bytes(-len(self.data) % 4)
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.data), "byteLength": stored.nbytes}
        self.data += stored.tobytes()
        if target is not None:
            view["target"] = target
        entry: dict[str, Any] = {
            "bufferView": self.add("bufferViews", view),
            "componentType": UNSIGNED[stored.itemsize] if is_whole else FLOAT,
            "count": len(stored),
            "type": WIDTHS[stored.shape[1:]],
        }
        if is_share:
            entry["normalized"] = True
        if bounded:
            flat = stored.reshape(len(stored), -1)
            entry |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        return self.add("accessors", entry)

    def add_material(self, colour: Array) -> int:
        """A matt surface of a colour (3,), 0 to 1, seen from both sides."""
        key = np.rint(255 * np.asarray(colour)).astype(np.uint8).tobytes()
        if key not in self.materials:
            light = [round(float(c), 6) for c in linear(colour)]
            surface = {"baseColorFactor": [*light, 1.0], "metallicFactor": 0.0, "roughnessFactor": ROUGHNESS}
            entry = {"name": "#" + key.hex(), "pbrMetallicRoughness": surface, "doubleSided": True}
            self.materials[key] = self.add("materials", entry)
        return self.materials[key]

    def add_mesh(self, attributes: dict[str, int], triangles: Array, colours: Array, count: int) -> int:
        """A mesh, a primitive a colour. colours: of each triangle (t, 3) or of all (1, 3); count: of vertices."""
        kinds, kind = (colours, np.zeros(len(triangles), dtype=int)) if len(colours) == 1 else distinct(colours)
        width = np.uint16 if count < 65_535 else np.uint32
        primitives = []
        for number, colour in enumerate(kinds):
            corners = triangles[kind == number].astype(width).ravel()
            material, indices = self.add_material(colour), self.add_array(corners, target=CORNERS)
            primitives.append({"attributes": attributes, "indices": indices, "material": material})
        return self.add("meshes", {"primitives": primitives})

    def add_positions(self, x: Array) -> int:
        """Vertices (n, 3) [m]."""
        return self.add_array(x, target=VERTICES, bounded=True)

    def save(self, path: Path) -> None:
        """Write the file, beside its place first."""
        about = {"version": "2.0", "generator": f"Supple {supple.__version__}"}
        asset = about | ({"extras": self.extras} if self.extras else {})
        buffers = [{"byteLength": len(self.data)}] if self.data else []
        scene: dict[str, Any] = {
            "asset": asset,
            "scene": 0,
            "scenes": [{"nodes": self.roots}],
            "buffers": buffers,
            **self.tables,
        }
        full = {name: value for name, value in scene.items() if value or value == 0}
        text = json.dumps(full, allow_nan=False, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self.data) + bytes(-len(self.data) % 4)
        chunks = struct.pack("<II", len(text), JSON_CHUNK) + text
        if data:
            chunks += struct.pack("<II", len(data), BINARY_CHUNK) + data
        beside = path.with_name(f".{path.name}-{uuid4().hex[:12]}")
        try:
            beside.write_bytes(struct.pack("<III", MAGIC, VERSION, 12 + len(chunks)) + chunks)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


class Tracks:
    """An animation that moves nodes at times (k,) [s] from the first one on."""

    def __init__(self, glb: Glb, times: Array) -> None:
        self.glb, self.given = glb, np.asarray(times, dtype=float)
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []

    @cached_property
    def times(self) -> int:
        """The array of the times."""
        return self.glb.add_array(self.given - self.given[0], bounded=True)

    def move(self, node: int, path: str, values: Array) -> None:
        """path: "translation" (k, 3) [m], "rotation" (k, 4) as (x, y, z, w), or "scale" (k, 3)."""
        output = self.glb.add_array(values)
        self.channels.append({"sampler": len(self.samplers), "target": {"node": node, "path": path}})
        self.samplers.append({"input": self.times, "output": output, "interpolation": "LINEAR"})

    def end(self, name: str) -> None:
        """Add it to the scene, where anything moves."""
        if self.channels:
            self.glb.add("animations", {"name": name, "channels": self.channels, "samplers": self.samplers})


def quaternions(q: Array) -> Array:
    """(..., 4) as (x, y, z, w), of length one in single precision, from (w, x, y, z)."""
    turned = np.roll(np.asarray(q, dtype=float), -1, axis=-1)
    return turned / np.linalg.norm(turned, axis=-1, keepdims=True)
