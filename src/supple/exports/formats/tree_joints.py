"""Joints of a tree: one at the frame of each domain, which lies at the interface by which it hangs on its parent, and
more inside domains that bend.

A joint hangs on another as its domain does; those inside a domain hang on each other from its frame on, and what hangs
on the domain hangs on the nearest of them. A joint at a frame moves exactly as the record has it. Inside, a domain is
cut across its longest axis until each piece is nearly rigid, see `skinning`; the joint of a piece lies between it and
the piece before. Where there are more domains than joints may be, branches are merged, see `merging`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from supple.bodies.carried import FRAME, Branches
from supple.exports.formats.merging import Moments, merged_joints
from supple.exports.formats.skinning import CANDIDATES, FEWEST, STIFF, Bones, halved, neighbours, rigid_errors

Array = np.ndarray
AT_FRAMES = 0.75
"""Share of the joints that frames of domains may take where these are too many; the others go into what bends most."""


@dataclass(frozen=True, eq=False)
class TreeJoints:
    """Joints, each after the one that it hangs on. names, parents (j,), -1: on none; domain (j,): at whose frame it
    lies, or in which; piece (j,): number of the piece that it moves with, -1: with the frame. rest (n, 3) [m]: where
    vertices are bound; labels (n,): the joint that each moves with first; pieces: clusters of vertices, the first of
    those in none; frames (d, 12): of the domains at rest; centres (j, 3) [m]: where joints lie at rest."""

    names: tuple[str, ...]
    parents: Array
    domain: Array
    piece: Array
    rest: Array
    labels: Array
    pieces: Bones
    frames: Array
    centres: Array

    @property
    def count(self) -> int:
        """Number of joints."""
        return len(self.parents)

    @property
    def axes(self) -> Array:
        """Of the joints at rest: those of their domains, (j, 3, 3)."""
        return _turns(self.frames)[self.domain]

    def motions(self, x: Array, frames: Array) -> tuple[Array, Array]:
        """Turns R (j, 3, 3) from rest, and places c (j, 3) [m] of the joints where vertices are x (n, 3) [m] and frames
        of domains are frames (d, 12)."""
        R = _turns(frames)[self.domain] @ self.axes.swapaxes(1, 2)
        c = frames[self.domain, :3].copy()
        inside = self.piece >= 0
        if inside.any():
            turns, middles = self.pieces.motions(x)
            own = self.piece[inside]
            R[inside] = turns[own]
            arm = self.centres[inside] - self.pieces.centres[own]
            c[inside] = middles[own] + np.einsum("kij,kj->ki", turns[own], arm)
        return R, c

    def near(self) -> list[Array]:
        """Of each joint the joints that may share its vertices: those whose vertices are nearest, and what it hangs on.
        Empty where it moves no vertex first."""
        used = np.unique(self.labels)
        found: list[Array] = [np.zeros(0, dtype=np.int64)] * self.count
        around = neighbours(Bones(np.searchsorted(used, self.labels), self.rest))
        for joint, others in zip(used.tolist(), used[around]):
            chain = [joint]
            while self.parents[chain[-1]] >= 0 and len(chain) < 3:
                chain.append(int(self.parents[chain[-1]]))
            found[joint] = np.array(list(dict.fromkeys([*chain, *others.tolist()]))[: CANDIDATES + 1])
        return found


def fit_tree_joints(
    trained: Array, rows: Array, labels: Array, branches: Branches, size: float, most: int
) -> TreeJoints:
    """At most so many joints for vertices of domains labels (n,) that were at trained (f, n, 3) [m], the first at rest,
    where their frames were rows (f, d, 12). size [m]: of the body."""
    rest, frames, d = trained[0], rows[0], len(branches.parents)
    followed = np.arange(d)
    if d > most:
        R = _turns(rows) @ _turns(frames).swapaxes(1, 2)
        p = rows[:, :, :3] - np.einsum("fdij,dj->fdi", R, frames[:, :3])
        kept = max(1, int(AT_FRAMES * most))
        followed = merged_joints(Moments.of(trained, labels, d), branches.parents, R, p, kept)
    group = followed[labels]
    pieces, owner = _cut(trained, rows, group, size, most - len(np.unique(followed)))
    return _hung(rest, frames, followed, group, pieces, owner, branches)


def _cut(trained: Array, rows: Array, group: Array, size: float, more: int) -> tuple[Bones, Array]:
    """Pieces (n,) of groups of vertices that do not move as the frames of their domains do, so many at most, and the
    domain of each piece; number 0 is of the vertices that do."""
    rest, frames = trained[0], rows[0]
    squares, count = np.zeros(len(frames)), np.bincount(group, minlength=len(frames))
    for x, row in zip(trained, rows):
        R = (_turns(row) @ _turns(frames).swapaxes(1, 2))[group]
        own = np.einsum("nij,nj->ni", R, rest - frames[group, :3]) + row[group, :3]
        squares += np.bincount(group, np.sum((own - x) ** 2, axis=1), len(frames))
    rms = np.sqrt(squares / np.maximum(count, 1) / len(trained))
    bends = [g for g in np.argsort(-rms * np.sqrt(count)) if rms[g] > STIFF * size and count[g] >= FEWEST][:more]
    number = np.zeros(len(frames), dtype=np.int64)
    number[bends] = 1 + np.arange(len(bends))
    bones = Bones(number[group], rest)
    more -= len(bends)
    while more > 0 and bends:
        found, sizes = rigid_errors(bones, trained), np.bincount(bones.labels)
        worst = np.argsort(-found * np.sqrt(sizes))
        cut = [b for b in worst if b > 0 and found[b] > STIFF * size and sizes[b] >= FEWEST][:more]
        if not cut:
            break
        bones, more = Bones(halved(bones, cut), rest), more - len(cut)
    owner = np.full(bones.count, -1)
    inside = bones.labels > 0
    owner[bones.labels[inside]] = group[inside]
    return bones, owner


def _hung(
    rest: Array, frames: Array, followed: Array, group: Array, pieces: Bones, owner: Array, branches: Branches
) -> TreeJoints:
    """The joints in their order, each hung on an earlier one."""
    names, numbers, centres = list[str](), list[tuple[int, int, int]](), list[Array]()
    label, called = np.zeros(len(rest), dtype=np.int64), unique(branches.names)
    middles, inside = pieces.centres, {int(g): np.flatnonzero(owner == g) for g in np.unique(owner[1:])}
    ends: dict[int, tuple[list[int], KDTree | None, Array]] = {}

    def add(name: str, parent: int, of: int, number: int, place: Array) -> int:
        names.append(name)
        numbers.append((parent, of, number))
        centres.append(place)
        return len(names) - 1

    for d in np.unique(followed).tolist():
        above = int(branches.parents[d])
        on = -1 if above < 0 else _nearest(ends[int(followed[above])], frames[d, :3])
        base = add(called[d], on, d, -1, frames[d, :3])
        own = np.flatnonzero(group == d)
        label[own] = base
        joints, at = [base], [frames[d, :3]]
        left = inside.get(d, np.zeros(0, dtype=np.int64)).tolist()
        while left:  # the piece that is nearest to those that hang already
            away = np.linalg.norm(middles[left][:, None] - np.array(at), axis=2)
            which, at_joint = np.unravel_index(int(away.argmin()), away.shape)
            k = left.pop(int(which))
            joint = add(f"{called[d]}, part {len(joints)}", joints[at_joint], d, k, (middles[k] + at[at_joint]) / 2)
            label[pieces.labels == k] = joint
            joints.append(joint)
            at.append(middles[k])
        tree = KDTree(rest[own]) if len(joints) > 1 else None
        ends[d] = joints, tree, label[own]
    parents, domain, piece = np.array(numbers).T
    return TreeJoints(tuple(names), parents, domain, piece, rest, label, pieces, frames, np.array(centres))


def _nearest(end: tuple[list[int], KDTree | None, Array], place: Array) -> int:
    """The joint of a domain whose vertices are nearest to a place (3,) [m]."""
    joints, tree, labels = end
    return joints[0] if tree is None else int(labels[tree.query(place)[1]])


def unique(names: Sequence[str]) -> list[str]:
    """Names of which each is there once: those that are there more often are numbered.

    >>> unique(["stem", "leaf", "leaf"])
    ['stem', 'leaf 1', 'leaf 2']
    """
    often, taken, seen = Counter(names), set(names), Counter[str]()
    out = []
    for name in names:
        found = name
        while often[name] > 1 and (found == name or found in taken):
            seen[name] += 1
            found = f"{name} {seen[name]}"
        taken.add(found)
        out.append(found)
    return out


def frames_of(row: Array, domains: int) -> Array:
    """Frames (d, 12) out of the numbers that carry a surface."""
    return row[: FRAME * domains].astype(float).reshape(domains, FRAME)


def _turns(frames: Array) -> Array:
    return frames[..., 3:].reshape(*frames.shape[:-1], 3, 3)
