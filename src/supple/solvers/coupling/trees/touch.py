"""The points of a tree that contacts, springs and joints couple to other bodies in one step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.threefold import Rows, SparseRows, pulled, threefold
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.scene.slots import Slot
from supple.solvers.coupling.joint_rows import CoupledJoints
from supple.solvers.coupling.meeting import Meeting

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TreeTouch:
    """The points of a tree that are coupled, (p,), the weights (3 k, 3 p) by which laws see their velocities, and the
    rows (m, 3 p) of joints across parts on them. is_touching, is_pulled: whether contacts, other laws are among these.
    """

    points: DomainPoints
    weights: Rows
    joints: Rows
    is_touching: bool
    is_pulled: bool

    @classmethod
    def of(cls, slot: Slot, meeting: Meeting) -> TreeTouch | None:
        """None where nothing touches the tree."""
        sources: list[DomainPoints] = []
        weights: list[Any] = []
        joints: list[Any] = []
        k, m = 3 * meeting.count, 0 if meeting.joints is None else meeting.joints.count

        def add(points: DomainPoints, on_laws: Any, on_rows: Any) -> None:
            sources.append(points)
            weights.append(SparseRows.empty(k, 3 * points.count) if on_laws is None else on_laws)
            joints.append(SparseRows.empty(m, 3 * points.count) if on_rows is None else on_rows)

        touching = _touching(slot, meeting)
        if touching is not None:
            add(*touching, None)
        start = 3 * meeting.contact_count
        for coupled in meeting.coupled:
            place = sparse.eye_array(k, 3 * coupled.size, k=-start)
            for leaf, M in coupled.points.hanging_on(slot):
                add(leaf.mapping, place @ coupled.W @ M, None)  # type: ignore[arg-type]
            start += 3 * coupled.size
        is_pulled = len(sources) > (touching is not None)
        for leaf, rows in [] if meeting.joints is None else meeting.joints.on(slot):
            add(leaf.mapping, None, rows)  # type: ignore[arg-type]
        if not sources:
            return None
        model = slot.node.body.model
        points = merged(model, tuple(sources)) if touching is not None else _kept(model, tuple(sources))
        return cls(points, _beside(weights), _beside(joints), touching is not None, is_pulled)

    def with_joints(self, slot: Slot, joints: CoupledJoints) -> TreeTouch:
        """With the rows of joints as they are at another instant."""
        rows = [rows for _, rows in joints.on(slot)]
        others = self.joints.shape[1] - sum(part.shape[1] for part in rows)
        return replace(self, joints=_beside([sparse.csr_array((joints.count, others)), *rows]))

    def forces(self, pushes: Array, held: Array) -> Array:
        """Forces (p, 3) [N] on the points of those on the first sides of laws, (k, 3), and on rows of joints, (m,)."""
        by_laws = pulled(self.weights, pushes.ravel())
        return np.asarray(by_laws + pulled(self.joints, held) if len(held) else by_laws).reshape(-1, 3)


def _beside(parts: list[Any]) -> Rows:
    if len(parts) == 1:
        return parts[0]
    return sparse.csr_array(sparse.hstack([p.to_scipy() if isinstance(p, SparseRows) else p for p in parts]))


def _touching(slot: Slot, meeting: Meeting) -> tuple[DomainPoints, SparseRows] | None:
    """The points of a tree that are in contact, and the weights (3 k, 3 p) by which the contacts see them."""
    rows, vertices, shares, start = [], [], [], 0
    for contact, s in zip(meeting.bound, meeting.sets):
        if slot.name in contact.names[: len(contact.slots)]:
            number = contact.names.index(slot.name)
            m, j = np.nonzero((s.points >= contact.starts[number]) & (s.points < contact.starts[number + 1]))
            numbers = contact.numbers[number]
            rows.append(start + m)
            vertices.append(numbers[s.points[m, j] - contact.starts[number]])
            shares.append(s.weights[m, j])
        start += s.size
    if not rows or not sum(len(r) for r in rows):
        return None
    row, vertex, share = (np.concatenate(part) for part in (rows, vertices, shares))
    used, column = np.unique(vertex, return_inverse=True)
    order = np.lexsort((column, row))
    ptr = np.searchsorted(row[order], np.arange(meeting.count + 1))
    weights = threefold(SparseRows(ptr, column[order], share[order], (meeting.count, len(used))))
    return slot.node.body.point_mapping(used), weights


@lru_cache(maxsize=32)
def _kept(model: TreeModel, sources: tuple[DomainPoints, ...]) -> DomainPoints:
    """The same points in every step: those of springs and joints."""
    return merged(model, sources)


def merged(model: TreeModel, sources: tuple[DomainPoints, ...]) -> DomainPoints:
    """Points of several sets on one tree, one after another."""
    if len(sources) == 1:
        return sources[0]
    domains, X, U = [], [], []
    for points in sources:
        chain = points.chain
        domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
        number = chain.first[domain] + np.arange(points.hung) - chain.places[domain]
        domains.append(domain)
        X.append(chain.X[number])
        U.append(chain.U[number])
    domain = np.concatenate(domains)
    order = np.argsort(domain, kind="stable")
    own = [(SparseRows.unit(p.hung) if p.weights is None else p.weights) for p in sources]
    blocks = [w.to_scipy() if isinstance(w, SparseRows) else w for w in own]
    weights = sparse.csr_array(sparse.block_diag(blocks, format="csr")[:, order])
    return DomainPoints.on(model, domain[order], np.concatenate(X)[order], [*np.concatenate(U)[order]], weights)
