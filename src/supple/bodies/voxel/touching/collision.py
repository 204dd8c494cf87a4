"""Collisions of voxels with voxels: which may meet, and the constants of their contacts.

Surface voxels meet as spheres of their current size, at p = (size_1 + size_2) / 2 - |x2 - x1| > 0, n from 1 to 2:

    N by the depth p and the speed p',   1/k = 1/k_1 + 1/k_2,  k_i = 2 E_i l,   c = zeta sqrt(sqrt(m_1 m_2) k)
    u: velocity of 2 relative to 1 at the point of contact, along the tangent plane P;  s = P s_0 + dt u
    T by s and u,   k_t = TANGENTIAL k,   c_t = TANGENTIAL c                                     see `law_kernels`
    force on 2: N n + T, on 1 the opposite;  moments a_1 T x n on 1 and a_2 T x n on 2,  a_1 + a_2 = |x2 - x1|

The point of contact divides the centre line as the radii do, so forces and torques of a pair cancel to round-off. The
normal force never pulls; zeta and mu (static and kinetic) are means of the two materials. A pair that sticks is held by
a spring, whose stretch s is remembered as long as it touches: it does not creep.

Candidates are listed within a horizon H of centre distance. A pair that is not listed cannot touch while twice the
motion of the fastest voxel, accumulated, plus the largest current size stays below H; the source's H/2 of motion is
no guarantee. Excluded are pairs joined by three links or fewer: Manhattan's distance along the lattice, so that voxels
near in the grid but not joined, such as two blocks with a gap, do meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sparse

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import LINE, LOADS, PARTS, STATE
from supple.bodies.voxel.sweep.bricks import Layout, aligned_zeros
from supple.bodies.voxel.touching.collision_kernels import HELD, MEMORY, TABLE, TANGENTIAL, Contacts
from supple.errors import InputError

Array = np.ndarray
HOPS = 3  # links between two voxels that never meet
ROUND_OFF = 1e-3  # part of the horizon kept in reserve for rounded positions
CROWD, AROUND = 2.0, 3.0
"""Largest eigenvalues of the sums of n n^T and of I - n n^T of a voxel: in the hollow of four, or between two."""


@dataclass(frozen=True)
class Collision:
    """How the voxels of a body meet each other.

    horizon: centre distance of listed pairs, in voxel sizes. damping: ratio of all contacts, None: the materials'
    contact_damping. friction: with it, or smooth. scheme: neighbours by cells, or every pair tested. surface_only:
    leave out voxels with all six neighbours. rebuild: the list of pairs when the horizon asks for it, or every step.
    The slower choices give the same motion and exist to be compared with.

    >>> Collision().horizon
    2.0
    """

    horizon: float = 2.0
    damping: float | None = None
    friction: bool = True
    scheme: Literal["cells", "all_pairs"] = "cells"
    surface_only: bool = True
    rebuild: Literal["horizon", "every_step"] = "horizon"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.horizon) and self.horizon > 1):
            raise InputError(
                "the horizon is too short", where="Collision", value=self.horizon, allowed="> 1 voxel size"
            )
        if self.damping is not None and not (np.isfinite(self.damping) and self.damping >= 0):
            raise InputError("the damping ratio is negative", where="Collision", value=self.damping, allowed=">= 0")
        if self.scheme not in ("cells", "all_pairs"):
            raise InputError("unknown scheme", where="Collision", value=self.scheme, allowed="cells, all_pairs")
        if self.rebuild not in ("horizon", "every_step"):
            raise InputError("unknown rebuild", where="Collision", value=self.rebuild, allowed="horizon, every_step")


def check_horizon(model: VoxelModel, collision: Collision, largest: float) -> None:
    """Refuse voxels that grow to a size [m] at which the list of pairs would miss some."""
    l = float(model.size.max())
    if largest >= collision.horizon * l * (1 - ROUND_OFF):
        raise InputError(
            "voxels grow to the horizon of their collisions",
            where="Collision",
            value=collision.horizon,
            allowed=f"> {largest / l / (1 - ROUND_OFF):.4g} voxel sizes",
            fix="Enlarge horizon=.",
        )


def make_contacts(model: VoxelModel, layout: Layout, collision: Collision, links: Array, capacity: int = 0) -> Contacts:
    """Workspace of the collisions of a model. links (k, 2): voxels still joined.

    capacity: pairs to start with; more are made when needed.
    """
    horizon = collision.horizon * float(model.size.max())
    joined = np.bincount(links.ravel(), minlength=model.voxel_count)
    chosen = np.flatnonzero(joined < 6) if collision.surface_only else np.arange(model.voxel_count)
    count = len(chosen)
    barred_start, barred = joined_pairs(model.voxel_count, links, chosen)
    rough = 1.0 if collision.friction else 0.0
    values = [
        2 * model.values("young") * model.size,
        model.mass,
        damping_ratios(model, collision),
        rough * model.values("static_friction"),
        rough * model.values("kinetic_friction"),
    ]
    W = layout.lanes
    buckets = 1 << max(4, int(np.ceil(np.log2(2 * count + 1))))
    whole = -(-count // LANES) * LANES
    workspace = max(capacity, 1)
    memory = np.zeros(MEMORY)
    memory[0] = -1.0
    return Contacts(
        voxels=chosen,
        place=layout.brick[chosen] * STATE * W + layout.lane[chosen],
        load_place=layout.brick[chosen] * LOADS * W + layout.lane[chosen],
        constants=np.ascontiguousarray(np.stack(values, axis=1)[chosen]),
        barred_start=barred_start,
        barred=barred,
        base=np.zeros(0, dtype=layout.bricks.state.dtype),
        pairs=np.zeros((workspace, 2), dtype=np.int64),
        touching=np.zeros(workspace, dtype=np.int64),
        found=np.zeros(workspace, dtype=np.int64),
        counts=np.zeros(PARTS * LINE, dtype=np.int64),
        pushes=np.zeros((workspace, 9)),
        held=np.zeros((2, workspace, 2), dtype=np.int64),
        slips=np.zeros((2, workspace, 4)),
        spheres=np.zeros((count, 4)),
        cell=np.zeros((count, 3), dtype=np.int64),
        bucket=np.zeros(count, dtype=np.int64),
        mark=np.zeros(count, dtype=np.int64),
        order=np.zeros(count, dtype=np.int64),
        start=np.zeros(buckets + 1, dtype=np.int64),
        near=aligned_zeros(3 * whole, np.dtype(np.float64)),
        near_voxels=np.zeros(whole, dtype=np.int64),
        memory=memory,
        horizon=horizon,
        limit=horizon * (1 - ROUND_OFF) if collision.rebuild == "horizon" else -1.0,
        cell_size=horizon if collision.scheme == "cells" else 0.0,
    )


def no_collisions(base: Array) -> Contacts:
    """Contacts of no voxel at all, whose list is never renewed. base: the loads of the bricks."""
    numbers, pairs = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    return Contacts(
        voxels=numbers,
        place=numbers,
        load_place=numbers,
        constants=np.zeros((0, 5)),
        barred_start=np.zeros(1, dtype=np.int64),
        barred=np.zeros(0, dtype=np.int32),
        base=base,
        pairs=pairs,
        touching=numbers,
        found=numbers,
        counts=np.zeros(PARTS * LINE, dtype=np.int64),
        pushes=np.zeros((0, 9)),
        held=np.zeros((2, 0, 2), dtype=np.int64),
        slips=np.zeros((2, 0, 4)),
        spheres=np.zeros((0, 4)),
        cell=np.zeros((0, 3), dtype=np.int64),
        bucket=numbers,
        mark=numbers,
        order=numbers,
        start=np.zeros(1, dtype=np.int64),
        near=np.zeros(0),
        near_voxels=numbers,
        memory=np.zeros(MEMORY),
        horizon=0.0,
        limit=np.inf,
        cell_size=0.0,
    )


def enlarged(contacts: Contacts, pair_count: int) -> Contacts:
    """The same with workspace for so many pairs and a quarter more."""
    workspace = pair_count + pair_count // 4 + 16
    more = ((0, 0), (0, workspace - len(contacts.pairs)), (0, 0))
    return contacts._replace(
        pairs=np.zeros((workspace, 2), dtype=np.int64),
        touching=np.zeros(workspace, dtype=np.int64),
        found=np.zeros(workspace, dtype=np.int64),
        pushes=np.zeros((workspace, 9)),
        held=np.pad(contacts.held, more),
        slips=np.pad(contacts.slips, more),
    )


def held_pairs(contacts: Contacts, axes: Array) -> Array:
    """Pairs that touched in the last step, (k, 6): numbers of the voxels, stretch [m] in world axes, 1 if they slid."""
    count, table = int(contacts.memory[HELD]), int(contacts.memory[TABLE])
    out = np.empty((count, 6))
    out[:, :2] = contacts.voxels[contacts.held[table, :count]]
    out[:, 2 + axes] = contacts.slips[table, :count, :3]
    out[:, 5] = contacts.slips[table, :count, 3]
    return out


def hold_pairs(contacts: Contacts, pairs: Array, axes: Array) -> Contacts:
    """With pairs (k, 6) remembered, see `held_pairs`; those of voxels that cannot meet any more are forgotten."""
    voxels = pairs[:, :2].astype(np.int64)
    numbers = np.searchsorted(contacts.voxels, voxels)
    known = (np.take(contacts.voxels, numbers, mode="clip") == voxels).all(axis=1)
    count = int(np.count_nonzero(known))
    if count > len(contacts.pairs):
        contacts = enlarged(contacts, count)
    contacts.held[0, :count] = numbers[known]
    contacts.slips[0, :count, :3] = pairs[known][:, 2 + axes]
    contacts.slips[0, :count, 3] = pairs[known, 5]
    contacts.memory[HELD], contacts.memory[TABLE] = count, 0
    return contacts


def joined_pairs(n: int, links: Array, chosen: Array) -> tuple[Array, Array]:
    """For each chosen of n voxels, all at most HOPS links away, ascending, itself too: starts (count + 1,), numbers."""
    one, two = links.T
    ends, others = np.r_[one, two, np.arange(n)], np.r_[two, one, np.arange(n)]
    step = sparse.csr_array((np.ones(len(ends), dtype=np.int32), (ends, others)), shape=(n, n))
    reached = step[chosen]
    for _ in range(HOPS - 1):
        reached = reached @ step
    near = sparse.csr_array(reached[:, chosen])
    near.sort_indices()
    return near.indptr.astype(np.int64), near.indices.astype(np.int32)


def damping_ratios(model: VoxelModel, collision: Collision) -> Array:
    """zeta of each voxel's contacts, (n,)."""
    if collision.damping is None:
        return model.values("contact_damping")
    return np.full(model.voxel_count, float(collision.damping))


def contact_rates(model: VoxelModel, collision: Collision) -> Array:
    """Upper bounds of K/m [1/s²], C/m [1/s], K/I and C/I that contacts add to each voxel, (n, 4).

    A pair's k (n . (d2 - d1))² <= k (1/m_1 + 1/m_2) (m_1 d_1² + m_2 d_2²), over all partners of the palette, times
    the crowd that can touch one voxel; likewise along the surface, where a²/I of both turn with it.
    """
    k, m, zeta = 2 * model.values("young") * model.size, model.mass, damping_ratios(model, collision)
    turning = (model.size / 2) ** 2 / model.inertia
    kinds, which = np.unique(np.stack([k, m, zeta, turning], axis=1), axis=0, return_inverse=True)
    k1, m1, z1, t1 = kinds.T[:, :, None]
    k2, m2, z2, t2 = kinds.T[:, None, :]
    pair_k = k1 * k2 / (k1 + k2)
    pair_c = 0.5 * (z1 + z2) * np.sqrt(np.sqrt(m1 * m2) * pair_k)
    along = CROWD * (1 / m1 + 1 / m2)
    around = AROUND * TANGENTIAL * (1 / m1 + 1 / m2 + t1 + t2) if collision.friction else np.zeros_like(along)
    bounds = [(of * ease).max(axis=1) for ease in (along + around, around) for of in (pair_k, pair_c)]
    return np.asarray(np.stack(bounds, axis=1)[which.ravel()])
