"""In which element a point lies, and with which weights: tets by Cramer's rule, hexes by Newton's method."""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.geometry.grids.spatial_hash import CellGrid, cell_index
from supple.geometry.meshes.element_shapes import HEX_CORNERS
from supple.geometry.meshes.region import FloatArray, IntArray

NEWTON_STEPS = 20


@compiled
def compute_tet_weights(p: FloatArray, nodes: FloatArray, tet: IntArray, weight_out: FloatArray) -> None:
    """Barycentric weights (4,) of p (3,) [m], inside the tet or not."""
    ox, oy, oz = nodes[tet[0], 0], nodes[tet[0], 1], nodes[tet[0], 2]
    ax, ay, az = nodes[tet[1], 0] - ox, nodes[tet[1], 1] - oy, nodes[tet[1], 2] - oz
    bx, by, bz = nodes[tet[2], 0] - ox, nodes[tet[2], 1] - oy, nodes[tet[2], 2] - oz
    cx, cy, cz = nodes[tet[3], 0] - ox, nodes[tet[3], 1] - oy, nodes[tet[3], 2] - oz
    px, py, pz = p[0] - ox, p[1] - oy, p[2] - oz
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    scale = 1.0 / (ax * ux + ay * uy + az * uz)
    weight_out[1] = (px * ux + py * uy + pz * uz) * scale
    vx, vy, vz = ay * pz - az * py, az * px - ax * pz, ax * py - ay * px
    weight_out[2] = (cx * vx + cy * vy + cz * vz) * scale
    weight_out[3] = -(bx * vx + by * vy + bz * vz) * scale
    weight_out[0] = 1.0 - weight_out[1] - weight_out[2] - weight_out[3]


@compiled
def compute_hex_shape(xi: FloatArray, shape_out: FloatArray, gradient_out: FloatArray) -> None:
    """Trilinear shape functions (8,) and their gradients by ξ, (8, 3), at ξ (3,)."""
    for k in range(8):
        x = 1.0 + xi[0] * HEX_CORNERS[k, 0]
        y = 1.0 + xi[1] * HEX_CORNERS[k, 1]
        z = 1.0 + xi[2] * HEX_CORNERS[k, 2]
        shape_out[k] = x * y * z / 8.0
        gradient_out[k, 0] = HEX_CORNERS[k, 0] * y * z / 8.0
        gradient_out[k, 1] = HEX_CORNERS[k, 1] * x * z / 8.0
        gradient_out[k, 2] = HEX_CORNERS[k, 2] * x * y / 8.0


@compiled
def compute_hex_residual(
    p: FloatArray, nodes: FloatArray, element: IntArray, shape: FloatArray, residual_out: FloatArray
) -> None:
    """p - Σ N_k x_k [m], (3,)."""
    for a in range(3):
        residual_out[a] = p[a]
        for k in range(8):
            residual_out[a] -= shape[k] * nodes[element[k], a]


@compiled
def compute_hex_step(
    nodes: FloatArray, element: IntArray, gradient: FloatArray, residual: FloatArray, step_out: FloatArray
) -> None:
    """J⁻¹ residual with J = Σ x_k ⊗ ∂N_k/∂ξ, (3,), by Cramer's rule."""
    J = np.zeros((3, 3))
    for k in range(8):
        for a in range(3):
            for b in range(3):
                J[a, b] += nodes[element[k], a] * gradient[k, b]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        step_out[i] = 0.0
        for a in range(3):
            b, c = (a + 1) % 3, (a + 2) % 3
            step_out[i] += residual[a] * (J[b, j] * J[c, k] - J[c, j] * J[b, k])
    determinant = 0.0
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        determinant += J[a, 0] * (J[b, 1] * J[c, 2] - J[c, 1] * J[b, 2])
    step_out /= determinant


@compiled
def compute_hex_weights(p: FloatArray, nodes: FloatArray, element: IntArray, weight_out: FloatArray) -> float:
    """Trilinear weights (8,) of p (3,) [m]; returns how far p lies outside, as max |ξ| - 1, <= 0 inside.

    Newton's method on x(ξ) = p, with ξ held in [-1, 1]³. What is left of p - x(ξ) is added to first order
    with the gradient at the centre, which is never singular: affine fields are reproduced wherever p is.
    """
    xi, step, residual, gradient = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((8, 3))
    outside = 0.0
    for _ in range(NEWTON_STEPS):
        compute_hex_shape(xi, weight_out, gradient)
        compute_hex_residual(p, nodes, element, weight_out, residual)
        compute_hex_step(nodes, element, gradient, residual, step)
        outside, change = -1.0, 0.0
        for a in range(3):
            outside = max(outside, abs(xi[a] + step[a]) - 1.0)
            moved = min(max(xi[a] + step[a], -1.0), 1.0)
            change = max(change, abs(moved - xi[a]))
            xi[a] = moved
        if change < 1e-13:
            break
    compute_hex_shape(np.zeros(3), weight_out, gradient)
    compute_hex_shape(xi, weight_out, np.empty((8, 3)))
    compute_hex_residual(p, nodes, element, weight_out, residual)
    compute_hex_step(nodes, element, gradient, residual, step)
    for k in range(8):
        for a in range(3):
            weight_out[k] += gradient[k, a] * step[a]
    return outside


@compiled
def compute_weights(p: FloatArray, nodes: FloatArray, element: IntArray, weight_out: FloatArray) -> float:
    """Weights of p in a tet or a hex; returns how far p lies outside, relative to the element."""
    if len(element) == 8:
        return compute_hex_weights(p, nodes, element, weight_out)
    compute_tet_weights(p, nodes, element, weight_out)
    return -min(min(weight_out[0], weight_out[1]), min(weight_out[2], weight_out[3]))


@compiled
def locate_points(
    points: FloatArray,
    nodes: FloatArray,
    elements: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    grid: CellGrid,
    element_out: IntArray,
    weight_out: FloatArray,
    outside_out: FloatArray,
) -> None:
    """The first element that holds each point, else the one it misses least; -1 where none is near.

    lower, upper: boxes of the elements, (m, 3), widened by a tolerance. weight_out (k, w).
    outside_out (k,): how far the point lies outside that element, in units of the element.
    """
    trial = np.empty(elements.shape[1])
    for i in range(len(points)):
        p = points[i]
        element_out[i], outside_out[i] = -1, np.inf
        x = cell_index(p[0], grid.origin[0], grid.inverse_size, grid.shape[0])
        y = cell_index(p[1], grid.origin[1], grid.inverse_size, grid.shape[1])
        z = cell_index(p[2], grid.origin[2], grid.inverse_size, grid.shape[2])
        cell = (x * grid.shape[1] + y) * grid.shape[2] + z
        for k in range(grid.start[cell], grid.start[cell + 1]):
            e = grid.items[k]
            if (
                p[0] < lower[e, 0]
                or p[0] > upper[e, 0]
                or p[1] < lower[e, 1]
                or p[1] > upper[e, 1]
                or p[2] < lower[e, 2]
                or p[2] > upper[e, 2]
            ):
                continue
            outside = compute_weights(p, nodes, elements[e], trial)
            if outside < outside_out[i]:
                element_out[i], outside_out[i] = e, outside
                for w in range(len(trial)):
                    weight_out[i, w] = trial[w]
                if outside <= 0.0:
                    break


@compiled
def extrapolate_points(
    points: FloatArray,
    nodes: FloatArray,
    elements: IntArray,
    element: IntArray,
    weight_out: FloatArray,
) -> None:
    """Weights (k, w) of points (k, 3) [m] in given elements (k,), which may lie elsewhere."""
    for i in range(len(points)):
        compute_weights(points[i], nodes, elements[element[i]], weight_out[i])
