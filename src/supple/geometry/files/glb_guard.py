"""The structure of a binary glTF file, before it is read by a library that believes it.

Refuses compressed geometry, data outside the file, views beyond their buffer, and scenes that are no tree.
"""

from __future__ import annotations

import json
from typing import Any

from supple.errors import FileFormatError
from supple.geometry.files.file_guard import check_claim

_COMPONENT = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_COMPRESSION = {"KHR_draco_mesh_compression": "Draco", "EXT_meshopt_compression": "meshopt"}
MAX_VERTICES = 50_000_000


def check_glb(data: bytes, name: str) -> None:
    """Refuse a `.glb` file that is cut short, compressed, not self-contained or inconsistent."""
    if data[:4] != b"glTF" or len(data) < 20 or int.from_bytes(data[4:8], "little") != 2:
        raise FileFormatError("the file is not binary glTF of version 2", where=name)
    length, json_length = int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")
    if length != len(data) or data[16:20] != b"JSON" or 20 + json_length > len(data):
        raise FileFormatError(f"the file has {len(data)} bytes of the {length} it claims", where=name)
    tree = json.loads(data[20 : 20 + json_length].decode("utf-8"))
    binary = data[20 + json_length :]
    space = int.from_bytes(binary[:4], "little") if binary[4:8] == b"BIN\0" else 0
    check_claim(space, max(len(binary) - 8, 0), "bytes of the binary chunk", name)
    for extension, title in _COMPRESSION.items():
        if extension in tree.get("extensionsUsed", []) + tree.get("extensionsRequired", []):
            raise FileFormatError(
                f"the geometry is compressed with {title} ({extension}), which is not read",
                where=name,
                fix="Export it again without mesh compression.",
            )
    buffers = tree.get("buffers", [])
    if len(buffers) != 1 or "uri" in buffers[0] or buffers[0]["byteLength"] > space:
        raise FileFormatError("the file does not hold its one buffer itself", where=name)
    for view in tree.get("bufferViews", []):
        end = view.get("byteOffset", 0) + view["byteLength"]
        check_claim(end, buffers[0]["byteLength"], "bytes of a buffer view", name)
    for accessor in tree.get("accessors", []):
        _check_accessor(accessor, tree, name)
    _check_scene(tree, name)


def _check_accessor(accessor: dict[str, Any], tree: dict[str, Any], name: str) -> None:
    if "bufferView" not in accessor or "sparse" in accessor:
        raise FileFormatError("an accessor holds no plain data", where=name, value=accessor.get("count"))
    view = tree["bufferViews"][accessor["bufferView"]]
    size = _COMPONENT[accessor["componentType"]] * _WIDTH[accessor["type"]]
    stride = view.get("byteStride", size)
    needed = accessor.get("byteOffset", 0) + stride * (accessor["count"] - 1) + size
    check_claim(needed, view["byteLength"], "bytes of an accessor", name)
    if accessor["count"] < 1 or stride < size:
        raise FileFormatError("an accessor is empty or overlaps itself", where=name)


def _check_scene(tree: dict[str, Any], name: str) -> None:
    nodes = tree.get("nodes", [])
    children = [child for node in nodes for child in node.get("children", [])]
    roots = [root for scene in tree.get("scenes", []) for root in scene.get("nodes", [])]
    seen: set[int] = set()
    waiting = list(dict.fromkeys(roots))
    while waiting:
        index = waiting.pop()
        if index in seen:
            raise FileFormatError("the nodes are no tree", where=name, value=index)
        seen.add(index)
        waiting += nodes[index].get("children", [])
    if len(set(children)) < len(children) or not set(children) <= seen:
        raise FileFormatError("the nodes are no tree", where=name)
    vertices = 0
    for node in nodes:
        if "mesh" in node:
            for primitive in tree["meshes"][node["mesh"]]["primitives"]:
                vertices += tree["accessors"][primitive["attributes"]["POSITION"]]["count"]
    check_claim(vertices, MAX_VERTICES, "vertices", name)
