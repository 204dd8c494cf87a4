"""What a VoxCAD file says, as plain records. Units are SI; temperatures are degrees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.errors import InputError, check_flag, check_instance, check_row, is_finite, is_number
from supple.files.voxcad.xml import UnreadTag, step_of
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial

Vector = tuple[float, float, float]
Array = np.ndarray

FIELD_WIDTHS = {
    "PhaseOffset": 1,
    "FinalPhaseOffset": 1,
    "Stiffness": 1,
    "TempAmpDamp": 1,
    "FinalTempAmpDamp": 1,
    "BaseCiliaForce": 3,
    "ShiftCiliaForce": 3,
}
"""Per-voxel tables that are read, and how many numbers they have a cell."""

CONDITIONS = "Environment/Boundary_Conditions"
HELD_ALL = (True,) * 6
MAX_MATERIALS = 255
STEEPEST = 89.0  # slope of a floor [degrees]


class RegionShape(IntEnum):
    """Shapes of boundary regions, as files number them."""

    BOX = 0
    CYLINDER = 1
    SPHERE = 2


class StopKind(IntEnum):
    """When a simulation ends, as files number it; the last two are evosoro's."""

    NONE = 0
    STEPS = 1
    TIME = 2
    TEMPERATURE_CYCLES = 3
    ENERGY_CONSTANT = 4
    KINETIC_ENERGY_BELOW = 5
    MOTION_BELOW = 6
    MOTION_BELOW_OR_TIME = 7
    POINTING_ERROR = 8


STOPS_UNSUPPORTED = (StopKind.ENERGY_CONSTANT, StopKind.MOTION_BELOW_OR_TIME, StopKind.POINTING_ERROR)


def _check_number(value: object, name: str, where: str) -> None:
    """Refuse what is no number."""
    if not is_number(value):
        raise InputError(f"{name} is not a number", where=where, value=value)


def _check_fields(record: VoxcadEnvironment | VoxcadSimulator, where: str) -> None:
    """Refuse what is no number, or neither true nor false, where the default is one."""
    for each in fields(record):
        value = getattr(record, each.name)
        if isinstance(each.default, bool):
            check_flag(value, name=each.name, where=where)
        elif isinstance(each.default, float):
            _check_number(value, each.name, where)
        elif isinstance(each.default, StopKind):
            check_instance(value, StopKind, "a StopKind", where=f"{where}, {each.name}")


@dataclass(frozen=True)
class BoundaryRegion:
    """A region whose voxels are held, moved or loaded; lengths are fractions of the workspace along each axis.

    corner: lowest corner of a box, end of a cylinder's axis, centre of a sphere. size: of a box; a cylinder's axis, of
    which one component counts. radius: as a fraction of the workspace's largest side. held: x, y, z, and the rotations
    about them. force [N], torque [N m]: shared equally by the voxels touched. displacement [m], rotation [rad]: of each
    voxel held altogether. colour: to draw it.
    """

    corner: Vector
    size: Vector
    shape: RegionShape = RegionShape.BOX
    radius: float = 0.0
    held: tuple[bool, ...] = (False,) * 6
    force: Vector = (0.0, 0.0, 0.0)
    torque: Vector = (0.0, 0.0, 0.0)
    displacement: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    colour: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_row(self.colour, (int, float, np.number), "numbers", where="BoundaryRegion, colour")
        check_row(self.held, (bool, np.bool_), "true and false", where="BoundaryRegion, held")
        _check_number(self.radius, "radius", "BoundaryRegion")
        numbers = [self.radius, *self.colour]
        for name in ("corner", "size", "force", "torque", "displacement", "rotation"):
            values = check_array(getattr(self, name), name=name, where="BoundaryRegion")
            if values.shape != (3,):
                raise InputError(f"the {name} is not three numbers", where="BoundaryRegion", value=getattr(self, name))
            numbers += values.tolist()
        if len(self.held) != 6 or len(self.colour) != 4 or not all(map(is_finite, numbers)):
            raise InputError("not six flags and finite numbers", where="BoundaryRegion", value=self.held)

    @property
    def axes(self) -> str:
        """Which coordinates are held, such as "xz"."""
        return "".join(axis for axis, held in zip("xyz", self.held) if held)

    @property
    def holds_rotation(self) -> bool:
        """Whether all rotations are held, and with them a coordinate; filters hold no others."""
        return all(self.held[3:]) and bool(self.axes)

    @property
    def moves(self) -> bool:
        """Whether what is held is moved or turned."""
        return self.held == HELD_ALL and any((*self.displacement, *self.rotation))

    @property
    def unsupported(self) -> list[str]:
        """Tags without effect: rotations held one by one or alone, and motions of what is not held altogether."""
        names = ["DofFixed"] if any(self.held[3:]) and not self.holds_rotation else []
        if self.held != HELD_ALL:
            names += ["Displace"] if any(self.displacement) else []
            names += ["AngDisplace"] if any(self.rotation) else []
        return names


@dataclass(frozen=True)
class VoxcadEnvironment:
    """Surroundings: regions, gravity along z [m/s²], a floor through the origin that rises along x by floor_slope
    [degrees], and the temperature that drives the voxels.

    A temperature that varies swings about the base by the amplitude with the period [s]; one that does not stays at
    base plus amplitude.
    """

    regions: tuple[BoundaryRegion, ...] = ()
    gravity_enabled: bool = False
    gravity_acceleration: float = -9.81
    floor_enabled: bool = False
    temperature_enabled: bool = False
    temperature_base: float = 25.0
    temperature_amplitude: float = 0.0
    temperature_varies: bool = False
    temperature_period: float = 0.1
    floor_slope: float = 0.0

    def __post_init__(self) -> None:
        check_row(self.regions, BoundaryRegion, "regions", where="VoxcadEnvironment, regions")
        _check_fields(self, "VoxcadEnvironment")
        for name, value in vars(self).items():
            if isinstance(value, float) and not is_finite(value):
                raise InputError(f"{name} is not finite", where="VoxcadEnvironment", value=value)
        if self.temperature_period < 0:
            raise InputError("the period is negative", where="VoxcadEnvironment", value=self.temperature_period)
        if not abs(self.floor_slope) < STEEPEST:
            raise InputError(
                "the floor is too steep",
                where="VoxcadEnvironment",
                value=self.floor_slope,
                allowed=f"-{STEEPEST:g} to {STEEPEST:g} degrees",
            )

    @property
    def gravity(self) -> Vector:
        """Acceleration [m/s²]; zero where gravity is off."""
        return (0.0, 0.0, self.gravity_acceleration if self.gravity_enabled else 0.0)


@dataclass(frozen=True)
class VoxcadSimulator:
    """How to run. time_step_fraction: of the largest step. self_collision: do voxels collide with voxels?

    stop_value: steps, seconds, cycles or a threshold, by stop_kind. measured_from: time [s] from which the way of the
    centre of mass counts.
    """

    time_step_fraction: float = 0.9
    self_collision: bool = False
    stop_kind: StopKind = StopKind.NONE
    stop_value: float = 0.0
    measured_from: float = 0.0

    def __post_init__(self) -> None:
        _check_fields(self, "VoxcadSimulator")
        if not (is_finite(self.time_step_fraction) and self.time_step_fraction > 0):
            raise InputError(
                "the fraction of the time step is not positive",
                where="VoxcadSimulator",
                value=self.time_step_fraction,
                allowed="> 0",
            )
        if not is_finite(self.stop_value):
            raise InputError("the stop value is not finite", where="VoxcadSimulator", value=self.stop_value)
        if not (is_finite(self.measured_from) and self.measured_from >= 0):
            raise InputError(
                "the time to measure from is not a time",
                where="VoxcadSimulator",
                value=self.measured_from,
                allowed=">= 0 s",
            )


@dataclass(frozen=True, eq=False)
class VoxcadFile:
    """A VoxCAD scene.

    grid: the voxels. palette: materials 1, 2, ...; their three damping ratios are the same for all, as files have one
    for a scene. material_phase: a phase of the temperature for each material [rad]. voxel_fields: per-voxel tables by
    tag, (nx, ny, nz), or (nx, ny, nz, 3) of forces; entries at empty cells mean nothing. unread: tags that were not
    read, ordered by path; they are written back.
    """

    grid: VoxelGrid
    palette: tuple[VoxelMaterial, ...]
    material_phase: tuple[float, ...] = ()
    voxel_fields: Mapping[str, Array] = field(default_factory=dict)
    simulator: VoxcadSimulator = VoxcadSimulator()
    environment: VoxcadEnvironment = VoxcadEnvironment()
    unread: tuple[UnreadTag, ...] = ()

    def __post_init__(self) -> None:
        where = "VoxcadFile"
        check_instance(self.grid, VoxelGrid, "a grid of voxels", where=where)
        check_instance(self.simulator, VoxcadSimulator, "a VoxcadSimulator", where=where)
        check_instance(self.environment, VoxcadEnvironment, "a VoxcadEnvironment", where=where)
        check_instance(self.voxel_fields, Mapping, "a table of tables", where=where)
        check_row(self.palette, VoxelMaterial, "materials", where=f"{where}, palette")
        check_row(self.unread, UnreadTag, "tags", where=f"{where}, unread")
        phases = check_array(self.material_phase, name="material_phase", where=where)
        if phases.ndim != 1:
            raise InputError("not one finite phase a material", where=where, value=self.material_phase)
        object.__setattr__(self, "palette", tuple(self.palette))
        object.__setattr__(self, "material_phase", tuple(self.material_phase) or (0.0,) * len(self.palette))
        object.__setattr__(self, "unread", tuple(sorted(self.unread, key=_in_order)))
        if self.grid.origin.any():
            raise InputError(
                "the grid is not at the origin", where="VoxcadFile", value=tuple(self.grid.origin.tolist())
            )
        count = len(self.palette)
        if not 0 < count <= MAX_MATERIALS:
            raise InputError("the palette is empty or too long", where="VoxcadFile", value=count, allowed="1 to 255")
        highest = int(self.grid.materials.max())
        if highest > count:
            raise InputError(
                "a voxel has a material that is not in the palette",
                where="VoxcadFile",
                value=highest,
                allowed=f"0 to {count}",
            )
        if len(self.material_phase) != count or not all(map(is_finite, self.material_phase)):
            raise InputError("not one finite phase a material", where="VoxcadFile", value=self.material_phase)
        if len({_damping(m) for m in self.palette}) > 1:
            raise InputError(
                "materials differ in damping, and VoxCAD files have one for all",
                where="VoxcadFile",
                fix="Give all materials the same bond_damping, contact_damping and ground_damping.",
            )
        object.__setattr__(self, "voxel_fields", {k: self._field(k, v) for k, v in sorted(self.voxel_fields.items())})

    def _field(self, name: str, given: Array) -> Array:
        if name not in FIELD_WIDTHS:
            raise InputError(
                "an unknown per-voxel table", where="VoxcadFile", value=name, allowed=", ".join(FIELD_WIDTHS)
            )
        array = check_array(given, name=name, where="VoxcadFile").copy()
        shape = self.grid.shape if FIELD_WIDTHS[name] == 1 else (*self.grid.shape, FIELD_WIDTHS[name])
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"{name} is not finite numbers {shape}", where="VoxcadFile", value=array.shape)
        array.setflags(write=False)
        return array

    @property
    def damping(self) -> tuple[float, float, float]:
        """Damping ratios of links, of contacts, and of motion relative to the world."""
        return _damping(self.palette[0])

    @property
    def phase_offset(self) -> Array | None:
        """Phases of the temperature [periods], (nx, ny, nz), where the file has them."""
        return self.voxel_fields.get("PhaseOffset")

    @property
    def young(self) -> Array | None:
        """Young's modulus of each cell [Pa], (nx, ny, nz), where the file has a table of it; its entries that are not
        positive mean the materials' own."""
        table = self.voxel_fields.get("Stiffness")
        if table is None:
            return None
        own = np.array([1.0, *(m.young for m in self.palette)])[self.grid.materials]
        return np.where(table > 0, table, own)

    @property
    def own_step(self) -> float:
        """The step of Voxelyze at rest [s] times the file's fraction, DtFrac / (2 pi sqrt(k/m)), the least of all.

        k = E l / ((1 + nu)(1 - 2 nu)).
        """
        used = [self.palette[number - 1] for number in self.grid.material_counts]
        with np.errstate(over="ignore", divide="ignore"):
            rates = [m.young / ((1 + m.poisson) * max(1 - 2 * m.poisson, 1e-3)) / m.density for m in used]
            least = self.grid.voxel_size / (2 * np.pi * np.sqrt(max(rates)))
        return float(self.simulator.time_step_fraction * least)

    @property
    def stop_time(self) -> float | None:
        """When the simulation ends [s], where the file says so as a time, as cycles, or as steps of its own."""
        kind, value = self.simulator.stop_kind, self.simulator.stop_value
        if kind is StopKind.TIME:
            return value
        if kind is StopKind.TEMPERATURE_CYCLES:
            return value * self.environment.temperature_period
        return value * self.own_step if kind is StopKind.STEPS else None

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Paths of the tags that change nothing here: unread, or in this record without a part in the simulation."""
        paths = [tag.path for tag in self.unread]
        if self.simulator.stop_kind in (
            StopKind.ENERGY_CONSTANT,
            StopKind.MOTION_BELOW_OR_TIME,
            StopKind.POINTING_ERROR,
        ):
            paths.append("Simulator/StopCondition/StopConditionType")
        for number, region in enumerate(self.environment.regions, start=1):
            path = f"{CONDITIONS}/{step_of('FRegion', number, len(self.environment.regions))}"
            paths += [f"{path}/{tag}" for tag in region.unsupported]
        paths += [f"VXC/Structure/{name}" for name in self.voxel_fields if name not in ("PhaseOffset", "Stiffness")]
        return tuple(paths)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VoxcadFile):
            return NotImplemented
        return self._key() == other._key() and all(
            np.array_equal(table, other.voxel_fields[name]) for name, table in self.voxel_fields.items()
        )

    def __hash__(self) -> int:
        return hash(self.grid.content_hash)

    def _key(self) -> tuple[object, ...]:
        rest = (self.material_phase, self.simulator, self.environment, self.unread)
        return (self.grid.content_hash, self.palette, set(self.voxel_fields), *rest)


def check_file(given: VoxcadFile, where: str) -> None:
    """Refuse what is no `VoxcadFile`."""
    check_instance(given, VoxcadFile, "a VoxcadFile", where=where, fix="Read one by load_voxcad(path).")


def _in_order(tag: UnreadTag) -> list[tuple[str, int]]:
    """By path; tags of one name by their number."""
    steps = (step.partition("[") for step in tag.path.split("/"))
    return [(name, int(index[:-1]) if index[:-1].isdecimal() else 0) for name, _, index in steps]


def _damping(material: VoxelMaterial) -> tuple[float, float, float]:
    return material.bond_damping, material.contact_damping, material.ground_damping
