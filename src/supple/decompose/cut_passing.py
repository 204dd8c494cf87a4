"""Limbs that pass through junctions: a stem goes on where a leaf leaves it, the bar of a T where its foot does.

At a junction the limb below it and one above it are one limb where they go straight on, where their sections are alike,
and where no other limb does so nearly as well. The arms of a Y are alike, so that all three are cut. A root that is no
thicker than its limbs is itself a place that two of them pass through.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from supple.decompose.cut_branches import Limb, Limbs
from supple.geometry import HexMesh, TetMesh

Array = np.ndarray
PASSING = 0.4
"""Least cosine between the directions before and after a junction, times the ratio of the sections."""
CLEARER = 0.2
"""How much more of it than any other."""
NEAR = 1.5
"""Widths of a limb from a junction that its direction and section there are taken from."""
SMALL_ROOT = 0.75
"""Widths of limbs up to which a root is no part of its own."""


def join_passing(mesh: TetMesh | HexMesh, limbs: Limbs) -> Limbs:
    """The limbs with those joined that pass through junctions."""
    centres = mesh.nodes[mesh.elements].mean(axis=1)
    near = _Junctions(limbs, centres, mesh.volumes)
    into = dict.fromkeys(_through_root(near, limbs.limbs[limbs.root]), limbs.root)
    joined_at_root = bool(into)
    for number, limb in limbs.limbs.items():
        following = None if number == limbs.root and joined_at_root else _following(near, number, limb)
        if following is not None:
            into[following] = number
    return _joined(limbs, into)


class _Junctions:
    """Where limbs go near their ends, and how thick they are there."""

    def __init__(self, limbs: Limbs, centres: Array, volumes: Array) -> None:
        self.limbs, self.centres, self.volumes = limbs, centres, volumes
        order = np.argsort(limbs.labels, kind="stable")
        numbers, starts = np.unique(limbs.labels[order], return_index=True)
        self.elements = dict(zip(numbers.tolist(), np.split(order, starts[1:])))

    def begin(self, number: int) -> tuple[Array, float]:
        """Direction away from the root (3,) and section [m²] of a limb, near its end towards the root."""
        limb = self.limbs.limbs[number]
        place = self.centres[self._lowest(number)]
        return self._along(number, (limb.level, min(limb.level + NEAR * limb.width, limb.start)), place, limb.width)

    def end(self, number: int) -> tuple[Array, float]:
        """Direction away from the root (3,) and section [m²] of a limb, below the junction that it begins at."""
        limb = self.limbs.limbs[number]
        width = max(self.limbs.limbs[child].width for child in limb.children)
        place = self.centres[[self._lowest(child) for child in limb.children]].mean(axis=0)
        return self._along(number, (max(limb.start - NEAR * width, limb.level), limb.start), place, width)

    def _lowest(self, number: int) -> int:
        """Element of a limb that is nearest to the root."""
        return int(self.elements[number][np.argmin(self.limbs.way[self.elements[number]])])

    def _along(self, number: int, span: tuple[float, float], place: Array, width: float) -> tuple[Array, float]:
        """Of the elements of a limb in a span of the way, those near a place."""
        (low, high), elements = span, self.elements[number]
        way, apart = self.limbs.way[elements], np.linalg.norm(self.centres[elements] - place, axis=1)
        used = elements[(way >= low) & (way <= high) & (apart <= (NEAR + 0.5) * width)]
        if len(used) < 2:
            return np.zeros(3), 0.0
        way, weight = self.limbs.way[used], self.volumes[used]
        offset = way - np.average(way, weights=weight)
        direction = (weight * offset) @ self.centres[used]
        return direction / max(np.linalg.norm(direction), 1e-300), float(weight.sum() / max(high - low, 1e-300))


def _following(near: _Junctions, number: int, limb: Limb) -> int | None:
    """The child that goes on a limb through its junction, if one does so clearly."""
    if not limb.children:
        return None
    direction, section = near.end(number)
    ways = [near.begin(child) for child in limb.children]
    return _clearest(limb.children, [float(direction @ way) * _likeness(section, area) for way, area in ways])


def _through_root(near: _Junctions, root: Limb) -> tuple[int, ...]:
    """The two limbs that pass through a root no thicker than they are, if any."""
    width = max((near.limbs.limbs[child].width for child in root.children), default=0.0)
    if len(root.children) < 2 or root.start > SMALL_ROOT * width:
        return ()
    pairs = list(combinations(root.children, 2))
    if len(pairs) == 1:
        return pairs[0]
    found = {child: near.begin(child) for child in root.children}
    scores = [-float(found[a][0] @ found[b][0]) * _likeness(found[a][1], found[b][1]) for a, b in pairs]
    best = _clearest(list(range(len(pairs))), scores)
    return () if best is None else pairs[best]


def _clearest(numbers: list[int], scores: list[float]) -> int | None:
    first, *others = sorted(range(len(numbers)), key=lambda k: -scores[k])
    is_clear = not others or scores[first] - scores[others[0]] >= CLEARER
    return numbers[first] if scores[first] >= PASSING and is_clear else None


def _likeness(one: float, two: float) -> float:
    """Ratio of the smaller to the larger, 0 where one is not known."""
    return min(one, two) / max(one, two) if min(one, two) > 0 else 0.0


def _joined(limbs: Limbs, into: dict[int, int]) -> Limbs:
    """Limbs with every key of `into` made a part of its value."""

    def end(number: int) -> int:
        while number in into:
            number = into[number]
        return number

    kept = {k: replace(limb, children=[]) for k, limb in limbs.limbs.items() if k not in into}
    for child, parent in limbs.parents.items():
        if child not in into:
            kept[end(parent)].children.append(child)
        else:
            kept[end(parent)].start = max(kept[end(parent)].start, limbs.limbs[child].start)
    names = np.arange(max(limbs.limbs) + 1)
    for number in into:
        names[number] = end(number)
    return Limbs(limbs.way, names[limbs.labels], kept, limbs.root)
