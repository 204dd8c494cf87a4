"""Sweeps over finite elements in SIMD lanes: energy, force and tangent blocks.

    F = sum_a x_a g_a^T,   f_a = -sum_q w_q P(F_q) g_a,   df_a/dx_b = -sum_q w_q g_a . C(F_q) . g_b

One group holds LANES elements, lane by lane; the same code serves tets (4 nodes, 1 point) and hexes (8 nodes, 8
points). A chunk is a run of groups; chunks of one colour share no node, so that threads may run them in any order
and the sums are the same bits for any number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_blocks import add_blocks_of_lanes, add_transposed_blocks_of_lanes
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store
from supple.elements.laws import compute_tangent, energy_density, stress

Array = np.ndarray
CHUNK = 64  # groups


class ElementArrays(NamedTuple):
    """Rest data of a set of elements, in groups of LANES.

    nodes (group_count, node_count, LANES) int32; gradients (group_count, point_count, node_count, 3, LANES) [1/m];
    weights (group_count, point_count, LANES) [m³], zero in padded lanes; lam, mu (group_count, LANES) [Pa];
    chunk_start (colour-ordered chunks) first group, colour_start (colour_count + 1,) into it.
    """

    nodes: Array
    gradients: Array
    weights: Array
    lam: Array
    mu: Array
    chunk_start: Array
    colour_start: Array


@compiled(inline=True)
def gather_nodes(arrays, g, values, local_out):
    """local_out[(3 a + i) LANES + w] = values[node(a, w), i]."""
    nodes = arrays.nodes
    for a in range(nodes.shape[1]):
        for w in range(LANES):
            node = nodes[g, a, w]
            for i in range(3):
                local_out[(3 * a + i) * LANES + w] = values[node, i]


@compiled(inline=True)
def scatter_add_nodes(arrays, g, local, values_out):
    """values_out[node(a, w), i] += local[(3 a + i) LANES + w]."""
    nodes = arrays.nodes
    for a in range(nodes.shape[1]):
        for w in range(LANES):
            node = nodes[g, a, w]
            for i in range(3):
                values_out[node, i] += local[(3 * a + i) * LANES + w]


@compiled(inline=True)
def gradient_of(arrays, flat, base, local):
    """sum_a local_a g_a^T at the point whose gradients start at flat[base]: a 9-tuple of lanes."""
    zero = load(flat, base, LANES) * 0.0
    F00, F01, F02, F10, F11, F12, F20, F21, F22 = zero, zero, zero, zero, zero, zero, zero, zero, zero
    for a in range(arrays.nodes.shape[1]):
        g0 = load(flat, base + (3 * a) * LANES, LANES)
        g1 = load(flat, base + (3 * a + 1) * LANES, LANES)
        g2 = load(flat, base + (3 * a + 2) * LANES, LANES)
        x0 = load(local, (3 * a) * LANES, LANES)
        x1 = load(local, (3 * a + 1) * LANES, LANES)
        x2 = load(local, (3 * a + 2) * LANES, LANES)
        F00, F01, F02 = F00 + x0 * g0, F01 + x0 * g1, F02 + x0 * g2  # (6.9)
        F10, F11, F12 = F10 + x1 * g0, F11 + x1 * g1, F12 + x1 * g2  # (6.9)
        F20, F21, F22 = F20 + x2 * g0, F21 + x2 * g1, F22 + x2 * g2  # (6.9)
    return (F00, F01, F02, F10, F11, F12, F20, F21, F22)


@compiled(inline=True)
def add_divergence(arrays, flat, base, P, factor, local_out):
    """local_out_a += factor P g_a."""
    for a in range(arrays.nodes.shape[1]):
        g0 = factor * load(flat, base + (3 * a) * LANES, LANES)
        g1 = factor * load(flat, base + (3 * a + 1) * LANES, LANES)
        g2 = factor * load(flat, base + (3 * a + 2) * LANES, LANES)
        k = 3 * a * LANES
        store(local_out, k, load(local_out, k, LANES) + P[0] * g0 + P[1] * g1 + P[2] * g2)  # (6.10)
        k += LANES
        store(local_out, k, load(local_out, k, LANES) + P[3] * g0 + P[4] * g1 + P[5] * g2)  # (6.10)
        k += LANES
        store(local_out, k, load(local_out, k, LANES) + P[6] * g0 + P[7] * g1 + P[8] * g2)  # (6.10)


@compiled
def sweep_force(arrays, law, start, stop, x, f_out):
    """Forces of the groups start..stop, added to f_out (node_count, 3) [N]."""
    _, points, nodes, _, _ = arrays.gradients.shape
    flat, weights = arrays.gradients.ravel(), arrays.weights.ravel()
    lams, mus = arrays.lam.ravel(), arrays.mu.ravel()
    local, force = np.empty(3 * nodes * LANES), np.empty(3 * nodes * LANES)
    for g in range(start, stop):
        gather_nodes(arrays, g, x, local)
        force[:] = 0.0
        lam, mu = load(lams, g * LANES, LANES), load(mus, g * LANES, LANES)
        for q in range(points):
            base = (g * points + q) * nodes * 3 * LANES
            F = gradient_of(arrays, flat, base, local)  # (6.9)
            weight = load(weights, (g * points + q) * LANES, LANES)
            add_divergence(arrays, flat, base, stress(law, F, lam, mu), -weight, force)  # (6.10)
        scatter_add_nodes(arrays, g, force, f_out)


@compiled(inline=True)
def add_block_row(flat, base, nodes, C, b, factor, half, block_out):
    """block_out[a, b] += factor g_a . C . g_b for a <= b; half: buffer (27 * LANES,) for C . g_b."""
    h0 = factor * load(flat, base + (3 * b) * LANES, LANES)
    h1 = factor * load(flat, base + (3 * b + 1) * LANES, LANES)
    h2 = factor * load(flat, base + (3 * b + 2) * LANES, LANES)
    for s in range(9):
        for k in range(3):
            r0, c0 = min(s, 3 * k), max(s, 3 * k)
            r1, c1 = min(s, 3 * k + 1), max(s, 3 * k + 1)
            r2, c2 = min(s, 3 * k + 2), max(s, 3 * k + 2)
            v = load(C, (9 * r0 + c0) * LANES, LANES) * h0 + load(C, (9 * r1 + c1) * LANES, LANES) * h1
            store(half, (3 * s + k) * LANES, v + load(C, (9 * r2 + c2) * LANES, LANES) * h2)  # (6.11)
    for a in range(b + 1):
        g0 = load(flat, base + (3 * a) * LANES, LANES)
        g1 = load(flat, base + (3 * a + 1) * LANES, LANES)
        g2 = load(flat, base + (3 * a + 2) * LANES, LANES)
        for i in range(3):
            for k in range(3):
                v = g0 * load(half, (9 * i + k) * LANES, LANES) + g1 * load(half, (9 * i + 3 + k) * LANES, LANES)
                v = v + g2 * load(half, (9 * i + 6 + k) * LANES, LANES)  # (6.11)
                at = ((a * nodes + b) * 9 + 3 * i + k) * LANES
                store(block_out, at, load(block_out, at, LANES) + v)


@compiled(inline=True)
def place_of(nodes, g, a, b):
    """Where the positions of the blocks [a, b] of a group begin among all of them."""
    return ((g * nodes + a) * nodes + b) * LANES


@compiled
def sweep_blocks(arrays, law, definite, start, stop, x, factor, positions, data_out):
    """data_out[positions[g, a, b, w]] += factor df_a/dx_b for the groups start..stop; data_out (block_count, 3, 3)."""
    _, points, nodes, _, _ = arrays.gradients.shape
    flat, weights = arrays.gradients.ravel(), arrays.weights.ravel()
    lams, mus = arrays.lam.ravel(), arrays.mu.ravel()
    local = np.empty(3 * nodes * LANES)
    work, C, half = np.empty(36 * LANES), np.empty(81 * LANES), np.empty(27 * LANES)
    block, places, data = np.empty(nodes * nodes * 9 * LANES), positions.ravel(), data_out.reshape(-1)
    for g in range(start, stop):
        gather_nodes(arrays, g, x, local)
        block[:] = 0.0
        lam, mu = load(lams, g * LANES, LANES), load(mus, g * LANES, LANES)
        for q in range(points):
            base = (g * points + q) * nodes * 3 * LANES
            F = gradient_of(arrays, flat, base, local)  # (6.9)
            compute_tangent(law, F, lam, mu, definite, work, C)
            weight = load(weights, (g * points + q) * LANES, LANES) * (-factor)
            for b in range(nodes):
                add_block_row(flat, base, nodes, C, b, weight, half, block)  # (6.11)
        for a in range(nodes):
            for b in range(a, nodes):
                at = (a * nodes + b) * 9 * LANES
                add_blocks_of_lanes(block, at, places, place_of(nodes, g, a, b), data)
                if a != b:
                    add_transposed_blocks_of_lanes(block, at, places, place_of(nodes, g, b, a), data)


@compiled
def compute_energy(arrays, law, x):
    """Elastic energy [J]: sums of lanes over the groups, then over the lanes."""
    _, points, nodes, _, _ = arrays.gradients.shape
    flat, weights = arrays.gradients.ravel(), arrays.weights.ravel()
    lams, mus = arrays.lam.ravel(), arrays.mu.ravel()
    local, work = np.empty(3 * nodes * LANES), np.zeros(LANES)
    total = load(work, 0, LANES)
    for g in range(arrays.nodes.shape[0]):
        gather_nodes(arrays, g, x, local)
        lam, mu = load(lams, g * LANES, LANES), load(mus, g * LANES, LANES)
        for q in range(points):
            F = gradient_of(arrays, flat, (g * points + q) * nodes * 3 * LANES, local)  # (6.9)
            weight = load(weights, (g * points + q) * LANES, LANES)
            total = total + weight * energy_density(law, F, lam, mu, work)
    return lane_sum(total)


@compiled(inline=True)
def chunk_stop(arrays, k):
    """One past the last group of the k-th chunk."""
    return min(arrays.chunk_start[k] + CHUNK, arrays.nodes.shape[0])


@compiled
def add_force(arrays, law, x, f_out):
    """f_out (node_count, 3) += elastic forces [N] at x (node_count, 3) [m], one thread."""
    for k in range(len(arrays.chunk_start)):
        sweep_force(arrays, law, arrays.chunk_start[k], chunk_stop(arrays, k), x, f_out)


@compiled(parallel=True)
def add_force_parallel(arrays, law, x, f_out):
    """`add_force` on all threads."""
    for c in range(len(arrays.colour_start) - 1):
        for k in numba.prange(arrays.colour_start[c], arrays.colour_start[c + 1]):
            sweep_force(arrays, law, arrays.chunk_start[k], chunk_stop(arrays, k), x, f_out)


@compiled
def add_blocks(arrays, law, definite, x, factor, positions, data_out):
    """data_out += factor K(x) by blocks, one thread."""
    for k in range(len(arrays.chunk_start)):
        start = arrays.chunk_start[k]
        sweep_blocks(arrays, law, definite, start, chunk_stop(arrays, k), x, factor, positions, data_out)


@compiled(parallel=True)
def add_blocks_parallel(arrays, law, definite, x, factor, positions, data_out):
    """`add_blocks` on all threads."""
    for c in range(len(arrays.colour_start) - 1):
        for k in numba.prange(arrays.colour_start[c], arrays.colour_start[c + 1]):
            start = arrays.chunk_start[k]
            sweep_blocks(arrays, law, definite, start, chunk_stop(arrays, k), x, factor, positions, data_out)
