"""Solvers refuse what is in the scene and they cannot honour, before the first step."""

from __future__ import annotations

import numpy as np

from supple.bodies.body_protocol import Method
from supple.bodies.traits import needs_stride
from supple.errors import InputError, check_instance
from supple.scene.state import State, check_state
from supple.scene.system import System


def check_system(system: System, where: str) -> None:
    """Refuse what is no compiled scene."""
    check_instance(system, System, "a system", where=where, fix="Give scene.compile().")


def check_step(system: System, state: State, where: str) -> None:
    """Refuse what is no compiled scene, or no state."""
    check_system(system, where)
    check_state(state, where)


def refuse_elimination(system: System, where: str) -> None:
    """For solvers that need the masses and tangents of all bodies, and forces that say all of what holds them."""
    check_system(system, where)
    own = [s.name for s in system.bodies if s.node is not None and s.node.body.method is Method.ELIMINATION]
    if own:
        raise InputError(
            "a tree of domains is stepped by its own elimination, which this solver does not take",
            where=where,
            value=", ".join(own),
            fix="Leave the solver out of the run, or use Partitioned, or TreeSolver for trees alone.",
        )
    if any(needs_stride(force) for _, _, force in system.forces):
        raise InputError(
            "rigid cells are held together by the sweep of their lattice alone",
            where=where,
            fix="Use LatticeSolver or Partitioned, without masses on voxels or joints with limits or motors; "
            "or a stiff material in place of rigid=True.",
        )


def refuse_world(system: System, where: str) -> None:
    """For solvers that know no contacts."""
    check_system(system, where)
    if system.contacts:
        names = ", ".join(f"'{name}'" for name in system.scene.obstacles)
        raise InputError(
            "this solver does not carry contacts",
            where=where,
            value=f"obstacles {names}" if names else "Contact",
            fix="Leave the solver out of the run, or use Partitioned.",
        )


def refuse_soft_restitution(system: System, where: str) -> None:
    """For solvers whose contacts know the restitution of rigid bodies and balls: those that deform rebound by
    themselves."""
    for contact in system.contacts:
        soft = contact.stopping.deforms
        given = ~np.isnan(contact.bounce) & ~contact.excluded & (soft[:, None] | soft[None, :])
        np.fill_diagonal(given, False)
        for one, two in np.argwhere(np.triu(given))[:1].tolist():
            body, other = (contact.names[k] for k in ((one, two) if soft[one] else (two, one)))
            raise InputError(
                f"'{body}' deforms, rebounds by itself, and takes no restitution",
                where=where,
                value=f"restitution {contact.bounce[one, two]:g} of '{body}' and '{other}'",
                allowed="rigid bodies and balls",
                fix="Leave it out, or give it to a Contact of rigid bodies and balls alone.",
            )


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
