"""Strides of lattices on which nothing acts that must be asked from Python: as many as a caller wants in one compiled
call, with voxels that meet, joints and links that may fail.

What changes in time, signals of the actuation and obstacles that move, is computed for all of them beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import links_of
from supple.bodies.voxel.links.link_memory import LinkMemory, no_laws
from supple.bodies.voxel.stability.stages import Stages
from supple.bodies.voxel.sweep.brick_data import LOADS, STATE, Damping, Step
from supple.bodies.voxel.sweep.lattice_kernels import Links
from supple.bodies.voxel.sweep.stride_kernels import (
    BROKEN,
    CROWDED,
    LOOK,
    LOST,
    Frames,
    Given,
    advance_apart,
    advance_meeting,
    advance_meeting_together,
    advance_strides,
    advance_strides_together,
)
from supple.bodies.voxel.sweep.sweep import CHUNK, LatticeSweep
from supple.bodies.voxel.touching.collision import enlarged, no_collisions
from supple.bodies.voxel.touching.fluid import fluid_array
from supple.bodies.voxel.touching.moving import moves, moving_counts, moving_table
from supple.bodies.voxel.touching.obstacles import obstacle_arrays
from supple.interaction.obstacles import Obstacle

Array = np.ndarray


class Limits(NamedTuple):
    """Beyond which somebody should look: the largest strain, and angle between linked voxels [rad]."""

    strain: float
    bend: float


NO_LIMITS = Limits(np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class PointLoads:
    """Forces on points of voxels that depend on time alone: voxel (p,), local (p, 3) [m] in its axes; at: forces
    (k, p, 3) [N] at times (k,) [s]."""

    voxel: Array
    local: Array
    at: Callable[[Array], Array]


class Taken(NamedTuple):
    """end: the state after so many strides; kept: frames x (n, 7), v (n, 6) after those that were asked for, as far as
    they were taken. looks: whether the last one is beyond the limits. lost: whether the one after them would leave the
    finite; breaks: whether links would fail in it. open (strides,) [m]: the largest violation of a joint after each.

    Where it is lost or breaks, the memory of links and of pairs is not that of the end: take them again."""

    strides: int
    end: LocalState
    kept: list[tuple[Array, Array]]
    looks: bool
    lost: bool
    breaks: bool
    open: Array


@dataclass(frozen=True, eq=False)
class Strides:
    """A sweep, its links, and what does not change: place (n,), moves (n,) as in `Frames`, obstacles at rest."""

    sweep: LatticeSweep
    links: Links
    place: Array
    moves: Array
    axes: Array
    at_rest: dict[str, Array]
    loads: PointLoads | None = None

    @classmethod
    def of(cls, sweep: LatticeSweep, loads: PointLoads | None = None) -> Strides:
        """Of a sweep that meets no surfaces of other bodies. loads: what acts on it beside gravity."""
        layout = sweep.layout
        axes = list(layout.axes)
        at_rest = obstacle_arrays([o for o in sweep.obstacles if not moves(o)], axes)
        return cls(
            sweep,
            links_of(sweep.model.with_stiffness),
            np.asarray(layout.brick * STATE * layout.lanes + layout.lane, dtype=np.int64),
            np.where(sweep.held, 0.0, 1.0),
            np.array(axes),
            {**at_rest, "fluid": fluid_array(sweep.fluid, axes)},
            loads,
        )

    @property
    def remembers(self) -> bool:
        """Whether the state has more than frames: links that yield or fail, pairs that touch, forces of joints."""
        return self.sweep.laws is not None or self._meets

    @property
    def _meets(self) -> bool:
        return self.sweep.contacts is not None or self.sweep.joint_run is not None

    def advance(
        self,
        state: LocalState,
        starts: Sequence[float],
        dt: float,
        count: int,
        *,
        gravity: Array,
        stages: Stages,
        limits: Limits,
        pairs: Array | None = None,
        keep: Sequence[int] = (),
    ) -> Taken:
        """One stride of `count` small steps of dt [s] from each of the times [s], or as many as fit into tables, or up
        to one after which somebody should look. pairs: what is remembered of voxels that touch, as in `LatticeSweep`,
        whose own are those at the end. keep: the strides after which frames are kept, ascending, from 1 on."""
        times = np.asarray(starts, dtype=float)[: max(1, CHUNK // (count + 1))]
        begins, ends = self._signals(times, dt, count)
        moving = self._moving(self.sweep.obstacles, times, dt, count)
        step = self._step(float(times[0]), dt, gravity, ends, {**self.at_rest, **moving})
        given, damping = self._given(times, dt, count), self.sweep.damping_of(dt, stages)
        wanted = [k for k in keep if k <= len(times)]
        frames, done, how, open_ = self._taken(state, pairs, wanted, given, step, begins, count, damping, limits)
        self.sweep.t = float(times[done]) if done < len(times) else float(times[-1]) + count * dt
        memory = None if self.sweep.laws is None else self.sweep.memory
        end, kept = LocalState(self.sweep.t, frames.x, frames.v, memory), zip(frames.kept_x, frames.kept_v)
        taken = [pair for k, pair in zip(wanted, kept) if k <= done]
        return Taken(done, end, taken, how == LOOK, how == LOST, how == BROKEN, open_)

    def velocities_beside(
        self,
        states: Sequence[LocalState],
        dt: float,
        meetings: Sequence[tuple[Obstacle, ...]],
        *,
        gravity: Array,
        stages: Stages,
        pairs: Array | None = None,
    ) -> list[Array]:
        """Velocities (k, n, 6) after one small step of dt [s] from each of several states, one where lattices remember
        more than frames, beside several lists of obstacles in place of the sweep's own, which it leaves as it is."""
        sweep = replace(self.sweep)
        own, times = replace(self, sweep=sweep), np.array([state.t for state in states])
        begins, ends = own._signals(times, dt, 1)
        given, damping, found = own._given(times, dt, 1), sweep.damping_of(dt, stages), []
        for obstacles in meetings:
            at_rest = obstacle_arrays([o for o in obstacles if not moves(o)], self.axes.tolist())
            moving = self._moving(obstacles, times, dt, 1)
            around = {**at_rest, "fluid": self.at_rest["fluid"], **moving}
            step = own._step(float(times[0]), dt, gravity, ends, around)
            if not self.remembers:
                found.append(own._apart(states, given, step, begins, damping))
                continue
            frames, *_ = own._taken(states[0], pairs, [], given, step, begins, 1, damping, NO_LIMITS)
            sweep.met_obstacles(frames.v)
            found.append(frames.v[None])
        return found

    def _apart(
        self, states: Sequence[LocalState], given: Given | None, step: Step, begins: Array, damping: Damping
    ) -> Array:
        """Velocities (k, n, 6) after a small step from each of several states."""
        layout = self.sweep.layout
        x, v = (np.array([getattr(state, name) for state in states], dtype=float) for name in "xv")
        bricks = layout.bricks if given is None else layout.bricks._replace(loads=layout.base_loads)
        frames, laws = self._frames(states[0], 0, []), no_laws(self.sweep.dtype)
        advance_apart(bricks, layout.slabs, laws, damping, given, step, frames, begins, x, v)
        return v

    def _step(self, t: float, dt: float, gravity: Array, signals: Array, surroundings: dict[str, Array]) -> Step:
        gx, gy, gz = gravity[self.axes].tolist()
        return Step(t, dt, gx, gy, gz, signals, **surroundings)

    def _taken(
        self,
        state: LocalState,
        pairs: Array | None,
        keep: list[int],
        given: Given | None,
        step: Step,
        begins: Array,
        count: int,
        damping: Damping,
        limits: Limits,
    ) -> tuple[Frames, int, int, Array]:
        """Frames as the strides leave them, and what `_run` tells, with as much workspace as they need."""
        how = CROWDED
        while how == CROWDED:  # now with more workspace
            self._recall(state, pairs)
            frames = self._frames(state, len(begins), keep)
            done, how, open_ = self._run(given, step, frames, begins, count, damping, limits)
        return frames, done, how, open_

    def _frames(self, state: LocalState, strides: int, keep: list[int]) -> Frames:
        """Room for so many strides from a state on, after some of which frames are kept."""
        x, v, number = np.array(state.x, dtype=float), np.array(state.v, dtype=float), np.full(strides, -1)
        number[np.array(keep, dtype=np.int64) - 1] = np.arange(len(keep))
        kept = np.empty((len(keep), *x.shape)), np.empty((len(keep), *v.shape))
        return Frames(x, v, self.place, self.axes, self.moves, number, *kept)

    def _recall(self, state: LocalState, pairs: Array | None) -> None:
        """Give the sweep what is remembered at a state."""
        sweep = self.sweep
        if sweep.laws is not None:
            sweep.memory = state.memory if state.memory is not None else LinkMemory.fresh(sweep.model.link_count)
        sweep.pairs = np.zeros((0, 6)) if pairs is None else pairs

    def _run(
        self,
        given: Given | None,
        step: Step,
        frames: Frames,
        begins: Array,
        count: int,
        damping: Damping,
        limits: Limits,
    ) -> tuple[int, int, Array]:
        """How many strides were taken, how that ended, and how far joints were open after each."""
        sweep = self.sweep
        bricks, slabs = sweep.layout.bricks, sweep.layout.slabs
        laws = sweep.laws if sweep.laws is not None else no_laws(sweep.dtype)
        members = sweep.members
        of_strides = (given, step, frames, self._alive(), begins, count, limits.strain, limits.bend, members)
        if not self._meets:
            kernel = advance_strides_together if members > 1 else advance_strides
            if given is not None:
                bricks = bricks._replace(loads=sweep.layout.base_loads)
            return *kernel(bricks, slabs, laws, damping, *of_strides), np.zeros(0)
        meeting, open_ = advance_meeting_together if members > 1 else advance_meeting, np.zeros(len(begins))
        contacts = no_collisions(sweep.layout.base_loads) if sweep.contacts is None else sweep.begin_contacts()
        loaded, joints = bricks._replace(loads=contacts.base.copy()), sweep.joint_run
        if joints is not None:
            joints.per_step[0] = 1.0 / step.dt
        done, how, lacking = meeting(loaded, slabs, laws, damping, contacts, joints, *of_strides, open_)
        if how == CROWDED:
            sweep.contacts = enlarged(contacts, lacking)
        sweep.keep_pairs()
        return done, how, open_[:done]

    def _alive(self) -> Links:
        """The links that have not failed."""
        if self.sweep.laws is None:
            return self.links
        alive = self.sweep.memory.alive
        return self.links if alive.all() else links_of(self.sweep.model.with_links(alive).with_stiffness)

    def _given(self, times: Array, dt: float, count: int) -> Given | None:
        """What acts in strides from these times on, as it is in their middle: see `coupling.lattice_loads`."""
        if self.loads is None:
            return None
        layout, voxel, ahead = self.sweep.layout, self.loads.voxel, (count - 1) / 2 * dt
        place = layout.brick[voxel] * LOADS * layout.lanes + layout.lane[voxel]
        force = np.ascontiguousarray(self.loads.at(times + ahead))
        return Given(voxel, np.asarray(place, dtype=np.int64), self.loads.local, force, ahead)

    def _signals(self, times: Array, dt: float, count: int) -> tuple[Array, Array]:
        """Control signals at the starts of strides, (strides, b), and at the ends of small steps, after those of each
        stride a row more, that of the next one's start."""
        if self.sweep.swing is None:
            return np.zeros((len(times), 0)), np.zeros((0, 0))
        at = times[:, None] + dt * np.arange(count + 1)
        values = self.sweep.signals_at(at.ravel())
        return np.ascontiguousarray(values[:: count + 1]), values[1:]

    def _moving(self, obstacles: Sequence[Obstacle], times: Array, dt: float, count: int) -> dict[str, Array]:
        """Those obstacles that move, in tables of count + 1 rows a stride."""
        if not any(moves(o) for o in obstacles):
            return {}
        axes = self.axes.tolist()
        tables = [moving_table(obstacles, axes, float(t), dt, count) for t in times]
        return {"moving": np.concatenate(tables), "moving_kinds": moving_counts(obstacles)}
