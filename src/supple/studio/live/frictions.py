"""Which coefficients of friction hold anywhere in a scene, so that no slider is shown that does nothing.

The first that is given holds: of a pair, of an obstacle, of a contact. Where the sweep of a lattice meets an obstacle
or voxels, that of the obstacle, then those of the voxels' materials.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.body_protocol import Method
from supple.contact.binding.pair_tables import excluded_pairs
from supple.scene.changing.contacts import contact_names
from supple.scene.node import Node
from supple.scene.scene import Scene
from supple.scene.world import default_contact
from supple.solvers.coupling.lattice_world import known_obstacles
from supple.solvers.methods.lattice_solver import LatticeSolver
from supple.solvers.methods.partitioned import Partitioned

SLIDING, HOLDING = "friction", "static_friction"


class Friction(NamedTuple):
    """A coefficient that can be changed. name, key: of the change; pair: two names, where it is theirs alone."""

    name: str
    key: str
    value: float
    pair: tuple[str, str] | None = None


class Rough(NamedTuple):
    """What holds in a scene: coefficients of contacts, pairs and obstacles, and names of bodies whose materials'."""

    given: list[Friction]
    materials: set[str]


class Source(NamedTuple):
    """Whose coefficients may hold for two names, None: it has none."""

    name: str
    sliding: float | None
    holding: float | None
    pair: tuple[str, str] | None = None


def frictions_of(scene: Scene, solver: Any) -> Rough:
    """Of a scene as it is now, under a solver."""
    swept = _swept(scene, solver)
    known = known_obstacles(scene, swept) if swept else {}
    lattices, given, materials = {node.name for node in swept}, dict[Friction, None](), set[str]()
    for number, contact in enumerate(scene.contacts or ([default_contact()] if scene.obstacles else [])):
        name = contact_names(scene)[number]
        for one, other in _touching(scene, contact, scene.contacts[:number]):
            if one in lattices and other in known:
                if known[other].friction is None:
                    materials.add(one)
                    continue
                sources = [_of_obstacle(scene, other)]
            elif isinstance(solver, LatticeSolver) and {one, other} <= lattices:
                materials |= {one, other} if contact.friction else set()
                continue
            else:
                sources = _sources(scene, contact, name, one, other)
            given |= dict.fromkeys(_holding(sources))
    return Rough(list(given), materials)


def _swept(scene: Scene, solver: Any) -> list[Node]:
    """The lattices that meet obstacles within their sweep."""
    if not isinstance(solver, LatticeSolver | Partitioned):
        return []
    return [node for node in scene.nodes if node.held_body.method == Method.SWEEP]


def _touching(scene: Scene, contact: Any, before: list[Any]) -> Iterator[tuple[str, str]]:
    """Names that may touch by a contact: two bodies, or a body and an obstacle."""
    nodes, walls = contact.nodes(scene), list(scene.obstacles)
    taken = {id(node) for other in before for node in other.nodes(scene)}
    names = [node.name for node in nodes] + walls
    apart = excluded_pairs(contact, names, [id(node) not in taken for node in nodes], len(nodes))
    alone = {node.name for node in contact.self_touching(scene)} if contact.enabled else set()
    for i, j in combinations_with_replacement(range(len(names)), 2):
        if i < len(nodes) and (names[i] in alone if i == j else not apart[i, j]):
            yield names[i], names[j]


def _sources(scene: Scene, contact: Any, name: str, one: str, other: str) -> list[Source]:
    """Whose coefficients may hold, the first one first."""
    pair = next((p for p in ((one, other), (other, one)) if p in contact.frictions), None)
    found = [] if pair is None else [Source(name, float(contact.frictions[pair]), None, pair)]
    if other in scene.obstacles:
        found.append(_of_obstacle(scene, other))
    return [*found, Source(name, contact.friction, contact.static_friction)]


def _of_obstacle(scene: Scene, name: str) -> Source:
    obstacle = scene.obstacles[name]
    return Source(name, obstacle.friction, obstacle.static_friction)


def _holding(sources: list[Source]) -> Iterator[Friction]:
    """The coefficients that hold, as `supple.contact.sticking` chooses them."""
    for source in sources:
        if source.sliding is not None and np.isfinite(source.sliding):
            yield Friction(source.name, SLIDING, float(source.sliding), source.pair)
            break
    first = next(source for source in sources if source.sliding is not None or source.holding is not None)
    if first.holding is not None:
        yield Friction(first.name, HOLDING, float(first.holding), first.pair)
