"""Devices, Vega boundaries and Gmsh files."""

import os

import numpy as np
import pytest
from tests.files.meshes.samples import SOLID_SUFFIXES

from supple.errors import FileFormatError
from supple.geometry import (
    load_bou,
    load_mesh,
    save_bou,
)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("suffix", [*SOLID_SUFFIXES, ".obj", ".stl", ".ply", ".glb"])
def test_pipes_devices_and_giants_are_refused(tmp_path, suffix):
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        with pytest.raises(FileFormatError, match="a pipe or a device"):
            load_mesh(tmp_path / f"{name}{suffix}")
    with (tmp_path / f"giant{suffix}").open("wb") as file:
        file.truncate(10 << 30)  # takes no room on the disk
    with pytest.raises(FileFormatError, match="too large"):
        load_mesh(tmp_path / f"giant{suffix}")


def test_bou_counts_from_one(tmp_path):
    save_bou(tmp_path / "a.bou", np.arange(23))
    assert (tmp_path / "a.bou").read_text().startswith("1, 2, 3")
    np.testing.assert_array_equal(load_bou(tmp_path / "a.bou"), np.arange(23))
    with pytest.raises(FileFormatError, match=r"line 3.*23.*1 to 22"):
        load_bou(tmp_path / "a.bou", node_count=22)
    for text, message in (
        ("1, x", "line 1"),
        ("0", "whole numbers from 1"),
        ("# none\n", "no vertex"),
        ("", "empty"),
    ):
        (tmp_path / "b.bou").write_text(text)
        with pytest.raises(FileFormatError, match=message):
            load_bou(tmp_path / "b.bou")


MSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 7 "skin"
3 8 "flesh"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 1 1 7 0
1 0 0 0 1 1 1 1 8 0
$EndEntities
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 3 2
3 1 4 1
2 1 2 3 4
$EndElements
"""


def test_physical_groups_become_regions(tmp_path):
    (tmp_path / "a.msh").write_text(MSH)
    mesh = load_mesh(tmp_path / "a.msh")
    np.testing.assert_array_equal(mesh.regions["flesh"].elements, [0])
    np.testing.assert_array_equal(mesh.faces_region("skin"), [[0, 2, 1]])


BROKEN_MSH = {
    "node claim": (MSH.replace("1 4 1 4", "1 4000000000 1 4"), "blocks do not hold the nodes claimed"),
    "block claim": (MSH.replace("3 1 0 4", "3 1 0 4000000000"), r"\$Nodes: the section is cut short"),
    "element claim": (
        MSH.replace("3 1 4 1\n", "3 1 4 4000000000\n"),
        r"\$Elements: the section is cut short",
    ),
    "scattered": (MSH.replace("4\n0 0 0", "4000000000\n0 0 0"), "too scattered"),
    "twice": (MSH.replace("3\n4\n0 0 0", "3\n3\n0 0 0"), "repeated"),
    "unknown node": (MSH.replace("2 1 2 3 4", "2 1 2 3 9"), "unknown node"),
    "node zero": (MSH.replace("2 1 2 3 4", "2 1 2 3 0"), "unknown node"),
    "word": (MSH.replace("0 1 0\n0 0 1", "0 x 0\n0 0 1"), "no number"),
    "kind": (MSH.replace("3 1 4 1\n", "3 1 99 1\n"), "kind of element is not read"),
    "open": (MSH.replace("$EndElements\n", ""), "cut short"),
    "version": (MSH.replace("4.1 0 8", "3.0 0 8"), "line 2: the version is not read"),
    "header": ("hello\n" + MSH, "line 1: the file does not begin"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_MSH.values(), ids=BROKEN_MSH)
def test_broken_msh_is_refused(tmp_path, text, message):
    (tmp_path / "a.msh").write_text(text)
    with pytest.raises(FileFormatError, match=r"a\.msh.*" + message):
        load_mesh(tmp_path / "a.msh")
