"""The arrays of `acting_kernels`: the domains on which something acts, and those that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.domains.constants import aligned_zeros
from supple.bodies.tree.domains.layout import SIX
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints, bare_chain
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames
from supple.bodies.tree.surface.moving_kernels import ROWS, SLOT
from supple.scene.acting.wind import Wind
from supple.solvers.coupling.trees.acting_kernels import Acting
from supple.solvers.coupling.trees.wind_kernels import PATCH, Blown, Winds

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class HungPoints:
    """Points on single domains: domain (p,), ascending; X (p, 3) [m]; U (p, 3, most); weight (p,): share of a load."""

    domain: Array
    X: Array
    U: Array
    weight: Array

    @classmethod
    def all(cls, points: DomainPoints) -> HungPoints:
        """All that hang on domains."""
        chain = points.chain
        domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
        at = chain.first[domain] + np.arange(len(domain)) - chain.places[domain]
        return cls(domain, chain.X[at], chain.U[at], np.ones(len(domain)))

    @classmethod
    def mean(cls, points: DomainPoints, W: sparse.csr_array) -> HungPoints:
        """One point a domain: where the mean of a load's points is of those that hang on it."""
        hung, share = cls.all(points), W @ np.full(W.shape[1], 1.0 / W.shape[1])
        weight = share if points.weights is None else points.weights.T @ share
        domains = np.unique(hung.domain[weight > 0])
        parts = [np.where(hung.domain == d, weight, 0.0) for d in domains]
        totals = np.array([part.sum() for part in parts])
        shares = np.array(parts) / totals[:, None]
        return cls(domains, shares @ hung.X, np.einsum("dp,pil->dil", shares, hung.U), totals)


def pack(body: TreeBody, parts: Sequence[HungPoints]) -> ByAddress:
    """Loads on a tree, with scratch: on hung points, in the order of the domains."""
    model, most = body.model, max(1, *(c.count for c in body.model.classes))
    domain = np.concatenate([np.zeros(0, dtype=np.int64), *(part.domain for part in parts)])
    order = np.argsort(domain, kind="stable")
    X = np.concatenate([np.zeros((0, 3)), *(part.X for part in parts)])[order]
    U = np.concatenate([np.zeros((0, 3, most)), *(_widened(part.U, most) for part in parts)])[order]
    kept = _carrying(model, np.unique(domain))
    places = np.searchsorted(domain[order], [*kept, model.domain_count])
    sizes = np.diff(model.q_starts)
    number = np.concatenate([np.zeros(0, dtype=np.int64), *(model.q_starts[d] + np.arange(sizes[d]) for d in kept)])
    chain = _chosen(bare_chain(model), kept, sizes)._replace(first=places[:-1], places=places, X=X, U=U)
    d, n, p = len(kept), len(number), len(X)
    acting = Acting(
        chain, number, body.dynamics.places[number],
        np.zeros(n), np.zeros(n), np.zeros(7), np.zeros(6), np.zeros(n), np.zeros(6),
        Frames.empty(d), np.zeros((p, 3)), np.zeros((d, 6)),
    )  # fmt: skip
    return ByAddress(acting)


def _widened(U: Array, most: int) -> Array:
    return np.concatenate([U[:, :, :most], np.zeros((len(U), 3, max(0, most - U.shape[2])))], axis=2)


def _carrying(model: TreeModel, domains: Array) -> Array:
    """Domains with all those that they hang on, ascending; the root among them."""
    found = {0}
    for d in domains.tolist():
        while d not in found:
            found.add(d)
            d = int(model.parent[d])
    return np.array(sorted(found))


def _chosen(chain: Chain, kept: Array, sizes: Array) -> Chain:
    """The chain of some domains, their coordinates one after another."""
    place = np.full(len(chain.parent), -1)
    place[kept] = np.arange(len(kept))
    return chain._replace(
        parent=np.where(chain.parent[kept] >= 0, place[chain.parent[kept]], -1),
        fit=chain.fit[kept],
        start=np.concatenate([[0], np.cumsum(sizes[kept])]),
        scale=chain.scale[kept],
    )


def pack_winds(body: TreeBody, winds: Sequence[Wind]) -> ByAddress:
    """Winds on a tree, with scratch."""
    model, tree = body.model, body.dynamics.arrays
    groups, slots, n = len(tree.group_class), int(tree.group_slot[-1]), int(tree.group_q[-1])
    classes = _class_patches(body) if winds else []
    count, first = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
    shared, own, number, rows = [np.zeros(0)], [np.zeros((0, LANES))], 0, 0
    starts: dict[int, int] = {}
    for g in range(groups if winds else 0):
        kind = int(tree.group_class[g])
        if kind < len(model.classes):
            count[g] = len(classes[kind])
            if kind not in starts:
                starts[kind] = number
                shared.append(classes[kind].ravel())
                number += classes[kind].size
            first[g] = starts[kind]
            continue
        lanes = [classes[c] for c in tree.lane_class[g * LANES : (g + 1) * LANES]]
        count[g], first[g] = max(map(len, lanes)), rows
        own.append(np.stack([_filled(part, int(count[g]), 1 + int(tree.class_r[kind])) for part in lanes], axis=-1))
        rows += len(own[-1])
    blown = Blown(
        _winds(winds),
        count,
        first,
        np.concatenate(shared),
        np.concatenate(own),
        *map(aligned_zeros, (n, n, 7, 6, n, SIX * LANES * groups, SLOT * slots, SLOT * LANES, ROWS * LANES)),
    )
    return ByAddress(blown)


def _class_patches(body: TreeBody) -> list[Array]:
    """Of each class, (patches, 1 + r, PATCH): at rest, and by each coordinate."""
    chain, model = body.wind_patches.points.chain, body.model
    out = []
    for number, kind in enumerate(model.classes):
        members = model.members(number)
        d = int(members[0]) if len(members) else 0
        at = slice(
            int(chain.first[d]), int(chain.first[d] + (chain.places[d + 1] - chain.places[d]) * len(members[:1]))
        )
        rest = _shapes(chain.X[at].reshape(-1, 3, 3))
        by = _shapes(chain.U[at].reshape(len(rest), 3, 3, -1))[..., : kind.count]
        out.append(np.concatenate([rest[:, None], by.transpose(0, 2, 1)], axis=1))
    return out


def _filled(patches: Array, count: int, rows: int) -> Array:
    """Patches of a class, filled up with zeros to so many of so many rows, flat."""
    out = np.zeros((count, rows, PATCH))
    out[: len(patches), : patches.shape[1]] = patches
    return out.ravel()


def _shapes(corners: Array) -> Array:
    """Centroids and two edges (t, 9, ...) of corners (t, 3, 3, ...)."""
    centre, first = corners.mean(axis=1), corners[:, 0]
    return np.concatenate([centre, corners[:, 1] - first, corners[:, 2] - first], axis=1)


def _winds(winds: Sequence[Wind]) -> Winds:
    flows = [wind.flow for wind in winds]
    return Winds(
        np.array([0.5 * wind.density * wind.drag for wind in winds], dtype=float),
        np.array([float(wind.two_sided) for wind in winds], dtype=float),
        np.array([flow.U for flow in flows], dtype=float).reshape(-1, 3),
        np.concatenate([[0], np.cumsum([len(flow.phase) for flow in flows], dtype=np.int64)]).astype(np.int64),
        np.concatenate([np.zeros((0, 3)), *(flow.k for flow in flows)]),
        np.concatenate([np.zeros((0, 3)), *(flow.a for flow in flows)]),
        np.concatenate([np.zeros(0), *(flow.phase for flow in flows)]),
    )
