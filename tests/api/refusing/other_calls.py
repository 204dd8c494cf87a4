"""Right calls of what else is public, in folders of the package, each with the arguments that may be given to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.api.refusing.every_call import BALL, BRICK, CUBE, RUBBER, TREE, Call, boxes, made, names_of

import supple as sp
from supple import decompose, design, geometry, record
from supple.design import controllers, encodings, search, tasks
from supple.exports import plot

GRID = np.ones((2, 1, 1), dtype=int)
SOFT = sp.VoxelMaterial(1e5, 1000, expansion=0.01)
PLACE = {"materials": {1: SOFT}, "voxel_size": 0.01, "duration": 0.002, "amplitude": 1.0, "frequency": 10.0}
ARENA, ROBOT, PLAN = design.Arena(**PLACE), design.Design(GRID), encodings.BodyPlan((2, 1, 1))
DIRECT = encodings.Direct(PLAN)
AXES = [search.Descriptor("height", 0.0, 1e-2, 2)]
LABELS = (CUBE.nodes[CUBE.tets].mean(axis=1)[:, 0] > 0.05).astype(int)


@cache
def short_run() -> sp.Run:
    return sp.run(boxes()[0], until=0.1, record_every=0.01)


def height(trial: design.Trial) -> float:
    return 1.0


def arena(**given: Any) -> Any:
    return design.try_design(ROBOT, design.Arena(**(PLACE | given)))


def robot(**given: Any) -> Any:
    return design.try_design(design.Design(**({"cells": GRID} | given)), ARENA)


def tried(call: Callable[..., Any], **right: Any) -> Call:
    """What evaluates designs, in this process."""

    def act(**given: Any) -> Any:
        found = call(**({"workers": 0} | right | given))
        return list(found) if hasattr(found, "__next__") else found

    names = tuple(n for n in names_of(call) if n not in ("executor", "workers", "placing"))
    return Call(act, names)


def method(make: Callable[..., Any], **right: Any) -> Call:
    """A method of search that is asked once."""
    given_right = {"encoding": DIRECT, "objectives": "forward"} | right
    return Call(lambda **given: make(**(given_right | {"population": 4} | given)).ask(), names_of(make))


def encoding(make: Callable[..., Any], **right: Any) -> Call:
    def act(**given: Any) -> Any:
        made_one = make(**(right | given))
        genome = made_one.random(np.random.default_rng(0))
        return encodings.design_of(made_one, made_one.mutate(genome, np.random.default_rng(1)))

    return Call(act, names_of(make))


def plan(**given: Any) -> Any:
    return encodings.Direct(encodings.BodyPlan(**({"shape": (2, 1, 1)} | given))).random(np.random.default_rng(0))


def field(**given: Any) -> Any:
    return plan(fields={"phase": encodings.FieldRange(**({"low": 0.0, "high": 1.0} | given))})


def descriptor(**given: Any) -> Any:
    right = {"measure": "height", "low": 0.0, "high": 1.0, "cells": 2}
    return search.MapElites(DIRECT, "forward", [search.Descriptor(**(right | given))])


def placed(**given: Any) -> Any:
    right = {"name": "thing", "body": sp.RigidBody.box((0.01,) * 3, density=500), "at": (0.1, 0, 0.005)}
    return arena(objects=[design.Object(**(right | given))])


def searched(**given: Any) -> Any:
    right = {"method": search.RandomSearch(DIRECT, "forward", population=2), "arena": ARENA, "workers": 0}
    return design.Search(**(right | given)).run(1)


def cut(call: Callable[..., Any]) -> Call:
    right = {"mesh": CUBE, "labels": LABELS, "material": RUBBER, "modes": 6}
    return Call(lambda **given: call(**(right | given)), names_of(call))


def file_of(write: Callable[..., Any], read: Callable[..., Any], name: str, content: Any) -> Call:
    def act(**given: Any) -> Any:
        write(name, content)
        return read(**({names_of(read)[0]: name} | given))

    return Call(act, names_of(read))


def opened(**given: Any) -> record.Record:
    if not Path("out").exists():
        sp.run(boxes()[0], until=0.02, out="out")
    return record.open_record(**({"path": "out"} | given))


def checkpoint(**given: Any) -> Any:
    run = sp.run(boxes()[0], until=0.02, out="kept")
    right = {"path": run.folder / "checkpoint.npz", "system": run.system, "solver": run.solver}
    return record.load_checkpoint(**(right | given))


def on_run(call: Callable[..., Any], **right: Any) -> Call:
    return Call(lambda **given: call(**({"run": short_run()} | right | given)), names_of(call))


def of_record(name: str, **right: Any) -> Call:
    """What the frames of a run are asked."""

    def act(**given: Any) -> Any:
        return getattr(short_run().frames, name)(**(right | given))

    return Call(act, tuple(right))


OTHER_CALLS: dict[str, Call] = {
    "Arena": Call(arena, names_of(design.Arena)),
    "Design": Call(robot, names_of(design.Design)),
    "Object": Call(placed, names_of(design.Object)),
    "Measure": Call(
        lambda **given: design.try_design(
            ROBOT, ARENA, design.Measure(**({"name": "n", "unit": "m", "function": height} | given))
        ),
        names_of(design.Measure),
    ),
    "Result": made(design.Result, *names_of(design.Result), key="k", design="d", outcome="finished", scores={"a": 1.0}),
    "Store": Call(lambda **given: design.Store(**({"path": "s.db"} | given)).close(), names_of(design.Store)),
    "Search": Call(
        searched, ("method", "arena", "measures", "seed", "store", "batch", "time_limit", "device", "dtype")
    ),
    "evaluate": tried(design.evaluate, designs=[ROBOT], arena=ARENA),
    "evaluations": tried(design.evaluations, designs=[ROBOT], arena=ARENA),
    "Evaluator": tried(design.Evaluator, arena=ARENA),
    "try_design": made(design.try_design, "design", "arena", "measures", "seed", design=ROBOT, arena=ARENA),
    "evaluation_key": made(
        design.evaluation_key, "design", "arena", "measures", "seed", "device", "dtype", design=ROBOT, arena=ARENA
    ),
    "is_one_piece": made(design.is_one_piece, cells=GRID),
    "largest_piece": made(design.largest_piece, cells=GRID),
    "measure_of": made(design.measure_of, given="forward"),
    "measures_of": made(design.measures_of, given=["forward"]),
    "arena_of": made(design.arena_of, given=ARENA),
    "RandomSearch": method(search.RandomSearch),
    "AgeFitness": method(search.AgeFitness),
    "Nsga2": method(search.Nsga2),
    "CmaEs": method(search.CmaEs, encoding=encodings.Waves(PLAN)),
    "MapElites": method(search.MapElites, descriptors=AXES),
    "CmaMe": method(search.CmaMe, encoding=encodings.Waves(PLAN), descriptors=AXES),
    "Descriptor": Call(descriptor, ("measure", "low", "high", "cells")),
    "BodyPlan": Call(plan, names_of(encodings.BodyPlan)),
    "FieldRange": Call(field, names_of(encodings.FieldRange)),
    "Direct": encoding(encodings.Direct, plan=PLAN),
    "Patterns": encoding(encodings.Patterns, plan=PLAN),
    "encodings.Waves": encoding(encodings.Waves, plan=PLAN),
    "Bones": encoding(
        encodings.Bones, soft=encodings.Direct(encodings.BodyPlan((3, 3, 3))), number=2
    ),
    "controllers.Network": made(controllers.Network, layers=[(np.ones((1, 2)), np.zeros(1))]),
    "controllers.Waves": made(controllers.Waves, frequency=1.0, phase=np.zeros((2, 1, 1))),
    "Episode": made(tasks.Episode, task="walk-v1", design=np.full((5, 5, 5), 3)),
    "find_task": made(tasks.find_task, name="walk-v1"),
    "automatic_labels": made(decompose.automatic_labels, "mesh", "parts", "size", mesh=CUBE, parts=2),
    "cut": cut(decompose.cut),
    "decompose": cut(decompose.decompose),
    "save_domain_tree": made(
        decompose.save_domain_tree, folder="tree", domain_tree=TREE
    ),
    "load_domain_tree": file_of(decompose.save_domain_tree, decompose.load_domain_tree, "tree", TREE),
    "embed": made(geometry.embed, points=[(0.05, 0.05, 0.05)], mesh=CUBE),
    "voxelize": made(geometry.voxelize, *names_of(geometry.voxelize), surface=BALL, voxel_size=0.05),
    "cylinder_hexes": made(geometry.cylinder_hexes, radius=1.0, height=1.0, cells=(1, 1)),
    "sphere_hexes": made(geometry.sphere_hexes, radius=1.0, cells=1),
    "Region": Call(
        lambda **given: sp.HexMesh(BRICK.nodes, BRICK.hexes, {"a": geometry.Region(**({"nodes": [0]} | given))}),
        names_of(geometry.Region),
    ),
    "VegMaterial": made(geometry.VegMaterial, kind="ENU", numbers=(1000.0, 1e5, 0.3)),
    "save_bou": made(geometry.save_bou, path="a.bou", nodes=[0, 1]),
    "load_bou": file_of(geometry.save_bou, geometry.load_bou, "a.bou", [0, 1]),
    "save_veg": made(geometry.save_veg, path="a.veg", content=CUBE),
    "load_veg": file_of(geometry.save_veg, geometry.load_veg, "a.veg", CUBE),
    "load_checkpoint": Call(checkpoint, ("path", "system", "solver")),
    "measure": Call(
        lambda **given: record.measure(**({"system": short_run().system, "state": short_run().state} | given)),
        ("system", "state"),
    ),
    "measure_bodies": Call(
        lambda **given: record.measure_bodies(**({"system": short_run().system, "state": short_run().state} | given)),
        ("system", "state"),
    ),
    "open_record": Call(opened, ("path",)),
    "Record.points": Call(lambda **given: opened().points(**({"body": "a", "frame": 0} | given)), ("body", "frame")),
    "Record.contacts": Call(lambda **given: opened().contacts(**({"frame": 0} | given)), ("frame",)),
    "Record.triangles": Call(lambda **given: opened().triangles(**({"body": "a"} | given)), ("body",)),
    "frames.points": of_record("points", body="a", frame=0),
    "frames.contacts": of_record("contacts", frame=0),
    "frames.joints": of_record("joints", frame=0),
    "frames.triangles": of_record("triangles", body="a"),
    "plot.convergence": made(plot.convergence, *names_of(plot.convergence), sizes=[1.0, 0.5], errors=[1.0, 0.25]),
    "plot.energies": on_run(plot.energies),
    "plot.trajectories": on_run(plot.trajectories),
    "plot.spectra": on_run(plot.spectra),
}  # fmt: skip
