"""Fast contact finds the same pairs as all pairs do, on random scenes.

Two rivals: an independent one in plain arrays, for closed bodies at rest, with insides by winding numbers; and the
detector with its trees replaced by all pairs of triangles, for sheets, self-contact and motion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from supple.bench.contact import cube_sphere
from supple.contact import ContactPairs, ContactSurface, Detector
from supple.geometry import box_tets

Array = np.ndarray
MARGIN, DEPTH = 0.06, 0.12
ASIDE = 0.05
"""A vertex that looks against a face by less, as a cosine or as a part of its area, looks along it and is not met."""


def bumpy_ball(random: np.random.Generator, cells: int = 4) -> ContactSurface:
    nodes, triangles = cube_sphere(cells)
    k = random.normal(size=(3, 3))
    radius = 0.5 + 0.08 * np.sin(3 * nodes @ k).sum(axis=1)
    return ContactSurface.of((nodes * radius[:, None], triangles))


def turned(x: Array, random: np.random.Generator) -> Array:
    q, _ = np.linalg.qr(random.normal(size=(3, 3)))
    return x @ (q * np.linalg.det(q))


def scene(seed: int) -> tuple[ContactSurface, Array]:
    """Three balls and a box, jammed."""
    random = np.random.default_rng(seed)
    box = ContactSurface.of(box_tets((0.9, 0.8, 0.7), (2, 3, 2)).boundary.surface)
    bodies = [bumpy_ball(random), bumpy_ball(random, 5), bumpy_ball(random, 3), box]
    places = 0.5 * np.array([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]]) * random.uniform(1.1, 1.3)
    x = [turned(b.rest - b.rest.mean(axis=0), random) + p for b, p in zip(bodies, places)]
    return ContactSurface.joined(bodies), np.concatenate(x)


def jumble(seed: int) -> tuple[ContactSurface, Array]:
    """Twelve tetrahedra, thrown together: mostly edges meet."""
    random = np.random.default_rng(seed)
    nodes = 0.35 * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    body = ContactSurface.of((nodes, [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]))
    x = [turned(nodes, random) + random.uniform(-0.8, 0.8, size=3) for _ in range(12)]
    return ContactSurface.joined([body] * 12), np.concatenate(x)


def nearest_on_segments(p: Array, a: Array, b: Array) -> Array:
    """Part of the way from a to b nearest to p."""
    d = b - a
    return np.clip(((p - a) * d).sum(axis=-1) / (d * d).sum(axis=-1), 0, 1)


def nearest_features(p: Array, corners: Array) -> tuple[Array, Array]:
    """Distance from p (3,) and weights (m, 3) on triangles (m, 3, 3): the best of three edges and the face."""
    m = len(corners)
    weights = np.zeros((4, m, 3))
    for k in range(3):
        i, j = k, (k + 1) % 3
        s = nearest_on_segments(p, corners[:, i], corners[:, j])
        weights[k, :, i], weights[k, :, j] = 1 - s, s
    e, g = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    gram = np.stack([np.stack([(e * e).sum(1), (e * g).sum(1)], 1), np.stack([(e * g).sum(1), (g * g).sum(1)], 1)], 1)
    right = np.stack([(e * (p - corners[:, 0])).sum(1), (g * (p - corners[:, 0])).sum(1)], 1)
    u = np.linalg.solve(gram, right[..., None])[..., 0]
    weights[3] = np.column_stack([1 - u.sum(axis=1), u])
    distance = np.linalg.norm(np.einsum("smk,mka->sma", weights, corners) - p, axis=2)
    distance[3, (weights[3] < 0).any(axis=1)] = np.inf
    best = distance.argmin(axis=0)
    return distance.min(axis=0), weights[best, np.arange(m)]


def winding_number(p: Array, corners: Array) -> float:
    """How often a closed surface goes round p."""
    a, b, c = np.moveaxis(corners - p, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    top = np.einsum("ia,ia->i", a, np.cross(b, c))
    bottom = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return float(np.arctan2(top, bottom).sum() / (2 * np.pi))


def angle_normals(x: Array, triangles: Array) -> Array:
    total = np.zeros_like(x)
    for k in range(3):
        p, q, r = (x[triangles[:, (k + m) % 3]] for m in range(3))
        n = np.cross(q - p, r - p)
        n /= np.linalg.norm(n, axis=1)[:, None]
        cosine = ((q - p) * (r - p)).sum(1) / np.linalg.norm(q - p, axis=1) / np.linalg.norm(r - p, axis=1)
        np.add.at(total, triangles[:, k], np.arccos(cosine)[:, None] * n)
    return total


def rival_vertices(surface: ContactSurface, x: Array) -> dict[tuple[int, ...], float]:
    """Vertex and points of the nearest feature, with the gap."""
    found = {}
    outward = angle_normals(x, surface.triangles)
    for body in range(surface.body_count):
        triangles = surface.triangles[surface.triangle_body == body]
        corners = x[triangles]
        face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        face /= np.linalg.norm(face, axis=1)[:, None]
        for v in np.flatnonzero(surface.vertex_body != body):
            distance, weights = nearest_features(x[v], corners)
            t = distance.argmin()
            inside = winding_number(x[v], corners) > 0.5
            away = x[v] - np.einsum("mk,mka->ma", weights, corners)
            usable = ((away * face).sum(axis=1) < 0) & (face @ outward[v] < -ASIDE * np.linalg.norm(outward[v]))
            facing = np.where(usable, distance, np.inf).argmin()
            around = (surface.triangles == v).any(axis=1)
            a, b, c = np.moveaxis(x[surface.triangles[around]], 1, 0)
            own = np.cross(b - a, c - a)
            if not inside and usable.any() and (own @ away[t] >= 0).all():
                inside = -away[facing] @ face[facing] >= 0.99 * distance[facing]
            if inside and not usable.any():
                continue
            t = facing if inside else t
            if distance[t] > DEPTH if inside else distance[t] >= MARGIN:
                continue
            if (own @ away[t] * (-1 if inside else 1) >= 0).all():
                continue
            seen = np.maximum(-own @ away[t], 0).sum() / np.linalg.norm(away[t])
            if not inside and seen <= ASIDE * np.linalg.norm(own, axis=1).sum():
                continue
            used = triangles[t][weights[t] > 1e-9]
            found[(int(v), *sorted(int(i) for i in used))] = -distance[t] if inside else distance[t]
    return found


def as_dictionary(pairs: ContactPairs, kind: int) -> dict[tuple[int, ...], float]:
    rows = np.flatnonzero(pairs.kind == kind)
    keys = [(int(pairs.points[k, 0]), *sorted(int(i) for i in pairs.points[k, 1:] if i >= 0)) for k in rows]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, pairs.gap[rows]))


def rival_edges(surface: ContactSurface, x: Array, touching: set[tuple[int, int]]) -> dict[tuple[int, ...], float]:
    """Edges whose nearest points, by a dense search, lie inside both and in the cone of both."""
    found = {}
    body = surface.vertex_body[surface.edges[:, 0]]
    thirds = {}
    for t, corners in enumerate(surface.triangles):
        for k in range(3):
            thirds.setdefault(int(surface.triangle_edges[t, k]), []).append(int(corners[k]))
    faces = {tuple(sorted(t)): np.cross(*(x[t[1:]] - x[t[0]])) for t in surface.triangles}

    def leans(edge: int, n: Array) -> bool:
        p, d = x[surface.edges[edge, 0]], x[surface.edges[edge, 1]] - x[surface.edges[edge, 0]]
        inward = [x[k] - p - d * ((x[k] - p) @ d) / (d @ d) for k in thirds[edge]]
        return any(u @ n > 0.05 * np.linalg.norm(u) for u in inward)

    def normal(edge: int) -> Array:
        rows = [faces[tuple(sorted((*map(int, surface.edges[edge]), k)))] for k in thirds[edge]]
        return sum(n / np.linalg.norm(n) for n in rows)

    for e1 in range(len(surface.edges)):
        a, b = x[surface.edges[e1]]
        others = np.flatnonzero(body > body[e1])
        c, d = np.moveaxis(x[surface.edges[others]], 1, 0)
        p, q, r = b - a, d - c, a - c
        pp, qq, pq, pr, qr = p @ p, (q * q).sum(1), q @ p, r @ p, (q * r).sum(1)
        s, t = (pq * qr - pr * qq) / (pp * qq - pq**2), (pp * qr - pq * pr) / (pp * qq - pq**2)
        gap = np.linalg.norm(a + s[:, None] * p - c - t[:, None] * q, axis=1)
        for k in np.flatnonzero((s > 0) & (s < 1) & (t > 0) & (t < 1) & (gap < max(MARGIN, DEPTH))):
            e2 = int(others[k])
            direction = (a + s[k] * p - c[k] - t[k] * q[k]) / gap[k]
            sign = 1 if direction @ (normal(e2) - normal(e1)) >= 0 else -1
            near = gap[k] < MARGIN if sign > 0 else gap[k] <= DEPTH
            stands = any((int(v), int(body[e2])) in touching for v in surface.edges[e1])
            stands |= any((int(v), int(body[e1])) in touching for v in surface.edges[e2])
            if near and not stands and not leans(e2, sign * direction) and not leans(e1, -sign * direction):
                i, j = map(int, surface.edges[e1])
                found[(i, *sorted((j, *map(int, surface.edges[e2]))))] = sign * gap[k]
    return found


@pytest.mark.parametrize("make", [scene, jumble])
@pytest.mark.parametrize("seed", range(5))
def test_equals_all_pairs_in_plain_arrays(make: Callable[[int], tuple[ContactSurface, Array]], seed: int) -> None:
    surface, x = make(seed)
    pairs = Detector(surface, margin=MARGIN, depth=DEPTH).find(x)
    vertices = rival_vertices(surface, x)
    fast = as_dictionary(pairs, 0)
    assert len(vertices) > (10 if make is scene else 3)
    assert fast.keys() == vertices.keys()
    np.testing.assert_allclose([fast[k] for k in vertices], list(vertices.values()), atol=1e-12)  # rounding of metres
    points = pairs.points[pairs.kind == 0]
    touching = {(int(v), int(surface.vertex_body[k])) for v, k in points[:, :2]}
    edges, fast = rival_edges(surface, x, touching), as_dictionary(pairs, 1)
    assert fast.keys() == edges.keys()
    np.testing.assert_allclose([fast[k] for k in edges], list(edges.values()), atol=1e-12)


def test_scenes_hold_penetrating_vertices_and_edges() -> None:
    found = [Detector(s, margin=MARGIN, depth=DEPTH).find(x) for k in range(5) for s, x in (scene(k), jumble(k))]
    for kind in (0, 1):
        gaps = np.concatenate([p.gap[p.kind == kind] for p in found])
        assert (gaps < 0).sum() > 5 < (gaps > 0).sum()


def all_pairs(detector: Detector) -> ContactPairs:
    """What the detector finds without its trees: all leaves meet, and nothing is known to be slow."""
    detector._box[:, :3], detector._box[:, 3:] = -np.inf, np.inf
    detector._workspace.value.way[:] = np.inf
    return detector.search()


@pytest.mark.parametrize("seed", range(4))
def test_trees_lose_nothing_with_sheets_motion_and_self_contact(seed: int) -> None:
    random = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(7.0), np.arange(5.0), [0.0], indexing="ij"), axis=-1).reshape(-1, 3) / 6
    i = np.arange(35).reshape(7, 5)
    quads = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]], axis=-1).reshape(-1, 4)
    sheet = ContactSurface.of((grid, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])), radius=0.01)
    bodies = [sheet, bumpy_ball(random), bumpy_ball(random, 3), sheet]
    surface = ContactSurface.joined(bodies)
    crumpled = [b.rest + 0.15 * np.sin(b.rest @ random.normal(size=(3, 3)) * 5) for b in bodies]
    x = np.concatenate([turned(c, random) + 0.15 * random.normal(size=3) for c in crumpled])
    v = random.normal(size=x.shape) + np.repeat(random.normal(size=(4, 3)), [b.count for b in bodies], axis=0)
    fast, slow = (Detector(surface, margin=0.03, self_contact=True) for _ in range(2))
    for dt in (0.0, 0.1, 0.1):
        found = fast.find(x, v, dt)
        slow.refit(x, v, dt)
        rival = all_pairs(slow)
        assert found.size == rival.size > 20
        one, two = (np.lexsort(np.column_stack([p.points, p.gap, p.normal]).T) for p in (found, rival))
        for a, b in zip(found, rival):
            np.testing.assert_array_equal(a[one], b[two])
        x = x + 0.3 * dt * v


@pytest.mark.parametrize("speed", [0.0, 1e-3, 1.0])
def test_bounds_on_motion_lose_nothing(speed: float) -> None:
    random = np.random.default_rng(11)
    surface, x = scene(6)
    v = speed * random.normal(size=(4, 3))[surface.vertex_body] + 0.1 * speed * random.normal(size=x.shape)
    bounded, plain = (Detector(surface, margin=MARGIN) for _ in range(2))
    bounded.refit(x, v, 0.1)
    moved = 0.1 * np.linalg.norm(v, axis=1)
    bound = bounded._workspace.value.way[surface.vertex_body]
    assert (moved <= bound).all()
    assert np.isfinite(bound).all() == (speed < 1.0)
    plain.refit(x, v, 0.1)
    plain._workspace.value.way[:] = np.inf
    found, rival = bounded.search(), plain.search()
    assert found.size == rival.size > 20
    for a, b in zip(found, rival):
        np.testing.assert_array_equal(a, b)
