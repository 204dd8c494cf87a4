"""Arenas, encodings and methods from the tables of a study."""

from __future__ import annotations

from typing import Any

from supple.design import search
from supple.design.arena import Arena, ArenaLike
from supple.design.content import named_function
from supple.design.encodings import BodyPlan, Bones, Direct, Encoding, FieldRange, Patterns, Waves
from supple.design.encodings.plan import RANGES
from supple.design.measures import MEASURES, measure_of
from supple.design.scenes.file_arena import FileArena
from supple.design.study import schema
from supple.design.study.fitting import check_score
from supple.design.tasks import find_task
from supple.design.tasks.palette import palette
from supple.files.scenes.places import Place
from supple.files.scenes.reading.voxels import build_voxel_material
from supple.files.scenes.reading.world import build_obstacle
from supple.files.scenes.section import nearest
from supple.interaction.fluid import Fluid

ARENA_KEYS = ("voxel_size", "duration", "settle", "amplitude", "frequency", "gravity", "self_contact", "dt",
              "record_every", "controller", "place", "velocity")  # fmt: skip
PLAN_KEYS = ("muscles", "passive", "least_cells", "least_muscles", "mirror", "mirror_shift")
METHODS: dict[str, Any] = {
    "random": search.RandomSearch,
    "age-fitness": search.AgeFitness,
    "cma-es": search.CmaEs,
    "map-elites": search.MapElites,
    "cma-me": search.CmaMe,
    "nsga2": search.Nsga2,
}


def build_arena(document: schema.Document, place: Place) -> ArenaLike:
    """The arena of a study: its own, a scene file, or a task."""
    if document.task is not None:
        with place.at("task").guarded():
            return find_task(document.task)
    if document.scene is not None:
        at = place.at("scene")
        with at.guarded():
            return FileArena(at.named_file(document.scene.file), **document.scene.given("body", "settle"))
    section = document.arena
    assert section is not None
    at = place.at("arena")
    with at.guarded():
        materials = {n: build_voxel_material(one, f"material {n}") for n, one in section.materials.items()}
        given: dict[str, Any] = section.given(*ARENA_KEYS)
        if section.obstacles is not None:
            given["obstacles"] = [
                build_obstacle(one, place.at(f"arena.obstacles[{k}]")) for k, one in enumerate(section.obstacles)
            ]
        if section.fluid is not None:
            given["fluid"] = Fluid(**section.fluid.given(*schema.Fluid.model_fields))
        if section.controller is not None:
            with place.at("arena.controller").guarded():
                named_function(section.controller, where="")
        return Arena(materials, **given)


def build_encoding(document: schema.Document, arena: ArenaLike, place: Place) -> Encoding[Any]:
    """The encoding of a study. A task gives its grid and its palette where the table does not."""
    section: Any = document.encoding
    with place.at("encoding").guarded():
        given: dict[str, Any] = section.given(*PLAN_KEYS)
        if document.task is not None:
            muscles = tuple(number for number, one in palette().items() if one.expansion)
            given.setdefault("muscles", muscles)
            given.setdefault("passive", tuple(number for number in palette() if number not in muscles))
        shape = tuple(getattr(arena, "grid") if section.shape is None else section.shape.tolist())  # noqa: B009
        if section.fields is not None:
            given["fields"] = _fields(section.fields, place)
        plan = BodyPlan(shape, **given)
        if isinstance(section, schema.Bones):
            soft = {"direct": Direct, "patterns": Patterns, "waves": Waves}[section.soft](plan)
            return Bones(soft, **section.given("number", "most", "hinge_rate", "second"))  # type: ignore[arg-type]
        if isinstance(section, schema.Direct):
            return Direct(plan, **section.given("filled", "smooth"))
        return Patterns(plan) if isinstance(section, schema.Patterns) else Waves(plan, **section.given("spread"))


def _fields(given: Any, place: Place) -> dict[str, FieldRange]:
    if not isinstance(given, list):
        return {name: FieldRange(**dict(section)) for name, section in given.items()}
    for name in given:
        if name not in RANGES:
            near = nearest(name, RANGES)
            fix = f"Did you mean '{near}'?" if near else "Give its range: fields = { name = { low = 0.5, high = 2 } }."
            raise place.at("encoding.fields").error(f"no field of a usual range is called '{name}'", fix=fix)
    return {name: RANGES[name] for name in given}


def build_method(document: schema.Document, arena: ArenaLike, encoding: Encoding[Any], place: Place) -> search.Method:
    """The search of a study. Objectives are those of the arena where the table has none."""
    section: Any = document.search
    at = place.at("search")
    objectives = section.objectives or list(arena.measures)
    names = [*objectives, *(document.measures or ()), *(one.measure for one in getattr(section, "descriptors", ()))]
    check_score(names, arena, at)
    for name in names:
        if name not in MEASURES and ":" not in name:
            near = nearest(name, MEASURES)
            fix = f"Did you mean '{near}'?" if near else f"Measures: {', '.join(MEASURES)}, or module:function."
            raise at.error(f"no measure is called '{name}'", fix=fix)
        with at.guarded():
            measure_of(name)
    with at.guarded():
        keys = ("population", "crossing", "newcomers", "emitters", "step")
        given = {name: value for name in keys if (value := getattr(section, name, None)) is not None}
        if hasattr(section, "descriptors"):
            axes = [search.Descriptor(one.measure, one.low, one.high, one.cells) for one in section.descriptors]
            given["descriptors"] = axes
        return METHODS[section.kind](encoding, objectives, seed=document.seed, **given)  # type: ignore[no-any-return]
