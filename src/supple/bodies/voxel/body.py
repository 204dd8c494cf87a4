"""A voxel body: a grid of voxels with a palette of materials, simulated as a lattice of beams between the voxels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from supple.algebra import rotations
from supple.bodies.coordinates import Frames
from supple.bodies.placement import Placement
from supple.bodies.protocols import Force, LocalState, PlacedBody
from supple.bodies.voxel.actuation import Actuation, Swing
from supple.bodies.voxel.collision import Collision
from supple.bodies.voxel.contact import Plane, Sphere
from supple.bodies.voxel.elastic import GroundDamping, LatticeForce
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.model import Palette, VoxelModel
from supple.bodies.voxel.skin import VoxelSkin
from supple.bodies.voxel.stable_step import stable_step
from supple.bodies.voxel.sweep import LatticeSweep
from supple.errors import DivergenceError, InputError
from supple.geometry import VoxelGrid

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class VoxelBody:
    """A soft body of voxels.

    grid: VoxelGrid. palette: one VoxelMaterial for all voxels, a sequence for the numbers 1, 2, ..., or a mapping from
    number to material. actuation: how the voxels swell and shrink. Each voxel is a frame: its centre and rotation.

    >>> import numpy as np
    >>> from supple.geometry import VoxelGrid
    >>> from supple.material.voxel import VoxelMaterial
    >>> beam = VoxelBody(VoxelGrid(np.ones((10, 2, 2), dtype=int), 0.01), VoxelMaterial(young=1e6, density=1000))
    >>> beam.model.voxel_count, beam.model.link_count
    (40, 76)
    """

    grid: VoxelGrid
    palette: Palette
    actuation: Actuation | None = field(default=None, kw_only=True)
    kind = "voxel"

    def __post_init__(self) -> None:
        if not isinstance(self.grid, VoxelGrid):
            raise InputError("a voxel body needs a VoxelGrid", value=type(self.grid).__name__)
        _ = self.swing if self.actuation is not None else self.model

    @cached_property
    def model(self) -> VoxelModel:
        """The lattice; it does not depend on the placement."""
        return VoxelModel.make(self.grid, self.palette)

    @cached_property
    def swing(self) -> Swing | None:
        """Sizes of the voxels in time, None where they keep their size."""
        return None if self.actuation is None else Swing.of(self.model, self.actuation)

    @cached_property
    def lattice_force(self) -> LatticeForce:
        """The links as a force; rotations of the whole change nothing, so it serves every placement."""
        return LatticeForce.of(self.model, self.swing)

    @property
    def positions(self) -> Array:
        """Rest positions of the voxels' centres [m], (n, 3)."""
        return self.model.centres

    @cached_property
    def skin(self) -> VoxelSkin:
        """The surface to look at and to touch, carried by the voxels."""
        return VoxelSkin.of(self.grid)

    @property
    def total_mass(self) -> float:
        """Mass of the body [kg]."""
        return float(self.model.mass.sum())

    def place(self, placement: Placement) -> PlacedBody:
        """The body in the world: one frame a voxel."""
        model = self.model
        n = model.voxel_count
        x, v = np.empty((n, 7)), np.empty((n, 6))
        x[:, :3] = placement.apply(model.centres)
        x[:, 3:] = placement.rotation
        v[:, :3] = placement.point_velocities(x[:, :3])
        v[:, 3:] = rotations.rotate_inverse(placement.rotation, placement.spin)
        forces: list[tuple[str, Force]] = [("links", self.lattice_force)]
        if model.ground_damping.any():
            forces.append(("ground damping", GroundDamping(model.ground_damping)))
        return PlacedBody(Frames(n), x, v, (CubeMass(model.mass, model.inertia),), tuple(forces))

    def stable_step(
        self,
        *,
        held: ArrayLike = (),
        x: Array | None = None,
        contact: bool = False,
        collision: Collision | None = None,
        safety: float = 0.9,
    ) -> float:
        """The largest stable step [s] of `advance`, times a safety factor; at frames x (n, 7), or at rest.

        contact: for use with planes and spheres. collision: for use with collisions.
        """
        return stable_step(self.model, held=held, x=x, contact=contact, collision=collision, safety=safety)

    @cached_property
    def _strides(self) -> dict[tuple[object, ...], tuple[LatticeSweep, float]]:
        """Sweeps made before, with their largest stable step at rest."""
        return {}

    def advance(
        self,
        state: LocalState,
        dt: float,
        steps: int,
        *,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        held: ArrayLike = (),
        loads: Array | None = None,
        planes: Sequence[Plane | Sphere] = (),
        collision: Collision | None = None,
        dtype: DTypeLike = np.float64,
    ) -> LocalState:
        """The state after so many steps of symplectic Euler, all in one compiled call.

        gravity (3,) [m/s²]; held: voxels that stay where they are; loads (n, 6): forces and moments in world axes
        [N, N m]; planes: planes and spheres to rest on, with friction; collision: how voxels meet each other, None:
        not at all. Without planes and collisions it is the same as `SymplecticEuler` on the body's forces, to
        round-off. An unstable step is refused.
        """
        index = np.unique(np.asarray(held, dtype=np.int64))
        key = (index.tobytes(), np.dtype(dtype).name, tuple(planes), collision)
        if key not in self._strides:
            self._strides[key] = (
                LatticeSweep.make(
                    self.model, held=index, planes=planes, swing=self.swing, collision=collision, dtype=dtype
                ),
                self.stable_step(held=index, contact=bool(planes), collision=collision, safety=1.0),
            )
        sweep, largest = self._strides[key]
        if dt > largest:
            raise InputError(
                "the step is larger than stable", where="voxel body", value=dt, allowed=f"<= {largest:.3g} s"
            )
        sweep.load(state.x, state.v, state.t)
        sweep.set_loads(loads)
        sweep.advance(dt, steps, gravity=gravity)
        x, v = np.empty_like(state.x), np.empty_like(state.v)
        sweep.save(x, v)
        if not (np.isfinite(x).all() and np.isfinite(v).all()):
            raise DivergenceError(
                "the lattice left the finite",
                where="voxel body",
                value=state.t + steps * dt,
                fix="Take a smaller step: ask stable_step(x=...) for one at a deformed state.",
            )
        return LocalState(state.t + steps * dt, x, v)
