"""Masses on points of bodies that step themselves: such a body carries them in its own inertia.

A body whose weight is in its shape at rest bears no gravity; what hangs on it does, as a load.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.bodies.capabilities import Carrying
from supple.bodies.mappings import WeightedPoints
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import Mapping
from supple.errors import InputError
from supple.scene.acting.loads import Load
from supple.scene.mapped.points import PointSet
from supple.scene.parts import nodes_of
from supple.scene.scene import Acting, Scene

Array = np.ndarray


def hang_masses(scene: Scene) -> tuple[list[Acting], dict[str, list[Acting]]]:
    """Give the bodies of a snapshot the masses that they carry. Returns the other masses, and those carried by the name
    of the body."""
    others: list[Acting] = []
    carried: dict[str, list[Acting]] = {}
    for acting in scene.masses:
        owners = [scene.node_now(node) for node in nodes_of(acting.on)]
        bearing = [node for node in owners if isinstance(node.body, Carrying)]
        if bearing and len(owners) > 1:
            raise InputError(
                "a mass hangs on points of several bodies, of which one steps itself",
                where=f"mass '{acting.label}'",
                value=", ".join(sorted(node.name for node in owners)),
                fix="Hang a rigid body between them by joints.",
            )
        (carried.setdefault(bearing[0].name, []) if bearing else others).append(acting)
    for node in scene.nodes:
        if isinstance(node.body, Carrying):
            body = node.body.carrying([_load(acting) for acting in carried.get(node.name, [])])
            if body is not node.body:
                scene.renew(node, replace(node, body=body))
    return others, carried


def hung_weight(acting: Acting, gravity: Array) -> Load:
    """The weight of what hangs on a body that has none."""
    return Load(acting.on, acting.force.m[:, None] * gravity)


def _load(acting: Acting) -> tuple[Mapping, Array, Array]:
    """Points of the body, weights of each mass over them, and the masses."""
    where, mass = f"mass '{acting.label}'", acting.force
    if not (isinstance(mass, PointMass) and isinstance(mass.m, np.ndarray)):
        raise InputError(
            "a body that steps itself carries point masses, a number each",
            where=where, value=type(mass).__name__, fix="Give PointMass(np.array([...])).",
        )  # fmt: skip
    handle: object = acting.on
    weights = np.eye(handle.count) if isinstance(handle, PointSet) else None
    while isinstance(handle, PointSet) and isinstance(handle.parent, PointSet):
        if not isinstance(handle.mapping, WeightedPoints) or weights is None:
            weights = None
            break
        weights, handle = np.asarray(weights @ handle.mapping.weights), handle.parent
    if weights is None or not isinstance(handle, PointSet) or handle.mapping is None or (weights < 0).any():
        raise InputError(
            "this mapping of points carries no masses on a body that steps itself",
            where=where, value=getattr(acting.on, "label", type(acting.on).__name__),
            fix="Hang masses on node.points(...), some of these, or their centroid.",
        )  # fmt: skip
    if len(weights) != len(mass.m):
        raise InputError(
            "a mass does not fit the points it is on", where=where, value=mass.m.shape, allowed=f"({len(weights)},)"
        )
    return handle.mapping, weights, mass.m
