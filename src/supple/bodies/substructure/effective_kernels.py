"""Effective masses and constant forces of a step, from the elastic forces f and stiffnesses K of all domains.

    (M + g h D + b h² K) q"_1 + ... = Q - f - K (q_p - q_f) - D v_p - ...,    D = alpha M + beta K

f and K of batches of groups of one class are two matrix products; those of other groups are computed one by one. A
group without ports is factored at once, since its matrix stays as it is in all passes of the step.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES, load, select_ge, store, value_at
from supple.bodies.substructure.dense_kernels import factor_lanes
from supple.bodies.substructure.layout import group_rows
from supple.modal.force_kernels import ForceArrays, ForceWork, compute_force_block
from supple.modal.lone_force_kernels import compute_lone_force


@compiled(borrows=True)
def finish_forces(tree, storage, constants, by_q, by_v, g, at_f, at_K, width):
    """Effective mass and constant force of group g, from its rows of f and K in `storage.batch`, `width` apart."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    rows, base, work = group_rows(r, tree.group_ports[g]), tree.group_work[g], storage.work
    s, used = load(tree.scale, g * LANES), load(tree.mask, g * LANES)
    none = s * 0.0
    s3 = s * s * s
    stiff, heavy = load(tree.tuning, g * LANES) * s3, s3 * s * s * load(tree.density, g * LANES)
    alpha, beta = load(storage.alpha, g * LANES), load(storage.beta, g * LANES)
    m_factor, k_factor = heavy * (1.0 + by_v * alpha), by_q + by_v * beta
    batch, at_q = storage.batch, tree.group_q[g]
    force, mass = base + LANES * rows.force, base + LANES * rows.mass
    moved = base + LANES * rows.solved  # room for what K acts on
    for i in range(r):
        here = at_q + i * LANES
        d = load(storage.q_p, here) - load(storage.q_f, here) + beta * load(storage.v_p, here)
        store(work, moved + LANES * i, d)
        value = select_ge(used, 0.5, stiff * load(batch, at_f + i * width), none)
        store(work, force + LANES * i, load(storage.load_q, here) - value)
    k = 0
    for i in range(r):
        v_i, d_i = load(storage.v_p, at_q + i * LANES), load(work, moved + LANES * i)
        sum_i = load(work, force + LANES * i)
        for j in range(i, r):
            stiffness = select_ge(used, 0.5, stiff * load(batch, at_K + k * width), none)
            m = value_at(constants.mass, tree.class_rr[kind] + i * r + j)
            store(work, mass + LANES * (j * r + i), m_factor * m + k_factor * stiffness)
            damped = alpha * heavy * m
            v_j, d_j = load(storage.v_p, at_q + j * LANES), load(work, moved + LANES * j)
            sum_i -= stiffness * d_j + damped * v_j
            if j > i:
                at = force + LANES * j
                store(work, at, load(work, at) - (stiffness * d_i + damped * v_i))
            k += 1
        store(work, force + LANES * i, sum_i)
    is_held = storage.held_start[g] < storage.held_start[g + 1]
    if tree.group_ports[g] == 0 and not is_held and factor_lanes(work, mass, r) >= 0:
        storage.bad[g] = 1.0


@compiled
def compute_batch(tree, storage, shared, by_q, by_v, n):
    """f and K of batch n at q_f, then the effective masses and constant forces of its groups."""
    kind, count = tree.batch_class[n], tree.batch_count[n]
    r = tree.class_r[kind]
    pairs = r * (r + 1) // 2
    width = LANES * ((count + LANES - 1) // LANES)
    room = storage.batch[tree.batch_work[n] : tree.batch_work[n + 1]]
    size = pairs * width
    K = room[:size].reshape(pairs, width)
    f = room[size : size + r * width].reshape(r, width)
    at = size + r * width
    q = room[at : at + r * width].reshape(r, width)
    at += r * width + LANES
    work = ForceWork(
        room[at : at + size].reshape(pairs, width),
        room[at + size : at + 2 * size].reshape(pairs, width),
        room[at + 2 * size : at + 3 * size].reshape(pairs, width),
        room[at + 3 * size : at + 3 * size + pairs],
        room[at + 3 * size + pairs : at + 3 * size + 2 * pairs],
    )
    first_q, first_pairs = tree.class_pairs_r[kind], tree.class_pairs[kind]
    arrays = ForceArrays(
        tree.linear[tree.class_rr[kind] : tree.class_rr[kind] + r * r].reshape(r, r),
        tree.by_q[first_q : first_q + pairs * r].reshape(pairs, r),
        tree.by_pairs[first_pairs : first_pairs + pairs * pairs].reshape(pairs, pairs),
    )
    for k in range(tree.batch_start[n], tree.batch_start[n + 1]):
        g = tree.batch_groups[k]
        column = tree.group_column[g]
        for i in range(r):
            for b in range(tree.group_count[g]):
                q[i, column + b] = storage.q_f[tree.group_q[g] + i * LANES + b]
    compute_force_block(arrays, work, count, q, f, K)
    for k in range(tree.batch_start[n], tree.batch_start[n + 1]):
        g = tree.batch_groups[k]
        at_K = tree.batch_work[n] + tree.group_column[g]
        finish_forces(tree, storage, shared, by_q, by_v, g, at_K + size, at_K, width)


@compiled(borrows=True)
def compute_lone_group(tree, storage, shared, own, lone, by_q, by_v, n):
    """The same for the n-th group whose places are computed one by one."""
    g = tree.lone_groups[n]
    r = tree.class_r[tree.group_class[g]]
    at_K = tree.lone_work[n]
    at_f = at_K + LANES * (r * (r + 1) // 2)
    room = at_f + LANES * r
    for b in range(tree.group_count[g]):
        kind = tree.lane_class[g * LANES + b]
        if tree.class_r[kind] > 0:
            compute_lone_force(
                tree.class_r[kind], lone, kind, tree.lone_starts, storage.batch, room,
                storage.q_f, tree.group_q[g] + b, at_f + b, at_K + b, r,
            )  # fmt: skip
    if tree.group_class[g] < len(tree.lone_starts):
        finish_forces(tree, storage, shared, by_q, by_v, g, at_f, at_K, LANES)
    else:
        finish_forces(tree, storage, own, by_q, by_v, g, at_f, at_K, LANES)
