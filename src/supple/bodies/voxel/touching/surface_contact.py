"""Contacts of a lattice with surfaces of other bodies that move and respond to it while the lattice is swept.

A contact compares points of voxels with a point of another body. Its relative vector, and its velocity, are

    y' = motion + G (F - pushed),  y = 0 at the start                                    y: way of the other body's part
    d = sum of weight (x + R local) + y,   u = sum of weight (v + w × R local) + y'
    g = gap + n . (d - d at the start)                                                   gap at a time of a run
    N by max(0, -g) and -n . u,   T by s and P u,   P = I - n n^T                         see `law_kernels`
    s += P (change of d in a step)                                                       of the spring that holds it
    force weight F and moment weight (R local) × F on each voxel,   F = N n + T
    moment -D × F more, shared by the voxels: it moves F by D = g n to the other side's surface, and between voxels by
    the whole distance of the two points, so that both sides are pushed in one place

The other body moves by `motion` under forces `pushed`. G, the mobility, is how a force that lasts for its whole step
changes its way in that step, over the step: y ends where the other body's own scheme puts it with the mean force of the
run, so that its mass and stiffness are in the contact while the lattice is swept. A stiff contact brings y to rest the
sooner, at the rate k G. Dashpots see y' with a lag of 1 + c G small steps, or they would chase their own force.

A spring between a lattice and another body is met in the same way, with the vector e of its ends instead of a gap:

    e = slip + change of d,   F = -(k (|e| - rest) + c n . u) n,  n = e/|e|;   F = -k e - c u  where rest = 0

n of a contact is frozen. Gap and stretch follow places, not velocities, so that neither drifts, also where the motion
changes from one run to the next. All is taken at the start of each small step, so that dt F is exactly what the lattice
receives; its sum is the impulse the other body is due with the opposite sign, and the sum of its moments about the
world's origin is the angular one. An open contact forgets its slip.

Stable step: with a = |weight| sqrt(1/m + |local|²/I) of an entry, the springs add at most omega² = sum of k a (sum of
a over the contact) to K/m of a voxel, by Cauchy's inequality, and the dashpots as much to C/m. `contact_step_limit`
keeps h² omega² + 2 h gamma <= SHARE of the 4 that `stable_step` divides. A lattice whose own largest step is h_0 uses
at most 4 h / h_0 of it, as it does where damping alone limits it: 4 h / h_0 + h² omega² + 2 h gamma <= 4 is kept too,
which is less where h is above 0.8 h_0. Sides that respond need h |k^1/2 G k^1/2| <= 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import LOADS, STATE
from supple.bodies.voxel.sweep.bricks import Layout
from supple.bodies.voxel.touching.surface_contact_kernels import VOXEL, SurfaceRun, end_run, start_run
from supple.bodies.voxel.touching.surface_layout_kernels import (
    are_sound,
    hang_on_voxels,
    share_moments,
    smallest_step,
    turn_mobility,
)
from supple.errors import InputError

Array = np.ndarray
SHARE = 0.8  # of h² K/m + 2 h C/m <= 4 that contacts may use
ROUND_OFF = 1e-9  # of the sum of a contact's weights: zero within a lattice, one towards another body
UNIT = 1e-6  # how far the length of a normal may be from 1
WHERE = "SurfaceContacts"
VECTORS = ("normal", "motion", "slip")
NUMBERS = ("stiffness", "tangential_stiffness", "dashpot", "tangential_dashpot", "friction")


class SurfaceContacts(NamedTuple):
    """k contacts with e entries in all, at the start of an `advance`.

    start (k + 1,): entries of contact m are start[m] to start[m + 1] - 1. voxel (e,): number in the sweep's model.
    local (e, 3) [m]: lever in the voxel's axes. weight (e,): of either sign; the force on positive ones is along
    +normal. normal (k, 3): unit. gap (k,) [m]. motion (k, 3) [m/s]: the other side's part of the relative velocity.
    slip (k, 3) [m]: stretch along the surface. stiffness, tangential_stiffness (k,) [N/m]: normal and tangential;
    dashpot, tangential_dashpot (k,) [N s/m]: likewise. friction (k,): Coulomb's coefficient. mobility (3 k, 3 k)
    [m/s/N]: how the other sides respond; none: they do not. pushed (k, 3) [N]: the forces with which they have their
    motion. rest (k,) [m]: the length of those that are springs, negative for contacts; none: all are contacts. slip of
    a spring is the vector from its second side, with negative weights, to its first; its gap and normal mean nothing.
    joined (j, 3) [m]: the last j are points of other bodies that joints hold, which start there and have no entries.

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
    tangential_stiffness: Array
    dashpot: Array
    tangential_dashpot: Array
    friction: Array
    mobility: Array = np.zeros((0, 0))
    pushed: Array = np.zeros((0, 3))
    rest: Array = np.zeros(0)
    joined: Array = np.zeros((0, 3))

    def plain(self) -> SurfaceContacts:
        """The same, all arrays as kernels take them."""
        start, voxel, *others = self
        numbers = (np.ascontiguousarray(part, dtype=float) for part in others)
        return SurfaceContacts(
            np.ascontiguousarray(start, dtype=np.int64), np.ascontiguousarray(voxel, dtype=np.int64), *numbers
        )

    @property
    def rest_lengths(self) -> Array:
        """rest, with -1 for contacts where it is not given, (k,)."""
        return np.asarray(self.rest, dtype=float) if len(self.rest) else np.full(len(self.gap), -1.0)

    @property
    def springs(self) -> tuple[Array, Array]:
        """The stiffest spring and dashpot of each contact, (k,) [N/m] and [N s/m]."""
        rubs = np.asarray(self.friction) > 0
        k = np.maximum(self.stiffness, np.where(rubs, self.tangential_stiffness, 0.0))
        return k, np.maximum(self.dashpot, np.where(rubs, self.tangential_dashpot, 0.0))

    def compliance(self, constant: Array) -> float:
        """|k^1/2 G k^1/2| [1/s] with constants k (k,) [N/m], or the like of dashpots [-]; 0 where no side responds."""
        if not len(self.mobility) or not constant.any():
            return 0.0
        k = np.repeat(constant, 3)
        return float(np.sqrt(np.sum(k[:, None] * k * np.square(self.mobility))))


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
        plain = contacts.plain()
        check_contacts(plain, len(layout.brick))
        return cls(plain, np.array(layout.axes), make_run(plain, layout))

    def __bool__(self) -> bool:
        return len(self.run.gap) > 0

    def begin(self, state: Array) -> None:
        """Forget what became of the contacts before, and begin at a state in bricks."""
        if self:
            start_run(state, in_axes(self.contacts.slip, self.axes), self.run)

    def end(self, state: Array) -> None:
        """Bring gaps and slips to the state at the end of the steps."""
        if self:
            end_run(state, self.run)

    def turned_back(self, values: Array) -> Array:
        """Vectors (k, 3) from the axes of the sweep to the world's."""
        found = np.empty_like(values)
        found[:, self.axes] = values
        return found


def in_axes(values: Array, axes: Array) -> Array:
    """Vectors (k, 3) in other axes."""
    return np.ascontiguousarray(np.asarray(values, dtype=float)[:, axes])


def check_contacts(contacts: SurfaceContacts, voxel_count: int) -> None:
    """Refuse plain contacts whose arrays do not fit together, or are of no use to the law."""
    if not (_fit_together(contacts) and are_sound(contacts, voxel_count, UNIT)):
        _refuse(contacts, voxel_count)


def _shapes(contacts: SurfaceContacts) -> dict[str, tuple[int, ...]]:
    """Of the arrays that each contact or entry has a value in."""
    count, entries = len(contacts.gap), len(contacts.voxel)
    shapes: dict[str, tuple[int, ...]] = {"local": (entries, 3), "weight": (entries,)}
    return shapes | dict.fromkeys(VECTORS, (count, 3)) | dict.fromkeys(("gap", *NUMBERS), (count,))


def _fit_together(contacts: SurfaceContacts) -> bool:
    """Whether all arrays have the shapes they should have."""
    count = len(contacts.gap)
    responding = np.shape(contacts.mobility), np.shape(contacts.pushed)
    return (
        np.shape(contacts.start) == (count + 1,)
        and all(np.shape(getattr(contacts, name)) == shape for name, shape in _shapes(contacts).items())
        and responding in (((0, 0), (0, 3)), ((3 * count, 3 * count), (count, 3)))
        and np.shape(contacts.rest) in ((0,), (count,))
    )


def _refuse(contacts: SurfaceContacts, voxel_count: int) -> None:
    """Say what is wrong."""
    start, voxel = np.asarray(contacts.start), np.asarray(contacts.voxel)
    count, entries = len(np.asarray(contacts.gap)), len(voxel)
    alone = np.arange(count) >= count - len(contacts.joined)
    ordered = start.shape == (count + 1,) and start[0] == 0 and start[-1] == entries
    ordered = ordered and ((np.diff(start) > 0) ^ alone).all()
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
    for name, shape in _shapes(contacts).items():
        values = np.asarray(getattr(contacts, name))
        if values.shape != shape or not np.isfinite(values).all():
            raise InputError(f"{name} is not finite numbers", where=WHERE, value=values.shape, allowed=str(shape))
        if name in NUMBERS and (values < 0).any():
            raise InputError(f"{name} is negative", where=WHERE, value=float(values.min()), allowed=">= 0")
    given: tuple[Any, ...] = (np.shape(contacts.mobility), np.shape(contacts.pushed))
    if given not in (((0, 0), (0, 3)), ((3 * count, 3 * count), (count, 3))):
        raise InputError(
            "mobility and pushed are not of all contacts",
            where=WHERE,
            value=given,
            allowed=f"({3 * count}, {3 * count}) and ({count}, 3), or neither",
        )
    if np.shape(contacts.rest) not in ((0,), (count,)) or not np.isfinite(contacts.rest).all():
        raise InputError(
            "rest is not finite numbers", where=WHERE, value=np.shape(contacts.rest), allowed=f"({count},)"
        )
    if not (np.isfinite(contacts.mobility).all() and np.isfinite(contacts.pushed).all()):
        raise InputError("mobility or pushed is not finite", where=WHERE, allowed="finite numbers")
    length = np.linalg.norm(contacts.normal, axis=1)
    if (np.abs(length - 1) > UNIT).any():
        raise InputError("a normal is not a unit vector", where=WHERE, value=float(length.min()), allowed="length 1")
    if ((np.asarray(contacts.friction) > 0) & (np.asarray(contacts.tangential_stiffness) == 0)).any():
        raise InputError(
            "friction needs a spring that holds", where=WHERE, value=0.0, allowed="tangential_stiffness > 0 N/m"
        )


def make_run(contacts: SurfaceContacts, layout: Layout) -> SurfaceRun:
    """The contacts in the axes and places of a layout, with workspace for what becomes of them."""
    axes, sizes = np.array(layout.axes), (STATE, LOADS, layout.lanes)
    count, entries = len(contacts.gap), len(contacts.voxel)
    touched, place, load_place = np.empty((3, entries), dtype=np.int64)
    voxels = hang_on_voxels(contacts.voxel, layout.brick, layout.lane, sizes, touched, place, load_place)
    mobility = np.empty_like(contacts.mobility)
    turn_mobility(contacts.mobility, axes, mobility)
    turned, is_inner = np.empty(entries), np.empty(count, dtype=bool)
    share_moments(contacts.start, contacts.weight, ROUND_OFF, turned, is_inner)
    constants = (
        contacts.stiffness,
        contacts.tangential_stiffness,
        contacts.dashpot,
        contacts.tangential_dashpot,
        contacts.friction,
    )
    return SurfaceRun(
        start=contacts.start,
        touched=touched,
        local=in_axes(contacts.local, axes),
        weight=contacts.weight,
        turned=turned,
        is_inner=is_inner,
        normal=in_axes(contacts.normal, axes),
        motion=in_axes(contacts.motion, axes),
        gap=contacts.gap,
        constants=np.array(constants, dtype=float).T.copy(),
        rest=contacts.rest_lengths.copy(),
        place=place[:voxels],
        load_place=load_place[:voxels],
        mobility=mobility,
        pushed=in_axes(contacts.pushed, axes),
        heed=np.array([1 / (1 + contacts.compliance(contacts.springs[1]))]),
        origin=np.zeros((voxels, 3)),
        first=np.zeros((count, 3)),
        apart=np.zeros((count, 3)),
        steps=np.zeros(1, dtype=np.int64),
        way=np.zeros((count, 3)),
        felt=np.zeros((count, 3)),
        last=np.zeros((count, 3)),
        slip=in_axes(contacts.slip, axes),
        impulse=np.zeros((count, 3)),
        moment=np.zeros((count, 3)),
        mode=np.zeros(count, dtype=np.int64),
        depth=np.zeros(count),
        gap_end=contacts.gap.copy(),
        force=np.zeros((count, 3)),
        rate=np.zeros(3 * count),
        voxels=np.zeros((voxels, VOXEL)),
        levers=np.zeros((entries, 3)),
        loads=np.zeros((voxels, LOADS)),
    )


def contact_step_limit(
    contacts: SurfaceContacts, model: VoxelModel, *, held: ArrayLike = (), beside: float = np.inf
) -> float:
    """The largest step [s] that contacts allow beside the lattice's own; infinite where they touch nothing free.

    held: numbers of voxels that do not move. beside [s]: the largest stable step of the lattice without them, in one
    stage. The contacts are those that a sweep has taken, and checked.
    """
    c, (k, damping) = contacts.plain(), contacts.springs
    twice = np.where(np.asarray(contacts.dashpot) > 0, 2.0, 1.0) * k  # a dashpot may double a spring, see the law
    inertia, still = (model.mass, model.inertia), np.asarray(held, dtype=np.int64)
    limit = smallest_step(c.start, c.voxel, c.local, c.weight, (k, damping, twice), *inertia, still, SHARE, beside)
    compliance = contacts.compliance(twice)
    return min(limit, 1 / compliance) if compliance > 0 else limit
