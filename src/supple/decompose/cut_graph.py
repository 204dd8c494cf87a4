"""The graph of domains: which of them meet, over which vertices, and the tree that is left of it.

Two domains meet in an interface where their elements share vertices. Sharing an edge or a corner only is no interface
of its own where, at every such vertex, other domains join the two by faces: three parts around an edge are that. A
graph with cycles has no tree; breaking them leaves the interfaces of the smallest area open, as the spanning tree of
the largest interfaces does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces, shared_faces

Array = np.ndarray
MAX_NAMED = 8
"""Cycles that a message names."""


@dataclass(frozen=True, eq=False)
class CutInterface:
    """Where the domains `pair` meet, the smaller number first.

    nodes: shared vertices of the whole mesh, ascending, (k,). faces: rows of the shared faces, (f,), none where they
    share edges or corners only. area [m²].
    """

    pair: tuple[int, int]
    nodes: Array
    faces: Array
    area: float


@dataclass(frozen=True, eq=False)
class DomainGraph:
    """names of the domains; interfaces: ascending by pair; shared: faces between the elements of the whole mesh."""

    names: Sequence[str]
    interfaces: Sequence[CutInterface]
    shared: SharedFaces

    @cached_property
    def spanning(self) -> tuple[list[CutInterface], list[CutInterface]]:
        """Interfaces of the tree of the largest areas, and those that close cycles, largest first."""
        group = list(range(len(self.names)))
        kept: list[CutInterface] = []
        closing: list[CutInterface] = []
        for interface in sorted(self.interfaces, key=lambda i: (-i.area, -len(i.nodes), i.pair)):
            a, b = (_find(group, domain) for domain in interface.pair)
            (kept if a != b else closing).append(interface)
            group[max(a, b)] = min(a, b)
        return kept, closing

    @property
    def is_tree(self) -> bool:
        """Whether the graph is connected and has no cycle."""
        return not self.spanning[1] and len(self.spanning[0]) == len(self.names) - 1

    @cached_property
    def cycles(self) -> list[list[int]]:
        """For every interface that closes a cycle, the shortest way round through the tree: domains in order."""
        kept, closing = self.spanning
        beside = neighbours(len(self.names), kept)
        return [path_between(beside, *interface.pair) for interface in closing]

    def patch_count(self, interface: CutInterface) -> int:
        """Patches of an interface, whose faces share vertices within each; 0 where it has no faces."""
        if not len(interface.faces):
            return 0
        faces = np.unique(self.shared.faces[interface.faces], return_inverse=True)[1].reshape(len(interface.faces), -1)
        group = list(range(int(faces.max()) + 1))
        for face in faces.tolist():
            roots = [_find(group, node) for node in face]
            for root in roots:
                group[root] = min(roots)
        return len({_find(group, node) for node in range(len(group))})

    def check_acyclic(self) -> None:
        """Refuse cycles, with the names of the domains in order."""
        if self.cycles:
            loops = [" - ".join(self.names[d] for d in [*loop, loop[0]]) for loop in self.cycles]
            more = f" and {len(loops) - MAX_NAMED} more" if len(loops) > MAX_NAMED else ""
            raise InputError(
                f"the domains form {len(loops)} cycle(s): {'; '.join(loops[:MAX_NAMED])}{more}",
                where="decompose",
                allowed="a tree",
                fix='Join domains of each cycle, or pass cycles="break" to leave its smallest interface open.',
            )

    def check_patches(self, interfaces: Sequence[CutInterface]) -> None:
        """Refuse interfaces in several patches, by name: each patch is a way round through both domains."""
        for interface in interfaces:
            count = self.patch_count(interface)
            if count > 1:
                one, two = (self.names[d] for d in interface.pair)
                raise InputError(
                    f"the two domains meet in {count} patches that share no vertex, which hides a loop",
                    where=f"interface '{one}' - '{two}'",
                    value=f"{len(interface.faces)} faces",
                    allowed="one patch",
                    fix='Cut one of them between the patches, join the two, or pass patches="join" to hold all patches '
                    "as one rigid interface.",
                )

    def check_connected(self) -> None:
        """Refuse domains that do not hang together, with the names of those apart from the first."""
        beside = neighbours(len(self.names), self.spanning[0])
        reached = set(breadth_first(beside, 0))
        apart = [name for number, name in enumerate(self.names) if number not in reached]
        if apart:
            raise InputError(
                f"the domains do not hang together: {', '.join(apart[:MAX_NAMED])} share no vertex with the rest",
                where="decompose",
                value=f"{len(apart)} of {len(self.names)} apart from '{self.names[0]}'",
                fix="Weld doubled vertices with mesh.welded(), or make one tree of each.",
            )


def domain_graph(
    mesh: TetMesh | HexMesh, labels: Array, names: Sequence[str], shared: SharedFaces | None = None
) -> DomainGraph:
    """The graph of domains 0 ... len(names) - 1 given by a label of each element, (m,)."""
    shared = shared_faces(mesh) if shared is None else shared
    count = len(names)
    sides = np.sort(labels[shared.elements], axis=1)
    between = np.flatnonzero(sides[:, 0] != sides[:, 1])
    face_pairs = sides[between, 0] * count + sides[between, 1]
    order = np.argsort(face_pairs, kind="stable")
    keys, starts = np.unique(face_pairs[order], return_index=True)
    faces_of = dict(zip(keys.tolist(), np.split(between[order], starts[1:])))
    joined: dict[int, set[int]] = {}  # node -> pairs of domains that share a face there
    for key, faces in faces_of.items():
        for node in np.unique(shared.faces[faces]).tolist():
            joined.setdefault(node, set()).add(key)
    nodes_of: dict[int, list[int]] = {}
    needed: set[int] = set(faces_of)
    for node, domains in _domains_of_nodes(mesh, labels):
        group = {d: d for d in domains}
        for key in joined.get(node, ()):
            _unite(group, *divmod(key, count))
        for i, a in enumerate(domains):
            for b in domains[i + 1 :]:
                nodes_of.setdefault(a * count + b, []).append(node)
                if _root(group, a) != _root(group, b):
                    needed.add(a * count + b)
    none = np.empty(0, dtype=np.int64)
    interfaces = []
    for key in sorted(needed):
        faces = faces_of.get(key, none)
        pair = (key // count, key % count)
        interfaces.append(CutInterface(pair, np.array(nodes_of[key]), faces, float(shared.areas[faces].sum())))
    return DomainGraph(tuple(names), tuple(interfaces), shared)


def neighbours(count: int, interfaces: Sequence[CutInterface]) -> list[list[int]]:
    """Domains beside each domain, ascending."""
    beside: list[list[int]] = [[] for _ in range(count)]
    for interface in interfaces:
        a, b = interface.pair
        beside[a].append(b)
        beside[b].append(a)
    return [sorted(row) for row in beside]


def breadth_first(beside: list[list[int]], start: int) -> dict[int, int]:
    """Every domain that can be reached, in order of its distance, with the one before it (-1 for the start)."""
    before, queue = {start: -1}, deque([start])
    while queue:
        here = queue.popleft()
        for other in beside[here]:
            if other not in before:
                before[other] = here
                queue.append(other)
    return before


def path_between(beside: list[list[int]], start: int, end: int) -> list[int]:
    """Domains on the shortest way from one to another, both included."""
    before, path = breadth_first(beside, start), [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


def _domains_of_nodes(mesh: TetMesh | HexMesh, labels: Array) -> list[tuple[int, list[int]]]:
    """Nodes that several domains share, with these domains, ascending."""
    width = mesh.elements.shape[1]
    count = int(labels.max()) + 1
    pairs = np.stack(np.divmod(np.unique(mesh.elements.ravel() * count + np.repeat(labels, width)), count), axis=1)
    nodes, starts, counts = np.unique(pairs[:, 0], return_index=True, return_counts=True)
    several = np.flatnonzero(counts > 1)
    return [(int(nodes[i]), pairs[starts[i] : starts[i] + counts[i], 1].tolist()) for i in several]


def _find(group: list[int], item: int) -> int:
    while group[item] != item:
        item = group[item]
    return item


def _root(group: dict[int, int], item: int) -> int:
    while group[item] != item:
        item = group[item]
    return item


def _unite(group: dict[int, int], a: int, b: int) -> None:
    a, b = _root(group, a), _root(group, b)
    group[max(a, b)] = min(a, b)
