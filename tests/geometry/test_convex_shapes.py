"""Convex shapes: faces, edges and what counts as convex."""

from __future__ import annotations

import numpy as np
import pytest

from supple.errors import InputError
from supple.geometry import box_hexes, cylinder_tets, sphere_tets
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.surfaces.convex import ConvexShape


def test_faces_look_outward_and_enclose_the_volume() -> None:
    points = np.random.default_rng(0).normal(size=(30, 3))
    for shape in (ConvexShape.box((1, 2, 3)), ConvexShape.hull(points)):
        normals, offsets = shape.face_planes
        centre = shape.vertices.mean(axis=0)
        assert (normals @ centre < offsets).all()
        assert ((shape.vertices @ normals.T - offsets).max(axis=0) < 1e-12).all()
        assert len(shape.vertices) - len(shape.edges) + len(shape.faces) == 2  # Euler
        assert np.allclose(normals.T @ shape.face_areas, 0, atol=1e-12)
    assert ConvexShape.box((1, 2, 3)).volume == pytest.approx(6)


def test_a_mesh_is_a_shape_if_it_is_convex() -> None:
    box = ConvexShape.of(box_hexes(size=(1, 2, 3), cells=(2, 3, 4)).boundary.surface)
    assert box is not None
    assert (len(box.vertices), len(box.faces), len(box.edges)) == (8, 6, 12)
    drum = ConvexShape.of(cylinder_tets(1.0, 2.0, (3, 1)).boundary.surface)
    assert drum is not None
    assert sorted(len(f) for f in drum.faces)[-2:] == [24, 24]
    assert ConvexShape.of(sphere_tets(1.0, 16).boundary.surface) is None  # too many vertices
    nodes = np.asarray(box_hexes(size=(1, 1, 1), cells=(2, 2, 2)).boundary.surface.nodes).copy()
    triangles = box_hexes(size=(1, 1, 1), cells=(2, 2, 2)).boundary.surface.triangles
    nodes[np.argmin(np.abs(nodes - (0.5, 0.5, 1.0)).sum(axis=1)), 2] = 0.8
    assert ConvexShape.of(SurfaceMesh(nodes, triangles)) is None  # a dent
    assert ConvexShape.of(SurfaceMesh(nodes, triangles[1:])) is None  # open


def test_bad_shapes_are_refused() -> None:
    for make in (
        lambda: ConvexShape.ball(0.0),
        lambda: ConvexShape.capsule((0, 0, 0), (1, 0, 0), -1.0),
        lambda: ConvexShape.box((1, 0, 1)),
        lambda: ConvexShape.hull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]),
    ):
        with pytest.raises(InputError):
            make()
