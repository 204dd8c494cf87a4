"""Force and torque of all that acts on a tree from outside, in the middle of a step: what changes its momentum.

A force on coordinates alone has none. A spring has the force that the last pass of the step has given it,
f - Kh R J (A, q")_1 in the terms of `point_kernels`; wrenches on domains turn with them.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import SIX
from supple.bodies.tree.step.frame_kernels import add3
from supple.bodies.tree.step.root_kernels import vector
from supple.bodies.tree.surface.point_arrays import CHAIN
from supple.bodies.tree.surface.point_kernels import nine


@compiled(inline=True)
def add_outer(root, x, f, t):
    """A force f at x and a torque t, in world axes, to the sum about the root's origin."""
    turn = add3(t, cross((x[0] - root.x[0], x[1] - root.x[1], x[2] - root.x[2]), f))
    for i in range(3):
        root.outer[i] += f[i]
        root.outer[3 + i] += turn[i]


@compiled(borrows=True)
def sum_outer(tree, workspace, root, is_loaded):
    """Force and torque about the root's origin of its push, of wrenches on domains and of springs, into root.outer."""
    for i in range(6):
        root.outer[i] = root.push[i]
    if is_loaded:
        for place in range(len(tree.scale)):
            at, slot = SIX * place, CHAIN * tree.parent_slot[place]
            if tree.lane_domain[place] >= 0:
                R, w = nine(workspace.held_slot, slot + 3, 1), workspace.load_w
                f, t = turned(R, vector(w, at + 3)), turned(R, vector(w, at))
                add_outer(root, vector(workspace.held_slot, slot), f, t)
    for p in range(len(workspace.held_place)):
        place = workspace.held_place[p]
        g = place // LANES
        b, r, first = place - g * LANES, tree.class_r[tree.group_class[g]], workspace.held_first_J[p]
        f = vector(workspace.held_force, 6 * p)
        for i in range(3):
            row, value = first + i * (6 + r), 0.0
            for j in range(6):
                value += workspace.held_KJ[row + j] * workspace.slot_A[SIX * tree.parent_slot[place] + j]  # (12.11)
            for l in range(r):
                value += workspace.held_KJ[row + 6 + l] * workspace.a[tree.group_q[g] + l * LANES + b]  # (12.11)
            f = (f[0] - value if i == 0 else f[0], f[1] - value if i == 1 else f[1], f[2] - value if i == 2 else f[2])
        R = nine(workspace.held_slot, CHAIN * tree.parent_slot[place] + 3, 1)
        add_outer(root, vector(workspace.held_force, 6 * p + 3), turned(R, f), (0.0, 0.0, 0.0))
