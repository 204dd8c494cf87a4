"""Contacts of a lattice with surfaces of other bodies that move along straight lines while the lattice is swept.

A contact compares points of voxels with a point of another body. Its relative vector, and its velocity, are

    d = sum of weight (x + R local),   u = sum of weight (v + w × R local) + motion      motion: the other body's part
    g = gap + n . (d - d at the start + motion t)                                        gap at a time t of a run
    N = max(0, -k g - c n . u)  while g < 0                                              it never pulls
    s += P (change of d in a step + dt motion),   P = I - n n^T                          of a spring that holds it
    T* = -k_t s - c_t P u
    T = T*  where |T*| <= mu N (sticks),  else mu N T* / |T*| and s = -T / k_t (slides)
    force weight F and moment weight (R local) × F on each voxel,   F = N n + T

n is frozen. Gap and stretch follow places, not velocities, so that neither drifts, also where the motion changes from
one run to the next. All is taken at the start of each small step, so that dt F is exactly what the lattice receives;
its sum is the impulse the other body is due with the opposite sign. An open contact forgets its slip.

Stable step: with a = |weight| sqrt(1/m + |local|²/I) of an entry, the springs add at most omega² = sum of k a (sum of
a over the contact) to K/m of a voxel, by Cauchy's inequality, and the dashpots as much to C/m. `contact_step_limit`
keeps h² omega² + 2 h gamma <= SHARE of the 4 that `stable_step` divides: with SHARE = 0.8 contacts are stable beside
a lattice at up to 0.8 of its own stable step, with collisions 0.73.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.voxel.brick_data import LOADS, STATE
from supple.bodies.voxel.bricks import Layout
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.surface_contact_kernels import VOXEL, SurfaceRun, end_run, start_run
from supple.errors import InputError

Array = np.ndarray
SHARE = 0.8  # of h² K/m + 2 h C/m <= 4 that contacts may use
UNIT = 1e-6  # how far the length of a normal may be from 1
WHERE = "SurfaceContacts"


class SurfaceContacts(NamedTuple):
    """k contacts with e entries in all, at the start of an `advance`.

    start (k + 1,): entries of contact m are start[m] to start[m + 1] - 1. voxel (e,): number in the sweep's model.
    local (e, 3) [m]: lever in the voxel's axes. weight (e,): of either sign; the force on positive ones is along
    +normal. normal (k, 3): unit. gap (k,) [m]. motion (k, 3) [m/s]: the other side's part of the relative velocity.
    slip (k, 3) [m]: stretch along the surface. stiffness, grip (k,) [N/m]: normal and tangential; dashpot,
    grip_dashpot (k,) [N s/m]: likewise. friction (k,): Coulomb's coefficient.

    >>> one = np.ones(1)
    >>> point, up = np.array([[0.0, 0.0, -0.005]]), np.array([[0.0, 0.0, 1.0]])
    >>> still = np.zeros((1, 3))
    >>> contacts = SurfaceContacts(
    ...     np.array([0, 1]), np.array([0]), point, one, up, 0.01 * one, still, still, 1e3 * one, one, one, one, one
    ... )
    >>> len(contacts.gap)
    1
    """

    start: Array
    voxel: Array
    local: Array
    weight: Array
    normal: Array
    gap: Array
    motion: Array
    slip: Array
    stiffness: Array
    grip: Array
    dashpot: Array
    grip_dashpot: Array
    friction: Array


NO_CONTACTS = SurfaceContacts(
    np.zeros(1, dtype=np.int64),
    np.zeros(0, dtype=np.int64),
    np.zeros((0, 3)),
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros((0, 3)),
    *(np.zeros(0) for _ in range(5)),
)


@dataclass(eq=False)
class SurfaceMeeting:
    """Contacts as they are at the start of an `advance`, and their run in the axes of the sweep."""

    contacts: SurfaceContacts
    axes: Array
    run: SurfaceRun

    @classmethod
    def make(cls, contacts: SurfaceContacts, layout: Layout) -> SurfaceMeeting:
        """Check the contacts and lay them out."""
        check_contacts(contacts, len(layout.brick))
        return cls(contacts, np.array(layout.axes), make_run(contacts, layout))

    def __bool__(self) -> bool:
        return len(self.run.gap) > 0

    def begin(self, state: Array) -> None:
        """Forget what became of the contacts before, and begin at a state in bricks."""
        if self:
            start_run(state, in_axes(self.contacts.slip, self.axes), self.run)

    def end(self, state: Array, dt: float) -> None:
        """Bring gaps and slips to the state at the end of the steps of dt [s]."""
        if self:
            end_run(state, dt, self.run)

    def turned_back(self, values: Array) -> Array:
        """Vectors (k, 3) from the axes of the sweep to the world's."""
        found = np.empty_like(values)
        found[:, self.axes] = values
        return found


def in_axes(values: Array, axes: Array) -> Array:
    """Vectors (k, 3) in other axes."""
    return np.ascontiguousarray(np.asarray(values, dtype=float)[:, axes])


def check_contacts(contacts: SurfaceContacts, voxel_count: int) -> None:
    """Refuse contacts whose arrays do not fit together, or are of no use to the law."""
    start, voxel = np.asarray(contacts.start), np.asarray(contacts.voxel)
    count, entries = len(np.asarray(contacts.gap)), len(voxel)
    ordered = start.shape == (count + 1,) and start[0] == 0 and start[-1] == entries and (np.diff(start) > 0).all()
    if not ordered:
        raise InputError(
            "start does not divide the entries among the contacts",
            where=WHERE,
            value=start.shape,
            allowed=f"({count + 1},), ascending from 0 to {entries}",
        )
    outside = (voxel < 0) | (voxel >= voxel_count)
    if outside.any():
        raise InputError(
            "a voxel is out of range", where=WHERE, value=int(voxel[outside][0]), allowed=f"0..{voxel_count - 1}"
        )
    shapes = {"local": (entries, 3), "weight": (entries,)} | dict.fromkeys(("normal", "motion", "slip"), (count, 3))
    numbers = ("stiffness", "grip", "dashpot", "grip_dashpot", "friction")
    for name, shape in (shapes | dict.fromkeys(("gap", *numbers), (count,))).items():
        values = np.asarray(getattr(contacts, name))
        if values.shape != shape or not np.isfinite(values).all():
            raise InputError(f"{name} is not finite numbers", where=WHERE, value=values.shape, allowed=str(shape))
        if name in numbers and (values < 0).any():
            raise InputError(f"{name} is negative", where=WHERE, value=float(values.min()), allowed=">= 0")
    length = np.linalg.norm(contacts.normal, axis=1)
    if (np.abs(length - 1) > UNIT).any():
        raise InputError("a normal is not a unit vector", where=WHERE, value=float(length.min()), allowed="length 1")
    if ((np.asarray(contacts.friction) > 0) & (np.asarray(contacts.grip) == 0)).any():
        raise InputError("friction needs a spring that holds", where=WHERE, value=0.0, allowed="grip > 0 N/m")


def make_run(contacts: SurfaceContacts, layout: Layout) -> SurfaceRun:
    """The contacts in the axes and places of a layout, with room for what becomes of them."""
    axes, W = np.array(layout.axes), layout.lanes
    voxels, touched = np.unique(np.asarray(contacts.voxel, dtype=np.int64), return_inverse=True)
    count, entries = len(contacts.gap), len(touched)

    constants = (contacts.stiffness, contacts.grip, contacts.dashpot, contacts.grip_dashpot, contacts.friction)
    return SurfaceRun(
        start=np.array(contacts.start, dtype=np.int64),
        touched=np.ascontiguousarray(touched.ravel(), dtype=np.int64),
        local=in_axes(contacts.local, axes),
        weight=np.array(contacts.weight, dtype=float),
        normal=in_axes(contacts.normal, axes),
        motion=in_axes(contacts.motion, axes),
        gap=np.array(contacts.gap, dtype=float),
        constants=np.array(constants, dtype=float).T.copy(),
        place=layout.brick[voxels] * STATE * W + layout.lane[voxels],
        load_place=layout.brick[voxels] * LOADS * W + layout.lane[voxels],
        origin=np.zeros((len(voxels), 3)),
        first=np.zeros((count, 3)),
        steps=np.zeros(1, dtype=np.int64),
        last=np.zeros((count, 3)),
        slip=in_axes(contacts.slip, axes),
        impulse=np.zeros((count, 3)),
        mode=np.zeros(count, dtype=np.int64),
        depth=np.zeros(count),
        gap_end=np.array(contacts.gap, dtype=float),
        voxels=np.zeros((len(voxels), VOXEL)),
        levers=np.zeros((entries, 3)),
        loads=np.zeros((len(voxels), LOADS)),
    )


def contact_step_limit(contacts: SurfaceContacts, model: VoxelModel, *, held: ArrayLike = ()) -> float:
    """The largest step [s] that contacts allow beside the lattice's own; infinite where they touch nothing free.

    held: numbers of voxels that do not move.
    """
    check_contacts(contacts, model.voxel_count)
    free = np.ones(model.voxel_count)
    free[np.asarray(held, dtype=np.int64)] = 0.0
    voxel = np.asarray(contacts.voxel, dtype=np.int64)
    owner = np.repeat(np.arange(len(contacts.gap)), np.diff(contacts.start))
    lever2 = np.sum(np.square(contacts.local), axis=1)
    a = np.abs(contacts.weight) * np.sqrt(free[voxel] * (1 / model.mass[voxel] + lever2 / model.inertia[voxel]))
    share = a * np.bincount(owner, weights=a, minlength=len(contacts.gap))[owner]
    rubs = np.asarray(contacts.friction) > 0
    k = np.maximum(contacts.stiffness, np.where(rubs, contacts.grip, 0.0))
    c = np.maximum(contacts.dashpot, np.where(rubs, contacts.grip_dashpot, 0.0))
    omega2 = np.bincount(voxel, weights=share * k[owner], minlength=1)
    gamma = np.bincount(voxel, weights=share * c[owner], minlength=1)
    with np.errstate(divide="ignore"):
        return float(np.min(SHARE / (gamma + np.sqrt(gamma**2 + SHARE * omega2))))
