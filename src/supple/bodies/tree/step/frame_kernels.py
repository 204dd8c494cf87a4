"""Frames of a group of domains at q and q', from the root outwards.

    w_j = R^T (w_i + w_ij)                                                       [BZ11, eq. 11]
    A_j = R^T (X A_i + N q" + c),   A = (alpha, a) in own axes                   the parent's i, the child's j
    X = [1 0; -x~ 1],  N = (Gamma; s ah)                                         in the parent's axes, as c is
    c = (w_i x w_ij + alpha0;  w_i x (w_i x x) + 2 w_i x v_ij)

The term w_i x w_ij is not in the paper, which treats points alone. R, x, v_ij, w_ij, alpha0, Gamma: of the interface's
fitted frame in the parent's axes, `modal.interface_kernels`. A copy scaled by s has interfaces s x.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.bodies.tree.domains.constants import aligned_zeros
from supple.bodies.tree.domains.layout import INTERFACE_ROWS, OUT, SIX, TreeArrays, group_rows
from supple.bodies.tree.surface.point_arrays import HeldPoints
from supple.elements.laws import store_nine
from supple.modal.interfaces.interface_kernels import fit_group

Array = np.ndarray


class TreeWorkspace(NamedTuple):
    """What changes in a step, flat. q, v, a: state of the groups; q_p, v_p: predictors; q_f: where forces were taken.

    work: rows of the groups, then the threads' rooms; single: the same memory as float32; out: `OUT` numbers a place;
    slot_A (`SIX` a slot), slot_w (3 a slot); load_q: outer forces on coordinates, load_w: outer wrenches (`SIX` a
    place); alpha, beta: damping of each; shift: what keeps it from feeding motion [T18], where points are
    held, pulled (1): how many; ends: 1 for each place whose
    forces are at the ends of a step, ended: how many these are in each group, f_0: f at its start, span (1): its length
    [s]; moved (1): how unsettled the worst step of a call was; change: largest change and size of q" of each place (2
    rows a group); bad: 1 where a group's matrix was singular; held_...: points held by springs,
    `point_arrays`.
    """

    q: Array
    v: Array
    a: Array
    q_p: Array
    v_p: Array
    q_f: Array
    work: Array
    single: Array
    out: Array
    slot_A: Array
    slot_w: Array
    load_q: Array
    load_w: Array
    alpha: Array
    beta: Array
    shift: Array
    pulled: Array
    ends: Array
    ended: Array
    f_0: Array
    span: Array
    moved: Array
    change: Array
    bad: Array
    held_start: Array
    held_place: Array
    held_X: Array
    held_U: Array
    held_first: Array
    held_law: Array
    held_J: Array
    held_KJ: Array
    held_force: Array
    held_first_J: Array
    held_mass: Array
    held_mass_start: Array
    held_slot: Array
    held_factors: Array

    @classmethod
    def empty(cls, tree: TreeArrays) -> TreeWorkspace:
        """Scratch for a tree, all zeros."""
        coordinates, places, slots = tree.group_q[-1], len(tree.scale), tree.group_slot[-1]
        sizes = {"work": tree.scratch_start[-1], "out": OUT * places, "slot_A": SIX * slots, "slot_w": 3 * slots}
        sizes |= {
            "load_w": SIX * places,
            "alpha": places,
            "beta": places,
            "shift": places,
            "pulled": 1,
            "ends": places,
            "span": 1,
            "moved": 1,
        }
        sizes |= {"change": 2 * len(tree.scale), "bad": len(tree.group_class), "ended": len(tree.group_class)}
        own = [name for name in cls._fields if not name.startswith("held_") and name != "single"]
        rooms = {name: aligned_zeros(int(sizes.get(name, coordinates))) for name in own}
        rooms["single"] = rooms["work"].view(np.float32)
        return cls(**rooms, **HeldPoints.none(len(tree.group_class), int(slots)).named())

    def by_address(self) -> ByAddress:
        """As the kernels take it."""
        return ByAddress(self)


@compiled(inline=True)
def load3(a, at, step):
    """Three lanes, `step` numbers apart."""
    return load(a, at), load(a, at + step), load(a, at + 2 * step)


@compiled(inline=True)
def store3(a, at, values):
    """Three rows."""
    store(a, at, values[0])
    store(a, at + LANES, values[1])
    store(a, at + 2 * LANES, values[2])


@compiled(inline=True)
def load9(a, at):
    """Nine rows, as of a matrix row by row."""
    return (
        load(a, at), load(a, at + LANES), load(a, at + 2 * LANES),
        load(a, at + 3 * LANES), load(a, at + 4 * LANES), load(a, at + 5 * LANES),
        load(a, at + 6 * LANES), load(a, at + 7 * LANES), load(a, at + 8 * LANES),
    )  # fmt: skip


@compiled(inline=True)
def add3(a, b):
    """a + b of triples."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled(inline=True)
def times3(f, a):
    """f a of a triple."""
    return f * a[0], f * a[1], f * a[2]


@compiled(inline=True)
def dot3(a, b):
    """a . b of triples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(inline=True)
def compute_spins(tree, workspace, g):
    """The angular velocity of group g from its parents' slots."""
    r = tree.class_r[tree.group_class[g]]
    at = tree.group_work[g] + LANES * group_rows(r, tree.group_interfaces[g]).spin
    for b in range(LANES):
        slot = 3 * tree.parent_slot[g * LANES + b]
        for i in range(3):
            workspace.work[at + i * LANES + b] = workspace.slot_w[slot + i]


@compiled(borrows=True)
def compute_fit(tree, workspace, constants, g, k):
    """The fitted frame of interface k of group g, whose class is among the constants; it depends on q and q' alone."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    rows, interface = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS
    number = tree.class_interface[kind] + k
    at = tree.group_work[g] + LANES * (rows.interfaces + k * interface.size)
    first = constants.interface_start[number]
    _, _, solver, _ = fit_group(
        constants.fits, number, first, r, workspace.q, workspace.v, tree.group_q[g], workspace.work, at
    )
    store_nine(solver, workspace.work, at + LANES * interface.solver, LANES)


@compiled(borrows=True)
def compute_interface(tree, workspace, g, k, free):
    """c and the children's angular velocities of interface k of group g, from its fit; x and v are scaled."""
    r = tree.class_r[tree.group_class[g]]
    rows, interface = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS
    work, s = workspace.work, load(tree.scale, g * LANES)
    w = load3(work, tree.group_work[g] + LANES * rows.spin, LANES)
    at = tree.group_work[g] + LANES * (rows.interfaces + k * interface.size)
    x, v = times3(s, load3(work, at, LANES)), times3(s, load3(work, at + 3 * LANES, LANES))
    store3(work, at, x)
    store3(work, at + 3 * LANES, v)
    R = load9(work, at + 6 * LANES)
    w_rel, alpha0 = load3(work, at + 15 * LANES, LANES), load3(work, at + 18 * LANES, LANES)
    store3(work, at + LANES * interface.c, add3(cross(w, w_rel), alpha0))  # (T14)
    store3(work, at + LANES * (interface.c + 3), cross(w, add3(cross(w, x), times3(2.0, v))))
    store3(work, free, turned_back(R, add3(w, w_rel)))  # (T13)
    slot = tree.group_slot[g] + k * LANES
    for b in range(LANES):
        for i in range(3):
            workspace.slot_w[3 * (slot + b) + i] = work[free + i * LANES + b]
