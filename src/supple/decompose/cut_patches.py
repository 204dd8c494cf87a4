"""Small patches of a mesh and how they are joined into parts that nearly see all of themselves.

    cost(A, B) = 1/V sum_(a in A, b in B) v_a v_b (h_ab + e d_ab²) / (V_A + V_B)
    d_ab² = sum_k (phi_k(a) - phi_k(b))² / l_k⁴,   largest d = 1

    symbol       meaning
    h_ab         share of the lines of sight between patches a and b that leave the solid [-]
    v_a          volume of a patch [m³]; V_A of a part, V of the whole
    e            `COMPACTNESS`: what decides where everything is seen, as in a straight beam [-]
    phi_k, l_k   lowest modes of diffusion between the patches, v-normalised, and their rates

The two neighbours of the least cost are joined again and again, which is Ward's rule with hidden lines in place of
distances: a large part hidden from another large part is kept apart, a small bump is not. Distances of diffusion grow
along a body and hardly across it, so that a plate is cut into slices, a chain, and not into tiles, which form cycles.
"""

from __future__ import annotations

import numpy as np

from supple.geometry import HexMesh, TetMesh
from supple.geometry.meshes.connectivity import SharedFaces, element_pieces
from supple.geometry.surfaces.visibility import Sightlines

Array = np.ndarray
MAX_PATCHES = 300
SMALLEST_PATCH = 8
"""Elements of a patch."""
SAMPLES = 4
"""Points of a patch that lines of sight are drawn from."""
COMPACTNESS = 0.01
MODES = 12
"""Modes of diffusion that count."""


def make_patches(centres: Array, shared: SharedFaces) -> Array:
    """Patch of each element, (m,): the elements halved across their longest axis, again and again, then into pieces."""
    count = min(MAX_PATCHES, max(len(centres) // SMALLEST_PATCH, 1))
    groups = [np.arange(len(centres))]
    while len(groups) < count:
        groups.sort(key=lambda g: (-len(g), g[0]))
        if len(groups[0]) < 2:
            break
        largest = groups.pop(0)
        order = largest[np.argsort(_along(centres[largest]), kind="stable")]
        groups += [np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])]
    labels = np.empty(len(centres), dtype=np.int64)
    for number, group in enumerate(groups):
        labels[group] = number
    return element_pieces(labels, shared)


def spread_samples(centres: Array, elements: Array, count: int) -> Array:
    """Up to `count` of the elements, evenly spread along the longest axis of their centres."""
    order = elements[np.argsort(_along(centres[elements]), kind="stable")]
    return order[np.unique(np.linspace(0, len(order) - 1, count).round().astype(np.int64))]


def common_areas(patches: Array, shared: SharedFaces, count: int) -> Array:
    """Area between patches [m²], (g, g), zero on the diagonal."""
    out = np.zeros((count, count))
    a, b = patches[shared.elements].T
    np.add.at(out, (a, b), shared.areas)
    np.fill_diagonal(out, 0.0)
    return out + out.T - np.diag(np.diag(out))


class Merging:
    """Parts made by joining patches of the same limb. `labels(count)` gives the part of each element.

    patches: of each element, (m,), none of which is in two limbs. limbs: of each element, (m,).
    """

    def __init__(
        self, mesh: TetMesh | HexMesh, patches: Array, limbs: Array, shared: SharedFaces, lines: Sightlines
    ) -> None:
        centres = mesh.nodes[mesh.elements].mean(axis=1)
        count = int(patches.max()) + 1
        volume = np.bincount(patches, mesh.volumes, minlength=count)
        weighted = mesh.volumes[:, None] * centres
        middle = np.stack([np.bincount(patches, column, minlength=count) / volume for column in weighted.T], axis=1)
        chosen = [spread_samples(centres, np.flatnonzero(patches == p), SAMPLES) for p in range(count)]
        points, groups = np.concatenate(chosen), np.repeat(np.arange(count), [len(c) for c in chosen])
        seen, pairs = lines.between_groups(centres[points], groups, count)
        hidden = 1.0 - seen / np.maximum(pairs, 1.0)
        area = common_areas(patches, shared, count)
        limb = np.zeros(count, dtype=np.int64)
        limb[patches] = limbs
        within = (area > 0) & (limb[:, None] == limb[None])
        self.patches = patches
        self._steps = _join(hidden + COMPACTNESS * diffusion_distances(area, middle, volume), volume, within)
        self._count = count

    def labels(self, count: int) -> Array:
        """Part of each element, (m,), for a number of parts between that of limbs and that of patches."""
        part = np.arange(self._count)
        for kept, gone in self._steps[: max(self._count - count, 0)]:
            part[part == gone] = kept
        return np.unique(part[self.patches], return_inverse=True)[1].ravel()


def _join(distance: Array, volume: Array, touching: Array) -> list[tuple[int, int]]:
    """Pairs (kept, gone) in the order of joining. distance: (g, g) between patches, see the module."""
    volume = volume / volume.sum()
    total = distance * np.outer(volume, volume)
    touching, size = touching.copy(), volume.copy()
    steps: list[tuple[int, int]] = []
    cost = np.where(touching, total / (size[:, None] + size[None]), np.inf)
    while np.isfinite(least := cost.min()):
        a, b = sorted(int(k) for k in np.unravel_index(np.argmax(cost == least), cost.shape))
        steps.append((a, b))
        total[a] += total[b]
        total[:, a] += total[:, b]
        touching[a] |= touching[b]
        touching[:, a] |= touching[:, b]
        touching[b] = touching[:, b] = False
        touching[a, a] = False
        size[a] += size[b]
        row = np.where(touching[a], total[a] / (size[a] + size), np.inf)
        cost[b], cost[:, b] = np.inf, np.inf
        cost[a], cost[:, a] = row, row
    return steps


def diffusion_distances(area: Array, middle: Array, volume: Array) -> Array:
    """Squared distances of diffusion d² between patches, (g, g), see the module; the largest is 1.

    area: between patches [m²], (g, g), zero on the diagonal. middle [m], (g, 3); volume [m³], (g,): of patches.
    """
    if len(volume) < 2:
        return np.zeros(area.shape)
    gap = np.linalg.norm(middle[:, None] - middle[None], axis=-1)
    conductance = area / np.where(gap > 0, gap, 1.0)
    laplacian = np.diag(conductance.sum(axis=1)) - conductance
    scale = 1.0 / np.sqrt(volume)
    rates, modes = np.linalg.eigh(scale[:, None] * laplacian * scale)
    useful = slice(1, 1 + MODES)
    embedded = scale[:, None] * modes[:, useful] / np.maximum(rates[useful], 1e-12 * rates[-1]) ** 2
    squares = ((embedded[:, None] - embedded[None]) ** 2).sum(axis=-1)
    return squares / squares.max()


def _along(X: Array) -> Array:
    """Coordinate of points (k, 3) along their longest axis, turned so that its largest component is positive."""
    offsets = X - X.mean(axis=0)
    axis = np.linalg.eigh(offsets.T @ offsets)[1][:, 2]
    return offsets @ (axis * np.sign(axis[np.argmax(np.abs(axis))]))
