"""Labelled meshes: one mesh whose elements carry the number of their domain, and its cut into a DomainTree.

The domains form a tree: only parent and child touch. `settle` moves labels until that holds node by node, so that a
node belongs to one domain, or to a parent and its child. `cut` then makes a kind of every domain; its frame keeps the
axes of the whole mesh and has its origin at the middle of the interface to the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.errors import InputError
from supple.geometry import TetMesh
from supple.geometry.meshes.element_shapes import TET_FACES
from supple.material import Material

Array = np.ndarray
ROUNDS = 50  # of settling; a few are enough for shapes of sense


@dataclass(frozen=True, eq=False)
class Labelled:
    """mesh: the whole. labels (m,): domain of each tet. names and parents: of the domains, parents first, root -1."""

    mesh: TetMesh
    labels: Array
    names: tuple[str, ...]
    parents: tuple[int, ...]

    def cut(self, modes: Sequence[int], materials: Sequence[Material], held: Array | None = None) -> DomainTree:
        """A kind and one copy of it for each domain. held: nodes of the whole mesh by which the root is fixed."""
        nodes, welds = self._domain_nodes(), self._welds()
        faces = _shared_faces(self.mesh, self.labels)
        origins = np.zeros((len(self.names), 3))
        interfaces: list[dict[str, DomainInterface]] = [{} for _ in self.names]
        for child, parent in enumerate(self.parents):
            if parent < 0:
                continue
            corners, weights = _interface(self.mesh.nodes, faces.get((parent, child)), self.names[child])
            origins[child] = np.average(self.mesh.nodes[corners], axis=0, weights=weights)
            interfaces[parent][self.names[child]] = DomainInterface(np.searchsorted(nodes[parent], corners), weights)
        kinds = {}
        for d, name in enumerate(self.names):
            tets = np.searchsorted(nodes[d], self.mesh.tets[self.labels == d])
            if self.parents[d] < 0:
                fixed = np.zeros(0, dtype=np.int64) if held is None else np.searchsorted(nodes[d], held)
            else:
                fixed = np.searchsorted(nodes[d], np.intersect1d(nodes[d], nodes[self.parents[d]]))
            mesh = TetMesh(self.mesh.nodes[nodes[d]] - origins[d], tets)
            kinds[name] = DomainTemplate(name, mesh, materials[d], int(modes[d]), fixed, interfaces[d])
        domains = [
            Domain(name, parent, name if parent >= 0 else "", name=name)
            for name, parent in zip(self.names, self.parents)
        ]
        return DomainTree(kinds, domains, welds)

    def _domain_nodes(self) -> list[Array]:
        return [np.unique(self.mesh.tets[self.labels == d]) for d in range(len(self.names))]

    def _welds(self) -> Array:
        """Nodes of more than one domain: group, domain, node in the domain, (k, 3)."""
        owner = np.concatenate([np.full(len(n), d) for d, n in enumerate(self._domain_nodes())])
        whole = np.concatenate(self._domain_nodes())
        local = np.concatenate([np.arange(len(n)) for n in self._domain_nodes()])
        shared = np.bincount(whole, minlength=len(self.mesh.nodes))[whole] > 1
        _, group = np.unique(whole[shared], return_inverse=True)
        rows = np.column_stack([group, owner[shared], local[shared]])
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]


def tree_depths(parents: Sequence[int]) -> Array:
    """Level of each domain, the root being 1, (d,)."""
    depths = np.ones(len(parents), dtype=np.int64)
    for d, parent in enumerate(parents):
        if parent >= 0:
            depths[d] = depths[parent] + 1
    return depths


def share_modes(total: int, element_counts: Sequence[int]) -> list[int]:
    """Modes in proportion to the logarithms of the numbers of elements, `total` in all [BZ11, section 5].

    >>> share_modes(10, [100, 1000, 100000])
    [2, 3, 5]
    """
    part = np.log(np.asarray(element_counts, dtype=float))
    exact = total * part / part.sum()
    modes = np.floor(exact).astype(int)
    modes[np.argsort(modes - exact, kind="stable")[: total - modes.sum()]] += 1
    return [int(m) for m in modes]


def settle(mesh: TetMesh, labels: Array, names: Sequence[str], parents: Sequence[int]) -> Labelled:
    """Move labels until every domain is one piece and only parents and children share nodes."""
    labels, above = np.array(labels), np.asarray(parents)
    pairs = _neighbours(mesh)
    for _ in range(ROUNDS):
        changed = _join_pieces(labels, pairs, len(names)) + _part_strangers(mesh, labels, above)
        if not changed:
            break
    else:
        raise InputError("the labels do not settle into a tree", where="settle")
    counts = np.bincount(labels, minlength=len(names))
    if not counts.all():
        lost = names[int(np.argmin(counts))]
        raise InputError("a domain holds no tet", where=lost, fix="Make it larger than a cell, or use smaller cells.")
    return Labelled(mesh, labels, tuple(names), tuple(int(p) for p in parents))


def largest_piece(mesh: TetMesh) -> TetMesh:
    """The largest part of a mesh that hangs together by faces."""
    pairs = _neighbours(mesh)
    piece = _pieces(pairs, len(mesh.tets))
    return TetMesh(mesh.nodes, mesh.tets[piece == np.bincount(piece).argmax()], isolated="drop")


def _pieces(pairs: Array, count: int) -> Array:
    links = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return connected_components(links, directed=False)[1]


def _neighbours(mesh: TetMesh) -> Array:
    """Pairs of tets with a common face, (k, 2)."""
    order, same = _sorted_faces(mesh)
    return np.column_stack([order[same] // 4, order[same + 1] // 4])


def _sorted_faces(mesh: TetMesh) -> tuple[Array, Array]:
    """An order of all faces 4 tet + k that brings equal ones together, and the places of the first of two."""
    faces = np.sort(mesh.tets[:, TET_FACES].reshape(-1, 3), axis=1)
    key = (faces[:, 0] * len(mesh.nodes) + faces[:, 1]) * len(mesh.nodes) + faces[:, 2]
    order = np.argsort(key, kind="stable")
    return order, np.flatnonzero(key[order[1:]] == key[order[:-1]])


def _join_pieces(labels: Array, pairs: Array, count: int) -> int:
    """Give all but the largest piece of each domain to the neighbour with the most common faces. In place."""
    equal = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    piece = _pieces(pairs[equal], len(labels))
    size, owner = np.bincount(piece), np.zeros(piece.max() + 1, dtype=np.int64)
    owner[piece] = labels
    largest = {d: max(np.flatnonzero(owner == d), key=lambda p: size[p], default=-1) for d in range(count)}
    strays = [p for p in range(len(size)) if largest[owner[p]] != p]
    other = np.concatenate([pairs[~equal], pairs[~equal][:, ::-1]])
    for p in strays:
        around = labels[other[piece[other[:, 0]] == p][:, 1]]
        labels[piece == p] = np.bincount(around).argmax()
    return len(strays)


def _part_strangers(mesh: TetMesh, labels: Array, above: Array) -> int:
    """Where strangers share a node, give the tets of the deepest of them there to its parent. In place."""
    count, depths = len(above), tree_depths(above.tolist())
    incidence = np.unique(mesh.tets.ravel() * count + np.repeat(labels, 4))
    node, label = incidence // count, incidence % count
    several = np.flatnonzero(np.bincount(node, minlength=len(mesh.nodes)) > 1)
    start, stop = np.searchsorted(node, several), np.searchsorted(node, several, side="right")
    moves = {}
    for n, a, b in zip(several, start, stop):
        here = label[a:b]
        is_pair = len(here) == 2 and (above[here[0]] == here[1] or above[here[1]] == here[0])
        if not is_pair:
            moves[int(n)] = int(here[np.argmax(depths[here])])
    if not moves:
        return 0
    leaving = np.full(len(mesh.nodes), -1)
    leaving[list(moves)] = list(moves.values())
    rows = np.flatnonzero((leaving[mesh.tets] == labels[:, None]).any(axis=1))
    labels[rows] = above[labels[rows]]
    return len(rows)


def _shared_faces(mesh: TetMesh, labels: Array) -> dict[tuple[int, int], Array]:
    """Faces (k, 3) between each two domains, under both orders of the two."""
    order, same = _sorted_faces(mesh)
    one, two = labels[order[same] // 4], labels[order[same + 1] // 4]
    between = np.flatnonzero(one != two)
    faces = mesh.tets[:, TET_FACES].reshape(-1, 3)[order[same[between]]]
    found: dict[tuple[int, int], Array] = {}
    for a, b in sorted({(int(a), int(b)) for a, b in zip(one[between], two[between])}):
        here = ((one[between] == a) & (two[between] == b)) | ((one[between] == b) & (two[between] == a))
        found[a, b] = found[b, a] = faces[here]
    return found


def _interface(nodes: Array, faces: Array | None, name: str) -> tuple[Array, Array]:
    """Nodes of an interface, ascending, and the area that belongs to each [m²]."""
    if faces is None:
        raise InputError("the domain does not touch its parent", where=f"domain '{name}'")
    a, b, c = (nodes[faces[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    corners, local = np.unique(faces, return_inverse=True)
    return corners, np.bincount(local.ravel(), weights=np.repeat(area / 3, 3))
