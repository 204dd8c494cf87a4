"""Windows of a large lattice that stand for it where its largest stable step is looked for.

The fastest motions of a lattice are short waves: neighbours move against each other. In a lattice of one material they
reach everywhere, and a window repeated without end has them all. In one of many materials they keep to where links are
stiff or damped and voxels light. To find such places, motions are sizes without signs, one of translations and one of
rotations of each voxel, and A the matrix of the sizes of all that acts between them, over the roots of their masses:

    z <- A z,     z = 1 at first

In a lattice neighbours can move against each other everywhere: z grows most where the frequency is highest. It is done
for the stiffness and for the damping, and windows of WIDTH³ voxels are laid around the largest z, and where links are
stiff for their damping, since stages bear strong damping better than stiffness without it. At a border of a window
behind which the body goes on, links lead back to its other side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.voxel.sweep.lattice_kernels import Links, add_sizes

Array = np.ndarray
LARGE = 5000  # voxels from which on windows stand for a lattice
WIDTH = 6  # even, so that neighbours can move against each other all around
COUNT = 3  # windows for each thing that makes motions fast
PASSES = 12
TINY = 1e-9  # of the largest damping, as good as none


class Lattice(NamedTuple):
    """What the stable step depends on. links; inverse (n, 2): 1/m, 1/I, zero of voxels that are held; stiffness,
    damping (n, 2): of all else but links, of each translation and rotation; cells (n, 3): places in the grid."""

    links: Links
    inverse: Array
    stiffness: Array
    damping: Array
    cells: Array


class Windows(NamedTuple):
    """lattice: of the windows alone, with links around. voxels (k,): their numbers in the whole. own (m,): which of its
    links are the whole's own."""

    lattice: Lattice
    voxels: Array
    own: Array

    @property
    def open(self) -> Lattice:
        """Without links around."""
        return self.lattice._replace(links=Links(*(values[self.own] for values in self.lattice.links)))


def make_windows(whole: Lattice, more: Array | None = None) -> Windows:
    """Windows where motions are fastest; more (n,): and where this is largest."""
    alike = more is None  # windows are, whose materials are; bent ones are not
    n, links = len(whole.cells), whole.links
    beside = np.full((2, n, 3), -1)  # links ahead of voxels, and behind them
    for ends, side in zip(links.voxels.T, beside):
        side[ends, links.axis] = np.arange(len(links.axis))
    columns = np.ascontiguousarray(whole.cells.T)
    lowest, highest = columns.min(axis=1), columns.max(axis=1) + 1
    covered = np.zeros(n, dtype=bool)
    cuts: list[Windows] = []
    for score, count in _scores(whole, np.bincount(links.voxels.ravel(), minlength=n), more):
        for _ in range(count):
            at = int(np.argmax(np.where(covered, -np.inf, score)))
            if covered[at] or not np.isfinite(score[at]):
                break
            low = np.clip(whole.cells[at] - WIDTH // 2, lowest, np.maximum(highest - WIDTH, lowest))
            inside = np.logical_and.reduce([(c >= a) & (c < a + WIDTH) for c, a in zip(columns, low)])
            covered |= inside
            cut = _cut(whole, beside, np.flatnonzero(inside), low)
            if not alike or not any(_is_alike(cut, other) for other in cuts):
                cuts.append(cut)
    return Windows(
        _joined([cut.lattice for cut in cuts]),
        np.concatenate([cut.voxels for cut in cuts]),
        np.concatenate([cut.own for cut in cuts]),
    )


def _scores(whole: Lattice, link_counts: Array, more: Array | None) -> list[tuple[Array, int]]:
    """Numbers of voxels (n,), around the largest of which so many windows are laid: also around voxels of surfaces,
    edges and corners."""
    links = whole.links
    damped = links._replace(stiffness=np.repeat(links.damping, 2, axis=1))
    stiff = _score(links, whole.stiffness, whole.inverse)
    scores = [(stiff, COUNT)]
    if links.damping.any() or whole.damping.any():
        scores.append((_score(damped, whole.damping, whole.inverse), COUNT))
    if links.damping.any():
        scores.append((_undamped(whole), COUNT))
    scores += [(np.where(link_counts == c, stiff, -np.inf), 1) for c in range(1, 7)]
    return scores if more is None else [*scores, (more, COUNT)]


def _score(links: Links, beside: Array, inverse: Array) -> Array:
    """How much z grows at each voxel, (n,); beside (n, 2): what acts on voxels alone."""
    root = np.sqrt(inverse)
    z = (root > 0).astype(float)
    for _ in range(PASSES):
        scaled = root * z
        f = beside * scaled
        add_sizes(links, scaled, f)
        z = root * f
        z /= max(float(z.max()), 1e-300)
    return np.asarray(z[:, 0] ** 2 + z[:, 1] ** 2)


def _undamped(whole: Lattice) -> Array:
    """How stiffly voxels are held, times stiffness over damping of their links, (n,)."""
    k, c = (_sums(whole.links.voxels, v[:, 0], len(whole.cells)) for v in (whole.links.stiffness, whole.links.damping))
    return np.asarray(whole.inverse[:, 0] * k * k / np.maximum(c, TINY * c.max()))


def _sums(voxels: Array, values: Array, count: int) -> Array:
    """Of the links at each voxel."""
    return np.asarray(sum(np.bincount(end, values, count) for end in voxels.T))


def _cut(whole: Lattice, beside: Array, voxels: Array, low: Array) -> Windows:
    """One window of these voxels. A link that leaves it upwards and one that enters from below in the same row become
    one, with the smaller constants of both: no voxel is held by more than in the whole."""
    box = np.full((WIDTH, WIDTH, WIDTH), -1)
    cells = whole.cells[voxels] - low
    box[tuple(cells.T)] = np.arange(len(voxels))
    starts, axis = np.nonzero(beside[0, voxels] >= 0)
    ahead = beside[0, voxels[starts], axis]
    reached = cells[starts] + np.eye(3, dtype=int)[axis]
    own = reached[np.arange(len(axis)), axis] < WIDTH
    ends = box[tuple((reached % WIDTH).T)]
    behind = np.where(own, ahead, beside[1, voxels[ends], axis])
    kept = (ends >= 0) & (behind >= 0) & (ends != starts)
    ahead, behind = ahead[kept], behind[kept]
    pairs = np.ascontiguousarray(np.stack([starts, ends], axis=1)[kept], dtype=np.int32)
    links = Links(pairs, whole.links.axis[ahead], *(np.minimum(v[ahead], v[behind]) for v in whole.links[2:]))
    parts = (v[voxels] for v in (whole.inverse, whole.stiffness, whole.damping, whole.cells))
    return Windows(Lattice(links, *parts), voxels, own[kept])


def _is_alike(one: Windows, two: Windows) -> bool:
    """Whether two windows have the same materials everywhere."""
    return all(map(np.array_equal, (*one.lattice.links, *one.lattice[1:4]), (*two.lattice.links, *two.lattice[1:4])))


def _joined(lattices: list[Lattice]) -> Lattice:
    """Several lattices that do not touch."""
    starts = np.cumsum([0, *(len(lattice.cells) for lattice in lattices)])
    pairs = [lattice.links.voxels + np.int32(start) for lattice, start in zip(lattices, starts)]
    values = [np.concatenate(parts) for parts in zip(*(lattice.links[1:] for lattice in lattices))]
    links = Links(np.concatenate(pairs), *values)
    return Lattice(links, *(np.concatenate(parts) for parts in zip(*(lattice[1:] for lattice in lattices))))
