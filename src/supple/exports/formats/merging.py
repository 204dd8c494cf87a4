"""Which domains of a tree get a joint, where there are more than joints may be: small and stiff branches are merged.

A domain without a joint moves with the nearest of those it hangs on that has one. Frame j carries the vertices of
domain d as a rigid body; how far these then are from where they were is a sum over frames t,

    e(d, j) = sum_t sum_i |R_j(t) X_i + p_j(t) - x_i(t)|²

which follows from moments of the vertices: of X, of x(t), and of both together. Joints are given up one by one, each
time the one whose loss adds least to the sum of all errors.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Moments:
    """Of the vertices of domains at rest, X, and at frames, x. count (d,); X (d, 3), x (f, d, 3): means [m]; mixed
    (f, d, 3, 3): sums of x X^T about the means [m²]; size (f, d): sums of |X|² + |x|² about them [m²]."""

    count: Array
    X: Array
    x: Array
    mixed: Array
    size: Array

    @classmethod
    def of(cls, trained: Array, labels: Array, domains: int) -> Moments:
        """trained (f, n, 3) [m], the first at rest; labels (n,): the domain of each vertex."""
        count = np.bincount(labels, minlength=domains)
        share = np.maximum(count, 1)[:, None]

        def sums(values: Array) -> Array:
            return np.stack([np.bincount(labels, column, domains) for column in values.T], axis=1)

        X = sums(trained[0]) / share
        local = trained[0] - X[labels]
        own = sums(np.sum(local * local, axis=1)[:, None])[:, 0]
        means, mixed, size = [], [], []
        for x in trained:
            means.append(sums(x) / share)
            away = x - means[-1][labels]
            mixed.append(sums((away[:, :, None] * local[:, None, :]).reshape(-1, 9)).reshape(-1, 3, 3))
            size.append(own + sums(np.sum(away * away, axis=1)[:, None])[:, 0])
        return cls(count, X, np.array(means), np.array(mixed), np.array(size))

    def error(self, domain: Array, R: Array, p: Array) -> Array:
        """Sum over frames of the squared distances [m²] of the vertices of domains (k,) that rigid motions R
        (f, k, 3, 3), p (f, k, 3) carry."""
        off = np.einsum("fkij,kj->fki", R, self.X[domain]) + p - self.x[:, domain]
        turned = np.einsum("fkij,fkij->fk", R, self.mixed[:, domain])
        found = self.count[domain] * np.sum(off * off, axis=2) + self.size[:, domain] - 2 * turned
        return np.asarray(np.maximum(found, 0.0).sum(axis=0))


def merged_joints(moments: Moments, parents: Array, R: Array, p: Array, most: int) -> Array:
    """The domain whose frame each follows, (d,): its own or that of one it hangs on; at most so many of them. parents
    (d,): of each domain, an earlier one or -1; R (f, d, 3, 3), p (f, d, 3): the motions of their frames from rest."""
    domains = np.arange(len(parents))
    chains: list[list[int]] = []
    for d, parent in enumerate(parents.tolist()):
        chains.append([d] if parent < 0 else [d, *chains[parent]])
    pairs = [(d, j) for d, chain in enumerate(chains) for j in chain]
    of, by = np.array(pairs).T
    error = dict(zip(pairs, moments.error(of, R[:, by], p[:, by]).tolist()))
    above, below = parents.astype(np.int64).tolist(), [set[int]() for _ in domains]
    members = [[int(d)] for d in domains]
    for d, parent in enumerate(above):
        if parent >= 0:
            below[parent].add(d)

    def loss(j: int) -> float:
        return sum(error[d, above[j]] - error[d, j] for d in members[j])

    newest = [loss(j) if above[j] >= 0 else np.inf for j in domains.tolist()]
    queue = [(value, j) for j, value in enumerate(newest) if above[j] >= 0]
    heapq.heapify(queue)
    kept = len(domains)
    while kept > most and queue:
        value, j = heapq.heappop(queue)
        if newest[j] != value:
            continue  # told anew since, or gone
        up = above[j]
        newest[j] = np.nan
        members[up] += members[j]
        below[up] = (below[up] - {j}) | below[j]
        for child in below[j]:
            above[child] = up
        changed = [*below[j], *([up] if above[up] >= 0 else [])]
        members[j], below[j], kept = [], set(), kept - 1
        for k in changed:
            newest[k] = loss(k)
            heapq.heappush(queue, (newest[k], k))
    out = np.empty(len(domains), dtype=np.int64)
    for j, group in enumerate(members):
        out[group] = j
    return out
