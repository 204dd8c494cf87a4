"""Before a page of a built-in scene says ready, all kernels are there that a first touch needs, whatever is touched."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.studio.test_live_run import rigid
from tests.trees.welds import welded_beams

import supple as sp
from supple.algebra.compiling import kernel
from supple.bodies.carried import carriers_of
from supple.examples import registry
from supple.modal import ElasticSolid
from supple.record.surfaces import Surface
from supple.solvers.report import StepReport
from supple.studio.live.live_run import LiveRun
from supple.studio.live.touches import structure, touches
from supple.studio.picking import Picked
from supple.studio.pulling import Pointer

Array = np.ndarray
DOWN = np.array([0.0, 0.0, -1.0])
RUBBER = sp.Material(1e5, 0.3, 1000, stiffness_damping=0.002)


def bodies() -> sp.Scene:
    """Bodies of one kind that differ in elements, law and mass."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="bodies")
    size, cells = (0.2, 0.05, 0.05), (4, 2, 2)
    scene.add(sp.FemBody(sp.box_hexes(size, cells), RUBBER, law="stvk"), fix="x_min", name="hexes")
    scene.add(sp.FemBody(sp.box_tets(size, cells), RUBBER, mass="consistent"), at=(0, 1, 0), name="consistent")
    scene.add(sp.FemBody(sp.box_tets(size, cells), RUBBER), at=(0, 2, 0), name="plain")
    return scene


def rod() -> sp.FloatingBody:
    solid = ElasticSolid(sp.box_tets((0.3, 0.02, 0.02), (12, 1, 1)), sp.Material(1e7, 0.3, 1000))
    return sp.FloatingBody.from_solid(solid, modes=4)


def jointed() -> sp.Scene:
    """A floating body that is free, and two on a joint."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="jointed")
    first, second = scene.add(rod(), name="first"), scene.add(rod(), at=(0.3, 0, 0), name="second")
    scene.add(sp.BallJoint(first, second, at=(0.3, 0.01, 0.01)))
    scene.add(rod(), at=(0, 1, 0), name="free")
    return scene


def trees() -> sp.Scene:
    """Trees with and without seams."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="trees")
    scene.add(sp.TreeBody(welded_beams(2, 6), stiffness_damping=0.01), name="joined")
    scene.add(sp.TreeBody(welded_beams(1, 6), stiffness_damping=0.01), at=(0, 1, 0), name="single")
    return scene


OWN = {"bodies": bodies, "jointed": jointed, "trees": trees}


def ends(surface: Surface, points: Array) -> list[Array]:
    """Points of a surface to touch: its ends along each axis, seams and the middle of a triangle."""
    numbers = [*points.argmin(axis=0), *points.argmax(axis=0)]
    carriers = carriers_of(surface.shown)
    numbers += [] if carriers is None else carriers.seams[:2].tolist()
    found = [points[k] for k in dict.fromkeys(numbers)]
    return [*found, points[surface.triangles[-1]].mean(axis=0)] if len(surface.triangles) else found


def touch(name: str) -> None:
    """What a process does that prints the kernels that a person's first touches bring into it."""
    live = LiveRun(OWN[name]() if name in OWN else registry()[name].make())
    live.compile_all()
    live.show.frame(live.state, 0)  # as of the first picture
    live.take(1)
    compile_one = kernel._Locked.compile

    def told(dispatcher: Any, signature: Any) -> Any:
        print(dispatcher.py_func.__module__, dispatcher.py_func.__qualname__, flush=True)
        return compile_one(dispatcher, signature)

    kernel._Locked.compile = told  # type: ignore[method-assign]
    for number, surface in enumerate(live.show.surfaces):
        live.reset()
        for start in ends(surface, surface.points(live.state).astype(float)):
            live.pulls.hold(1, Picked(number, start, start), 10.0, live.state)
            live._follow()
            for moved in (0.0, 1e-3):
                live.drag(1, Pointer(start + np.array([0.0, moved, 10.0]), DOWN, DOWN))
                live.take(1)
                live.pulls.lines(live.state, live.dragged)
            live.check()
            live.release(1)


@pytest.mark.parametrize("name", [*OWN, "flower", "gripper", "cloth"])
def test_first_touches_bring_no_kernel(name: str) -> None:
    command = f"from tests.studio.test_first_touches import touch; touch({name!r})"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_a_scene_is_touched_once_a_sort() -> None:
    live = LiveRun(rigid())
    names = [live.show.surfaces[one.surface].name for one in touches(live.system, live.show.surfaces, live.state)]
    assert names.count("crate") == 1


def test_bodies_of_one_kind_with_other_elements_are_touched_each() -> None:
    live = LiveRun(bodies())
    names = {live.show.surfaces[one.surface].name for one in touches(live.system, live.show.surfaces, live.state)}
    assert names == {"hexes", "consistent", "plain"}


def test_a_seam_and_another_point_of_a_tree_are_touched() -> None:
    live = LiveRun(trees())
    found = [one for one in touches(live.system, live.show.surfaces, live.state) if one.surface == 0]
    assert len(found) == 2


def test_a_pull_is_tried_however_slow_the_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried does not depend on a clock."""
    live, tried = LiveRun(rigid()), set()
    advance, clock = live._advance, iter(np.arange(1000) * 100.0)

    def noted(steps: int) -> StepReport:
        tried.add((len(live.pulls.held), steps))
        return advance(steps)

    monkeypatch.setattr("supple.studio.live.live_run.perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(live, "_advance", noted)
    live.compile_all()
    assert {(1, 1), (1, 2)} <= tried


def test_numbers_count_as_zero_or_not() -> None:
    assert structure(sp.Material(1e5, 0.3, 1000)) == structure(sp.Material(2e6, 0.4, 500))
    assert structure(sp.Material(1e5, 0.3, 1000)) != structure(RUBBER)
    assert structure(np.zeros(3)) != structure(np.zeros((3, 3)))
