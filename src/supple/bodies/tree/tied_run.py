"""One call of `LinkedTrees`: the trees in their kernels' workspace, and the multipliers of every pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import TreeArrays
from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.step import response_kernels as responses
from supple.bodies.tree.step import stage_kernels as stages
from supple.bodies.tree.step.frame_kernels import TreeWorkspace
from supple.bodies.tree.step.response_kernels import Conditions
from supple.bodies.tree.step.root_kernels import Root
from supple.bodies.tree.step.step_kernels import StepNumbers
from supple.bodies.tree.surface.point_arrays import CHAIN
from supple.bodies.tree.ties import DomainMotion, Side, TieRows
from supple.errors import ConvergenceError, DivergenceError, InputError

if TYPE_CHECKING:
    from supple.bodies.tree.tied import LinkedTrees, Loads

Array = np.ndarray
DEPENDENT = 1e-10
"""Part of the largest eigenvalue of W, its diagonal scaled to 1, below which a combination of rows says nothing new."""


class LinkedRun:
    """Trees brought into their kernels' workspace for a call."""

    def __init__(
        self,
        linked: LinkedTrees,
        states: Sequence[TreeState],
        loads: Sequence[Loads | None],
        dt: float,
        gravity: Array,
    ) -> None:
        if not len(states) == len(loads) == len(linked.trees):
            raise InputError("not one state, and one load, a tree", where="LinkedTrees", value=len(states))
        self.linked, self.gravity, self.h = linked, gravity, dt
        self.storages: list[TreeWorkspace] = []
        for tree, state, load in zip(linked.trees, states, loads):
            if load is None:
                tree.load(state)
            else:
                tree.load(state, load.forces, load.wrenches, load.push)
            self.storages.append(tree.workspace_with(None if load is None else load.springs))
        self.numbers = [tree.numbers(dt) for tree in linked.trees]

    def stage(self, stage: int) -> None:
        """Run a stage of all trees."""
        for tree, workspace, numbers in zip(self.linked.trees, self.storages, self.numbers):
            run = stages.run_stage_together if tree.threads > 1 else stages.run_stage
            run(tree.arrays, workspace, tree.root, numbers, self.gravity, stage, tree.team, tree.threads)

    def evaluate(self) -> tuple[list[TieRows], list[Conditions]]:
        """The conditions at the state of now, and how they act on each tree."""
        rows, motions, first = [], [], 0
        for tie in self.linked.bound:
            at = [side.motion(None if side.tree < 0 else self._motion(side)) for side in tie.sides]
            rows.append(tie.rows(*at))
            motions.append(at)
        entries: list[list[tuple[int, int, Array]]] = [[] for _ in self.linked.trees]
        for tie, found, at in zip(self.linked.bound, rows, motions):
            for side, motion, sign in zip(tie.sides, at, (-1.0, 1.0)):
                if side.tree >= 0:
                    G = sign * found.directions @ motion.J
                    entries[side.tree] += [(first + k, side.domain, G[k]) for k in range(len(G))]
            first += len(found.phi)
        return rows, [sides.conditions(e) for sides, e in zip(self.linked.sides, entries)]

    def _motion(self, side: Side) -> DomainMotion:
        tree, workspace = self.linked.trees[side.tree], self.storages[side.tree]
        slot = int(tree.arrays.parent_slot[tree.lanes[side.domain]])
        at = workspace.held_slot[CHAIN * slot : CHAIN * slot + CHAIN]
        own = tree.places[tree.model.q_starts[side.domain] : tree.model.q_starts[side.domain + 1]]
        w = workspace.slot_w[3 * slot : 3 * slot + 3].copy()
        return DomainMotion(at[:3], at[3:12].reshape(3, 3), at[12:15], w, workspace.q[own], workspace.v[own])

    def each(self, asked: list[Conditions]) -> list[tuple[TreeArrays, TreeWorkspace, Root, StepNumbers, Conditions]]:
        """Tree arrays, workspace, root and numbers with the conditions of each tree."""
        trees = self.linked.trees
        return [
            (t.arrays, s, t.root, n, a) for t, s, n, a in zip(trees, self.storages, self.numbers, asked) if len(a.row)
        ]

    def delassus(self, asked: list[Conditions], count: int) -> Array:
        """W (rows, rows)."""
        W = np.zeros((count, count))
        for arrays, workspace, root, numbers, a in self.each(asked):
            responses.add_delassus(arrays, workspace, root, self.gravity, numbers.is_free, a, W)
        return 0.5 * (W + W.T)

    def free_values(self, asked: list[Conditions], count: int) -> Array:
        """G (A, q") of the pass without ties."""
        out = np.zeros(count)
        for arrays, workspace, root, numbers, a in self.each(asked):
            responses.add_row_values(arrays, workspace, root, self.gravity, numbers.is_free, a, 1.0, out)
        return out

    def present_values(self, asked: list[Conditions], count: int) -> Array:
        """G (A, q") of the state the pass begins with."""
        out = np.zeros(count)
        for arrays, workspace, _, _, a in self.each(asked):
            responses.add_present(arrays, workspace, a, out)
        return out

    def step(self, number: int) -> int:
        """One step; returns its passes."""
        linked = self.linked
        settings = [tree.settings for tree in linked.trees]
        least, renews = max(s.passes for s in settings), any(s.renew_forces or s.converge for s in settings)
        self.stage(stages.PREDICT)
        for passes in range(linked.max_passes + 1):
            self.stage(stages.END)
            end, _ = self.evaluate()
            phi, rate = linked.largest(end)
            if not np.isfinite(phi + rate):
                break
            if passes >= least and max(phi, self.h * rate) <= linked.tolerance:
                return passes
            self.stage(stages.MIDDLE)
            rows, asked = self.evaluate()
            if passes == 0 or renews:
                self.stage(stages.RENEW)
            self.stage(stages.REDUCE)
            if any(workspace.bad.any() for workspace in self.storages):
                break
            self.tie(rows, end, asked)
            self.stage(stages.FINISH)
        if passes == linked.max_passes and np.isfinite(phi + rate):
            raise ConvergenceError(
                f"step {number + 1}: a tie is violated by {phi:.2g} of the trees' size after {passes} passes",
                where="LinkedTrees",
                allowed=f"{linked.tolerance:g}",
                fix="Take smaller steps, or give it a compliance.",
            )
        raise DivergenceError(
            f"the trees left the finite in step {number + 1}",
            where="LinkedTrees",
            fix="Take smaller steps, or add stiffness_damping.",
        )

    def tie(self, rows: list[TieRows], end: list[TieRows], asked: list[Conditions]) -> None:
        """Find the multipliers of a pass and add what they do to the eliminated trees.

        rows, asked: of the middle of the step; end: of its end.
        """
        linked, count = self.linked, len(self.linked.compliance)
        if not count:
            return
        h, k = self.h, self.numbers[0].theta * self.h
        phi, rate = np.concatenate([r.phi for r in rows]), np.concatenate([r.rate for r in rows])
        phi_1, rate_1 = np.concatenate([r.phi for r in end]), np.concatenate([r.rate for r in end])
        soft, tau = linked.compliance > 0.0, linked.relaxation
        W = self.delassus(asked, count)
        change = self.free_values(asked, count) - self.present_values(asked, count)
        weight = np.where(soft, k * k + tau * k, 1.0)
        wanted = np.where(soft, (phi + tau * rate) / weight, rate_1 / h) + change
        multipliers = _solve(W + np.diag(np.where(soft, linked.compliance / weight, 0.0)), -wanted)
        moved = np.zeros(count)
        exact = np.flatnonzero(~soft)
        moved[exact] = _solve(W[np.ix_(exact, exact)], -(phi_1 / (h * k) + change + W @ multipliers)[exact])
        for arrays, workspace, root, numbers, a in self.each(asked):
            responses.load_rows(arrays, workspace, a, multipliers)
            responses.commit(arrays, workspace, a)
            responses.load_rows(arrays, workspace, a, moved)
            responses.shift(arrays, workspace, root, self.gravity, numbers, a)

    def save(self, states: Sequence[TreeState]) -> None:
        """Write the workspace back to states."""
        new = [tree.saved() for tree in self.linked.trees]
        if not all(state.is_finite for state in new):
            raise DivergenceError(
                "the trees left the finite", where="LinkedTrees", fix="Take smaller steps, or add stiffness_damping."
            )
        for state, found in zip(states, new):
            for name in found.__dataclass_fields__:
                getattr(state, name)[:] = getattr(found, name)


def _solve(W: Array, b: Array) -> Array:
    """The shortest x, rows scaled alike, with W x = b for symmetric W that may be singular."""
    if not len(b):
        return b
    d = 1.0 / np.sqrt(np.maximum(np.diag(W), 1e-300))
    values, vectors = np.linalg.eigh(d[:, None] * W * d)
    keep = values > DEPENDENT * values[-1]
    return d * (vectors[:, keep] @ ((vectors[:, keep].T @ (d * b)) / values[keep]))


class TreeSides:
    """Makes the conditions of one tree as the kernels take them."""

    def __init__(self, tree: TreeDynamics) -> None:
        arrays = tree.arrays
        self.tree = tree
        slots = int(arrays.group_slot[-1])
        self.slot_place, self.slot_interface = np.full(slots, -1), np.zeros(slots, dtype=np.int64)
        for g in range(len(arrays.group_class)):
            for k in range(int(arrays.group_interfaces[g])):
                first = int(arrays.group_slot[g]) + k * LANES
                self.slot_place[first : first + LANES] = g * LANES + np.arange(LANES)
                self.slot_interface[first : first + LANES] = k
        self.z, self.p = np.zeros(int(arrays.group_q[-1])), np.zeros(6)

    def conditions(self, entries: list[tuple[int, int, Array]]) -> Conditions:
        """Entries (row, domain, coefficients (6 + r)) as the kernels take them."""
        modes = np.zeros((len(entries), max([6, *(len(e[2]) for e in entries)]) - 6))
        for k, (_, _, coefficients) in enumerate(entries):
            modes[k, : len(coefficients) - 6] = coefficients[6:]
        row, domain = (np.array([e[i] for e in entries], dtype=np.int64) for i in (0, 1))
        return self.rows(row, domain, np.array([e[2][:6] for e in entries]).reshape(-1, 6), modes)

    def rows(self, row: Array, domain: Array, wrench: Array, modes: Array) -> Conditions:
        """The same from row, domain (n,), wrench (n, 6), modes (n, most), zero beyond the modes of a domain."""
        arrays = self.tree.arrays
        place = self.tree.lanes[domain]
        wide = arrays.class_r[arrays.group_class[place // LANES]]  # of the groups, which may be wider than a domain
        most = int(wide.max(initial=0))
        padded = np.zeros((len(row), most))
        width = min(most, modes.shape[1])
        padded[:, :width] = modes[:, :width]
        return Conditions(
            np.asarray(row, dtype=np.int64),
            place,
            np.ascontiguousarray(wrench),
            padded[np.arange(most) < wide[:, None]],
            (np.cumsum(wide) - wide).astype(np.int64),
            self.slot_place,
            self.slot_interface,
            self.z,
            self.p,
        )
