"""Mesh files: solids, surfaces and regions return."""

import numpy as np
import pytest
from tests.files.meshes.samples import SOLID_SUFFIXES, _surface, _tets

from supple.geometry import (
    Region,
    box_hexes,
    load_mesh,
    save_mesh,
)


def _hexes(suffix=".vtu"):
    mesh = box_hexes((1, 0.5, 0.25), (3, 2, 2))
    regions = {"left": Region(elements=[0, 1, 2])}
    if suffix != ".veg":
        regions |= {"root": mesh.node_region("x_min"), "tip": Region(faces=mesh.boundary.faces[:3])}
    return mesh.with_regions(regions)


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
