"""Collisions of voxels with voxels: which may meet, and the constants of their contacts.

Surface voxels meet as spheres of their current size, at p = (size_1 + size_2) / 2 - |x2 - x1| > 0, n from 1 to 2:

    N = max(0, k p + c p'),   1/k = 1/k_1 + 1/k_2,  k_i = 2 E_i l,   c = zeta sqrt(sqrt(m_1 m_2) k)
    u: velocity of 2 relative to 1 at the point of contact, along the tangent plane
    T = min(mu N, c_t |u|) u / |u|,   c_t = SLIP / (dt n_c sum(1/m + a²/I))
    force on 1: T - N n,  on 2: N n - T;  moments a_1 n x T on 1 and a_2 n x T on 2,  a_1 + a_2 = |x2 - x1|

The point of contact divides the centre line as the radii do, so forces and torques of a pair cancel to round-off. The
normal force never pulls; zeta and mu (kinetic) are means of the two materials. Friction is Coulomb's, regularised: it
takes at most the part SLIP of a slip out of it in a step, n_c being the larger number of contacts of the two voxels.
So it never turns a motion round and dissipates at any number of contacts, but a pair under a load F below mu N creeps,
at F / c_t, where the stop rule of [HL12, eq. 38] would hold it.

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

from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import LOADS, STATE
from supple.bodies.voxel.sweep.bricks import Layout, aligned_zeros
from supple.bodies.voxel.touching.collision_kernels import MEMORY, Contacts
from supple.errors import InputError

Array = np.ndarray
HOPS = 3  # links between two voxels that never meet
ROUND_OFF = 1e-3  # part of the horizon kept in reserve for rounded positions
SLIP = 0.5  # largest part of a slip that friction takes out in a step
CROWD = 2.0  # largest eigenvalue of the sum of n n^T of a voxel: in the hollow of four, or between two


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

    @property
    def slip(self) -> float:
        """Largest part of a slip that friction takes out in a step."""
        return SLIP if self.friction else 0.0


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


def make_contacts(
    model: VoxelModel, layout: Layout, collision: Collision, held: Array, links: Array, capacity: int = 0
) -> Contacts:
    """Workspace of the collisions of a model. held (n,): voxels that do not move. links (k, 2): voxels still
    joined.

    capacity: pairs to start with; more are made when needed.
    """
    horizon = collision.horizon * float(model.size.max())
    joined = np.bincount(links.ravel(), minlength=model.voxel_count)
    chosen = np.flatnonzero(joined < 6) if collision.surface_only else np.arange(model.voxel_count)
    count = len(chosen)
    barred_start, barred = joined_pairs(model.voxel_count, links, chosen)
    free = np.where(held, 0.0, 1.0)
    friction = model.values("kinetic_friction") if collision.friction else np.zeros(model.voxel_count)
    values = [
        2 * model.values("young") * model.size,
        model.mass,
        damping_ratios(model, collision),
        friction,
        free / model.mass,
        free / model.inertia,
    ]
    W = layout.lanes
    buckets = 1 << max(4, int(np.ceil(np.log2(2 * count + 1))))
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
        spheres=np.zeros((count, 4)),
        contact_count=np.zeros(count, dtype=np.int64),
        cell=np.zeros((count, 3), dtype=np.int64),
        bucket=np.zeros(count, dtype=np.int64),
        mark=np.zeros(count, dtype=np.int64),
        peaks=aligned_zeros(2 * W, layout.bricks.state.dtype),
        order=np.zeros(count, dtype=np.int64),
        start=np.zeros(buckets + 1, dtype=np.int64),
        memory=memory,
        horizon=horizon,
        limit=horizon * (1 - ROUND_OFF) if collision.rebuild == "horizon" else -1.0,
        cell_size=horizon if collision.scheme == "cells" else 0.0,
        slip=collision.slip,
        brick_count=len(layout.bricks.row),
    )


def no_collisions(base: Array) -> Contacts:
    """Contacts of no voxel at all, whose list is never renewed. base: the loads of the bricks."""
    numbers, pairs = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    return Contacts(
        voxels=numbers,
        place=numbers,
        load_place=numbers,
        constants=np.zeros((0, 6)),
        barred_start=np.zeros(1, dtype=np.int64),
        barred=numbers,
        base=base,
        pairs=pairs,
        touching=numbers,
        spheres=np.zeros((0, 4)),
        contact_count=numbers,
        cell=np.zeros((0, 3), dtype=np.int64),
        bucket=numbers,
        mark=numbers,
        peaks=aligned_zeros(2 * lane_count(base.dtype), base.dtype),
        order=numbers,
        start=np.zeros(1, dtype=np.int64),
        memory=np.zeros(MEMORY),
        horizon=0.0,
        limit=np.inf,
        cell_size=0.0,
        slip=0.0,
        brick_count=0,
    )


def enlarged(contacts: Contacts, pair_count: int) -> Contacts:
    """The same with workspace for so many pairs and a quarter more."""
    workspace = pair_count + pair_count // 4 + 16
    return contacts._replace(
        pairs=np.zeros((workspace, 2), dtype=np.int64), touching=np.zeros(workspace, dtype=np.int64)
    )


def joined_pairs(n: int, links: Array, chosen: Array) -> tuple[Array, Array]:
    """For each chosen of n voxels, the later ones at most HOPS links away, ascending: starts (count + 1,), numbers."""
    one, two = links.T
    ends, others = np.r_[one, two, np.arange(n)], np.r_[two, one, np.arange(n)]
    step = sparse.csr_array((np.ones(len(ends), dtype=np.int32), (ends, others)), shape=(n, n))
    reached = step[chosen]
    for _ in range(HOPS - 1):
        reached = reached @ step
    near = sparse.triu(reached[:, chosen], k=1, format="csr")
    near.sort_indices()
    return near.indptr.astype(np.int64), near.indices.astype(np.int64)


def damping_ratios(model: VoxelModel, collision: Collision) -> Array:
    """zeta of each voxel's contacts, (n,)."""
    if collision.damping is None:
        return model.values("contact_damping")
    return np.full(model.voxel_count, float(collision.damping))


def contact_rates(model: VoxelModel, collision: Collision) -> Array:
    """Upper bounds of K/m [1/s²] and C/m [1/s] that contacts add to each voxel, (n, 2).

    A pair's k (n . (d2 - d1))² <= k (1/m_1 + 1/m_2) (m_1 d_1² + m_2 d_2²), over all partners of the palette, times
    the crowd that can touch one voxel.
    """
    k, m, zeta = 2 * model.values("young") * model.size, model.mass, damping_ratios(model, collision)
    kinds, which = np.unique(np.stack([k, m, zeta], axis=1), axis=0, return_inverse=True)
    k1, m1, z1 = kinds.T[:, :, None]
    k2, m2, z2 = kinds.T[:, None, :]
    pair_k = k1 * k2 / (k1 + k2)
    pair_c = 0.5 * (z1 + z2) * np.sqrt(np.sqrt(m1 * m2) * pair_k)
    per_mass = 1 / m1 + 1 / m2
    bounds = CROWD * np.stack([(pair_k * per_mass).max(axis=1), (pair_c * per_mass).max(axis=1)], axis=1)
    return np.asarray(bounds[which.ravel()])
