"""Mesh files: round trips, real files, and files that are cut short, damaged or hostile."""

import contextlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supple.errors import FileFormatError, InputError
from supple.geometry import (
    HexMesh,
    Region,
    SurfaceMesh,
    TetMesh,
    VegFile,
    VegMaterial,
    box_hexes,
    box_tets,
    load_bou,
    load_mesh,
    load_veg,
    save_bou,
    save_mesh,
    save_veg,
    sphere_tets,
)

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"
needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="the reference files are not here")

SOLID_SUFFIXES = (".veg", ".msh", ".vtk", ".vtu")
SURFACE_SUFFIXES = (".obj", ".stl", ".ply", ".glb")
HURRIED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _tets(suffix=".vtu"):
    mesh = box_tets((1, 0.5, 0.25), (3, 2, 2))
    regions = {"left": Region(elements=np.arange(20)), "right": Region(elements=np.arange(30, 40))}
    if suffix != ".veg":
        regions |= {"root end": mesh.node_region("x_min"), "tip": Region(faces=mesh.boundary.faces[5:9])}
    return mesh.with_regions(regions)


def _hexes(suffix=".vtu"):
    mesh = box_hexes((1, 0.5, 0.25), (3, 2, 2))
    regions = {"left": Region(elements=[0, 1, 2])}
    if suffix != ".veg":
        regions |= {"root": mesh.node_region("x_min"), "tip": Region(faces=mesh.boundary.faces[:3])}
    return mesh.with_regions(regions)


def _surface():
    return sphere_tets(1.0, 2).boundary.surface.moved(at=(1, 2, 3))


def _sample(suffix):
    return _tets(suffix) if suffix in SOLID_SUFFIXES else _surface()


@pytest.mark.parametrize("suffix", SOLID_SUFFIXES)
@pytest.mark.parametrize("make", [_tets, _hexes])
def test_solids_and_their_regions_return_bit_for_bit(tmp_path, suffix, make):
    mesh = make(suffix)
    save_mesh(tmp_path / f"mesh{suffix}", mesh)
    loaded = load_mesh(tmp_path / f"mesh{suffix}")
    assert type(loaded) is type(mesh)
    assert sorted(loaded.regions) == sorted(mesh.regions)
    assert loaded.content_hash == mesh.content_hash


@pytest.mark.parametrize("suffix", [".msh", ".vtk", ".vtu", ".obj"])
def test_surfaces_return_bit_for_bit(tmp_path, suffix):
    save_mesh(tmp_path / f"ball{suffix}", _surface())
    assert load_mesh(tmp_path / f"ball{suffix}").content_hash == _surface().content_hash


@pytest.mark.parametrize("suffix", [".stl", ".ply", ".glb"])
def test_surfaces_return_in_single_precision(tmp_path, suffix):
    surface = _surface()
    save_mesh(tmp_path / f"ball{suffix}", surface)
    loaded = load_mesh(tmp_path / f"ball{suffix}")
    assert loaded.edges == surface.edges  # closed again: the vertices of an .stl are welded
    assert loaded.volume == pytest.approx(surface.volume, rel=1e-5)
    np.testing.assert_allclose(loaded.bounds, surface.bounds, atol=1e-6)  # .glb is turned there and back
    if suffix != ".stl":
        np.testing.assert_allclose(loaded.nodes, surface.nodes, atol=1e-6)


def test_text_stl_and_polygons_of_obj(tmp_path):
    corners = ["0 0 0", "1 0 0", "0 1 0"]
    facet = "facet normal 0 0 1\nouter loop\n" + "".join(f"vertex {c}\n" for c in corners) + "endloop\nendfacet\n"
    (tmp_path / "a.stl").write_text(f"solid a\n{facet}endsolid a\n")
    assert load_mesh(tmp_path / "a.stl").area == pytest.approx(0.5)
    (tmp_path / "q.obj").write_text("# quad\nv 0 0 0\nv 1 0 0\nvt 0 0\nv 1 1 0\nv 0 1 0\nf -4/1 2/1/1 3//1 4\n")
    assert load_mesh(tmp_path / "q.obj").area == pytest.approx(1.0)


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
        load_mesh(tmp_path / "a.veg")


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


@pytest.mark.parametrize("suffix", SOLID_SUFFIXES + SURFACE_SUFFIXES)
def test_empty_missing_and_misnamed_files(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_mesh(path)
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match=f"a{suffix}: the file is empty"):
        load_mesh(path)
    for other in SOLID_SUFFIXES + SURFACE_SUFFIXES:
        if other != suffix:
            save_mesh(tmp_path / f"b{other}", _sample(other))
            path.write_bytes((tmp_path / f"b{other}").read_bytes())
            with pytest.raises(FileFormatError, match=f"a{suffix}"):
                load_mesh(path)
    with pytest.raises(FileFormatError, match=r"not known.*\.veg, \.msh"):
        load_mesh(tmp_path / "a.docx")


@pytest.mark.parametrize("suffix", SOLID_SUFFIXES + SURFACE_SUFFIXES)
@HURRIED
@given(part=st.floats(0, 1, exclude_max=True))
def test_files_cut_short_are_refused_or_whole(tmp_path, suffix, part):
    path = tmp_path / f"a{suffix}"
    mesh = _sample(suffix)
    save_mesh(path, mesh)
    data = path.read_bytes()
    # text without counts cannot show that its last rows are gone: their part of the file is left out here
    last_kept = {".obj": b"\nv ", ".veg": b"\n72 "}.get(suffix)
    tail = data.rindex(last_kept) + 1 if last_kept else len(data)
    path.write_bytes(data[: int(part * tail)])
    with contextlib.suppress(FileFormatError):
        loaded = load_mesh(path)
        # what was cut was no part of the mesh: a line end, or the marks of a region behind it
        np.testing.assert_array_equal(loaded.nodes, mesh.nodes)
        np.testing.assert_array_equal(loaded.elements, mesh.elements)


@pytest.mark.parametrize("suffix", SOLID_SUFFIXES + SURFACE_SUFFIXES)
@HURRIED
@given(at=st.floats(0, 1, exclude_max=True), value=st.integers(0, 255))
def test_damaged_bytes_give_a_mesh_or_an_error_of_ours(tmp_path, suffix, at, value):
    path = tmp_path / f"a{suffix}"
    save_mesh(path, _sample(suffix))
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] = value
    path.write_bytes(bytes(data))
    with contextlib.suppress(FileFormatError):
        assert isinstance(load_mesh(path), TetMesh | HexMesh | SurfaceMesh)


@pytest.mark.parametrize("suffix", SOLID_SUFFIXES + SURFACE_SUFFIXES)
@HURRIED
@given(data=st.binary(min_size=1, max_size=300))
def test_garbage_is_refused(tmp_path, suffix, data):
    (tmp_path / f"a{suffix}").write_bytes(data)
    with pytest.raises(FileFormatError):
        load_mesh(tmp_path / f"a{suffix}")


def test_formats_refuse_what_they_cannot_hold(tmp_path):
    tets = _tets()
    with pytest.raises(InputError, match=r"surfaces only.*boundary\.surface"):
        save_mesh(tmp_path / "a.stl", tets)
    with pytest.raises(InputError, match=r"region 'root end': a \.veg file holds sets of elements only"):
        save_mesh(tmp_path / "a.veg", tets)
    with pytest.raises(InputError, match="tets or hexes only"):
        save_mesh(tmp_path / "a.veg", _surface())
    shared = tets.with_regions({"a": Region(elements=[0, 1]), "b": Region(elements=[1])})
    with pytest.raises(InputError, match=r"region 'b'.*share elements"):
        save_mesh(tmp_path / "a.msh", shared)
    with pytest.raises(InputError, match="cannot hold this name"):
        save_mesh(tmp_path / "a.veg", tets.with_regions({"my set": Region(elements=[0])}))
    with pytest.raises(InputError, match="no regions"):
        save_mesh(tmp_path / "a.ply", _surface().with_regions({"a": [0]}))
    assert not list(tmp_path.iterdir())


def test_isolated_vertices_of_a_file_can_be_dropped(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 9 9 9\nv 0 1 0\nf 1 2 4\n")
    with pytest.raises(FileFormatError, match=r"a\.obj: 1 node\(s\) belong to no element, first node 2.*drop"):
        load_mesh(tmp_path / "a.obj")
    assert len(load_mesh(tmp_path / "a.obj", isolated="drop").nodes) == 3


@needs_reference
@pytest.mark.parametrize(
    ("name", "nodes", "elements"),
    [
        ("meshes/Armadillo13K.msh", 13230, 54985),
        ("meshes/comb.tet.veg", 1623, 5844),
        ("meshes/simpleBridge_tet.veg", 4000, 12827),
        ("meshes/simpleBridge_voxel.veg", 3923, 1736),
        ("meshes/scorpion_low_resolution.obj", 6315, 12626),
        ("reduced/asianDragon.veg", 959, 2591),
    ],
)
def test_reference_files_are_read(name, nodes, elements):
    mesh = load_mesh(REFERENCE / name)
    assert (len(mesh.nodes), len(mesh.elements)) == (nodes, elements)
    surface = mesh if isinstance(mesh, SurfaceMesh) else mesh.boundary.surface
    assert surface.edges.is_closed
    if not isinstance(mesh, SurfaceMesh):
        assert surface.volume == pytest.approx(mesh.volumes.sum(), rel=1e-9)


@needs_reference
def test_reference_beam_is_the_generated_one():
    beam = np.load(REFERENCE / "floating" / "beam_fem.npz")
    mesh = box_tets((1.0, 0.1, 0.1), (20, 4, 4), pattern="uniform")
    np.testing.assert_allclose(mesh.nodes, beam["nodes"], atol=1e-15)
    np.testing.assert_array_equal(mesh.tets, beam["tets"])


@needs_reference
def test_reference_draco_is_refused():
    with pytest.raises(FileFormatError, match=r"Mir\.glb: .*Draco"):
        load_mesh(REFERENCE / "meshes" / "Mir.glb")
