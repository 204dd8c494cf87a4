"""Friction that changes while bodies slide: of obstacles, of pairs, of contacts and of voxels' materials.

sliding distance  v²/(2 mu g)        start of sliding down a slope at  tan a = mu_s        of a cube on a plane
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.studio.live.live_run import LiveRun
from supple.validation.contact_kinds import KINDS

G, SPEED, EDGE = 9.81, 0.5, 0.1
DT = 0.002


def voxels(*, static: float = 1.0, kinetic: float = 0.5, several: bool = False) -> sp.VoxelBody:
    """A cube of few voxels, too stiff to matter."""
    rubber = sp.VoxelMaterial(1e6, density=500, static_friction=static, kinetic_friction=kinetic, bond_damping=1.0)
    return sp.VoxelBody(sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), EDGE / 3), [rubber] if several else rubber)


def sliding(body: Any, *things: Any, gravity: tuple[float, float, float] = (0, 0, -G), v: float = SPEED) -> sp.Scene:
    """A cube that slides along a floor."""
    scene = sp.Scene(gravity=gravity)
    scene.add(body, at=(0, 0, EDGE / 2) if body.kind == "rigid" else (0, 0, 0), velocity=(v, 0, 0), name="cube")
    for thing in things:
        scene.add(thing)
    return scene


def travelled(live: LiveRun) -> float:
    """Until it rests."""
    points = live.show.surfaces[0]
    start = points.points(live.state)[:, 0].mean()
    for _ in range(60):
        live.take(10)
    assert np.abs(live.state.v).max() < 0.02
    return float(points.points(live.state)[:, 0].mean() - start)


def changed(scene: sp.Scene, title: str, value: float) -> LiveRun:
    """As a person does it in the studio, after the first contact."""
    live = LiveRun(scene)
    live.take(1)
    live.change(next(k for k, s in enumerate(live.settings) if s.title == title), None, value)
    return live


def titles(scene: sp.Scene) -> list[str]:
    return [s.title for s in LiveRun(scene).settings if "riction" in s.title]


RIGID = sp.RigidBody.box((EDGE, EDGE, EDGE), density=500)
SLIDES = {
    "obstacle, rigid": (lambda: sliding(RIGID, sp.Floor(friction=0.05)), "Friction of floor"),
    "obstacle, lattice": (lambda: sliding(voxels(), sp.Floor(friction=0.05)), "Friction of floor"),
    "material of a lattice": (
        lambda: sliding(voxels(static=1.5, kinetic=0.05), sp.Floor()),
        "Kinetic friction of cube",
    ),
    "one of several materials": (
        lambda: sliding(voxels(static=1.5, kinetic=0.05, several=True), sp.Floor()),
        "Kinetic friction of cube, number 1",
    ),
    "contact": (lambda: sliding(RIGID, sp.Floor(), sp.Contact(friction=0.05)), "Friction of contact"),
    "contact of obstacles alone": (lambda: sliding(RIGID, sp.Floor()), "Friction of contact"),
    "pair": (
        lambda: sliding(RIGID, sp.Floor(friction=1.0), sp.Contact(frictions={("cube", "floor"): 0.05})),
        "Friction of cube and floor",
    ),
    "pair, lattice": (
        lambda: sliding(voxels(), sp.Floor(friction=1.0), sp.Contact(frictions={("cube", "floor"): 0.05})),
        "Friction of cube and floor",
    ),
    "one of two floors, lattice": (
        lambda: sliding(voxels(), sp.Floor(friction=0.05), sp.Plane((0, 1, 0), -1.0, friction=0.05, name="wall")),
        "Friction of floor",
    ),
}


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")
@pytest.mark.parametrize("name", SLIDES)
def test_a_slider_of_friction_changes_how_far_a_cube_slides(name: str) -> None:
    make, title = SLIDES[name]
    mu, live = 0.25, changed(make(), title, 0.25)
    speed = float(live.state.v[0])
    # steps of 1/60 s and what the contact's spring gives are some millimetres of 51
    assert travelled(live) == pytest.approx(speed**2 / (2 * mu * G), rel=0.12)


def test_only_frictions_that_hold_are_offered() -> None:
    floor, contact = sp.Floor(friction=0.5), sp.Contact(friction=0.5)
    assert titles(sliding(RIGID, floor)) == ["Friction of floor"]
    assert titles(sliding(RIGID, floor, contact)) == ["Friction of floor"]
    assert titles(sliding(RIGID, sp.Floor(), contact)) == ["Friction of contact"]
    assert titles(sliding(voxels(), floor)) == ["Friction of floor"]
    material = ["Static friction of cube", "Kinetic friction of cube"]
    assert titles(sliding(voxels(), sp.Floor())) == material
    assert titles(sliding(voxels())) == []
    assert titles(sliding(voxels(), sp.Contact(self_contact=True))) == material
    # two bodies: the contact's between them, the floor's below them
    scene = sliding(RIGID, floor, contact)
    scene.add(RIGID, at=(0.5, 0, EDGE / 2), name="other")
    assert titles(scene) == ["Friction of contact", "Friction of floor"]
    both = sp.Floor(friction=0.4, static_friction=0.6)
    assert titles(sliding(RIGID, both)) == ["Friction of floor", "Static friction of floor"]
    lone = sp.Contact(friction=0.5, frictions={("cube", "floor"): 0.1})
    assert titles(sliding(RIGID, floor, lone)) == ["Friction of cube and floor"]
    assert titles(sliding(RIGID, floor, sp.Contact(enabled=False))) == []
    # a lattice beside a rigid body: the material below, the contact between
    scene = sliding(voxels(), sp.Floor(), contact)
    scene.add(RIGID, at=(0.5, 0, EDGE / 2), name="crate")
    assert titles(scene) == [*material, "Friction of contact"]


@pytest.mark.parametrize("kind", ["rigid", "floating", "tree", "layered"])
def test_a_cube_begins_to_slide_when_the_floor_gets_smoother(kind: str) -> None:
    """On a slope of 0.3 under a floor of static friction 0.6 it rests, and slides where that is 0.2."""
    a = np.arctan(0.3)
    scene = sp.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)), solver=sp.Partitioned(DT))
    node = scene.add(KINDS[kind](), name="cube")
    lowest = float(node.points(None).rest[:, 2].min())
    scene.add(sp.Floor(lowest, friction=0.6), name="floor")
    system = scene.compile()
    state = system.initial_state()

    def speed(steps: int) -> float:
        for _ in range(steps):
            assert scene.solver.step(system, state).is_solved
        return float(system.points(state, "cube")[:, 0].mean())

    first = speed(100)
    assert abs(speed(50) - first) < 1e-4
    system.change(state, "floor", friction=0.2)
    scene.solver.prepare(system)
    speed(50)
    x = [speed(1) for _ in range(101)]
    gained = ((x[100] - x[99]) - (x[1] - x[0])) / DT / (99 * DT)
    assert gained == pytest.approx(G * (np.sin(a) - 0.2 * np.cos(a)), rel=0.03)


def test_what_an_obstacle_cannot_change_is_refused() -> None:
    system = sliding(RIGID, sp.Floor(friction=0.5, static_friction=0.7)).compile()
    state = system.initial_state()
    for values, word in (
        ({"height": 1.0}, "cannot be changed"),
        ({"friction": -1.0}, "friction"),
        ({"friction": 0.9}, "static friction is smaller"),
        ({"friction": True}, "friction"),
    ):
        with pytest.raises(InputError, match=word):
            system.change(state, "floor", **values)
    assert not state.memory
    assert system.scene.obstacles["floor"].friction == 0.5
