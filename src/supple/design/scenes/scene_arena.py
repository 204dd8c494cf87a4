"""SceneArena: a scene of Python in which designs are placed, or take the place of its robot.

The scene is kept as data (`SavedScene`), as it is when the arena is made: by that it has a key and goes to other
processes, each of which makes the scene again. It may have anything that `supple.save` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.voxel import VoxelBody
from supple.contact import Contact
from supple.design.arena import CONTROLLER, Arena
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.scenes.resting import resting_lift
from supple.design.scenes.robot_body import find_robot, given_of, with_transverse
from supple.design.scenes.saved_scene import SavedScene, as_saved
from supple.errors import FileFormatError, InputError, check_instance
from supple.material.voxel import VoxelMaterial
from supple.scene.node import Node
from supple.scene.scene import Scene

WHERE = "evaluation in a scene"
OF_ROBOT = ("materials", "voxel_size", "at", "amplitude", "frequency", "velocity", "self_contact")
"""What a robot that is in the scene says itself."""


class Placing(TypedDict, total=False):
    """What `SceneArena` takes beside the scene, as `evaluate` does."""

    duration: float
    materials: Mapping[int, VoxelMaterial]
    voxel_size: float
    at: ArrayLike
    settle: float
    amplitude: float
    frequency: float
    velocity: ArrayLike
    self_contact: bool
    dt: float | None
    record_every: float
    controller: str
    body: str


@dataclass(frozen=True, eq=False)
class SceneArena:
    """A scene into which designs are placed.

    world: the scene: obstacles, other bodies, contact, wind, a fluid and all else that `supple.save` can write.
    duration [s]: of what is measured, after `settle` [s]. materials by the numbers of cells, voxel_size [m], amplitude,
    frequency [Hz], velocity [m/s], controller, dt and record_every [s]: as of an `Arena`.
    at: where the middle of the robot's underside stands [m]: (x, y, z), or (x, y), where it is let down until it
    touches an obstacle; None: (0, 0). self_contact: whether voxels of the robot may touch each other. What else it
    touches the scene's `Contact` says; obstacles it touches in any case.
    body: the robot's name. Where the scene has a body of voxels of that name, designs take its place, with its
    materials, voxel size, sine, place, turn and velocity, and what acts on it acts on them, as of a `FileArena`.

    >>> import numpy as np, supple as sp
    >>> from supple.design import Design, try_design
    >>> world = sp.Scene(gravity=(0, 0, -9.81))
    >>> floor, step = world.add(sp.Floor()), world.add(sp.Box((0, 0, 0.05), (0.2, 0.2, 0.1)))
    >>> soft = sp.VoxelMaterial(young=1e5, density=1000)
    >>> arena = SceneArena(world, duration=0.1, materials={1: soft}, voxel_size=0.01)
    >>> float(arena.scene(Design(np.ones((2, 1, 1)))).node("robot").rest[:, 2].min().round(12))
    0.105
    """

    world: Scene | SavedScene
    duration: float
    materials: Mapping[int, VoxelMaterial] | None = None
    voxel_size: float | None = None
    at: ArrayLike | None = None
    settle: float = 0.0
    amplitude: float = 0.0
    frequency: float = 0.0
    velocity: ArrayLike = (0.0, 0.0, 0.0)
    self_contact: bool = False
    dt: float | None = None
    record_every: float = 1 / 30
    controller: str = CONTROLLER
    body: str = "robot"

    def __post_init__(self) -> None:
        check_instance(self.body, str, "a name", where=f"{WHERE}, body")
        object.__setattr__(self, "world", as_saved(self.world))
        if self.at is not None:
            object.__setattr__(self, "at", _checked_place(self.at))
        _ = self.arena

    @property
    def measures(self) -> tuple[str, ...]:
        """Those that are taken where none are asked for."""
        return self.arena.measures

    @cached_property
    def arena(self) -> Arena:
        """What makes the bodies: an arena with the robot's materials, voxel size and drive, and the scene's
        obstacles."""
        scene = self._loaded()
        times: dict[str, Any] = {
            name: getattr(self, name) for name in ("duration", "settle", "dt", "record_every", "controller")
        }
        world: dict[str, Any] = {
            "gravity": scene.gravity,
            "fluid": scene.fluid,
            "obstacles": tuple(scene.obstacles.values()),
        }
        if self._robot_of(scene) is not None:
            robot = find_robot(scene, self.body, WHERE)
            self._refuse_doubled()
            self._loaded({self.body: robot})  # an error where no other body could take its place
            return Arena(**given_of(robot, WHERE), **times, **world)
        lacking = [name for name in ("materials", "voxel_size") if getattr(self, name) is None]
        if lacking:
            raise InputError(
                f"the scene does not say what robots are made of: it has no body '{self.body}', and {lacking[0]} is "
                "not given", where=WHERE,
                fix="Give materials={1: VoxelMaterial(...)} and voxel_size=0.01, or add a voxel body named "
                    f"'{self.body}' whose place designs take.",
            )  # fmt: skip
        own: dict[str, Any] = {name: getattr(self, name) for name in OF_ROBOT if name != "at"}
        place = (0.0, 0.0, 0.0) if self.at is None else (*np.asarray(self.at), 0.0)[:3]
        return Arena(**own, **times, **world, place=place)

    def key(self) -> str:
        """SHA-256 of the scene's content and of what is given beside it, the source of the controller included."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "world"}
        return content_key("scene arena", self._saved.key(), given, self.arena.key())

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene with a design in it. seed: nothing in a scene is left to chance."""
        made = self.arena.body_of(design)
        if self._transverse is not None:
            return self._in_place_of_robot(with_transverse(made, self._transverse[0]))
        arena = self.arena
        if self.at is None or len(np.asarray(self.at)) == 2:
            lift = resting_lift(arena.obstacles, made.positions, arena.voxel_size)
            arena = arena.with_(place=(*np.asarray(arena.place)[:2], lift))
            made = arena.body_of(design)
        scene = self._loaded()
        robot = scene.add(made, name=self.body, velocity=arena.velocity)
        scene.root.children.insert(0, scene.root.children.pop())  # the first body, as in an arena
        if self.self_contact:
            _let_touch_itself(scene, robot)
        return scene

    @property
    def _saved(self) -> SavedScene:
        assert isinstance(self.world, SavedScene)
        return self.world

    @cached_property
    def _transverse(self) -> tuple[Any] | None:
        """Strains across axes of the robot that is in the scene, None where none is."""
        robot = self._robot_of(self._loaded())
        return None if robot is None else (robot.transverse,)

    def _loaded(self, stand_ins: Mapping[str, VoxelBody] | None = None) -> Scene:
        return self._saved.load(stand_ins)

    def _robot_of(self, scene: Scene) -> VoxelBody | None:
        named = any(node.name == self.body for node in scene.root.walk())
        return find_robot(scene, self.body, WHERE) if named else None

    def _in_place_of_robot(self, body: VoxelBody) -> Scene:
        try:
            return self._loaded({self.body: body})
        except FileFormatError as error:  # the scene was read before, with its own robot
            raise InputError(f"the design does not fit what acts on the robot: {error.what}", where=error.where,
                             value=error.value, allowed=error.allowed, fix=error.fix) from error  # fmt: skip

    def _refuse_doubled(self) -> None:
        default = {one.name: one.default for one in fields(self)}
        doubled = [name for name in OF_ROBOT if getattr(self, name) is not default[name]]
        if doubled:
            raise InputError(
                f"the scene has a body '{self.body}', which says this itself", where=WHERE, value=doubled[0],
                fix=f"Leave {doubled[0]} out, or take the body out of the scene.",
            )  # fmt: skip


def _checked_place(at: Any) -> tuple[float, ...]:
    place = np.asarray(at, dtype=float)
    if place.shape not in ((2,), (3,)) or not np.isfinite(place).all():
        raise InputError("this is no place", where=f"{WHERE}, at", value=at, allowed="(x, y) or (x, y, z) [m]")
    return tuple(place.tolist())


def _let_touch_itself(scene: Scene, robot: Node) -> None:
    """The contact of all bodies lets the robot touch itself too; where there is none, one of its own does."""
    for k, given in enumerate(scene.contacts):
        if isinstance(given, Contact) and given.bodies is None:
            own = given.self_contact
            joined = replace(given, self_contact=own if isinstance(own, bool) and own else [*(own or ()), robot])
            scene.contacts[k] = joined
            scene.contact_names[id(joined)] = scene.contact_names.pop(id(given))
            return
    scene.add(Contact([robot], self_contact=[robot]))
