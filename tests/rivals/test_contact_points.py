"""Fast contact of points and balls finds what all pairs in plain arrays do, on random scenes; trees lose nothing.

The rival's rule for a ball: a place of a surface touches it if none of the triangles that hold the place comes nearer.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.rivals.test_contact_pairs import all_pairs, bumpy_ball, nearest_features, turned, winding_number

from supple.contact import (
    BALL_TRIANGLE,
    EDGE_EDGE,
    POINT_POINT,
    VERTEX_TRIANGLE,
    ContactPairs,
    ContactSurface,
    Detector,
)
from supple.geometry import box_tets

Array = np.ndarray
MARGIN, DEPTH = 0.03, 0.06
NONE = np.zeros((0, 3), int)


def cloud(random: np.random.Generator, count: int, largest: float) -> ContactSurface:
    """Points around the origin, a third of them without a radius."""
    radius = random.uniform(0.01, largest, count) * (random.random(count) > 1 / 3)
    return ContactSurface.of((random.uniform(-0.9, 0.9, (count, 3)), NONE), radius=radius)


def bowl(random: np.random.Generator) -> ContactSurface:
    """A box with a pyramid cut into its upper side: balls touch its faces two and three at a time."""
    box = box_tets((1.2, 1.2, 0.5), (4, 4, 1)).boundary.surface
    nodes = np.array(box.nodes) + 0.01 * random.normal(size=box.nodes.shape)
    nodes -= (nodes.min(axis=0) + nodes.max(axis=0)) / 2
    top = nodes[:, 2] > 0.1
    nodes[top, 2] -= 0.35 * np.maximum(0, 1 - np.abs(nodes[top, :2]).max(axis=1) / 0.6)
    return ContactSurface.of((nodes, box.triangles))


def scene(seed: int) -> tuple[ContactSurface, Array]:
    random = np.random.default_rng(seed)
    bodies = [bumpy_ball(random), cloud(random, 60, 0.2), bowl(random), cloud(random, 40, 0.3)]
    x = [turned(b.rest, random) if k in (0, 3) else b.rest.copy() for k, b in enumerate(bodies)]
    x[0][:, 2] += 0.6
    return ContactSurface.joined(bodies), np.concatenate(x)


def rival_places(surface: ContactSurface, x: Array) -> dict[tuple[int, ...], float]:
    """Point and nearest points of the places where it touches closed bodies, with the gaps."""
    found = {}
    for body in np.flatnonzero(~surface.is_points):
        triangles = surface.triangles[surface.triangle_body == body]
        corners = x[triangles]
        face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        for v in np.flatnonzero(surface.is_points[surface.vertex_body]):
            distance, weights = nearest_features(x[v], corners)
            place = np.einsum("mk,mka->ma", weights, corners)
            radius = surface.vertex_radius[v]
            inside = winding_number(x[v], corners) > 0.5
            if inside:
                against = np.where(((x[v] - place) * face).sum(axis=1) < 0, distance, np.inf)
                t = against.argmin()
                if distance[t] <= DEPTH:
                    found[(int(v), *sorted(triangles[t][weights[t] > 1e-9].tolist()))] = -distance[t] - radius
                continue
            for t in np.flatnonzero(distance - radius < MARGIN):
                holds = nearest_features(place[t], corners)[0] < 1e-9
                is_least = (distance[holds] >= distance[t] - 1e-12).all()
                is_seen = winding_number(place[t] + 1e-5 * (x[v] - place[t]), corners) < 0.5
                if is_least and is_seen and (radius > 0 or t == distance.argmin()):
                    key = (int(v), *sorted(triangles[t][weights[t] > 1e-9].tolist()))
                    found[key] = distance[t] - radius
    return found


def rival_balls(surface: ContactSurface, x: Array, self_contact: bool) -> dict[tuple[int, ...], float]:
    """Pairs of points whose balls are near, with the gaps."""
    points = np.flatnonzero(surface.is_points[surface.vertex_body])
    found = {}
    for n, i in enumerate(points):
        for j in points[n + 1 :]:
            radii = surface.vertex_radius[i] + surface.vertex_radius[j]
            if surface.vertex_body[i] == surface.vertex_body[j]:
                overlap = np.linalg.norm(surface.rest[i] - surface.rest[j]) < radii
                if not self_contact or overlap:
                    continue
            gap = np.linalg.norm(x[i] - x[j]) - radii
            if radii > 0 and gap < MARGIN:
                found[(int(i), int(j))] = float(gap)
    return found


def as_dictionary(pairs: ContactPairs, rows: Array) -> dict[tuple[int, ...], float]:
    keys = [(int(p[0]), *sorted(int(i) for i in p[1:] if i >= 0)) for p in pairs.points[rows]]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, pairs.gap[rows]))


@pytest.mark.parametrize("self_contact", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_equals_all_pairs_in_plain_arrays(seed: int, self_contact: bool) -> None:
    surface, x = scene(seed)
    own = [self_contact and bool(loose) for loose in surface.is_points]
    pairs = Detector(surface, margin=MARGIN, depth=DEPTH, self_contact=own).find(x)
    is_point = surface.is_points[surface.vertex_body[pairs.points[:, 0]]]
    places = is_point & np.isin(pairs.kind, [VERTEX_TRIANGLE, BALL_TRIANGLE])
    for fast, rival in (
        (as_dictionary(pairs, places), rival_places(surface, x)),
        (as_dictionary(pairs, pairs.kind == POINT_POINT), rival_balls(surface, x, self_contact)),
    ):
        assert len(rival) > 8
        assert fast.keys() == rival.keys()
        np.testing.assert_allclose([fast[k] for k in rival], list(rival.values()), atol=1e-12)  # rounding of metres
    outside = (pairs.kind != EDGE_EDGE) & (pairs.gap > -surface.vertex_radius[pairs.points[:, 0]])
    d = pairs.separation(x)[outside]
    np.testing.assert_allclose(d / np.linalg.norm(d, axis=1)[:, None], pairs.normal[outside], atol=1e-9)


def test_scenes_hold_all_kinds() -> None:
    found = [Detector(s, margin=MARGIN, depth=DEPTH).find(x) for s, x in map(scene, range(6))]
    kinds = np.concatenate([p.kind for p in found])
    assert all((kinds == kind).sum() > 5 for kind in (VERTEX_TRIANGLE, POINT_POINT, BALL_TRIANGLE))


@pytest.mark.parametrize("seed", range(4))
def test_trees_lose_nothing_with_motion_and_sheets(seed: int) -> None:
    random = np.random.default_rng(seed)
    i = np.arange(36).reshape(6, 6)
    quads = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]], axis=-1).reshape(-1, 4)
    grid = np.stack([*np.divmod(np.arange(36.0), 6), np.zeros(36)], axis=1) / 3 - (0.8, 0.8, 0)
    sheet = ContactSurface.of((grid, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])), radius=0.01)
    bodies = [sheet, cloud(random, 70, 0.2), bumpy_ball(random), cloud(random, 60, 0.2)]
    surface = ContactSurface.joined(bodies)
    x = np.concatenate([b.rest + 0.1 * random.normal(size=3) for b in bodies])
    v = random.normal(size=x.shape)
    fast, slow = (Detector(surface, margin=0.03, self_contact=True) for _ in range(2))
    for dt in (0.0, 0.1, 0.1):
        found = fast.find(x, v, dt)
        slow.refit(x, v, dt)
        rival = all_pairs(slow)
        assert found.size == rival.size > 40
        one, two = (np.lexsort(np.column_stack([p.points, p.gap, p.normal]).T) for p in (found, rival))
        for a, b in zip(found, rival):
            np.testing.assert_array_equal(a[one], b[two])
        x = x + 0.3 * dt * v
