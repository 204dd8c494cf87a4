"""`LinkedTrees`: trees that step together, with ties between their domains.

A pass eliminates every tree alone; conditions of ties join them by multipliers. With G in the middle of the step and
W = sum G A^-1 G^T over the trees, A the effective mass of the step, a_k the accelerations that the pass begins with and
phi_1, phi'_1 at the end of the step that they give, k = theta h,

    phi'(q_1) = 0     W lambda = -phi'_1 / h - G (a - a_k)                          a: of the pass without ties
    phi(q_1) = 0      W mu = -phi_1 / (h k) - G (a + A^-1 G^T lambda - a_k)
    springs           (W + c / s) lambda = -(phi_m + tau phi'_m) / s - G (a - a_k),   s = k² + tau k

lambda, the force, acts on accelerations in the middle of the step, mu on positions alone: conditions hold for both
velocities and positions at its end, and accelerations do not ring as they do where positions alone are held. A free
tree with ties does not end its steps on the momentum of `momentum_kernels`, which would move it off its ties again.
Passes go on until the conditions hold. Rows that say the same twice, as those of planar loops, are shared by least
squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.dense.checks import check_vector
from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.kinematics import TreeKinematics, TreeMotion
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.point_springs import PointSprings
from supple.bodies.tree.tied_run import LinkedRun, TreeSides
from supple.bodies.tree.ties import BoundTie, DomainMotion, Tie, TieRows, bind
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Loads:
    """What acts on a tree during a call, as of `TreeDynamics.advance`."""

    forces: ArrayLike | None = None
    wrenches: ArrayLike | None = None
    springs: PointSprings | None = None
    push: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class LinkedTrees:
    """trees with ties between them. start: states that tell how the tied frames lie; None: at rest, at the origin.

    tolerance: largest violation of a condition at the end of a step, over the size of the trees (for angles: over 1).

    >>> from supple.bodies.tree import Anchor, TreeModel, WorldAnchor
    >>> from supple.validation.tree.coupling import beam_domain_tree
    >>> beam = TreeDynamics(TreeModel.of(beam_domain_tree(2, 6)), stiffness_damping=0.01)
    >>> held = LinkedTrees([beam], [Tie("weld", Anchor(1, interface="tip"), WorldAnchor((1.6, 0, 0)))])
    >>> states = held.states()
    >>> held.advance(states, 1 / 60, steps=5, gravity=(0, 0, -9.81)) < 8
    True
    """

    trees: Sequence[TreeDynamics]
    ties: Sequence[Tie]
    start: Sequence[TreeState] | None = None
    tolerance: float = field(default=1e-9, kw_only=True)
    max_passes: int = field(default=30, kw_only=True)
    names: Sequence[str] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "trees", tuple(self.trees))
        if any(tree.coupling != "articulated" for tree in self.trees):
            raise InputError("ties need the articulated coupling", where="LinkedTrees")
        _ = self.bound

    def states(self) -> list[TreeState]:
        """Copies of the states at the start."""
        if self.start is None:
            return [tree.state() for tree in self.trees]
        return [state.copy() for state in self.start]

    @cached_property
    def bound(self) -> tuple[BoundTie, ...]:
        """The ties with their sides found."""
        models = [tree.model for tree in self.trees]
        motions = []
        for model, state in zip(models, self.states()):
            motion = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
            motions.append(lambda d, m=motion, model=model: _domain_motion(model, m, d))
        names = None if self.names is None else list(self.names)
        return tuple(bind(tie, models, motions, names) for tie in self.ties)

    @cached_property
    def size(self) -> float:
        """The largest extent of a tree at rest [m]."""
        return max(_extent(tree) for tree in self.trees)

    @cached_property
    def compliance(self) -> Array:
        """Of all rows."""
        return np.concatenate([np.zeros(0), *(tie.row_compliance for tie in self.ties)])

    @cached_property
    def relaxation(self) -> Array:
        """Of all rows [s]."""
        return np.concatenate([np.zeros(0), *(np.full(len(t.row_compliance), t.relaxation) for t in self.ties)])

    @cached_property
    def sides(self) -> list[TreeSides]:
        """What the kernels know of each tree."""
        return [TreeSides(tree) for tree in self.trees]

    def _loads(self, loads: Sequence[Loads] | None) -> list[Loads | None]:
        return [None] * len(self.trees) if loads is None else list(loads)

    def advance(
        self,
        states: Sequence[TreeState],
        dt: float,
        *,
        steps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        loads: Sequence[Loads] | None = None,
    ) -> int:
        """Move the states on, in place, by steps of dt [s]. Returns the most passes of a step.

        A step that fails raises, and the states stay as they were.
        """
        if not np.isfinite(dt) or dt <= 0:
            raise InputError("the time step is not positive", where="LinkedTrees", value=dt, allowed="> 0 s")
        g = check_vector(gravity, name="gravity", where="LinkedTrees")
        run = LinkedRun(self, states, self._loads(loads), float(dt), g)
        most = 0
        with one_blas_thread():
            for step in range(steps):
                most = max(most, run.step(step))
        run.save(states)
        return most

    def violation(self, states: Sequence[TreeState]) -> tuple[float, float]:
        """Largest |phi| of the exact rows at the states, lengths over `size`; and largest rate of it [1/s]."""
        trees = [tree.model for tree in self.trees]
        at = [TreeKinematics(m).motion(s.q, s.v, s.frame, s.velocity) for m, s in zip(trees, states)]
        rows = []
        for tie in self.bound:
            sides = [
                (s, None if s.tree < 0 else _domain_motion(trees[s.tree], at[s.tree], s.domain)) for s in tie.sides
            ]
            rows.append(tie.rows(*(side.motion(motion) for side, motion in sides)))
        return self.largest(rows)

    def largest(self, rows: list[TieRows]) -> tuple[float, float]:
        """Largest |phi| and |phi'| of exact rows, lengths over `size`."""
        exact = self.compliance == 0.0
        scale = np.concatenate([np.zeros(0), *(_row_scale(r, self.size) for r in rows)])
        phi = np.concatenate([np.zeros(0), *(r.phi for r in rows)]) / scale
        rate = np.concatenate([np.zeros(0), *(r.rate for r in rows)]) / scale
        return float(np.abs(phi[exact]).max(initial=0.0)), float(np.abs(rate[exact]).max(initial=0.0))


def _row_scale(rows: TieRows, size: float) -> Array:
    out = np.ones(len(rows.phi))
    out[:3] = size
    return out


def _extent(tree: TreeDynamics) -> float:
    model, frames = tree.model, tree.model.domain_tree.rest_frames
    reach = [s * float(np.abs(model.classes[c].nodes).max()) for s, c in zip(model.scale, model.domain_class)]
    low, high = (frames[:, :3] - np.array(reach)[:, None]).min(axis=0), (frames[:, :3].T + reach).T.max(axis=0)
    return float((high - low).max())


def _domain_motion(model: TreeModel, motion: TreeMotion, d: int) -> DomainMotion:
    own = slice(model.q_starts[d], model.q_starts[d + 1])
    R = motion.R[d]
    return DomainMotion(motion.o[d], R, R.T @ motion.u[d], motion.w[d], motion.q[own], motion.v[own])
