"""Surfaces for contact: what is refused and where, crossing triangles, and distances from obstacles with formulas."""

from __future__ import annotations

import re

import numpy as np
import pytest

from supple.bench.contact import cube_sphere
from supple.contact import Capsule, ContactSurface, Obstacle, check_closed, crossing_triangles, distance
from supple.errors import InputError
from supple.geometry import box_tets
from supple.interaction.obstacles import Box, HeightField, Plane, Sphere

CUBE = box_tets((1.0, 1.0, 1.0), (2, 2, 2)).boundary.surface


def test_areas_add_up() -> None:
    surface = ContactSurface.of(CUBE)
    for area in (surface.vertex_area, surface.edge_area, surface.triangle_area):
        assert area.sum() == pytest.approx(6.0)
    assert surface.closed.tolist() == [True]
    assert (
        np.sort(surface.triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2) == surface.edges[surface.triangle_edges]
    ).all()


def test_the_size_of_elements_is_a_mean_edge_or_a_mean_diameter() -> None:
    tet = (
        np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]]),
        np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]),
    )
    balls = np.zeros((3, 3)) + np.arange(3)[:, None], np.zeros((0, 3))
    both = ContactSurface.joined([ContactSurface.of(tet), ContactSurface.of(balls, radius=[0.1, 0.2, 0.6])])
    edges = 1 + 2 + 3 + np.sqrt(5) + np.sqrt(10) + np.sqrt(13)
    np.testing.assert_allclose(both.element_size, [edges / 6, 0.6], rtol=1e-12)
    np.testing.assert_allclose(both.vertex_area[4:], np.pi * np.array([0.01, 0.04, 0.36]), rtol=1e-12)


def test_joined_surfaces_keep_their_numbers() -> None:
    nodes, triangles = cube_sphere(2)
    one, two = ContactSurface.of(CUBE, radius=0.1), ContactSurface.of((nodes, triangles[:-1]), fixed=True)
    both = ContactSurface.joined([one, ContactSurface.joined([two, one])])
    assert both.body_count == 3
    assert both.radius.tolist() == [0.1, 0.0, 0.1]
    assert both.closed.tolist() == [True, False, True]
    assert both.fixed.tolist() == [False, True, False]
    assert (both.vertex_body[both.triangles] == both.triangle_body[:, None]).all()
    np.testing.assert_array_equal(both.rest[both.triangles[both.triangle_body == 2]], CUBE.nodes[CUBE.triangles])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mesh": ([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])}, "triangle 0 is degenerate"),
        ({"mesh": (CUBE.nodes, CUBE.triangles[:, ::-1])}, "inside out"),
        ({"mesh": CUBE, "radius": -1.0}, "radius is negative"),
    ],
)
def test_surfaces_that_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ContactSurface.of(**change)  # type: ignore[arg-type]


def test_an_open_surface_is_reported_with_its_place() -> None:
    check_closed(ContactSurface.of(CUBE))
    hole = ContactSurface.joined([ContactSurface.of(CUBE), ContactSurface.of((CUBE.nodes, CUBE.triangles[1:]))])
    with pytest.raises(InputError, match=r"body 1: .* 3 of 72 edges lack a second triangle, .* near \("):
        check_closed(hole)
    torn = CUBE.triangles.copy()
    torn[5] = torn[5, ::-1]
    with pytest.raises(InputError, match="turned opposite ways"):
        check_closed(ContactSurface.of((CUBE.nodes, torn)))


def test_a_surface_that_cuts_itself_is_reported_with_its_place() -> None:
    nodes, triangles = cube_sphere(8)
    ball = ContactSurface.of((nodes, triangles))
    assert len(crossing_triangles(ball)) == 0
    pulled = nodes.copy()
    top = nodes[:, 2].argmax()
    pulled[top, 2] = -1.2  # through the other side
    with pytest.raises(InputError, match=r"body 0: .* cuts itself: triangle \d+ crosses triangle \d+ near \(") as error:
        check_closed(ball, pulled)
    named = [int(number) for number in re.findall(r"triangle (\d+)", str(error.value))]
    assert (triangles[named] == top).any()
    assert nodes[triangles[named], 2].min() < -0.9
    pulled[top, 2] = -0.5  # a deep dent does not cut
    check_closed(ball, pulled)


@pytest.mark.parametrize("shift", [1.0, 0.5, 0.999999])
def test_bodies_that_touch_or_overlap_on_aligned_grids_cross(shift: float) -> None:
    """Corners on corners and edges on edges: rounding cannot answer, rational numbers do."""
    cube = ContactSurface.of(CUBE)
    pair = ContactSurface.joined([cube, cube])
    x = np.concatenate([cube.rest, cube.rest + np.array([0, 0, shift])])
    found = crossing_triangles(pair, x)
    assert len(found)
    assert (pair.triangle_body[found[:, 0]] != pair.triangle_body[found[:, 1]]).all()
    x[cube.count :, 2] += 1.0 - shift + 1e-9
    assert len(crossing_triangles(pair, x)) == 0


def test_crossing_triangles_are_those_an_edge_pierces() -> None:
    """Against all pairs: two triangles without common corners cross if an edge of one pierces the other."""
    random = np.random.default_rng(4)
    corners = random.uniform(size=(60, 3, 3)) * 0.6 + random.uniform(size=(60, 1, 3))
    surface = ContactSurface.of((corners.reshape(-1, 3), np.arange(180).reshape(-1, 3)))

    def volume(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> float:
        return float(np.linalg.det([b - a, c - a, d - a]))

    def pierced(t: np.ndarray, p: np.ndarray, q: np.ndarray) -> bool:
        ring = [volume(p, q, t[k], t[(k + 1) % 3]) for k in range(3)]
        return volume(*t, p) * volume(*t, q) < 0 and (min(ring) > 0 or max(ring) < 0)

    expected = {
        (i, j)
        for i in range(60)
        for j in range(i + 1, 60)
        for one, two in ((corners[i], corners[j]), (corners[j], corners[i]))
        for k in range(3)
        if pierced(one, two[k], two[(k + 1) % 3])
    }
    assert len(expected) > 20
    assert {tuple(pair) for pair in crossing_triangles(surface).tolist()} == expected


OBSTACLES = [
    Plane((1.0, 2.0, 2.0), 0.3),
    Sphere((0.1, 0.2, -0.1), 0.6),
    Box((0.1, 0.0, 0.2), (0.8, 1.0, 1.2), (0.3, -0.2, 0.5)),
    Capsule((-0.4, 0.1, 0.0), (0.5, 0.3, 0.4), 0.3),
    HeightField([[0.0, 0.1], [0.4, 0.5]], origin=(-2, -2), spacing=4.0),
]


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda o: type(o).__name__)
def test_the_normal_of_an_obstacle_is_the_gradient_of_its_distance(obstacle: Obstacle) -> None:
    x, h = np.random.default_rng(0).uniform(-1, 1, size=(300, 3)), 1e-6
    gap, normal = distance(obstacle, x)
    assert (gap < 0).sum() > 10 < (gap > 0).sum()
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-12)
    slopes = np.stack(
        [(distance(obstacle, x + h * e)[0] - distance(obstacle, x - h * e)[0]) / (2 * h) for e in np.eye(3)]
    )
    wrong = np.abs(slopes.T - normal).max(axis=1) > 1e-6
    assert wrong.sum() <= 1  # a point may lie where the nearest face changes
    foot, _ = distance(obstacle, x - gap[:, None] * normal)
    np.testing.assert_allclose(foot[~wrong], 0.0, atol=1e-9)


def test_capsules_that_are_refused_and_their_axis() -> None:
    with pytest.raises(InputError, match="radius is out of range"):
        Capsule((0, 0, 0), (1, 0, 0), 0.0)
    with pytest.raises(InputError, match="no formula for the distance"):
        distance("wall", np.zeros((1, 3)))  # type: ignore[arg-type]
    for end in ((1, 0, 0), (0, 0, 1), (0, 0, 0)):
        gap, normal = distance(Capsule((0, 0, 0), end, 0.2), np.zeros((1, 3)))
        assert gap[0] == pytest.approx(-0.2)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        assert normal[0] @ np.array(end) == pytest.approx(0.0)
