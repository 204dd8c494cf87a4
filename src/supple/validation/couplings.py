"""Every two kinds of bodies, and each with the world, coupled by a spring, by every joint and by contact, for a second.

    momentum    change of linear momentum over m w L, with the mass, the spin w and the size L of a body
    order       change of angular momentum in 0.2 s with half the step, over that with the whole one: about 1/2 at first
                order; later much of it is gone, and the ratio grows
    joint       largest |phi| after a step over the size, phi of axes in radians
    pushed      largest change of the momentum of one body over m w L: contact must have acted
    sinks       depth of a body in the floor over its size, after each step

Two bodies turn about the z axis as one, and one of them has a further velocity that the joint must take or let go, or
that closes the gap between them. Contact with the world is a fall on a floor, aslant. Each pair is run without a
solver: what the one chosen refuses, or does not finish, is a row that fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from supple.contact import Contact, Floor
from supple.errors import SuppleError
from supple.running import run
from supple.scene import BallJoint, FixedJoint, HingeJoint, Scene, SliderJoint, Springs, State, World
from supple.validation.contact_kinds import KINDS, MASS, SIDE, G, momenta
from supple.validation.row import Row, bounded

Array = np.ndarray
SPIN, AWAY, DT, SECOND, SHORT = 5.0, 1.2 * SIDE, 1 / 60, 1.0, 0.2
AT = (0.6 * SIDE, 0.1 * SIDE, 0.05 * SIDE)
UP = (0.0, 0.0, 1.0)
SHUT = 0.5  # speed at which a gap closes, and of a fall on the floor [m/s]
INSIDE, ACROSS, LINEAR, ORDER, ANGULAR = 1e-9, 1e-6, 1e-12, 0.7, 1e-9
PUSHED, SINKS = 0.1, 0.05
KEPT = 1e-5
"""Change of angular momentum in 0.2 s over m w L² that has no order: the small steps of lattices do not follow the
scene's."""


PAIRS = [*combinations_with_replacement(KINDS, 2), *((kind, "world") for kind in KINDS)]
BY_ITSELF = ("voxel", "tree")
"""Kinds with a method of their own: what couples them with others acts across parts."""


def _spring(a: Any, b: Any) -> Springs:
    def end(node: Any, x: float) -> Any:
        place = np.array([[x, AT[1], AT[2]]])
        if node is World:
            return World.points(place)
        if node.body.kind == "particles":
            return node.points([int(np.argmin(np.linalg.norm(node.rest - place, axis=1)))])
        return node.points(at=place)

    return Springs(end(a, 0.5 * SIDE), end(b, 0.7 * SIDE), 500.0, 1.0)


def _contact(a: Any, b: Any) -> Any:
    return Floor(-AWAY, friction=0.5) if b is World else Contact(friction=0.5)


COUPLINGS: dict[str, Callable[[Any, Any], Any]] = {
    "spring": _spring,
    "ball": lambda a, b: BallJoint(a, b, at=AT),
    "hinge": lambda a, b: HingeJoint(a, b, at=AT, axis=UP),
    "slider": lambda a, b: SliderJoint(a, b, at=AT, axis=UP),
    "fixed": lambda a, b: FixedJoint(a, b, at=AT),
    "contact": _contact,
}
FURTHER = {"slider": (0.0, 0.0, 0.2), "contact": (-SHUT, 0.1, 0.1)}


KEEPING = {
    ("tree", "tree"): (*COUPLINGS,),
    ("voxel", "voxel"): ("ball", "hinge", "slider", "fixed", "contact"),
    ("voxel", "tree"): (*COUPLINGS,),
}
"""Couplings that keep angular momentum."""


class Coupled(NamedTuple):
    """linear, joint: the largest change of momentum, relative, and violation over the size; angular (3,) [kg m²/s]:
    change at the end; failed: steps that were not solved; pushed: the largest change of a body's momentum, relative;
    sinks: how deep a body is below the floor of a scene of contact with the world, over its size."""

    linear: float
    angular: Array
    joint: float
    failed: int
    pushed: float
    sinks: float


def scene_of(one: str, two: str, coupling: str) -> Scene:
    """Two cubes side by side, or one beside a point of the world, and their coupling."""
    further = FURTHER.get(coupling, (0.0, 0.1, 0.1))
    if two != "world":
        scene = Scene()
        a = scene.add(KINDS[one](), spin=(0, 0, SPIN), name="one")
        velocity = np.array([0.0, SPIN * AWAY, 0.0]) + further
        b = scene.add(KINDS[two](), at=(AWAY, 0, 0), spin=(0, 0, SPIN), velocity=velocity, name="two")
    elif coupling == "contact":
        scene = Scene(gravity=(0, 0, -G))
        a, b = scene.add(KINDS[one](), velocity=(SHUT, 0, -SHUT), spin=(0, 0, SPIN), name="one"), World
    else:
        scene = Scene()
        spin = (0.0, 0.0, 0.0 if coupling in ("slider", "fixed") else SPIN)
        velocity = np.cross(spin, -np.array(AT)) + (further if coupling == "slider" else np.zeros(3))
        a, b = scene.add(KINDS[one](), spin=spin, velocity=velocity, name="one"), World
    scene.add(COUPLINGS[coupling](a, b))
    return scene


def coupled(one: str, two: str, coupling: str, *, until: float = SECOND, dt: float = DT) -> Coupled:
    """Run a pair and watch its momentum and its joint."""
    scene = scene_of(one, two, coupling)
    system = scene.compile()
    before = momentum = system.momentum(system.propagate(0.0, system.x0, system.v0))
    each = momenta(system, system.initial_state())
    failed, linear, joint, pushed, sinks = 0, 0.0, 0.0, 0.0, 0.0

    def watch(state: State, report: Any) -> None:
        nonlocal failed, linear, joint, pushed, sinks, momentum
        failed += not report.is_solved
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        momentum = system.momentum(kin)
        linear = max(linear, float(np.abs(momentum - before)[:3].max()))
        joint = max(joint, float(np.abs(system.violation(kin)).max(initial=0.0)))
        pushed = max(pushed, float(np.abs(momenta(system, state) - each).max()))
        sinks = max(sinks, -AWAY + SIDE / 2 - float(system.centre_of_mass(kin)[2]))

    run(scene, until=until, dt=dt, on_step=watch, record_every=until)
    scale = MASS * SPIN * SIDE
    return Coupled(linear / scale, (momentum - before)[3:], joint / SIDE, failed, pushed / scale, sinks / SIDE)


def rows_of(one: str, two: str, coupling: str, *, until: float = SECOND) -> list[Row]:
    """The rows of one pair."""
    case, name = f"scene/couplings/{coupling}", f"{one} and {two}"
    try:
        found = coupled(one, two, coupling, until=until)
    except SuppleError as error:
        return [bounded(case, f"{name}: refused or failed", 1.0, 0.0, source=str(error))]
    rows = [bounded(case, f"{name}: steps not solved", float(found.failed), 0.0, source="every step is solved")]
    if coupling == "contact":
        rows.append(_contact_row(case, name, found, two))
    elif coupling != "spring":
        across = one != two and two != "world" and (one in BY_ITSELF or two in BY_ITSELF)
        limit = ACROSS if across else INSIDE
        rows.append(bounded(case, f"{name}: joint error", found.joint, limit, source="over the size, after each step"))
    if two != "world":
        rows.append(bounded(case, f"{name}: linear momentum", found.linear, LINEAR, source="action and reaction"))
        rows.append(_angular_row(case, name, (one, two), coupling))
    return rows


def _contact_row(case: str, name: str, found: Coupled, two: str) -> Row:
    """That contact has acted: bodies push each other, and none falls through the floor."""
    if two == "world":
        return bounded(case, f"{name}: sinks", found.sinks, SINKS, source="over the size, after each step")
    missing = max(0.0, PUSHED - found.pushed)
    return bounded(case, f"{name}: push missing", missing, 0.0, source=f"momentum changes by {found.pushed:.2f} m w L")


def _angular_row(case: str, name: str, pair: tuple[str, str], coupling: str) -> Row:
    """Angular momentum: the pairs of `KEEPING` keep it, all else by the order of the steps."""
    if coupling in KEEPING.get(pair, ()):
        change = np.linalg.norm(coupled(*pair, coupling).angular) / (MASS * SPIN * SIDE**2)
        return bounded(case, f"{name}: angular momentum", float(change), ANGULAR, source="over m w L²")
    finer, coarser = (coupled(*pair, coupling, until=SHORT, dt=dt).angular for dt in (DT / 2, DT))
    return bounded(case, f"{name}: angular momentum, order", _ratio(finer, coarser), ORDER, source="1/2 at first order")


def _ratio(finer: Array, coarser: Array) -> float:
    """Of two errors of angular momentum; none where it is kept."""
    size = float(np.linalg.norm(coarser))
    return float(np.linalg.norm(finer)) / size if size > KEPT * MASS * SPIN * SIDE**2 else 0.0


def pairs(coupling: str) -> list[Row]:
    """All pairs with one coupling."""
    return [row for one, two in PAIRS for row in rows_of(one, two, coupling)]


CASES = {f"scene/couplings/{coupling}": partial(pairs, coupling) for coupling in COUPLINGS}
