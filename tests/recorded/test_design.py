"""Recorded numbers of robots: encodings, arenas, networks, measures, tasks, searches."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.recorded.making import GRAVITY, HARD, SOFT, random
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies.voxel import Commands
from supple.design import (
    MEASURES,
    Arena,
    Design,
    Object,
    Result,
    SceneArena,
    Store,
    Trial,
    largest_piece,
    try_design,
)
from supple.design.controllers import Network
from supple.design.controllers import Waves as Signals
from supple.design.driving import VoxelSenses
from supple.design.encodings import BodyPlan, Bones, Direct, FieldRange, Patterns, Waves
from supple.design.encodings.plan import PHASE, STIFFNESS
from supple.design.measures import Measure, displacement
from supple.design.search import AgeFitness, CmaEs, CmaMe, Descriptor, MapElites, Method, Nsga2, RandomSearch
from supple.design.search.age_fitness import pareto_levels
from supple.design.tasks import Episode, tasks
from supple.design.tasks.baselines import random_design
from supple.design.tasks.palette import palette
from supple.design.touching import touching
from supple.design.trial import make_trial

recorded = Recorded(__name__)
FIELDS = {"phase": PHASE, "stiffness": STIFFNESS, "gain": FieldRange(0.3, 1.7)}
PLANS = {
    "plain": BodyPlan((4, 3, 3)),
    "fields": BodyPlan((4, 3, 3), muscles=(1, 2), passive=(3,), fields=FIELDS, least_muscles=6),
    "mirrored": BodyPlan((3, 4, 3), fields=FIELDS, mirror="y", mirror_shift=0.37),
}
MAKERS: dict[str, Callable[[BodyPlan], Any]] = {
    "direct": Direct,
    "patterns": Patterns,
    "waves": Waves,
    "bones": lambda plan: Bones(Direct(plan), number=9, hinge_rate=0.7, second=8),
}


@recorded.over({f"{e}, {p}": (e, p) for e in MAKERS for p in PLANS}, rtol=1e-6)
def encoding(given: tuple[str, str]) -> Values:
    """A genome that is drawn, changed and crossed, and its body."""
    made, rng = MAKERS[given[0]](PLANS[given[1]]), np.random.default_rng(4)
    one, two = made.random(rng), made.random(rng)
    for _ in range(3):
        one = made.mutate(one, rng)
    mixed = made.cross(one, two, rng)
    found = {}
    for name, genome in (
        ("one", one),
        ("mixed", mixed),
        ("back", made.from_json(json.loads(json.dumps(made.to_json(two))))),
    ):
        cells, fields = made.grids(genome)
        found[name] = [cells, dict(fields)]
    return found | {"json": made.to_json(mixed)}


@recorded.case
def ranges() -> Values:
    units = np.linspace(-0.4, 1.6, 9)
    kinds = {
        "phase": PHASE,
        "stiffness": STIFFNESS,
        "plain": FieldRange(0.3, 1.7),
        "log": FieldRange(0.1, 30.0, logarithmic=True),
    }
    return {name: [kind.inside(units), kind.values(kind.inside(units))] for name, kind in kinds.items()}


@recorded.case
def networks() -> Values:
    network = Network.random([14, 5, 3], seed=3, scale=1.7)
    again = Network.from_data(network.to_data())
    given = random(6, 14, seed=1)
    signals = Signals(3.7, PHASES)
    return {"answers": again(given), "layers": network.layers, "waves": [signals.act(t) for t in (0.0, 0.31)]}


CELLS = np.ones((3, 2, 2), dtype=int)
CELLS[2, :, 1] = 2
CELLS[0, 0, 1] = 0
PHASES = np.linspace(0.0, 0.9, 12).reshape(3, 2, 2)
GIVEN = {"phase": PHASES, "gain": 0.5 + PHASES, "stiffness": 1.3 - 0.5 * PHASES, "density": 0.8 + 0.4 * PHASES}
WORLD: dict[str, Any] = {
    "settle": 0.013, "amplitude": 3.0, "frequency": 9.0, "gravity": GRAVITY, "velocity": (0.1, 0.2, -0.1),
    "place": (0.1, 0.2, 0.0), "record_every": 0.01, "self_contact": True,
}  # fmt: skip
ARENA = Arena({1: SOFT, 2: HARD}, 0.02, 0.05, **WORLD)
SAMPLES = {"kind": "samples", "values": random(9, seed=2), "rate": 150.0, "repeats": True}
DESIGNS = {
    "sine": Design(CELLS, GIVEN),
    "network": Design(CELLS, GIVEN, Network.random([14, 5, 1], seed=2, scale=2.0).to_data()),
    "samples": Design(CELLS, GIVEN, SAMPLES),
}


def judged(design: Design, arena: Any) -> dict[str, Any]:
    trial = make_trial(design, arena, works=True)
    scores = {name: m.of(trial) for name, m in MEASURES.items() if name != "score"}
    return {"scores": scores, "centres": trial.centres, "contacts": trial.contacts, "end": trial.run.state.x}


@recorded.over(DESIGNS)
def trial(design: Design) -> Values:
    """A robot with fields of everything, and every measure of its run."""
    body = ARENA.body_of(design)
    return judged(design, ARENA) | {
        "stiffness": body.model.link_stiffness,
        "mass": body.model.mass,
        "grid": ARENA.grid(design).origin,
    }


@recorded.case
def trial_with_objects() -> Values:
    ball = Object(
        "ball", sp.RigidBody.sphere(0.013, density=400.0), (0.16, 0.21, 0.0131), (0.1, 0.2, 0.3), (-0.3, 0, 0)
    )
    slope = sp.Plane((0.1, 0.05, 1.0), -0.02, friction=0.4)
    arena = ARENA.with_(obstacles=(slope,), objects=(ball,))
    return {"dry": judged(DESIGNS["sine"], arena), "wet": judged(DESIGNS["sine"], WET)}


WET = ARENA.with_(obstacles=(), fluid=sp.Fluid(density=30.0, drag=0.7, flow=(0.1, 0.2, 0.3)))


@recorded.case
def senses() -> Values:
    senses = VoxelSenses(DESIGNS["network"], ARENA, ARENA.grid(DESIGNS["network"]))
    body = ARENA.body_of(DESIGNS["network"])
    x = body.model.rest_frames + 0.003 * random(body.model.voxel_count, 7, seed=3)
    v = random(body.model.voxel_count, 6, seed=4)
    assert isinstance(body.actuation, Commands)
    x[:, 2] = np.linspace(0.0095, 0.0125, len(x))  # some touch the floor, some nearly do
    return {"seen": senses.observe(0.021, x, v), "asked": body.actuation.ask(0.021, type("S", (), {"x": x, "v": v}))}


@recorded.case
def small_things() -> Values:
    t, x = np.linspace(0, 0.7, 8), random(8, 3, seed=5)
    obstacles = (sp.Floor(0.3), sp.Sphere((0.4, 0.1, 0.2), 0.5))
    cells = np.array([[[1, 0, 2], [1, 1, 0], [0, 0, 2]], [[0, 0, 0], [1, 0, 0], [0, 2, 2]]])
    return {
        "displacement": displacement(t, x, 0.23),
        "touching": touching(obstacles, random(20, 3, seed=6), 0.3, 0.1),
        "largest": largest_piece(cells),
        "key": DESIGNS["sine"].key(),
        "json": DESIGNS["network"].to_json(),
        "palette": {str(n): [m.young, m.density, m.expansion] for n, m in palette().items()},
        "levels": pareto_levels(random(12, 2, seed=7)),
    }


@recorded.case
def in_a_scene() -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(sp.Floor(0.0, friction=0.6))
    scene.add(sp.RigidBody.box((0.05, 0.04, 0.03), density=300.0), at=(0.2, 0.2, 0.0152), name="box")
    robots = {
        "duration": 0.04,
        "settle": 0.01,
        "materials": {1: SOFT, 2: HARD},
        "voxel_size": 0.02,
        "amplitude": 3.0,
        "frequency": 9.0,
    }
    arena = SceneArena(scene, **robots)
    return {"scores": try_design(DESIGNS["sine"], arena).scores}


@recorded.over({name: name for name in tasks()})
def task(name: str) -> Values:
    """A few steps of a robot that is not even, what it senses, its score."""
    cells = np.full((3, 3, 2), 3, dtype=np.uint8)
    cells[0, 0, :], cells[2, 1:, 1] = 1, 2
    episode = Episode(name, cells)
    rng = np.random.default_rng(2)
    for _ in range(3):
        episode.step(rng.uniform(-1, 1, episode.task.grid))
    seen = episode.observe()
    drawn = random_design(episode.task, 3)
    return {
        "x": episode.state.x,
        "seen": dict(seen),
        "score": episode.score,
        "drawn": [drawn.cells, dict(drawn.fields)],
    }


PLAN = BodyPlan((3, 3, 3))


def unused(trial: Trial) -> float:
    raise AssertionError("these results are made by hand")


COUNT, TILT = Measure("count", "cells", unused), Measure("phase", "periods", unused)
LOSS = Measure("loss", "-", unused, "less")
AXES = [Descriptor(TILT, 0.0, 1.0, 5)]
METHODS: dict[str, Callable[[], Method]] = {
    "random": lambda: RandomSearch(Direct(PLAN), COUNT, population=6, seed=3),
    "age-fitness": lambda: AgeFitness(Direct(PLAN), COUNT, population=6, seed=3, crossing=0.3),
    "cma-es": lambda: CmaEs(Waves(PLAN), LOSS, population=8, seed=3),
    "map-elites": lambda: MapElites(Patterns(PLAN), COUNT, AXES, population=6, seed=3, crossing=0.3),
    "cma-me": lambda: CmaMe(Waves(PLAN), LOSS, AXES, population=6, seed=3),
    "nsga2": lambda: Nsga2(Direct(PLAN), (COUNT, TILT), population=6, seed=3),
}


def result(design: Design) -> Result:
    """Scores by hand."""
    phase = design.fields["phase"]
    scores = {"count": design.voxel_count, "phase": float(phase[design.cells > 0].mean())}
    scores["loss"] = float(np.abs(phase - 0.2 - 0.2 * np.arange(3)[:, None, None])[design.cells > 0].mean())
    return Result(design.key(), design.key(), "finished", scores)


@recorded.over({name: name for name in METHODS}, rtol=1e-5)
def search(name: str) -> Values:
    """Generations that are asked for, told results that are made by hand."""
    method, found = METHODS[name](), []
    for _ in range(4):
        designs = method.ask()
        found.append([d.cells for d in designs])
        method.tell([result(d) for d in designs])
    return {"asked": found, "kept": [list(c.result.scores.values()) for c in method.kept()]}


@recorded.case
def stored() -> Values:
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "a.db") as store:
        for design in DESIGNS.values():
            scores = {"travel": float(design.fields["phase"].sum()), "height": 0.3}
            store.add(Result(design.key(), design.key(), "finished", scores), design)
        store.export_csv(Path(folder) / "a.csv")
        rows = [[r.outcome, dict(r.scores)] for r in store.results()]
        return {"rows": rows, "design": store.design(DESIGNS["sine"].key()).fields["gain"]}


test_recorded = recorded.test()
