"""Rays through the columns of a grid: which cell centres lie inside a closed surface.

Every triangle is projected along z onto the columns' centres. An edge is always evaluated from its smaller to
its larger node, so that two triangles that share an edge see the same rounding: a ray through an edge meets
exactly one of them, and a closed surface stays closed in floating point.
"""

from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.geometry.meshes.region import FloatArray, IntArray


@compiled(inline=True)
def side_of_edge(x: float, y: float, nodes: FloatArray, a: int, b: int) -> bool:
    """Whether (x, y) lies left of the edge a -> b, with a point on the edge given to one side."""
    low, high = min(a, b), max(a, b)
    dx, dy = nodes[high, 0] - nodes[low, 0], nodes[high, 1] - nodes[low, 1]
    area = dx * (y - nodes[low, 1]) - dy * (x - nodes[low, 0])
    left = area > 0.0 or (area == 0.0 and (dy > 0.0 or (dy == 0.0 and dx < 0.0)))
    return left == (a < b)


@compiled(inline=True)
def height_at(x: float, y: float, nodes: FloatArray, a: int, b: int, c: int) -> float:
    """z of the triangle's plane above (x, y), held between its corners; a mean where it is upright."""
    za, zb, zc = nodes[a, 2], nodes[b, 2], nodes[c, 2]
    bx, by = nodes[b, 0] - nodes[a, 0], nodes[b, 1] - nodes[a, 1]
    cx, cy = nodes[c, 0] - nodes[a, 0], nodes[c, 1] - nodes[a, 1]
    area = bx * cy - by * cx
    if area == 0.0:
        return (za + zb + zc) / 3.0
    px, py = x - nodes[a, 0], y - nodes[a, 1]
    z = za + ((px * cy - py * cx) * (zb - za) + (bx * py - by * px) * (zc - za)) / area
    return min(max(z, min(za, zb, zc)), max(za, zb, zc))


@compiled
def count_crossings(nodes: FloatArray, triangles: IntArray, shape: IntArray, change_out: IntArray) -> None:
    """What a ray climbing each column meets, noted at the first centre above: +1 to enter, -1 to leave.

    nodes (n, 3) in units of voxels, with cell centres at whole numbers. change_out (nx, ny, nz + 1), zeros
    on entry.
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        i0 = max(int(min(nodes[a, 0], nodes[b, 0], nodes[c, 0])), 0)
        i1 = min(int(max(nodes[a, 0], nodes[b, 0], nodes[c, 0])) + 1, shape[0] - 1)
        j0 = max(int(min(nodes[a, 1], nodes[b, 1], nodes[c, 1])), 0)
        j1 = min(int(max(nodes[a, 1], nodes[b, 1], nodes[c, 1])) + 1, shape[1] - 1)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                upward = side_of_edge(i, j, nodes, a, b)
                if side_of_edge(i, j, nodes, b, c) == upward and side_of_edge(i, j, nodes, c, a) == upward:
                    z = height_at(i, j, nodes, a, b, c)
                    k = min(int(z) + 1, shape[2]) if z >= 0.0 else 0
                    change_out[i, j, k] += -1 if upward else 1


@compiled
def fill_columns(change: IntArray, parity: bool, inside_out: IntArray) -> None:
    """Where the sum of the changes below is not zero, or odd: inside_out (nx, ny, nz), 0 or 1."""
    nx, ny, nz = inside_out.shape
    for i in range(nx):
        for j in range(ny):
            total = 0
            for k in range(nz):
                total += change[i, j, k]
                inside_out[i, j, k] = (total & 1) if parity else (1 if total != 0 else 0)
