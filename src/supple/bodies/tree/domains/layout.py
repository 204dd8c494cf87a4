"""How the kernels see a tree: groups of at most LANES domains of one level, the domain's index last.

    group       domains of one level (`grouping`); every row of its workspace is LANES numbers side by side. Copies of
    one
                class share its constants; a group of several classes counts as a class of its own (`constants`)
    slot        an interface of a domain, with the frame that all children on it share; slot 0 carries the root
    changes     a group whose elastic forces a later pass changes, and does not take anew (`grouping`)
    alone       a group whose elastic forces are computed domain by domain (`modal.lone_force_kernels`): of several
                classes, or with few domains; those of others lanes at once (`modal.lane_force_kernels`)
    scratch        what a thread works in, one for each

    part        interfaces of a group that one thread treats together, `PART` at most; what they add to the group is
    summed
                part by part, and then the parts, so that sums do not depend on threads

Rows of a group with r coordinates, from `group_work` on (see `Rows`): effective mass, constant forces, angular
velocity, its elimination, the sums of its parts (`SumRows`), then the rows of its interfaces. What need not outlive a
visit of a group lies in the thread's scratch (`ScratchRows`), which stays in the cache. Places without a copy hold
zeros and a mass of 1.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.constants import Constants, aligned_zeros, own_constants, shared_constants
from supple.bodies.tree.domains.grouping import changes_forces, make_groups, make_pieces, thin_domains
from supple.bodies.tree.model import TreeModel
from supple.modal.forces.cubic import CubicForce
from supple.modal.forces.force_change_kernels import (
    FEW,
    ChangeArrays,
    change_arrays,
    change_rows,
    change_strips,
    gauge,
)
from supple.modal.forces.lane_force_kernels import lane_strips
from supple.modal.forces.lone_force_kernels import LoneArrays, lone_arrays

Array = np.ndarray
OUT = 40
"""What a domain shows its parent: 21 of its inertia, 6 of its bias, mass, first moment 3, outer wrench 6; 3 unused, so
that squares of lanes can be read whole (`transpose_kernels`)."""
SIX = 8
"""Numbers that a six-vector takes where squares of lanes read it; 2 unused."""


PART = 12
"""Ports of a part at most."""


class Rows(NamedTuple):
    """First rows of a group's workspace, by name."""

    mass: int  # effective mass (r, r), lower triangle; factored where there are no interfaces. Above: of the first pass
    diagonal: int  # that of the first pass (r,); above, here and in `first` only where r >= FEW
    force: int  # constant part of the right-hand side (r,)
    first: int  # that of the first pass (r,)
    spin: int  # angular velocity of the frame (3)
    solved: int  # M*^-1 (H*^T | r): (r, 7)
    sums: int  # of the first part, where there are interfaces
    interfaces: int  # first interface
    size: int


class SumRows(NamedTuple):
    """First rows of a part's sums, relative to their start; the first part's begin with what the group itself has."""

    total: int  # M* (r, r), lower triangle
    coupling: int  # H* (6, r)
    right: int  # right-hand side (r)
    seen: int  # what the parent sees (OUT)
    size: int


class ScratchRows(NamedTuple):
    """First rows of a thread's scratch, relative to its start, by name."""

    moment: int  # S (3)
    inertia: int  # J (6), upper triangle
    bias: int  # h (6)
    mode_bias: int  # h_q (r)
    sums: int  # those of a group without interfaces, but M*
    pushed: int  # I N of the interface at hand (6, r), the lower half times s
    Gamma: int  # of the interface at hand (3, r)
    beside: int  # numbers of domains, side by side (OUT)
    shown: int  # the same as rows (OUT)
    size: int


class InterfaceRows(NamedTuple):
    """First rows of an interface's workspace, relative to the interface's start."""

    frame: int  # x, v, R, omega, alpha0 as of `modal.interface_kernels`, x and v scaled
    solver: int  # of `algebra.polar_kernels`: (3, 3), which gives Gamma with R and the constants of the interface
    c: int  # (6)
    size: int


INTERFACE_ROWS = InterfaceRows(0, 21, 30, 36)


@compiled(inline=True)
def part_count(interfaces):
    """Parts of a group with so many interfaces."""
    return (interfaces + PART - 1) // PART


@compiled(inline=True)
def sum_rows(r):
    """Rows of a part's sums."""
    return SumRows(0, r * r, r * r + 6 * r, r * r + 7 * r, r * r + 7 * r + OUT)


@compiled(inline=True)
def group_rows(r, interfaces):
    """Rows of a group."""
    kept = r if r >= FEW else 0
    force = r * r + kept
    spin = force + r + kept
    sums = spin + 3 + 7 * r
    first = sums + part_count(interfaces) * sum_rows(r).size
    size = first + interfaces * INTERFACE_ROWS.size
    return Rows(0, r * r, force, force + r, spin, spin + 3, sums, first, size)


@compiled(inline=True)
def scratch_rows(r):
    """Rows of a scratch."""
    sums = 15 + r
    pushed = sums + 7 * r + OUT
    Gamma = pushed + 6 * r
    beside = Gamma + 3 * r
    return ScratchRows(0, 3, 9, 15, sums, pushed, Gamma, beside, beside + OUT, beside + 2 * OUT)


class TreeArrays(NamedTuple):
    """Constants of a tree for the kernels; see the module. Flat arrays of all classes, with the offsets of each.

    Classes from the number of `lone_starts` on are groups of several classes, with constants in `own`, others in
    `shared`. Elastic forces: strips lanes at once, lone domain by domain; change... and gauge, of each place:
    `force_change_kernels`. order: groups with interfaces, level by level, then the others;
    piece_start: pieces of it for threads, of the former one each; level_bearer, level_part: first group with interfaces
    of each level, and first part; pays (1): whether threads do.
    """

    level_start: Array
    level_bearer: Array
    level_part: Array
    order: Array
    piece_start: Array
    part_group: Array
    part_number: Array
    pays: Array
    group_class: Array
    group_count: Array
    group_interfaces: Array
    group_q: Array
    group_work: Array
    group_slot: Array
    group_alone: Array
    group_changes: Array
    lane_domain: Array
    lane_class: Array
    parent_slot: Array
    child_start: Array
    children: Array
    scale: Array
    tuning: Array
    density: Array
    total_mass: Array
    mask: Array
    thin: Array
    scratch_start: Array
    lone_starts: Array
    lone: LoneArrays
    change_starts: Array
    change: ChangeArrays
    change_strips: Array
    class_change: Array
    gauge: Array
    class_r: Array
    class_rr: Array
    class_W7: Array
    class_sum: Array
    class_interface: Array
    class_place: Array
    class_strips: Array
    shared: Constants
    own: Constants
    strips: Array

    def by_address(self) -> ByAddress:
        """As the kernels take it."""
        return ByAddress(self)


def pack(model: TreeModel) -> TreeArrays:
    """The arrays of a model."""
    kinds, classes = model.domain_class, model.classes
    groups, level_start = make_groups(model)
    changes = changes_forces(model)
    count = len(groups)
    bears = np.zeros(model.domain_count, dtype=bool)
    bears[model.parent[1:]] = True
    interfaces_of = np.where(bears, np.array([len(c.interfaces) for c in classes])[kinds], 0)
    mixed = [g for g, members in enumerate(groups) if len(np.unique(kinds[members])) > 1]
    group_class = np.array([kinds[g[0]] for g in groups])
    group_class[mixed] = len(classes) + np.arange(len(mixed))
    group_count = np.array([len(g) for g in groups])
    r = np.array([model.mode_counts[g].max() for g in groups])
    interfaces = np.array([interfaces_of[g].max() for g in groups])
    sizes = np.array([group_rows.py_func(int(a), int(b)).size for a, b in zip(r, interfaces)])
    group_work = LANES * np.concatenate([[0], np.cumsum(sizes)])
    scratch = max(max(force_scratch(n), LANES * scratch_rows.py_func(n).size) for n in r.tolist())
    lane_domain = np.full((count, LANES), -1)
    for g, members in enumerate(groups):
        lane_domain[g, : len(members)] = members
    used = lane_domain >= 0
    group_slot = 1 + LANES * np.concatenate([[0], np.cumsum(interfaces)])
    slot_of = np.full(model.domain_count, -1)
    slot_of[lane_domain[used]] = (group_slot[:-1, None] + np.arange(LANES))[used]
    padded = np.where(used, lane_domain, lane_domain[:, :1])
    above = model.parent[padded]
    parent_slot = np.where(above < 0, 0, slot_of[above] + LANES * model.parent_interface[padded])
    lane_of = np.full(model.domain_count, -1)
    lane_of[lane_domain[used]] = np.flatnonzero(used)
    home = np.empty(model.domain_count, dtype=np.int64)
    home[lane_domain[used]] = parent_slot[used]
    sorted_children = np.argsort(home, kind="stable")
    child_start = np.searchsorted(home[sorted_children], np.arange(group_slot[-1] + 1))
    scale = np.where(used, model.scale[padded], 1.0)
    density = np.where(used, model.density[padded], 1.0)
    class_mass = np.array([c.integrals.mass for c in classes])
    own = [([classes[c] for c in kinds[padded[g]]], int(r[g]), int(interfaces[g])) for g in mixed]
    return TreeArrays(
        level_start=level_start,
        **_named_pieces(r, interfaces, level_start),
        group_class=group_class,
        group_count=group_count,
        group_interfaces=interfaces,
        group_q=LANES * np.concatenate([[0], np.cumsum(r)]),
        group_work=group_work,
        scratch_start=group_work[-1] + scratch * np.arange(numba.config.NUMBA_NUM_THREADS + 1),
        group_slot=group_slot,
        group_changes=np.array([changes[g[model.mode_counts[g] > 0]].all() for g in groups]).astype(np.int64),
        lane_domain=lane_domain.ravel(),
        lane_class=kinds[padded].ravel(),
        parent_slot=parent_slot.ravel(),
        child_start=child_start,
        children=lane_of[sorted_children],
        scale=scale.ravel(),
        tuning=np.where(used, model.tuning[padded] ** 2, 1.0).ravel(),
        density=density.ravel(),
        total_mass=(class_mass[kinds[padded]] * scale**3 * density).ravel(),
        mask=used.astype(float).ravel(),
        thin=(used & thin_domains(model)[padded]).astype(float).ravel(),
        shared=shared_constants(classes),
        own=own_constants(own),
        **_force_arrays(model, group_class, group_count, kinds[padded], r),
        **_class_offsets(model, r[mixed], interfaces[mixed]),
    )


def _named_pieces(r: Array, interfaces: Array, level_start: Array) -> dict[str, Array]:
    """What threads share: groups with interfaces and others, and the parts of the former."""
    bearers = np.flatnonzero(interfaces > 0)
    order, piece_start, pays = make_pieces(r, interfaces)
    parts = [part_count.py_func(int(n)) for n in interfaces[bearers]]
    level_bearer = np.searchsorted(bearers, level_start)
    return {
        "level_bearer": level_bearer,
        "level_part": _starts(np.array(parts))[level_bearer],
        "order": order,
        "piece_start": piece_start,
        "part_group": np.repeat(bearers, parts),
        "part_number": np.concatenate([np.arange(n) for n in parts] + [np.zeros(0)]).astype(np.int64),
        "pays": np.array([pays], dtype=np.int64),
    }


def _class_offsets(model: TreeModel, own_r: Array, own_interfaces: Array) -> dict[str, Array]:
    """Where the constants of each class begin, those of groups of several classes after the others."""
    r = np.array([c.count for c in model.classes])
    interfaces = np.array([len(c.fits) for c in model.classes])

    def both(a: Array, b: Array) -> Array:
        return np.concatenate([_starts(a)[:-1], _starts(b)[:-1]])

    return {
        "class_r": np.concatenate([r, own_r]).astype(np.int64),
        "class_rr": both(r * r, own_r * own_r),
        "class_W7": both(r * r, own_r * (own_r + 1) // 2),
        "class_sum": both(r, own_r),
        "class_interface": both(interfaces, own_interfaces),
        "class_place": np.concatenate([np.arange(len(r)), np.arange(len(own_r))]),
    }


def _force_arrays(
    model: TreeModel, group_class: Array, group_count: Array, lane_class: Array, r: Array
) -> dict[str, Any]:
    """Which groups have their forces domain by domain, and the coefficients of both ways."""
    classes = model.classes
    pairs = r * (r + 1) // 2
    alone = (group_class >= len(classes)) | (group_count * (1500 + pairs**2 / 4) < 600 + pairs * (pairs + r))
    together, single = set(group_class[~alone].tolist()), set(lane_class[alone].ravel().tolist())
    forces = [c.force for c in classes]
    by = np.array([1.0 if f is None else gauge(*f.by_pairs) for f in forces])
    return {
        "group_alone": alone.astype(np.int64),
        "gauge": by[lane_class].ravel(),
        **_together([f if k in together else None for k, f in enumerate(forces)], by),
        **_single([f if k in single else None for k, f in enumerate(forces)], by),
    }


def _together(forces: list[CubicForce | None], by: Array) -> dict[str, Array]:
    """Coefficients of classes whose forces are computed lanes at once; None: of no other."""
    whole = [np.zeros(0) if f is None else lane_strips(*f.by_pairs) for f in forces]
    change = [np.zeros(0) if f is None else change_strips(*f.by_pairs[1:], b) for f, b in zip(forces, by)]
    return {
        "class_strips": _starts(np.array([len(a) for a in whole])),
        "strips": _flat(whole),
        "class_change": _starts(np.array([len(a) for a in change])),
        "change_strips": _flat(change, np.float32),
    }


def _single(forces: list[CubicForce | None], by: Array) -> dict[str, Any]:
    """Coefficients of classes whose forces are computed domain by domain; None: of no other."""
    whole = [LoneArrays(*[np.zeros(0)] * 3) if f is None else lone_arrays(*f.by_pairs) for f in forces]
    change = [
        ChangeArrays(*[np.zeros(0)] * 2) if f is None else change_arrays(*f.by_pairs[1:], b) for f, b in zip(forces, by)
    ]
    linear, strips, tiles = zip(*whole)
    change_strips, change_tiles = zip(*change)
    return {
        "lone_starts": _all_starts(linear, strips, tiles),
        "lone": LoneArrays(_flat(linear), _flat(strips), _flat(tiles)),
        "change_starts": _all_starts(change_strips, change_tiles),
        "change": ChangeArrays(_flat(change_strips, np.float32), _flat(change_tiles, np.float32)),
    }


def force_scratch(r: int) -> int:
    """Numbers that forces of a group with r coordinates take: f or d and u, K or E, and scratch for either way."""
    return LANES * (2 * r + 4 * change_rows.py_func(r))


def _all_starts(*fields: Sequence[Array]) -> Array:
    return np.stack([_starts(np.array([len(a) for a in arrays]))[:-1] for arrays in fields], axis=1)


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _flat(arrays: Sequence[Array], dtype: type = float) -> Array:
    joined = np.concatenate([np.zeros(0), *(np.asarray(a).ravel() for a in arrays)]).astype(dtype)
    out = aligned_zeros(-(-joined.nbytes // 8)).view(dtype)[: len(joined)]
    out[:] = joined
    return out
