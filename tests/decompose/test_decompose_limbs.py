"""Limbs of solids: cut where they join, at their smallest sections, whole where they bend, taper or pass a junction."""

from __future__ import annotations

import numpy as np
import pytest

from supple.decompose import automatic_labels
from supple.decompose.cut_branches import find_limbs, way_from
from supple.decompose.cut_graph import domain_graph
from supple.decompose.cut_limbs import join_strongest, limb_labels, necks
from supple.examples.shapes import flower_mesh
from supple.geometry import VoxelGrid, box_hexes, box_tets
from supple.geometry.meshes.connectivity import shared_faces
from supple.validation.tree.decompose import wrong_share

CELL, RADIUS = 0.08, 0.2


def rod(a, b, radius=RADIUS, end_radius=None):
    """Points within a radius of the way from a to b, with flat ends; the radius goes over to that at its end."""
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)

    def holds(X):
        t = (X - a) @ (b - a) / ((b - a) @ (b - a))
        apart = np.linalg.norm(X - a - t[..., None] * (b - a), axis=-1)
        here = radius + ((end_radius or radius) - radius) * t
        return (t >= 0) & (t <= 1) & (apart <= here)

    return holds


def ball(centre, radius):
    return lambda X: np.linalg.norm(X - np.array(centre), axis=-1) <= radius


def solid(*bodies, size=1.6, cell=CELL):
    """Tets that fill the union of bodies in a cube of twice this size."""
    count = round(2 * size / cell)
    axis = -size + cell * (np.arange(count) + 0.5)
    X = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    inside = np.any([body(X) for body in bodies], axis=0)
    return VoxelGrid(inside.astype(int), cell, (-size,) * 3).to_tets()


def interfaces(mesh, labels):
    graph = domain_graph(mesh, labels, [str(k) for k in range(labels.max() + 1)])
    assert graph.is_tree
    return graph.interfaces


def directions(count):
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)


def test_a_y_is_cut_at_its_junction():
    ends = np.array([[0, 0, -1.4], [1.0, 0, 1.0], [-1.0, 0, 1.0]])
    mesh = solid(*(rod((0, 0, 0), end) for end in ends))
    labels = automatic_labels(mesh, parts=3)
    found = interfaces(mesh, labels)
    assert len(found) == 2
    for interface in found:
        X = mesh.nodes[interface.nodes]
        along = ends @ X.mean(axis=0) / np.linalg.norm(ends, axis=1)
        arm = ends[np.argmax(along)] / np.linalg.norm(ends[np.argmax(along)])
        assert along.max() < 3 * RADIUS  # near the junction, not somewhere along the arm
        assert np.std(X @ arm) < CELL  # straight across the arm
        assert interface.area < 1.7 * np.pi * RADIUS**2  # steps of the cells make sections across them larger
    share = np.bincount(labels, mesh.volumes) / mesh.volumes.sum()
    assert share.min() > 0.25


def test_the_arms_of_a_star_are_parts():
    arms = 1.3 * directions(5)
    mesh = solid(ball((0, 0, 0), 0.35), *(rod((0, 0, 0), arm, 0.16) for arm in arms), size=1.44)
    labels = automatic_labels(mesh, parts=6)
    found = interfaces(mesh, labels)
    assert len(found) == 5
    middle = mesh.nodes[mesh.elements].mean(axis=1)
    hub = labels[np.argmin(np.linalg.norm(middle, axis=1))]
    assert all(hub in interface.pair for interface in found)
    places = np.array([mesh.nodes[interface.nodes].mean(axis=0) for interface in found])
    assert np.linalg.norm(places, axis=1).max() < 0.35 + 2 * CELL
    cosines = places @ directions(5).T / np.linalg.norm(places, axis=1)[:, None]
    assert sorted(np.argmax(cosines, axis=1).tolist()) == [0, 1, 2, 3, 4]
    assert cosines.max(axis=1).min() > 0.97


def test_the_bar_of_a_t_passes_its_foot():
    bar, foot = rod((-1.2, 0, 0), (1.2, 0, 0)), rod((0, 0, 0), (0, 0, -1.4))
    mesh = solid(bar, foot)
    labels = limb_labels(mesh, shared_faces(mesh))
    middle = mesh.nodes[mesh.elements].mean(axis=1)
    assert labels.max() == 1
    ends = [
        labels[np.argmin(np.linalg.norm(middle - end, axis=1))] for end in ((-1.1, 0, 0), (1.1, 0, 0), (0, 0, -1.3))
    ]
    assert ends[0] == ends[1] != ends[2]
    (interface,) = interfaces(mesh, labels)
    assert abs(mesh.nodes[interface.nodes][:, 2].mean() + RADIUS) < 1.5 * CELL


@pytest.mark.parametrize(
    "bodies",
    [
        (rod((0, 0, -1.2), (0, 0, 1.2)),),
        (rod((0, 0, -1.2), (0, 0, 1.2), 0.4, 0.16),),
        (rod((0, 0, -1.3), (0, 0, -0.7), 0.6), rod((0, 0, -0.8), (0, 0, 1.4), 0.22, 0.16)),
        tuple(ball((np.cos(a), np.sin(a), 0), 0.2) for a in np.linspace(0, 3.8, 60)),
    ],
    ids=["straight", "tapering", "pot and stem", "bent"],
)
def test_what_neither_branches_nor_narrows_between_bulges_is_one_limb(bodies):
    mesh = solid(*bodies, size=1.44)
    assert limb_labels(mesh, shared_faces(mesh)).max() == 0


def test_a_dumbbell_is_cut_at_its_neck():
    mesh = solid(ball((0, 0, -0.8), 0.5), ball((0, 0, 0.8), 0.5), rod((0, 0, -0.8), (0, 0, 0.8), 0.16), size=1.44)
    labels = limb_labels(mesh, shared_faces(mesh))
    assert labels.max() == 1
    (interface,) = interfaces(mesh, labels)
    assert interface.area < 1.2 * np.pi * 0.16**2
    assert np.ptp(mesh.nodes[interface.nodes][:, 2]) < 1e-9


def test_more_parts_than_limbs_are_like_pieces():
    mesh = solid(rod((0, 0, -1.4), (0, 0, 1.4)))
    share = np.bincount(automatic_labels(mesh, parts=3)) / len(mesh.elements)
    assert share.min() > 0.2
    assert share.max() < 0.45


def test_fewer_parts_than_limbs_keep_the_smallest_interfaces():
    radii, arms = (0.16, 0.3, 0.3), 1.4 * directions(3)
    mesh = solid(ball((0, 0, 0), 0.5), *(rod((0, 0, 0), arm, radius) for arm, radius in zip(arms, radii)))
    shared = shared_faces(mesh)
    limbs = limb_labels(mesh, shared)
    assert limbs.max() == 3
    (interface,) = interfaces(mesh, join_strongest(limbs, shared, mesh.volumes, parts=2))
    assert mesh.nodes[interface.nodes].mean(axis=0)[0] > 0.4  # the thin one


def test_the_example_flower_comes_back():
    mesh, known, names = flower_mesh()
    found = automatic_labels(mesh, parts=len(names))
    assert wrong_share(known, found) < 0.05
    assert len(interfaces(mesh, found)) == len(names) - 1


def test_necks_of_a_profile():
    edges = np.linspace(0.0, 10.0, 101)

    def found(area):
        return necks(edges[:-1], edges[1:], area(0.5 * (edges[1:] + edges[:-1])) * 0.1)

    assert found(lambda s: 1.0 + 0 * s) == []
    assert found(lambda s: 11.0 - s) == []
    assert found(lambda s: 0.04 * (1.0 + 0.3 * (abs(s - 5) < 0.1))) == []  # a slight bulge is none
    ((place, width),) = found(lambda s: 0.25 + 0.2 * (s - 6.05) ** 2)
    assert place == pytest.approx(6.05, abs=0.1)
    assert width == pytest.approx(0.5, rel=0.01)


def test_necks_lie_in_the_middle_of_their_slices_from_both_ends():
    """Slices of 0.1: the thinnest one lies around 6.05. A mirrored body has its necks at mirrored places."""
    edges = np.linspace(0.0, 10.0, 101)
    volumes = 0.1 * (0.25 + 0.2 * (0.5 * (edges[1:] + edges[:-1]) - 6.05) ** 2)
    ((place, width),) = necks(edges[:-1], edges[1:], volumes)
    ((mirrored, same),) = necks(-edges[1:], -edges[:-1], volumes)
    assert place == pytest.approx(6.05, rel=1e-9)
    assert mirrored == pytest.approx(-6.05, rel=1e-9)
    assert (width, same) == pytest.approx((0.5, 0.5), rel=1e-9)


def test_ways_stay_inside_the_solid():
    beam = box_tets((4.0, 1.0, 1.0), (8, 2, 2))
    way = way_from(beam, np.flatnonzero(beam.nodes[:, 0] == beam.nodes[:, 0].min()))
    assert np.allclose(way, beam.nodes[:, 0] - beam.nodes[:, 0].min())
    bent = np.ones((10, 10, 1), dtype=int)
    bent[1:9, 1:] = 0
    mesh = VoxelGrid(bent, 1.0).to_hexes()
    one, two = (int(np.argmin(np.linalg.norm(mesh.nodes - end, axis=1))) for end in ((1, 10, 0), (9, 10, 0)))
    assert way_from(mesh, np.array([one]))[two] > 24  # down, across and up, not through the gap of 8


def test_every_element_is_in_a_limb_and_every_limb_in_the_tree():
    mesh = box_hexes((4.0, 1.0, 1.0), (16, 4, 4))
    limbs = find_limbs(mesh, shared_faces(mesh))
    assert set(np.unique(limbs.labels)) <= set(limbs.limbs)
    assert set(limbs.parents) | {limbs.root} == set(limbs.limbs)
