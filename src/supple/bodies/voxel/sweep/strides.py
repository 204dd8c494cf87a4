"""Strides of a lattice that nothing outside its sweep acts on: as many as a caller wants in one compiled call.

What changes in time, signals of the actuation and obstacles that move, is computed for all of them beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import links_of
from supple.bodies.voxel.links.link_laws import NEVER
from supple.bodies.voxel.links.link_memory import LinkMemory, no_laws
from supple.bodies.voxel.sweep.brick_data import STATE, Step
from supple.bodies.voxel.sweep.lattice_kernels import Links
from supple.bodies.voxel.sweep.stages import Stages
from supple.bodies.voxel.sweep.stride_kernels import LOOK, LOST, Frames, advance_strides, advance_strides_parallel
from supple.bodies.voxel.sweep.sweep import CHUNK, LatticeSweep
from supple.bodies.voxel.touching.fluid import fluid_array
from supple.bodies.voxel.touching.moving import moves, moving_counts, moving_table
from supple.bodies.voxel.touching.obstacles import obstacle_arrays

Array = np.ndarray


class Taken(NamedTuple):
    """end: the state after so many strides. looks: whether the last one's strains are beyond the limits. lost: whether
    the one after them would leave the finite; of links that yield, end.memory is then not that of its time."""

    strides: int
    end: LocalState
    looks: bool
    lost: bool


def can_stride(sweep: LatticeSweep) -> bool:
    """Whether nothing in the sweep needs a look in between: joints, voxels that meet, links that fail."""
    fails = sweep.laws is not None and bool((sweep.model.laws.failure < NEVER).any())
    return sweep.contacts is None and sweep.joint_run is None and not sweep.meeting and not fails


@dataclass(frozen=True, eq=False)
class Strides:
    """A sweep, its links, and what does not change: place (n,), moves (n,) as in `Frames`, obstacles at rest."""

    sweep: LatticeSweep
    links: Links
    place: Array
    moves: Array
    at_rest: dict[str, Array]

    @classmethod
    def of(cls, sweep: LatticeSweep) -> Strides:
        """Of a sweep that `can_stride`."""
        layout = sweep.layout
        axes = list(layout.axes)
        at_rest = obstacle_arrays([o for o in sweep.obstacles if not moves(o)], axes)
        return cls(
            sweep,
            links_of(sweep.model),
            np.asarray(layout.brick * STATE * layout.lanes + layout.lane, dtype=np.int64),
            np.where(sweep.held, 0.0, 1.0),
            {**at_rest, "fluid": fluid_array(sweep.fluid, axes)},
        )

    def advance(
        self,
        state: LocalState,
        starts: Sequence[float],
        dt: float,
        count: int,
        *,
        gravity: ArrayLike,
        stages: Stages,
        strain: float,
        bend: float,
    ) -> Taken:
        """One stride of `count` small steps of dt [s] from each of the times [s], or as many as fit into tables, or up
        to one after which a strain or an angle between linked voxels [rad] is beyond its limit."""
        sweep, axes = self.sweep, np.array(self.sweep.layout.axes)
        times = np.asarray(starts, dtype=float)[: max(1, CHUNK // (count + 1))]
        g = check_vector(gravity, name="gravity", where="LatticeSweep.advance")[axes]
        sweep.memory = state.memory if state.memory is not None else LinkMemory.fresh(sweep.model.link_count)
        frames = Frames(
            np.array(state.x, dtype=float),
            np.array(state.v, dtype=float),
            np.empty_like(state.x),
            np.empty_like(state.v),
            self.place,
            axes,
            self.moves,
        )
        begins, ends = self._signals(times, dt, count)
        step = Step(
            t=float(times[0]),
            dt=dt,
            gx=float(g[0]),
            gy=float(g[1]),
            gz=float(g[2]),
            signals=ends,
            **self.at_rest,
            **self._moving(times, dt, count),
        )
        threaded = numba.get_num_threads() > 1 and len(sweep.layout.slabs.start) > 2
        kernel = advance_strides_parallel if threaded else advance_strides
        laws = sweep.laws if sweep.laws is not None else no_laws(sweep.dtype)
        damping = sweep.damping_of(dt, stages)
        bricks, slabs = sweep.layout.bricks, sweep.layout.slabs
        done, how = kernel(bricks, slabs, laws, damping, step, frames, self.links, begins, count, strain, bend)
        sweep.t = times[done] if done < len(times) else times[-1] + count * dt
        kept = None if sweep.laws is None else sweep.memory
        return Taken(done, LocalState(sweep.t, frames.x, frames.v, kept), how == LOOK, how == LOST)

    def _signals(self, times: Array, dt: float, count: int) -> tuple[Array, Array]:
        """Control signals at the starts of strides, (strides, b), and at the ends of small steps, after those of each
        stride a row more, that of the next one's start."""
        if self.sweep.swing is None:
            return np.zeros((len(times), 0)), np.zeros((0, 0))
        at = times[:, None] + dt * np.arange(count + 1)
        values = self.sweep.signals_at(at.ravel())
        return np.ascontiguousarray(values[:: count + 1]), values[1:]

    def _moving(self, times: Array, dt: float, count: int) -> dict[str, Array]:
        """Obstacles that move, in tables of count + 1 rows a stride."""
        obstacles, axes = self.sweep.obstacles, list(self.sweep.layout.axes)
        if not any(moves(o) for o in obstacles):
            return {}
        tables = [moving_table(obstacles, axes, float(t), dt, count) for t in times]
        return {"moving": np.concatenate(tables), "moving_kinds": moving_counts(obstacles)}
