"""Limbs cut off where they are thinnest: at their junctions, and at necks between two bulges.

Near its junction a limb is cut through its smallest section, a minimal cut between what is surely its own and what is
surely its parent's, within `REACH` widths. A limb is cut too where its section is a minimum between two bulges, both of
which have more volume than a beam of that section, by at least `NECK` widths³: a bud on a stem is a part of its own,
the foot of a tapering stem is not.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from supple.decompose.cut_branches import Limbs, find_limbs, way_from
from supple.decompose.cut_passing import join_passing
from supple.decompose.cut_patches import common_areas
from supple.decompose.cut_refine import absorb_loose, minimal_cut
from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces
from supple.geometry.meshes.partition import part_of

Array = np.ndarray
REACH, NECK_REACH = 1.5, 6.0
"""Widths by which a cut may be moved along a limb, at its junction and at a neck."""
KEPT = 0.75
"""Share of a parent limb, from the junction on, that may become its child's where it does not pass the junction."""
FAR = 0.85
"""Share of the way from a neck to an end of its limb that is free to be cut."""
PULL = 0.3
"""Area that a cut must save to leave the junction by its reach, as a share."""
NECK = 3.0
"""Volume that the bulges on both sides of a neck have more than a beam of its section, by its width³."""
MAX_SLICES = 128
WEAK = 0.8
"""Strength of an interface from which it is no natural one, see `join_strongest`."""


def limb_labels(mesh: TetMesh | HexMesh, shared: SharedFaces) -> Array:
    """Number of the limb of each element, (m,), counted from 0, of a mesh in one piece."""
    limbs = join_passing(mesh, find_limbs(mesh, shared))
    graph = shared.graph(len(limbs.labels))
    labels = limbs.labels.copy()
    for child, parent in limbs.parents.items():
        _cut_off(labels, limbs, graph, mesh.volumes, child, parent)
    labels = absorb_loose(labels, shared)
    for limb in np.unique(labels).tolist():
        _cut_necks(mesh, labels, graph, limb)
    labels = np.unique(absorb_loose(labels, shared), return_inverse=True)[1].ravel()
    return join_strongest(labels, shared, mesh.volumes, least=WEAK)


def join_strongest(labels: Array, shared: SharedFaces, volumes: Array, *, parts: int = 1, least: float = 0.0) -> Array:
    """Labels of the parts that are left when neighbours are joined, the two of the strongest interface first.

    strength = area / smaller volume^(2/3). parts: where to stop; least: strength where to stop.
    """
    part = np.arange(int(labels.max()) + 1)
    area, size = common_areas(labels, shared, len(part)), np.bincount(labels, volumes)
    for _ in range(len(part) - parts):
        strength = area / np.minimum(size[:, None], size[None]) ** (2 / 3)
        a, b = sorted(int(k) for k in np.unravel_index(np.argmax(strength), strength.shape))
        if strength[a, b] <= least:
            break
        part[part == b] = a
        area[a] += area[b]
        area[:, a] += area[:, b]
        area[a, a] = area[b] = area[:, b] = 0.0
        size[a] += size[b]
    return np.unique(part[labels], return_inverse=True)[1].ravel()


def _cut_off(labels_out: Array, limbs: Limbs, graph: sparse.csr_array, volumes: Array, child: int, parent: int) -> None:
    """Move the cut between a limb and its parent to the smallest section nearby."""
    limb, way, beyond = limbs.limbs[child], limbs.way, limbs.limbs[parent].level
    reach = REACH * limb.width
    own = (labels_out == child) & (way < limb.level + min(reach, 0.5 * (limb.start - limb.level)))
    around = labels_out == parent
    passes = (around & (way > limb.level + reach)).any()
    below = limb.level - (reach if passes else min(reach, KEPT * (limb.level - beyond)))
    free = own | around & (way > below) & (way < limb.level + reach)
    inner = np.isin(labels_out, _subtree(limbs, child))
    inside = cut_between(graph, inner & ~free, ~inner & ~free, free, volumes * PULL / reach)
    labels_out[free & inside] = child
    labels_out[free & ~inside] = parent


def cut_between(graph: sparse.csr_array, first: Array, second: Array, free: Array, pull: Array) -> Array:
    """Whether each free element is on the first side of the smallest cut between two sets of elements, (m,).

    graph: areas [m²]. pull: area that is worth having an element on the first side [m²], (m,).
    """
    used = np.flatnonzero(free | (graph @ free.astype(float) > 0))
    areas = graph[used][:, used].tocoo()
    strong = 10.0 * (areas.data.sum() + pull[used].sum())
    to_first = np.where(first[used], strong, np.where(free[used], pull[used], 0.0))
    out = first.copy()
    out[used] = minimal_cut(areas, 1.0, to_first, np.where(second[used], strong, 0.0), free[used])
    return out


def _subtree(limbs: Limbs, limb: int) -> list[int]:
    return [limb, *(k for child in limbs.limbs[limb].children for k in _subtree(limbs, child))]


def _cut_necks(mesh: TetMesh | HexMesh, labels_out: Array, graph: sparse.csr_array, limb: int) -> None:
    """Give new numbers to the parts of a limb beyond its necks."""
    elements = np.flatnonzero(labels_out == limb)
    part = part_of(mesh, elements).mesh
    far = int(np.argmax(way_from(part, part.elements[0])))
    node_way = way_from(part, np.array([far]))
    spans, way = node_way[part.elements], node_way[part.elements].mean(axis=1)
    for neck, width in necks(spans.min(axis=1), spans.max(axis=1), part.volumes):
        beyond, free = (np.zeros(len(labels_out), dtype=bool) for _ in range(2))
        beyond[elements[way > neck]] = True
        reach = np.minimum(NECK_REACH * width, FAR * np.where(way > neck, way.max() - neck, neck - way.min()))
        free[elements[np.abs(way - neck) < reach]] = True
        side = cut_between(graph, beyond & ~free, ~beyond & ~free, free, np.zeros(len(labels_out)))
        here = int(labels_out[elements[np.argmin(np.abs(way - neck))]])
        pieces = [which & (labels_out == here) for which in (side, ~side)]
        if min(mesh.volumes[piece].sum() for piece in pieces) > width**3:
            labels_out[pieces[0]] = labels_out.max() + 1


def necks(start: Array, stop: Array, volumes: Array) -> list[tuple[float, float]]:
    """Places along a way [m] where a body is thinnest between two bulges, most marked first, and its width there [m].

    start, stop: where each element begins and ends along the way [m], (m,). volumes [m³], (m,).
    """
    low, high = start.min(), stop.max()
    length = np.maximum(stop - start, 1e-9 * (high - low))
    count = int(np.clip((high - low) / length.mean(), 1, MAX_SLICES))
    edges = np.linspace(low, high, count + 1)
    filled = np.array([volumes @ np.clip((edge - start) / length, 0.0, 1.0) for edge in edges])
    step = edges[1] - edges[0]
    area = np.diff(filled) / step
    found: list[tuple[float, int]] = []
    stack = [(0, count)]
    while stack:
        first, last = stack.pop()
        depth, at = max((_neck_depth(area[first:last], k) * step, first + k) for k in range(last - first))
        if depth >= NECK:
            found.append((depth, at))
            stack += [(first, at), (at + 1, last)]
    return [(0.5 * (edges[at] + edges[at + 1]), float(np.sqrt(area[at]))) for _, at in sorted(found, reverse=True)]


def _neck_depth(area: Array, at: int) -> float:
    """What the smaller of the two bulges beside a section has more than that section, by area^(3/2) [1/m]."""
    if at in (0, len(area) - 1) or area[at] <= 0:
        return 0.0
    more = [side - area[at] for side in (area[:at][::-1], area[at + 1 :])]
    bulges = [side[: np.argmax(side < 0)] if (side < 0).any() else side for side in more]
    return float(min(bulge.sum() for bulge in bulges) / area[at] ** 1.5)
