"""Contacts of surfaces of bodies with each other and with obstacles, as they are in one step."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.contact.binding.assembly_kernels import (
    collect_close,
    compute_mixed_keys,
    compute_relative,
    compute_sides,
    compute_speeds,
)
from supple.contact.binding.travel_kernels import find_too_fast
from supple.contact.contact_set import ContactSet
from supple.contact.narrow.area_kernels import compute_facing_areas
from supple.contact.pairs import BALL_TRIANGLE, ContactPairs
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
    detector, moving = bound.detector, bound.moving
    detector.sides = Sides.of_array(memory.get(f"{bound.prefix}sides"))
    walls = moving.place_meshes(t, h, x) if moving else None
    swept = v if walls is None else v + walls
    pairs = detector.find(x, swept, h)
    _watch(bound, swept, h)
    parts = [_between_surfaces(bound, pairs, walls)]
    for number, obstacle, apart in bound.surface_obstacles:
        parts.append(_on_obstacle(bound, obstacle, number, apart | bound.leaves_obstacle(number, leaving), x, v, h, t))
    points, weights, normal, gap, sides, area, key, drift = (np.concatenate(part) for part in zip(*parts))
    bare = ContactSet.bare(points, weights, normal, gap, sides)._replace(key=key, drift=drift)
    u, speed = bare.relative(v), np.empty(len(gap))
    compute_speeds(normal, drift, u, speed)
    found = bound.with_law(bare, area, speed, u, h, memory)
    approaching = gap + h * speed < detector.margin
    found = found.chosen(approaching | (gap < detector.margin))
    first = found.points[:, 0]
    return found._replace(place=x[first] - bound.surface.vertex_radius[first, None] * found.normal)


def _between_surfaces(bound: BoundContact, pairs: ContactPairs, walls: Array | None) -> tuple[Array, ...]:
    """Contacts that were detected; walls (n, 3) [m/s]: velocities of meshes that move as they are told."""
    k = pairs.size
    sides, key, drift = np.empty((k, 2), np.int64), np.empty(k, np.int64), np.zeros((k, 3))
    compute_sides(pairs.points, pairs.kind, bound.owners, len(bound.names), sides, key)
    balls = pairs.kind == BALL_TRIANGLE
    if balls.any():  # which one is nearest may change
        nearest = pairs.points[:, 0] * len(bound.names) + sides[:, 1]
        same = np.isin(nearest, nearest[balls])
        key[same] = mixed_keys(pairs.points[same])
    if walls is not None:
        compute_relative(pairs.points, pairs.weights, -walls, drift)
    return pairs.points, pairs.weights, pairs.normal, pairs.gap, sides, pairs.area, key, drift


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
    mine = bound.vertices_beside(apart)
    x_mine, v_mine = x.take(mine, axis=0), v.take(mine, axis=0)
    gap, normal, drift = bound.moving.distance(obstacle, t, h, x_mine, v_mine, bound.surface.vertex_radius.take(mine))
    rows = np.empty(len(mine) + 1, np.int64)
    rows = rows[: collect_close(gap, normal, v_mine, drift, h, bound.detector.margin, rows)]
    near, gap, normal, drift = mine[rows], gap[rows], normal[rows], drift[rows]
    owner, points, weights = bound.owners[near], np.full((len(near), 4), -1), np.zeros((len(near), 4))
    points[:, 0], weights[:, 0] = near, 1.0
    sides = np.full((len(near), 2), number)
    sides[:, 0] = owner
    key = near * len(bound.names) + number
    area = bound.surface.vertex_area[near]
    faced = ~bound.surface.is_points[owner]
    if faced.any():
        start, around = bound.around
        facing = np.empty(np.count_nonzero(faced))
        compute_facing_areas(x, bound.surface.triangles, start, around, near[faced], normal[faced], facing)
        area[faced] = facing
    return points, weights, normal, gap, sides, area, key, drift


def mixed_keys(points: Array) -> Array:
    """Negative numbers that tell pairs of edges, and of points, apart."""
    key = np.empty(len(points), np.int64)
    compute_mixed_keys(points, key)
    return key
