"""Changes that give a system other coordinates: parts of a body of other kinds, a body that breaks in two.

Every other body keeps its positions and velocities, in another place of the flat vectors. Each body that changes says
what its own are then, so that no point jumps and momentum stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.bodies.capabilities import Breaking, Recasting
from supple.errors import InputError
from supple.scene.acting.breaking import broken_scene, is_lost, moved_scene, parts_then
from supple.scene.changing.whole import Share, Whole
from supple.scene.scene import Scene
from supple.scene.slots import Slot
from supple.scene.state import State

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray
BROKEN = "broken_off"


class Relaid(NamedTuple):
    """A scene whose bodies have other coordinates, and those of the bodies that changed, by name."""

    whole: Whole
    coordinates: dict[str, tuple[Array, Array]]


def recast_body(whole: Whole, slot: Slot, x: Array, v: Array, values: dict[str, Any], where: str) -> Relaid | None:
    """With parts of a body of other kinds; None where the values are others."""
    found = slot.body.recast(x, v, values, where=where) if isinstance(slot.body, Recasting) else None
    if found is None:
        return None
    node = replace(slot.node, body=found.body)
    scene = moved_scene(whole.scene, slot.node, [node], [np.arange(len(slot.body.rest_points))])
    return Relaid(_with_scene(whole, scene), {slot.name: (found.x, found.v)})


def break_body(whole: Whole, slot: Slot, x: Array, v: Array, place: int | str, name: str, where: str) -> Relaid:
    """With a body in two parts, the second of them under a new name."""
    if not isinstance(slot.body, Breaking):
        raise InputError(
            "only a body of parts, such as a tree of domains, can break", where=where, value=type(slot.body).__name__
        )
    parts = slot.body.broken(x, v, place)
    scene, nodes = broken_scene(whole.scene, slot.node, parts, name, parts_then(slot.body, place))
    before = whole.shares.get(slot.name, Share(slot.name, np.arange(slot.body.render_surface().skin.count)))
    shown = [part.points if part.shown is None else part.shown for part in parts]
    shares = {node.name: Share(before.body, before.shown[numbers]) for node, numbers in zip(nodes, shown)}
    out = replace(_with_scene(whole, scene), shares={**whole.shares, **shares})
    return Relaid(out, {node.name: (part.x, part.v) for node, part in zip(nodes, parts)})


def _with_scene(whole: Whole, scene: Scene) -> Whole:
    """With a scene whose forces and joints are those of before, in their order."""
    old, new = ([*s.forces, *s.joints] for s in (whole.scene, scene))
    disabled = frozenset(id(b) for a, b in zip(old, new) if id(a) in whole.disabled)
    return replace(whole, scene=scene, disabled=disabled)


def lay_out(system: System, before: list[Slot], state: State, coordinates: dict[str, tuple[Array, Array]]) -> None:
    """Give a state the coordinates of a system that had other ones. before: the bodies it had."""
    old = {slot.name: (slot.view_x(state.x).copy(), slot.view_v(state.v).copy()) for slot in before}
    gone = [name for name in coordinates if name in old]
    broke = len(coordinates) > 1
    state.x, state.v = np.empty(system.x_size), np.empty(system.v_size)
    for slot in system.bodies:
        x, v = coordinates[slot.name] if slot.name in coordinates else old[slot.name]
        slot.view_x(state.x)[:], slot.view_v(state.v)[:] = x, v
    for key in [key for key in state.memory for name in gone if is_lost(key, name)]:
        if broke or not key.startswith("contact:"):
            del state.memory[key]
