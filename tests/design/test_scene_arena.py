"""A scene is an arena: designs are placed in it, and score as in the arena of the same content."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import Actuation
from supple.design import (
    Arena,
    Design,
    Evaluator,
    Object,
    SceneArena,
    evaluate,
    evaluation_key,
    evaluations,
    try_design,
)
from supple.design.study.plain_arena import plain_arena
from supple.design.trial import make_trial
from supple.errors import InputError
from supple.files import RunSettings, save
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Box, Floor, HeightField, MeshObstacle, Plane, Sphere
from supple.scene.acting.time_functions import SineInTime

SOFT = sp.VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
BALL = sp.RigidBody.sphere(0.01, density=500)
STEP = Box((0.1, 0.0, 0.02), (0.05, 0.2, 0.04))
WALKER = Design(np.ones((3, 2, 2)), {"phase": np.linspace(0.0, 1.0, 12).reshape(3, 2, 2)})
ROBOTS: dict[str, Any] = {
    "duration": 0.2, "settle": 0.05, "materials": {1: SOFT}, "voxel_size": 0.01, "amplitude": 20.0, "frequency": 5.0,
}  # fmt: skip
NAMES = ("forward", "height", "energy", "contact_time")


def world(gravity: float = 9.81, friction: float = 0.5, at: float = 0.03, ball: Any = BALL, step: Any = STEP) -> Any:
    """A floor, a step, a ball before the robot, and contact of all."""
    scene = sp.Scene(gravity=(0, 0, -gravity))
    scene.add(ball, name="ball", at=(at, 0.0, 0.01))
    scene.add(Floor(friction=friction))
    scene.add(step)
    scene.add(sp.Contact())
    return scene


def test_a_scene_scores_as_the_arena_of_the_same_content() -> None:
    """To the bit: with another body, obstacles and contact, of the robot with itself too."""
    arena = Arena(**ROBOTS, obstacles=(Floor(friction=0.5), STEP), objects=[Object("ball", BALL, at=(0.03, 0.0, 0.01))])
    for own in (False, True):
        expected = try_design(WALKER, arena.with_(self_contact=own), NAMES)
        found = try_design(WALKER, world(), NAMES, **ROBOTS, self_contact=own)
        assert found.ok, found.message
        assert found.scores == expected.scores
        assert found.scores["contact_time"] > 0.05


def test_a_robot_alone_touches_itself_where_it_is_asked_to() -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(Floor())
    arena = Arena(**ROBOTS, self_contact=True)
    assert (
        try_design(WALKER, scene, NAMES, **ROBOTS, self_contact=True).scores == try_design(WALKER, arena, NAMES).scores
    )
    scene.add(sp.Contact(self_contact=True))
    assert (
        try_design(WALKER, scene, NAMES, **ROBOTS, self_contact=True).scores == try_design(WALKER, arena, NAMES).scores
    )


def test_the_robot_of_a_scene_gives_its_place_and_what_acts_on_it(tmp_path: Path) -> None:
    """As in the file of the same scene."""
    scene = world()
    cells, sine = np.ones((2, 2, 2), dtype=np.int64), Actuation(20.0, 5.0)
    robot = sp.VoxelBody(VoxelGrid(cells, 0.01), SOFT, actuation=sine)
    node = scene.add(robot, name="robot", at=(-0.05, 0.0, 0.0), rotation=(0, 0, 0.3), velocity=(0.1, 0, 0))
    scene.add(sp.Load(node.points("x_max"), force=SineInTime((0.0, 0.0, 0.02), 3.0)))
    save(scene, tmp_path / "walk.toml", run=RunSettings(until=0.2))
    found, expected = (try_design(WALKER, given, NAMES, **more) for given, more in (
        (scene, {"duration": 0.2}), (tmp_path / "walk.toml", {})))  # fmt: skip
    assert found.ok, found.message
    assert found.scores == expected.scores
    for name, value in (("materials", {1: SOFT}), ("at", (0, 0)), ("velocity", (0, 0, 1))):
        with pytest.raises(InputError, match=rf"has a body 'robot', which says this itself \(got '{name}'"):
            SceneArena(scene, duration=0.2, **{name: value})


def test_workers_and_a_store_take_a_scene(tmp_path: Path) -> None:
    designs = [WALKER, Design(np.ones((2, 2, 2))), Design(np.ones((4, 1, 2)))]
    alone = [try_design(design, world(), NAMES, **ROBOTS) for design in designs]
    path = tmp_path / "s.db"
    first = dict(evaluations(designs[:2], world(), NAMES, store=path, workers=0, **ROBOTS))
    assert [first[k] for k in range(2)] == alone[:2]
    with Evaluator(world(), NAMES, store=path, workers=2, **ROBOTS) as evaluator:
        assert evaluator.evaluate(designs) == alone
        assert evaluator.dispatcher.evaluated == 1
    assert evaluate(designs, world(), NAMES, store=path, workers=0, **ROBOTS) == alone


def test_the_key_is_the_content() -> None:
    key = evaluation_key(WALKER, world(), **ROBOTS)
    assert evaluation_key(WALKER, world(), **ROBOTS) == key
    arena = SceneArena(world(), **ROBOTS)
    assert pickle.loads(pickle.dumps(arena)).key() == arena.key()
    assert evaluation_key(WALKER, arena) == key
    windy, fluid = world(), world()
    windy.add(sp.Wind(velocity=(0, 3, 0)))
    fluid.add(sp.Fluid(density=1000.0))
    others = [
        windy, fluid, world(gravity=9.8), world(friction=0.4), world(at=0.04),
        world(ball=sp.RigidBody.sphere(0.01, density=600)), world(step=Box((0.1, 0.0, 0.02), (0.05, 0.2, 0.05))),
    ]  # fmt: skip
    rough = sp.Scene(gravity=(0, 0, -9.81))
    for thing in (Floor(friction=0.5), STEP, sp.Contact(friction=0.7)):
        rough.add(thing)
    keys = {evaluation_key(WALKER, one, **ROBOTS) for one in [*others, rough]}
    changes: list[dict[str, Any]] = [
        {"at": (0, 0)}, {"at": (0, 0, 0.01)}, {"duration": 0.3}, {"settle": 0.1}, {"frequency": 6.0}, {"dt": 1e-4},
        {"self_contact": True}, {"velocity": (0, 0, 1)}, {"materials": {1: sp.VoxelMaterial(2e5, 1000.0)}},
    ]  # fmt: skip
    keys |= {evaluation_key(WALKER, world(), **{**ROBOTS, **change}) for change in changes}
    assert len(keys - {key}) == len(others) + 1 + len(changes)


def test_what_is_added_later_is_not_in_it() -> None:
    scene = world()
    arena = SceneArena(scene, **ROBOTS)
    key = arena.key()
    scene.add(Box((0, 0, 0.5), (0.1, 0.1, 0.1)))
    assert arena.key() == key != SceneArena(scene, **ROBOTS).key()
    assert len(arena.scene(WALKER).obstacles) == 2


SLOPE = HeightField([[0.0, 0.0], [1.0, 1.0]], origin=(0, -1), spacing=(2.0, 2.0))
GROUND: dict[str, tuple[list[Any], tuple[float, float], float]] = {
    "floor": ([Floor()], (0.0, 0.0), 0.0),
    "raised floor": ([Floor(0.25)], (0.3, 0.0), 0.25),
    "on a box": ([Floor(), Box((0.2, 0, 0.05), (0.1, 0.1, 0.1))], (0.2, 0.0), 0.1),
    "half on a box": ([Floor(), Box((0.2, 0, 0.05), (0.1, 0.1, 0.1))], (0.255, 0.0), 0.1),
    "beside a box": ([Floor(), Box((0.2, 0, 0.05), (0.1, 0.1, 0.1))], (0.3, 0.0), 0.0),
    "on a ball": ([Sphere((0, 0, 0), 0.2)], (0.0, 0.0), np.hypot(0.0, 0.205) - 0.005),
    "beside a wall": ([Floor(), Plane((1, 0, 0), -0.1)], (0.0, 0.0), 0.0),
    "on nothing": ([Box((9, 0, 0), (0.1, 0.1, 0.1))], (0.0, 0.0), 0.0),
}


@pytest.mark.parametrize("what", GROUND)
def test_a_robot_is_let_down_on_what_is_below_it(what: str) -> None:
    obstacles, place, height = GROUND[what]
    scene = sp.Scene(gravity=(0, 0, -9.81))
    for one in obstacles:
        scene.add(one)
    block = Design(np.ones((3, 1, 2)))
    rest = SceneArena(scene, at=place, **ROBOTS).scene(block).node("robot").rest
    assert rest[:, 2].min() - 0.005 == pytest.approx(height, abs=2e-4 if what == "on a ball" else 1e-9)
    np.testing.assert_allclose(rest[:, :2].mean(axis=0), place, atol=1e-12)
    lifted = SceneArena(scene, at=(*place, 0.4), **ROBOTS).scene(block).node("robot").rest
    assert lifted[:, 2].min() - 0.005 == pytest.approx(0.4, abs=1e-12)


def test_a_robot_that_is_let_down_touches_and_does_not_sink() -> None:
    """On a slope its highest foot touches: the ground is nearer than half a voxel by less than a nanometre."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(SLOPE)
    arena = SceneArena(scene, at=(1.0, 0.0), **{**ROBOTS, "amplitude": 0.0, "settle": 0.0, "duration": 0.02})
    trial = make_trial(WALKER, arena)
    assert trial.contacts[-1]
    assert trial.centres[0][2] == pytest.approx(0.5 + 0.01, abs=0.01)
    assert abs(trial.centres[-1] - trial.centres[0]).max() < 2e-3


def closed_over(scene: sp.Scene) -> None:
    pushed = [0.1]
    scene.add(sp.Load(scene.node("ball").points(), force=lambda t: (0.0, 0.0, pushed[0] * t)))


class Pulls:
    """A force of a person's own."""

    def energy(self, x: Any) -> float:
        return 0.0

    def add_force(self, x: Any, v: Any, out: Any) -> None:
        out[:] += 0.0

    def linearize(self, x: Any, v: Any) -> Any:
        return None


def of_ones_own(scene: sp.Scene) -> None:
    scene.add(Pulls(), on=scene.node("ball").points())


NO_DATA: dict[str, tuple[Callable[[sp.Scene], None], str]] = {
    "closure": (closed_over, r"other processes cannot make again.*Python function.*SineInTime or TableInTime"),
    "force": (of_ones_own, r"other processes cannot make again.*force of your own"),
}


@pytest.mark.parametrize("what", NO_DATA)
def test_what_is_no_data_is_refused_with_what_to_give_instead(what: str) -> None:
    add, said = NO_DATA[what]
    scene = world()
    add(scene)
    with pytest.raises(InputError, match=said):
        evaluate([WALKER], scene, workers=0, **ROBOTS)


def test_what_a_scene_does_not_say_is_asked_for() -> None:
    bare: dict[str, Any] = {"duration": 1.0}
    for more, said in (
        ({}, r"how long designs run.*duration=5\.0"),
        (bare, r"what robots are made of.*materials is not given.*materials=.*or add a voxel body named 'robot'"),
        (bare | {"materials": {1: SOFT}}, "voxel_size is not given"),
        (ROBOTS | {"at": (1.0,)}, r"no place \(got \(1\.0,\); allowed: \(x, y\) or \(x, y, z\)"),
        (ROBOTS | {"at": (1.0, np.nan)}, "no place"),
        (ROBOTS | {"duratoin": 1.0}, "no argument of this name.*Did you mean duration"),
        (ROBOTS | {"duration": -1.0}, "duration"),
        (ROBOTS | {"body": "ball"}, "not a body of voxels"),
    ):
        with pytest.raises(InputError, match=said):
            evaluate([WALKER], world(), workers=0, **more)
    with pytest.raises(InputError, match="said of a scene alone"):
        evaluate([WALKER], "walk-v1", workers=0, duration=1.0)
    scene = sp.Scene()
    scene.add(MeshObstacle(_mesh()))
    assert "not let down on a mesh" in try_design(WALKER, scene, **ROBOTS).message


def _mesh() -> Any:
    from supple.geometry import SurfaceMesh

    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    return SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))


def test_a_scene_becomes_a_plain_arena_for_voxcad() -> None:
    plain, lost = plain_arena(SceneArena(world(), **ROBOTS), WALKER)
    assert [one.name for one in plain.objects] == ["ball"]
    assert (plain.frequency, len(plain.obstacles), lost) == (5.0, 2, [])
