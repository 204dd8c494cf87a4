"""What a frame of a run shows of a lattice, in loops over its voxels: energies, momenta, and where its skin is."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, quaternion_rotate
from supple.bodies.voxel.links.link import add, dot, link_energy, subtract
from supple.bodies.voxel.sweep.lattice_kernels import constants, quaternion, vector


@compiled
def compute_kinetic_energy(mass, inertia, v):
    """Of cubes with velocities v (n, 6) [J]."""
    total = 0.0
    for i in range(len(mass)):
        moves = v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2]
        turns = v[i, 3] * v[i, 3] + v[i, 4] * v[i, 4] + v[i, 5] * v[i, 5]
        total += 0.5 * (mass[i] * moves + inertia[i] * turns)
    return total


@compiled
def compute_momentum(mass, inertia, x, v, out):
    """Linear and angular momentum about the origin of cubes with frames x (n, 7) and velocities v (n, 6), (6,)."""
    out[:] = 0.0
    for i in range(len(mass)):
        p = (mass[i] * v[i, 0], mass[i] * v[i, 1], mass[i] * v[i, 2])
        L = cross((x[i, 0], x[i, 1], x[i, 2]), p)
        w = quaternion_rotate((x[i, 3], x[i, 4], x[i, 5], x[i, 6]), (v[i, 3], v[i, 4], v[i, 5]))
        for k in range(3):
            out[k] += p[k]
            out[3 + k] += L[k] + inertia[i] * w[k]


@compiled
def compute_sized_energy(links, size, x):
    """Elastic energy [J] of links whose rest lengths are the means of their voxels' sizes (n,) [m]."""
    total = 0.0
    for k in range(len(links.axis)):
        i, j, a = links.voxels[k, 0], links.voxels[k, 1], links.axis[k]
        d = subtract(vector(x, j, 0, a), vector(x, i, 0, a))
        stiffness, _ = constants(links, k)
        rest = (size[i] + size[j]) / 2
        total += link_energy(stiffness, rest, d, quaternion(x, i, a), quaternion(x, j, a))  # (14.8)
    return total


@compiled
def find_inverted(voxels, axis, x, out):
    """Numbers of links along an axis each, between voxels (m, 2) of frames x (n, 7), that are inside out; returns how
    many there are."""
    count, along = 0, (1.0, 0.0, 0.0)
    for k in range(len(axis)):
        i, j, a = voxels[k, 0], voxels[k, 1], axis[k]
        both = add(quaternion_rotate(quaternion(x, i, a), along), quaternion_rotate(quaternion(x, j, a), along))
        if dot(both, subtract(vector(x, j, 0, a), vector(x, i, 0, a))) <= 0.0:
            out[count] = k
            count += 1
    return count


@compiled
def compute_corners(start, voxel, local, x, out):
    """Corners of a skin, (k, 3): corner c is the mean of the points start[c] to start[c + 1], carried by the frames
    x (n, 7) of their voxels (m,) at places local (m, 3) [m]."""
    for c in range(len(out)):
        a, b, d = 0.0, 0.0, 0.0
        for k in range(start[c], start[c + 1]):
            i = voxel[k]
            r = quaternion_rotate((x[i, 3], x[i, 4], x[i, 5], x[i, 6]), (local[k, 0], local[k, 1], local[k, 2]))
            a, b, d = a + x[i, 0] + r[0], b + x[i, 1] + r[1], d + x[i, 2] + r[2]
        share = 1.0 / (start[c + 1] - start[c])
        out[c, 0], out[c, 1], out[c, 2] = share * a, share * b, share * d
