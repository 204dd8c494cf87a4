"""Rigid bodies in a lattice as the sweep takes them: their masses and moments, and their cells on the surface."""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.voxel.groups.finding import SharedFaces, shared_faces
from supple.bodies.voxel.groups.group_contact_kernels import FOUND
from supple.bodies.voxel.groups.group_kernels import GroupRun
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import CONTACT, STATE
from supple.bodies.voxel.sweep.bricks import Layout, aligned_zeros
from supple.bodies.voxel.touching.moving_kernels import MOVING
from supple.errors import InputError

Array = np.ndarray
ENDLESS = 1e9
"""In place of a coefficient of friction: whatever slides is stopped."""


def check_free(model: VoxelModel, voxels: Array, what: str) -> None:
    """Refuse voxels of rigid bodies that are held or guided."""
    bound = np.asarray(voxels, dtype=np.int64)
    bound = bound[model.group[bound] >= 0]
    if len(bound):
        raise InputError(
            f"a cell of a rigid body is {what}",
            where="voxel body",
            value=f"cell {tuple(model.cells[bound[0]].tolist())}",
            allowed="soft cells",
            fix="Hold soft cells beside it, or join the rigid ones to the world: FixedJoint, HingeJoint, BallJoint.",
        )


def faces_of(model: VoxelModel) -> SharedFaces:
    """Where rigid bodies of a model are joined to each other."""
    return shared_faces(model.centres, model.size, model.group, model.link_voxels, model.link_axis)


def group_centres(model: VoxelModel) -> Array:
    """Centres of mass of the rigid bodies at rest, (g, 3) [m]."""
    group = np.where(model.group < 0, model.group_count, model.group)
    mass = np.bincount(group, model.mass, model.group_count + 1)[:-1]
    columns = [np.bincount(group, model.mass * x, model.group_count + 1)[:-1] / mass for x in model.centres.T]
    return np.stack(columns, axis=1)


def make_groups(model: VoxelModel, layout: Layout, contact: Array | None) -> GroupRun:
    """The rigid bodies of a model in the axes and places of a layout. contact (n, 4): what voxels meet obstacles with,
    see `contact_constants`; None: there are none."""
    count, axes, W = model.group_count, list(layout.axes), layout.lanes
    cells = np.flatnonzero(model.group >= 0)
    cells = cells[np.argsort(model.group[cells], kind="stable")]
    group, mass, inertia = model.group[cells], model.mass[cells], model.inertia[cells]
    local = (model.centres[cells] - group_centres(model)[group])[:, axes]
    own = mass[:, None, None] * (np.einsum("ni,ni->n", local, local)[:, None, None] * np.eye(3))
    own += inertia[:, None, None] * np.eye(3) - mass[:, None, None] * local[:, :, None] * local[:, None, :]
    whole, tensor = np.zeros(count), np.zeros((count, 3, 3))
    np.add.at(whole, group, mass)
    np.add.at(tensor, group, own)
    moments, p = np.linalg.eigh(tensor)
    p[np.linalg.det(p) < 0.0, :, 0] *= -1.0
    faces = np.bincount(model.link_voxels.ravel(), minlength=model.voxel_count)[cells]
    outer = np.flatnonzero(faces < 6) if contact is not None else np.zeros(0, dtype=np.int64)
    s, dtype = len(outer), layout.bricks.state.dtype
    rough = np.zeros((s, CONTACT)) if contact is None else contact[cells[outer]]
    smooth, sticky = rough.copy(), rough.copy()
    smooth[:, 2:], sticky[:, 2:] = 0.0, ENDLESS

    def tiles(values: Array) -> Array:
        out = aligned_zeros(-(-s // W) * values.shape[1] * W, dtype)
        at = np.arange(s)
        out.reshape(-1, values.shape[1], W)[at // W, :, at % W] = values
        return out

    return GroupRun(
        start=np.searchsorted(group, np.arange(count + 1)).astype(np.int64),
        place=(layout.brick[cells] * STATE * W + layout.lane[cells]).astype(np.int64),
        local=np.ascontiguousarray(local),
        mass=np.array(mass),
        inertia=np.array(inertia),
        whole=whole,
        moments=moments,
        axes=np.ascontiguousarray(rotations.from_matrix(p)).reshape(count, 4),
        centre=np.zeros((count, 3)),
        turn=np.zeros((count, 4)),
        speed=np.zeros((count, 3)),
        spin=np.zeros((count, 3)),
        lever=np.zeros((len(cells), 3)),
        before=np.zeros((count, 4)),
        outer=outer.astype(np.int64),
        outer_group=group[outer].astype(np.int64),
        friction=np.ascontiguousarray(rough[:, 2:]),
        smooth=tiles(smooth),
        sticky=tiles(sticky),
        tiles=tiles(np.ones((s, STATE))),
        scratch=aligned_zeros(8 * W, dtype),
        found=aligned_zeros(FOUND * W, dtype),
        one_kind=np.zeros(3, dtype=np.int64),
        one_moving=np.zeros((2, MOVING)),
        normal=np.zeros((s, 3)),
        flow=np.zeros((s, 3)),
        rest=np.zeros((s, 3)),
        hold=np.zeros(s),
        slide=np.zeros(s),
        passed=np.zeros((s, 3)),
    )
