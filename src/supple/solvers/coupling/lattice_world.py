"""What the sweep of lattices meets by itself: obstacles, a fluid, voxels of their own.

The sweep meets obstacles at the voxels' centres, within its small steps, which is faster than contact by surfaces. It
knows planes, spheres, boxes and one height field at rest, with one friction for all of them, and capsules and planes,
spheres and boxes that move, each with its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from supple.bodies.voxel.touching.collision import Collision
from supple.bodies.voxel.touching.moving import moves
from supple.contact import Contact
from supple.errors import InputError
from supple.interaction.fluid import Fluid
from supple.interaction.obstacles import Box, Capsule, HeightField, Obstacle, Plane, Sphere
from supple.scene.node import Node

KNOWN = (Plane, Sphere, Box, Capsule, HeightField)
WHERE = "LatticeSolver"
FIX = "Leave the solver out, or use Partitioned, which meets it by surfaces."


class LatticeWorld(NamedTuple):
    """obstacles by name, how voxels meet voxels (None: not at all), a fluid (None: none)."""

    obstacles: dict[str, Obstacle]
    collision: Collision | None
    fluid: Fluid | None


def world_of(scene: Any) -> LatticeWorld:
    """The world of a scene of lattices alone; refuses what the sweep cannot honour."""
    obstacles = known_obstacles(scene, scene.nodes)
    for name, obstacle in scene.obstacles.items():
        if name not in obstacles and any(_may_touch(scene, node, name) for node in scene.nodes):
            raise InputError(
                "the sweep of a lattice does not meet this obstacle",
                where=WHERE,
                value=f"'{name}', {obstacle.kind}",
                allowed="Plane, Sphere, Box, Capsule; one HeightField, at rest; "
                "one friction for all at rest, for all bodies alike",
                fix=FIX,
            )
    return LatticeWorld(obstacles, _collision(scene), scene.fluid)


def known_obstacles(scene: Any, lattices: Sequence[Node]) -> dict[str, Obstacle]:
    """Obstacles that the sweep of these lattices meets as the scene has it; others are met by surfaces."""
    known: dict[str, Obstacle] = {}
    for name, obstacle in scene.obstacles.items():
        fits = (
            isinstance(obstacle, KNOWN)
            and not (isinstance(obstacle, HeightField) and moves(obstacle))
            and (obstacle.static_friction is None or obstacle.friction is not None)
            and all(_is_plain(scene, node, name) for node in lattices)
        )
        if isinstance(obstacle, HeightField) and any(isinstance(o, HeightField) for o in known.values()):
            fits = False
        if fits and (moves(obstacle) or all(_is_as_rough(obstacle, o) for o in known.values() if not moves(o))):
            known[name] = obstacle
    return known


def _is_as_rough(one: Obstacle, two: Obstacle) -> bool:
    return (one.friction, one.static_friction) == (two.friction, two.static_friction)


def _is_plain(scene: Any, node: Node, obstacle: str) -> bool:
    """Whether a lattice may touch the obstacle, with the friction of either; a static friction of their contact is
    honoured by surfaces, where the obstacle has none of its own."""
    contact = next((c for c in scene.contacts if node in c.nodes(scene)), None)
    if contact is None:
        return not scene.contacts
    plain = node.name not in contact.parts and contact.pair_friction(node.name, obstacle) is None
    plain = plain and (contact.static_friction is None or scene.obstacles[obstacle].friction is not None)
    return plain and not contact.is_excluded(node.name, obstacle)


def _may_touch(scene: Any, node: Node, obstacle: str) -> bool:
    """Whether a body touches an obstacle at all: the first contact that has it says so."""
    contact = next((c for c in scene.contacts if node in c.nodes(scene)), None)
    return not scene.contacts if contact is None else not contact.is_excluded(node.name, obstacle)


def _collision(scene: Any) -> Collision | None:
    """How voxels meet voxels, as the scene's contact says."""
    if not any(contact.enabled for contact in scene.contacts):
        return None
    if len(scene.contacts) > 1:
        raise InputError("the sweep of a lattice knows one contact", where=WHERE, value=len(scene.contacts), fix=FIX)
    contact, default = scene.contacts[0], Contact()
    for name in ("stiffness", "tangential_stiffness", "margin", "static_friction"):
        if getattr(contact, name) != getattr(default, name):
            raise InputError(
                f"voxels meet voxels as their materials say, whatever {name} of a contact is",
                where=WHERE,
                value=getattr(contact, name),
                fix=FIX,
            )
    if contact.damping not in (None, 0.0):
        raise InputError("voxels are damped as their materials say", where=WHERE, value=contact.damping, fix=FIX)
    nodes, touching = contact.nodes(scene), contact.self_touching(scene)
    if not touching and (len(nodes) == 1 or not contact.between_bodies):
        return None
    if len(nodes) != len(scene.nodes) or len(touching) != len(nodes) or not contact.between_bodies or contact.exclude:
        raise InputError(
            "in the sweep of a lattice all voxels meet all others",
            where=WHERE,
            value=f"contact of {len(nodes)} bodies, self_contact of {len(touching)}",
            fix=f"Name all bodies in self_contact. {FIX}",
        )
    return Collision(damping=contact.damping, friction=contact.friction != 0.0)
