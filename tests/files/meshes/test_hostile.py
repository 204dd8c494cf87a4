"""Mesh files made to do harm are refused."""

import json

import pytest
from tests.files.meshes.samples import _sample

from supple.errors import FileFormatError
from supple.geometry import (
    load_mesh,
    save_mesh,
)


def _changed(tmp_path, suffix, change, mesh=None):
    path = tmp_path / f"a{suffix}"
    save_mesh(path, mesh if mesh is not None else _sample(suffix))
    before = path.read_bytes()
    after = change(before)
    assert after != before
    path.write_bytes(after)
    return path


HOSTILE = {
    "vtk claim": (".vtk", lambda d: d.replace(b"POINTS 36", b"POINTS 36000000000"), "more than it can hold"),
    "vtk kind": (
        ".vtk",
        lambda d: d.replace(b"UNSTRUCTURED_GRID", b"STRUCTURED_POINTS"),
        "STRUCTURED_POINTS",
    ),
    "vtk header": (".vtk", lambda d: d[5:], "line 1"),
    "vtu claim": (
        ".vtu",
        lambda d: d.replace(b'NumberOfPoints="36"', b'NumberOfPoints="360000000000"'),
        "claims",
    ),
    "vtu other count": (".vtu", lambda d: d.replace(b'NumberOfCells="76"', b'NumberOfCells="75"'), "damaged"),
    "vtu entity": (".vtu", lambda d: d.replace(b"?>", b'?><!DOCTYPE a [<!ENTITY b "c">]>', 1), "entities"),
    "vtu piece": (
        ".vtu",
        lambda d: d.replace(b"<Piece", b'<Piece NumberOfPoints="0" NumberOfCells="0"/><Piece'),
        "piece",
    ),
    "stl claim": (".stl", lambda d: d[:80] + b"\xff\xff\xff\xff" + d[84:], "4294967295 triangles"),
    "ply claim": (
        ".ply",
        lambda d: d.replace(b"element vertex 98", b"element vertex 98000000000"),
        "more than it can hold",
    ),
    "ply faces": (
        ".ply",
        lambda d: d.replace(b"element face 192", b"element face 193"),
        "more than it can hold",
    ),
    "ply header": (
        ".ply",
        lambda d: d.replace(b"property", b"properly"),
        "damaged|not understood|could be read|hold",
    ),
    "glb length": (".glb", lambda d: d + b"more", "bytes of the"),
    "glb magic": (".glb", lambda d: b"glTG" + d[4:], "not binary glTF"),
}


@pytest.mark.parametrize(("suffix", "change", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_are_refused(tmp_path, suffix, change, message):
    path = _changed(tmp_path, suffix, change)
    with pytest.raises(FileFormatError, match=path.name + r".*(" + message + ")"):
        load_mesh(path)


def _glb_with(change):
    """A change of the JSON part, with the lengths in the headers kept true."""

    def changed(data):
        length = int.from_bytes(data[12:16], "little")
        tree = json.loads(data[20 : 20 + length])
        change(tree)
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 4)
        rest = data[20 + length :]
        head = b"glTF" + (2).to_bytes(4, "little") + (20 + len(text) + len(rest)).to_bytes(4, "little")
        return head + len(text).to_bytes(4, "little") + b"JSON" + text + rest

    return changed


HOSTILE_GLB = {
    "draco": (lambda t: t.update(extensionsUsed=["KHR_draco_mesh_compression"]), "compressed with Draco"),
    "outside": (lambda t: t["buffers"][0].update(uri="/etc/passwd"), "does not hold its one buffer"),
    "buffer": (lambda t: t["buffers"][0].update(byteLength=10**12), "does not hold its one buffer"),
    "view": (lambda t: t["bufferViews"][0].update(byteLength=10**12), "buffer view, more than"),
    "count": (lambda t: t["accessors"][0].update(count=10**12), "accessor, more than"),
    "no data": (lambda t: t["accessors"][0].pop("bufferView"), "holds no plain data"),
    "loop": (lambda t: t["nodes"][0].setdefault("children", []).append(0), "no tree"),
    "type": (lambda t: t["accessors"][0].update(count="many"), "damaged"),
    "no mesh": (lambda t: t.pop("meshes"), "damaged"),
}


@pytest.mark.parametrize(("change", "message"), HOSTILE_GLB.values(), ids=HOSTILE_GLB)
def test_hostile_glb_is_refused(tmp_path, change, message):
    path = _changed(tmp_path, ".glb", _glb_with(change))
    with pytest.raises(FileFormatError, match=message):
        load_mesh(path)
