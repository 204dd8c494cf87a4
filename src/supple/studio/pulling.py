"""Pulling: each watcher may hold one point of a body by a damped spring to a point that follows the pointer.

    k = strength m (2 pi f)²,  at most BOUND m / h²,    c = k / (pi f)            m: of the body, h: the step

The spring is the `Springs` of any scene, added while it runs; where the pointer goes, its end in the world goes, by
changes that the state keeps. It is kept in the plane through the point across the view.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from supple.errors import InputError
from supple.record.surfaces import Surface
from supple.scene.acting.loads import Springs
from supple.scene.kinematics import Kinematics, hanging_on
from supple.scene.mapped.points import PointSet, World
from supple.scene.node import Node
from supple.scene.state import State
from supple.scene.system import System
from supple.studio.picking import Picked, pick

Array = np.ndarray
FREQUENCY = 2.0
"""Of a body on a pull of strength 1 [Hz]."""
BOUND = 0.25


@dataclass
class Pull:
    """name: of the spring in the system; depth [m]: of its end along the view; target (3,) [m]: where the end is."""

    name: str
    depth: float
    target: Array


@dataclass(frozen=True)
class Pointer:
    """Where a watcher points: the camera's place, a ray through the pointer and the way the camera looks, (3,) each."""

    origin: Array
    ray: Array
    forward: Array

    @classmethod
    def of(cls, numbers: Array) -> Pointer:
        """From nine numbers."""
        origin, ray, forward = np.asarray(numbers, dtype=float).reshape(3, 3)
        return cls(origin, ray, forward / np.linalg.norm(forward))

    @property
    def is_sound(self) -> bool:
        """Whether a picture can be seen this way."""
        all_finite = all(np.isfinite(part).all() for part in (self.origin, self.ray, self.forward))
        return bool(all_finite and self.ray @ self.forward > 1e-9)

    def at_depth(self, depth: float) -> Array:
        """The point of the ray that lies so deep along the view, (3,) [m]."""
        return self.origin + self.ray * (depth / (self.ray @ self.forward))


class Pulls:
    """The pulls of all watchers on one system. strength: of the next ones, 1: see `FREQUENCY`."""

    def __init__(self, system: System, surfaces: list[Surface], start: State, dt: float, strength: float = 1.0) -> None:
        self.system, self.surfaces, self.start, self.dt = system, surfaces, start, dt
        self.held: dict[int, Pull] = {}
        self.strength = strength

    def grab(self, watcher: int, pointer: Pointer, seen: State, state: State) -> bool:
        """Take hold of what a watcher points at. seen: the state of the frame that he saw; state: of now. Returns
        whether there is something."""
        self.release(watcher, state)
        found = pick(self.surfaces, seen, self.start, pointer.origin, pointer.ray) if pointer.is_sound else None
        if found is None:
            return False
        depth = float((found.place - pointer.origin) @ pointer.forward)
        self.hold(watcher, found, depth, state)
        return True

    def hold(self, watcher: int, found: Picked, depth: float, state: State) -> None:
        """Add the spring."""
        node = self.surfaces[found.surface].slot.node
        k = self.stiffness(node.held_body.total_mass)
        spring = Springs(
            point_at(node, found.start),
            World.points(found.place),
            stiffness=k,
            damping=k / (np.pi * FREQUENCY),
            rest_length=0.0,
        )
        name = self.system.add(state, spring, name=self._name(watcher))
        self.held[watcher] = Pull(name, depth, found.place.copy())

    def _name(self, watcher: int) -> str:
        """One that neither the scene nor its events have."""
        scene = self.system.scene
        taken = {event.name for event in scene.events} | {acting.label for acting in scene.forces}
        return next(name for k in itertools.count(watcher) if (name := f"pull {k}") not in taken)

    def stiffness(self, mass: float) -> float:
        """Of a pull on a body of a mass [kg], [N/m]."""
        return min(self.strength * mass * (2 * np.pi * FREQUENCY) ** 2, BOUND * mass / self.dt**2)

    def drag(self, watcher: int, pointer: Pointer, state: State) -> None:
        """Move the end of a watcher's pull; the state keeps it, as it keeps other changes."""
        pull = self.held.get(watcher)
        if pull is None or not pointer.is_sound:
            return
        target = pointer.at_depth(pull.depth)
        if not np.array_equal(target, pull.target):
            pull.target = target
            self.system.change(state, pull.name, end=target[None])

    def lines(self, state: State, pointers: Mapping[int, Pointer] | None = None) -> Array:
        """Where each pull holds a body, and where it pulls it to, (pulls, 2, 3) [m]. pointers: where watchers point by
        now, which counts from the next step on."""
        slots = {bound.label: bound.slot for bound in self.system.forces}
        own = [slots[pull.name] for pull in self.held.values()]
        if not own:
            return np.zeros((0, 2, 3))
        at = Kinematics(self.system.slots, state.t, state.x, state.v, state.memory, hanging_on(own)).x
        found = np.array([at[slot.index] for slot in own])
        for line, (watcher, pull) in zip(found, self.held.items()):
            pointer = (pointers or {}).get(watcher)
            if pointer is not None and pointer.is_sound:
                line[1] = pointer.at_depth(pull.depth)
        return found

    def release(self, watcher: int, state: State) -> bool:
        """Let go; returns whether there was a pull."""
        pull = self.held.pop(watcher, None)
        if pull is not None:
            self.system.remove(state, pull.name)
        return pull is not None


def point_at(node: Node, place: Array) -> PointSet:
    """The point of a body that was at a place (3,) [m] at the start; its nearest own one where there is nothing
    between them, as with particles."""
    try:
        return node.points(at=place)
    except InputError:
        local = node.to_local(place[None])
        return node.points([int(np.argmin(np.linalg.norm(node.held_body.rest_points - local, axis=1)))])
