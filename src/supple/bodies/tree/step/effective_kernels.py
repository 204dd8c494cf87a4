"""Effective masses and constant forces of a step, from the elastic forces f and stiffnesses K of all domains.

    (M + k D + k² K) q" + ... = Q - f(q_f) - K(q_f) (q_p - q_f) - D v_p - ...,    D = alpha M + beta (K + s M)

s is zero but where springs hold points and K is indefinite (`damping_kernels`), and stays as it is in the first pass.

f and K of a group are computed lanes at once, or domain by domain where that is cheaper (`layout`). A pass after the
first moves q_f from q_p to q_p + d. Some groups then take f and K anew (`grouping`), others have the change E of K
(`modal.force_change_kernels`) and

    M' = M + (k² + k beta) E,     Q' = Q + E (d / 2 - beta v_p)                                     [theory.md, T15]

from the first pass's effective mass M and constant force Q. A group without interfaces is factored at once, since its
matrix stays as it is in a pass.

Damped thin domains, as leaves and twigs (`ended` groups), have f at the ends of the step, not f and D q' in its middle,

    f_0 + c (f(q_1) - f_0),     c = (k + beta) / h,     f_0 = f(q_0)                                [theory.md, T16]

with q_f = q_0 in the first pass and q_f = q_1 of the pass before in others.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, any_greater, load, select_ge, store, value_at
from supple.bodies.tree.domains.damping_kernels import damping_shift
from supple.bodies.tree.domains.layout import group_rows
from supple.bodies.tree.step.dense_kernels import factor_lanes
from supple.bodies.tree.step.transpose_kernels import gather_rows, scatter_rows
from supple.modal.forces.force_change_kernels import (
    change_rows,
    compute_lane_change,
    compute_lone_change,
    compute_mixed_products,
)
from supple.modal.forces.lane_force_kernels import compute_lane_force, compute_products, multiply_lower, tangent_rows
from supple.modal.forces.lone_force_kernels import compute_lone_tangent


@compiled(inline=True)
def stiffness_factor(tree, g):
    """What f and K of the classes of group g are multiplied by; 0 where there is no domain."""
    s = load(tree.scale, g * LANES)
    return load(tree.mask, g * LANES) * load(tree.tuning, g * LANES) * (s * s * s)  # (12.9)


@compiled(inline=True)
def factor_group(tree, workspace, g, mass, r):
    """Factor the effective mass of group g, if nothing is added to it in a pass."""
    is_held = workspace.held_start[g] < workspace.held_start[g + 1]
    if tree.group_interfaces[g] == 0 and not is_held and factor_lanes(workspace.work, mass, r) >= 0:
        workspace.bad[g] = 1.0


@compiled(borrows=True)
def take_ends(tree, workspace, by_v, g, at_f, moved, is_first):
    """f of group g, in rows at_f, and what K acts on, in rows `moved`, of domains whose forces are at the ends."""
    work, at_q, h = workspace.work, tree.group_q[g], workspace.span[0]
    is_ended, c = load(workspace.ends, g * LANES), (by_v + load(workspace.beta, g * LANES)) / h
    for i in range(tree.class_r[tree.group_class[g]]):
        here, f = at_q + i * LANES, load(work, at_f + i * LANES)
        if is_first:
            store(workspace.f_0, here, f)
        f_0, v = load(workspace.f_0, here), load(workspace.v_p, here)
        store(work, at_f + i * LANES, select_ge(is_ended, 0.5, f_0 + c * (f - f_0), f))  # (T16)
        d = load(workspace.q_p, here) + (h - by_v) * v - load(workspace.q_f, here)
        store(work, moved + LANES * i, select_ge(is_ended, 0.5, c * d, load(work, moved + LANES * i)))


@compiled(borrows=True)
def finish_forces(tree, workspace, constants, by_q, by_v, g, at_f, at_K, is_first):
    """Effective mass and constant force of group g, from its rows of f and K."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    rows, base, work = group_rows(r, tree.group_interfaces[g]), tree.group_work[g], workspace.work
    s, stiff = load(tree.scale, g * LANES), stiffness_factor(tree, g)
    heavy = s * s * s * s * s * load(tree.density, g * LANES)  # (12.9)
    alpha, beta = load(workspace.alpha, g * LANES), load(workspace.beta, g * LANES)
    at_q, place, is_kept = tree.group_q[g], tree.class_rr[kind], tree.group_changes[g] != 0
    acts = stiff * beta
    if is_first and workspace.pulled[0] > 0.0 and any_greater(acts, acts * 0.0):
        store(
            workspace.shift, g * LANES, damping_shift(work, constants, place, at_K, base + LANES * rows.mass, r, acts)
        )
    m_damping = alpha * heavy + acts * load(workspace.shift, g * LANES)  # (T18)
    m_factor, k_factor = heavy + by_v * m_damping, by_q + by_v * beta
    force, mass, first = base + LANES * rows.force, base + LANES * rows.mass, base + LANES * rows.first
    moved = base + LANES * rows.solved  # scratch for what K acts on
    for i in range(r):
        here = at_q + i * LANES
        d = load(workspace.q_p, here) - load(workspace.q_f, here) + beta * load(workspace.v_p, here)
        store(work, moved + LANES * i, d)
    if workspace.ended[g] > 0.0:
        take_ends(tree, workspace, by_v, g, at_f, moved, is_first)
    for i in range(r):
        here, left, v_i = at_q + i * LANES, mass + LANES * i * r, load(workspace.v_p, at_q + i * LANES)
        d_i = load(work, moved + LANES * i)
        sum_i = load(workspace.load_q, here) - stiff * load(work, at_f + i * LANES)
        for j in range(i):
            stiffness, m = stiff * load(work, at_K), value_at(constants.mass, place + i * r + j)
            effective, damped = m_factor * m + k_factor * stiffness, m_damping * m  # (T2)
            store(work, left + LANES * j, effective)
            if is_kept:
                store(work, mass + LANES * (j * r + i), effective)
            there = force + LANES * j
            sum_i -= stiffness * load(work, moved + LANES * j) + damped * load(workspace.v_p, at_q + j * LANES)  # (T2)
            store(work, there, load(work, there) - (stiffness * d_i + damped * v_i))
            at_K += LANES
        stiffness, m = stiff * load(work, at_K), value_at(constants.mass, place + i * r + i)
        effective = m_factor * m + k_factor * stiffness
        store(work, left + LANES * i, effective)
        if is_kept:
            store(work, base + LANES * (rows.diagonal + i), effective)
        store(work, force + LANES * i, sum_i - (stiffness * d_i + m_damping * m * v_i))
        at_K += LANES
    for i in range(r if is_kept else 0):
        store(work, first + LANES * i, load(work, force + LANES * i))
    factor_group(tree, workspace, g, mass, r)


@compiled(borrows=True)
def finish_change(tree, workspace, by_q, by_v, g, at_E):
    """Effective mass and constant force of group g, from those of the first pass and its rows of E."""
    r = tree.class_r[tree.group_class[g]]
    rows, base, work, at_q = (
        group_rows(r, tree.group_interfaces[g]),
        tree.group_work[g],
        workspace.work,
        tree.group_q[g],
    )
    stiff, beta = stiffness_factor(tree, g), load(workspace.beta, g * LANES)
    k_factor, mass, first = by_q + by_v * beta, base + LANES * rows.mass, base + LANES * rows.first
    force, moved = base + LANES * rows.force, base + LANES * rows.solved
    for i in range(r):
        here, left = at_q + i * LANES, mass + LANES * i * r
        d_i = stiff * (
            0.5 * (load(workspace.q, here) - load(workspace.q_p, here)) - beta * load(workspace.v_p, here)
        )  # fmt: skip
        sum_i = load(work, first + LANES * i)
        for j in range(i):
            E, there = load(work, at_E), force + LANES * j
            store(work, left + LANES * j, load(work, mass + LANES * (j * r + i)) + k_factor * (stiff * E))  # (T15)
            sum_i += E * load(work, moved + LANES * j)
            store(work, there, load(work, there) + E * d_i)
            at_E += LANES
        E = load(work, at_E)
        store(work, left + LANES * i, load(work, base + LANES * (rows.diagonal + i)) + k_factor * (stiff * E))
        store(work, force + LANES * i, sum_i + E * d_i)  # (T15)
        store(work, moved + LANES * i, d_i)
        at_E += LANES
    factor_group(tree, workspace, g, mass, r)


@compiled(borrows=True)
def compute_lone_forces(tree, workspace, scratch, at_K, free, g):
    """Rows f and K of group g at q_f, domain by domain."""
    r, work = tree.class_r[tree.group_class[g]], workspace.work
    rows, at_q, none = tangent_rows(r), tree.group_q[g], load(workspace.q_f, tree.group_q[g]) * 0.0
    beside, part = free + LANES * rows, free + 2 * LANES * rows
    compute_products(r, workspace.q_f, at_q, work, free)
    for row in range(r * (r + 1) // 2, rows):
        store(work, free + LANES * row, none)
    scatter_rows(work, free, work, beside, rows, rows)
    for b in range(LANES):
        kind, own = tree.lane_class[g * LANES + b], b * rows
        known = 0
        if b < tree.group_count[g] and tree.class_r[kind] > 0:
            compute_lone_tangent(
                tree.class_r[kind], tree.lone, kind, tree.lone_starts, workspace.q_f, at_q + b,
                work, beside + own, free + own, part + own,
            )  # fmt: skip
            known = tree.class_r[kind] * (tree.class_r[kind] + 1) // 2
        for k in range(LANES * ((known + LANES - 1) // LANES), rows, LANES):  # what narrower domains lack
            store(work, free + own + k, none)
            store(work, part + own + k, none)
    gather_rows(work, free, rows, rows, work, at_K)
    gather_rows(work, part, rows, rows, work, beside)
    multiply_lower(r, work, beside, workspace.q_f, at_q, scratch)


@compiled(borrows=True)
def compute_forces(tree, workspace, by_q, by_v, scratch, g, is_first):
    """f and K of group g at q_f in the scratch from `scratch` on, then its effective mass and constant forces.

    is_first: in the first pass.
    """
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    at_K = scratch + LANES * r
    free = at_K + LANES * tangent_rows(r)
    if tree.group_alone[g] == 0:
        compute_lane_force(
            r, tree.strips, tree.class_strips[kind], workspace.q_f, tree.group_q[g], workspace.work, scratch, at_K, free
        )
    else:
        compute_lone_forces(tree, workspace, scratch, at_K, free, g)
    if kind < len(tree.lone_starts):
        finish_forces(tree, workspace, tree.shared, by_q, by_v, g, scratch, at_K, is_first)
    else:
        finish_forces(tree, workspace, tree.own, by_q, by_v, g, scratch, at_K, is_first)


@compiled(borrows=True)
def change_forces(tree, workspace, by_q, by_v, scratch, g):
    """Effective mass and constant forces of group g at q, by E from those of the first pass at q_p."""
    kind, work = tree.group_class[g], workspace.work
    r, at_q, by = tree.class_r[kind], tree.group_q[g], load(tree.gauge, g * LANES)
    rows, u, at_E = change_rows(r), scratch + LANES * r, scratch + 2 * LANES * r
    p = at_E + LANES * rows
    for i in range(r):
        q_p = load(workspace.q_p, at_q + i * LANES)
        d = load(workspace.q, at_q + i * LANES) - q_p
        store(work, scratch + LANES * i, by * d)
        store(work, u + LANES * i, by * (2.0 * q_p + (2.0 / 3.0) * d))
    compute_mixed_products(r, work, scratch, u, p)
    if tree.group_alone[g] == 0:
        compute_lane_change(
            r, tree.change_strips, tree.class_change[kind], work, scratch, p, workspace.single, at_E
        )  # fmt: skip
    else:
        none, beside = by * 0.0, p + LANES * rows
        for row in range(r * (r + 1) // 2, rows):
            store(work, p + LANES * row, none)
        scatter_rows(work, p, work, beside, rows, rows)
        for b in range(LANES):
            lane, known = tree.lane_class[g * LANES + b], 0
            if b < tree.group_count[g] and tree.class_r[lane] > 0:
                compute_lone_change(
                    tree.class_r[lane], tree.change, lane, tree.change_starts, work, scratch + b,
                    beside + b * rows, workspace.single, p + b * rows,
                )  # fmt: skip
                known = change_rows(tree.class_r[lane])
            for k in range(known, rows, LANES):
                store(work, p + b * rows + k, none)
        gather_rows(work, p, rows, rows, work, at_E)
    finish_change(tree, workspace, by_q, by_v, g, at_E)
