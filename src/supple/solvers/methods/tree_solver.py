"""The solver of scenes of trees of reduced domains: the trees' own implicit steps, many in one compiled call.

Whatever else acts on their points (loads, winds, springs, a person's own forces) is asked once a call, brought to the
coordinates by virtual work, and kept constant during it; loads in time and winds by kernels, as they are in its middle,
see `coupling.trees.acting`. Springs between points of a tree and the world are solved
within the steps instead, so that they may be stiff, and such steps are also halved where they would gain energy; see
`coupling.trees.springs`.

A step evaluates the coupling of the domains a few times (`TreeSettings.passes`). Where its last pass still moves the
coordinates by more than `UNSETTLED` of them, the step is too long for the motion, and is taken in halves; see
`coupling.trees.halving`. Steps that stay unsettled are counted, and told once a tree.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.body_forces import TreeElastic, TreeWeight
from supple.errors import InputError, StepWarning, check_number
from supple.scene.acting.wind import Wind
from supple.scene.kinematics import hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import BoundForce, System
from supple.solvers.coupling.trees.acting import Pulled, TreeActing, by_parts
from supple.solvers.coupling.trees.halving import HALVINGS, UNSETTLED, HalvedTree, outcome_of
from supple.solvers.coupling.trees.springs import PulledTree, WorldSprings, world_springs
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport
from supple.solvers.striding import step_by_step, step_times
from supple.solvers.world import check_step, refuse_world

Array = np.ndarray
LEVEL = "halvings"


@dataclass
class TreeSolver:
    """dt: time of one call [s], divided into `steps` steps.

    >>> stride = TreeSolver(1 / 60, steps=2)
    """

    dt: float = 1 / 120
    steps: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "TreeSolver")
        check_number(self.steps, name="steps", where="TreeSolver", least=1, whole=True)
        self._prepared: tuple[System, int] | None = None
        self.warned: set[str] = set()  # trees whose steps were said to be too long

    def prepare(self, system: System) -> None:
        """Find what acts on the trees. After a change of the same system nothing is said again."""
        refuse_world(system, "TreeSolver")
        bodies = [slot.node.body for slot in system.bodies]
        if system.joints or not all(isinstance(body, TreeBody) for body in bodies):
            raise InputError(
                "the stride of a tree needs a scene of trees alone, without joints",
                where="TreeSolver",
                fix="Use Partitioned, which steps bodies of all kinds together.",
            )
        acting = [f for f in system.forces if not isinstance(f.force, TreeElastic | TreeWeight)]
        self.pulls: dict[int, list[WorldSprings]] = {}
        for pull in map(world_springs, acting):
            if pull is not None:
                self.pulls.setdefault(pull.body.index, []).append(pull)
        self._acting = [f for f in acting if world_springs(f) is None]
        self._given: dict[int, TreeActing] = {}
        self._others: list[BoundForce] = []
        for f in (part for force in self._acting for part in by_parts(force)):
            roots = [slot for slot in system.bodies if slot.index in hanging_on([f.slot])]
            acting_on = self._given.get(roots[0].index, TreeActing(roots[0])) if len(roots) == 1 else None
            if acting_on is not None and acting_on.add(f):
                self._given[roots[0].index] = acting_on
            else:
                self._others.append(f)
        for acting_on in self._given.values():
            acting_on.prepare()
        self._asked = hanging_on(f.slot for f in self._others)
        self.blown = hanging_on(f.slot for f in self._acting if isinstance(f.force, Wind))
        self.warned = self.warned if self._prepared and self._prepared[0] is system else set()
        self._prepared = (system, system.revision)

    @property
    def residual_limit(self) -> float:
        """Change of q" in the last pass, of the largest q", up to which a step counts as solved.

        Of a tree that springs pull, a rise of its energy by `springs.GAIN` of it counts as much.
        """
        return UNSETTLED

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "TreeSolver.step")
        if self._prepared != (system, system.revision):
            self.prepare(system)
        others, change = self._forces(system, state, self._others), 0.0
        for slot in system.bodies:
            if slot.index in self.pulls:
                forces = self._on_coordinates(state, slot, others)
                change = max(change, self._step_pulled(system, state, slot, forces))
            elif others is not None:
                forces = self._on_coordinates(state, slot, others)
                found = None if forces is None else Pulled(forces, None)
                change = max(change, self._advance_alone(system, state, slot, found))
            else:
                change = max(change, self._advance_alone(system, state, slot, self._pulled(state, slot)))
        state.t += self.dt
        outcome = outcome_of(change) if state.is_finite else Outcome.NOT_FINITE
        return StepReport(outcome, iterations=self.steps, residual=change)

    def _pulled(self, state: State, slot: Slot) -> Pulled | None:
        """What acts on a tree beside gravity, springs and what is asked from Python."""
        given = self._given.get(slot.index)
        return None if given is None else given.at(state.t, slot.view_x(state.x), slot.view_v(state.v), self.dt)

    def _on_coordinates(self, state: State, slot: Slot, others: list[Array] | None) -> Array | None:
        """The same with what is asked from Python, as forces on the coordinates; None where there is neither."""
        given, out = self._given.get(slot.index), None if others is None else others[slot.index]
        if given is None:
            return out
        found = given.on_coordinates(state.t, slot.view_x(state.x), slot.view_v(state.v), self.dt)
        return found if out is None else out + found

    def advance(self, system: System, state: State, steps: int) -> StepReport:
        """So many steps of dt, in place. Trees on which gravity, loads given in time or winds act take them in one
        compiled call; see `TreeActing.ahead`."""
        if self._prepared != (system, system.revision):
            self.prepare(system)
        if steps == 1 or self.asks_each_step:
            return step_by_step(self, system, state, steps)
        return self._take(system, state, [steps])[0][1]

    def advance_frames(self, system: System, state: State, steps: Sequence[int]) -> list[tuple[State, StepReport]]:
        """So many steps of dt to each of several frames, in one compiled call as of `advance`; the state becomes the
        last. Empty where forces are asked from Python, which are better asked between frames."""
        if self._prepared != (system, system.revision):
            self.prepare(system)
        return [] if self.asks_each_step or sum(steps) == 1 else self._take(system, state, steps)

    def _take(self, system: System, state: State, steps: Sequence[int]) -> list[tuple[State, StepReport]]:
        """So many steps of dt to each of several states, the last of which is the given one."""
        marks = np.cumsum(steps).tolist()
        times = step_times(state.t, self.dt, marks[-1])
        given = {index: acting.ahead([state.t, *times[:-1]], self.dt) for index, acting in self._given.items()}
        frames = [state.copy() for _ in marks[:-1]] + [state]
        change = np.zeros(marks[-1])
        for slot in system.bodies:
            x, v, level = slot.view_x(state.x), slot.view_v(state.v), self._level(slot, state)
            tree = HalvedTree(slot.node.body, {"gravity": system.gravity}, slot.index in self.blown)
            h = self.dt / self.steps
            found, marked = tree.advance_calls(x, v, h, self.steps, level, marks, given.get(slot.index))
            is_kept = False
            for frame, (x, v, level) in zip(frames, marked):
                slot.view_x(frame.x)[:], slot.view_v(frame.v)[:] = x, v
                is_kept = self._keep_level(slot, frame, level, is_kept)
            self.look(slot.name, found, times)
            np.maximum(change, found, out=change)
        for frame, end in zip(frames, marks):
            frame.t = times[end - 1]
        return [(f, self._report(f, change[a:b])) for f, a, b in zip(frames, [0, *marks], marks)]

    def _report(self, state: State, change: Array) -> StepReport:
        """Of steps that led to a state, and how unsettled each was."""
        unconverged = int(np.count_nonzero(change > UNSETTLED))
        outcome = Outcome.UNDER_CONVERGED if unconverged else Outcome.SOLVED
        if not state.is_finite:
            outcome = Outcome.NOT_FINITE
        return StepReport(outcome, len(change) * self.steps, 0, float(change.max()), len(change), unconverged)

    def _advance_alone(self, system: System, state: State, slot: Slot, acting: Pulled | None) -> float:
        """Advance a tree by one step, in halved ones where it must be; returns how unsettled it was. acting: on it."""
        x, v = slot.view_x(state.x), slot.view_v(state.v)
        given = {"gravity": system.gravity, **({} if acting is None else acting._asdict())}
        tree = HalvedTree(slot.node.body, given, slot.index in self.blown)
        start = LocalState(state.t, x.copy(), v.copy())
        end, level, change = tree.advance(start, self.dt / self.steps, self.steps, self._level(slot, state))
        x[:], v[:] = end.x, end.v
        self._keep_level(slot, state, level)
        self.look(slot.name, np.array([change]), [state.t + self.dt])
        return change

    def _level(self, slot: Slot, state: State) -> int:
        """How often the steps of a tree were halved last."""
        return int(state.memory.get(f"{slot.name}/{LEVEL}", np.zeros(1))[0])

    def _keep_level(self, slot: Slot, state: State, level: int, is_kept: bool = False) -> bool:
        """Note how often steps are halved, where they ever were; returns whether. is_kept: an earlier state has it."""
        key = f"{slot.name}/{LEVEL}"
        is_kept = is_kept or level > 0 or key in state.memory
        if is_kept:
            state.memory[key] = np.array([float(level)])
        return is_kept

    def look(
        self,
        name: str,
        change: Array,
        ends: Sequence[float],
        *,
        is_pulled: bool = False,
        halvings: int | None = None,
    ) -> None:
        """Warn once of a tree whose steps, which end at these times [s], are too long. is_pulled: by springs, which its
        steps solve; halvings: of its steps, None: as many as there may be."""
        if change.max() > UNSETTLED and name not in self.warned:
            self.warned.add(name)
            first = int(np.argmax(change > UNSETTLED))
            say = _warn_pulled if is_pulled else partial(_warn, HALVINGS if halvings is None else halvings)
            say(name, change[first], ends[first] - self.dt, self.dt / self.steps)

    def _step_pulled(self, system: System, state: State, slot: Slot, forces: Array | None) -> float:
        """Advance a tree that springs pull, in steps that do not gain energy; returns how unsettled it was."""
        x, v = slot.view_x(state.x), slot.view_v(state.v)
        tree = PulledTree(slot.node.body, self.pulls[slot.index], system.gravity, forces)
        start = LocalState(state.t, x.copy(), v.copy())
        end, level, change = tree.advance(start, self.dt / self.steps, self.steps, self._level(slot, state))
        x[:], v[:] = end.x, end.v
        state.memory[f"{slot.name}/{LEVEL}"] = np.array([float(level)])
        self.look(slot.name, np.array([change]), [state.t + self.dt], is_pulled=True)
        return change

    @property
    def asks_each_step(self) -> bool:
        """Whether what acts is asked from Python in each step: forces of a person's own, springs to the world."""
        return bool(self._others or self.pulls)

    @property
    def has_loads(self) -> bool:
        """Whether anything acts beside gravity and springs to the world."""
        return bool(self._acting)

    def loads(self, system: System, state: State) -> list[Array] | None:
        """What acts on the coordinates of the bodies, slot by slot; None where nothing does."""
        if not self.has_loads:
            return None
        others = self._forces(system, state, self._others)
        out = [np.zeros((1, slot.coordinates.v_width)) for slot in system.bodies] if others is None else others
        for index, acting in self._given.items():
            slot = system.bodies[index]
            x, v = slot.view_x(state.x), slot.view_v(state.v)
            out[index] = out[index] + acting.on_coordinates(state.t, x, v, self.dt)
        return out

    def _forces(self, system: System, state: State, acting: list[BoundForce]) -> list[Array] | None:
        """What these forces are on the coordinates of the bodies, slot by slot; None where there are none."""
        if not acting:
            return None
        kin = system.propagate(state.t, state.x, state.v, only=self._asked)
        out = [np.zeros_like(v) for v in kin.v]
        for _, slot, force in acting:
            force.add_force(kin.local(slot), out[slot.index])
        kin.pull(out)
        return out


def _warn(halvings: int, name: str, change: float, t: float, h: float) -> None:
    halved = f", halved {halvings} times," if halvings else ""
    sentence = (
        f"tree '{name}', t = {t:.4g} s: steps of {h:.3g} s{halved} are too long; the last pass still "
        f"moves the tree by {100 * change:.0f} % of its motion. Take smaller steps, or more stiffness_damping."
    )
    warnings.warn(StepWarning(sentence, None), stacklevel=5)


def _warn_pulled(name: str, change: float, t: float, h: float) -> None:
    sentence = (
        f"tree '{name}', t = {t:.4g} s: springs pull too hard for steps of {h:.3g} s, however often they are "
        f"halved: their residual is {change:.2g}, {UNSETTLED:g} is allowed. Take smaller steps, softer springs or more "
        "stiffness_damping."
    )
    warnings.warn(StepWarning(sentence, None), stacklevel=5)
