"""A render skin: a finer surface of a whole tree, carried by the elements of its domains.

    x = sum_i w_i x_i,   x_i: where node i is seen, the mean of its copies where domains meet

Every vertex lies in an element of one domain, or nearest to one. Since nodes that were one before the cut are taken at
their mean, the elements fit together there and the surface stays whole: it is continuous across interfaces, however far
the domains are apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.bodies.carried import Carriers
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.carrying import TreeCarriage, carriers_of_points, tree_branches
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.surface.frame_cache import Foreseen
from supple.bodies.tree.surface.placing import Placing
from supple.errors import InputError
from supple.geometry import SurfaceMesh, embed

Array = np.ndarray
FAR = 0.1
"""A vertex farther from all domains than this part of the surface's size is refused."""


@dataclass(frozen=True, eq=False)
class RenderSkin:
    """points: the vertices as a mapping from the tree's coordinates; triangles (t, 3); domain (v,): whose element."""

    model: TreeModel
    points: DomainPoints
    triangles: Array
    domain: Array

    @classmethod
    def of(cls, model: TreeModel, surface: SurfaceMesh) -> RenderSkin:
        """A surface in the root's frame [m], as the tree is at rest."""
        vertices = np.asarray(surface.nodes, dtype=float)
        owner, nodes, weights = _carried(model, vertices)
        counts = [len(c.nodes) for c in model.classes]
        start = np.concatenate([[0], np.cumsum(np.array(counts)[model.domain_class])])
        row = np.repeat(np.arange(len(vertices)), [len(n) for n in nodes])
        col = np.concatenate([start[d] + n for d, n in zip(owner, nodes)])
        size = int(start[-1])
        carried = sparse.csr_array((np.concatenate(weights), (row, col)), shape=(len(vertices), size))
        whole = carried @ _means(model, start)
        hung = np.unique(whole.indices)
        domain = np.searchsorted(start, hung, side="right") - 1
        kinds = [model.classes[k] for k in model.domain_class[domain]]
        local = hung - start[domain]
        X = np.array([kind.nodes[n] for kind, n in zip(kinds, local)])
        U = [kind.U[3 * n : 3 * n + 3] for kind, n in zip(kinds, local)]
        points = DomainPoints.on(model, domain, X, U, whole[:, hung])
        return cls(model, points, np.asarray(surface.triangles, dtype=np.int64), owner)

    @property
    def count(self) -> int:
        """Number of vertices."""
        return self.points.count

    def positions(self, x: Array) -> Array:
        """World positions of the vertices at coordinates x (1, width), (count, 3) [m]."""
        return self._placed.at(x)

    def single(self, x: Array) -> Array:
        """The same, rounded to single precision."""
        return self._rounded.at(x)

    @cached_property
    def _placing(self) -> Placing:
        return Placing.of(self.points)

    @cached_property
    def _placed(self) -> Foreseen[Array]:
        return Foreseen(self.model.frame_cache, self.points.chain, self._placing.positions)

    @cached_property
    def _rounded(self) -> Foreseen[Array]:
        find = partial(self._placing.positions, dtype=np.float32)
        return Foreseen(self.model.frame_cache, self.points.chain, find)

    @cached_property
    def carriers(self) -> Carriers:
        """What makes all vertices again from frames and coordinates of the domains."""
        found = carriers_of_points(self.points, self.model.scale, self.model.q_starts, self.triangles)
        return replace(found, branches=tree_branches(self.model))

    def carriage(self, x: Array) -> Array:
        """The numbers that `carriers` needs at a tree's coordinates x (1, width)."""
        return self._carriage.at(x)

    @cached_property
    def _carriage(self) -> TreeCarriage:
        return TreeCarriage(self.model)


def _carried(model: TreeModel, vertices: Array) -> tuple[Array, list[Array], list[Array]]:
    """The domain of each vertex, and the nodes and weights of the element that carries it."""
    count, reach = len(vertices), FAR * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    owner, best = np.full(count, -1), np.full(count, np.inf)
    nodes, weights = [np.zeros(0, dtype=np.int64)] * count, [np.zeros(0)] * count
    for number, frame in enumerate(model.domain_tree.rest_frames):
        mesh, scale = model.domain_tree.kinds[model.classes[model.domain_class[number]].name].mesh, model.scale[number]
        local = rotations.rotate_inverse(frame[3:], vertices - frame[:3]) / scale
        low, high = mesh.nodes.min(axis=0) - reach / scale, mesh.nodes.max(axis=0) + reach / scale
        near = np.flatnonzero(((local >= low) & (local <= high)).all(axis=1) & (best > 0))
        if not len(near):
            continue
        found = embed(local[near], mesh)
        distance = np.zeros(len(near))
        distance[found.outside] = scale * found.distances
        for k in np.flatnonzero(distance < best[near]):
            at = near[k]
            owner[at], best[at] = number, distance[k]
            nodes[at], weights[at] = found.nodes[k], found.weights[k]
    if best.max(initial=0.0) > reach:
        raise InputError(
            "a vertex of the surface is far from all domains", where=f"vertex {int(np.argmax(best))}",
            value=float(best.max()), allowed=f"<= {reach:.3g} m", fix="Give the surface in the root's frame [m].",
        )  # fmt: skip
    return owner, nodes, weights


def _means(model: TreeModel, start: Array) -> sparse.csr_array:
    """Where each node of each domain is seen, over all nodes: itself, or the mean of its copies."""
    size = int(start[-1])
    group = np.full(size, -1)
    welds = np.asarray(model.domain_tree.welds)
    group[start[welds[:, 1]] + welds[:, 2]] = welds[:, 0]
    alone = np.flatnonzero(group < 0)
    group[alone] = group.max(initial=-1) + 1 + np.arange(len(alone))
    member = sparse.csr_array((np.ones(size), (group, np.arange(size))), shape=(int(group.max(initial=-1)) + 1, size))
    share = sparse.dia_array((1.0 / np.maximum(member.sum(axis=1), 1)[None], [0]), shape=(member.shape[0],) * 2)
    return sparse.csr_array(member.T @ (share @ member))
