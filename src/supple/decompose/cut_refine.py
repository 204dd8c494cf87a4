"""Interfaces moved to where they are small and where both sides see themselves: a minimal cut between two parts.

Over the labels of the elements of two parts A and B near their interface,

    E = l sum_(faces between A and B) area + sum_elements volume (1 - s(element, own part)) + e volume that moved

is smallest, where s is the share of the part that the element sees, l a typical element's size [m], e = `STAY`. The
minimum is found exactly, as the minimal cut of a graph with an edge a face and edges to the two parts.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from supple.decompose.cut_patches import spread_samples
from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces, element_pieces
from supple.geometry.surfaces.visibility import Sightlines

Array = np.ndarray
TARGETS = 48
"""Points of a part that elements look at."""
STAY = 0.25
"""Share seen that an element must gain to change its part; it decides where a beam could be cut anywhere."""
RANGE = 1_000_000
"""Whole-number capacity of the strongest edge."""


def refine(
    mesh: TetMesh | HexMesh, labels: Array, limbs: Array, shared: SharedFaces, lines: Sightlines, *, reach: int
) -> Array:
    """Labels (m,) with every interface inside a limb moved by at most `reach` elements.

    Interfaces between limbs stay: they are the smallest already. Pieces that come loose join a neighbour.
    """
    out = labels.copy()
    graph = shared.graph(len(labels))
    centres = mesh.nodes[mesh.elements].mean(axis=1)
    length = 2.0 * float(np.median(mesh.volumes)) ** (1 / 3)
    sides = np.sort(out[shared.elements], axis=1)[limbs[shared.elements[:, 0]] == limbs[shared.elements[:, 1]]]
    for a, b in np.unique(sides[sides[:, 0] != sides[:, 1]], axis=0).tolist():
        _refine_pair(out, graph, mesh.volumes, centres, length, lines, (a, b), reach)
    return absorb_loose(out, shared)


def absorb_loose(labels: Array, shared: SharedFaces) -> Array:
    """Labels in which all but the largest piece of every part go to the neighbour of the largest common area."""
    out = labels.copy()
    while True:
        piece = element_pieces(out, shared)
        size = np.bincount(piece)
        label_of = np.zeros(len(size), dtype=np.int64)
        label_of[piece] = out
        best = {label: max(np.flatnonzero(label_of == label), key=lambda p: size[p]) for label in np.unique(label_of)}
        loose = [p for p in range(len(size)) if best[label_of[p]] != p]
        moved = False
        for p in sorted(loose, key=lambda p: size[p]):
            one = (piece[shared.elements] == p).sum(axis=1) == 1
            other = np.where(piece[shared.elements[one, 0]] == p, *shared.elements[one].T[::-1])
            if other.size:
                area = np.bincount(out[other], shared.areas[one], minlength=int(out.max()) + 1)
                area[label_of[p]] = 0.0
                if area.any():
                    out[piece == p] = int(np.argmax(area))
                    moved = True
                    break
        if not moved:
            return out


def _refine_pair(
    labels: Array,
    graph: sparse.csr_array,
    volumes: Array,
    centres: Array,
    length: float,
    lines: Sightlines,
    pair: tuple[int, int],
    reach: int,
) -> None:
    """Overwrite the labels of the elements of a pair of parts near their interface."""
    inside = np.flatnonzero((labels == pair[0]) | (labels == pair[1]))
    areas = graph[inside][:, inside].tocoo()
    first = labels[inside] == pair[0]
    across = first[areas.row] != first[areas.col]
    if not across.any():
        return
    near = _near(areas, first, areas.row[across], reach)
    share = np.zeros((2, len(inside)))
    for k in range(2):
        targets = spread_samples(centres, inside[first == (k == 0)], TARGETS)
        share[k, near] = lines.share_seen(centres[inside[near]], centres[targets])
    strong = 10.0 * (volumes[inside].sum() + length * areas.data.sum())
    share[0] += STAY * first
    share[1] += STAY * ~first
    to_first = np.where(near, volumes[inside] * (1.0 + STAY - share[1]), np.where(first, strong, 0.0))
    to_second = np.where(near, volumes[inside] * (1.0 + STAY - share[0]), np.where(first, 0.0, strong))
    labels[inside] = np.where(minimal_cut(areas, length, to_first, to_second, near), *pair)


def _near(areas: sparse.coo_array, first: Array, start: Array, reach: int) -> Array:
    """Elements at most `reach` steps from the elements `start`, and at most half as far as their part goes."""
    steps = np.full(len(first), -1)
    steps[start] = 0
    links, here = areas.tocsr(), steps == 0
    while here.any():
        here = (links @ here.astype(float) > 0) & (steps < 0)
        steps[here] = steps.max() + 1
    limit = np.where(first, steps[first].max() // 2, steps[~first].max() // 2)
    return (steps >= 0) & (steps <= np.minimum(limit, reach))


def minimal_cut(areas: sparse.coo_array, length: float, to_first: Array, to_second: Array, near: Array) -> Array:
    """Whether each element is on the side of the first part. Capacities of faces are length * area [m³]."""
    count = len(near)
    useful = near[areas.row] | near[areas.col]
    if not near.any():
        return to_first > 0
    largest = max(length * areas.data[useful].max(), to_first[near].max(initial=0.0), to_second[near].max(initial=0.0))
    bound = RANGE * 100

    def whole(values: Array) -> Array:
        return np.minimum(np.rint(values / largest * RANGE), bound).astype(np.int32)

    source, sink = count, count + 1
    rows = np.concatenate([areas.row[useful], np.full(count, source), np.arange(count)])
    columns = np.concatenate([areas.col[useful], np.arange(count), np.full(count, sink)])
    data = np.concatenate([whole(length * areas.data[useful]), whole(to_first), whole(to_second)])
    capacity = sparse.csr_matrix((data, (rows, columns)), shape=(count + 2,) * 2)
    flow = maximum_flow(capacity, source, sink).flow
    residual = (capacity - flow).tocsr()
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    reached = np.zeros(count + 2, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    return reached[:count]
