"""How the kernels see a tree: groups of at most LANES copies of one class and level, the instance index last.

    group       copies of one class on one level, all with children or all without; every row of its storage is LANES
                numbers side by side
    slot        a port of a copy, with the frame that all children on it share; slot 0 carries the root
    batch       groups of one class, over all levels, whose elastic forces are one matrix product

Rows of a group with r coordinates, from `group_work` on (see `Rows`): effective mass, constant forces, inertia in the
frame, its elimination, then `PORT_FIXED + 15 r` rows a port. Places without a copy hold zeros and a mass of 1.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES
from supple.bodies.substructure.model import SubstructureModel
from supple.modal.force_kernels import BLOCK

Array = np.ndarray
OUT = 37
"""What a domain shows its parent: 21 of its inertia, 6 of its bias, mass, first moment 3, outer wrench 6."""
PORT_FIXED = 65


class Rows(NamedTuple):
    """First rows of a group's storage, by name."""

    mass: int  # effective mass (r, r), lower triangle; factored where there are no ports
    force: int  # constant part of the right-hand side (r,)
    moment: int  # S (3)
    inertia: int  # J (6), upper triangle
    bias: int  # h (6)
    spin: int  # angular velocity of the frame (3)
    mode_bias: int  # h_q (r)
    coupling: int  # H (6, r)
    solved: int  # M*^-1 (H*^T | r): (r, 7)
    seen: int  # what the parent sees (37)
    total: int  # M* (r, r), where there are ports
    ports: int  # first port
    size: int


class PortRows(NamedTuple):
    """First rows of a port's storage, relative to the port's start."""

    frame: int  # x, v, R, omega, alpha0, margin, Gamma as of `modal.interface_kernels`, x and v scaled
    N: int  # (6, r)
    c: int  # (6)
    children: int  # sum of what the children show (37)
    IN: int  # I N (6, r)
    size: int


@compiled(inline=True)
def group_rows(r, ports):
    """Rows of a group."""
    force = r * r
    moment = force + r
    mode_bias = moment + 18
    coupling = mode_bias + r
    solved = coupling + 6 * r
    seen = solved + 7 * r
    total = seen + OUT
    first = total + (r * r if ports > 0 else 0)
    size = first + ports * (PORT_FIXED + 15 * r)
    return Rows(
        0, force, moment, moment + 3, moment + 9, moment + 15, mode_bias, coupling, solved, seen, total, first, size
    )


@compiled(inline=True)
def port_rows(r):
    """Rows of a port."""
    N = 22 + 3 * r
    c = N + 6 * r
    return PortRows(0, N, c, c + 6, c + 43, PORT_FIXED + 15 * r)


class TreeArrays(NamedTuple):
    """Constants of a tree for the kernels; see the module. Flat arrays of all classes, with the offsets of each."""

    level_start: Array
    group_class: Array
    group_count: Array
    group_ports: Array
    group_q: Array
    group_work: Array
    group_slot: Array
    group_column: Array
    lane_domain: Array
    parent_slot: Array
    child_start: Array
    children: Array
    scale: Array
    tuning: Array
    density: Array
    mask: Array
    batch_class: Array
    batch_start: Array
    batch_groups: Array
    batch_count: Array
    batch_work: Array
    class_r: Array
    class_rr: Array
    class_pairs_r: Array
    class_pairs: Array
    class_port: Array
    class_sum: Array
    fixed: Array
    mass: Array
    U_bar: Array
    W5: Array
    W7: Array
    linear: Array
    by_q: Array
    by_pairs: Array
    port_x: Array
    port_A: Array
    port_start: Array
    port_a: Array
    port_modes: Array


def pack(model: SubstructureModel) -> TreeArrays:
    """The arrays of a model."""
    level, kinds = model.levels, model.domain_class
    bears = np.zeros(model.domain_count, dtype=bool)
    bears[model.parent[1:]] = True
    r_of, ports_of = [c.count for c in model.classes], [len(c.ports) for c in model.classes]
    groups: list[Array] = []
    level_start = [0]
    for depth in range(int(level.max()) + 1):
        here = np.flatnonzero(level == depth)
        for key in np.unique(2 * kinds[here] + bears[here]):
            copies = here[2 * kinds[here] + bears[here] == key]
            groups += [copies[k : k + LANES] for k in range(0, len(copies), LANES)]
        level_start.append(len(groups))
    count = len(groups)
    group_class = np.array([kinds[g[0]] for g in groups])
    group_count = np.array([len(g) for g in groups])
    r = np.array(r_of)[group_class]
    ports = np.where([bears[g[0]] for g in groups], np.array(ports_of)[group_class], 0)
    sizes = np.array([group_rows.py_func(int(a), int(b)).size for a, b in zip(r, ports)])
    lane_domain = np.full((count, LANES), -1)
    for g, copies in enumerate(groups):
        lane_domain[g, : len(copies)] = copies
    used = lane_domain >= 0
    group_slot = 1 + LANES * np.concatenate([[0], np.cumsum(ports)])
    slot_of = np.full(model.domain_count, -1)
    slot_of[lane_domain[used]] = (group_slot[:-1, None] + np.arange(LANES))[used]
    padded = np.where(used, lane_domain, lane_domain[:, :1])
    above = model.parent[padded]
    parent_slot = np.where(above < 0, 0, slot_of[above] + LANES * model.parent_port[padded])
    lane_of = np.full(model.domain_count, -1)
    lane_of[lane_domain[used]] = np.flatnonzero(used)
    home = np.empty(model.domain_count, dtype=np.int64)
    home[lane_domain[used]] = parent_slot[used]
    sorted_children = np.argsort(home, kind="stable")
    child_start = np.searchsorted(home[sorted_children], np.arange(group_slot[-1] + 1))
    batches = _batches(group_class, group_count, r)
    columns = np.zeros(count, dtype=np.int64)
    for members in batches:
        columns[members] = np.concatenate([[0], np.cumsum(group_count[members])[:-1]])
    in_batch = np.array([group_count[b].sum() for b in batches], dtype=np.int64)
    room = [_batch_room(r_of[group_class[b[0]]], int(n)) for b, n in zip(batches, in_batch)]
    return TreeArrays(
        level_start=np.array(level_start),
        group_class=group_class,
        group_count=group_count,
        group_ports=ports,
        group_q=LANES * np.concatenate([[0], np.cumsum(r)]),
        group_work=LANES * np.concatenate([[0], np.cumsum(sizes)]),
        group_slot=group_slot,
        group_column=columns,
        lane_domain=lane_domain.ravel(),
        parent_slot=parent_slot.ravel(),
        child_start=child_start,
        children=lane_of[sorted_children],
        scale=np.where(used, model.scale[padded], 1.0).ravel(),
        tuning=np.where(used, model.tuning[padded] ** 2, 1.0).ravel(),
        density=np.where(used, model.density[padded], 1.0).ravel(),
        mask=used.astype(float).ravel(),
        batch_class=np.array([group_class[b[0]] for b in batches], dtype=np.int64),
        batch_start=np.concatenate([[0], np.cumsum([len(b) for b in batches])]).astype(np.int64),
        batch_groups=np.concatenate([*batches, []]).astype(np.int64),
        batch_count=in_batch,
        batch_work=np.concatenate([[0], np.cumsum(room)]).astype(np.int64),
        **_class_arrays(model),
    )


def _batches(group_class: Array, group_count: Array, r: Array) -> list[Array]:
    """Groups of one class whose copies fill at most a block each."""
    out = []
    for number in np.unique(group_class):
        members = [g for g in np.flatnonzero(group_class == number) if r[g]]
        while members:
            fits = int(np.searchsorted(np.cumsum(group_count[members]), BLOCK, side="right"))
            out.append(np.array(members[:fits]))
            members = members[fits:]
    return out


def batch_width(count: int) -> int:
    """Columns of a batch: lanes are read whole, so there is room after the last copy."""
    return LANES * ((count + LANES - 1) // LANES)


def _batch_room(r: int, count: int) -> int:
    pairs, width = r * (r + 1) // 2, batch_width(count)
    return 4 * pairs * width + 2 * r * width + 2 * pairs + LANES


def _class_arrays(model: SubstructureModel) -> dict[str, Array]:
    classes = model.classes
    r = np.array([c.count for c in classes])
    pairs = r * (r + 1) // 2
    fixed, W5, W7 = [], [], []
    for c in classes:
        g = c.integrals
        fixed.append([g.mass, *g.S0, *upper(g.P0)])
        W5.append(np.concatenate([upper(g.W5), g.W2], axis=-1))
        W7.append(np.concatenate([upper(g.W7), g.W6], axis=-1))
    forces = [c.force.arrays for c in classes if c.force is not None]
    fits = [fit for c in classes for fit in c.fits]
    port_r = np.array([c.count for c in classes for _ in c.fits], dtype=np.int64)
    return {
        "class_r": r,
        "class_rr": _starts(r * r),
        "class_pairs_r": _starts(pairs * r),
        "class_pairs": _starts(pairs * pairs),
        "class_port": _starts(np.array([len(c.fits) for c in classes])),
        "class_sum": _starts(r),
        "fixed": np.array(fixed),
        "mass": _flat([c.integrals.W4 for c in classes]),
        "U_bar": _flat([c.integrals.U_bar for c in classes]),
        "W5": _flat(W5),
        "W7": _flat(W7),
        "linear": _flat([f.linear for f in forces]),
        "by_q": _flat([f.by_q for f in forces]),
        "by_pairs": _flat([f.by_pairs for f in forces]),
        "port_x": np.array([f.x_hat for f in fits]).reshape(-1, 3),
        "port_A": np.array([f.A_rest for f in fits]).reshape(-1, 3, 3),
        "port_start": _starts(port_r),
        "port_a": _flat([f.a_hat for f in fits]),
        "port_modes": _flat([f.A_modes for f in fits]),
    }


def upper(matrices: Array) -> Array:
    """The upper triangle of the symmetric part of matrices (..., 3, 3), (..., 6)."""
    S = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
    return np.stack([S[..., i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))], axis=-1)


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _flat(arrays: list[Array]) -> Array:
    return np.concatenate([np.zeros(0), *(np.asarray(a, dtype=float).ravel() for a in arrays)])
