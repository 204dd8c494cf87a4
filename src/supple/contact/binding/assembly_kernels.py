"""Contacts of surfaces put together: sides and keys of pairs, relative velocities, and what their law needs."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.pairs import EDGE_EDGE, VERTEX_TRIANGLE

FACTOR, FIRST, LAST = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(2)


@compiled(inline=True)
def mixed_key(points, k):
    """A negative number that tells row k of points (k, 4) from others."""
    mixed = np.uint64(0)
    for column in range(4):
        mixed = (mixed ^ np.uint64(points[k, column])) * FACTOR
        mixed ^= mixed >> FIRST
    return -1 - np.int64(mixed >> LAST)


@compiled
def compute_mixed_keys(points, key_out):
    """key_out (k,) of points (k, 4), see `mixed_key`."""
    for k in range(len(key_out)):
        key_out[k] = mixed_key(points, k)


@compiled
def compute_sides(points, kind, owner, names, body_out, key_out):
    """Bodies of both sides (k, 2) of contacts with points (k, 4) of a kind (k,), and keys (k,).

    owner (n,): body of each vertex; names: how many bodies and obstacles there are. A vertex is known by itself and the
    body it touches, all others by their points.
    """
    for k in range(len(kind)):
        second = points[k, 2] if kind[k] == EDGE_EDGE else points[k, 1]
        body_out[k, 0], body_out[k, 1] = owner[points[k, 0]], owner[second]
        is_vertex = kind[k] == VERTEX_TRIANGLE
        key_out[k] = points[k, 0] * names + body_out[k, 1] if is_vertex else mixed_key(points, k)


@compiled
def compute_relative(points, weights, values, u_out):
    """u_out (k, 3) = sum_m w_m values[point m], of points (k, 4), -1: none, weights (k, 4) and values (n, 3)."""
    for k in range(len(u_out)):
        a, b, c = 0.0, 0.0, 0.0
        for m in range(4):
            i = points[k, m]
            if i >= 0:
                w = weights[k, m]
                a, b, c = a + w * values[i, 0], b + w * values[i, 1], c + w * values[i, 2]
        u_out[k, 0], u_out[k, 1], u_out[k, 2] = a, b, c


@compiled
def compute_speeds(normal, drift, u, speed_out):
    """u (k, 3) -= drift (k, 3), and speed_out (k,) = normal . u, of normals (k, 3); all [m/s]."""
    for k in range(len(speed_out)):
        for a in range(3):
            u[k, a] -= drift[k, a]
        speed_out[k] = normal[k, 0] * u[k, 0] + normal[k, 1] * u[k, 1] + normal[k, 2] * u[k, 2]


@compiled
def collect_close(gap, normal, v, drift, h, margin, rows_out):
    """Rows of points with a gap (n,) [m] and normal (n, 3) that are nearer than a margin now or after h [s], at
    velocities v (n, 3) less drift (n, 3) [m/s]; returns how many there are."""
    count = 0
    for k in range(len(gap)):
        speed = 0.0
        for a in range(3):
            speed += normal[k, a] * (v[k, a] - drift[k, a])
        rows_out[count] = k
        count += gap[k] + min(0.0, h * speed) < margin
    return count


@compiled
def compute_law(body, area, modulus, relax, hold, tangential, law_out):
    """law_out (5, k): stiffness, tangential stiffness, dashpot, tangential dashpot and friction of contacts with sides
    (k, 2) and areas (k,) [m²]; modulus, relax (k,): of each; hold (names, names); tangential: over normal stiffness."""
    for k in range(len(area)):
        stiffness = area[k] * modulus[k]
        law_out[0, k], law_out[1, k] = stiffness, tangential * stiffness
        law_out[2, k], law_out[3, k] = relax[k] * stiffness, relax[k] * (tangential * stiffness)
        law_out[4, k] = hold[body[k, 0], body[k, 1]]
