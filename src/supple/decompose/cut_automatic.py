"""`automatic_labels`: natural parts of a mesh with small interfaces, in a tree.

Natural parts are limbs first: what branches off, cut at its junction, and what hangs on a neck (`cut_limbs`). Where
fewer parts are asked for, limbs are joined, those of the largest interfaces for their volumes first. Where more are,
limbs are parted further, into parts that see nearly all of themselves: lines between their points stay inside the
solid. Small patches are joined by that measure (`cut_patches`), after the weak convex decomposition of [AGC13], which
clusters lines of sight too, but by spectral means; then these interfaces are moved to where they are small and separate
what does not see each other (`cut_refine`). Last, small contacts that close cycles are given away, and parts of the
other cycles joined, until the graph of domains is a tree. Where that leaves fewer parts than asked for, it starts from
more.
"""

from __future__ import annotations

import numpy as np

from supple.decompose.cut_graph import CutInterface, DomainGraph, domain_graph
from supple.decompose.cut_limbs import join_strongest, limb_labels
from supple.decompose.cut_patches import Merging, make_patches
from supple.decompose.cut_refine import absorb_loose, refine
from supple.errors import InputError, check_instance
from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces, element_pieces, shared_faces
from supple.geometry.surfaces.visibility import sightlines

Array = np.ndarray
PASSES = 2
"""Times that every interface is moved."""
SMALLEST = 0.05
"""Of the average part: elements below which a part is joined to its neighbour."""
MAX_MOVED = 0.1
"""Of a part: elements that may be given away to end a contact."""
ATTEMPTS = 3
"""Times that it starts from more parts than asked for, to make up for those that cycles cost."""


def automatic_labels(mesh: TetMesh | HexMesh, *, parts: int | None = None, size: int | None = None) -> Array:
    """Label of each element, (m,), 0 ... parts - 1, for `decompose`; the same mesh gives the same labels.

    parts: how many parts. size: instead, elements of a part on average. Parts in cycles are joined, so that there may
    be fewer parts than asked for.

    >>> from supple.geometry import box_hexes
    >>> np.bincount(automatic_labels(box_hexes((4.0, 1.0, 1.0), (16, 4, 4)), parts=2)).tolist()
    [128, 128]
    """
    count = _part_count(mesh, parts, size)
    shared = shared_faces(mesh)
    if count == 1:
        return np.zeros(len(mesh.elements), dtype=np.int64)
    pieces = int(element_pieces(np.zeros(len(mesh.elements), dtype=np.int64), shared).max()) + 1
    if pieces > 1:
        raise InputError(f"the mesh is in {pieces} pieces that share no face", where="automatic_labels")
    limbs = limb_labels(mesh, shared)
    parting: _Parting | None = None
    best = np.zeros(len(mesh.elements), dtype=np.int64)
    wanted = count
    for _ in range(ATTEMPTS):
        if wanted <= limbs.max() + 1:
            labels = join_strongest(limbs, shared, mesh.volumes, parts=wanted)
        else:
            parting = _Parting(mesh, limbs, shared) if parting is None else parting
            labels = parting.labels(wanted)
        labels = join_cycles(mesh, join_small(labels, shared, SMALLEST * len(labels) / count), shared)
        if labels.max() + 1 > count:
            labels = join_strongest(labels, shared, mesh.volumes, parts=count)
        if labels.max() > best.max():
            best = labels
        missing = count - int(best.max()) - 1
        if not missing:
            break
        wanted += 2 * missing
    return best


class _Parting:
    """Limbs parted further, into parts that see nearly all of themselves."""

    def __init__(self, mesh: TetMesh | HexMesh, limbs: Array, shared: SharedFaces) -> None:
        self.mesh, self.limbs, self.shared, self.lines = mesh, limbs, shared, sightlines(mesh)
        patches = make_patches(mesh.nodes[mesh.elements].mean(axis=1), shared)
        patches = element_pieces(patches * (limbs.max() + 1) + limbs, shared)
        self.merging = Merging(mesh, patches, limbs, shared, self.lines)
        self.reach = max(2, int(np.ceil(4.0 * (len(patches) / (patches.max() + 1)) ** (1 / 3))))

    def labels(self, count: int) -> Array:
        """Part of each element, (m,)."""
        labels = self.merging.labels(count)
        for _ in range(PASSES):
            labels = refine(self.mesh, labels, self.limbs, self.shared, self.lines, reach=self.reach)
        return labels


def join_cycles(mesh: TetMesh | HexMesh, labels: Array, shared: SharedFaces) -> Array:
    """Labels (m,), counted from 0, whose graph of domains is a tree.

    Of a cycle, where two parts touch away from its largest part, the elements of one at that place go to the largest,
    if they are few. Otherwise the two parts of the cycle are joined whose common interface is largest against the
    smaller of them.
    """
    out = np.unique(absorb_loose(labels, shared), return_inverse=True)[1].ravel()
    moved = np.zeros(len(out), dtype=bool)
    while True:
        graph = _graph(mesh, out, shared)
        if not graph.cycles:
            return out
        untied = _untie(mesh, out, shared, graph, moved)
        if untied is None:
            volume = np.bincount(out, mesh.volumes)
            a, b = max(_around(graph, graph.cycles[-1]), key=lambda i: _strength(i, volume)).pair
            out[out == b] = a
        else:
            out = untied
        out = np.unique(out, return_inverse=True)[1].ravel()


def _untie(
    mesh: TetMesh | HexMesh, labels: Array, shared: SharedFaces, graph: DomainGraph, moved_out: Array
) -> Array | None:
    """Labels with the smallest contact of a cycle, away from its largest part, given to that part.

    None where that moves too much, moves an element twice, or tears a part.
    """
    volume = np.bincount(labels, mesh.volumes)
    loop = graph.cycles[-1]
    hub = max(loop, key=lambda part: volume[part])
    contact = min((i for i in _around(graph, loop) if hub not in i.pair), key=lambda i: (i.area, i.pair))
    touching = np.isin(mesh.elements, contact.nodes).any(axis=1)
    for part in sorted(contact.pair, key=lambda p: np.count_nonzero(touching & (labels == p))):
        given = _bridge(touching & (labels == part), labels, part, hub, shared)
        if moved_out[given].any() or given.sum() > MAX_MOVED * np.count_nonzero(labels == part):
            continue
        out = labels.copy()
        out[given] = hub
        out = absorb_loose(out, shared)
        if len(np.unique(out)) == len(graph.names):
            moved_out |= given
            return out
    return None


def _bridge(given: Array, labels: Array, part: int, hub: int, shared: SharedFaces) -> Array:
    """Elements of a part to give to the hub: these, and the shortest ways from them to it through the part."""
    links = shared.graph(len(labels))
    steps = np.where(labels == hub, 0, -1)
    here = steps == 0
    while here.any() and (steps[given] < 0).any():
        here = (links @ here.astype(float) > 0) & (labels == part) & (steps < 0)
        steps[here] = steps.max() + 1
    out, here = given.copy(), given
    for step in range(int(steps[given].max()) - 1, 0, -1):
        here = here | (links @ (here & (steps == step + 1)).astype(float) > 0) & (steps == step) & (labels == part)
        out |= here
    return out


def join_small(labels: Array, shared: SharedFaces, size: float) -> Array:
    """Labels in which parts of fewer than `size` elements join the neighbour of the largest common area."""
    out = absorb_loose(labels, shared)
    while True:
        count = np.bincount(out)
        small = np.flatnonzero((count > 0) & (count < size))
        if not small.size or np.count_nonzero(count) == 1:
            return out
        part = small[np.argmin(count[small])]
        sides = out[shared.elements]
        at = (sides == part).sum(axis=1) == 1
        other = np.where(sides[at, 0] == part, sides[at, 1], sides[at, 0])
        out[out == part] = int(np.argmax(np.bincount(other, shared.areas[at])))


def _graph(mesh: TetMesh | HexMesh, labels: Array, shared: SharedFaces) -> DomainGraph:
    return domain_graph(mesh, labels, [str(k) for k in range(int(labels.max()) + 1)], shared)


def _around(graph: DomainGraph, loop: list[int]) -> list[CutInterface]:
    """Interfaces between neighbours of a loop of domains."""
    pairs = {tuple(sorted(pair)) for pair in zip(loop, [*loop[1:], loop[0]])}
    return [i for i in graph.interfaces if i.pair in pairs]


def _strength(interface: CutInterface, volume: Array) -> float:
    return interface.area / min(volume[list(interface.pair)]) ** (2 / 3)


def _part_count(mesh: TetMesh | HexMesh, parts: int | None, size: int | None) -> int:
    check_instance(mesh, (TetMesh, HexMesh), "a mesh of tets or hexes", where="automatic_labels")
    if (parts is None) == (size is None):
        raise InputError("give either the number of parts or their size", where="automatic_labels")
    value = parts if parts is not None else size
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1 or value > len(mesh.elements):
        raise InputError(
            "the number or the size of the parts is not a whole number",
            where="automatic_labels",
            value=value,
            allowed=f"1 to {len(mesh.elements)}",
        )
    return int(value) if parts is not None else max(1, round(len(mesh.elements) / int(value)))
