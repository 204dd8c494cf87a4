"""Many calls of a tree's steps in one, each kept only where its passes have settled.

    c = h² |change of q"| / (h² |q"| + h |q'| + |q|),   the largest of each, of the worst step of a call

A call that has not settled, or has left the finite, is undone: its caller takes it in smaller steps.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load
from supple.bodies.tree.step.frame_kernels import TreeWorkspace
from supple.bodies.tree.step.step_kernels import FINE, advance

Array = np.ndarray


class Kept(NamedTuple):
    """The state before a call: q, v as in the workspace; root (13,): x, rotation, velocity, spin."""

    q: Array
    v: Array
    root: Array

    @classmethod
    def empty(cls, workspace: TreeWorkspace) -> Kept:
        """For a tree's workspace."""
        return cls(np.zeros_like(workspace.q), np.zeros_like(workspace.v), np.zeros(13))


class Marked(NamedTuple):
    """States on the way: calls (k,): after how many each is noted, ascending; places (n,): of the coordinates in the
    workspace; q, v (k, n); root (k, 13), as of `Kept`."""

    calls: Array
    places: Array
    q: Array
    v: Array
    root: Array

    @classmethod
    def after(cls, calls: Array, places: Array) -> Marked:
        """Room for states after so many calls each."""
        k, n = len(calls), len(places)
        return cls(calls, places, np.empty((k, n)), np.empty((k, n)), np.empty((k, 13)))

    def up_to(self, calls: int) -> Marked:
        """Those that are reached after so many calls."""
        k = int(np.searchsorted(self.calls, calls, side="right"))
        return Marked(self.calls[:k], self.places, self.q[:k], self.v[:k], self.root[:k])


@compiled
def bring_state(places, q, v, a, q_out, v_out, a_out):
    """Coordinates (n,), their rates and accelerations into the kernels' vectors; returns whether q and v were there.

    Unused lanes become zero: a step that failed may have left them without numbers.
    """
    is_same = True
    for k in range(len(places)):
        is_same = is_same and q_out[places[k]] == q[k] and v_out[places[k]] == v[k]
    q_out[:], v_out[:], a_out[:] = 0.0, 0.0, 0.0
    for k in range(len(places)):
        q_out[places[k]], v_out[places[k]], a_out[places[k]] = q[k], v[k], a[k]
    return is_same


@compiled
def take_state(places, q, v, a, q_out, v_out, a_out):
    """The way back."""
    for k in range(len(places)):
        q_out[k], v_out[k], a_out[k] = q[places[k]], v[places[k]], a[places[k]]


@compiled
def keep(workspace, root, kept):
    """Note the state of now."""
    kept.q[:], kept.v[:] = workspace.q, workspace.v
    kept.root[:3], kept.root[3:7] = root.x, root.rotation
    kept.root[7:10], kept.root[10:] = root.velocity, root.spin


@compiled
def mark(workspace, root, marked, calls):
    """Note the state of now where it is one of those after so many calls."""
    for k in range(len(marked.calls)):
        if marked.calls[k] == calls:
            for l in range(len(marked.places)):
                place = marked.places[l]
                marked.q[k, l], marked.v[k, l] = workspace.q[place], workspace.v[place]
            marked.root[k, :3], marked.root[k, 3:7] = root.x, root.rotation
            marked.root[k, 7:10], marked.root[k, 10:] = root.velocity, root.spin


@compiled
def go_back(workspace, root, kept):
    """Take the noted state up again."""
    workspace.q[:], workspace.v[:] = kept.q, kept.v
    root.x[:], root.rotation[:] = kept.root[:3], kept.root[3:7]
    root.velocity[:], root.spin[:] = kept.root[7:10], kept.root[10:]
    root.known[0] = 0.0


@compiled
def is_finite(workspace, root):
    """Whether all numbers of the state are finite."""
    sums = 0.0 * load(workspace.alpha, 0)
    for k in range(0, len(workspace.q), LANES):
        sums += 0.0 * (load(workspace.q, k) + load(workspace.v, k))
    total = lane_sum(sums)
    for i in range(3):
        total += 0.0 * (root.x[i] + root.velocity[i] + root.spin[i])
    return total == 0.0


@compiled
def take_call(tree, workspace, root, numbers, gravity, steps, limit, team, kept, found):
    """One call of `steps` steps; returns how unsettled it was, or -1 where it has been undone. found (4): scratch.

    limit: of `unsettled`, which is 0 where steps are iterated or have one pass.
    """
    advance(tree, workspace, root, numbers, gravity, steps, team, 1, found)
    change = workspace.moved[0]
    if found[0] == FINE and change <= limit and is_finite(workspace, root):
        return change
    go_back(workspace, root, kept)
    return -1.0


@compiled
def stride(tree, workspace, root, numbers, gravity, steps, limit, team, kept, marked_out, changes_out):
    """Calls of `steps` steps, as many as `changes_out` has places; returns how many were kept. limit: see
    `take_call`."""
    found = np.empty(4)
    for call in range(len(changes_out)):
        keep(workspace, root, kept)
        changes_out[call] = take_call(tree, workspace, root, numbers, gravity, steps, limit, team, kept, found)
        if changes_out[call] < 0.0:
            return call
        mark(workspace, root, marked_out, call + 1)
    return len(changes_out)
