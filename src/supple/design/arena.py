"""Arena: the world in which designs are tried. It turns a design into a scene.

origin of the grid     such that the filled cells stand on `place`, their middle above it
young of a voxel       that of its material, times the field "stiffness"; its density, times the field "density"
control of a voxel     amplitude gain sin(2 pi (frequency t + phase)), growing from nothing within `settle`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.bodies.body_protocol import is_body
from supple.bodies.voxel import Actuation, VoxelBody
from supple.contact import Contact, Floor, Obstacle
from supple.design.content import content_key, named_function
from supple.design.designs import Design
from supple.errors import InputError, check_instance, check_number
from supple.geometry import VoxelGrid
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial
from supple.record.frame import Frame
from supple.scene.scene import Scene

Array = np.ndarray
CONTROLLER = "supple.design.driving:drivers"
"""What drives designs with a controller, where an arena names nothing else."""
FIELDS = ("density", "gain", "phase", "stiffness")
"""Of a design, that an arena knows."""


class Setting(Protocol):
    """What measures ask of where a robot runs. body: the name of the robot's node. settle: the time before measuring
    begins, duration: that which is measured [s]."""

    @property
    def body(self) -> str: ...
    @property
    def duration(self) -> float: ...
    @property
    def settle(self) -> float: ...


class ArenaLike(Setting, Protocol):
    """What evaluations ask of an arena. times in s; measures: names of those that are taken where none are asked
    for."""

    @property
    def dt(self) -> float | None: ...
    @property
    def record_every(self) -> float: ...
    @property
    def measures(self) -> tuple[str, ...]: ...

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene of a design."""
        ...

    def key(self) -> str:
        """Names the arena by its content."""
        ...


class Judge(Protocol):
    """Scores one run: an observer of its frames. is_over: whether the run may end now."""

    @property
    def score(self) -> float: ...
    @property
    def is_over(self) -> bool: ...

    def __call__(self, frame: Frame) -> None: ...


@runtime_checkable
class Judging(Protocol):
    """An arena with a score of its own, which the measure "score" gives."""

    def judge(self) -> Judge:
        """A judge of one run."""
        ...


@dataclass(frozen=True, eq=False)
class Object:
    """A further body of an arena. at [m], rotation (quaternion or rotation vector [rad]), velocity [m/s]."""

    name: str
    body: Any
    at: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    velocity: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_instance(self.name, str, "a name", where="Object")
        if not is_body(self.body):
            raise InputError("this is not a body", where=f"object '{self.name}'", value=type(self.body).__name__)


@dataclass(frozen=True, eq=False)
class Arena:
    """The world in which designs are tried.

    materials: by the numbers in a design's cells. voxel_size [m]. duration [s]: of what is measured, after `settle`
    [s], in which a robot comes to rest and its actuation grows from nothing. amplitude [unit of control], frequency
    [Hz]: of the sine that swells the voxels, as much as their material expands. gravity (3,) [m/s²]. obstacles,
    objects: what else is there. fluid: what fills the world. self_contact: whether voxels of the robot may touch each
    other. dt: step [s], None: the solver's own. record_every: time between the frames that measures see [s].
    controller: "module:function" that makes the drivers of all designs, function(design, arena, grid) -> Actuation,
    Drive, Commands or several. Where none is named, designs swing as the sine, and those with a controller are driven
    by `supple.design.driving`, by the data of a `Network` or samples.
    place (3,): where the middle of the robot's underside stands [m]; velocity (3,): with which it starts [m/s].

    Of a design's fields it knows "phase" [periods], "gain" [-], and "stiffness" and "density", factors [-].

    >>> import numpy as np
    >>> from supple.design import Design
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, voxel_size=0.01, duration=1.0)
    >>> arena.body_of(Design(np.ones((3, 1, 1)))).grid.voxel_count
    3
    """

    materials: Mapping[int, VoxelMaterial]
    voxel_size: float
    duration: float
    settle: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0
    gravity: ArrayLike = (0.0, 0.0, -9.81)
    obstacles: Sequence[Obstacle] = field(default_factory=lambda: (Floor(),))
    objects: Sequence[Object] = ()
    self_contact: bool = False
    dt: float | None = None
    record_every: float = 1 / 30
    controller: str = CONTROLLER
    place: ArrayLike = (0.0, 0.0, 0.0)
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    fluid: Fluid | None = None
    body: ClassVar[str] = "robot"
    measures: ClassVar[tuple[str, ...]] = ("travel",)

    def __post_init__(self) -> None:
        _check_materials(self.materials)
        for name in ("voxel_size", "duration", "record_every"):
            check_number(getattr(self, name), name=name, where="arena", above=0.0)
        for name in ("settle", "frequency"):
            check_number(getattr(self, name), name=name, where="arena", least=0.0)
        check_number(self.amplitude, name="amplitude", where="arena")
        if self.dt is not None:
            check_number(self.dt, name="dt", where="arena", above=0.0)
        check_instance(self.controller, str, "a name, module:function", where="arena, controller")
        for name in ("gravity", "place", "velocity"):
            vector = check_vector(getattr(self, name), name=name, where="arena")
            object.__setattr__(self, name, tuple(vector.tolist()))
        for name, kind, word in (("obstacles", Obstacle, "an obstacle"), ("objects", Object, "an Object")):
            check_instance(getattr(self, name), (list, tuple), "a row", where=f"arena, {name}")
            given = tuple(getattr(self, name))
            for one in given:
                check_instance(one, kind, word, where=f"arena, {name}")
            object.__setattr__(self, name, given)
        if self.fluid is not None:
            check_instance(self.fluid, Fluid, "a Fluid", where="arena")
        object.__setattr__(self, "materials", dict(sorted(self.materials.items())))

    def with_(self, **changes: Any) -> Arena:
        """The same arena but for some values."""
        return replace(self, **changes)

    def key(self) -> str:
        """SHA-256 of all that the arena is made of, with the source of its controller where it can be imported."""
        return content_key("arena", {f.name: getattr(self, f.name) for f in fields(self)}, self._controller_source())

    def grid(self, design: Design) -> VoxelGrid:
        """The voxels of a design, where they stand."""
        filled = np.argwhere(design.cells)
        low, high = filled.min(axis=0), filled.max(axis=0) + 1
        foot = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
        return VoxelGrid(design.cells, self.voxel_size, np.asarray(self.place) - self.voxel_size * foot)

    def body_of(self, design: Design) -> VoxelBody:
        """The robot; an InputError where the design does not fit the arena."""
        check_instance(design, Design, "a design", where="arena")
        self._check_fits(design)
        grid, filled = self.grid(design), design.cells > 0
        given = {name: values[filled] for name, values in design.fields.items()}
        young = self._scaled(design, given.get("stiffness"), "young", "stiffness")
        density = self._scaled(design, given.get("density"), "density", "density")
        if self.has_controller(design):
            drivers = named_function(self.controller, where="arena, controller")(design, self, grid)
        else:
            drivers = self._sine(given)
        return VoxelBody(grid, self.materials, actuation=drivers, young=young, density=density)

    def has_controller(self, design: Design) -> bool:
        """Whether something else than the sine drives a design: its controller, or that of the arena."""
        return design.controller is not None or self.controller != CONTROLLER

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene of a design. seed: nothing in an arena is left to chance, so that it changes nothing."""
        scene = Scene(gravity=self.gravity, name="arena")
        robot = scene.add(self.body_of(design), name=self.body, velocity=self.velocity)
        for one in self.objects:
            scene.add(one.body, name=one.name, at=one.at, rotation=one.rotation, velocity=one.velocity)
        for obstacle in self.obstacles:
            scene.add(obstacle)
        if self.fluid is not None:
            scene.add(self.fluid)
        if self.objects:
            scene.add(Contact(self_contact=[robot] if self.self_contact else ()))
        elif self.self_contact:
            scene.add(Contact(self_contact=True))
        return scene

    def _sine(self, given: Mapping[str, Array]) -> Actuation | None:
        if self.amplitude == 0.0:
            return None
        return Actuation(
            self.amplitude, self.frequency, given.get("phase", 0.0), given.get("gain", 1.0), rise=self.settle
        )

    def _scaled(self, design: Design, factors: Array | None, name: str, factor: str) -> Array | None:
        """A value of the material of each voxel, times a field of the design, (n,)."""
        if factors is None:
            return None
        if (factors <= 0).any():
            raise InputError("a factor is not positive", where=f"design, field '{factor}'", value=float(factors.min()),
                             allowed="> 0 in filled cells")  # fmt: skip
        numbers = design.cells[design.cells > 0]
        return factors * np.array([getattr(self.materials[int(n)], name) for n in numbers])

    def _check_fits(self, design: Design) -> None:
        unknown = sorted(set(design.fields) - set(FIELDS))
        if unknown:
            raise InputError("the arena does not know this field", where="design", value=unknown[0],
                             allowed=", ".join(FIELDS))  # fmt: skip
        lacking = sorted(set(np.unique(design.cells).tolist()) - {0, *self.materials})
        if lacking:
            raise InputError("the arena has no material of this number", where="design", value=lacking[0],
                             allowed=", ".join(map(str, self.materials)))  # fmt: skip

    def _controller_source(self) -> Any:
        try:
            return named_function(self.controller, where="arena, controller")
        except InputError:
            return None


def _check_materials(materials: Any) -> None:
    if not isinstance(materials, Mapping) or not materials:
        raise InputError("the materials are not given by number", where="arena", value=type(materials).__name__,
                         allowed="{1: VoxelMaterial(...), ...}")  # fmt: skip
    for number, material in materials.items():
        check_number(number, name="the number of a material", where="arena", least=1, most=255, whole=True)
        check_instance(material, VoxelMaterial, "a VoxelMaterial", where=f"arena, material {number}")
