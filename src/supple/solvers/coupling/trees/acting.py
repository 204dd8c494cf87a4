"""What acts on the points of one tree as data of a kernel: loads that are given in time, and winds.

They are those in the middle of a call, see `acting_kernels`.

Where a load is the same on all its points, it acts on their mean: one point a domain. Loads are asked for many steps
ahead, winds are found by the kernel. A step alone asks the same kernel, so that both have the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.dense import rotations
from supple.algebra.sparse.threefold import pulled
from supple.bodies.mappings import WeightedPoints
from supple.bodies.protocols import GivenForce
from supple.bodies.tree.domains.layout import SIX
from supple.bodies.tree.dynamics import StrideKernel
from supple.bodies.tree.surface.domain_points import DomainPoints, bare_chain
from supple.bodies.tree.surface.kinematics_kernels import Frames
from supple.scene.acting.loads import Load
from supple.scene.acting.wind import Wind
from supple.scene.slots import Slot
from supple.scene.system import BoundForce
from supple.solvers.coupling.trees import acting_kernels as kernels
from supple.solvers.coupling.trees import wind_kernels as winds
from supple.solvers.coupling.trees.acting_arrays import HungPoints, pack, pack_winds

Array = np.ndarray


class Pulled(NamedTuple):
    """Forces (1, v_width) on the coordinates; push (6,): those on the root as force at its origin and torque, in world
    axes, where it is known; wrenches (d, 6): torque about and force at each domain's origin, in its axes, beside."""

    forces: Array
    push: Array | None
    wrenches: Array | None = None


class Hung(NamedTuple):
    """Points on domains that loads act on: the mean of each load's, then all points of those that were uneven once, by
    their numbers. places: of the points of each among all, in the order of the domains; weights: shares of a load."""

    uneven: list[int]
    places: list[Array]
    weights: list[Array]
    acting: ByAddress
    blown: ByAddress


@dataclass(eq=False)
class TreeActing:
    """Loads and winds on one tree. points: of each load, those of the tree and how the load's own follow from them,
    transposed. uneven: numbers of loads that were not the same on all their points once."""

    body: Slot
    loads: list[GivenForce] = field(default_factory=list)
    points: list[tuple[DomainPoints, sparse.csr_array]] = field(default_factory=list)
    winds: list[Wind] = field(default_factory=list)
    uneven: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._kept: Hung | None = None

    def add(self, bound: BoundForce) -> bool:
        """Take a load or a wind; False where it is of another kind, or not on points of this tree alone."""
        if type(bound.force) is Wind and isinstance(bound.slot.mapping, DomainPoints):
            self.winds.append(bound.force)
            return True
        mapping, W = points_of(bound)
        if mapping is None or W is None:
            return False
        self.loads.append(bound.force)  # type: ignore[arg-type]
        self.points.append((mapping, W))
        return True

    def prepare(self) -> None:
        """Lay out what the kernels read; else the first call does."""
        _ = self._hung

    def at(self, t: float, x: Array, v: Array, dt: float) -> Pulled:
        """In a call of dt [s] from time t [s], coordinates x and rates v (1, width)."""
        forces, body = self._forces([t], dt)[0], self.body.node.body
        n, out, push = body.model.coordinate_count, np.zeros((1, self.body.coordinates.v_width)), np.zeros(6)
        wrenches = None
        if self.winds:
            tree, blown = body.dynamics, self._blown.value
            q, rates = np.zeros((2, len(blown.q)))
            q[tree.places], rates[tree.places] = x[0, 7 : 7 + n], v[0, 6 : 6 + n]
            blown.frame[:], blown.velocity[:] = x[0, :7], v[0, :6]
            winds.look_ahead(self._blown, q, rates, 0.5 * dt)
            winds.blow(self._tree, self._blown, float(t) + 0.5 * dt)
            out[0, 6 : 6 + n], wrenches = blown.Q[tree.places], blown.wrench.reshape(-1, SIX)[tree.lanes, :6]
        if len(forces):
            acting = self._acting.value
            acting.q[:], acting.v[:] = x[0, 7 : 7 + n][acting.number], v[0, 6 : 6 + n][acting.number]
            acting.frame[:], acting.velocity[:] = x[0, :7], v[0, :6]
            kernels.find_forces(self._acting, forces, 0.5 * dt)
            out[0, 6 + acting.number] += acting.Q
            push[:] = acting.push
        out[0, :3], out[0, 3:6] = push[:3], rotations.rotate_inverse(x[0, 3:7], push[3:])
        return Pulled(out, push, wrenches)

    def on_coordinates(self, t: float, x: Array, v: Array, dt: float) -> Array:
        """The same as forces (1, v_width) on the coordinates alone, wrenches brought there by virtual work."""
        forces, _, wrenches = self.at(t, x, v, dt)
        if wrenches is None:
            return forces
        model, blown = self.body.node.body.model, self._blown.value
        chain, n, push = bare_chain(model), model.coordinate_count, np.zeros(6)
        q = blown.q[self.body.node.body.dynamics.places]
        Q = forces[0, 6 : 6 + n].copy()
        kernels.pull_wrenches(chain, self._frames, q, blown.frame, wrenches, Q, push)
        forces[0, :3] += push[:3]
        forces[0, 3:6] += rotations.rotate_inverse(x[0, 3:7], push[3:])
        forces[0, 6 : 6 + n] = Q
        return forces

    def ahead(self, starts: Sequence[float], dt: float) -> ActingAhead:
        """In calls of dt [s] that begin at these times [s]."""
        return ActingAhead(self, np.array(starts, dtype=float), self._forces(starts, dt), dt)

    @property
    def _acting(self) -> ByAddress:
        return self._hung.acting

    @cached_property
    def _frames(self) -> Frames:
        """Scratch."""
        return Frames.empty(self.body.node.body.model.domain_count)

    @property
    def _blown(self) -> ByAddress:
        return self._hung.blown

    @property
    def _tree(self) -> ByAddress:
        return self.body.node.body.dynamics.handed()[0]

    @property
    def _hung(self) -> Hung:
        if self._kept is None or self._kept.uneven != sorted(self.uneven):
            self._kept = self._laid_out(sorted(self.uneven))
        return self._kept

    def _laid_out(self, uneven: list[int]) -> Hung:
        parts = [HungPoints.mean(points, W) for points, W in self.points]
        parts += [HungPoints.all(self.points[k][0]) for k in uneven]
        domain = np.concatenate([np.zeros(0, dtype=np.int64), *(part.domain for part in parts)])
        place = np.argsort(np.argsort(domain, kind="stable"), kind="stable")
        starts = np.cumsum([0, *(len(part.domain) for part in parts)])
        places = [place[a:b] for a, b in pairwise(starts)]
        weights = [part.weight[:, None] for part in parts]
        body = self.body.node.body
        return Hung(uneven, places, weights, pack(body, parts), pack_winds(body, self.winds))

    def _forces(self, starts: Sequence[float], dt: float) -> Array:
        """Forces on all hung points in the middle of calls of dt [s] that begin at these times [s], (starts, p, 3) [N],
        in the order of the domains."""
        given = [[_even(load, t + 0.5 * dt) for t in starts] for load in self.loads]
        self.uneven |= {k for k, row in enumerate(given) if any(len(f) > 1 for f in row)}
        hung, count = self._hung, len(self.loads)
        out = np.zeros((len(starts), len(hung.acting.value.y), 3))
        for k, row in enumerate(given):
            if all(len(f) == 1 for f in row):
                out[:, hung.places[k]] = hung.weights[k] * np.array(row)
                continue
            for call, f in enumerate(row):
                if len(f) == 1:
                    out[call, hung.places[k]] = hung.weights[k] * f
                else:
                    points, W = self.points[k]
                    each = W @ f if points.weights is None else pulled(points.weights, W @ f)
                    out[call, hung.places[count + hung.uneven.index(k)]] = each
        return out


def _even(load: GivenForce, t: float) -> Array:
    """The sum of a load at time t where it is the same on all its points, (1, 3) [N]; else on each of them."""
    f = load.given(t) if isinstance(load, Load) else load.values(t)
    if f.ndim == 1:
        return f[None]
    return len(f) * f[:1] if (f == f[0]).all() else f


@dataclass(frozen=True, eq=False)
class ActingAhead:
    """What acts in calls of dt [s] that begin at given times [s]."""

    acting: TreeActing
    starts: Array
    forces: Array
    dt: float

    def since(self, call: int) -> StrideKernel:
        """In the calls from this one on, as `TreeBody.stride` takes it."""
        acting = self.acting
        return kernels.acting_stride, (acting._blown, acting._acting, self.forces[call:], self.starts[call:])

    def at(self, call: int, x: Array, v: Array) -> Pulled:
        """In a call from coordinates x and rates v (1, width)."""
        return self.acting.at(float(self.starts[call]), x, v, self.dt)


def by_parts(bound: BoundForce) -> list[BoundForce]:
    """A load or a wind on joined points as one on each part of them, as far as these are of bodies."""
    slot, force = bound.slot, bound.force
    if slot.mapping is not None or not slot.parents or not isinstance(force, Load | Wind):
        return [bound]
    parts = [(k, part) for k, part in enumerate(slot.parents) if part.is_body or part.parents]
    return [BoundForce(bound.label, part, force.restricted([k])) for k, part in parts]


def points_of(bound: BoundForce) -> tuple[DomainPoints | None, sparse.csr_array | None]:
    """The points of a tree whose weighted sums a given load acts on, and these sums transposed; else None."""
    slot, W = bound.slot, None
    if not isinstance(bound.force, GivenForce):
        return None, None
    while isinstance(slot.mapping, WeightedPoints):
        W = slot.mapping.weights if W is None else W @ slot.mapping.weights
        slot = slot.parents[0]
    if not isinstance(slot.mapping, DomainPoints) or (W is not None and W.data.min(initial=1.0) < 0):
        return None, None
    whole = sparse.eye_array(slot.mapping.count, format="csr") if W is None else W
    return slot.mapping, sparse.csr_array(whole.T)
