"""A lattice with its state in bricks, ready for the fused sweep: load a state, advance, read it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numba
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple.algebra import rotations
from supple.bodies.placement import check_vector
from supple.bodies.voxel import collision_kernels, kernels
from supple.bodies.voxel.actuation import Swing
from supple.bodies.voxel.bricks import Layout
from supple.bodies.voxel.collision import Collision, enlarged, make_contacts
from supple.bodies.voxel.collision_kernels import LISTED, LISTS, TOUCHING, Contacts
from supple.bodies.voxel.contact import Plane, Sphere, contact_constants
from supple.bodies.voxel.kernels import CONSTANTS, LOADS, STATE, Step
from supple.bodies.voxel.model import VoxelModel
from supple.errors import InputError

Array = np.ndarray


@dataclass(eq=False)
class LatticeSweep:
    """The fused explicit sweep of a lattice. Held voxels stay where they are.

    The state is the sweep's own: `load` copies frames in, `save` copies them out. t: its time [s].
    """

    model: VoxelModel
    layout: Layout
    held: Array
    planes: tuple[Plane | Sphere, ...] = ()
    swing: Swing | None = None
    contacts: Contacts | None = None
    t: float = 0.0

    @classmethod
    def make(
        cls,
        model: VoxelModel,
        *,
        held: ArrayLike = (),
        planes: Sequence[Plane | Sphere] = (),
        swing: Swing | None = None,
        collision: Collision | None = None,
        dtype: DTypeLike = np.float64,
    ) -> LatticeSweep:
        """held: numbers of voxels that do not move. planes: planes and spheres to rest on. dtype: float64 or float32.

        collision: how voxels meet each other; None: they pass through each other.
        """
        kind = np.dtype(dtype)
        if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
            raise InputError("the sweep runs in float64 or float32", where="LatticeSweep", value=str(kind))
        index = np.asarray(held, dtype=np.int64).ravel()
        if index.size and (index.min() < 0 or index.max() >= model.voxel_count):
            raise InputError(
                "a held voxel is out of range",
                where="LatticeSweep",
                value=int(index.max()),
                allowed=f"0..{model.voxel_count - 1}",
            )
        mask = np.zeros(model.voxel_count, dtype=bool)
        mask[index] = True
        sweep = cls(model, Layout.make(model, kind), mask, tuple(planes), swing)
        sweep._store_constants()
        if planes:
            contact = contact_constants(model)
            contact[mask, :2] = 0.0
            sweep._replace_tiles(contact=contact)
        if swing is not None:
            sweep._replace_tiles(swings=np.stack([swing.sine, swing.cosine], axis=1))
        if collision is not None:
            sweep.contacts = make_contacts(model, sweep.layout, collision, mask, swing)
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

    def load(self, x: Array, v: Array, t: float = 0.0) -> None:
        """Take over frames x (n, 7) and velocities v (n, 6), linear in world and angular in body axes, at time t."""
        layout = self.layout
        self.t = t
        axes = np.array(layout.axes)
        values = np.empty((self.model.voxel_count, STATE))
        values[:, :3] = x[:, axes]
        values[:, 3] = x[:, 3]
        values[:, 4:7] = x[:, 4 + axes]
        moving = np.where(self.held[:, None], 0.0, v)
        values[:, 7:10] = moving[:, axes]
        values[:, 10:13] = rotations.rotate(x[:, 3:], moving[:, 3:])[:, axes]
        values[:, 13] = self.model.grid.voxel_size if self.swing is None else self.swing.sizes(t)
        fields = layout.fields(layout.bricks.state, STATE)
        fields[layout.brick, :, layout.lane] = values

    def save(self, x_out: Array, v_out: Array) -> None:
        """Copy the state out, to frames x_out (n, 7) and velocities v_out (n, 6)."""
        layout = self.layout
        fields = layout.fields(layout.bricks.state, STATE)
        values = fields[layout.brick, :, layout.lane].astype(np.float64)
        axes = np.array(layout.axes)
        x_out[:, axes] = values[:, :3]
        x_out[:, 3] = values[:, 3]
        x_out[:, 4 + axes] = values[:, 4:7]
        if self.dtype != np.float64:
            x_out[:, 3:] = rotations.normalise(x_out[:, 3:])
        v_out[:, axes] = values[:, 7:10]
        w = np.empty((len(values), 3))
        w[:, axes] = values[:, 10:13]
        v_out[:, 3:] = rotations.rotate_inverse(x_out[:, 3:], w)

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
            axes = np.array(self.layout.axes)
            self._replace_tiles(loads=np.hstack([f[:, axes], f[:, 3 + axes]]))

    def advance(self, dt: float, steps: int, *, gravity: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """So many steps of dt [s] under gravity (3,) [m/s²] and the loads set before."""
        if not np.isfinite(dt) or dt <= 0:
            raise InputError("the step is not positive", where="LatticeSweep.advance", value=dt, allowed="> 0 s")
        axes, l = list(self.layout.axes), self.model.grid.voxel_size
        g = check_vector(gravity, name="gravity", where="LatticeSweep.advance")[axes]
        step = Step(
            t=self.t,
            dt=float(dt),
            gx=float(g[0]),
            gy=float(g[1]),
            gz=float(g[2]),
            bend=l**2 / 12,
            size=l,
            frequency=0.0 if self.swing is None else self.swing.frequency,
            planes=np.array(
                [[*np.asarray(p.normal)[axes], p.offset] for p in self.planes if isinstance(p, Plane)], dtype=float
            ).ravel(),
            spheres=np.array(
                [[*np.asarray(p.centre)[axes], p.radius] for p in self.planes if isinstance(p, Sphere)], dtype=float
            ).ravel(),
        )
        threaded = numba.get_num_threads() > 1 and len(self.layout.slabs.start) > 2
        if self.contacts is None:
            kernel = kernels.advance_parallel if threaded else kernels.advance
            kernel(self.layout.bricks, self.layout.slabs, step, int(steps))
        else:
            self._advance_colliding(self.contacts, step, int(steps), threaded)
        self.t += steps * dt

    def _advance_colliding(self, contacts: Contacts, step: Step, steps: int, threaded: bool) -> None:
        """The same with collisions; where pairs lack room, goes on from that step with more."""
        bricks, slabs = self.layout.bricks, self.layout.slabs
        base = bricks.loads if bricks.loads.size else self.layout.tiles(np.zeros((self.model.voxel_count, LOADS)))
        bricks = bricks._replace(loads=base.copy())
        contacts = contacts._replace(base=base)
        contacts.memory[:] = 0.0
        contacts.memory[LISTED] = -1.0
        contacts.contact_count[:] = 0
        kernel = collision_kernels.advance_colliding_parallel if threaded else collision_kernels.advance_colliding
        reached = 0
        while reached < steps:
            reached, lacking = kernel(bricks, slabs, contacts, step, reached, steps)
            if lacking:
                contacts = enlarged(contacts, lacking)
        self.contacts = contacts

    @property
    def touching(self) -> int:
        """Pairs of voxels that touched at the start of the last step."""
        return 0 if self.contacts is None else int(self.contacts.memory[TOUCHING])

    @property
    def lists_made(self) -> int:
        """How often the last `advance` listed the candidates of collisions."""
        return 0 if self.contacts is None else int(self.contacts.memory[LISTS])
