"""Kernels that list the pairs of voxels within the horizon, by cells or by testing every pair.

Cells of the horizon's size are sorted into buckets of a hash table by counting. The voxels of a cell find their
partners in it and in the 13 cells ahead of it, tested together in SIMD lanes, in time linear in the number of voxels
wherever they fly. The list is put in ascending order at the end, so that sums and bits do not depend on how and when it
was made.
Arrays as in `Contacts`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import any_greater, lane_count, load

BITS = 32  # of a pair's second number, in one integer with the first


@compiled(inline=True)
def are_near(spheres, i, j, distance):
    """Whether two centres are closer than a distance."""
    x, y, z = spheres[j, 0] - spheres[i, 0], spheres[j, 1] - spheres[i, 1], spheres[j, 2] - spheres[i, 2]
    return x * x + y * y + z * z < distance * distance


@compiled(inline=True)
def mark_barred(contacts, i):
    """Leave the mark of voxel i on those it is joined to too closely to meet."""
    for k in range(contacts.barred_start[i], contacts.barred_start[i + 1]):
        contacts.mark[contacts.barred[k]] = i


@compiled(inline=True)
def bucket_of(x, y, z, mask):
    """Hash of a cell."""
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) & mask


@compiled(borrows=True)
def sort_cells(contacts):
    """Sort the voxels by the bucket of their cell: counting sort."""
    spheres, cell, start = contacts.spheres, contacts.cell, contacts.start
    mask = len(start) - 2
    start[:] = 0
    for i in range(len(spheres)):
        for k in range(3):
            cell[i, k] = np.int64(np.floor(spheres[i, k] / contacts.cell_size))
        b = bucket_of(cell[i, 0], cell[i, 1], cell[i, 2], mask)
        contacts.bucket[i] = b
        start[b + 1] += 1
    for b in range(mask + 1):
        start[b + 1] += start[b]
    for i in range(len(spheres) - 1, -1, -1):  # backwards: start[b + 1] walks down to the first of bucket b
        start[contacts.bucket[i] + 1] -= 1
        contacts.order[start[contacts.bucket[i] + 1]] = i


@compiled(inline=True)
def in_cell(cell, i, x, y, z):
    """Whether voxel i lies in a cell."""
    return cell[i, 0] == x and cell[i, 1] == y and cell[i, 2] == z


@compiled(inline=True)
def put_near(contacts, at, j):
    """Put voxel j at a place of those to be tested together."""
    size = len(contacts.near_voxels)
    for k in range(3):
        contacts.near[k * size + at] = contacts.spheres[j, k]
    contacts.near_voxels[at] = j


@compiled(borrows=True)
def gather_near(contacts, i):
    """Put together the voxels of the cell of voxel i, then those of the 13 cells ahead; returns how many."""
    cell, start, order = contacts.cell, contacts.start, contacts.order
    count, mask = len(order), len(start) - 2
    cx, cy, cz = cell[i, 0], cell[i, 1], cell[i, 2]
    found = 0
    for z in range(cz, cz + 2):
        for y in range(cy - 1 if z > cz else cy, cy + 2):
            for x in range(cx - 1 if z > cz or y > cy else cx, cx + 2):
                b = bucket_of(x, y, z, mask)
                stop = start[b + 2] if b < mask else count
                for k in range(start[b + 1], stop):
                    if in_cell(cell, order[k], x, y, z):  # not of another cell's hash
                        put_near(contacts, found, order[k])
                        found += 1
    return found


@compiled(borrows=True)
def add_pairs(contacts, i, first, stop, found):
    """Add the pairs of voxel i with the near ones from `first` to `stop`; counts on where the workspace ends."""
    near, size, W = contacts.near, len(contacts.near_voxels), lane_count(contacts.near)
    mark, horizon, spheres = contacts.mark, contacts.horizon, contacts.spheres
    mark_barred(contacts, i)
    for at in range(first // W * W, stop, W):
        x, y = load(near, at) - spheres[i, 0], load(near, size + at) - spheres[i, 1]
        z = load(near, 2 * size + at) - spheres[i, 2]
        if any_greater(horizon * horizon, x * x + y * y + z * z):
            for k in range(max(at, first), min(at + W, stop)):
                j = contacts.near_voxels[k]
                if mark[j] != i and are_near(spheres, i, j, horizon):
                    if found < len(contacts.pairs):
                        contacts.touching[found] = (min(i, j) << BITS) + max(i, j)
                    found += 1
    return found


@compiled(borrows=True)
def sort_pairs(contacts, found):
    """Put so many pairs in ascending order: counting sort by their first voxels, insertion by their second."""
    pairs, stop = contacts.pairs, contacts.bucket
    stop[:] = 0
    for k in range(found):
        stop[contacts.touching[k] >> BITS] += 1
    for i in range(1, len(stop)):
        stop[i] += stop[i - 1]
    for k in range(found - 1, -1, -1):  # backwards: stop[i] walks down to the first pair of i
        i = contacts.touching[k] >> BITS
        stop[i] -= 1
        pairs[stop[i], 0], pairs[stop[i], 1] = i, contacts.touching[k] - (i << BITS)
    for k in range(1, found):
        i, j = pairs[k, 0], pairs[k, 1]
        at = k
        while at > 0 and pairs[at - 1, 0] == i and pairs[at - 1, 1] > j:
            pairs[at, 1] = pairs[at - 1, 1]
            at -= 1
        pairs[at, 1] = j


@compiled(borrows=True)
def list_by_cells(contacts):
    """List the pairs within the horizon; returns how many there are, also where the workspace did not suffice."""
    cell = contacts.cell
    sort_cells(contacts)
    contacts.mark[:] = -1
    found, near, at, last = 0, 0, 0, -1
    for i in contacts.order:
        if last < 0 or not in_cell(cell, i, cell[last, 0], cell[last, 1], cell[last, 2]):
            near, at = gather_near(contacts, i), 0
        last = i
        while at < near and contacts.near_voxels[at] != i:  # those before have found their pairs in this cell
            at += 1
        found = add_pairs(contacts, i, at + 1, near, found)
    if found <= len(contacts.pairs):
        sort_pairs(contacts, found)
    return found


@compiled(borrows=True)
def list_by_force(contacts):
    """The same by testing every pair."""
    count = len(contacts.spheres)
    contacts.mark[:] = -1
    for i in range(count):
        put_near(contacts, i, i)
    found = 0
    for i in range(count):
        found = add_pairs(contacts, i, i + 1, count, found)
    if found <= len(contacts.pairs):
        sort_pairs(contacts, found)
    return found
