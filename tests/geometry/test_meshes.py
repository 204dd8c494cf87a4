"""Meshes: volumes, closed and outward boundaries, regions, and an error with a number for each bad input."""

import pickle

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import HexMesh, Region, SurfaceMesh, TetMesh, VoxelGrid
from supple.geometry.generators import shapes

SOLIDS = {
    "box_tets": lambda: shapes.box_tets((1.0, 0.2, 0.3), (5, 2, 3)),
    "box_hexes": lambda: shapes.box_hexes((1.0, 0.2, 0.3), (5, 2, 3)),
    "cylinder_tets": lambda: shapes.cylinder_tets(0.5, 2.0, (3, 4)),
    "cylinder_hexes": lambda: shapes.cylinder_hexes(0.5, 2.0, (3, 4)),
    "sphere_tets": lambda: shapes.sphere_tets(0.7, 4),
    "sphere_hexes": lambda: shapes.sphere_hexes(0.7, 4),
    "voxel_hexes": lambda: VoxelGrid(np.tri(3, 3, dtype=int)[:, :, None] + [[[0, 1]]], 0.1).to_hexes(),
}
UNIT_TET = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
UNIT_HEX = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])


@pytest.mark.parametrize("make", SOLIDS.values(), ids=SOLIDS)
def test_boundary_is_closed_outward_and_encloses_the_volume(make):
    mesh = make()
    surface = mesh.boundary.surface
    assert (mesh.volumes > 0).all()
    assert surface.edges.is_closed
    assert surface.edges.is_oriented
    assert len(surface.nodes) - surface.edges.total + len(surface.triangles) == 2  # Euler: one body, no tunnel
    # divergence theorem; quads are planar or split alike, the ball's quads are warped and lose second order
    tolerance = 0.02 if make is SOLIDS["sphere_hexes"] else 1e-12
    assert surface.volume == pytest.approx(mesh.volumes.sum(), rel=tolerance)
    # each outward normal leaves the element behind it
    triangles, behind = mesh.boundary.triangles, mesh.boundary.triangle_elements
    out = mesh.nodes[triangles].mean(axis=1) - mesh.nodes[mesh.elements[behind]].mean(axis=1)
    assert (np.einsum("ij,ij->i", out, surface.area_vectors) > 0).all()


def test_box_follows_its_contract():
    beam = shapes.box_tets((1.0, 0.1, 0.1), (20, 4, 4), pattern="uniform")
    assert beam.nodes.shape == (525, 3)
    assert beam.tets.shape == (1920, 4)
    np.testing.assert_allclose(beam.bounds, [[0, -0.05, -0.05], [1, 0.05, 0.05]])
    assert beam.volumes.sum() == pytest.approx(0.01, rel=1e-12)
    assert np.array_equal(np.sort(beam.boundary.faces, axis=1), np.sort(beam.boundary.triangles, axis=1))


@pytest.mark.parametrize(("make", "exact"), [(shapes.sphere_tets, 4 * np.pi / 3), (shapes.sphere_hexes, 4 * np.pi / 3)])
def test_ball_converges_with_second_order(make, exact):
    errors = [1 - make(1.0, n).volumes.sum() / exact for n in (4, 8)]
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_cylinder_converges_with_second_order():
    errors = [1 - shapes.cylinder_tets(0.5, 2.0, (n, 1)).volumes.sum() / (np.pi / 2) for n in (4, 8)]
    assert 1.9 < np.log2(errors[0] / errors[1]) < 2.1


def test_round_bodies_have_no_flat_element():
    # volume against the longest edge cubed: 0.167 for the corner of a cube, 0 for a flat tet
    for mesh in (shapes.sphere_tets(1.0, 6), shapes.cylinder_tets(1.0, 1.0, (6, 6))):
        a, b = np.triu_indices(4, 1)
        edges = np.linalg.norm(mesh.nodes[mesh.tets[:, a]] - mesh.nodes[mesh.tets[:, b]], axis=2)
        assert (mesh.volumes / edges.max(axis=1) ** 3).min() > 0.005


def test_hex_volume_is_that_of_its_trilinear_map():
    corners = UNIT_HEX + np.random.default_rng(1).uniform(-0.15, 0.15, (8, 3))
    mesh = HexMesh(corners, [np.arange(8)])
    # Monte Carlo would be slow; Gauss of order 3 on the same map is the second opinion
    point, weight = np.polynomial.legendre.leggauss(3)
    volume = 0.0
    for i, x in enumerate(point):
        for j, y in enumerate(point):
            for k, z in enumerate(point):
                signs = 2 * UNIT_HEX - 1
                f = 1 + signs * [x, y, z]
                g = signs * np.stack([f[:, 1] * f[:, 2], f[:, 0] * f[:, 2], f[:, 0] * f[:, 1]], axis=1) / 8
                volume += weight[i] * weight[j] * weight[k] * np.linalg.det(corners.T @ g)
    assert mesh.volumes[0] == pytest.approx(volume, rel=1e-13)


def test_arrays_are_frozen():
    mesh = shapes.box_tets((1, 1, 1), (1, 1, 1))
    for array in (mesh.nodes, mesh.tets, mesh.boundary.triangles):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        mesh.nodes = None


def test_inverted_elements_are_repaired_or_refused():
    tets = [[0, 1, 2, 3], [4, 6, 5, 7]]
    nodes = np.concatenate([UNIT_TET, UNIT_TET + 2])
    assert TetMesh(nodes, tets).volumes == pytest.approx([1 / 6, 1 / 6])
    with pytest.raises(InputError, match=r"tet 1 is inverted.*repair"):
        TetMesh(nodes, tets, orientation="refuse")
    mirrored = [[4, 5, 6, 7, 0, 1, 2, 3]]
    assert HexMesh(UNIT_HEX, mirrored).volumes == pytest.approx([1.0])
    with pytest.raises(InputError, match="hex 0 is inverted"):
        HexMesh(UNIT_HEX, mirrored, orientation="refuse")


BAD = {
    "nan": (lambda: TetMesh(UNIT_TET * [1, np.nan, 1], [[0, 1, 2, 3]]), "node 0 is not finite"),
    "range": (
        lambda: TetMesh(UNIT_TET, [[0, 1, 2, 3], [0, 1, 2, 4]]),
        r"tet 1 has a node index out of range.*0 to 3",
    ),
    "negative": (lambda: TetMesh(UNIT_TET, [[0, 1, 2, -1]]), "tet 0 has a node index out of range"),
    "twice": (lambda: TetMesh(UNIT_TET, [[0, 1, 2, 2]]), "tet 0 has a node twice"),
    "flat": (lambda: TetMesh(UNIT_TET * [1, 1, 0], [[0, 1, 2, 3]]), "tet 0 is degenerate"),
    "sliver": (lambda: TetMesh(UNIT_TET * [1, 1, 1e-12], [[0, 1, 2, 3]]), "tet 0 is degenerate"),
    "floats": (lambda: TetMesh(UNIT_TET, np.zeros((1, 4))), "not whole numbers"),
    "shape": (lambda: TetMesh(UNIT_TET, [[0, 1, 2]]), "wrong shape"),
    "none": (lambda: TetMesh(UNIT_TET, np.empty((0, 4), int)), "wrong shape"),
    "isolated": (
        lambda: TetMesh(np.concatenate([UNIT_TET, [[5, 5, 5]] * 2]), [[0, 1, 2, 3]]),
        r"2 node\(s\) belong to no element, first node 4.*isolated=\"drop\"",
    ),
    "folded": (lambda: HexMesh(UNIT_HEX, [[0, 1, 2, 3, 6, 7, 4, 5]]), "hex 0 is (folded|degenerate)"),
    "empty region": (
        lambda: TetMesh(UNIT_TET, [[0, 1, 2, 3]], {"handle": []}),
        "region 'handle'.*empty",
    ),
    "region range": (
        lambda: TetMesh(UNIT_TET, [[0, 1, 2, 3]], {"handle": [4]}),
        "region 'handle'.*out of range",
    ),
    "region faces": (
        lambda: SurfaceMesh(UNIT_TET[:3], [[0, 1, 2]], {"rim": Region(faces=[[0, 1, 2]])}),
        "region 'rim'.*do not fit",
    ),
    "word": (lambda: TetMesh(UNIT_TET, [[0, 1, 2, 3]], orientation="mend"), "orientation.*repair, refuse"),
    "box": (lambda: shapes.box_tets((1, -1, 1), (1, 1, 1)), "positive edges"),
    "cells": (lambda: shapes.box_tets((1, 1, 1), (1, 0, 1)), "positive whole number"),
    "too many": (lambda: shapes.box_hexes((1, 1, 1), (10**4, 10**4, 10**4)), "too many cells"),
    "radius": (lambda: shapes.sphere_tets(0.0, 3), "radius is out of range"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_refused_with_its_number(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_overlapping_elements_are_refused():
    with pytest.raises(InputError, match=r"tet 0 overlaps"):
        _ = TetMesh(UNIT_TET, [[0, 1, 2, 3], [0, 1, 2, 3]]).boundary


def test_isolated_nodes_are_dropped_with_their_regions_renumbered():
    nodes = np.concatenate([[[9.0, 9, 9]], UNIT_TET])
    mesh = TetMesh(nodes, [[1, 2, 3, 4]], {"a": [0, 1, 4]}, isolated="drop")
    np.testing.assert_array_equal(mesh.nodes, UNIT_TET)
    np.testing.assert_array_equal(mesh.tets, [[0, 1, 2, 3]])
    np.testing.assert_array_equal(mesh.node_region("a"), [0, 3])


def test_regions_by_name_axis_predicate_and_indices():
    mesh = shapes.box_tets((2.0, 1.0, 1.0), (4, 2, 2)).with_regions({"middle": Region(elements=[0, 1]), "tip": [44]})
    assert (mesh.nodes[mesh.node_region("x_min")][:, 0] == 0).all()
    assert (mesh.nodes[mesh.node_region("z_max")][:, 2] == 0.5).all()
    assert len(mesh.node_region("y_min")) == 5 * 3
    np.testing.assert_array_equal(mesh.node_region("middle"), np.unique(mesh.tets[:2]))
    np.testing.assert_array_equal(mesh.node_region(lambda X: X[:, 0] > 1.9), mesh.node_region("x_max"))
    np.testing.assert_array_equal(mesh.node_region([5, 3, 5]), [3, 5])
    np.testing.assert_array_equal(mesh.element_region("middle"), [0, 1])
    with pytest.raises(InputError, match=r"no region is called 'x_mni'.*middle, tip, x_min.*Did you mean 'x_min'"):
        mesh.node_region("x_mni")
    with pytest.raises(InputError, match="out of range"):
        mesh.node_region([45])
    with pytest.raises(InputError, match="one truth value a node"):
        mesh.node_region(lambda X: X[0] > 1)
    with pytest.raises(InputError, match="holds no node"):
        mesh.node_region(lambda X: X[:, 0] > 3)


@pytest.mark.parametrize("make", [shapes.box_tets, shapes.box_hexes])
def test_faces_of_a_region_carry_its_area(make):
    mesh = make((2.0, 1.0, 0.5), (4, 3, 2))
    for name, normal in {"x_max": (0.5, 0, 0), "z_min": (0, 0, -2.0)}.items():
        a, b, c = np.moveaxis(mesh.nodes[mesh.faces_region(name)], 1, 0)
        np.testing.assert_allclose(np.cross(b - a, c - a).sum(axis=0) / 2, normal, atol=1e-15)
    chosen = mesh.boundary.faces[3:5]
    listed = mesh.with_regions({"two": Region(faces=chosen)})
    assert set(map(tuple, np.sort(np.unique(listed.faces_region("two"))[None]))) == {tuple(np.unique(chosen))}
    with pytest.raises(InputError, match="no boundary face"):
        mesh.faces_region([0, 1])


def test_moving_scaling_merging_and_welding():
    mesh = shapes.box_tets((1, 1, 1), (2, 2, 2)).with_regions({"a": [0]})
    quarter = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # about z
    moved = mesh.moved(at=(1, 2, 3), rotation=quarter)
    np.testing.assert_allclose(moved.nodes, mesh.nodes @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + [1, 2, 3], atol=1e-15)
    assert mesh.scaled(2.0).volumes.sum() == pytest.approx(8.0)
    pair = mesh.merged(mesh.moved(at=(1, 0, 0)))
    assert pair.volumes.sum() == pytest.approx(2.0)
    np.testing.assert_array_equal(pair.node_region("a"), [0, 27])
    joined = pair.welded(tolerance=1e-9)
    assert len(joined.nodes) == 2 * 27 - 9
    assert joined.boundary.surface.volume == pytest.approx(2.0)
    assert joined.boundary.surface.area == pytest.approx(10.0)
    with pytest.raises(InputError, match="neither a quaternion"):
        mesh.moved(rotation=np.diag([1, 1, -1.0]))
    with pytest.raises(InputError, match="not positive"):
        mesh.scaled(-1.0)


def test_content_hash_sees_everything():
    mesh = shapes.box_tets((1, 1, 1), (1, 1, 1))
    others = [mesh.scaled(1.0 + 1e-15), mesh.with_regions({"a": [0]}), mesh.with_regions({"b": [0]})]
    others.append(mesh.with_regions({"a": Region(elements=[0])}))
    assert len({m.content_hash for m in [mesh, *others]}) == 5
    assert shapes.box_tets((1, 1, 1), (1, 1, 1)).content_hash == mesh.content_hash


def test_voxel_grid_keeps_its_materials():
    materials = np.zeros((3, 2, 2), int)
    materials[0, 0, 0], materials[1], materials[2, 1, 1] = 3, 1, 2
    grid = VoxelGrid(materials, 0.5, (1, 2, 3))
    assert grid.material_counts == {1: 4, 2: 1, 3: 1}
    assert grid.volume == pytest.approx(6 * 0.125)
    for mesh, per_voxel in ((grid.to_hexes(), 1), (grid.to_tets(), 6)):
        assert mesh.volumes.sum() == pytest.approx(grid.volume)
        assert len(mesh.element_region("material_1")) == 4 * per_voxel
        centre = mesh.nodes[mesh.elements[mesh.element_region("material_3")]].mean(axis=(0, 1))
        np.testing.assert_allclose(centre, (1.25, 2.25, 3.25))
    np.testing.assert_allclose(grid.voxel_centres[0], (1.25, 2.25, 3.25))
    assert grid.surface().volume == pytest.approx(grid.volume)
    with pytest.raises(InputError, match="holds no voxel"):
        VoxelGrid(np.zeros((2, 2, 2), int), 1.0)
    with pytest.raises(InputError, match="whole numbers"):
        VoxelGrid(np.ones((2, 2, 2)), 1.0)
    with pytest.raises(InputError, match="voxel size is not positive"):
        VoxelGrid(materials, 0.0)


@pytest.mark.parametrize("name", ["box_tets", "voxel_hexes", "surface"])
def test_meshes_come_back_from_bytes_as_they_were(name):
    """As other processes get them."""
    mesh = SOLIDS["sphere_tets"]().boundary.surface if name == "surface" else SOLIDS[name]()
    back = pickle.loads(pickle.dumps(mesh))
    assert type(back) is type(mesh)
    assert back.nodes.tobytes() == mesh.nodes.tobytes()
    assert back.elements.tobytes() == mesh.elements.tobytes()
    assert set(back.regions) == set(mesh.regions)
    assert all(np.array_equal(back.regions[name].nodes, region.nodes) for name, region in mesh.regions.items())
    assert not back.nodes.flags.writeable
