"""Limbs of a solid: where it branches, by a sweep from its tips to its thickest place.

    d(e)       way inside the solid from its thickest place to element e [m]
    {d > t}    falls into pieces; as t sinks, pieces begin at tips and meet at junctions

A piece is a limb down to its junction, or to before its level set grew over the body that it stands on. Where the area
of its level set is smallest for its volume it must be long for its width, tip - t > `LENGTH` sqrt(area), and not flat,
area < `FLAT` volume^(2/3). What lies between two junctions is a limb too, and so is what is left around the thickest
place. This is the join tree of d, with persistence measured against thickness, so that ways bent as they may be are
followed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces

Array = np.ndarray
LENGTH = 0.4
"""Widths that a limb must be long."""
FLAT = 2.0
"""Area of a level set, by volume^(2/3), from which what it cuts off is no limb."""
DEEP = 0.8
"""Of the largest depth below the boundary: what counts as deep."""
MAX_DEEP = 150
"""Deep elements that are compared."""
AROUND = 3.0
"""Largest depths within which the solid around an element counts."""
ALIKE = 0.03
"""Share of it that makes no difference."""


@dataclass
class Limb:
    """level: where it ends, towards the root [m]. width: root of its section's area there [m]. tip: its farthest d [m].

    children: numbers of the limbs that end in it. start: d where it begins, its tip or its children's junction [m].
    """

    start: float
    tip: float
    level: float = 0.0
    width: float = 0.0
    children: list[int] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Limbs:
    """way: d of each element [m], (m,). labels: limb of each element, (m,). limbs: by number. parents: of each, -1."""

    way: Array
    labels: Array
    limbs: dict[int, Limb]
    root: int

    @property
    def parents(self) -> dict[int, int]:
        """Limb that each one but the root ends in, children before their parents."""
        out, stack = [], [self.root]
        while stack:
            here = stack.pop()
            out += [(child, here) for child in self.limbs[here].children]
            stack += self.limbs[here].children
        return dict(out[::-1])


def find_limbs(mesh: TetMesh | HexMesh, shared: SharedFaces) -> Limbs:
    """The limbs of a mesh in one piece."""
    way = way_from(mesh, mesh.elements[thickest(mesh)])[mesh.elements].mean(axis=1)
    return _Sweep(way, mesh.volumes, shared).limbs()


def thickest(mesh: TetMesh | HexMesh) -> int:
    """An element deep below the boundary with most of the solid around it; of like ones, the most central."""
    surface = mesh.boundary.surface
    samples = np.concatenate([surface.nodes, surface.nodes[surface.triangles].mean(axis=1)])
    centres = mesh.nodes[mesh.elements].mean(axis=1)
    depth = cKDTree(samples).query(centres)[0]
    deep = np.flatnonzero(depth >= DEEP * depth.max())
    deep = deep[np.unique(np.linspace(0, len(deep) - 1, MAX_DEEP).round().astype(np.int64))]
    within = AROUND * depth.max()
    mass = np.array([mesh.volumes[((centres - centres[e]) ** 2).sum(axis=1) <= within**2].sum() for e in deep])
    deep = deep[mass >= (1.0 - ALIKE) * mass.max()]
    middle = np.average(centres, axis=0, weights=mesh.volumes)
    return int(deep[np.argmin(np.linalg.norm(centres[deep] - middle, axis=1).round(12))])


def way_from(mesh: TetMesh | HexMesh, start: Array) -> Array:
    """Way inside the mesh from the nearest of the nodes `start` to each node [m], (n,).

    It goes along edges and diagonals of elements.
    """
    one, two = (mesh.elements[:, k].ravel() for k in np.triu_indices(mesh.elements.shape[1], 1))
    count = len(mesh.nodes)
    pairs = np.stack(np.divmod(np.unique(np.minimum(one, two) * count + np.maximum(one, two)), count), axis=1)
    lengths = np.linalg.norm(mesh.nodes[pairs[:, 0]] - mesh.nodes[pairs[:, 1]], axis=1)
    edges = sparse.csr_array((lengths, pairs.T), shape=(count, count))
    return dijkstra(edges, directed=False, indices=start, min_only=True)


class _Sweep:
    """Elements added from the farthest to the nearest; pieces are kept by union and find."""

    def __init__(self, way: Array, volumes: Array, shared: SharedFaces) -> None:
        self.way, self.volumes = way, volumes
        self.graph = shared.graph(len(way))
        self.group = list(range(len(way)))
        self.limb_of = np.full(len(way), -1)
        self.made: list[Limb] = []
        self.into: list[int] = []  # limb that a limb was joined to, else itself
        self.area: dict[int, float] = {}  # of the level set of a piece, by its representative
        self.volume: dict[int, float] = {}
        self.least: dict[int, tuple[float, float, float]] = {}  # least area / volume^(2/3), where it was, and the area
        self.limb: dict[int, int] = {}  # growing limb of a piece

    def limbs(self) -> Limbs:
        starts, columns, areas = self.graph.indptr.tolist(), self.graph.indices.tolist(), self.graph.data.tolist()
        added = np.zeros(len(self.way), dtype=bool).tolist()
        for e in np.lexsort((np.arange(len(self.way)), -self.way)).tolist():
            sides = range(starts[e], starts[e + 1])
            pieces = sorted({self._find(columns[k]) for k in sides if added[columns[k]]})
            piece = self._meet(e, pieces) if pieces else self._begin(e)
            self.area[piece] += sum(-areas[k] if added[columns[k]] else areas[k] for k in sides)
            self.volume[piece] += float(self.volumes[e])
            self.least[piece] = min(self.least[piece], self._strength(piece, float(self.way[e])))
            self.limb_of[e], added[e] = self.limb[piece], True
        root = self.limb[self._find(0)]
        kept = {k: limb for k, limb in enumerate(self.made) if self.into[k] == k}
        labels = np.array([self._limb(k) for k in range(len(self.made))])[self.limb_of]
        found = Limbs(self.way, labels, kept, root)
        for child, parent in found.parents.items():
            labels[(labels == child) & (self.way < kept[child].level)] = parent
        return found

    def _begin(self, e: int) -> int:
        self.area[e], self.volume[e], self.least[e] = 0.0, 0.0, (np.inf, 0.0, 0.0)
        self.limb[e] = self._make(float(self.way[e]), float(self.way[e]), [])
        return e

    def _make(self, start: float, tip: float, children: list[int]) -> int:
        self.made.append(Limb(start, tip, children=children))
        self.into.append(len(self.into))
        return len(self.made) - 1

    def _meet(self, e: int, pieces: list[int]) -> int:
        """The piece made of the pieces that element e joins."""
        here = float(self.way[e])
        pieces = sorted(pieces, key=lambda p: -self.made[self.limb[p]].tip)
        limb = self.limb[pieces[0]]
        if len(pieces) > 1:
            kept = [p for p in pieces if self._is_limb(p)]
            if len(kept) > 1:
                limb = self._junction(kept, here, self.made[limb].tip)
            for p in pieces:
                self.into[self.limb[p]] = self.limb[p] if self.limb[p] in self.made[limb].children else limb
        first = pieces[0]
        for p in pieces[1:]:
            self.group[p] = first
            self.area[first] += self.area.pop(p)
            self.volume[first] += self.volume.pop(p)
        if limb != self.limb[first]:
            self.limb[first], self.least[first] = limb, (np.inf, 0.0, 0.0)
        self.group[e] = first
        return first

    def _is_limb(self, piece: int) -> bool:
        limb, (flatness, level, area) = self.made[self.limb[piece]], self.least[piece]
        return bool(limb.children) or (limb.tip - level > LENGTH * np.sqrt(area) and flatness < FLAT)

    def _end(self, piece: int, here: float) -> tuple[float, float, float]:
        """Where a limb ends: here, or where it was least flat if it is too flat here."""
        now = self._strength(piece, here)
        return now if now[0] < FLAT else self.least[piece]

    def _strength(self, piece: int, here: float) -> tuple[float, float, float]:
        return self.area[piece] / self.volume[piece] ** (2 / 3), here, self.area[piece]

    def _junction(self, pieces: list[int], here: float, tip: float) -> int:
        """A new limb that begins where these pieces meet. Short limbs between two junctions vanish in it."""
        children = []
        for piece in pieces:
            limb, (_, level, area) = self.made[self.limb[piece]], self._end(piece, here)
            if limb.children and limb.start - level <= LENGTH * np.sqrt(area):
                children += limb.children
            else:
                limb.level, limb.width = level, float(np.sqrt(area))
                children.append(self.limb[piece])
        return self._make(here, tip, children)

    def _find(self, e: int) -> int:
        while self.group[e] != e:
            self.group[e] = self.group[self.group[e]]
            e = self.group[e]
        return e

    def _limb(self, limb: int) -> int:
        while self.into[limb] != limb:
            limb = self.into[limb]
        return limb
