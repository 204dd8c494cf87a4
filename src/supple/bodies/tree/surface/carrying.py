"""The surface of a tree as frames and coordinates that carry it; and a coarser one of the same tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sparse

from supple.bodies.carried import FRAME, Branches, CarriedKind, Carriers
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints, bare_chain
from supple.bodies.tree.surface.frame_cache import Foreseen, Instants
from supple.bodies.tree.surface.instant_kernels import write_carriage
from supple.geometry.surfaces.clustering import Clustered, cluster_vertices

Array = np.ndarray
HALVINGS = 24
"""Of the logarithm of the spacing that is looked for."""
NOTHING = 1e-6
"""A domain that carries a point by less is left out."""


@dataclass(frozen=True, eq=False)
class TreeCarriage:
    """Frames of all domains of a tree and their coordinates, see `Carriers`."""

    model: TreeModel

    def at(self, x: Array) -> Array:
        """At coordinates x (1, width), (width,); in single precision where a frame of a run has found them."""
        if (seen := self.model.seen_frames.at(x)) is None:
            return self._foreseen.at(x)
        d, n = self.model.domain_count, self.model.coordinate_count
        out = np.empty(FRAME * d + n, dtype=np.float32)
        write_carriage(*seen, x[0, 7 : 7 + n], out)
        return out

    @cached_property
    def _foreseen(self) -> Foreseen[Array]:
        model = self.model

        def find(instants: Instants) -> Array:
            frames, n = instants.frames, model.coordinate_count
            out = np.empty((len(instants.x), FRAME * model.domain_count + n))
            placed = out[:, : FRAME * model.domain_count].reshape(len(out), -1, FRAME)
            placed[:, :, :3], placed[:, :, 3:] = frames.o, frames.R
            out[:, FRAME * model.domain_count :] = instants.x[:, 7 : 7 + n]
            return out

        return Foreseen(model.frame_cache, bare_chain(model), find)


def tree_branches(model: TreeModel) -> Branches:
    """How the domains of a tree hang on each other; one without a name is called after its kind."""
    return Branches(model.parent, tuple(d.name or d.kind for d in model.domain_tree.domains))


def hidden_triangles(kinds: Sequence[CarriedKind], kind: Array, starts: Array, shown: Array) -> Array:
    """Numbers of the triangles of all domains, one after another, that are not among those shown (t, 3)."""
    whole = np.concatenate([kinds[k].triangles + start for k, start in zip(kind, starts)])
    if len(whole) == len(shown):
        return np.zeros(0, dtype=np.int64)
    corners = np.dtype((np.void, 3 * 8))
    one, two = (np.ascontiguousarray(t, dtype=np.int64).view(corners).ravel() for t in (whole, shown))
    return np.flatnonzero(~np.isin(one, two))


def clustered_kinds(carriers: Carriers, most: int) -> list[Clustered]:
    """Points and triangles that are left of each kind, so that all domains have so many points together at most."""
    copies = np.bincount(carriers.kind, minlength=len(carriers.kinds))
    scale = np.bincount(carriers.kind, carriers.scale, len(carriers.kinds)) / np.maximum(copies, 1)
    size = max(float(s * np.ptp(k.X, axis=0).max()) for s, k in zip(scale, carriers.kinds))

    def clustered(spacing: float) -> list[Clustered]:
        return [cluster_vertices(k.X, k.triangles, spacing / max(s, 1e-12)) for s, k in zip(scale, carriers.kinds)]

    fine, coarse = np.log(1e-6 * size), np.log(2.0 * size)
    for _ in range(HALVINGS):
        middle = 0.5 * (fine + coarse)
        count = copies @ [len(c.numbers) for c in clustered(float(np.exp(middle)))]
        fine, coarse = (fine, middle) if count <= most else (middle, coarse)
    return clustered(float(np.exp(coarse)))


def carriers_of_points(points: DomainPoints, scale: Array, starts: Array, triangles: Array) -> Carriers:
    """Points that are means over domains, each domain with points of its own. scale (d,), starts (d + 1,): of the
    domains and where their coordinates begin; triangles (t, 3) of the points."""
    chain, W, d = points.chain, sparse.coo_array(points.weights), len(scale)
    domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
    at = chain.first[domain] + np.arange(len(domain)) - chain.places[domain]
    key, site = np.unique(domain[W.col] * points.count + W.row, return_inverse=True)
    weight = np.bincount(site, W.data)
    keep = np.abs(weight) > NOTHING
    number, left = np.cumsum(keep) - 1, keep[site]
    share = sparse.csr_array(
        (W.data[left] / weight[site[left]], (number[site[left]], W.col[left])), shape=(int(keep.sum()), len(domain))
    )
    owner, vertex, weight = key[keep] // points.count, key[keep] % points.count, weight[keep]
    X, U = share @ chain.X[at], (share @ chain.U[at].reshape(len(at), -1)).reshape(-1, 3, chain.U.shape[2])
    places, none = np.searchsorted(owner, np.arange(d + 1)), np.zeros((0, 3), dtype=np.int64)
    kinds = [
        CarriedKind(X[a:b], U[a:b, :, : starts[k + 1] - starts[k]], none) for k, (a, b) in enumerate(pairwise(places))
    ]
    order = np.lexsort((-weight, vertex))  # what carries a vertex most comes first and stands for it in the faces
    first = np.searchsorted(vertex[order], np.arange(points.count))
    shared = np.bincount(vertex, minlength=points.count) > 1
    seams = order[shared[vertex[order]]]
    group_start = np.concatenate([[0], np.cumsum(np.bincount(vertex, minlength=points.count)[shared])])
    return Carriers(
        tuple(kinds), np.arange(d), scale, seams, group_start, np.zeros(0, dtype=np.int64), weight[seams],
        order[first][triangles],
    )  # fmt: skip
