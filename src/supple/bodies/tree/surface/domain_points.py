"""Points on the domains of a tree as a mapping from its coordinates, in compiled loops.

    x = W (o + R s (X + U q))

W: weights over points that hang on one domain each, or none; the mean of points that were one before a cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.threefold import Rows, SparseRows, chosen_rows, pulled, times
from supple.bodies.tree.coordinates import TreeCoordinates
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface import kinematics_kernels as kernels
from supple.bodies.tree.surface.frame_cache import FrameCache

Array = np.ndarray


def make_chain(model: TreeModel, first: Array, places: Array, X: Array, U: list[Array] | Array) -> kernels.Chain:
    """A model as the kernels see it, with points: first (d,): a domain's row of X (m, 3) [m] and U, (3, r) each row,
    or (m, 3, most), zero beyond r.

    places (d + 1,): where the points of a domain begin among all.
    """
    bare = bare_chain(model)
    return bare._replace(
        first=np.asarray(first, dtype=np.int64),
        places=np.asarray(places, dtype=np.int64),
        X=np.ascontiguousarray(X, dtype=float),
        U=_padded(U, bare.U.shape[2]) if isinstance(U, list) else np.ascontiguousarray(U),
    )


@lru_cache(maxsize=64)
def bare_chain(model: TreeModel) -> kernels.Chain:
    """A model without points."""
    interfaces = [(c, fit) for c in model.classes for fit in c.fits]
    first_interface = np.concatenate([[0], np.cumsum([len(c.fits) for c in model.classes])])
    above = model.domain_class[np.maximum(model.parent, 0)]
    none = np.zeros(model.domain_count + 1, dtype=np.int64)
    rest = np.zeros((len(interfaces), kernels.FIT))
    mode = np.concatenate([[0], np.cumsum([c.count for c, _ in interfaces])])
    modes = np.zeros((int(mode[-1]), kernels.FIT))
    for k, (_, fit) in enumerate(interfaces):
        rest[k, :9], rest[k, 9:12] = fit.A_rest.ravel(), fit.x_hat
        own = modes[int(mode[k]) : int(mode[k + 1])]
        own[:, :9], own[:, 9:12] = fit.A_modes.reshape(-1, 9), fit.a_hat.T
    return kernels.Chain(
        model.parent.astype(np.int64),
        np.where(model.parent >= 0, first_interface[above] + model.parent_interface, -1).astype(np.int64),
        model.q_starts.astype(np.int64),
        model.scale.astype(float),
        none[:-1],
        none,
        rest.ravel(),
        mode.astype(np.int64),
        modes.ravel(),
        np.zeros((0, 3)),
        np.zeros((0, 3, max(1, *(c.count for c in model.classes)))),
    )


def shortened(chain: kernels.Chain) -> kernels.Chain:
    """Without the domains after the last one with points; parents come before their children."""
    used = np.flatnonzero(np.diff(chain.places))
    d = int(used[-1]) + 1 if len(used) else 1
    return chain._replace(
        parent=chain.parent[:d],
        fit=chain.fit[:d],
        start=chain.start[: d + 1],
        scale=chain.scale[:d],
        first=chain.first[:d],
        places=chain.places[: d + 1],
    )


def _padded(parts: list[Array], largest: int) -> Array:
    """Rows (3, r) of several widths as (n, 3, most)."""
    out = np.zeros((len(parts), 3, largest))
    for k, part in enumerate(parts):
        out[k, :, : part.shape[1]] = part
    return out


@dataclass(frozen=True, eq=False)
class DomainPoints:
    """Points as a mapping. chain: the tree, with the points that hang on single domains; weights (count, hung).

    indices: numbers of the points on a skin, where they are such. found: frames, shared by all points of a tree.
    """

    chain: kernels.Chain
    weights: Rows | None = None
    indices: Array | None = None
    found: FrameCache = field(default_factory=FrameCache)

    @classmethod
    def on(
        cls,
        model: TreeModel,
        domain: Array,
        X: Array,
        U: list[Array] | Array,
        weights: object = None,
        indices: Array | None = None,
    ) -> DomainPoints:
        """Points on domains, ascending (k,): X (k, 3) [m] at scale 1 in the domains' axes, U: (3, r) of each, or padded
        with zeros, (k, 3, most)."""
        places = np.searchsorted(domain, np.arange(model.domain_count + 1))
        chain = shortened(make_chain(model, places[:-1], places, X, U))
        return cls(chain, weights, indices, model.frame_cache)  # type: ignore[arg-type]

    @classmethod
    def means(cls, model: TreeModel, parts: list[tuple[DomainPoints, Array]]) -> DomainPoints:
        """One point for each part: the mean of points (k,) with positive weights (k,), which add up to 1.

        Of each domain one point hangs, where the mean of those that hung on it was.
        """
        rows: list[tuple[int, int, float, Array, Array]] = []  # domain, part, weight, X, U
        for number, (points, given) in enumerate(parts):
            chain, w = points.chain, given if points.weights is None else points.weights.T @ given
            domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
            at = chain.first[domain] + np.arange(len(domain)) - chain.places[domain]
            for d in np.unique(domain[w > 0]):
                own = (domain == d) & (w > 0)
                share, r = w[own] / w[own].sum(), chain.start[d + 1] - chain.start[d]
                U = np.einsum("p,pil->il", share, chain.U[at[own]])[:, :r]
                rows.append((int(d), number, float(w[own].sum()), share @ chain.X[at[own]], U))
        rows.sort(key=lambda row: row[:2])
        places = (np.array([row[1] for row in rows]), np.arange(len(rows)))
        weights = sparse.csr_array((np.array([row[2] for row in rows]), places), shape=(len(parts), len(rows)))
        domains, X = np.array([row[0] for row in rows]), np.array([row[3] for row in rows])
        return cls.on(model, domains, X, [row[4] for row in rows], weights)

    def chosen(self, numbers: Array) -> DomainPoints:
        """Some of the points, which follow the same coordinates."""
        chain, W = self.chain, SparseRows.unit(self.hung) if self.weights is None else self.weights
        rows = chosen_rows(W, np.asarray(numbers, dtype=np.int64))
        hung, column = np.unique(rows.indices, return_inverse=True)
        domain = np.searchsorted(chain.places, hung, side="right") - 1
        at = chain.first[domain] + hung - chain.places[domain]
        places = np.searchsorted(domain, np.arange(len(chain.parent) + 1))
        own = chain._replace(first=places[:-1], places=places, X=chain.X[at], U=chain.U[at])
        weights = SparseRows(rows.indptr, column.ravel(), rows.data, (len(numbers), len(hung)))
        indices = None if self.indices is None else self.indices[numbers]
        return DomainPoints(shortened(own), weights, indices, self.found)

    @property
    def count(self) -> int:
        """Number of points."""
        return self.hung if self.weights is None else int(self.weights.shape[0])

    @property
    def hung(self) -> int:
        """Number of points that hang on single domains."""
        return int(self.chain.places[-1])

    @property
    def modes(self) -> int:
        """Coordinates of the domains up to the last one with points."""
        return int(self.chain.start[-1])

    def frames(self, x: Array) -> kernels.Frames:
        """Frames of all domains at coordinates x (1, width)."""
        return self.found.at(x, self.chain)

    def local(self, x: Array) -> Array:
        """Hung points in their domains' axes, (hung, 3) [m]."""
        out = np.empty((self.hung, 3))
        kernels.compute_local(self.chain, x[0, 7 : 7 + self.modes].copy(), out)
        return out

    def apply(self, x: Array) -> Array:
        """Positions (count, 3) [m] at coordinates x (1, width)."""
        return self.linearize(x).positions()

    def linearize(self, x: Array) -> DomainPointsTangent:
        """J at coordinates x."""
        return DomainPointsTangent(self, x.copy())


@dataclass(frozen=True, eq=False)
class DomainPointsTangent:
    """J of points of a tree at coordinates x. Its geometric stiffness is left out."""

    mapping: DomainPoints
    x: Array

    @cached_property
    def _frames(self) -> kernels.Frames:
        return self.mapping.frames(self.x)

    @cached_property
    def _local(self) -> Array:
        return self.mapping.local(self.x)

    def _weighted(self, values: Array) -> Array:
        W = self.mapping.weights
        return values if W is None else times(W, values)

    def hung_positions(self) -> Array:
        """Where the points are that hang on single domains, (hung, 3) [m]."""
        out = np.empty((self.mapping.hung, 3))
        kernels.compute_positions(self.mapping.chain, self._frames, self._local, out)
        return out

    def positions(self) -> Array:
        """Where the points are, (count, 3) [m]."""
        return self._weighted(self.hung_positions())

    def product(self, v: Array) -> Array:
        """Velocities (count, 3) [m/s] of rates v (1, width)."""
        m, rates = self.mapping, v[0, 6 : 6 + self.mapping.modes].copy()
        u, w = np.empty((2, len(m.chain.parent), 3))
        kernels.compute_rates(m.chain, self._frames, rates, v[0, :6].copy(), u, w)
        out = np.empty((m.hung, 3))
        kernels.compute_velocities(m.chain, self._frames, self._local, rates, u, w, out)
        return self._weighted(out)

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out (1, width) += J^T f: forces on all coordinates of the tree, by virtual work."""
        m = self.mapping
        hung = np.asarray(f if m.weights is None else pulled(m.weights, f), dtype=float, order="C")
        Q, wrench = np.zeros(m.modes), np.zeros((len(m.chain.parent), 6))
        kernels.add_pulled(m.chain, self._frames, self._local, hung, Q, wrench)
        f_out[0, :3] += self._frames.R[0].reshape(3, 3) @ wrench[0, 3:]
        f_out[0, 3:6] += wrench[0, :3]
        f_out[0, 6 : 6 + m.modes] += Q

    def bias(self, v: Array) -> Array:
        """(dJ/dt) v (count, 3) [m/s²], by central differences along v."""
        coordinates, step = TreeCoordinates(self.x.shape[1] - 7), 1e-5
        ahead = self.mapping.linearize(coordinates.retract(self.x, step * v)).product(v)
        behind = self.mapping.linearize(coordinates.retract(self.x, -step * v)).product(v)
        return (ahead - behind) / (2 * step)

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """Nothing: the change of J is left out."""
