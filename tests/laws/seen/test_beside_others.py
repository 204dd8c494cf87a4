"""Laws that every scene keeps: who is named first does not matter, and who meets nobody moves as if alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.laws.seen.test_other_observers import point_of
from tests.laws.seen.views import BODIES, PLAIN, View

import supple as sp
from supple.record.measures import measure_bodies
from supple.running import choose_solver

Array = np.ndarray
STEPS, DT = 16, 1 / 240
LESS = View(length=0.8, mass=1.7, time=0.9)  # a body that is smaller, heavier and stiffer
PLACES: dict[str, dict[str, Any]] = {
    "one": {
        "at": (0.1, 0.3, 0.2),
        "rotation": (0.2, 0.5, -0.3),
        "velocity": (0.4, -0.1, -1.6),
        "spin": (1.0, 2.0, -3.0),
    },
    "two": {
        "at": (0.1, 1.3, 0.22),
        "rotation": (-0.4, 0.1, 0.6),
        "velocity": (-0.2, 0.1, -1.5),
        "spin": (2.0, -1.0, 1.0),
    },
}
"""A metre apart: they never meet."""


def scene_of(kind: str, names: list[str], *, reverse: bool = False) -> sp.Scene:
    """Bodies of one kind, each on two springs and over a floor and a ball of its own."""
    scene, nodes = sp.Scene(gravity=(0.5, -1.0, -9.0)), {}
    for name in names:
        nodes[name] = scene.add(BODIES[kind](PLAIN if name == "one" else LESS), name=name, **PLACES[name])
    rough = [0.2, 0.6, 0.1, None] if kind != "voxel" else 4 * [0.3]  # of one friction all are met in one way
    things: list[Any] = [
        sp.Plane((0.1, 0.2, 1.0), 0.12, friction=rough[0]),
        sp.Sphere((0.1, 1.3, 0.02), 0.06, friction=rough[1]),
        sp.Sphere((0.05, 0.25, 0.04), 0.05, friction=rough[2]),
        sp.Box((0.2, 1.25, 0.05), (0.1, 0.2, 0.1), (0.1, 0.2, 0.3), friction=rough[3]),
    ]
    for name, node in nodes.items():
        point, far = point_of(PLAIN if name == "one" else LESS, node), np.add(PLACES[name]["at"], (0.1, 0.0, 0.2))
        stiff, soft = (20.0, 5.0) if name == "one" else (40.0, 12.0)
        things.append(sp.Springs(point, sp.World.points(far), stiff, 0.3, rest_length=0.05))
        things.append(sp.Load(point, (0.0, soft / 10, 0.0)))
    if kind != "voxel":
        things.append(sp.Contact(friction=0.4))
    for thing in reversed(things) if reverse else things:
        scene.add(thing)
    return scene


def ends(scene: sp.Scene) -> dict[str, Array]:
    """Places of the points of each body, its way and its orientation. Factors solve a step to round-off, iterations to
    a tolerance that is more than these laws allow."""
    scene.solver = choose_solver(scene, scene.compile(), None, DT)
    if isinstance(scene.solver, sp.ImplicitEuler):
        scene.solver = replace(scene.solver, linear="direct")
    run = sp.run(scene, until=STEPS * DT, progress=False)
    found = {slot.name: run.system.points(run.state, slot.name) for slot in run.system.bodies}
    for body in measure_bodies(run.system, run.state):
        found |= {f"way of {body.name}": body.displacement, f"orientation of {body.name}": body.orientation}
    return found


@pytest.mark.parametrize("kind", BODIES)
def test_who_is_first_does_not_matter(kind: str) -> None:
    """Bodies, obstacles, loads and springs in the other order."""
    one, other = ends(scene_of(kind, ["one", "two"])), ends(scene_of(kind, ["two", "one"], reverse=True))
    for what, value in one.items():
        np.testing.assert_allclose(other[what], value, rtol=0, atol=1e-9, err_msg=what)


ALONE = {"voxel": 1e-3, "tree": 5e-3}
"""Small steps that suit both lattices, and contacts of trees, which are iterated together."""


@pytest.mark.parametrize("kind", BODIES)
def test_who_meets_nobody_moves_as_if_alone(kind: str) -> None:
    both = ends(scene_of(kind, ["one", "two"]))
    for name in ("one", "two"):
        for what, value in ends(scene_of(kind, [name])).items():
            np.testing.assert_allclose(both[what], value, rtol=0, atol=ALONE.get(kind, 1e-9), err_msg=what)
