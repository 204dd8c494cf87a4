"""Joints that hold rigid bodies of voxels: places of their points, weights of their rows, and pushes.

A `JointRun` has rigid bodies among its units: `owner` is the number of one. A row on it has a force, and a moment about
its centre, which moves it by 1/M and J^-1.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import quaternion_rotate, quaternion_rotate_inverse
from supple.bodies.voxel.groups.group_kernels import GroupRun, four, push_group
from supple.bodies.voxel.links.link import add, scale
from supple.bodies.voxel.touching.surface_contact_kernels import row, set_row


@compiled(inline=True)
def groups_of(run):
    """The rigid bodies that lie beside the joints."""
    return GroupRun(
        run.group_start,
        run.group_place,
        run.group_local,
        run.group_mass,
        run.group_inertia,
        run.group_whole,
        run.group_moments,
        run.group_axes,
        run.group_centre,
        run.group_turn,
        run.group_speed,
        run.group_spin,
        run.group_lever,
        run.group_before,
        run.group_outer,
        run.group_outer_group,
        run.group_friction,
        run.group_smooth,
        run.group_sticky,
        run.group_tiles,
        run.group_scratch,
        run.group_found,
        run.group_one_kind,
        run.group_one_moving,
        run.group_normal,
        run.group_flow,
        run.group_rest,
        run.group_hold,
        run.group_slide,
        run.group_passed,
    )


@compiled(borrows=True)
def place_on_group(run, p):
    """Where a point on a rigid body is."""
    g = run.owner[run.voxel[p]]
    r = quaternion_rotate(four(run.group_turn, g), row(run.local, p, 0))
    set_row(r, p, run.levers)
    set_row(add(row(run.group_centre, g, 0), r), p, run.spots)


@compiled(borrows=True)
def scale_turns(run):
    """Moments of rows on rigid bodies times J^-1/2 in their principal axes, so that their squares weigh as 1/I."""
    for u in range(len(run.owner)):
        g = run.owner[u]
        if g >= 0:
            J = row(run.group_moments, g, 0)
            for m in range(len(run.rows)):
                b = quaternion_rotate_inverse(four(run.group_before, g), row(run.rows[m], u, 3))
                for k in range(3):
                    run.rows[m, u, 3 + k] = b[k] / np.sqrt(J[k])  # (14.27)


@compiled(borrows=True)
def push_owner(run, u, dt):
    """Let forces l act on a rigid body in the step that has been taken."""
    g, F, T = run.owner[u], (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(len(run.l)):
        F = add(F, scale(run.l[m], row(run.rows[m], u, 0)))
        T = add(T, scale(run.l[m], row(run.rows[m], u, 3)))
    J = row(run.group_moments, g, 0)
    T = (np.sqrt(J[0]) * T[0], np.sqrt(J[1]) * T[1], np.sqrt(J[2]) * T[2])
    push_group(groups_of(run), g, F, quaternion_rotate(four(run.group_before, g), T), dt)
