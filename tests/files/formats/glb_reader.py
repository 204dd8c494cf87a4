"""A reader of .glb files for tests, with the transforms of nodes and vertices at a time, as the specification has them.

It shares no code with the writer: x = M_parent ... M_node X, and of skins x = sum_k w_k M_joint B_joint X.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

Array = np.ndarray
KINDS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": (), "VEC3": (3,), "VEC4": (4,), "MAT4": (4, 4)}


class GlbFile:
    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack("<4sII", data[:12])
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack("<I4s", data[12:20])
        assert kind == b"JSON"
        self.json: dict[str, Any] = json.loads(data[20 : 20 + size])
        self.binary = data[28 + size :]
        self.nodes = self.json["nodes"]
        self.parents = {child: k for k, node in enumerate(self.nodes) for child in node.get("children", [])}

    def array(self, number: int) -> Array:
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        tail = WIDTHS[accessor["type"]]
        start = view["byteOffset"]
        data = np.frombuffer(self.binary[start : start + view["byteLength"]], KINDS[accessor["componentType"]])
        values = data / np.iinfo(data.dtype).max if accessor.get("normalized") else data
        return values.reshape(accessor["count"], *tail)

    def node(self, name: str) -> int:
        return next(k for k, node in enumerate(self.nodes) if node.get("name") == name)

    def local(self, number: int, time: float | None) -> Array:
        """The matrix of a node (4, 4) in its parent at a time [s], or as it is written."""
        node = self.nodes[number]
        trs = {key: np.array(node[key]) for key in ("translation", "rotation", "scale") if key in node}
        for animation in self.json.get("animations", []) if time is not None else []:
            for channel in animation["channels"]:
                if channel["target"]["node"] == number:
                    sampler = animation["samplers"][channel["sampler"]]
                    times, values = self.array(sampler["input"]), self.array(sampler["output"])
                    trs[channel["target"]["path"]] = interpolate(times, values, time, channel["target"]["path"])
        M = np.eye(4)
        M[:3, :3] = Rotation.from_quat(trs["rotation"]).as_matrix() if "rotation" in trs else np.eye(3)
        M[:3, :3] *= trs.get("scale", np.ones(3))
        M[:3, 3] = trs.get("translation", np.zeros(3))
        return M

    def world(self, number: int, time: float | None) -> Array:
        M = self.local(number, time)
        while number in self.parents:
            number = self.parents[number]
            M = self.local(number, time) @ M
        return M

    def points(self, number: int, time: float | None = None) -> Array:
        """World positions (n, 3), y up, of the vertices of a node's mesh at a time [s]."""
        node = self.nodes[number]
        attributes = self.json["meshes"][node["mesh"]]["primitives"][0]["attributes"]
        X = self.array(attributes["POSITION"]).astype(float)
        if "skin" not in node:
            return apply(self.world(number, time), X)
        skin = self.json["skins"][node["skin"]]
        inverse = self.array(skin["inverseBindMatrices"]).astype(float).swapaxes(1, 2)
        joints = np.array([self.world(j, time) for j in skin["joints"]]) @ inverse
        which, weights = self.array(attributes["JOINTS_0"]), self.array(attributes["WEIGHTS_0"]).astype(float)
        return sum(
            weights[:, k, None] * np.einsum("nij,nj->ni", joints[which[:, k]], np.c_[X, np.ones(len(X))])[:, :3]
            for k in range(4)
        )


def apply(M: Array, x: Array) -> Array:
    return x @ M[:3, :3].T + M[:3, 3]


def interpolate(times: Array, values: Array, time: float, path: str) -> Array:
    time = float(np.clip(time, times[0], times[-1]))
    if path == "rotation":
        return Slerp(times, Rotation.from_quat(values))([time]).as_quat()[0]
    return np.array([np.interp(time, times, column) for column in values.T])


def z_up(x: Array) -> Array:
    """Positions (n, 3) with z up from those with y up."""
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
