"""The arrays of `acting_kernels`: the domains on which something acts, and those that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.by_address import ByAddress
from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints, bare_chain
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames
from supple.scene.acting.wind import Wind
from supple.solvers.coupling.trees.acting_kernels import SHAPE, Acting, Patches, Winds

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


def pack(body: TreeBody, parts: Sequence[HungPoints], winds: Sequence[Wind]) -> ByAddress:
    """What acts on a tree, with scratch: loads on hung points, in the order of the domains, and winds."""
    model, most = body.model, max(1, *(c.count for c in body.model.classes))
    domain = np.concatenate([np.zeros(0, dtype=np.int64), *(part.domain for part in parts)])
    order = np.argsort(domain, kind="stable")
    X = np.concatenate([np.zeros((0, 3)), *(part.X for part in parts)])[order]
    U = np.concatenate([np.zeros((0, 3, most)), *(_widened(part.U, most) for part in parts)])[order]
    kept = np.arange(model.domain_count) if winds else _carrying(model, np.unique(domain))
    places = np.searchsorted(domain[order], [*kept, model.domain_count])
    sizes = np.diff(model.q_starts)
    number = np.concatenate([np.zeros(0, dtype=np.int64), *(model.q_starts[d] + np.arange(sizes[d]) for d in kept)])
    chain = _chosen(bare_chain(model), kept, sizes)._replace(first=places[:-1], places=places, X=X, U=U)
    d, n, p = len(kept), len(number), len(X)
    patches = _patches(body.model, body.wind_patches.points) if winds else _no_patches(d)
    t = int(patches.places[-1])
    acting = Acting(
        chain, patches, _winds(winds), number, body.dynamics.places[number],
        np.zeros(n), np.zeros(n), np.zeros(7), np.zeros(6), np.zeros(n), np.zeros(6),
        Frames.empty(d), np.zeros((d, 3)), np.zeros((d, 3)), np.zeros((p, 3)), np.zeros((d, 6)),
        *(np.zeros((t, 3)) for _ in range(5)),
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


def _no_patches(count: int) -> Patches:
    none = np.zeros(count + 1, dtype=np.int64)
    return Patches(none, none[:-1], np.zeros(0), none[:0], np.zeros(0))


def _patches(model: TreeModel, found: DomainPoints) -> Patches:
    """Triangles of three corners each, one after another, as centroids and edges."""
    chain, r = found.chain, np.zeros(len(found.chain.X) // 3, dtype=np.int64)
    for d in range(model.domain_count):
        rows = np.arange(chain.places[d], chain.places[d + 1], 3) - chain.places[d] + chain.first[d]
        r[rows // 3] = chain.start[d + 1] - chain.start[d]
    mode = np.concatenate([[0], np.cumsum(r)])
    rest, modes = np.zeros((len(r), SHAPE)), np.zeros((int(mode[-1]), SHAPE))
    rest[:, :9] = _shapes(chain.X.reshape(-1, 3, 3))
    by_mode = _shapes(chain.U.reshape(len(r), 3, 3, -1))
    for m in range(len(r)):
        modes[mode[m] : mode[m + 1], :9] = by_mode[m, :, : r[m]].T
    return Patches(chain.places // 3, chain.first // 3, rest.ravel(), mode[:-1], modes.ravel())


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
