"""`TreeLook`: what a frame of a run asks of a large tree, found once an instant, by one compiled call.

Energies and momenta, the largest gap between domains, where elements may be inverted, and the frames from which its
surface follows. Small trees find the same for several instants at once (`TreeMeasuring`, `Foreseen`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.constants import aligned_zeros
from supple.bodies.tree.domains.deviation import Deviation, interface_points
from supple.bodies.tree.domains.layout import TreeArrays
from supple.bodies.tree.energy_kernels import WIDTH
from supple.bodies.tree.kinematics import TreeMeasures
from supple.bodies.tree.measuring import pack_measures
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.step.measure_kernels import POSE, TOTALS, MeasureArrays, put_factors, scratch_size
from supple.bodies.tree.surface import look_kernels as kernels
from supple.bodies.tree.surface.moving_kernels import SLOT, MovingFrames
from supple.modal.basis_inversion import BasisInversion

if TYPE_CHECKING:
    from supple.bodies.tree.domains.inversion import TreeInversion
    from supple.bodies.tree.dynamics import TreeDynamics

Array = np.ndarray


class Seen(NamedTuple):
    """measures; gap [m]: the largest; near (k,): domains of which an element may be inverted."""

    measures: TreeMeasures
    gap: float
    near: Array


@dataclass(frozen=True, eq=False)
class TreeLook:
    """Of a tree that is stepped by `tree`. inversion: of its model; has_gaps: whether its largest gap is that of its
    interfaces, see `Deviation`."""

    tree: TreeDynamics
    inversion: TreeInversion
    has_gaps: bool

    @cached_property
    def _look(self) -> ByAddress:
        return ByAddress(_pack(self.tree, self.inversion.kinds, self.has_gaps))

    @cached_property
    def _beyond(self) -> tuple[Deviation, Array]:
        """Domains on groups of several classes, whose gaps are found one by one."""
        model, arrays = self.tree.model, self.tree.arrays
        mixed = arrays.group_class[self.tree.lanes // LANES] >= len(model.classes)
        beyond = np.flatnonzero(mixed[np.maximum(model.parent, 0)] & (model.parent >= 0))
        return Deviation.of(model), beyond[: len(beyond) if self.has_gaps else 0]

    def at(self, x: Array, v: Array) -> Seen:
        """At coordinates x (1, width) and rates v (1, width)."""
        look: kernels.Look = self._look.value
        kernels.see(self.tree.handed()[0], self._look, np.ascontiguousarray(x), np.ascontiguousarray(v))
        self.tree.model.seen_frames.keep(x, look.R, look.o)
        total = look.total.tolist()
        measures = TreeMeasures(total[0], total[1], look.total[2:8].copy(), look.total[8:].copy())
        return Seen(measures, self._gap(x, look), self._near(x, look))

    def _gap(self, x: Array, look: kernels.Look) -> float:
        gap, (deviation, beyond) = float(np.sqrt(look.gap[0])), self._beyond
        if not len(beyond):
            return gap
        T, R = np.empty_like(look.R), look.R.reshape(-1, 3, 3)
        T[beyond] = (R[self.tree.model.parent[beyond]].swapaxes(1, 2) @ R[beyond]).reshape(-1, 9)
        return max(gap, deviation.of_some(x, T, beyond))

    def _near(self, x: Array, look: kernels.Look) -> Array:
        """Domains whose strains are not bounded below one; forms that cover those of a class are made where they are
        first needed."""
        near, model = look.near[: look.near_count[0]].copy(), self.tree.model
        if not len(near):
            return near
        for c in np.unique(model.domain_class[near]).tolist():
            kind = self.inversion.kinds[c]
            if not look.strains.known[c] and kind.can_cover:
                most = look.measures.U_bar.shape[2]
                form = look.strains.covering.reshape(-1, most, most)[c]
                form[: model.classes[c].count, : model.classes[c].count] = kind.covering
                look.strains.known[c] = 1
        return np.sort(near)


def _pack(tree: TreeDynamics, kinds: dict[int, BasisInversion], has_gaps: bool) -> kernels.Look:
    model, arrays, measures = tree.model, tree.arrays, pack_measures(tree.model)
    most, d = measures.U_bar.shape[2], model.domain_count
    moving = MovingFrames.empty(int(arrays.group_q[-1]), int(arrays.group_slot[-1]))
    largest = np.zeros((len(model.classes), most))
    for c, kind in kinds.items():
        largest[c, : len(kind.strains)] = kind.strains
    strains = kernels.Strains(
        largest.ravel(), np.zeros(len(largest) * most * most), np.zeros(len(largest), dtype=np.int64)
    )
    count, widest, near = (np.zeros(size, dtype=np.int64) for size in (1, 2, d))
    rows, scratch, found = (
        aligned_zeros(size) for size in (WIDTH * (2 * most + POSE), scratch_size.py_func(most), 2 * WIDTH * TOTALS)
    )
    return kernels.Look(
        tree.places, SLOT * arrays.parent_slot[tree.lanes].astype(np.int64),
        _items(model, arrays, measures), measures, moving, _gaps(model, arrays, has_gaps), strains,
        np.zeros(TOTALS), np.zeros(1), widest, near, count, np.zeros((d, 9)), np.zeros((d, 3)), rows, scratch, found,
    )  # fmt: skip


def _items(model: TreeModel, arrays: TreeArrays, measures: MeasureArrays) -> kernels.Items:
    """Groups of one class, then the domains of the others, class by class, LANES by LANES; two of a class an item."""
    of_one = arrays.group_class < len(model.classes)
    others = (LANES * np.flatnonzero(~of_one)[:, None] + np.arange(LANES)).ravel()
    others = others[arrays.lane_domain[others] >= 0]
    items: list[tuple[int, list[Array]]] = []
    for c in range(len(model.classes)):
        halves = [LANES * g + np.arange(LANES) for g in np.flatnonzero(arrays.group_class == c).tolist()]
        own = others[model.domain_class[arrays.lane_domain[others]] == c]
        halves += [own[k : k + LANES] for k in range(0, len(own), LANES)]
        items += [(c, halves[k : k + 2]) for k in range(0, len(halves), 2)]
    domain, slot, q_at = (np.zeros((len(items), 2, LANES), dtype=np.int64) for _ in range(3))
    together = np.zeros((len(items), 2), dtype=np.int64)
    factors = np.zeros((len(items), 4 * WIDTH))
    for k, (c, halves) in enumerate(items):
        for h in range(2):
            places = halves[h] if h < len(halves) else halves[0][:0]
            first = np.append(places, np.full(LANES - len(places), halves[0][0]))
            domain[k, h] = np.where(np.arange(LANES) < len(places), arrays.lane_domain[first], -1)
            slot[k, h] = SLOT * arrays.parent_slot[first]
            q_at[k, h] = arrays.group_q[first // LANES] + first % LANES
            together[k, h] = (np.diff(first) == 1).all() and first[0] % LANES == 0
            for b in np.flatnonzero(domain[k, h] >= 0).tolist():
                put_factors.py_func(measures, c, domain[k, h, b], factors[k], LANES * h + b)
    kind = np.array([c for c, _ in items])
    return kernels.Items(kind, together.ravel(), slot.ravel(), q_at.ravel(), domain.ravel(), factors.ravel())


def _gaps(model: TreeModel, arrays: TreeArrays, has_gaps: bool) -> kernels.Gaps:
    start, value, rows, size = [0], [], [np.zeros(0)], 0
    fits = [fit for kind in model.classes for fit in kind.fits] if has_gaps else []
    reach = np.zeros((len(fits), 2 + max(1, *(c.count for c in model.classes))))
    for n, ((D, y, V), fit) in enumerate(zip(interface_points(model), fits)):
        filled = np.append(np.arange(len(D)), np.zeros(-len(D) % kernels.TOGETHER, dtype=np.int64))
        by = V[filled].transpose(0, 2, 1).reshape(len(filled), -1)
        rows.append(np.concatenate([y[filled], D[filled], by], axis=1).ravel())
        value.append(size)
        size += rows[-1].size
        start.append(start[-1] + len(filled))
        left = V - np.einsum("lij,pj->pil", fit.A_modes.reshape(-1, 3, 3), y)
        reach[n, 0] = np.linalg.norm(D - y @ fit.A_rest.reshape(3, 3).T, axis=1).max()
        reach[n, 1] = np.linalg.norm(y, axis=1).max()
        reach[n, 2 : 2 + V.shape[2]] = np.linalg.norm(left, axis=1).max(axis=0)
    used = (np.diff(arrays.child_start) > 0).astype(float)
    return kernels.Gaps(np.array(start), np.array(value, dtype=np.int64), np.concatenate(rows), reach, used)
