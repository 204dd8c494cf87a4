"""Vega files: materials, sets, includes, and errors with their lines."""

import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.meshes.samples import _tets

from supple.errors import FileFormatError
from supple.geometry import (
    VegFile,
    VegMaterial,
    load_mesh,
    load_veg,
    save_veg,
)


def test_veg_keeps_materials_sets_and_regions(tmp_path):
    file = VegFile(
        _tets(".veg"),
        materials={
            "rubber": VegMaterial("ENU", (1100.0, 1e6, 0.45)),
            "bone": VegMaterial("ENU", (2e3, 1e9, 0.3)),
        },
        sets={"left": np.arange(20)},
        regions=(("allElements", "rubber"), ("left", "bone")),
    )
    save_veg(tmp_path / "a.veg", file)
    loaded = load_veg(tmp_path / "a.veg")
    assert loaded.materials == file.materials
    assert loaded.regions == file.regions
    np.testing.assert_array_equal(loaded.sets["left"], np.arange(20))
    np.testing.assert_array_equal(loaded.mesh.element_region("left"), np.arange(20))


VEG = """*VERTICES
4 3 0 0
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
*ELEMENTS
TET
1 4 0
1 1 2 3 4
"""


def test_veg_includes_files_of_its_folder_only(tmp_path):
    (tmp_path / "nodes.txt").write_text(VEG[: VEG.index("*ELEMENTS")])
    (tmp_path / "a.veg").write_text("*INCLUDE nodes.txt\n" + VEG[VEG.index("*ELEMENTS") :])
    assert len(load_mesh(tmp_path / "a.veg").tets) == 1
    for other in ("../secret.txt", "/etc/hostname", "sub/x.txt", ""):
        (tmp_path / "b.veg").write_text(f"*INCLUDE {other}\n")
        with pytest.raises(FileFormatError, match=r"b\.veg, line 1: .*same folder"):
            load_mesh(tmp_path / "b.veg")
    (tmp_path / "loop.veg").write_text("*INCLUDE loop.veg\n")
    with pytest.raises(FileFormatError, match="too deeply"):
        load_mesh(tmp_path / "loop.veg")


def test_veg_includes_are_bounded_in_all(tmp_path):
    for k in range(8):
        (tmp_path / f"{k}.veg").write_text(f"*INCLUDE {k + 1}.veg\n" * 200)
    (tmp_path / "8.veg").write_text("# the last\n")
    with pytest.raises(FileFormatError, match="too many files are included"):
        load_mesh(tmp_path / "0.veg")


def test_veg_counts_from_zero_where_it_says_so(tmp_path):
    text = VEG.replace("1 0 0 0\n2 1", "0 0 0 0\n1 1").replace("3 0 1", "2 0 1").replace("4 0 0 1", "3 0 0 1")
    (tmp_path / "zero.veg").write_text(text.replace("1 1 2 3 4\n", "0 0 1 2 3\n"))
    np.testing.assert_array_equal(load_mesh(tmp_path / "zero.veg").tets, [[0, 1, 2, 3]])


BROKEN_VEG = {
    "claim": (VEG.replace("4 3 0 0", "4000000000 3 0 0"), "line 2: the file claims 4000000000 vertices"),
    "fewer": (VEG.replace("4 3 0 0", "3 3 0 0"), "line 6: there are more than the 3 vertices"),
    "short row": (VEG.replace("3 0 1 0", "3 0 1"), "line 5: the vertex is incomplete.*number x y z"),
    "word": (VEG.replace("3 0 1 0", "3 0 one 0"), "line 5: the line is not numbers"),
    "nan": (VEG.replace("3 0 1 0", "3 0 nan 0"), "node 2 is not finite"),
    "gap": (VEG.replace("3 0 1 0", "7 0 1 0"), "line 5: the numbering has a gap"),
    "kind": (VEG.replace("TET", "PRISM"), "line 8: the kind of element is unknown"),
    "range": (VEG.replace("1 1 2 3 4", "1 1 2 3 5"), "tet 0 has a node index out of range"),
    "zero": (VEG.replace("1 1 2 3 4", "1 1 2 3 0"), "tet 0 has a node index out of range"),
    "huge": (VEG.replace("1 1 2 3 4", f"1 1 2 3 {10**30}"), "line 10: a vertex number is out of range"),
    "flat": (VEG.replace("4 0 0 1", "4 1 1 0"), "tet 0 is degenerate"),
    "comma": (VEG.replace("3 0 1 0", ","), "line 5: the line has commas only"),
    "commas": (", ,\n" + VEG, "line 1: the line has commas only"),
    "section": (VEG + "*TEAPOT\n", "line 11: the section is unknown"),
    "set": (VEG + "*SET a\n1, 2\n", "line 11: the set holds element 2"),
    "region": (VEG + "*REGION\na, b\n", "the set 'a', which is missing"),
    "material": (VEG + "*MATERIAL m\nENU, x\n", "line 12: the line is not numbers"),
    "twice": (VEG + VEG, "exactly once"),
    "headless": ("1 2 3\n", "does not begin with a section"),
    "no elements": (VEG[: VEG.index("*ELEMENTS")], "does not hold .ELEMENTS exactly once"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_VEG.values(), ids=BROKEN_VEG)
def test_broken_veg_names_its_line(tmp_path, text, message):
    (tmp_path / "a.veg").write_text(text)
    with pytest.raises(FileFormatError, match=r"a\.veg.*" + message):
        load_mesh(tmp_path / "a.veg")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(alphabet="*,#01 \tVET.-", max_size=6), max_size=3), st.integers(0, 10))
def test_veg_with_odd_lines_is_refused_or_read(tmp_path, odd, at):
    lines = VEG.splitlines()
    (tmp_path / "a.veg").write_text("\n".join(lines[:at] + odd + lines[at:]))
    with contextlib.suppress(FileFormatError):
        mesh = load_mesh(tmp_path / "a.veg")
        assert np.isfinite(mesh.nodes).all()
        assert mesh.elements.max() < len(mesh.nodes)
