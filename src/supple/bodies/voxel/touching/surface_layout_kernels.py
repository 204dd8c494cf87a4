"""Kernels that lay out a lattice's contacts with surfaces for its sweep: whether they are sound, where they hang on
voxels, and how small they ask steps to be.

Symbols as in `surface_contact`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled(inline=True)
def _are_finite(values):
    """Whether all values, of any shape, are."""
    total = 0.0
    for value in values.flat:
        total += 0.0 * value
    return total == 0.0


@compiled(inline=True)
def _are_constants(values):
    """Whether all values (k,) are finite and not negative."""
    sound = True
    for value in values:
        sound = sound and 0.0 <= value < np.inf
    return sound


@compiled(inline=True)
def _are_ordered(start, voxel, joined, voxel_count):
    """Whether start divides the entries among the contacts, the last `joined` of which have none, and there are such
    voxels."""
    count = len(start) - 1
    if start[0] != 0 or start[count] != len(voxel):
        return False
    for m in range(count):
        has_entries, is_joined = start[m + 1] > start[m], m >= count - joined
        if has_entries == is_joined or start[m + 1] < start[m]:
            return False
    inside = True
    for i in voxel:
        inside = inside and 0 <= i < voxel_count
    return inside


@compiled
def are_sound(contacts, voxel_count, unit):
    """Whether contacts, whose arrays fit together, are of use to the law; unit: how far the length of a normal may be
    from 1."""
    c = contacts
    if not _are_ordered(c.start, c.voxel, len(c.joined), voxel_count):
        return False
    if not (_are_finite(c.local) and _are_finite(c.weight) and _are_finite(c.gap) and _are_finite(c.rest)):
        return False
    if not (_are_finite(c.motion) and _are_finite(c.slip) and _are_finite(c.pushed) and _are_finite(c.mobility)):
        return False
    if not (_are_constants(c.stiffness) and _are_constants(c.tangential_stiffness) and _are_constants(c.friction)):
        return False
    if not (_are_constants(c.dashpot) and _are_constants(c.tangential_dashpot)):
        return False
    for m in range(len(c.gap)):
        n = c.normal[m]
        length = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        if not abs(length - 1.0) <= unit or (c.friction[m] > 0.0 and c.tangential_stiffness[m] == 0.0):
            return False
    return True


@compiled
def hang_vertices(points, shares, start, voxel, local, weight):
    """How contacts of vertices `points` (k, 4), -1 where there is none, with `shares` (k, 4), hang on voxels; start
    (vertices + 1,), voxel, local, weight: what vertices hang on. Returns the entries of each contact, and voxel, local
    and weight of all of them."""
    count, entries = np.zeros(len(points), dtype=np.int64), 0
    for m in range(len(points)):
        for vertex in points[m]:
            if vertex >= 0:
                count[m] += start[vertex + 1] - start[vertex]
        entries += count[m]
    voxel_out, local_out, weight_out = np.empty(entries, dtype=np.int64), np.empty((entries, 3)), np.empty(entries)
    at = 0
    for m in range(len(points)):
        for side in range(points.shape[1]):
            vertex = points[m, side]
            if vertex < 0:
                continue
            for e in range(start[vertex], start[vertex + 1]):
                voxel_out[at], weight_out[at] = voxel[e], shares[m, side] * weight[e]
                local_out[at, 0], local_out[at, 1], local_out[at, 2] = local[e, 0], local[e, 1], local[e, 2]
                at += 1
    return count, voxel_out, local_out, weight_out


@compiled
def hang_on_voxels(voxel, brick, lane, sizes, touched_out, place_out, load_place_out):
    """Number the voxels of entries, ascending: touched_out (e,), places in tiles of `sizes` values of the state and of
    the loads, and a lane count; returns how many voxels there are."""
    state, loads, W = sizes
    order, known, last = np.argsort(voxel, kind="mergesort"), -1, np.int64(-1)
    for e in order:
        i = voxel[e]
        if known < 0 or i != last:
            known, last = known + 1, i
            place_out[known] = brick[i] * state * W + lane[i]
            load_place_out[known] = brick[i] * loads * W + lane[i]
        touched_out[e] = known
    return known + 1


@compiled
def share_moments(start, weight, round_off, turned_out, is_inner_out):
    """Parts of a contact's further moment that its entries take (e,), and which contacts are within the lattice."""
    for m in range(len(start) - 1):
        whole, total = 0.0, 0.0
        for e in range(start[m], start[m + 1]):
            whole += weight[e]
        inner = abs(whole) < round_off
        for e in range(start[m], start[m + 1]):
            turned_out[e] = max(0.0, -weight[e]) if inner else abs(weight[e])
            total += turned_out[e]
        for e in range(start[m], start[m + 1]):
            turned_out[e] = turned_out[e] / total if total > 0.0 else 0.0
        is_inner_out[m] = inner


@compiled
def turn_mobility(mobility, axes, out):
    """mobility (3 k, 3 k), by columns, in other axes."""
    for i in range(len(out)):
        row = 3 * (i // 3) + axes[i % 3]
        for j in range(len(out)):
            out[i, j] = mobility[3 * (j // 3) + axes[j % 3], row]


@compiled
def smallest_step(start, voxel, local, weight, springs, mass, inertia, held, share, beside):
    """The smallest of the largest steps [s] that contacts allow a voxel. springs: k, c and 2 k where a dashpot may
    double the spring, each (k,); mass, inertia (n,); held: voxels that do not move; share, beside: see
    `contact_step_limit`."""
    stiffness, damping, twice = springs
    n, a = len(mass), np.empty(len(voxel))
    free, omega2, gamma, doubled = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for i in held:
        free[i] = 0.0
    for m in range(len(start) - 1):
        whole = 0.0
        for e in range(start[m], start[m + 1]):
            i, r = voxel[e], local[e]
            lever2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
            a[e] = abs(weight[e]) * np.sqrt(free[i] * (1.0 / mass[i] + lever2 / inertia[i]))
            whole += a[e]
        for e in range(start[m], start[m + 1]):
            i, part = voxel[e], a[e] * whole
            omega2[i] += part * stiffness[m]
            gamma[i] += part * damping[m]
            doubled[i] += part * twice[m]
    smallest = np.inf
    for i in voxel:
        g, w, d = gamma[i], omega2[i], doubled[i]
        if g > 0.0 or w > 0.0:
            slowed = g + 2.0 / beside
            smallest = min(smallest, share / (g + np.sqrt(g * g + share * w)))
            smallest = min(smallest, 4.0 / (slowed + np.sqrt(slowed * slowed + 4.0 * w)))
        if d > 0.0:
            slowed = 2.0 / beside
            smallest = min(smallest, np.sqrt(share / d), 4.0 / (slowed + np.sqrt(slowed * slowed + 4.0 * d)))
    return smallest
