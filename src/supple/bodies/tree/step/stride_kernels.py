"""Many calls of a tree's steps in one, each kept only where its passes have settled.

    c = h² |change of q"| / (h² |q"| + h |q'| + |q|),   the largest of each, after the last step of a call

A call that has not settled, or has left the finite, is undone: its caller takes it in smaller steps.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.step.frame_kernels import TreeWorkspace
from supple.bodies.tree.step.step_kernels import FINE, advance
from supple.bodies.tree.surface.load_kernels import bring_loads

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


@compiled
def unsettled(change, q, v, h):
    """How much the last pass of a step of h [s] changed the coordinates, over their size and way."""
    keep_whole()
    changed, a, q_most, v_most = 0.0, 0.0, 0.0, 0.0
    for k in range(0, len(change), 2 * LANES):
        for b in range(LANES):
            changed, a = max(changed, change[k + b]), max(a, change[k + LANES + b])
    for k in range(len(q)):
        q_most, v_most = max(q_most, abs(q[k])), max(v_most, abs(v[k]))
    size = h * h * a + h * v_most + q_most
    return h * h * changed / size if size > 0.0 else 0.0


@compiled
def keep(workspace, root, kept):
    """Note the state of now."""
    kept.q[:], kept.v[:] = workspace.q, workspace.v
    kept.root[:3], kept.root[3:7] = root.x, root.rotation
    kept.root[7:10], kept.root[10:] = root.velocity, root.spin


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
    total = 0.0
    for k in range(len(workspace.q)):
        total += 0.0 * (workspace.q[k] + workspace.v[k])
    for i in range(3):
        total += 0.0 * (root.x[i] + root.velocity[i] + root.spin[i])
    return total == 0.0


@compiled
def stride(tree, workspace, root, numbers, gravity, steps, limit, team, kept, loads, changes_out):
    """Calls of `steps` steps, as many as `changes_out` has places; returns how many were kept.

    limit: of `unsettled`; none is asked for where steps are iterated or have one pass. loads: on points, which stay as
    they are during a call.
    """
    found, is_asked = np.empty(4), numbers.largest == 0 and numbers.passes > 1
    for call in range(len(changes_out)):
        keep(workspace, root, kept)
        if len(loads.y) > 0:
            bring_loads(loads, call, workspace, root)
        advance(tree, workspace, root, numbers, gravity, steps, team, 1, found)
        change = unsettled(workspace.change, workspace.q, workspace.v, numbers.h) if is_asked else 0.0
        if found[0] != FINE or not change <= limit or not is_finite(workspace, root):
            go_back(workspace, root, kept)
            return call
        changes_out[call] = change
    return len(changes_out)
