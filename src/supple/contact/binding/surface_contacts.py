"""Contacts of surfaces of bodies with each other and with obstacles, as they are in one step."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.contact.binding.travel_kernels import find_too_fast
from supple.contact.contact_set import ContactSet
from supple.contact.narrow.area_kernels import compute_facing_areas
from supple.contact.pairs import BALL_TRIANGLE, EDGE_EDGE, VERTEX_TRIANGLE
from supple.contact.shape import Sides
from supple.errors import ContactWarning

if TYPE_CHECKING:
    from supple.contact.bound import BoundContact

Array = np.ndarray


def of_surfaces(
    bound: BoundContact,
    x: Array,
    v: Array,
    h: float,
    memory: dict[str, Array],
    leaving: frozenset[tuple[str, str]],
    t: float,
) -> ContactSet:
    """Contacts of surfaces, from positions and velocities of all vertices (n, 3)."""
    bound.detector.sides = Sides.of_array(memory.get(f"{bound.prefix}sides"))
    walls = bound.moving.place_meshes(t, h, x)
    moving = v + walls
    pairs = bound.detector.find(x, moving, h)
    _watch(bound, moving, h)
    other = np.where(pairs.kind == EDGE_EDGE, pairs.points[:, 2], pairs.points[:, 1])
    sides = np.stack([bound.owner(pairs.points[:, 0]), bound.owner(other)], axis=1)
    key = pairs.points[:, 0] * len(bound.names) + sides[:, 1]
    hashed = pairs.kind != VERTEX_TRIANGLE
    hashed |= np.isin(key, key[pairs.kind == BALL_TRIANGLE])  # which one is nearest may change
    key[hashed] = mixed_keys(pairs.points[hashed])
    bare = ContactSet.bare(pairs.points, pairs.weights, pairs.normal, pairs.gap, sides)
    parts: list[tuple[Array, ...]] = [(*bare[:5], pairs.area, key, -bare.relative(walls))]
    for number, obstacle, apart in bound.surface_obstacles:
        left = [(name, bound.names[number]) in leaving for name in bound.names[: len(bound.slots)]]
        parts.append(_on_obstacle(bound, obstacle, number, apart | left, x, v, h, t))
    points, weights, normal, gap, sides, area, key, drift = (np.concatenate(part) for part in zip(*parts))
    bare = ContactSet.bare(points, weights, normal, gap, sides)._replace(key=key, drift=drift)
    u = bare.relative(v) - drift
    speed = np.einsum("ki,ki->k", normal, u)
    found = bound.with_law(bare, area, speed, u, h, memory)
    approaching = gap + h * speed < bound.detector.margin
    found = found.chosen(approaching | (gap < bound.detector.margin))
    first = found.points[:, 0]
    return found._replace(place=x[first] - bound.surface.vertex_radius[first, None] * found.normal)


def _watch(bound: BoundContact, v: Array, h: float) -> None:
    """Warn once where bodies that come near each other move further in a step than is certainly found."""
    if bound.has_warned or len(bound.slots) < 2:
        return
    detector, scratch = bound.detector, np.empty(len(bound.slots))
    safe, least = detector.safe_travels, detector.largest_safe_travel
    one, two, travel = find_too_fast(v, bound.starts, detector.boxes, safe, least, h, scratch)
    if one < 0:
        return
    warnings.warn(
        f"'{bound.names[one]}' moves {travel:.3g} m past '{bound.names[two]}' in a step, more than the "
        f"{safe[one, two]:.3g} m (two elements, or balls) within which contact is certain; use a step of at most "
        f"{h * safe[one, two] / travel:.2g} s.",
        ContactWarning,
        stacklevel=6,
    )
    bound.has_warned = True


def _on_obstacle(
    bound: BoundContact, obstacle: Any, number: int, apart: Array, x: Array, v: Array, h: float, t: float
) -> tuple[Array, ...]:
    """Contacts of all vertices but those of bodies that are apart from an obstacle, (bodies,) bool."""
    mine = np.flatnonzero(~np.repeat(apart, np.diff(bound.starts)))
    x_mine, v_mine = x[mine], v[mine]
    gap, normal, drift = bound.moving.distance(obstacle, t, h, x_mine, v_mine, bound.surface.vertex_radius[mine])
    speed = np.einsum("ki,ki->k", normal, v_mine - drift)
    at = np.flatnonzero(gap + np.minimum(0.0, h * speed) < bound.detector.margin)
    near, gap, normal, drift = mine[at], gap[at], normal[at], drift[at]
    owner, points = bound.owner(near), np.full((len(near), 4), -1)
    points[:, 0] = near
    weights = np.zeros((len(near), 4))
    weights[:, 0] = 1.0
    sides = np.stack([owner, np.full(len(near), number)], axis=1)
    key = near * len(bound.names) + number
    area = bound.surface.vertex_area[near]
    faced = ~bound.surface.is_points[owner]
    if faced.any():
        start, around = bound.around
        facing = np.empty(faced.sum())
        compute_facing_areas(x, bound.surface.triangles, start, around, near[faced], normal[faced], facing)
        area[faced] = facing
    return points, weights, normal, gap, sides, area, key, drift


def mixed_keys(points: Array) -> Array:
    """Negative numbers that tell pairs of edges, and of points, apart."""
    mixed = np.zeros(len(points), dtype=np.uint64)
    for column in range(4):
        mixed = (mixed ^ points[:, column].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return -1 - (mixed >> np.uint64(2)).astype(np.int64)
