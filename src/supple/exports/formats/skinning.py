"""Bones and weights that move a surface nearly as a run did: linear blend skinning, fitted to frames.

    x_i(t) = sum_k w_ik (R_k(t) (X_i - c_k) + c_k(t)),   w >= 0, sum_k w_ik = 1, at most four bones a vertex

Bones are clusters of vertices: the domains of a body, where these are known, or all of it, each cut in half across its
longest axis until its own motion is nearly rigid. Trees whose record says how domains hang on each other have joints at
their frames too, see `tree_joints`. R_k, c_k are the rigid motion nearest to the cluster's (Kabsch);
weights are the least squares ones over some frames, with r_ik(t) = R_k (X_i - c_k) + c_k(t) - x_i(t):

    min_w w^T G w,   G_kl = sum_t r_ik . r_il,   so  w = G^-1 1 / (1^T G^-1 1)  on the bones that stay positive

We leave bones where their clusters move them instead of refining both in turns: joints then stay where the parts are
that they are called after, and each frame is fitted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sparse
from scipy.spatial import KDTree

Array = np.ndarray
INFLUENCES = 4
"""Bones of a vertex."""
CANDIDATES = 8
"""Bones near a cluster, itself among them, of which its vertices may take some."""
STIFF = 0.001
"""Rms distance of a cluster's vertices from a rigid motion, over the body's size, above which it is cut."""
FEWEST = 12
"""Vertices of a cluster that is cut."""
LOOKS = 24
"""Frames that weights are fitted to, at most."""
SAMPLES = 64
"""Vertices of a cluster by which its neighbours are found."""
SMALLEST = 2e-3
"""Weight that is kept."""
REGULAR = 1e-6
"""Part of the mean diagonal of G that is added to it, so that bones that move alike share a vertex."""
CHUNK = 4000
"""Vertices at once."""


@dataclass(frozen=True, eq=False)
class Bones:
    """Clusters of vertices. labels (n,): which each is in; rest (n, 3) [m]: where the vertices are bound."""

    labels: Array
    rest: Array

    @property
    def count(self) -> int:
        """Number of bones."""
        return int(self.labels.max()) + 1

    @property
    def sums(self) -> sparse.csr_array:
        """The matrix (bones, n) that takes means over clusters."""
        n, size = len(self.labels), np.bincount(self.labels, minlength=self.count)
        return sparse.csr_array((1.0 / size[self.labels], (self.labels, np.arange(n))), shape=(self.count, n))

    @property
    def centres(self) -> Array:
        """Middles of the clusters at rest, (bones, 3) [m]."""
        return np.asarray(self.sums @ self.rest)

    def motions(self, x: Array) -> tuple[Array, Array]:
        """Turns R (bones, 3, 3) and middles c (bones, 3) [m] that carry clusters to where their vertices x (n, 3)
        are."""
        sums = self.sums
        c = np.asarray(sums @ x)
        a, b = self.rest - (sums @ self.rest)[self.labels], x - c[self.labels]
        moments = np.asarray(sums @ (b[:, :, None] * a[:, None, :]).reshape(-1, 9)).reshape(-1, 3, 3)
        U, _, Vt = np.linalg.svd(moments)
        U[:, :, 2] *= np.linalg.det(U @ Vt)[:, None]
        return U @ Vt, c


@dataclass(frozen=True, eq=False)
class Skin:
    """bones (n, 4): numbers of those that move a vertex; weights (n, 4), which sum to one; 0 where there are fewer."""

    bones: Array
    weights: Array

    def positions(self, rest: Array, centres: Array, R: Array, c: Array) -> Array:
        """Where bones at turns R (bones, 3, 3) and middles c (bones, 3) bring vertices from rest (n, 3) [m]."""
        out = np.zeros_like(rest)
        for bone, weight in zip(self.bones.T, self.weights.T):
            out += weight[:, None] * (np.einsum("nij,nj->ni", R[bone], rest - centres[bone]) + c[bone])
        return out


def fit_bones(trained: Array, size: float, labels: Array | None, most: int) -> Bones:
    """Clusters that move nearly as rigid bodies. trained (frames, n, 3) [m], the first at rest; size [m]; labels (n,):
    domains to begin with, None: one. most: bones, unless there are more domains."""
    rest = trained[0]
    start = np.zeros(len(rest), dtype=np.int64) if labels is None else np.unique(labels, return_inverse=True)[1].ravel()
    bones = Bones(start, rest)
    while bones.count < most:
        rms, count = rigid_errors(bones, trained), np.bincount(bones.labels)
        worst = np.argsort(-rms * np.sqrt(count))
        cut = [b for b in worst if rms[b] > STIFF * size and count[b] >= FEWEST][: most - bones.count]
        if not cut:
            break
        bones = Bones(halved(bones, cut), rest)
    return bones


def rigid_errors(bones: Bones, trained: Array) -> Array:
    """Rms distance [m] of each cluster's vertices from its rigid motion over frames (frames, n, 3), (bones,)."""
    squares, centres = np.zeros(bones.count), bones.centres
    for x in trained:
        R, c = bones.motions(x)
        own = np.einsum("nij,nj->ni", R[bones.labels], bones.rest - centres[bones.labels]) + c[bones.labels]
        squares += bones.sums @ np.sum((own - x) ** 2, axis=1)
    return np.sqrt(squares / len(trained))


def halved(bones: Bones, cut: Sequence[int]) -> Array:
    """Labels (n,) with some clusters cut at the median of their longest axis."""
    labels, count = bones.labels.copy(), bones.count
    order = np.argsort(bones.labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(bones.labels))])
    for number, cluster in enumerate(cut):
        own = order[starts[cluster] : starts[cluster + 1]]
        X = bones.rest[own] - bones.rest[own].mean(axis=0)
        along = X @ np.linalg.eigh(X.T @ X)[1][:, 2]
        labels[own[np.argsort(along, kind="stable")[len(own) // 2 :]]] = count + number
    return labels


def neighbours(bones: Bones) -> Array:
    """Of each cluster itself and those that are nearest to it at rest, (bones, k)."""
    count, order = bones.count, np.argsort(bones.labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(bones.labels))])
    chosen = np.concatenate([order[np.unique(np.linspace(a, b - 1, SAMPLES).astype(int))] for a, b in pairwise(starts)])
    of = bones.labels[chosen]
    k = min(CANDIDATES, count)
    distance, near = KDTree(bones.rest[chosen]).query(bones.rest[chosen], k=min(SAMPLES, len(chosen)))
    one, other = np.repeat(of, near.shape[1]), of[near.ravel()]
    ranked = np.lexsort((distance.ravel(), one))
    found = np.empty((count, k), dtype=np.int64)
    for cluster, own in enumerate(np.split(other[ranked], np.searchsorted(one[ranked], np.arange(1, count)))):
        others = list(dict.fromkeys([cluster, *own.tolist()]))[:k]
        found[cluster] = [*others, *[cluster] * (k - len(others))]
    return found


def fit_weights(bones: Bones, trained: Array, told: Callable[[int], None] = lambda done: None) -> Skin:
    """Weights of the bones near each vertex that bring it nearest to where it was in frames (frames, n, 3) [m]."""
    motions = [bones.motions(x) for x in trained]
    return shared_out(bones.labels, bones.centres, list(neighbours(bones)), motions, trained, told)


def shared_out(
    labels: Array,
    centres: Array,
    near: Sequence[Array],
    motions: Sequence[tuple[Array, Array]],
    trained: Array,
    told: Callable[[int], None] = lambda done: None,
) -> Skin:
    """The same of bones at centres (bones, 3) [m] with any motions, turns (bones, 3, 3) and places (bones, 3) [m] in
    each of the frames (frames, n, 3) [m], the first at rest. near: of each bone those that may share the vertices
    labelled with it, labels (n,)."""
    rest, count = trained[0], len(centres)
    turns = np.stack([R for R, _ in motions], axis=-1).transpose(0, 2, 3, 1).reshape(count, 3, -1)
    places = np.stack([c for _, c in motions], axis=1).reshape(count, -1)
    out = Skin(np.zeros((len(rest), INFLUENCES), dtype=np.int64), np.zeros((len(rest), INFLUENCES)))
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels, minlength=count))])
    for cluster, (first, last) in enumerate(pairwise(starts)):
        own = np.unique(near[cluster])
        for at in range(first, last, CHUNK):
            some = order[at : min(at + CHUNK, last)]
            local = rest[some] - centres[own][:, None]  # (k, m, 3)
            r = local @ turns[own] + places[own][:, None] - trained[:, some].swapaxes(0, 1).reshape(len(some), -1)
            r = r.swapaxes(0, 1)
            kept, weights = simplex_weights(r @ r.swapaxes(1, 2), INFLUENCES)
            out.bones[some, : kept.shape[1]] = np.where(weights > 0, own[kept], 0)
            out.weights[some, : kept.shape[1]] = weights
        told(cluster + 1)
    return out


def simplex_weights(G: Array, most: int) -> tuple[Array, Array]:
    """Weights w >= 0 (m, most) that sum to one and make w^T G w small, of matrices G (m, k, k), and which of the k
    they are of. Bones are left out one by one: those of negative weight first, then those of least.

    >>> G = np.diag([1.0, 1.0, 4.0])[None]
    >>> simplex_weights(G, 2)[1].round(3).tolist()
    [[0.5, 0.5]]
    """
    m, k, _ = G.shape
    diagonal = np.einsum("mkk->mk", G)
    G = G + np.eye(k) * (REGULAR * diagonal.mean(axis=1) + 1e-30)[:, None, None]
    stays = np.ones((m, k), dtype=bool)
    w = np.zeros((m, k))
    todo = np.arange(m)
    for _ in range(k):
        active = stays[todo]
        scale = np.einsum("mkk->mk", G[todo]).mean(axis=1)[:, None, None]
        A = np.where(active[:, :, None] & active[:, None], G[todo] / scale, np.eye(k))
        found = np.linalg.solve(A, active[..., None].astype(float))[..., 0] * active
        found /= found.sum(axis=1, keepdims=True)
        w[todo] = found
        lowest = np.where(active, found, np.inf).argmin(axis=1)
        least = found[np.arange(len(todo)), lowest]
        drop = (least < SMALLEST) | (active.sum(axis=1) > most)
        drop &= active.sum(axis=1) > 1
        stays[todo[drop], lowest[drop]] = False
        todo = todo[drop]
        if not len(todo):
            break
    kept = np.argsort(-w, axis=1, kind="stable")[:, :most]
    weights = np.clip(np.take_along_axis(w, kept, axis=1), 0.0, None)
    return kept, weights / weights.sum(axis=1, keepdims=True)
