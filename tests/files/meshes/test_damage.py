"""Mesh files that are empty, cut short, damaged or of other programs."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.files.meshes.samples import SOLID_SUFFIXES, _sample, _surface, _tets

from supple.errors import FileFormatError, InputError
from supple.geometry import (
    HexMesh,
    Region,
    SurfaceMesh,
    TetMesh,
    box_tets,
    load_mesh,
    save_mesh,
)

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference"


needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="the reference files are not here")


SURFACE_SUFFIXES = (".obj", ".stl", ".ply", ".glb")


HURRIED = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
