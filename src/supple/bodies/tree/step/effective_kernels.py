"""Effective masses and constant forces of a step, from the elastic forces f and stiffnesses K of all domains.

    (M + g h D + b h² K) q"_1 + ... = Q - f - K (q_p - q_f) - D v_p - ...,    D = alpha M + beta K

f and K of a group are computed lanes at once, or domain by domain where that is cheaper (`layout`). A group without
interfaces is factored at once, since its matrix stays as it is in all passes of the step.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, select_ge, store, value_at
from supple.bodies.tree.domains.layout import group_rows
from supple.bodies.tree.step.dense_kernels import factor_lanes
from supple.modal.forces.lane_force_kernels import compute_lane_force, tangent_rows
from supple.modal.forces.lone_force_kernels import compute_lone_force


@compiled(borrows=True)
def finish_forces(tree, workspace, constants, by_q, by_v, g, at_f, at_K):
    """Effective mass and constant force of group g, from its rows of f and K."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    rows, base, work = group_rows(r, tree.group_interfaces[g]), tree.group_work[g], workspace.work
    s, used = load(tree.scale, g * LANES), load(tree.mask, g * LANES)
    none = s * 0.0
    s3 = s * s * s
    stiff, heavy = load(tree.tuning, g * LANES) * s3, s3 * s * s * load(tree.density, g * LANES)  # (12.9)
    alpha, beta = load(workspace.alpha, g * LANES), load(workspace.beta, g * LANES)
    m_factor, k_factor = heavy * (1.0 + by_v * alpha), by_q + by_v * beta
    at_q = tree.group_q[g]
    force, mass = base + LANES * rows.force, base + LANES * rows.mass
    moved = base + LANES * rows.solved  # scratch for what K acts on
    for i in range(r):
        here = at_q + i * LANES
        d = load(workspace.q_p, here) - load(workspace.q_f, here) + beta * load(workspace.v_p, here)
        store(work, moved + LANES * i, d)
        value = select_ge(used, 0.5, stiff * load(work, at_f + i * LANES), none)
        store(work, force + LANES * i, load(workspace.load_q, here) - value)
    k = 0
    for i in range(r):
        v_i, d_i = load(workspace.v_p, at_q + i * LANES), load(work, moved + LANES * i)
        sum_i = load(work, force + LANES * i)
        for j in range(i, r):
            stiffness = select_ge(used, 0.5, stiff * load(work, at_K + k * LANES), none)
            m = value_at(constants.mass, tree.class_rr[kind] + i * r + j)
            store(work, mass + LANES * (j * r + i), m_factor * m + k_factor * stiffness)  # (T2)
            damped = alpha * heavy * m
            v_j, d_j = load(workspace.v_p, at_q + j * LANES), load(work, moved + LANES * j)
            sum_i -= stiffness * d_j + damped * v_j  # (T2)
            if j > i:
                at = force + LANES * j
                store(work, at, load(work, at) - (stiffness * d_i + damped * v_i))
            k += 1
        store(work, force + LANES * i, sum_i)
    is_held = workspace.held_start[g] < workspace.held_start[g + 1]
    if tree.group_interfaces[g] == 0 and not is_held and factor_lanes(work, mass, r) >= 0:
        workspace.bad[g] = 1.0


@compiled(borrows=True)
def compute_forces(tree, workspace, shared, own, lone, by_q, by_v, scratch, g):
    """f and K of group g at q_f in the scratch from `scratch` on, then its effective mass and constant forces."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    at_K = scratch + LANES * r
    free = at_K + LANES * tangent_rows(r)
    if tree.group_alone[g] == 0:
        compute_lane_force(
            r, tree.strips, tree.class_strips[kind], workspace.q_f, tree.group_q[g], workspace.work, scratch, at_K, free
        )
    else:
        none = load(workspace.q_f, tree.group_q[g]) * 0.0
        for row in range(scratch, free, LANES):  # what narrower domains leave as it is
            store(workspace.work, row, none)
        for b in range(tree.group_count[g]):
            lane = tree.lane_class[g * LANES + b]
            if tree.class_r[lane] > 0:
                compute_lone_force(
                    tree.class_r[lane], lone, lane, tree.lone_starts, workspace.work, free,
                    workspace.q_f, tree.group_q[g] + b, scratch + b, at_K + b, r,
                )  # fmt: skip
    if kind < len(tree.lone_starts):
        finish_forces(tree, workspace, shared, by_q, by_v, g, scratch, at_K)
    else:
        finish_forces(tree, workspace, own, by_q, by_v, g, scratch, at_K)
