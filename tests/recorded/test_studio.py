"""Recorded numbers of the studio's looks and plots, of figures, pages and films, and of studies of robots."""

from __future__ import annotations

import json
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.recorded.making import BODIES, random
from tests.recorded.recording import Recorded, Values
from tests.recorded.test_design import ARENA, DESIGNS, WORLD
from tests.recorded.test_records import run, scene

import supple as sp
from supple.canvas.pack import Pack
from supple.design import FileArena, try_design
from supple.design.controllers import Network
from supple.design.study.study import load_study
from supple.design.tasks import Episode
from supple.exports.modes import save_modes_csv
from supple.record.measures import measure
from supple.record.surfaces import make_surfaces
from supple.studio.due import Due
from supple.studio.live.touches import places, touches
from supple.studio.looks.colour_scale import ColourScale
from supple.studio.looks.looks import Looks, joined
from supple.studio.looks.marks import told_contacts, told_links
from supple.studio.looks.wishes import Wish, read_wish
from supple.studio.pace import Pace
from supple.studio.plots.samples import Samples
from supple.studio.plots.traces import Traces
from supple.studio.pulling import point_at
from supple.studio.show import Show

recorded = Recorded(__name__)
STUDY = """
design = 1
seed = 3
measures = ["energy"]
[arena]
voxel_size = 0.02
duration = 0.03
amplitude = 5.0
frequency = 10.0
[arena.materials.1]
young = 1.3e5
density = 900
expansion = 0.012
[encoding]
kind = "direct"
shape = [3, 2, 2]
mirror = "y"
[search]
kind = "age-fitness"
objectives = ["forward"]
population = 3
generations = 2
"""


def moving() -> tuple[sp.System, sp.State]:
    system = scene().compile()
    state = system.initial_state()
    solver = sp.Partitioned(0.005)
    solver.prepare(system)
    for _ in range(2):
        solver.step(system, state)
    return system, state


def numbers(message: bytes) -> list[Any]:
    """JSON and bytes of a message to the page."""
    (length,) = struct.unpack_from("<I", message)
    return [json.loads(message[4 : 4 + length]), np.frombuffer(message[4 + length :], dtype=np.uint8).astype(float)]


@recorded.case(rtol=1e-3)
def looks() -> Values:
    """Colours, the selected body, links and contacts."""
    system, state = moving()
    show = Show(system, state)
    made = Looks(show)
    found: dict[str, Any] = {"box": show.box, "ground": show.ground}
    for field in ("speed", "strain", "stress"):
        about, pack = made.seen(Wish(field, "soft", True, True), state, 0.3)
        found[field] = numbers(joined(about, pack.data))
    pack = Pack()
    found["links"] = [told_links(make_surfaces(system), state, pack), np.frombuffer(pack.data, "<u1").astype(float)]
    forces = Pack()
    told = told_contacts(system, state, ColourScale(1e-6), 0.1, forces)
    return found | {"contacts": [told, np.frombuffer(forces.data, "<f4")]}


@recorded.case(rtol=1e-6)
def plots() -> Values:
    """Rows of what is measured, and of points that are followed."""
    system, state = moving()
    samples, traces = Samples(), Traces(most=3)
    for name in ("box", "soft"):
        slot = system.body(name)
        samples.track(name, slot, point_at(slot.node, slot.node.rest[2]))
    samples.add(state, measure(system, state))
    row = samples.rows[0]
    traces.add({"run": 0, "points": [None] * len(samples.points), "rows": np.nan_to_num(random(5, len(row)))})
    told = traces.since(-1, 0)
    assert told is not None
    return {"row": np.nan_to_num(row), "places": samples.places(state), "rows": traces.rows, "told": told[:2]}


@recorded.case(rtol=1e-6)
def touched() -> Values:
    system = scene().compile()
    start, surfaces = system.initial_state(), make_surfaces(system)
    met = [list(found) for found in touches(system, surfaces, start)]
    return {"touches": met, "places": [places(s, s.points(start).astype(float)) for s in surfaces]}


@recorded.case
def clocks() -> Values:
    due, pace = Due(0.3, 0.1), Pace(taken=4)
    times = []
    for k in range(5):
        due.pay(1.0 * k, 1.0 * k + 0.02 * (k + 1))
        times.append(due.at)
    wish = read_wish('{"field": "speed", "body": "a", "links": true, "contacts": false}')
    return {"due": times, "steps": [pace.steps(50, 1e-3, 2e-3 * k) for k in range(4)], "wish": [str(wish)]}


@recorded.case(rtol=1e-5)
def figures() -> Values:
    """Lines of figures."""
    import matplotlib

    matplotlib.use("Agg")
    found: dict[str, Any] = {}
    energies = sp.plot.energies(run())
    ways = sp.plot.trajectories(run())
    order = sp.plot.convergence([0.1, 0.05, 0.025], {"one": [0.1, 0.03, 0.007], "two": [0.3, 0.1, 0.04]})
    for name, figure in (("energies", energies), ("ways", ways), ("order", order)):
        lines = [np.asarray(line.get_data(), dtype=float) for axes in figure.axes for line in axes.lines]
        found[name] = [np.nan_to_num(part) for part in lines]
    return found


@recorded.case(rtol=1e-4)
def page() -> Values:
    """The bytes that a page plays from: lengths of its parts."""
    with tempfile.TemporaryDirectory() as folder:
        text = sp.export(run(), Path(folder) / "a.html").read_text()
    return {"title": text[text.index("<title>") : text.index("</title>")]}


@recorded.case(rtol=1e-5)
def tables_of_modes() -> Values:
    made = sp.Scene()
    made.add(BODIES["fem"](), at=(0.1, 0.2, 0.3), rotation=(0.3, 0.1, 0.2), name="bar", fix=[0, 1, 2, 3])
    found = sp.vibration_modes(made.compile(), 4)
    with tempfile.TemporaryDirectory() as folder:
        save_modes_csv(found, Path(folder) / "a.csv")
        return {"table": np.genfromtxt(Path(folder) / "a.csv", delimiter=",", skip_header=1)}


@recorded.case(rtol=1e-6)
def study() -> Values:
    """A study from a file, and its first designs judged."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.toml").write_text(STUDY)
        made = load_study(Path(folder) / "a.toml")
        parts = [made.method, made.arena]
        designs = parts[0].ask()
        results = [try_design(d, parts[1], ["forward", "energy", "height"]) for d in designs]
    return {"cells": [d.cells for d in designs], "scores": [list(r.scores.values()) for r in results]}


@recorded.case(rtol=1e-6)
def in_a_scene_file() -> Values:
    """A design in the place of the robot of a scene file."""
    body = ARENA.body_of(DESIGNS["sine"])
    made = sp.Scene(gravity=WORLD["gravity"])
    made.add(body, at=(0.1, 0.2, 0.01), name="robot")
    made.add(sp.Floor(0.0, friction=0.6), name="floor")
    with tempfile.TemporaryDirectory() as folder:
        sp.save(made, Path(folder) / "a.toml")
        with open(Path(folder) / "a.toml", "a") as file:
            file.write("\n[run]\nuntil = 0.03\n")
        arena = FileArena(str(Path(folder) / "a.toml"))
        scores = try_design(DESIGNS["sine"], arena, ["travel", "height"]).scores
    return {"scores": scores}


@recorded.case(rtol=1e-6)
def driven() -> Values:
    """A network that acts in a task."""
    cells = np.full((3, 2, 2), 3, dtype=np.uint8)
    cells[0, 0] = 2
    episode = Episode("walk-v1", cells)
    network = Network.random([14, 4, 1], seed=5, scale=2.0)
    for _ in range(3):
        seen = episode.observe()
        given = np.concatenate([seen["cells"], np.broadcast_to(seen["goal"], (*seen["cells"].shape[:3], 3))], axis=-1)
        episode.step(network(given.reshape(-1, 14)).reshape(episode.task.grid))
    return {"x": episode.state.x, "score": episode.score}


test_recorded = recorded.test()
