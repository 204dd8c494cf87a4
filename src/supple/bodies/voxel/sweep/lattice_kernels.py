"""Loops over the links of a lattice, one link at a time: energy, forces, differentials and tangents.

Coordinates are frames: x (n, 7), v (n, 6) with linear velocity in world and angular velocity in body axes; forces
(n, 6) with torque in body axes. A link along axis a is seen in the cyclically permuted axes (a, a + 1, a + 2).
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import (
    matrix_rotate,
    matrix_rotate_inverse,
    quaternion_rotate,
    quaternion_rotate_inverse,
)
from supple.bodies.voxel.links.link import (
    add,
    axial_by_rest,
    dot,
    link_differential,
    link_energy,
    link_frame,
    link_loads,
    subtract,
)

Array = np.ndarray


class Links(NamedTuple):
    """voxels (m, 2), axis (m,), stiffness (m, 4), damping (m, 2), rest (m,); see `supple.bodies.voxel.links.link`."""

    voxels: Array
    axis: Array
    stiffness: Array
    damping: Array
    rest: Array


@compiled(inline=True)
def vector(values, i, start, a):
    """values[i, start:start + 3] in the permuted axes of a link along a."""
    return values[i, start + a], values[i, start + (a + 1) % 3], values[i, start + (a + 2) % 3]


@compiled(inline=True)
def add_vector(u, i, start, a, values_out):
    """values_out[i, start:start + 3] += u, back from the permuted axes."""
    values_out[i, start + a] += u[0]
    values_out[i, start + (a + 1) % 3] += u[1]
    values_out[i, start + (a + 2) % 3] += u[2]


@compiled(inline=True)
def quaternion(x, i, a):
    """The quaternion of voxel i in the permuted axes."""
    qx, qy, qz = vector(x, i, 4, a)
    return x[i, 3], qx, qy, qz


@compiled(inline=True)
def constants(links, k):
    """Stiffness and damping of link k."""
    s, c = links.stiffness, links.damping
    return (s[k, 0], s[k, 1], s[k, 2], s[k, 3]), (c[k, 0], c[k, 1])


@compiled
def compute_axial_by_rest(links, edge, out):
    """Axial stiffness [N/m], (m,), of links that follow their rest lengths; edge: the voxel size [m]."""
    for k in range(len(links.axis)):
        out[k] = axial_by_rest(links.stiffness[k, 0], edge, links.rest[k])  # (14.29)


@compiled
def compute_energy(links, x):
    """Elastic energy [J]."""
    total = 0.0
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        d = subtract(vector(x, j, 0, a), vector(x, i, 0, a))
        stiffness, _ = constants(links, k)
        total += link_energy(stiffness, links.rest[k], d, quaternion(x, i, a), quaternion(x, j, a))  # (14.8)
    return total


@compiled
def add_force(links, x, v, elastic, f_out):
    """f_out += elastic (1 or 0) times the elastic loads, and the damping loads at the velocities v."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        q1, q2 = quaternion(x, i, a), quaternion(x, j, a)
        (a1, b1, a2, b3), damping = constants(links, k)
        F, A, B = link_loads(
            (elastic * a1, elastic * b1, elastic * a2, elastic * b3),
            damping,
            links.rest[k],
            subtract(vector(x, j, 0, a), vector(x, i, 0, a)),
            q1,
            q2,
            subtract(vector(v, j, 0, a), vector(v, i, 0, a)),
            quaternion_rotate(q1, vector(v, i, 3, a)),
            quaternion_rotate(q2, vector(v, j, 3, a)),
        )
        add_vector(F, i, 0, a, f_out)  # (14.12)
        add_vector((-F[0], -F[1], -F[2]), j, 0, a, f_out)
        add_vector(quaternion_rotate_inverse(q1, add(A, B)), i, 3, a, f_out)  # (14.12)
        add_vector(quaternion_rotate_inverse(q2, subtract(A, B)), j, 3, a, f_out)  # (14.12)


@compiled
def measure_links(links, x, v, out):
    """out (m, 8): elongation, angle between the voxels, force and moment on voxel 2 in world axes."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        q1, q2 = quaternion(x, i, a), quaternion(x, j, a)
        d = subtract(vector(x, j, 0, a), vector(x, i, 0, a))
        tau, R = link_frame(q1, q2)
        stiffness, damping = constants(links, k)
        F, A, B = link_loads(
            stiffness,
            damping,
            links.rest[k],
            d,
            q1,
            q2,
            subtract(vector(v, j, 0, a), vector(v, i, 0, a)),
            quaternion_rotate(q1, vector(v, i, 3, a)),
            quaternion_rotate(q2, vector(v, j, 3, a)),
        )
        M = subtract(A, B)
        out[k, 0] = matrix_rotate_inverse(R, d)[0] - links.rest[k]  # (14.7)
        out[k, 1] = 4.0 * np.arctan(np.sqrt(dot(tau, tau)))  # (14.6)
        for c in range(3):
            out[k, 2 + (a + c) % 3] = -F[c]
            out[k, 5 + (a + c) % 3] = M[c]


@compiled
def compute_elongations(links, x, out):
    """Elongations of the links [m], (m,)."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        _, R = link_frame(quaternion(x, i, a), quaternion(x, j, a))
        d = matrix_rotate_inverse(R, subtract(vector(x, j, 0, a), vector(x, i, 0, a)))
        out[k] = d[0] - links.rest[k]  # (14.7)


@compiled
def compute_tension_loads(links, x, out):
    """out (m, 12): force and torque on voxel 1, then on voxel 2, of links under a tension of 1 N and nothing else."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        q1, q2 = quaternion(x, i, a), quaternion(x, j, a)
        d = subtract(vector(x, j, 0, a), vector(x, i, 0, a))
        _, R = link_frame(q1, q2)
        none = (0.0, 0.0, 0.0)
        rest = matrix_rotate_inverse(R, d)[0] - 1.0
        F, A, B = link_loads((1.0, 0.0, 0.0, 0.0), (0.0, 0.0), rest, d, q1, q2, none, none, none)  # (14.12)
        T1, T2 = quaternion_rotate_inverse(q1, add(A, B)), quaternion_rotate_inverse(q2, subtract(A, B))
        for c in range(3):
            at = (a + c) % 3
            out[k, at], out[k, 6 + at] = F[c], -F[c]
            out[k, 3 + at], out[k, 9 + at] = T1[c], T2[c]


@compiled
def largest_strain_and_bend(links, x):
    """The largest size of a strain, the largest angle between linked voxels [rad], and the number of that link."""
    strain, largest, which = 0.0, -1.0, 0
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        tau, R = link_frame(quaternion(x, i, a), quaternion(x, j, a))
        d = matrix_rotate_inverse(R, subtract(vector(x, j, 0, a), vector(x, i, 0, a)))
        strain = max(strain, abs(d[0] / links.rest[k] - 1.0))
        if dot(tau, tau) > largest:
            largest, which = dot(tau, tau), k
    return strain, 4.0 * np.arctan(np.sqrt(max(largest, 0.0))), which


@compiled(inline=True)
def mean_state(links, k, x, v):
    """What `link_differential` needs of link k: tau, d, v, w1, w2 in mean axes; with q1, q2 and R_m."""
    i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
    q1, q2 = quaternion(x, i, a), quaternion(x, j, a)
    tau, R = link_frame(q1, q2)
    d = matrix_rotate_inverse(R, subtract(vector(x, j, 0, a), vector(x, i, 0, a)))
    rate = matrix_rotate_inverse(R, subtract(vector(v, j, 0, a), vector(v, i, 0, a)))
    w1 = matrix_rotate_inverse(R, quaternion_rotate(q1, vector(v, i, 3, a)))
    w2 = matrix_rotate_inverse(R, quaternion_rotate(q2, vector(v, j, 3, a)))
    return q1, q2, R, tau, d, rate, w1, w2


@compiled(inline=True)
def link_move(links, k, mean, dx, t1, t2):
    """Change of F2 (world), torques 1, 2 (body axes) while 2 moves by dx (world) and they turn by t1, t2 (body)."""
    q1, q2, R, tau, d, rate, w1, w2 = mean
    stiffness, damping = constants(links, k)
    dF, dm1, dm2 = link_differential(  # (14.15)
        stiffness,
        damping,
        links.rest[k],
        tau,
        d,
        rate,
        w1,
        w2,
        matrix_rotate_inverse(R, dx),
        matrix_rotate_inverse(R, quaternion_rotate(q1, t1)),
        matrix_rotate_inverse(R, quaternion_rotate(q2, t2)),
    )
    x, y, z = matrix_rotate(R, dF)
    return (
        (-x, -y, -z),
        quaternion_rotate_inverse(q1, matrix_rotate(R, dm1)),
        quaternion_rotate_inverse(q2, matrix_rotate(R, dm2)),
    )


@compiled
def add_differential(links, x, v, dx, factor, df_out):
    """df_out += factor (df/dx) dx, without any matrix."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        move = subtract(vector(dx, j, 0, a), vector(dx, i, 0, a))
        mean = mean_state(links, k, x, v)
        F, T1, T2 = link_move(links, k, mean, move, vector(dx, i, 3, a), vector(dx, j, 3, a))
        add_vector((-factor * F[0], -factor * F[1], -factor * F[2]), i, 0, a, df_out)
        add_vector((factor * F[0], factor * F[1], factor * F[2]), j, 0, a, df_out)
        add_vector((factor * T1[0], factor * T1[1], factor * T1[2]), i, 3, a, df_out)
        add_vector((factor * T2[0], factor * T2[1], factor * T2[2]), j, 3, a, df_out)


@compiled
def add_rest_product(links, d, f_out):
    """f_out += K d with K = -df/dx of the lattice at rest, unturned; damping is ignored."""
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        (axial, lateral, twist, bend), _ = constants(links, k)
        rest = links.rest[k]
        x, y, z = subtract(vector(d, j, 0, a), vector(d, i, 0, a))
        p1, p2 = vector(d, i, 3, a), vector(d, j, 3, a)
        ry, rz = 0.5 * rest * (p1[1] + p2[1]), 0.5 * rest * (p1[2] + p2[2])
        f = (axial * x, lateral * (y - rz), lateral * (z + ry))  # (14.16)
        g = (twist * (p2[0] - p1[0]), bend * (p2[1] - p1[1]), bend * (p2[2] - p1[2]))  # (14.16)
        my, mz = 0.5 * rest * f[2], -0.5 * rest * f[1]  # (14.16)
        add_vector((-f[0], -f[1], -f[2]), i, 0, a, f_out)
        add_vector(f, j, 0, a, f_out)
        add_vector((-g[0], my - g[1], mz - g[2]), i, 3, a, f_out)
        add_vector((g[0], my + g[1], mz + g[2]), j, 3, a, f_out)


@compiled
def add_sizes(links, z, f_out):
    """f_out += |K| z with the sizes of the numbers in K of the lattice at rest, z (n, 2): one size of a voxel's
    translations and one of its rotations; damping is ignored."""
    for k in range(len(links.axis)):
        i, j = links.voxels[k, 0], links.voxels[k, 1]
        (axial, lateral, twist, bend), _ = constants(links, k)
        arm, move, turn = 0.5 * links.rest[k], z[i, 0] + z[j, 0], z[i, 1] + z[j, 1]
        f = max(axial, lateral) * move + lateral * arm * turn
        m = lateral * arm * (move + arm * turn) + max(twist, bend) * turn
        f_out[i, 0] += f
        f_out[j, 0] += f
        f_out[i, 1] += m
        f_out[j, 1] += m


@compiled(inline=True)
def axis_vector(c):
    """The c-th unit vector, zero outside 0, 1, 2."""
    return 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0


@compiled(inline=True)
def store_column(F, T1, T2, k, c, K_out):
    """K_out[k, :, c] = (F, T1, T2)."""
    for r in range(3):
        K_out[k, r, c] = F[r]
        K_out[k, 3 + r, c] = T1[r]
        K_out[k, 6 + r, c] = T2[r]


@compiled
def compute_stiffness(links, start, x, v, K_out):
    """K_out (count, 9, 9): change of (F2, torque 1, torque 2) with (x2 - x1, turn 1, turn 2), permuted axes.

    The links from `start` on, as many as K_out has workspace for.
    """
    for k in range(len(K_out)):
        mean = mean_state(links, start + k, x, v)
        for c in range(9):
            F, T1, T2 = link_move(links, start + k, mean, axis_vector(c), axis_vector(c - 3), axis_vector(c - 6))
            store_column(F, T1, T2, k, c, K_out)


@compiled
def compute_damping(links, start, x, K_out):
    """The same for the change of loads with (v2 - v1, w1, w2); loads are linear in them."""
    none = (0.0, 0.0, 0.0, 0.0)
    for k in range(len(K_out)):
        i, j, a = links.voxels[start + k, 0], links.voxels[start + k, 1], links.axis[start + k]
        q1, q2 = quaternion(x, i, a), quaternion(x, j, a)
        d = subtract(vector(x, j, 0, a), vector(x, i, 0, a))
        _, damping = constants(links, start + k)
        for c in range(9):
            w1, w2 = quaternion_rotate(q1, axis_vector(c - 3)), quaternion_rotate(q2, axis_vector(c - 6))
            F, A, B = link_loads(none, damping, 0.0, d, q1, q2, axis_vector(c), w1, w2)
            T1, T2 = quaternion_rotate_inverse(q1, add(A, B)), quaternion_rotate_inverse(q2, subtract(A, B))
            store_column((-F[0], -F[1], -F[2]), T1, T2, k, c, K_out)


@compiled
def scatter(links, start, K, positions, data_out):
    """Add K (count, 9, 9) to 3x3 blocks: positions (count, 4, 4) of (x1, turn 1, x2, turn 2) in data_out."""
    for k in range(len(K)):
        a = links.axis[start + k]
        for r in range(4):
            # the force on voxel 1 is minus that on voxel 2, and moving voxel 1 is moving voxel 2 back
            row, row_sign = (0, 1, 0, 2)[r], -1.0 if r == 0 else 1.0
            for c in range(4):
                col, sign = (0, 1, 0, 2)[c], -row_sign if c == 0 else row_sign
                at = positions[k, r, c]
                for i in range(3):
                    for j in range(3):
                        data_out[at, (a + i) % 3, (a + j) % 3] += sign * K[k, 3 * row + i, 3 * col + j]
