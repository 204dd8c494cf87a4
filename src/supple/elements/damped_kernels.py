"""Stiffness and damping matrices of damped finite elements, both by one sweep.

    B_ab = -beta sum_q w_q D_ab
    K_ab = -sum_q w_q (g_a . C . g_b + beta T_ab)
    D_ab = lam h_a h_b^T + mu h_b h_a^T + mu (g_a . g_b) F F^T                      h_a = F g_a
    T_ab = (g_a . S' g_b) I + lam h_a d_b^T + mu h_b d_a^T + mu (g_a . g_b) F V^T   d_a = V g_a

B: of `viscous_kernels`, and beta T what its forces add to K; S': their stress over beta. Where a law is made of Green's
strain, or has none but the linear one, C needs no tensor: g_a . C . g_b is D_ab + (g_a . S g_b) I for St. Venant and
Kirchhoff's law, S its stress, and D_ab for the linear law, whose D has F = I and whose T is nothing.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_blocks import add_blocks_of_lanes, add_transposed_blocks_of_lanes
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.elements.kernels import add_block_row, chunk_stop, gather_nodes, gradient_of, place_of
from supple.elements.laws import LINEAR, STVK, compute_tangent, second_piola, store_nine
from supple.elements.viscous_kernels import (
    damped_gradient,
    symmetric_rate_stress,
    times_transpose,
    turned_gradient,
)


@compiled(inline=True)
def store_turned(flat, base, nodes, F, turned_out):
    """turned_out[(3 a + i) LANES + w] = (F g_a)_i."""
    for a in range(nodes):
        at = 3 * a * LANES
        g0, g1 = load(flat, base + at, LANES), load(flat, base + at + LANES, LANES)
        h = turned_gradient(F, g0, g1, load(flat, base + at + 2 * LANES, LANES))
        store(turned_out, at, h[0])
        store(turned_out, at + LANES, h[1])
        store(turned_out, at + 2 * LANES, h[2])


@compiled(inline=True)
def near_of(flat, base, a, b):
    """g_a . g_b."""
    near = load(flat, base + 3 * a * LANES, LANES) * load(flat, base + 3 * b * LANES, LANES)
    for i in range(1, 3):
        near = near + load(flat, base + (3 * a + i) * LANES, LANES) * load(flat, base + (3 * b + i) * LANES, LANES)
    return near


@compiled(inline=True)
def add_pair(a, b, lam, mu, near, h, d, squares, start, block_out):
    """block_out[start:] += lam h_a d_b^T + mu h_b d_a^T + mu near squares."""
    near = mu * near
    a0, a1 = load(d, 3 * a * LANES, LANES), load(d, (3 * a + 1) * LANES, LANES)
    b0, b1 = load(d, 3 * b * LANES, LANES), load(d, (3 * b + 1) * LANES, LANES)
    a2, b2 = load(d, (3 * a + 2) * LANES, LANES), load(d, (3 * b + 2) * LANES, LANES)
    for i in range(3):
        left, right = lam * load(h, (3 * a + i) * LANES, LANES), mu * load(h, (3 * b + i) * LANES, LANES)
        to, at = start + 3 * i * LANES, 3 * i * LANES
        s0, s1 = load(squares, at, LANES), load(squares, at + LANES, LANES)
        s2 = load(squares, at + 2 * LANES, LANES)
        store(block_out, to, load(block_out, to, LANES) + left * b0 + right * a0 + near * s0)
        to += LANES
        store(block_out, to, load(block_out, to, LANES) + left * b1 + right * a1 + near * s1)
        to += LANES
        store(block_out, to, load(block_out, to, LANES) + left * b2 + right * a2 + near * s2)


@compiled(inline=True)
def add_damped(flat, base, nodes, F, lam, mu, h, squares, damp_out):
    """damp_out[a, b] += D_ab for a <= b; squares: buffer (9 * LANES,)."""
    store_nine(times_transpose(F, F), squares, 0, LANES)
    for a in range(nodes):
        for b in range(a, nodes):
            at = (a * nodes + b) * 9 * LANES
            add_pair(a, b, lam, mu, near_of(flat, base, a, b), h, h, squares, at, damp_out)  # (6.26)


@compiled(inline=True)
def add_turning(flat, base, nodes, F, V, lam, mu, h, d, squares, turn_out):
    """turn_out[a, b] += T_ab without its first term."""
    store_nine(times_transpose(F, V), squares, 0, LANES)
    for a in range(nodes):
        for b in range(nodes):
            at = (a * nodes + b) * 9 * LANES
            add_pair(a, b, lam, mu, near_of(flat, base, a, b), h, d, squares, at, turn_out)  # (6.27)


@compiled(inline=True)
def add_along(flat, base, nodes, S, along_out):
    """along_out[a, b] += g_a . S g_b for a <= b, S as (S00, S01, S02, S11, S12, S22)."""
    for a in range(nodes):
        g0 = load(flat, base + 3 * a * LANES, LANES)
        g1 = load(flat, base + (3 * a + 1) * LANES, LANES)
        g2 = load(flat, base + (3 * a + 2) * LANES, LANES)
        s0 = S[0] * g0 + S[1] * g1 + S[2] * g2
        s1 = S[1] * g0 + S[3] * g1 + S[4] * g2
        s2 = S[2] * g0 + S[4] * g1 + S[5] * g2
        for b in range(a, nodes):
            value = s0 * load(flat, base + 3 * b * LANES, LANES) + s1 * load(flat, base + (3 * b + 1) * LANES, LANES)
            value = value + s2 * load(flat, base + (3 * b + 2) * LANES, LANES)
            at = (a * nodes + b) * LANES
            store(along_out, at, load(along_out, at, LANES) + value)


@compiled(inline=True)
def finish_blocks(nodes, beta, by_strain, damp, along, stiff):
    """damp <- B and stiff <- K without T, [a, b] for a <= b, from D, g_a . S g_b and g_a . C . g_b."""
    for a in range(nodes):
        for b in range(a, nodes):
            at = (a * nodes + b) * LANES
            near = load(along, at, LANES)
            for e in range(9):
                entry = 9 * at + e * LANES
                damping = load(damp, entry, LANES)
                stiffness = damping if by_strain else load(stiff, entry, LANES)
                if e % 4 == 0:
                    stiffness = stiffness + near
                store(stiff, entry, -stiffness)
                store(damp, entry, -beta * damping)


@compiled(inline=True)
def finish_turning(nodes, beta, stiff, turn):
    """turn <- K[a, b] of all a and b, from K without T and from T."""
    for a in range(nodes):
        for b in range(nodes):
            for i in range(3):
                for k in range(3):
                    entry = 9 * (a * nodes + b) + 3 * i + k
                    same = entry if a <= b else 9 * (b * nodes + a) + 3 * k + i
                    value = load(stiff, same * LANES, LANES) - beta * load(turn, entry * LANES, LANES)
                    store(turn, entry * LANES, value)


@compiled(inline=True)
def add_symmetric(blocks, nodes, g, places, data_out):
    """data_out[positions[g, a, b]] += blocks[a, b] for a <= b, and their transposes to [b, a]."""
    for a in range(nodes):
        for b in range(a, nodes):
            at = (a * nodes + b) * 9 * LANES
            add_blocks_of_lanes(blocks, at, places, place_of(nodes, g, a, b), data_out)
            if a != b:
                add_transposed_blocks_of_lanes(blocks, at, places, place_of(nodes, g, b, a), data_out)


@compiled
def sweep_damped_blocks(arrays, law, definite, moves, start, stop, x, v, beta, positions, K_out, B_out):
    """K_out, B_out[positions[g, a, b, w]] += K_ab, B_ab for the groups start..stop; T is left out unless `moves`."""
    _, points, nodes, _, _ = arrays.gradients.shape
    flat, weights = arrays.gradients.ravel(), arrays.weights.ravel()
    lams, mus = arrays.lam.ravel(), arrays.mu.ravel()
    places, K, B = positions.ravel(), K_out.reshape(-1), B_out.reshape(-1)
    is_linear = law == LINEAR
    by_strain = is_linear or (law == STVK and not definite)  # g_a . C . g_b is made of D_ab
    turns = moves and not is_linear
    local, speed = np.empty(3 * nodes * LANES), np.empty(3 * nodes * LANES)
    h, d, squares = np.empty(3 * nodes * LANES), np.empty(3 * nodes * LANES), np.empty(9 * LANES)
    work, C, half = np.empty(36 * LANES), np.empty(81 * LANES), np.empty(27 * LANES)
    size = nodes * nodes * LANES
    damp, stiff, turn, along = np.empty(9 * size), np.empty(9 * size), np.empty(9 * size), np.empty(size)
    for g in range(start, stop):
        gather_nodes(arrays, g, x, local)
        damp[:] = 0.0
        along[:] = 0.0
        if not by_strain:
            stiff[:] = 0.0
        if turns:
            gather_nodes(arrays, g, v, speed)
            turn[:] = 0.0
        lam, mu = load(lams, g * LANES, LANES), load(mus, g * LANES, LANES)
        for q in range(points):
            base = (g * points + q) * nodes * 3 * LANES
            weight = load(weights, (g * points + q) * LANES, LANES)
            F = damped_gradient(arrays, is_linear, flat, base, local)
            store_turned(flat, base, nodes, F, h)
            add_damped(flat, base, nodes, F, weight * lam, weight * mu, h, squares, damp)
            if turns:
                V = gradient_of(arrays, flat, base, speed)
                store_turned(flat, base, nodes, V, d)
                add_turning(flat, base, nodes, F, V, weight * lam, weight * mu, h, d, squares, turn)
                rate = beta * weight
                add_along(flat, base, nodes, symmetric_rate_stress(F, V, rate * lam, rate * mu), along)  # (6.27)
            if not by_strain:
                compute_tangent(law, F, lam, mu, definite, work, C)
                for b in range(nodes):
                    add_block_row(flat, base, nodes, C, b, weight, half, stiff)  # (6.11)
            elif not is_linear:
                add_along(flat, base, nodes, second_piola(F, weight * lam, weight * mu), along)  # (6.15)
        finish_blocks(nodes, beta, by_strain, damp, along, stiff)
        add_symmetric(damp, nodes, g, places, B)
        if not turns:
            add_symmetric(stiff, nodes, g, places, K)
            continue
        finish_turning(nodes, beta, stiff, turn)
        for a in range(nodes):
            for b in range(nodes):
                at = (a * nodes + b) * 9 * LANES
                add_blocks_of_lanes(turn, at, places, place_of(nodes, g, a, b), K)


@compiled
def add_damped_blocks(arrays, law, definite, moves, x, v, beta, positions, K_out, B_out):
    """The blocks of all groups, one thread."""
    for k in range(len(arrays.chunk_start)):
        start = arrays.chunk_start[k]
        stop = chunk_stop(arrays, k)
        sweep_damped_blocks(arrays, law, definite, moves, start, stop, x, v, beta, positions, K_out, B_out)


@compiled(parallel=True)
def add_damped_blocks_parallel(arrays, law, definite, moves, x, v, beta, positions, K_out, B_out):
    """`add_damped_blocks` on all threads."""
    for c in range(len(arrays.colour_start) - 1):
        for k in numba.prange(arrays.colour_start[c], arrays.colour_start[c + 1]):
            start = arrays.chunk_start[k]
            stop = chunk_stop(arrays, k)
            sweep_damped_blocks(arrays, law, definite, moves, start, stop, x, v, beta, positions, K_out, B_out)
