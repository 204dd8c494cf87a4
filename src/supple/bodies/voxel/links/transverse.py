"""The coupling of strains across axes, an option: a lattice that contracts sideways as a solid of Poisson's ratio nu.

Around a voxel's centre its links bound eight octants. One that its links stretch by e_x, e_y, e_z has the energy of a
solid, W = ((lambda + 2 mu) (e_x² + e_y² + e_z²) + 2 lambda (e_x e_y + e_y e_z + e_z e_x)) / 2 a volume; along axes
without a link it is free of stress. Beyond E e_x²/2 of the link itself this adds to the axial force of a link along x

    E l² / 8 sum over its 8 octants of A e_x + B (e_y + e_z),    A_3 = (lambda + 2 mu) / E - 1,  B_3 = lambda / E
    octants of two links have A_2 = nu² / (1 - nu²), B_2 = nu / (1 - nu²), octants of one link have none

so that a bar under tension contracts by nu, exactly, and a confined one has the modulus lambda + 2 mu. With F the
number of a voxel's links along an axis and S the sum of their strains, its four octants add up to

    gain e_x + k_z S_y + k_y S_z,    k = (B_3 F + B_2 (2 - F)) / 8
    gain = (A_3 F_y F_z + A_2 (F_y (2 - F_z) + F_z (2 - F_y))) / 8

In a link between unlike voxels each half has its part of the strain, E_c / E of it. Bending, shear and torsion stay as
they are. All this derives from an energy: momentum and energy are kept.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.voxel.model import VoxelModel

Array = np.ndarray


def coupling_constants(model: VoxelModel, alive: Array) -> tuple[Array, Array, Array]:
    """Gains of the links (m,), factors k of the voxels (n, 3), and 1 / (E l) of the voxels (n,) [m/N].

    alive (m,): links that have not failed; octants are free of stress along the others.
    """
    n, nu = model.voxel_count, model.transverse
    one, two = model.link_voxels.T
    count = np.zeros((n, 3))
    for end in (one, two):
        np.add.at(count, (end, model.link_axis), alive.astype(float))
    B3 = nu / ((1 + nu) * (1 - 2 * nu))  # (14.26)
    A3 = (1 - nu) / ((1 + nu) * (1 - 2 * nu)) - 1  # (14.26)
    B2, A2 = nu / (1 - nu**2), nu**2 / (1 - nu**2)  # (14.26)
    k = (B3[:, None] * count + B2[:, None] * (2 - count)) / 8  # (14.24)
    F, G = count[:, [1, 2, 0]], count[:, [2, 0, 1]]  # along the two other axes
    gain = (A3[:, None] * F * G + A2[:, None] * (F * (2 - G) + G * (2 - F))) / 8  # (14.25)
    softness = 1.0 / (model.values("young") * model.size)
    axial = model.link_stiffness[:, 0]
    at = model.link_axis
    gains = gain[one, at] * axial * softness[one] + gain[two, at] * axial * softness[two]  # (14.25)
    return gains, k, softness


def stiffening(model: VoxelModel) -> Array:
    """A bound of the factor by which the coupling raises the axial stiffness of links, (m,): the largest eigenvalue
    of an octant's W over E, 1 / (1 - 2 nu) for nu > 0 and 1 / (1 + nu) for nu < 0."""
    nu = model.transverse
    factor = np.maximum(1.0 / (1.0 - 2.0 * nu), 1.0 / (1.0 + nu))
    return np.asarray(factor[model.link_voxels].max(axis=1))
