"""Before a page of a built-in scene says ready, all kernels are there that a first touch needs, whatever is touched."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest
from tests.studio.test_live_run import rigid
from tests.trees.welds import welded_beams

import supple as sp
from supple.algebra.compiling import kernel
from supple.bodies.carried import carriers_of
from supple.examples import garden, registry
from supple.modal import ElasticSolid
from supple.record.surfaces import Surface
from supple.solvers.report import StepReport
from supple.studio.live.live_run import LiveRun
from supple.studio.live.meetings import meetings
from supple.studio.live.touches import structure, touches
from supple.studio.looks.field_colours import UNITS
from supple.studio.looks.looks import Looks
from supple.studio.looks.wishes import Wish
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


def begun(scene: sp.Scene) -> LiveRun:
    """A page of a scene that says ready; each kernel that comes into the process from now on is printed."""
    live = LiveRun(scene)
    live.compile_all()
    live.show.frame(live.state, 0)  # as of the first picture
    compile_one = kernel._Locked.compile

    def told(dispatcher: Any, signature: Any) -> Any:
        print(dispatcher.py_func.__module__, dispatcher.py_func.__qualname__, flush=True)
        return compile_one(dispatcher, signature)

    kernel._Locked.compile = told  # type: ignore[method-assign]
    return live


def touch(name: str) -> None:
    """What a process does that prints the kernels that a person's first touches bring into it."""
    live = begun(OWN[name]() if name in OWN else registry()[name].make())
    live.take(1)
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


def play_and_pull(leaves: int | None) -> None:
    """The garden runs two seconds, in which its bodies meet; then it begins anew before each of them is pulled."""
    live = begun(garden.make(leaves))
    while live.state.t < 2.0:
        live.take(2)
        live.show.frame(live.state, live.step)
    live.check()
    for name in ("robot", "flower", "jelly", "ball", "soft ball"):
        live.reset()
        number, surface = next((k, s) for k, s in enumerate(live.show.surfaces) if s.name == name)
        points = surface.points(live.state).astype(float)
        for start in (points[points[:, 2].argmax()], points[0]):
            live.pulls.hold(1, Picked(number, start, start), 10.0, live.state)
            live._follow()
            for k in range(4):
                live.drag(1, Pointer(start + np.array([0.0, 0.003 * k, 10.0 + 0.005 * k]), DOWN, DOWN))
                live.take(1 + k % 2)
                live.pulls.lines(live.state, live.dragged)
            live.check()
            live.release(1)
            live.take(2)


def printed(call: str) -> str:
    """What a process of its own prints that does one of these."""
    command = f"from tests.studio import test_first_touches as own; own.{call}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", [*OWN, "flower", "gripper", "cloth"])
def test_first_touches_bring_no_kernel(name: str) -> None:
    assert printed(f"touch({name!r})") == ""


@pytest.mark.parametrize("leaves", [60, pytest.param(None, marks=pytest.mark.slow)])
def test_a_garden_that_runs_and_is_pulled_after_reset_brings_no_kernel(leaves: int | None) -> None:
    assert printed(f"play_and_pull({leaves})") == ""


def meeting() -> sp.Scene:
    """Bodies of four kinds that are far from each other and from the ground, two of them of one sort."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.Partitioned(0.005), name="meeting")
    for k in range(2):
        scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(k, 0, 1), name=f"box {k}")
    scene.add(sp.FemBody(sp.box_tets((0.1, 0.1, 0.1), (2, 2, 2)), RUBBER), at=(0, 1, 1), name="cube")
    scene.add(sp.TreeBody(welded_beams(2, 6), stiffness_damping=0.01), at=(0, 3, 1), name="branch")
    scene.add(sp.Floor())
    scene.add(sp.Contact(exclude=[("branch", "floor")]))
    return scene


def test_every_two_sorts_that_may_touch_are_brought_together() -> None:
    system = meeting().compile()
    start, met = system.initial_state(), []
    for state in meetings(system, start):
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        contact = system.contacts[0]
        found = contact.find(kin, 0.005, {})
        met += {frozenset(contact.names[k] for k in pair) for pair in found.body.tolist()}
        assert found.size
        assert 0 < -found.gap.min() < contact.detector.margin
    among = [("box 0", "box 1"), ("box 0", "cube"), ("box 0", "branch"), ("cube", "branch")]
    assert Counter(met) == Counter(map(frozenset, [*among, ("box 0", "floor"), ("cube", "floor")]))


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


def look_at(name: str) -> None:
    """What a process does that prints the kernels that all colours and marks of a page bring into it."""
    live = begun(OWN[name]() if name in OWN else registry()[name].make())
    looks = Looks(live.show)
    live.take(2)
    for field in ("", *UNITS):
        wish = Wish(field, live.show.surfaces[0].name, links=True, contacts=True)
        about, pack = looks.seen(wish, live.state, 0.0)
        about |= looks.marked(wish, live.system, live.state, np.zeros((0, 2, 3)), 0.0, pack)
        assert "contacts" in about


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OWN, "flower", "gripper", "quadruped", "stack"])
def test_looks_bring_no_kernel(name: str) -> None:
    assert printed(f"look_at({name!r})") == ""


def change_all(name: str) -> None:
    """What a process does that prints the kernels that a change of each setting brings into it, and a step after."""
    live = begun(OWN[name]() if name in OWN else registry()[name].make())
    for number, setting in enumerate(live.settings):
        live.reset()
        value = float(np.max(setting.value))
        live.change(number, None, 1.1 * value if value else 0.1 * setting.high)
        live.take(1)
        live.take(2)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OWN, "flower", "gripper", "quadruped"])
def test_changes_bring_no_kernel(name: str) -> None:
    assert printed(f"change_all({name!r})") == ""
