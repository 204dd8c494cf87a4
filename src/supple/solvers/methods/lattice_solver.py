"""The stride of voxel lattices: their own fused sweep of symplectic Euler, many stable steps in one compiled call.

For a scene of voxel bodies alone, one or many, which are swept and collide as one lattice. Held, sliding and led voxels
follow the scene's filters, led ones in straight lines from the start of a stride to its end; loads and a person's own
forces are asked once a stride, or more often where they are stiff, and are constant in between: see
`coupling.lattice_loads`. Joints with the world and between lattices are held in each small step, springs are solved in
it: see `lattice_springs`. Scenes with other bodies or joints take the general solvers, in which a lattice is a
force like any other.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import Commands, VoxelBody
from supple.bodies.voxel.actuation import Swing
from supple.bodies.voxel.body import advance_finite
from supple.bodies.voxel.elastic import GroundDamping, LatticeForce, links_of
from supple.bodies.voxel.groups.groups import check_free
from supple.bodies.voxel.links.link_memory import LinkMemory
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stable_step import find_step
from supple.bodies.voxel.stability.stages import ONE_STAGE, STAGES, StableStep
from supple.bodies.voxel.sweep import lattice_kernels as kernels
from supple.bodies.voxel.sweep.bricks import SLAB_BRICKS
from supple.bodies.voxel.sweep.strides import Limits, Strides, Taken
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.surface_contact import NO_CONTACTS, SurfaceContacts, contact_step_limit
from supple.contact.binding.remembering import Touching
from supple.errors import BendWarning, InputError, StepWarning, check_number
from supple.interaction.obstacles import Obstacle
from supple.scene.acting.fluid_force import FluidForce
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.lattice_joints import lattice_joints, swept_joints
from supple.solvers.coupling.lattice_loads import acting_loads, foreseen, longest_part, point_loads
from supple.solvers.coupling.lattice_world import LatticeWorld, world_of
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.methods.lattice_guides import Guides
from supple.solvers.methods.lattice_obstacles import MET, ObstaclesMet, Steps, found_forces, warns_of_leap
from supple.solvers.methods.lattice_springs import SweptSprings
from supple.solvers.report import Outcome, StepReport
from supple.solvers.striding import step_by_step, step_times
from supple.solvers.world import check_step, check_system, refuse_restitution

Array = np.ndarray
MANY_VOXELS = 2 * LANES * SLAB_BRICKS
"""From so many on a lattice is swept by two threads."""
# what a body remembers, in a state's memory under its name; STEP: the largest strain seen so far, the stable step
# found at it [s], how many stages it has, and the one in one stage [s], PAIRS: voxels that touch each other (see
# `held_pairs`), both of all bodies
LINKS, COMMANDS, TICKS, STEP, PAIRS = "links", "commands", "ticks", "lattice step", "lattice pairs"
COSTLY = 4.0  # times as many small steps as the lattice needs, beyond which contacts are named
OPEN = 1e-6  # of the extent: joints that are further open after a step are reported
EARLY = 1e-6  # part of the time between commands by which one may be asked early
STRAIN_STEP = 0.1  # growth of the largest strain after which the stable step is looked for again
MOST_PARTS = 1e9  # of a step


def part_count(parts: float) -> int:
    """Into how many parts a step is divided, at least 1, from how many it should be."""
    if parts > MOST_PARTS:
        allowed = f"at most {MOST_PARTS:g}, by a shorter dt, a larger safety or a lower rate of commands"
        raise InputError("a step has too many parts", where="LatticeSolver", value=float(parts), allowed=allowed)
    return max(1, int(np.ceil(parts)))


class SurfaceMet(NamedTuple):
    """What became of contacts with other bodies' surfaces in a stride: impulse (k, 3) [N s] on the points with positive
    weights, moment (k, 3) [N m s] of it about the world's origin on the lattice, where the other side is pushed, slip
    (k, 3) [m], mode (k,), way (k, 3) [m] of the first sides against the second, joined (j, 3) [m]: of points of other
    bodies that joints hold."""

    impulse: Array
    moment: Array
    slip: Array
    mode: Array
    way: Array
    joined: Array


@dataclass
class LatticeSolver:
    """dt: time of one call [s], divided into as many stable steps as it takes. safety: part of the largest stable step
    that is used. bend_limit [rad]: warns once where links bend beyond it; None: never.

    Obstacles, the fluid and contacts of voxels with voxels are the scene's; see `lattice_world` for what the sweep
    knows of them. Joints of lattices with each other and with the world are held in each small step. `contacts` with
    surfaces of other bodies, for the next stride, are set by who moves those bodies, and finds in `met` what became of
    them; so are `joints`, where some of them bind lattices to such bodies.
    """

    dt: float = 1 / 300
    safety: float = field(default=0.7, kw_only=True)
    bend_limit: float | None = field(default=0.3, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "LatticeSolver")
        check_number(self.safety, name="safety", where="LatticeSolver", above=0.0, most=1.0)
        if self.bend_limit is not None:
            check_number(self.bend_limit, name="bend_limit", where="LatticeSolver", above=0.0, infinite=True)
        self._prepared: tuple[System, int] | None = None
        self.world: LatticeWorld | None = None
        self.joints: list[Any] | None = None
        self.contacts: SurfaceContacts | None = None
        self.met: SurfaceMet | None = None
        self.multipliers = np.zeros(0)
        self._strides: Strides | None = None
        self._springs: SweptSprings | None = None
        self._known: tuple[tuple[Any, ...], StableStep] | None = None

    def prepare(self, system: System) -> None:
        """Join the lattices, find what acts on them, and the number of steps a call."""
        check_system(system, "LatticeSolver")
        world = world_of(system.scene) if self.world is None else self.world
        bodies = [slot.node.body for slot in system.bodies]
        if not bodies or not all(isinstance(body, VoxelBody) for body in bodies):
            raise InputError(
                "the stride of a lattice needs a scene of voxel bodies alone",
                where="LatticeSolver",
                fix="Use Partitioned, which steps bodies of all kinds together.",
            )
        if self.joints is None and len(swept_joints(system.scene)) < len(system.scene.joints):
            raise InputError(
                "the sweep of a lattice does not hold a joint with limits or a motor, or of voxels that are guided",
                where="LatticeSolver",
                fix="Leave the solver out, or use ImplicitEuler.",
            )
        extra = [mass.label for mass in system.masses if not isinstance(mass.mass, CubeMass)]
        if extra:
            raise InputError(
                "the stride of a lattice knows the masses of its voxels alone",
                where="LatticeSolver",
                value=extra[0],
                fix="Use Partitioned, or give the voxels another density.",
            )
        refuse_restitution(system, "LatticeSolver")
        models = [body.model for body in bodies]
        self._model = VoxelModel.joined(models)
        self._link_counts = [model.link_count for model in models]
        self._swing = Swing.joined(models, [body.swing for body in bodies])
        self._guides = Guides.of(system)
        check_free(self._model, self._guides.voxels, "guided")
        self._world = world
        self._largest = self._first_step(models)
        first = self._first_voxels(system)
        self._springs = SweptSprings.of(system, first, self._guides.voxels, self._model, self._largest.step)
        acting = [f for f in system.forces if not isinstance(f.force, LatticeForce | GroundDamping | FluidForce)]
        self._acting = acting if self._springs is None else self._springs.take(acting)
        masses = np.stack([self._model.mass, self._model.inertia], axis=1)
        self._longest = longest_part(system, self._acting, np.repeat(masses, 3, axis=1))
        self._sweep = LatticeSweep.make(
            self._model,
            held=self._guides.held,
            planes=tuple(world.obstacles.values()),
            swing=self._swing,
            collision=world.collision,
            fluid=world.fluid,
            joints=lattice_joints(
                system.scene.joints if self.joints is None else self.joints,
                first,
                None if self._springs is None else self._springs.springs,
            ),
        )
        slowly = all(self.dt * command.rate <= 1 + 1e-9 for command in self._commands)
        loads = point_loads(system, self._acting, first)
        slowly = slowly and self.dt <= self._longest and not (self._acting and loads is None)
        alone = self.world is None and slowly and not self._guides.moves
        self._strides = Strides.of(self._sweep, loads) if alone else None
        self._has_warned = self._has_warned_of_contacts = self._has_warned_of_speed = self._meets = False
        if world.obstacles:
            system.memo[MET] = ObstaclesMet(partial(self.obstacle_forces, system))
        self._prepared = (system, system.revision)

    @staticmethod
    def _first_voxels(system: System) -> dict[str, int]:
        """Number of the first voxel of each body."""
        counts = [slot.coordinates.count for slot in system.bodies]
        return dict(zip((slot.name for slot in system.bodies), np.cumsum([0, *counts]).tolist()))

    def _first_step(self, models: list[VoxelModel]) -> StableStep:
        """Of the lattices as they are at rest, which is known where only what acts on them has changed."""
        key = (models, self._guides.held.tolist(), len(self._world.obstacles), self._world.collision)
        if self._known is None or not _is_alike(self._known[0], key):
            self._known = key, self._stable_step(self._model, None, None)
        return self._known[1]

    def _stable_step(
        self, model: VoxelModel, x: Array | None, rest: Array | None, known: StableStep | None = None
    ) -> StableStep:
        """Where nothing is stiff, as long as if the voxels were linked: loads and gravity are resolved as finely.
        known: what was found before."""
        found = find_step(
            model,
            held=self._guides.held,
            x=x,
            rest=rest,
            contact=min(len(self._world.obstacles), 2),
            collision=self._world.collision,
            safety=self.safety,
            start=None if known is None else known.single,
            known=known,
        )
        if np.isfinite(found.step):
            return found
        frequency = np.sqrt(2.0 * model.values("young") * model.size / model.mass)  # of two, by the link between them
        step = self.safety * 2.0 / float(frequency.max())
        return StableStep(step, ONE_STAGE, step)

    def rehearse(self) -> None:
        """Look at strains, find the stable step of a lattice that is strained, as at the start, and take the small
        steps that tell how obstacles are pushed; nothing changes."""
        assert self._prepared is not None
        system = self._prepared[0]
        x, links = system.x0.reshape(-1, 7), links_of(self._model)
        if obstacles := tuple(self._world.obstacles.values()):
            self._small_steps(system, [system.initial_state()])[2]([0], [(), obstacles])
        if self._model.link_count:
            kernels.largest_strain_and_bend(links, x)
            self._stable_step(self._model, x, links.rest, self._largest)

    def found_step(self, state: State) -> tuple[float, StableStep]:
        """The largest strain seen so far and the stable step found at it."""
        if STEP not in state.memory:
            return 0.0, self._largest
        strain, step, count, single = state.memory[STEP]
        return strain, StableStep(step, STAGES[int(count) - 1], single)

    def notes_beside(self) -> list[str]:
        """What a person should know of lattices beside surfaces of other bodies."""
        stable = self._largest
        if stable.stages is ONE_STAGE:
            return []
        return [
            f"lattices that touch other bodies damp their links in one stage, in steps of {stable.single:.2g} s; alone "
            f"in {len(stable.stages.shares)}, in steps of {stable.step:.2g} s"
        ]

    @property
    def sweep(self) -> LatticeSweep:
        """The sweep, with the state in bricks, after `prepare`."""
        return self._sweep

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "LatticeSolver.step")
        if self._prepared != (system, system.revision):
            self.prepare(system)
        if self._strides is not None:
            return self.advance(system, state, 1)
        return self._step_in_parts(system, state)

    def advance(self, system: System, state: State, steps: int) -> StepReport:
        """So many steps of dt, in place, each many small ones with a look at the strains. Where nothing acts on the
        lattices that is asked from Python, all of them are one compiled call, or those to the next command."""
        taken = self.advance_frames(system, state, [steps])
        return taken[-1][1] if taken else step_by_step(self, system, state, steps)

    def advance_frames(self, system: System, state: State, steps: Sequence[int]) -> list[tuple[State, StepReport]]:
        """So many steps of dt to each of several frames; the state becomes the last. Empty, and the state as it was,
        where a step leaves the finite or others are better taken one by one."""
        if self._prepared != (system, system.revision):
            self.prepare(system)
        if self._strides is None or (len(steps) > 1 and (self._strides.remembers or self._commands)):
            return []
        total, whole, marks = sum(steps), state.copy(), np.cumsum(steps).tolist()
        ends = [state.t, *step_times(state.t, self.dt, total)]
        frames: list[State] = []
        small: list[tuple[int, bool]] = []  # small steps of each step, and whether joints are open at its end
        while (done := len(small)) < total:
            keep = [mark - done for mark in marks[:-1] if mark > done]
            taken, count = self._take(system, state, ends[done:-1], keep)
            if taken.lost and total > 1:  # again one by one, to name the step
                state.restore(whole)
                return []
            if taken.lost:  # from Python, to find out when and where
                self._step_in_parts(system, state)
                return [(state, StepReport(Outcome.NOT_FINITE))]
            if taken.breaks and taken.strides:
                taken, count = self._take(system, state, ends[done : done + taken.strides], keep)
            if taken.breaks:
                report = self._step_in_parts(system, state)
                small.append((report.iterations, not report.is_solved))
                state.t = ends[done + 1]
                continue
            for mark, (x, v) in zip(keep, taken.kept):
                memory = {name: array.copy() for name, array in state.memory.items()}
                frames.append(State(ends[done + mark], x.ravel(), v.ravel(), memory))
            is_open = taken.open > OPEN * self._model.extent if len(taken.open) else np.zeros(taken.strides, dtype=bool)
            small += [(count, bool(o)) for o in is_open]
            self._keep(system, state, taken.end)
            state.t = ends[len(small)]
            if taken.looks:
                self._look(system, state)
        if len(self._sweep.joint_impulse):
            self.multipliers = state.memory["multipliers"] = self._sweep.joint_impulse / self.dt
        reports = [_report(small[a:b]) for a, b in pairwise([0, *marks])]
        return list(zip([*frames, state], reports))

    def _take(self, system: System, state: State, starts: list[float], keep: list[int]) -> tuple[Taken, int]:
        """Strides from these times [s] on, as far as no command must be asked, and of how many small steps each is."""
        assert self._strides is not None
        self._place_springs()
        if self._commands:
            self._sweep.commanded = self._ask(system, state)
            ticks = [[np.floor(t * command.rate + EARLY) for command in self._commands] for t in starts]
            starts = [t for t, tick in zip(starts, ticks) if tick == ticks[0]]
        seen, stable = self.found_step(state)
        count = part_count(self.dt / stable.step)
        self._watch_speed(state, self.dt / count, self.dt * len(starts))
        taken = self._strides.advance(
            self._local(system, state),
            starts,
            self.dt / count,
            count,
            gravity=system.gravity,
            stages=stable.stages_of(self.dt / count),
            limits=Limits(
                seen + STRAIN_STEP, np.inf if self.bend_limit is None or self._has_warned else self.bend_limit
            ),
            pairs=state.memory.get(PAIRS),
            keep=keep,
        )
        return taken, count

    def _step_in_parts(self, system: System, state: State) -> StepReport:
        """A step of dt in as many parts as what acts on the lattices asks for."""
        stop, steps = state.t + self.dt, 0
        asked = [part_count(self.dt * command.rate - 1e-9) for command in self._commands]
        parts = max([part_count(self.dt / self._longest), *asked])
        contacts = self.contacts
        held = np.zeros(len(self._sweep.joint_impulse))
        impulse, moment, way = np.zeros((3, 0 if contacts is None else len(contacts.gap), 3))
        start = (contacts or NO_CONTACTS).joined
        joined = np.zeros_like(start)
        for part in range(parts):
            if contacts is not None or self._meets:
                self._sweep.set_contacts(contacts)
                self._meets = contacts is not None
            steps += self._advance(system, state, (stop - state.t) / (parts - part))
            held += self._sweep.joint_impulse
            if contacts is not None:
                impulse += self._sweep.contact_impulse
                moment += self._sweep.contact_moment
                way += self._sweep.contact_way
                joined += self._sweep.joined_way
                contacts = contacts._replace(
                    gap=self._sweep.contact_gap, slip=self._sweep.contact_slip, joined=start + joined
                )
        if contacts is not None:
            self.met = SurfaceMet(impulse, moment, self._sweep.contact_slip, self._sweep.contact_mode, way, joined)
        state.t = stop
        self.multipliers = held / self.dt
        if len(held) and self.world is None:
            state.memory["multipliers"] = self.multipliers
        self._look(system, state)
        outcome = Outcome.SOLVED if self._sweep.joint_error <= OPEN else Outcome.JOINT_LIMIT
        outcome = outcome if state.is_finite else Outcome.NOT_FINITE
        return StepReport(outcome, iterations=steps)

    def obstacle_forces(self, system: System, states: Sequence[State]) -> list[Touching]:
        """Where lattices push obstacles in the small step that begins at each of several states, see
        `lattice_obstacles`. They are found together where all that lattices remember is frames."""
        together = self._strides is not None and not (self._strides.remembers or self._commands)
        alike = groupby(states, key=(lambda state: self.found_step(state)[1]) if together else id)
        return [found for _, group in alike for found in self._obstacle_forces(system, list(group))]

    def _obstacle_forces(self, system: System, states: list[State]) -> list[Touching]:
        """The same of states with the same stable step, or of one."""
        owners = [(slot.name, slot.coordinates.count) for slot in system.bodies]
        local, dt, steps = self._small_steps(system, states)
        return found_forces(self._sweep, self._world.obstacles, owners, local, dt, steps)

    def _small_steps(self, system: System, states: list[State]) -> tuple[list[LocalState], float, Steps]:
        """Frames of states with the same stable step, that step [s], and what takes it beside lists of obstacles."""
        _, stable = self.found_step(states[0])
        if self.contacts is not None:
            stable = StableStep(stable.single, ONE_STAGE, stable.single)
        dt = self.dt / part_count(self.dt / stable.step)
        pairs, stages = states[0].memory.get(PAIRS), stable.stages_of(dt)
        local = [self._local(system, state) for state in states]

        def steps(numbers: list[int], meetings: list[tuple[Obstacle, ...]]) -> list[Array]:
            if self._strides is None:
                return [step(obstacles)[None] for obstacles in meetings]
            return self._strides.velocities_beside(
                [local[number] for number in numbers],
                dt,
                meetings,
                gravity=system.gravity,
                stages=stages,
                pairs=pairs,
            )

        def step(obstacles: tuple[Obstacle, ...]) -> Array:
            sweep = replace(self._sweep, obstacles=obstacles)
            if self.world is not None:  # surfaces and joints of other bodies are those of a step that is done
                sweep.drop_joints()
                sweep.set_contacts(None)
            if self._acting:
                sweep.set_loads(acting_loads(system, states[0], self._acting))
            end = advance_finite(sweep, local[0], dt, 1, system.gravity, pairs=pairs, stages=stages)
            sweep.met_obstacles(end.v)
            return np.asarray(end.v)

        return local, dt, steps

    def _place_springs(self) -> None:
        if self._springs is not None:
            self._springs.place(self._sweep)

    def _local(self, system: System, state: State) -> LocalState:
        """The frames of all voxels, with what their links remember."""
        return LocalState(state.t, state.x.reshape(-1, 7), state.v.reshape(-1, 6), self._recalled(system, state))

    def _keep(self, system: System, state: State, end: LocalState) -> None:
        """Take over what a sweep has come to."""
        state.x, state.v, state.t = end.x.ravel(), end.v.ravel(), end.t
        if self._sweep.contacts is not None:
            state.memory[PAIRS] = self._sweep.pairs
        if end.memory is not None:
            parts = np.split(end.memory.to_array(), np.cumsum(self._link_counts)[:-1])
            state.memory |= {f"{slot.name}/{LINKS}": part for slot, part in zip(system.bodies, parts)}

    @property
    def _commands(self) -> list[Commands]:
        return [] if self._swing is None else [command for _, command in self._swing.commands]

    def _advance(self, system: System, state: State, duration: float) -> int:
        """Advance by a duration [s]; returns how many steps it took."""
        _, stable = self.found_step(state)
        if self.contacts is not None:  # one stage leaves them more of the 4 of `stable_step` than several would
            stable = StableStep(stable.single, ONE_STAGE, stable.single)
        largest = stable.step
        if self.contacts is not None:
            allowed = contact_step_limit(self.contacts, self._model, beside=stable.single / self.safety)
            self._watch(allowed, largest, state.t)
            largest = min(largest, allowed)
        steps = part_count(duration / largest)
        sweep = self._sweep
        self._place_springs()
        if self._acting:
            ahead = (steps - 1) / (2 * steps) * duration
            sweep.set_loads(acting_loads(system, foreseen(state, ahead), self._acting))
        if self._guides.moves:
            sweep.set_guides(*self._guides.at(system, state, duration))
        if self._commands:
            sweep.commanded = self._ask(system, state)
        start, pairs = self._local(system, state), state.memory.get(PAIRS)
        dt = duration / steps
        self._watch_speed(state, dt, duration)
        stages = stable.stages_of(dt)
        end = advance_finite(sweep, start, dt, steps, system.gravity, pairs=pairs, stages=stages)
        self._keep(system, state, end)
        return steps

    def _watch(self, allowed: float, largest: float, t: float) -> None:
        """Warn once of contacts that allow much smaller steps [s] than the lattice does."""
        if self.contacts is None or allowed * COSTLY >= largest or self._has_warned_of_contacts:
            return
        part, stiffest = (allowed / largest) ** 2, int(np.argmax(self.contacts.stiffness))
        what = "contacts" if self.contacts.rest_lengths[stiffest] < 0 else "springs"
        sentence = (
            f"t = {t:.4g} s: {what} of {self.contacts.stiffness[stiffest]:.2g} N/m on voxels ask for steps of "
            f"{allowed:.2g} s, the lattice for {largest:.2g} s: each of {self.dt:.3g} s takes {largest / allowed:.0f} "
            f"times as long. A stiffness of {part:.1g} of it would not."
        )
        warnings.warn(StepWarning(sentence, allowed), stacklevel=6)
        self._has_warned_of_contacts = True

    def _watch_speed(self, state: State, h: float, duration: float) -> None:
        """Warn once of voxels so fast that they may pass through an obstacle. h [s]: a small step."""
        if not self._has_warned_of_speed:
            self._has_warned_of_speed = warns_of_leap(self._world.obstacles, self._model, state, h, duration)

    def _recalled(self, system: System, state: State) -> LinkMemory | None:
        """What the links of all bodies remember, None where they remember nothing."""
        if self._sweep.laws is None:
            return None
        kept = [state.memory.get(f"{slot.name}/{LINKS}") for slot in system.bodies]
        fresh = [LinkMemory.fresh(count).to_array() for count in self._link_counts]
        return LinkMemory.of_array(np.concatenate([f if k is None else k for k, f in zip(kept, fresh)]))

    def _ask(self, system: System, state: State) -> Array:
        """Values of the commands of all bodies; each is asked when its next tick has come."""
        asked = []
        for slot in system.bodies:
            swing = slot.node.body.swing
            if swing is None or not swing.commands:
                continue
            values = state.memory.get(
                f"{slot.name}/{COMMANDS}", np.zeros(sum(c.count for _, c in swing.commands))
            ).copy()
            ticks = state.memory.get(f"{slot.name}/{TICKS}", np.full(len(swing.commands), -1.0)).copy()
            first = 0
            for k, (_, command) in enumerate(swing.commands):
                tick = np.floor(state.t * command.rate + EARLY)
                if tick > ticks[k]:
                    seen = [slot, *(system.body(name) for name in command.sees)]
                    given = [LocalState(state.t, s.view_x(state.x).copy(), s.view_v(state.v).copy()) for s in seen]
                    values[first : first + command.count] = command.ask(state.t, *given)
                    ticks[k] = tick
                first += command.count
            state.memory[f"{slot.name}/{COMMANDS}"], state.memory[f"{slot.name}/{TICKS}"] = values, ticks
            asked.append(values)
        return np.concatenate(asked)

    def _look(self, system: System, state: State) -> None:
        """Warn of links bent too far, and find the stable step anew where strains have grown. Failed links are left
        aside. What was found is kept in the state, so that a run that goes on from it takes the same steps."""
        if not state.is_finite:
            return
        model, memory = self._model, self._recalled(system, state)
        if memory is not None and not memory.alive.all():
            model = model.with_links(memory.alive)
        model = model.with_stiffness
        if not model.link_count:
            return
        x, links = state.x.reshape(-1, 7), links_of(model)
        strain, bend, where = kernels.largest_strain_and_bend(links, x)
        if self.bend_limit is not None and bend > self.bend_limit and not self._has_warned:
            one, two = (model.cells[i].tolist() for i in links.voxels[where])
            warnings.warn(
                f"t = {state.t:.4g} s: the link between the voxels of cells {one} and {two} bends by {bend:.2f} rad; "
                f"beyond {self.bend_limit:g} rad the theory of beams does not carry. Use smaller or stiffer voxels.",
                BendWarning,
                stacklevel=4,
            )
            self._has_warned = True
        seen, stable = self.found_step(state)
        if strain > seen + STRAIN_STEP:
            rest = links.rest
            if self._swing is not None:
                rest = self._swing.sizes(state.t, self._sweep.commanded)[links.voxels].mean(axis=1)
            found = self._stable_step(model, x, rest, stable)
            step, single = min(stable.step, found.step), min(stable.single, found.single)
            state.memory[STEP] = np.array([strain, step, len(found.stages.shares), single])


def _is_alike(one: tuple[Any, ...], two: tuple[Any, ...]) -> bool:
    """Whether two lists of models are of the same ones, and all else is equal."""
    same = len(one[0]) == len(two[0]) and all(a is b for a, b in zip(one[0], two[0]))
    return same and one[1:] == two[1:]


def _report(steps: list[tuple[int, bool]]) -> StepReport:
    """Of steps, each with its number of small ones, and whether joints are open at its end."""
    unsolved = sum(is_open for _, is_open in steps)
    outcome = Outcome.JOINT_LIMIT if unsolved else Outcome.SOLVED
    return StepReport(outcome, sum(count for count, _ in steps), steps=len(steps), unconverged=unsolved)
