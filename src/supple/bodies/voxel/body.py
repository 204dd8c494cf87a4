"""A voxel body: a grid of voxels with a palette of materials, simulated as a lattice of beams between the voxels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.bodies.body_protocol import Embedding, Method, Numbers
from supple.bodies.capabilities import ContactConstants
from supple.bodies.changing import Adjustment, with_values
from supple.bodies.coordinates import Frames
from supple.bodies.mappings import FramePoints, WeightedPoints
from supple.bodies.placement import Placement
from supple.bodies.protocols import Force, LocalState, PlacedBody
from supple.bodies.selecting import check_numbers
from supple.bodies.stride import check_local_state, check_steps
from supple.bodies.surfaces import MappedSurface, RenderSurface
from supple.bodies.voxel.actuation import Driver, Swing
from supple.bodies.voxel.control_changes import CONTROL, WHICH, control_adjustments, driven_anew
from supple.bodies.voxel.elastic import GroundDamping, LatticeForce, LinkLoads
from supple.bodies.voxel.links.inversion import LinkInversion
from supple.bodies.voxel.links.link_memory import LinkMemory
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.model import Palette, VoxelModel, palette_of
from supple.bodies.voxel.regions import outer_layer
from supple.bodies.voxel.skin import VoxelSkin
from supple.bodies.voxel.stability.stable_step import find_step
from supple.bodies.voxel.stability.stages import ONE_STAGE, STAGES, StableStep, Stages
from supple.bodies.voxel.sweep.surroundings import check_dtype, check_held, check_loads, check_surroundings
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.collision import Collision
from supple.bodies.voxel.touching.fluid import Fluid
from supple.bodies.voxel.touching.limits import surface_constants
from supple.errors import DivergenceError, InputError, PoissonNotice, check_flag
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Obstacle, distance
from supple.material.colour import material_colours
from supple.material.voxel import UNNAMED, VoxelMaterial

Array = np.ndarray


DAMPING, FRICTION = ("bond_damping", "ground_damping"), ("static_friction", "kinetic_friction")
MATERIAL = ("young", "poisson", "density", "expansion", *DAMPING, *FRICTION)
"""What of a material can change while it runs."""


@dataclass(frozen=True, eq=False)
class VoxelBody:
    """A soft body of voxels.

    grid: VoxelGrid. palette: one VoxelMaterial for all voxels, a sequence for the numbers 1, 2, ..., or a mapping from
    number to material. actuation: one control variable or several: how the voxels swell and shrink. young [Pa],
    density [kg/m³]: for each voxel (n,) or cell of the grid, instead of the materials' own. transverse: couple strains
    across axes, so that the lattice contracts sideways; without it, Poisson's ratio acts through torsion alone.
    stiffness_by_rest: links have the axial stiffness E l²/L0, L0 being their rest length of now, as in Voxelyze;
    without it, E l whatever their rest length.
    Each voxel is a frame: its centre and rotation.

    >>> import numpy as np
    >>> from supple.geometry import VoxelGrid
    >>> from supple.material.voxel import VoxelMaterial
    >>> beam = VoxelBody(VoxelGrid(np.ones((10, 2, 2), dtype=int), 0.01), VoxelMaterial(young=1e6, density=1000))
    >>> beam.model.voxel_count, beam.model.link_count
    (40, 76)
    """

    grid: VoxelGrid
    palette: Palette
    actuation: Driver | Sequence[Driver] | None = field(default=None, kw_only=True)
    young: ArrayLike | None = field(default=None, kw_only=True)
    density: ArrayLike | None = field(default=None, kw_only=True)
    transverse: bool = field(default=False, kw_only=True)
    stiffness_by_rest: bool = field(default=False, kw_only=True)
    kind = "voxel"
    meets_obstacles = True
    method = Method.SWEEP

    def __post_init__(self) -> None:
        if not isinstance(self.grid, VoxelGrid):
            raise InputError("a voxel body needs a VoxelGrid", value=type(self.grid).__name__)
        for name in ("transverse", "stiffness_by_rest"):
            check_flag(getattr(self, name), name=name, where="VoxelBody")
        _ = self.swing if self.actuation is not None else self.model
        if not self.transverse and self.model.values("poisson").any():
            warnings.warn(
                "a lattice behaves as a solid of Poisson's ratio 0 and shear modulus E/2: the ratio entered acts "
                "through the torsion of links alone. transverse=True couples strains across axes.",
                PoissonNotice,
                stacklevel=3,
            )

    def changed(self, values: dict[str, Any], *, where: str) -> VoxelBody:
        """With other values of its material, such as young [Pa] or bond_damping, number: of one number's in the
        palette; or another amplitude, frequency [Hz], phase, gain, phase_shift of its actuation, control: the number of
        one of several, from 0 on; number: of the material, where phases or gains are given for each."""
        if self.actuation is not None and set(values) & set(CONTROL) and set(values) <= {*CONTROL, *WHICH}:
            return replace(self, actuation=driven_anew(self.actuation, values, where))
        given = {name: value for name, value in values.items() if name != "number"}
        if isinstance(self.palette, VoxelMaterial):
            return replace(self, palette=with_values(self.palette, given, MATERIAL, where=where))
        numbered = dict(self.palette if isinstance(self.palette, Mapping) else enumerate(self.palette, start=1))
        number = values.get("number")
        if number not in numbered:
            raise InputError(
                "no material of that number", where=where, value=number,
                allowed=", ".join(map(str, numbered)), fix="Give number=.",
            )  # fmt: skip
        one = with_values(numbered[int(number)], given, MATERIAL, where=where)
        return replace(self, palette={**numbered, int(number): one})

    def adjustments(self) -> list[Adjustment]:
        """What can change of its controls; Young's modulus, damping and friction of its materials."""
        found = control_adjustments(self.actuation)
        for number, material in self.palette_by_number.items():
            which = {} if isinstance(self.palette, VoxelMaterial) else {"number": number}
            called = material.name if which and material.name != UNNAMED else ""
            found += [
                Adjustment(key, float(getattr(material, key)), which, called=called)
                for key in (*(["young"] if self.young is None else []), *DAMPING, *FRICTION)
            ]
        return found

    @cached_property
    def model(self) -> VoxelModel:
        """The lattice; it does not depend on the placement."""
        return VoxelModel.make(
            self.grid,
            self.palette,
            young=self.young,
            density=self.density,
            transverse=self.transverse,
            stiffness_by_rest=self.stiffness_by_rest,
        )

    def link_rows(self) -> Array:
        """Numbers of the two voxels of each link, (m, 2)."""
        return self.model.link_voxels

    @cached_property
    def palette_by_number(self) -> dict[int, VoxelMaterial]:
        """The material of each number that occurs in the grid."""
        return palette_of(self.grid, self.palette)

    @cached_property
    def materials(self) -> Array:
        """Number of each voxel's material, (n,)."""
        return np.asarray(self.grid.materials[tuple(self.grid.voxels.T)])

    @cached_property
    def swing(self) -> Swing | None:
        """Sizes of the voxels in time, None where they keep their size."""
        return None if self.actuation is None else Swing.of(self.model, self.actuation, self.materials)

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
        return PlacedBody(self.coordinates, x, v, (CubeMass(model.mass, model.inertia),), tuple(forces))

    # points and surface

    def patch_points(self, numbers: Array) -> tuple[FramePoints, Array]:
        """The middles of all faces of some voxels, and where they rest (n, 3) [m]: even one carries a frame by them."""
        faces = 0.5 * self.grid.voxel_size * np.concatenate([np.eye(3), -np.eye(3)])
        local, frame = np.tile(faces, (len(numbers), 1)), np.repeat(numbers, len(faces))
        return FramePoints.make(local, frame), np.asarray(self.positions)[frame] + local

    @property
    def coordinates(self) -> Frames:
        """One frame a voxel."""
        return Frames(self.model.voxel_count)

    @property
    def rest_points(self) -> Array:
        """Centres of the voxels, (n, 3) [m]."""
        return np.asarray(self.positions)

    def point_numbers(self, selector: Numbers) -> Array:
        """Voxels of an outermost layer, "x_min" to "z_max", or of numbers."""
        if isinstance(selector, str):
            return outer_layer(self.rest_points, self.grid.voxel_size, selector)
        return check_numbers(selector, len(self.rest_points))

    def point_mapping(self, numbers: Array | None) -> FramePoints:
        """Centres of voxels."""
        chosen = np.arange(len(self.rest_points)) if numbers is None else numbers
        return FramePoints.make(np.zeros((len(chosen), 3)), chosen)

    def embed(self, local: Array) -> Embedding:
        """Places (k, 3) [m], carried by the nearest voxels."""
        nearest = KDTree(self.rest_points).query(local)[1]
        return Embedding(FramePoints.make(local - self.rest_points[nearest], nearest))

    def contact_surface(self) -> MappedSurface:
        """Corners of the outer faces: means of where the voxels around would put them."""
        skin = self.skin
        corners = FramePoints.make(skin.local, skin.voxel)
        rest = self.rest_points[skin.voxel] + skin.local
        triangles = np.asarray(skin.triangles, dtype=np.int64)
        return MappedSurface((corners, WeightedPoints(skin.weights)), rest, triangles)

    def render_surface(self) -> RenderSurface:
        """The outer faces."""
        colours = material_colours(list(self.palette_by_number.values()))
        if colours is not None:
            kind = np.searchsorted(sorted(self.palette_by_number), self.materials)
            colours = colours[kind[self.grid.to_hexes().boundary.triangle_elements]]
        return RenderSurface(self.skin, np.asarray(self.skin.triangles, dtype=np.int64), colours=colours)

    def point_masses(self) -> Array:
        """Of the voxels, (n,) [kg]."""
        return np.asarray(self.model.mass)

    def point_word(self) -> str:
        """What a point is called."""
        return "voxel"

    def contact_constants(self) -> ContactConstants:
        """Contacts that the sweep's small steps bear."""
        return surface_constants(self.model, self.grid.voxel_size)

    def inversion_check(self, rest: Array) -> LinkInversion:
        """Which voxels have passed through their neighbours; see `Inverting`."""
        return LinkInversion.of(self.model)

    def pressed_energy(self, x: Array, obstacles: Sequence[Obstacle]) -> float:
        """Energy [J] of contacts with obstacles where they were given, k depth² / 2 with k = 2 E l, of frames x."""
        size, k = self.model.size, 2 * self.model.values("young") * self.model.size
        depths = [np.maximum(size / 2 - distance(obstacle, x[:, :3])[0], 0.0) for obstacle in obstacles]
        return float(sum(0.5 * np.sum(k * depth**2) for depth in depths))

    def stable_step(
        self,
        *,
        held: ArrayLike = (),
        x: Array | None = None,
        contact: int = 0,
        collision: Collision | None = None,
        safety: float = 0.9,
        staged: bool = True,
    ) -> float:
        """The largest stable step [s] of `advance`, times a safety factor; at frames x (n, 7), or at rest.

        contact: for use with obstacles; 1 (or True): one, 2: several, two of which may push a voxel along one normal.
        collision: for use with collisions. staged: False: of symplectic Euler, which damps links in one stage.
        """
        choices = STAGES if staged else (ONE_STAGE,)
        return find_step(
            self.model, held=held, x=x, contact=contact, collision=collision, safety=safety, choices=choices
        ).step

    @cached_property
    def _strides(self) -> dict[tuple[object, ...], tuple[LatticeSweep, StableStep]]:
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
        planes: Sequence[Obstacle] = (),
        collision: Collision | None = None,
        fluid: Fluid | None = None,
        dtype: DTypeLike = np.float64,
    ) -> LocalState:
        """The state after so many steps of symplectic Euler, all in one compiled call; a step that is too long for it
        damps the links in stages.

        gravity (3,) [m/s²]; held: voxels that stay where they are; loads (n, 6): forces and moments in world axes
        [N, N m]; planes: obstacles to rest on, with friction; collision: how voxels meet each other, None: not at all;
        fluid: what surrounds them. state.memory: what links remember of yielding and failing, a `LinkMemory`, or None.
        Without obstacles, collisions and stages it is the same as `SymplecticEuler` on the body's forces, to
        round-off. An unstable step is refused. Where the lattice leaves the finite, a DivergenceError names the voxel
        and the time, and its `last_good` is the last finite state.
        """
        check_local_state(state, self.coordinates, "VoxelBody.advance")
        check_steps(dt, steps, "VoxelBody.advance", infinite=True)  # a lone voxel's stable step is, which is told below
        if self.swing is not None:
            self.swing.check_free()
        check_surroundings(planes, collision, fluid)
        index, kind, loads = check_held(held), check_dtype(dtype), check_loads(loads)
        key = (index.tobytes(), kind.name, tuple(planes), collision, fluid)
        if key not in self._strides:
            sweep = LatticeSweep.make(
                self.model,
                held=index,
                planes=planes,
                swing=self.swing,
                collision=collision,
                fluid=fluid,
                dtype=kind,
            )
            stable = find_step(self.model, held=index, contact=min(len(planes), 2), collision=collision, safety=1.0)
            self._strides[key] = sweep, stable
        sweep, stable = self._strides[key]
        if dt > stable.step:
            raise InputError(
                "the step is larger than stable", where="voxel body", value=dt, allowed=f"<= {stable.step:.9g} s"
            )
        sweep.set_loads(loads)
        return advance_finite(sweep, state, dt, steps, gravity, stages=stable.stages_of(dt))

    def recall(self, kept: dict[str, Array]) -> LinkMemory:
        """What the links remember, from arrays of a state's memory: "links" (m, 3) and "commands"."""
        links = kept.get("links")
        memory = LinkMemory.fresh(self.model.link_count) if links is None else LinkMemory.of_array(links)
        return replace(memory, commanded=kept.get("commands"))

    def links(self, state: LocalState) -> LinkLoads:
        """Strains, forces and moments of all links at a state."""
        check_local_state(state, self.coordinates, "VoxelBody.links")
        return self.lattice_force.measure(state)


def advance_finite(
    sweep: LatticeSweep,
    state: LocalState,
    dt: float,
    steps: int,
    gravity: ArrayLike,
    *,
    pairs: Array | None = None,
    stages: Stages = ONE_STAGE,
) -> LocalState:
    """Advance a sweep from a state; where that leaves the finite, find out when and where. pairs (k, 6): what is
    remembered of voxels that touch, None: nothing; `sweep.pairs` is it at the end. stages: in which links damp."""

    def after(count: int) -> LocalState:
        return _replayed(sweep, state, dt, count, gravity, pairs, stages)

    end = after(steps)
    if _is_finite(end):
        return end
    good, bad = 0, steps  # the first step that is not finite, by halving
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if _is_finite(after(middle)) else (good, middle)
    last, first = after(good), after(bad)
    lost = ~(np.isfinite(first.x).all(axis=1) & np.isfinite(first.v).all(axis=1))
    voxel = int(np.flatnonzero(lost)[0])
    error = DivergenceError(
        f"the lattice left the finite at t = {first.t:.6g} s, step {bad}",
        where=f"voxel {voxel} of cell {tuple(sweep.model.cells[voxel].tolist())}",
        value=int(lost.sum()),
        allowed="no voxel lost",
        fix="Take a smaller step: stable_step(x=...) finds one at a deformed state.",
    )
    error.last_good = last  # type: ignore[attr-defined]
    raise error


def _is_finite(state: LocalState) -> bool:
    return bool(np.isfinite(state.x).all() and np.isfinite(state.v).all())


def _replayed(
    sweep: LatticeSweep,
    state: LocalState,
    dt: float,
    steps: int,
    gravity: ArrayLike,
    pairs: Array | None,
    stages: Stages,
) -> LocalState:
    sweep.load(state.x, state.v, state.t)
    sweep.pairs = sweep.pairs if pairs is None else pairs
    sweep.memory = state.memory if state.memory is not None else LinkMemory.fresh(sweep.model.link_count)
    if steps:
        sweep.advance(dt, steps, gravity=gravity, stages=stages)
    x, v = np.empty_like(state.x), np.empty_like(state.v)
    sweep.save(x, v)
    return LocalState(state.t + steps * dt, x, v, sweep.memory if sweep.laws is not None else None)
