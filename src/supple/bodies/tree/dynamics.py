"""`TreeDynamics`: the dynamics of a tree of reduced domains [BZ11], with the exact articulated coupling.

    M q" + D q' + f(q) = Q + what the frame's motion and the children do,   D = alpha M + beta K(q)

Gravity is the root's acceleration upwards. The choice of coupling says what a parent feels of its children; see
`elimination_kernels`. Only the articulated one follows from a Lagrangian and keeps energy and momentum.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numba
import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.thread_team import make_team
from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import SIX, TreeArrays, pack
from supple.bodies.tree.model import TreeModel, check_domain_values
from supple.bodies.tree.step import elimination_kernels as elimination
from supple.bodies.tree.step import step_kernels as kernels
from supple.bodies.tree.step import stride_kernels as strides
from supple.bodies.tree.step.frame_kernels import TreeWorkspace
from supple.bodies.tree.step.root_kernels import Root
from supple.errors import (
    ConvergenceError,
    DivergenceError,
    InputError,
    SuppleWarning,
    check_flag,
    check_instance,
    check_number,
)

if TYPE_CHECKING:
    from supple.bodies.tree.surface.point_springs import PointSprings

Array = np.ndarray
Coupling = Literal["articulated", "composite", "centroid", "lumped"]
StrideKernel: TypeAlias = tuple[Callable[..., int], tuple[Any, ...]]
"""A kernel in the place of `stride_kernels.stride`, and what it takes beside, before the states that are marked."""
UNSETTLED = 0.03
"""How unsettled a step may be, see `step_kernels.unsettled`: beyond, it takes one pass more where a tree is damped;
where it is not, energy is kept better by the same passes in every step. Calm ones are below 0.02,
and half a step divides that by 4 and more. With 0.1, leaves that had not settled swung so much that an oak halved more
steps in the end."""
PULLED = 0.55
"""theta at least, where springs pull: the midpoint rule lets what a step does not resolve ring, as (theta - 1) / theta
from step to step, and a stiff spring that begins to pull sets it off."""
CALMING = 0.2
"""Time [s] within which rates that are damped within a step decay in wind: by the midpoint rule they turn round in each
step, for ever, and a wind that meets them makes them grow. So theta = 1/2 + h / (4 CALMING) of a fixed tree in wind
whose stiffness damping outlasts half a step, 2 beta >= h; the step stays of second order."""
UNIT = 1e-12
"""What the square of a unit quaternion may differ from 1."""
COUPLINGS = {
    "lumped": elimination.LUMPED,
    "centroid": elimination.CENTROID,
    "composite": elimination.COMPOSITE,
    "articulated": elimination.ARTICULATED,
}


class OneWayWarning(SuppleWarning):
    """A one-way coupling without damping gains energy."""


@dataclass
class TreeState:
    """q, v: coordinates of all domains and their rates, (n,) each, in the order of the domains.

    frame (7,): the root's origin [m] and quaternion. velocity (6,): of its origin in world axes [m/s], angular in its
    own [rad/s]. a (n,), acceleration (6,): in the middle of the last step, of which the next one does not depend.
    """

    q: Array
    v: Array
    a: Array
    frame: Array
    velocity: Array
    acceleration: Array

    @classmethod
    def at_rest(cls, count: int) -> TreeState:
        """A tree of `count` coordinates, undeformed, at the origin."""
        frame = np.array([0.0, 0, 0, 1, 0, 0, 0])
        return cls(np.zeros(count), np.zeros(count), np.zeros(count), frame, np.zeros(6), np.zeros(6))

    def copy(self) -> TreeState:
        """An independent copy."""
        return TreeState(*(getattr(self, name).copy() for name in self.__dataclass_fields__))

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite."""
        return all(bool(np.isfinite(getattr(self, name)).all()) for name in self.__dataclass_fields__)


@dataclass(frozen=True)
class TreeSettings:
    """theta: where in a step its equations hold; 1/2 keeps energy, above it dissipates, 1 is implicit Euler.

    passes: how often a step evaluates the coupling, and once more where a damped one is unsettled. renew_forces: with f
    and K of each, else those of the first. converge: iterate each step, f and K included, until q" changes by less than
    `epsilon` of the largest one, or by round-off.
    """

    theta: float = 0.5
    passes: int = 2
    renew_forces: bool = True
    converge: bool = False
    epsilon: float = 1e-8
    max_iterations: int = 50

    def __post_init__(self) -> None:
        check_number(self.theta, name="theta", where="TreeSettings", least=0.5, most=1.0)
        for name in ("renew_forces", "converge"):
            check_flag(getattr(self, name), name=name, where="TreeSettings")
        check_number(self.epsilon, name="epsilon", where="TreeSettings", above=0.0)
        check_number(self.passes, name="passes", where="TreeSettings", least=1, whole=True)
        check_number(self.max_iterations, name="max_iterations", where="TreeSettings", least=2, whole=True)


@dataclass(frozen=True, eq=False)
class TreeDynamics:
    """Dynamics of a model. coupling: "articulated", or one-way "composite", "centroid", "lumped".

    torque: whether children of one-way couplings turn their interface; False: as published. mass_damping alpha [1/s],
    stiffness_damping beta [s]: one number, or one a domain.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.bodies.tree import DomainTree, Domain, DomainTemplate
    >>> mesh = box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1))
    >>> kind = DomainTemplate("beam", mesh, Material(1e6, 0.3, 1000), 4, held=mesh.node_region("x_min"))
    >>> tree = TreeDynamics(TreeModel.of(DomainTree({"beam": kind}, [Domain("beam")])))
    >>> state = tree.state()
    >>> tree.advance(state, 1 / 60, steps=10, gravity=(0, 0, -9.81))
    2
    """

    model: TreeModel
    coupling: Coupling = field(default="articulated", kw_only=True)
    torque: bool = field(default=True, kw_only=True)
    mass_damping: ArrayLike = field(default=0.0, kw_only=True)
    stiffness_damping: ArrayLike = field(default=0.0, kw_only=True)
    settings: TreeSettings = field(default_factory=TreeSettings, kw_only=True)

    def __post_init__(self) -> None:
        check_instance(self.settings, TreeSettings, "settings of a tree", where="TreeDynamics, settings")
        if not isinstance(self.coupling, str) or self.coupling not in COUPLINGS:
            raise InputError("unknown coupling", value=self.coupling, allowed=", ".join(COUPLINGS))
        check_flag(self.torque, name="torque", where="TreeDynamics")
        if not self.torque and self.coupling == "articulated":
            raise InputError("the articulated coupling has no form without torque", where="TreeDynamics")
        count = self.model.domain_count
        for name in ("mass_damping", "stiffness_damping"):
            object.__setattr__(self, name, check_domain_values(getattr(self, name), count, name))
        if self.coupling != "articulated" and count > 1 and not np.all(np.asarray(self.stiffness_damping) > 0):
            warnings.warn(
                f"the coupling '{self.coupling}' acts one way and gains energy without stiffness_damping",
                OneWayWarning,
                stacklevel=3,
            )

    @cached_property
    def arrays(self) -> TreeArrays:
        """The tree as the kernels see it."""
        return pack(self.model)

    @cached_property
    def workspace(self) -> TreeWorkspace:
        """Scratch of the kernels, made once."""
        workspace = TreeWorkspace.empty(self.arrays)
        domain = self.arrays.lane_domain
        for name, values in (("alpha", self.mass_damping), ("beta", self.stiffness_damping)):
            getattr(workspace, name)[:] = np.where(domain >= 0, np.asarray(values)[domain], 0.0)
        return workspace

    @cached_property
    def root(self) -> Root:
        """Scratch for the root's frame, made once."""
        return Root.empty()

    @cached_property
    def team(self) -> Array:
        """State of the threads that share the work of a call."""
        return make_team(max(len(self.arrays.part_group), len(self.arrays.order)))

    @property
    def threads(self) -> int:
        """Threads that a call takes: one where more do not pay."""
        return numba.get_num_threads() if self.arrays.pays[0] else 1

    @cached_property
    def places(self) -> Array:
        """Where each coordinate lies in the kernels' vectors, (n,)."""
        tree, model = self.arrays, self.model
        out = np.empty(model.coordinate_count, dtype=np.int64)
        for place in np.flatnonzero(tree.lane_domain >= 0):
            d, g = tree.lane_domain[place], place // LANES
            first, last = model.q_starts[d], model.q_starts[d + 1]
            out[first:last] = tree.group_q[g] + LANES * np.arange(last - first) + place % LANES
        return out

    @cached_property
    def lanes(self) -> Array:
        """The kernels' place of each domain, (d,)."""
        used = np.flatnonzero(self.arrays.lane_domain >= 0)
        out = np.empty(self.model.domain_count, dtype=np.int64)
        out[self.arrays.lane_domain[used]] = used
        return out

    def state(self) -> TreeState:
        """The tree at rest, undeformed, at the origin."""
        return TreeState.at_rest(self.model.coordinate_count)

    def numbers(
        self,
        dt: float,
        *,
        theta: float = 0.0,
        is_loaded: bool = False,
        is_pulled: bool = False,
        is_blown: bool = False,
        more_passes: int = 0,
    ) -> kernels.StepNumbers:
        """What the kernels need to know of a step dt [s], with `theta` at least.

        is_loaded: by wrenches, is_pulled: by springs, is_blown: by a wind. With more than its own theta a step stays
        linear in the forces that couple the tree: f and K as in its first pass. Where none is given and a wind blows,
        rates that a step damps decay, see `CALMING`.
        """
        s, renews = self.settings, theta <= self.settings.theta and theta < 1.0
        rings = is_blown and theta == 0.0 and self._may_ring
        rings = rings and 2.0 * float(np.max(np.asarray(self.stiffness_damping))) >= dt
        goes_on = s.passes > 1 and not s.converge and s.renew_forces and renews and self._settles
        return kernels.StepNumbers(
            float(dt), max(s.theta, theta, PULLED if is_pulled else 0.0, self.calming_theta(dt) if rings else 0.0),
            COUPLINGS[self.coupling] + (0 if self.torque else elimination.FORCE_ONLY),
            s.passes + more_passes, self.model.is_free, s.max_iterations if s.converge else 0, s.epsilon,
            s.renew_forces and renews, is_loaded,
            UNSETTLED if goes_on else np.inf,
        )  # fmt: skip

    @staticmethod
    def calming_theta(dt: float) -> float:
        """theta of a step dt [s] whose stiff rates decay within `CALMING`, as ((1 - theta) / theta)^(t / dt), about
        e^(-t / CALMING); at most `PULLED`."""
        return min(0.5 + dt / (4.0 * CALMING), PULLED)

    @property
    def _may_ring(self) -> bool:
        """Whether rates that are damped within a step may be kept from turning round in each: a free tree would leave
        its parabola."""
        return self.coupling == "articulated" and not self.model.is_free

    @cached_property
    def _settles(self) -> bool:
        """Whether a further pass helps: of a damped tree, unless it is coupled one way."""
        return self.coupling == "articulated" and bool(np.any(np.asarray(self.stiffness_damping) > 0.0))

    def advance(
        self,
        state: TreeState,
        dt: float,
        *,
        steps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        forces: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        push: ArrayLike | None = None,
        springs: PointSprings | None = None,
        theta: float = 0.0,
        is_blown: bool = False,
        more_passes: int = 0,
    ) -> int:
        """Move `state` on, in place, by steps of dt [s], in one compiled call. Returns the most passes of a step.

        forces (n,): on the coordinates. wrenches (d, 6): torque about and force at each domain's origin, in its axes.
        push (6,): force at the root's origin and torque, in world axes. All stay as they are during the call.
        springs: on points, solved within each step, with theta of `PULLED` at least; articulated coupling only. theta:
        at least this; with 1, implicit Euler, nothing rings where forces come suddenly. is_blown: a wind is among what
        acts, see `CALMING`. more_passes: beyond those of the settings. If a step fails, `state` stays as it was.
        """
        if not np.isfinite(dt) or dt <= 0:
            raise InputError("the time step is not positive", where="TreeDynamics", value=dt, allowed="> 0 s")
        g = check_vector(gravity, name="gravity", where="TreeDynamics")
        self.load(state, forces, wrenches, push)
        acted = {"is_loaded": wrenches is not None, "is_pulled": springs is not None, "is_blown": is_blown}
        numbers = self.numbers(dt, theta=theta, more_passes=more_passes, **acted)
        run = kernels.advance_together if self.threads > 1 else kernels.advance
        found = np.empty(4)
        run(*self.handed(springs), numbers, g, int(steps), self.team, self.threads, found)
        outcome, done, passes = (int(number) for number in found[:3])
        if outcome == kernels.NOT_CONVERGED:
            raise ConvergenceError(
                f"step {done + 1} did not converge: the accelerations still change by {found[3]:.2g} of themselves",
                where="TreeDynamics",
                allowed=f"{self.settings.epsilon:g} in {self.settings.max_iterations} passes",
                fix="Take smaller steps, or converge=False.",
            )
        new = self.saved()
        if outcome != kernels.FINE or not new.is_finite:
            raise DivergenceError(
                f"the tree left the finite in step {done + 1} of {steps}",
                where=self._lost(),
                fix="Take smaller steps, add stiffness_damping, or use coupling='articulated'.",
            )
        for name in new.__dataclass_fields__:
            getattr(state, name)[:] = getattr(new, name)
        return passes

    def stride(
        self,
        state: TreeState,
        dt: float,
        calls: int,
        *,
        steps: int,
        gravity: ArrayLike,
        limit: float,
        acting: StrideKernel | None = None,
        is_blown: bool = False,
        marks: Sequence[int] = (),
    ) -> tuple[Array, strides.Marked]:
        """Move `state` on, in place, by calls of `steps` steps of dt [s], all in one compiled call, on one thread.

        acting: what brings loads to each call; is_blown: a wind, which brings wrenches, is among them. Ends before a
        call that does not settle: see `stride_kernels`. Returns what was unsettled in each that it kept, and the states
        after those of so many calls, `marks`, ascending, that it reached.
        """
        g = check_vector(gravity, name="gravity", where="TreeDynamics")
        self.load(state)
        changes, marked = np.empty(calls), strides.Marked.after(np.array(marks, dtype=np.int64), self.places)
        run, given = (strides.stride, ()) if acting is None else acting
        numbers = self.numbers(dt, is_loaded=is_blown, is_blown=is_blown)
        done = run(*self.handed(), numbers, g, steps, limit, self.team, self._kept, *given, marked, changes)
        self._save(state)
        return changes[:done], marked.up_to(done)

    @cached_property
    def _kept(self) -> strides.Kept:
        return strides.Kept.empty(self.workspace)

    def accelerations(
        self,
        state: TreeState,
        *,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        forces: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        push: ArrayLike | None = None,
        springs: PointSprings | None = None,
    ) -> tuple[Array, Array]:
        """q" (n,) and the root's acceleration (6,), linear in world axes, that the equations of motion give."""
        g = check_vector(gravity, name="gravity", where="TreeDynamics")
        self.load(state, forces, wrenches, push)
        found = np.empty(4)
        kernels.advance(*self.handed(springs), self.numbers(1.0), g, 0, self.team, 1, found)
        if found[0] != kernels.FINE:
            raise DivergenceError("the tree's mass matrix is singular", where=self._lost())
        new = self.saved()
        return new.a, new.acceleration

    def handed(self, springs: PointSprings | None = None) -> tuple[ByAddress, ByAddress, ByAddress]:
        """Arrays, workspace with springs on points, and root, as the kernels take them."""
        if springs is None:
            return self._handed
        if self.coupling != "articulated":
            raise InputError("springs on points need the articulated coupling", where="TreeDynamics")
        arrays, _, root = self._handed
        return arrays, self.workspace._replace(**springs.pack(self).named()).by_address(), root

    @cached_property
    def _handed(self) -> tuple[ByAddress, ByAddress, ByAddress]:
        return self.arrays.by_address(), self.workspace.by_address(), self.root.by_address()

    def load(
        self,
        state: TreeState,
        forces: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        push: ArrayLike | None = None,
    ) -> None:
        """Bring a state and loads into the kernels' workspace."""
        count, workspace, root = self.model.coordinate_count, self.workspace, self.root
        if not state.q.shape == state.v.shape == state.a.shape == (count,):
            raise InputError("the state does not fit the tree", value=state.q.shape, allowed=f"({count},)")
        is_same = strides.bring_state(self.places, state.q, state.v, state.a, workspace.q, workspace.v, workspace.a)
        root.known[0] *= is_same  # the momentum of the last state, which a step would find again
        root.push[:] = 0.0 if push is None else self._checked(push, (6,), "push")
        workspace.load_q[:] = 0.0
        if forces is not None:
            workspace.load_q[self.places] = self._checked(forces, (count,), "forces")
        workspace.load_w[:] = 0.0
        if wrenches is not None:
            given = self._checked(wrenches, (self.model.domain_count, 6), "wrenches")
            workspace.load_w.reshape(-1, SIX)[self.lanes, :6] = given
        turned = state.frame[3:]
        if abs(turned @ turned - 1.0) > UNIT:  # else as it is, so that steps in two calls are those in one
            turned = rotations.normalise(turned)
        root.x[:], root.rotation[:] = state.frame[:3], turned
        root.velocity[:], root.spin[:] = state.velocity[:3], state.velocity[3:]
        root.acceleration[:], root.alpha[:] = state.acceleration[:3], state.acceleration[3:]

    def _checked(self, values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
        array = np.asarray(values, dtype=float)
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(
                f"the {name} do not fit the tree, or are not finite", value=array.shape, allowed=str(shape)
            )
        return array

    def saved(self) -> TreeState:
        """The state in the kernels' workspace."""
        state = self.state()
        self._save(state)
        return state

    def _save(self, state: TreeState) -> None:
        """Bring what the kernels' workspace has into a state."""
        workspace, root = self.workspace, self.root
        strides.take_state(self.places, workspace.q, workspace.v, workspace.a, state.q, state.v, state.a)
        state.frame[:3], state.frame[3:] = root.x, root.rotation
        state.velocity[:3], state.velocity[3:] = root.velocity, root.spin
        state.acceleration[:3], state.acceleration[3:] = root.acceleration, root.alpha

    def _lost(self) -> str:
        """The first domain whose coordinates are not finite, or whose matrix is singular."""
        bad = np.flatnonzero(~np.isfinite(self.workspace.q[self.places]) | ~np.isfinite(self.workspace.a[self.places]))
        if len(bad):
            number = int(np.searchsorted(self.model.q_starts, bad[0], side="right") - 1)
        else:
            groups = np.flatnonzero(self.workspace.bad > 0)
            number = int(self.arrays.lane_domain[LANES * groups[0]]) if len(groups) else 0
        domain = self.model.domain_tree.domains[number]
        return f"domain {number} '{domain.name or domain.kind}'"
