"""The surface of a tree: points that follow its coordinates, with the way back of forces.

    x = o + R s (X + U q),    seen = W x

A point hangs on one domain; where nodes of several domains were one before the cut (`DomainTree.welds`), what is seen
is their mean, so that the surface has no gaps. Kinds with a finer skin show that instead of their own boundary.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.bodies.carried import CarriedKind, Carriers
from supple.bodies.surfaces import RenderSurface
from supple.bodies.tree.coordinates import TreeCoordinates
from supple.bodies.tree.domains.domain_tree import DomainTemplate
from supple.bodies.tree.domains.welds import weld_groups
from supple.bodies.tree.kinematics import TreeKinematics, TreeMotion
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.carrying import TreeCarriage, clustered_kinds, hidden_triangles, tree_branches
from supple.bodies.tree.surface.domain_points import DomainPoints, make_chain
from supple.bodies.tree.surface.frame_cache import Foreseen, Instants
from supple.bodies.tree.surface.kinematics_kernels import Chain
from supple.bodies.tree.surface.placing import Placing
from supple.bodies.tree.surface.placing_kernels import largest_apart
from supple.bodies.tree.surface.reconstruction import Reconstruction
from supple.geometry import embed

Array = np.ndarray


class ClassPoints(NamedTuple):
    """Of a class: X (m, 3), U (m, 3, r), triangles (t, 3) of its points, node (m,) in the mesh, -1 for a skin's."""

    X: Array
    U: Array
    triangles: Array
    node: Array


def class_points(kind: DomainTemplate, U: Array) -> ClassPoints:
    """What is seen of a kind with basis U (3 node_count, r)."""
    modes = U.reshape(len(kind.mesh.nodes), 3, U.shape[1])
    if kind.skin is not None:
        embedding = embed(kind.skin.nodes, kind.mesh)
        carried = np.einsum("pk,pkil->pil", embedding.weights, modes[embedding.nodes])
        none = np.full(len(kind.skin.nodes), -1)
        return ClassPoints(np.asarray(kind.skin.nodes), carried, np.asarray(kind.skin.triangles), none)
    boundary = kind.mesh.boundary
    nodes = np.asarray(boundary.node_indices)
    triangles = np.searchsorted(nodes, boundary.triangles)
    return ClassPoints(kind.mesh.nodes[nodes], modes[nodes], triangles, nodes)


@dataclass(frozen=True, eq=False)
class TreeSkin:
    """Points on the domains: domain, row (p,): the row of its class. weights W (p, p). triangles (t, 3), outward.

    seams (k,): point numbers, group by group as of group_start: points that were one before the cut.
    """

    model: TreeModel
    kinematics: TreeKinematics
    classes: tuple[ClassPoints, ...]
    domain: Array
    row: Array
    weights: sparse.csr_array
    triangles: Array
    seams: Array
    group_start: Array

    @classmethod
    def of(cls, model: TreeModel) -> TreeSkin:
        """The surface of a model."""
        kinds = model.domain_tree.kinds
        classes = tuple(class_points(kinds[c.name], c.U) for c in model.classes)
        counts = np.array([len(classes[c].X) for c in model.domain_class])
        start = np.concatenate([[0], np.cumsum(counts)])
        domain = np.repeat(np.arange(model.domain_count), counts)
        row = np.arange(start[-1]) - start[domain]
        row_of_node = [{int(n): k for k, n in enumerate(c.node)} for c in classes]
        seams, group_start = weld_groups(model, row_of_node, start)
        size = np.diff(group_start)
        group = np.repeat(np.arange(len(size)), size)
        own = np.setdiff1d(np.arange(start[-1]), seams)
        rows = np.concatenate([own, np.repeat(seams, size[group])])
        cols = np.concatenate([own, *(np.tile(seams[a:b], b - a) for a, b in pairwise(group_start))])
        values = np.concatenate([np.ones(len(own)), np.repeat(1 / size[group], size[group])])
        weights = sparse.csr_array((values, (rows, cols.astype(np.int64))), shape=(start[-1], start[-1]))
        parts = [classes[c].triangles + start[d] for d, c in enumerate(model.domain_class)]
        triangles = np.concatenate(parts).astype(np.int64)
        triangles = triangles[~_inner(triangles, seams, group, domain)]
        return cls(model, TreeKinematics(model), classes, domain, row, weights, triangles, seams, group_start)

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.domain)

    @cached_property
    def class_start(self) -> Array:
        """Where the points of each class begin in `class_X` and `class_U`."""
        return np.cumsum([0, *(len(c.X) for c in self.classes)])[:-1]

    @cached_property
    def class_X(self) -> Array:
        """X of the points of all classes, (m, 3) [m]."""
        return np.concatenate([c.X for c in self.classes])

    @cached_property
    def class_U(self) -> Array:
        """U of the points of all classes, (m, 3, most), zero beyond the modes of a class."""
        most = max(1, *(c.U.shape[2] for c in self.classes))
        return np.concatenate([np.pad(c.U, ((0, 0), (0, 0), (0, most - c.U.shape[2]))) for c in self.classes])

    @cached_property
    def whole(self) -> TreePoints:
        """All points, as a mapping."""
        return TreePoints(self, np.arange(self.count))

    @cached_property
    def rest(self) -> Array:
        """Positions at rest in the root's frame, (count, 3) [m]."""
        x = np.zeros((1, 7 + self.model.coordinate_count))
        x[0, 3] = 1.0
        return self.whole.apply(x)

    def reconstruction(self, dtype: Any = np.float64) -> Reconstruction:
        """What places all points fast, in single or double precision."""
        classes = [(c.X, c.U) for c in self.classes]
        return Reconstruction.of(self.model, classes, seams=self.seams, group_start=self.group_start, dtype=dtype)

    @cached_property
    def _reconstruction(self) -> Reconstruction:
        return self.reconstruction()

    def positions(self, x: Array) -> Array:
        """World positions of all points at a tree's coordinates x (1, width), (count, 3) [m]."""
        frames = self.model.frame_cache.at(x, self._chain)
        q = x[0, 7 : 7 + self.model.coordinate_count]
        return self._reconstruction.place(q, frames.R.reshape(-1, 3, 3), frames.o)

    def single(self, x: Array) -> Array:
        """The same, rounded to single precision."""
        R, o = self._frames(x)
        q = x[0, 7 : 7 + self.model.coordinate_count]
        if not len(self.seams):
            return self._reconstruction.seen(q, R, o)
        placed = self._reconstruction.place(q, R.reshape(-1, 3, 3), o, self._scratch)
        return placed.astype(np.float32)

    def _frames(self, x: Array) -> tuple[Array, Array]:
        """Rotations (d, 9) and origins (d, 3) of all domains."""
        if (seen := self.model.seen_frames.at(x)) is not None:
            return seen
        frames = self.model.frame_cache.at(x, self._chain)
        return frames.R, frames.o

    @cached_property
    def _scratch(self) -> Array:
        return np.empty((self.count, 3))

    @cached_property
    def carriers(self) -> Carriers:
        """What makes all points again from frames and coordinates of the domains."""
        kinds = tuple(CarriedKind(c.X, c.U, c.triangles) for c in self.classes)
        kind, start = self.model.domain_class, np.searchsorted(self.domain, np.arange(self.model.domain_count))
        hidden = hidden_triangles(kinds, kind, start, self.triangles)
        return Carriers(
            kinds, kind, self.model.scale, self.seams, self.group_start, hidden, branches=tree_branches(self.model)
        )  # fmt: skip

    def carriage(self, x: Array) -> Array:
        """The numbers that `carriers` needs at a tree's coordinates x (1, width)."""
        return self._carriage.at(x)

    @cached_property
    def _carriage(self) -> TreeCarriage:
        return TreeCarriage(self.model)

    def thinned(self, most: int) -> RenderSurface:
        """The surface of some of the points, each on its own domain; of so many at most, where that leaves each one."""
        left = clustered_kinds(self.carriers, most)
        classes = [
            ClassPoints(c.X[numbers], c.U[numbers], triangles, c.node[numbers])
            for c, (numbers, triangles) in zip(self.classes, left)
        ]
        kind = self.model.domain_class
        counts = np.array([len(c.X) for c in classes])[kind]
        start = np.concatenate([[0], np.cumsum(counts)])
        domain, none = np.repeat(np.arange(len(kind)), counts), np.zeros(0, dtype=np.int64)
        triangles = np.concatenate([classes[k].triangles + first for k, first in zip(kind, start)])
        weights = sparse.eye_array(int(start[-1]), format="csr")
        row, no_groups = np.arange(start[-1]) - start[domain], np.zeros(1, dtype=np.int64)
        thin = TreeSkin(
            self.model, self.kinematics, tuple(classes), domain, row, weights, triangles, none, no_groups
        )  # fmt: skip
        colours = self.model.domain_tree.domain_colours()
        return RenderSurface(thin, triangles, colours=None if colours is None else colours[domain[triangles[:, 0]]])

    @cached_property
    def _chain(self) -> Chain:
        none = np.zeros(self.model.domain_count + 1, dtype=np.int64)
        return make_chain(self.model, none[:-1], none, np.zeros((0, 3)), [])

    @cached_property
    def _seam_points(self) -> tuple[DomainPoints, Array]:
        """The points of seams in the order of their domains, and the place of each seam's point among them."""
        order = np.argsort(self.domain[self.seams], kind="stable")
        numbers = self.seams[order]
        domain, row = self.domain[numbers], self.row[numbers]
        points = [self.classes[c] for c in self.model.domain_class[domain]]
        X = np.array([p.X[k] for p, k in zip(points, row)]).reshape(-1, 3)
        return DomainPoints.on(self.model, domain, X, [p.U[k] for p, k in zip(points, row)]), np.argsort(order)

    def largest_gap(self, x: Array) -> float:
        """The largest distance between points that were one before the cut [m]; 0 where nothing was cut."""
        if not len(self.seams):
            return 0.0
        return self._gaps.at(x)

    @cached_property
    def _gaps(self) -> Foreseen[float]:
        points, place = self._seam_points
        placing = Placing.of(points)

        def find(instants: Instants) -> list[float]:
            largest = np.empty(len(instants.x))
            largest_apart(placing.hung(instants), placing.place[place], self.group_start, largest)
            found: list[float] = (2.0 * largest).tolist()
            return found

        return Foreseen(self.model.frame_cache, points.chain, find)


def _inner(triangles: Array, seams: Array, group: Array, domain: Array) -> Array:
    """Which triangles lie on a cut: all three corners also belong to one other domain."""
    out = np.zeros(len(triangles), dtype=bool)
    if not len(seams):
        return out
    group_of = np.full(len(domain), -1)
    group_of[seams] = group
    members: dict[int, set[int]] = {}
    for g, d in zip(group.tolist(), domain[seams].tolist()):
        members.setdefault(g, set()).add(d)
    for k in np.flatnonzero((group_of[triangles] >= 0).all(axis=1)):
        shared = set.intersection(*(members[int(g)] for g in group_of[triangles[k]]))
        out[k] = len(shared) > 1
    return out


@dataclass(frozen=True, eq=False)
class TreePoints:
    """Points of a skin as a mapping from the tree's coordinates; indices (k,): which ones."""

    skin: TreeSkin
    indices: Array

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.indices)

    @cached_property
    def weights(self) -> sparse.csr_array:
        """W of these points over those they hang on, (count, hung)."""
        return self.skin.weights[self.indices][:, self.hung]

    @cached_property
    def hung(self) -> Array:
        """Numbers of the points on domains that these are means of."""
        return np.unique(self.skin.weights[self.indices].indices)

    def _parts(self, numbers: Array) -> list[tuple[Array, Array, Array, Array, Array]]:
        """For each class: places among `numbers`, domains, X (k, 3), U (k, 3, r), coordinates (k, r)."""
        skin, model = self.skin, self.skin.model
        domain, row, out = skin.domain[numbers], skin.row[numbers], []
        kinds = model.domain_class[domain]
        for number, points in enumerate(skin.classes):
            at = np.flatnonzero(kinds == number)
            if len(at):
                where = model.q_starts[domain[at]][:, None] + np.arange(points.U.shape[2])
                out.append((at, domain[at], points.X[row[at]], points.U[row[at]], where))
        return out

    @cached_property
    def parts(self) -> list[tuple[Array, Array, Array, Array, Array]]:
        """What these points hang on, class by class."""
        return self._parts(self.hung)

    def motion(self, x: Array, v: Array | None = None) -> TreeMotion:
        """Frames at coordinates x (1, width) and rates v (1, width)."""
        n = self.skin.model.coordinate_count
        rates, velocity = (np.zeros(n), np.zeros(6)) if v is None else (v[0, 6 : 6 + n], v[0, :6])
        return self.skin.kinematics.motion(x[0, 7 : 7 + n], rates, x[0, :7], velocity)

    def local(self, motion: TreeMotion, parts: list, count: int) -> Array:
        """s (X + U q) in the domains' axes, (count, 3)."""
        out = np.empty((count, 3))
        for at, domain, X, U, where in parts:
            s = self.skin.model.scale[domain][:, None]
            out[at] = s * (X + np.einsum("pil,pl->pi", U, motion.q[where]))
        return out

    def _placed(self, motion: TreeMotion, numbers: Array, parts: list) -> Array:
        domain = self.skin.domain[numbers]
        local = self.local(motion, parts, len(numbers))
        return motion.o[domain] + np.einsum("pij,pj->pi", motion.R[domain], local)

    def apply(self, x: Array) -> Array:
        """Positions (count, 3) [m]."""
        return self.weights @ self._placed(self.motion(x), self.hung, self.parts)

    def linearize(self, x: Array) -> TreePointsTangent:
        """J at coordinates x."""
        return TreePointsTangent(self, x.copy())


@dataclass(frozen=True, eq=False)
class TreePointsTangent:
    """J of points of a tree at coordinates x. Its geometric stiffness is left out."""

    mapping: TreePoints
    x: Array

    @cached_property
    def _motion(self) -> TreeMotion:
        return self.mapping.motion(self.x)

    @cached_property
    def _local(self) -> Array:
        return self.mapping.local(self._motion, self.mapping.parts, len(self.mapping.hung))

    def product(self, v: Array) -> Array:
        """Velocities (count, 3) [m/s] of rates v (1, width)."""
        m = self.mapping
        motion, domain = m.motion(self.x, v), m.skin.domain[m.hung]
        flow = np.cross(motion.w[domain], self._local)
        for at, owner, _, U, where in m.parts:
            flow[at] += m.skin.model.scale[owner][:, None] * np.einsum("pil,pl->pi", U, motion.v[where])
        return m.weights @ (motion.u[domain] + np.einsum("pij,pj->pi", motion.R[domain], flow))

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out (1, width) += J^T f: forces on all coordinates of the tree, by virtual work."""
        m, motion = self.mapping, self._motion
        model, domain = m.skin.model, m.skin.domain[m.hung]
        local = np.einsum("pji,pj->pi", motion.R[domain], m.weights.T @ f)
        forces, wrenches = np.zeros(model.coordinate_count), np.zeros((model.domain_count, 6))
        for at, owner, _, U, where in m.parts:
            part = model.scale[owner][:, None] * np.einsum("pil,pi->pl", U, local[at])
            np.add.at(forces, where, part)
        np.add.at(wrenches, domain, np.hstack([np.cross(self._local, local), local]))
        forces, root = motion.pull(forces, wrenches)
        f_out[0, :3] += motion.R[0] @ root[3:]
        f_out[0, 3:6] += root[:3]
        f_out[0, 6 : 6 + len(forces)] += forces

    def bias(self, v: Array) -> Array:
        """(dJ/dt) v (count, 3) [m/s²], by central differences along v."""
        coordinates, step = TreeCoordinates(self.mapping.skin.model.coordinate_count), 1e-5
        ahead = TreePointsTangent(self.mapping, coordinates.retract(self.x, step * v)).product(v)
        behind = TreePointsTangent(self.mapping, coordinates.retract(self.x, -step * v)).product(v)
        return (ahead - behind) / (2 * step)

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """Nothing: the change of J is left out."""
