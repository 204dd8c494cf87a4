"""What the file of a study may hold: an arena, a task or a scene, an encoding, a search, and how long it goes on."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PlainValidator, model_validator

from supple.files.scenes.schema.voxels import MAX_CELLS, VoxelMaterial
from supple.files.scenes.schema.world import Fluid, Obstacle
from supple.files.scenes.section import Section, by_kind, check_table, complaint, shorten
from supple.files.scenes.values import Cells, Name, Number, Vector

VERSION = 1
MAX_ENTRIES = 255
MAX_POPULATION = 1_000_000
"""Designs of a generation: a small file must not fill the memory."""
Names = Annotated[list[Name], Field(min_length=1, max_length=MAX_ENTRIES)]
PaletteNumbers = Annotated[list[int], Field(max_length=MAX_ENTRIES)]


def _materials(value: Any) -> dict[int, VoxelMaterial]:
    """Materials by their numbers, which TOML writes as text: [arena.materials.1]."""
    out = {}
    for key, table in check_table(value).items():
        if not (key.isascii() and key.isdigit() and 1 <= int(key) <= MAX_ENTRIES):
            raise complaint("a material is named by its number", key=str(key)[:40], allowed="1 to 255")
        out[int(key)] = VoxelMaterial.model_validate(table)
    return out


def _bounded_shape(value: Any) -> Any:
    if math.prod(map(int, value)) > MAX_CELLS:
        raise complaint("has too many cells", value=shorten(value.tolist()), allowed=f"<= {MAX_CELLS} in all")
    return value


def _bounded_population(value: int) -> int:
    if value > MAX_POPULATION:
        raise complaint("is out of range", value=shorten(value), allowed=f"<= {MAX_POPULATION}")
    return value


class Arena(Section):
    """The world; keys as in `Arena`."""

    materials: Annotated[Any, PlainValidator(_materials)]
    voxel_size: Number
    duration: Number
    settle: Number | None = None
    amplitude: Number | None = None
    frequency: Number | None = None
    gravity: Vector | None = None
    obstacles: Annotated[list[Obstacle], Field(max_length=1000)] | None = None
    fluid: Fluid | None = None
    self_contact: bool | None = None
    dt: Number | None = None
    record_every: Number | None = None
    controller: Name | None = None
    place: Vector | None = None
    velocity: Vector | None = None


class Scene(Section):
    """A scene file beside this one, whose robot each design replaces; keys as in `FileArena`."""

    file: Name
    body: Name | None = None
    settle: Number | None = None


class FieldRange(Section):
    """Values of a field; keys as in `FieldRange`."""

    low: Number
    high: Number
    periodic: bool = False
    logarithmic: bool = False


class Plan(Section):
    """Keys of every encoding; as in `BodyPlan`. fields: names with their usual ranges, or tables of ranges by name."""

    kind: Name
    shape: Annotated[Cells, AfterValidator(_bounded_shape)] | None = None
    muscles: PaletteNumbers | None = None
    passive: PaletteNumbers | None = None
    fields: Names | dict[Name, FieldRange] | None = None
    least_cells: int | None = None
    least_muscles: int | None = None
    mirror: Literal["x", "y", "z"] | None = None
    mirror_shift: Number | None = None


class Direct(Plan):
    """Cell by cell."""

    kind: Literal["direct"]
    filled: Number | None = None
    smooth: Number | None = None


class Patterns(Plan):
    """By compositional pattern networks."""

    kind: Literal["patterns"]


class Waves(Plan):
    """Fields over a full grid."""

    kind: Literal["waves"]
    spread: Number | None = None


class Bones(Plan):
    """Bones in a soft body. number: of the rigid or stiff material; second: of another rigid one, beyond hinges. soft:
    how the soft body is encoded."""

    kind: Literal["bones"]
    number: int
    soft: Literal["direct", "patterns", "waves"] = "direct"
    most: int | None = None
    hinge_rate: Number | None = None
    second: int | None = None


Encoding = Annotated[
    Direct | Patterns | Waves | Bones,
    by_kind({"direct": Direct, "patterns": Patterns, "waves": Waves, "bones": Bones}),
]


class Descriptor(Section):
    """An axis of an archive of elites."""

    measure: Name
    low: Number
    high: Number
    cells: int


def _bounded_archive(value: list[Descriptor]) -> list[Descriptor]:
    if math.prod(max(1, one.cells) for one in value) > MAX_CELLS:
        raise complaint("have too many cells", value=shorten([one.cells for one in value]),
                        allowed=f"<= {MAX_CELLS} in all")  # fmt: skip
    return value


Descriptors = Annotated[list[Descriptor], Field(min_length=1, max_length=4), AfterValidator(_bounded_archive)]


class Method(Section):
    """Keys of every search. objectives: measures to be improved."""

    kind: Name
    generations: int
    population: Annotated[int, AfterValidator(_bounded_population)] | None = None
    objectives: Names | None = None


class RandomSearch(Method):
    """Designs without parents."""

    kind: Literal["random"]


class AgeFitness(Method):
    """Age-fitness Pareto search."""

    kind: Literal["age-fitness"]
    crossing: Number | None = None


class CmaEs(Method):
    """CMA-ES over vectors."""

    kind: Literal["cma-es"]
    step: Number | None = None


class MapElites(Method):
    """MAP-Elites."""

    kind: Literal["map-elites"]
    descriptors: Descriptors
    crossing: Number | None = None
    newcomers: Number | None = None


class CmaMe(Method):
    """CMA-ME over vectors."""

    kind: Literal["cma-me"]
    descriptors: Descriptors
    emitters: int | None = None
    step: Number | None = None


class Nsga2(Method):
    """NSGA-II."""

    kind: Literal["nsga2"]
    crossing: Number | None = None


SearchSection = Annotated[
    RandomSearch | AgeFitness | CmaEs | MapElites | CmaMe | Nsga2,
    by_kind(
        {
            "random": RandomSearch,
            "age-fitness": AgeFitness,
            "cma-es": CmaEs,
            "map-elites": MapElites,
            "cma-me": CmaMe,
            "nsga2": Nsga2,
        }
    ),
]


def _version(value: Any) -> int:
    if value != VERSION or isinstance(value, bool):
        raise complaint("is not the version of a study that is read here", value=shorten(value), allowed=str(VERSION))
    return VERSION


class Document(Section):
    """A whole file. design: version of the format. task, scene: in place of the arena. measures: further ones that are
    kept with the results. seed: of the search. time_limit: wall time of one design [s], as of `evaluate`."""

    design: Annotated[int, PlainValidator(_version)]
    summary: Name | None = None
    arena: Arena | None = None
    task: Name | None = None
    scene: Scene | None = None
    encoding: Encoding
    search: SearchSection
    measures: Names | None = None
    seed: int = 0
    workers: int | None = None
    time_limit: Number | None = None
    store: Name | None = None

    @model_validator(mode="after")
    def _one_arena(self) -> Self:
        self.choose("arena", "task", "scene")
        if self.task is None and self.encoding.shape is None:
            raise complaint("the key is missing", key="encoding.shape", fix="Give the cells along x, y and z.")
        return self


def named_functions(document: Document) -> list[str]:
    """What a file may name as "module:function": measures and a controller."""
    section: Any = document.search
    given = [*(section.objectives or ()), *(document.measures or ())]
    given += [one.measure for one in getattr(section, "descriptors", ())]
    controller = None if document.arena is None else document.arena.controller
    return given if controller is None else [*given, controller]
