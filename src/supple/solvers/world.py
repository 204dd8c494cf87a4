"""Solvers refuse what is in the scene and they cannot honour, before the first step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.bodies.body_protocol import Method
from supple.errors import InputError
from supple.interaction.obstacles import Obstacle
from supple.scene.system import System


def refuse_elimination(system: System, where: str) -> None:
    """For solvers that need the masses and tangents of all bodies."""
    own = [s.name for s in system.bodies if s.node is not None and s.node.body.method is Method.ELIMINATION]
    if own:
        raise InputError(
            "a tree of domains is stepped by its own elimination, which this solver does not take",
            where=where,
            value=", ".join(own),
            fix="Leave the solver out of the run, or use Partitioned, or TreeSolver for trees alone.",
        )


def refuse_world(system: System, where: str) -> None:
    """For solvers that know neither contacts nor fluids."""
    if system.contacts:
        names = ", ".join(f"'{name}'" for name in system.scene.obstacles)
        raise InputError(
            "this solver does not carry contacts",
            where=where,
            value=f"obstacles {names}" if names else "Contact",
            fix="Leave the solver out of the run, or use Partitioned.",
        )
    refuse_fluid(system, where)


def refuse_restitution(system: System, where: str) -> None:
    """For solvers whose contacts know no restitution."""
    scene = system.scene
    if scene is None:
        return
    given = [f"Contact(restitution={c.restitution:g})" for c in scene.contacts if c.restitution is not None]
    given += [f"obstacle '{name}'" for name, o in scene.obstacles.items() if o.restitution is not None]
    if given:
        raise InputError(
            "voxels and trees of domains touch without a restitution",
            where=where,
            value=", ".join(given),
            fix="Leave restitution out, or use ImplicitEuler for a scene of other bodies.",
        )


def refuse_static_friction(system: System, swept: Mapping[str, Obstacle], where: str) -> None:
    """For solvers that sweep voxels, whose contacts have one friction but on obstacles that the sweep meets."""
    honoured = {name for name, obstacle in swept.items() if obstacle.friction is not None}
    lattices = {slot.name for slot in system.bodies if slot.node is not None and slot.node.body.method is Method.SWEEP}
    for bound in system.contacts:
        one, two = np.nonzero((bound.hold > bound.rough) & ~bound.excluded)
        for pair in ((bound.names[i], bound.names[j]) for i, j in zip(one.tolist(), two.tolist())):
            if lattices & set(pair) and not honoured & set(pair):
                raise InputError(
                    "voxels that are swept meet bodies with one friction, static and kinetic alike",
                    where=where,
                    value=f"static_friction of '{pair[0]}' and '{pair[1]}'",
                    fix="Give an obstacle both frictions, give them to the voxels' material, or use ImplicitEuler.",
                )


def refuse_fluid(system: System, where: str) -> None:
    """For solvers that advance voxels without their sweep, which alone knows the fluid."""
    if system.scene is None or system.scene.fluid is None:
        return
    swept = [s.name for s in system.bodies if s.node is not None and s.node.body.method is Method.SWEEP]
    if swept:
        raise InputError(
            "a fluid acts on voxels in their own sweep, which this solver does not take",
            where=where,
            value=", ".join(swept),
            fix="Leave the solver out of the run, or use Partitioned; voxels in a fluid take no joints.",
        )
