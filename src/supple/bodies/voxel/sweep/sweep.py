"""A lattice with its state in bricks, ready for the fused sweep: load a state, advance, read it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.bodies.voxel import kernels
from supple.bodies.voxel.actuation import Swing
from supple.bodies.voxel.groups.groups import check_free
from supple.bodies.voxel.links.link_memory import (
    LinkMemory,
    coupling_tiles,
    has_laws,
    load_memory,
    make_laws,
    no_laws,
    save_memory,
)
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stages import ONE_STAGE, Stages, check_shares
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, GUIDE, RATES, STATE, Damping, Step
from supple.bodies.voxel.sweep.bricks import Layout, aligned_zeros
from supple.bodies.voxel.sweep.shift_kernels import Laws
from supple.bodies.voxel.sweep.state_kernels import load_frames, save_frames, turn_spins
from supple.bodies.voxel.touching.collision import (
    Collision,
    check_horizon,
    enlarged,
    held_pairs,
    hold_pairs,
    make_contacts,
    no_collisions,
)
from supple.bodies.voxel.touching.collision_kernels import LISTED, LISTS, TOUCHING, Contacts
from supple.bodies.voxel.touching.fluid import Fluid, exposed_faces, fluid_array
from supple.bodies.voxel.touching.joint_kernels import JointRun, compute_violations, place_sides, start_joints
from supple.bodies.voxel.touching.joints import LatticeJoints
from supple.bodies.voxel.touching.moving import check_moving, moves, moving_counts, moving_table
from supple.bodies.voxel.touching.obstacles import contact_constants, obstacle_arrays, own_friction
from supple.bodies.voxel.touching.surface_contact import NO_CONTACTS, SurfaceContacts, SurfaceMeeting, in_axes
from supple.errors import InputError
from supple.interaction.obstacles import Obstacle

Array = np.ndarray
CHUNK = 65536  # steps whose control signals are computed at once


class SweepViews(NamedTuple):
    """Voxel i lies in brick[i], lane[i]: positions[brick[i], :, lane[i]] are its coordinates along the world's axes
    axes[0], axes[1], axes[2].

    positions (b, 3, W) [m], quaternions (b, 4, W), velocities (b, 3, W) [m/s], spins (b, 3, W) [rad/s] in world axes,
    sizes (b, W) [m]: strided views of one array. Lanes without a voxel hold nothing of use.
    """

    axes: tuple[int, int, int]
    brick: Array
    lane: Array
    positions: Array
    quaternions: Array
    velocities: Array
    spins: Array
    sizes: Array


@dataclass(eq=False)
class LatticeSweep:
    """The fused explicit sweep of a lattice. Held voxels stay where they are.

    The state is the sweep's own: `load` copies frames in, `save` copies them out. t: its time [s]. pairs (k, 6): what
    is remembered of voxels that touch each other, see `held_pairs`; `load` forgets it.
    """

    model: VoxelModel
    layout: Layout
    held: Array
    meeting: SurfaceMeeting
    obstacles: tuple[Obstacle, ...] = ()
    swing: Swing | None = None
    collision: Collision | None = None
    contacts: Contacts | None = None
    fluid: Fluid | None = None
    laws: Laws | None = None
    joints: LatticeJoints | None = None
    joint_run: JointRun | None = None
    commanded: Array | None = None
    rates: Array | None = None
    pairs: Array = field(default_factory=lambda: np.zeros((0, 6)))
    t: float = 0.0

    @classmethod
    def make(
        cls,
        model: VoxelModel,
        *,
        held: ArrayLike = (),
        planes: Sequence[Obstacle] = (),
        swing: Swing | None = None,
        collision: Collision | None = None,
        fluid: Fluid | None = None,
        joints: LatticeJoints | None = None,
        dtype: DTypeLike = np.float64,
    ) -> LatticeSweep:
        """held: numbers of voxels that do not move. planes: obstacles to rest on. dtype: float64 or float32.

        collision: how voxels meet each other; None: they pass through each other. fluid: what surrounds them. joints:
        what holds voxels to each other and to the world.
        """
        kind = np.dtype(dtype)
        if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise InputError("the sweep runs in float64 or float32", where="LatticeSweep", value=str(kind))
        index = np.asarray(held, dtype=np.int64).ravel()
        if index.size and (index.min() < 0 or index.max() >= model.voxel_count):
            raise InputError(
                "a held voxel is out of range",
                where="LatticeSweep",
                value=int(index.max() if index.max() >= model.voxel_count else index.min()),
                allowed=f"0..{model.voxel_count - 1}",
            )
        mask = np.zeros(model.voxel_count, dtype=bool)
        mask[index] = True
        layout = Layout.make(model, kind)
        meeting = SurfaceMeeting.make(NO_CONTACTS, layout)
        sweep = cls(model, layout, mask, meeting, tuple(planes), swing, collision, fluid=fluid)
        sweep._store_constants()
        contact, has_groups = None, model.group_count > 0
        if planes:
            check_moving(planes)
            contact = contact_constants(model, own_friction([o for o in planes if not moves(o)]))
            contact[mask, :2] = 0.0
            alone = np.where(model.group[:, None] < 0, contact, 0.0) if has_groups else contact
            sweep._replace_tiles(contact=alone)
        if swing is not None:
            sweep._replace_tiles(swings=swing.patterns)
        if fluid is not None:
            sweep._replace_tiles(skin=exposed_faces(model, model.link_voxels, model.link_axis, sweep.layout.axes))
        if has_laws(model):
            sweep.layout, sweep.laws = make_laws(model, sweep.layout)
        if has_groups:
            check_free(model, index, "held")
            joints = (LatticeJoints.none() if joints is None else joints).with_hinges(model)
        if joints is not None:
            sweep.joints, sweep.joint_run = joints, joints.run(model, mask, sweep.layout, contact)
        sweep._renew_contacts()
        x = model.rest_frames
        sweep.load(x, np.zeros((len(x), 6)))
        return sweep

    @property
    def dtype(self) -> np.dtype:
        """float64 or float32."""
        return self.layout.bricks.state.dtype

    @property
    def bytes_per_voxel(self) -> float:
        """Memory [B] a voxel."""
        return self.layout.nbytes / self.model.voxel_count

    def _store_constants(self) -> None:
        model, layout = self.model, self.layout
        fields = layout.fields(layout.bricks.constants, CONSTANTS)
        one = model.link_voxels[:, 0]
        for k, axis in enumerate(layout.axes):
            chosen = model.link_axis == axis
            values = np.hstack([model.link_stiffness[chosen][:, [0, 2]], model.link_damping[chosen]])
            at = one[chosen]
            fields[layout.brick[at], 4 * k : 4 * k + 4, layout.lane[at]] = values
        free = np.flatnonzero(~self.held)
        per = 1.0 / np.stack([model.mass, model.inertia], axis=1)
        values = np.hstack([per, model.ground_damping * per])[free]
        fields[layout.brick[free], 12:, layout.lane[free]] = values

    def _replace_tiles(self, **values: Array) -> None:
        """Give arrays of the bricks new values (n, count)."""
        tiles = {name: self.layout.tiles(v) for name, v in values.items()}
        self.layout = replace(self.layout, bricks=self.layout.bricks._replace(**tiles))

    def _renew_contacts(self) -> None:
        """Find anew which voxels lie on the surface and which are joined too closely to meet."""
        if self.collision is not None:
            links = self.model.link_voxels[self.memory.alive]
            workspace = 0 if self.contacts is None else len(self.contacts.pairs)
            self.contacts = make_contacts(self.model, self.layout, self.collision, links, workspace)

    def load(self, x: Array, v: Array, t: float = 0.0) -> None:
        """Take over frames x (n, 7) and velocities v (n, 6), linear in world and angular in body axes, at time t."""
        layout = self.layout
        self.t, self.pairs = t, np.zeros((0, 6))
        sizes = self.model.size if self.swing is None else self.swing.sizes(t, self.commanded)
        fields = layout.fields(layout.bricks.state, STATE)
        x, v, sizes = (np.ascontiguousarray(a, dtype=float) for a in (x, v, sizes))
        load_frames(x, v, np.asarray(self.held), sizes, np.array(layout.axes), layout.brick, layout.lane, fields)

    def save(self, x_out: Array, v_out: Array) -> None:
        """Copy the state out, to frames x_out (n, 7) and velocities v_out (n, 6)."""
        layout = self.layout
        fields = layout.fields(layout.bricks.state, STATE)
        save_frames(fields, np.array(layout.axes), layout.brick, layout.lane, x_out, v_out)
        if self.dtype != np.float64:
            x_out[:, 3:] = rotations.normalise(x_out[:, 3:])
        turn_spins(x_out, v_out)

    @property
    def memory(self) -> LinkMemory:
        """What the links remember: plastic strains and failures."""
        if self.laws is None:
            return LinkMemory.fresh(self.model.link_count)
        return save_memory(self.model, self.layout, self.laws)

    @memory.setter
    def memory(self, memory: LinkMemory) -> None:
        if self.laws is None:
            return
        before = self.memory.alive
        load_memory(self.model, self.layout, self.laws, memory)
        changed = not np.array_equal(memory.alive, before)
        if changed:
            self._follow_failures()

    def _follow_failures(self) -> None:
        """The surface, the octants that couple strains, and what may collide, after links have failed."""
        alive, model = self.memory.alive, self.model
        if self.laws is not None and self.laws.coupling.size:
            self.laws = self.laws._replace(coupling=coupling_tiles(model, self.layout, alive))
        if self.fluid is not None:
            faces = exposed_faces(model, model.link_voxels[alive], model.link_axis[alive], self.layout.axes)
            self._replace_tiles(skin=faces)
        self._renew_contacts()

    @property
    def views(self) -> SweepViews:
        """The state as it is kept, without copies: change nothing while a step runs, anything in between."""
        layout = self.layout
        fields = layout.fields(layout.bricks.state, STATE)[: len(layout.bricks.row)]
        return SweepViews(
            layout.axes,
            layout.brick,
            layout.lane,
            fields[:, :3],
            fields[:, 3:7],
            fields[:, 7:10],
            fields[:, 10:13],
            fields[:, 13],
        )

    @property
    def touching_pairs(self) -> Array:
        """Voxels that touched at the start of the last step, (k, 2)."""
        if self.contacts is None:
            return np.zeros((0, 2), dtype=np.int64)
        count = int(self.contacts.memory[TOUCHING])
        return self.contacts.voxels[self.contacts.pairs[self.contacts.touching[:count]]]

    def component(self, axis: int) -> Array:
        """One coordinate of the voxels' centres [m], (n,), without the rest of the state."""
        layout = self.layout
        fields = layout.fields(layout.bricks.state, STATE)
        return fields[layout.brick, layout.axes.index(axis), layout.lane].astype(np.float64)

    def set_loads(self, f: Array | None) -> None:
        """Forces and moments on the voxels in world axes, (n, 6) [N, N m], kept until changed; None: none."""
        if f is None:
            bricks = self.layout.bricks._replace(loads=np.zeros(0, dtype=self.dtype))
            self.layout = replace(self.layout, bricks=bricks)
        else:
            f = np.asarray(f, dtype=float)
            if f.shape != (self.model.voxel_count, 6) or not np.isfinite(f).all():
                raise InputError(
                    "the loads are not finite forces and moments of each voxel",
                    where="LatticeSweep",
                    value=f.shape,
                    allowed=f"({self.model.voxel_count}, 6)",
                )
            axes = np.array(self.layout.axes)
            self._replace_tiles(loads=np.hstack([f[:, axes], f[:, 3 + axes]]))

    def set_guides(self, voxels: Array, free: Array, turns: Array, v: Array, w: Array) -> None:
        """Guide voxels (k,): v moves in the directions free (k, 3, 3) leaves, an orthogonal projector, plus v (k, 3)
        [m/s]; a voxel turns freely where turns (k,) is 1, else by w (k, 3) [rad/s]. World axes, kept until changed."""
        layout = self.layout
        axes = np.array(layout.axes)
        values = np.hstack(
            [
                free[:, axes][:, :, axes].reshape(-1, 9),
                turns[:, None],
                v[:, axes],
                w[:, axes],
            ]
        )
        bricks, tile = np.unique(layout.brick[voxels], return_inverse=True)
        fields = np.zeros((len(bricks), GUIDE, layout.lanes), dtype=self.dtype)
        fields[:, [0, 4, 8, 9]] = 1.0
        fields[tile.ravel(), :, layout.lane[voxels]] = values
        guide = np.full(len(layout.bricks.row), -1, dtype=np.int32)
        guide[bricks] = np.arange(len(bricks))
        self.layout = replace(layout, bricks=layout.bricks._replace(guide=guide, guides=fields.ravel()))

    def set_contacts(self, contacts: SurfaceContacts | None) -> None:
        """Contacts with surfaces of other bodies, as they are at the start of every `advance`, kept until changed;
        None: none. Afterwards `contact_impulse` and the like tell what became of them; to go on in another `advance`,
        set them again with `contact_gap` and `contact_slip`."""
        self.meeting = SurfaceMeeting.make(NO_CONTACTS if contacts is None else contacts, self.layout)
        if self.joints is not None and self.joint_run is not None and contacts is not None:
            places = in_axes(contacts.joined, np.array(self.layout.axes))
            self.joint_run = self.joints.beside(self.joint_run, self.meeting.run, places)

    @property
    def contact_impulse(self) -> Array:
        """What the last `advance` passed to the points of positive weight, (k, 3) [N s]: the sum of dt F."""
        return self.meeting.turned_back(self.meeting.run.impulse)

    @property
    def contact_moment(self) -> Array:
        """The same of moments about the world's origin, (k, 3) [N m s]: of what the other sides take, with the opposite
        sign."""
        return self.meeting.turned_back(self.meeting.run.moment)

    @property
    def contact_slip(self) -> Array:
        """Stretch along the surfaces at its end, (k, 3) [m]."""
        return self.meeting.turned_back(self.meeting.run.slip)

    @property
    def contact_way(self) -> Array:
        """How far the first sides have moved against the second in it, (k, 3) [m]; of contacts, not of springs."""
        return self.meeting.turned_back(self.meeting.run.last - self.meeting.run.first)

    @property
    def joined_way(self) -> Array:
        """How far the points of other bodies that joints hold have moved in it, (j, 3) [m]."""
        count = len(self.meeting.contacts.joined)
        return self.meeting.turned_back(self.meeting.run.way)[len(self.meeting.run.way) - count :]

    @property
    def contact_mode(self) -> Array:
        """OPEN, STICKS or SLIDES in its last step, (k,)."""
        return self.meeting.run.mode.copy()

    @property
    def contact_depth(self) -> Array:
        """The deepest penetration at the starts of its steps, (k,) [m]."""
        return self.meeting.run.depth.copy()

    @property
    def contact_gap(self) -> Array:
        """Gaps at its end, (k,) [m]."""
        return self.meeting.run.gap_end.copy()

    def drop_joints(self) -> None:
        """Leave joints and springs out from now on; rigid bodies stay."""
        if self.joints is None or self.joint_run is None:
            return
        if self.model.group_count == 0:
            self.joints = self.joint_run = None
            return
        run = self.joint_run
        groups = {name: part for name, part in run._asdict().items() if name.startswith("group_")}
        self.joints = LatticeJoints.none().with_hinges(self.model)
        self.joint_run = self.joints.run(self.model, self.held, self.layout)._replace(**groups)

    def met_obstacles(self, v: Array) -> None:
        """Replace velocities (n, 6) of cells on the surface of rigid bodies by what obstacles gave each in the last
        small step, over its mass."""
        run = self.joint_run
        if run is not None and len(run.group_outer):
            layout = self.layout
            axes, place = list(layout.axes), layout.brick * STATE * layout.lanes + layout.lane
            cells = np.argsort(place)[np.searchsorted(np.sort(place), run.group_place[run.group_outer])]
            v[cells[:, None], axes] = run.group_passed / run.group_mass[run.group_outer][:, None]

    @property
    def joint_impulse(self) -> Array:
        """Sum of dt times the forces on the rows of joints in the last `advance`, (m,)."""
        if self.joints is None or self.joint_run is None:
            return np.zeros(0)
        return self.joints.turned_back(self.joint_run.impulse, np.array(self.layout.axes))

    @property
    def joint_error(self) -> float:
        """The largest violation of a row now, over the extent of the lattice."""
        run = self.joint_run
        if run is None:
            return 0.0
        place_sides(self.layout.bricks.state, run)
        compute_violations(run)
        return float(np.abs(run.phi).max(initial=0.0)) / self.model.extent

    def advance(
        self, dt: float, steps: int, *, gravity: ArrayLike = (0.0, 0.0, 0.0), stages: Stages = ONE_STAGE
    ) -> None:
        """So many steps of dt [s] under gravity (3,) [m/s²] and the loads set before; links damp in stages."""
        if np.isposinf(dt):
            raise InputError(
                "the step is infinite",
                where="LatticeSweep.advance",
                fix="A lattice without links or contacts has no largest stable step: choose one.",
            )
        if not dt > 0:
            raise InputError("the step is not positive", where="LatticeSweep.advance", value=dt, allowed="> 0 s")
        g = check_vector(gravity, name="gravity", where="LatticeSweep.advance")
        if self.contacts is not None:
            self.begin_contacts()
        damping = self.damping_of(dt, stages)
        self.meeting.begin(self.layout.bricks.state)
        if self.joint_run is not None:
            self.joint_run.per_step[0] = 1.0 / dt
            start_joints(self.layout.bricks.state, self.joint_run, int(steps))
        for start in range(0, int(steps), CHUNK):
            count = min(CHUNK, int(steps) - start)
            self._advance(self.step_of(float(dt), count, g), damping, count)
            self.t += count * dt
        self.meeting.end(self.layout.bricks.state)
        self.keep_pairs()

    def step_of(self, dt: float, count: int, gravity: ArrayLike) -> Step:
        """What the next steps of dt [s], so many, need to know."""
        axes = list(self.layout.axes)
        gx, gy, gz = np.asarray(gravity, dtype=float)[axes]
        return Step(
            t=self.t,
            dt=dt,
            gx=float(gx),
            gy=float(gy),
            gz=float(gz),
            signals=self.signals_at(self.t + dt * np.arange(1, count + 1)),
            fluid=fluid_array(self.fluid, axes),
            **self._at_rest,
            **self._moving(dt, count, axes),
        )

    @cached_property
    def _at_rest(self) -> dict[str, Array]:
        """Obstacles that do not move."""
        return obstacle_arrays([o for o in self.obstacles if not moves(o)], self.layout.axes)

    def damping_of(self, dt: float, stages: Stages) -> Damping:
        """Stages of steps of dt, with the velocities between them."""
        check_shares(stages.shares, "LatticeSweep.advance")
        *before, within = stages.shares
        if before and self.rates is None:
            self.rates = aligned_zeros(self.layout.bricks.state.size // STATE * RATES, self.dtype)
        rates = self.rates if before and self.rates is not None else np.zeros(0, dtype=self.dtype)
        return Damping(dt * np.array(before), within, rates)

    def _moving(self, dt: float, count: int, axes: list[int]) -> dict[str, Array]:
        """Obstacles that move, in the next steps."""
        if not any(moves(o) for o in self.obstacles):
            return {}
        table = moving_table(self.obstacles, axes, self.t, dt, count)
        return {"moving": table, "moving_kinds": moving_counts(self.obstacles)}

    def keep_pairs(self) -> None:
        """Read what is remembered of voxels that touch."""
        if self.contacts is not None:
            self.pairs = held_pairs(self.contacts, np.array(self.layout.axes))

    def signals_at(self, times: Array) -> Array:
        """Control signals at times (k,) [s], (k, b); refuses those that make voxels vanish, or too large for the lists
        of voxels that may meet."""
        if self.swing is None:
            return np.zeros((0, 0))
        values = self.swing.values(times, self.commanded)
        allowed = np.inf if self.collision is None else self.collision.horizon * float(self.model.size.max())
        largest = self.swing.largest(values, allowed)
        if self.collision is not None:
            check_horizon(self.model, self.collision, largest)
        return values

    def begin_contacts(self) -> Contacts:
        """Forget the contacts of an earlier state, but for what is remembered of pairs."""
        assert self.contacts is not None
        contacts = self.contacts._replace(base=self.layout.base_loads)
        contacts.memory[:] = 0.0
        contacts.memory[LISTED] = -1.0
        self.contacts = hold_pairs(contacts, self.pairs, np.array(self.layout.axes))
        return self.contacts

    @property
    def members(self) -> int:
        """Threads that share a step: not more than there are slabs."""
        return min(numba.get_num_threads(), len(self.layout.slabs.start) - 1)

    def _advance(self, step: Step, damping: Damping, count: int) -> None:
        """Steps of one chunk; stops and goes on where links fail, or where pairs lack workspace."""
        members = self.members
        none, run = no_laws(self.dtype), self.meeting.run if self.meeting else None
        kernel = kernels.advance_together if members > 1 else kernels.advance
        colliding = kernels.advance_colliding_together if members > 1 else kernels.advance_colliding
        joints, meets = self.joint_run, run is not None or self.joint_run is not None
        alone = no_collisions(self.layout.base_loads) if self.contacts is None and meets else None
        reached, loads = 0, None
        while reached < count:
            bricks, slabs, laws = self.layout.bricks, self.layout.slabs, self.laws or none
            contacts = self.contacts or alone
            if contacts is None:
                reached = kernel(bricks, slabs, laws, damping, step, reached, count, members)
            else:
                loads = contacts.base.copy() if loads is None else loads
                bricks = bricks._replace(loads=loads)
                of_contacts = (contacts, run, joints, step, reached, count, members)
                reached, lacking = colliding(bricks, slabs, laws, damping, *of_contacts)
                if lacking:
                    self.contacts = enlarged(contacts, lacking)
            if self.laws is not None and self.laws.failures.any():
                self.laws.failures[:] = 0
                self.keep_pairs()
                self._follow_failures()
                if self.contacts is not None:
                    self.begin_contacts()
                    loads = None

    @property
    def touching(self) -> int:
        """Pairs of voxels that touched at the start of the last step."""
        return 0 if self.contacts is None else int(self.contacts.memory[TOUCHING])

    @property
    def lists_made(self) -> int:
        """How often the last `advance` listed the candidates of collisions."""
        return 0 if self.contacts is None else int(self.contacts.memory[LISTS])
