"""Changes of a system while it runs: gravity, bodies' materials, forces, joints, contacts; kept in the state, so that a
run that goes on from it makes them again.

A change has a name and plain values:

    "gravity"             value (3,) [m/s²]
    a body's name         what the body can change, such as young [Pa] or damping: see `Changeable`; of a tree, the kind
                          or the modes of a domain: see `Recasting`
    a force's label       fields of the force, such as stiffness, rest_length of springs, velocity of wind; end (n, 3)
                          [m]: where the points of the world are now that springs were added to
    a joint's name        motor_speed, motor_torque (of a hinge) or motor_force (of a slider)
    a contact's name      friction, restitution and other numbers of `Contact`; pair: two names, with enabled
    an obstacle's name    friction, static_friction, restitution
    a force, joint or     enabled: False takes it out, True brings it back
    contact

`system.add` and `system.remove` couple bodies and let them go, see `changing.couplings`; `system.break_off` breaks one
in two, see `changing.layout`.

Positions and velocities stay as they are: a change of gravity or stiffness changes the energy at once, and momentum
changes with masses alone. Values of forces and motors change in place. Anything else is compiled anew from the scene
as it then is, so that a changed system is the one that would have been made so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.algebra.dense.checks import check_vector
from supple.bodies.traits import has_energy
from supple.errors import NOT_NUMBERS, InputError, check_instance
from supple.scene.changing.contacts import change_contact, contact_names
from supple.scene.changing.couplings import ADDED, REMOVED, SIDES, add_table, describe, keep_positions, kept_positions
from supple.scene.changing.in_place import END, change_force, change_motor, move_end, set_gravity
from supple.scene.changing.layout import BROKEN, Relaid, break_body, lay_out, recast_body
from supple.scene.changing.obstacles import change_obstacle
from supple.scene.changing.whole import Whole, rebuild, refuse_others
from supple.scene.kinematics import hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State, check_state

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray
KEPT = "changes"  # in a state's memory: a line of JSON each, [time, name, values], in bytes
TIMES = ("density_factor", "stiffness_factor")  # multiply what there is: a later one does not replace an earlier one
WHICH = ("number", "region", "control", "pair")  # values that say what of a thing changes


@dataclass(frozen=True)
class Change:
    """A change at time t [s]. values: plain numbers, lists, texts, booleans and tables by name."""

    t: float
    name: str
    values: dict[str, Any]


def change_lines(state: State) -> list[bytes]:
    """The changes that led to a state, as they are kept: a line each."""
    kept = state.memory.get(KEPT)
    return [] if kept is None else bytes(np.asarray(kept, dtype=np.uint8)).splitlines(keepends=True)


def changes_of(state: State) -> list[Change]:
    """The changes that led to a state, in their order."""
    return [Change(*json.loads(line)) for line in change_lines(state)]


def make_change(system: System, state: State, name: str, values: dict[str, Any]) -> None:
    """Change a system now, and note it in the state."""
    check_state(state, "System.change")
    check_instance(name, str, "a name", where="System.change, name")
    plain = {key: _plain(value, name, key) for key, value in values.items()}
    if made_by := {ADDED, REMOVED, BROKEN} & set(plain):
        raise InputError(
            "this cannot be changed", where=f"change of '{name}'", value=made_by.pop(),
            fix="Use system.add, system.remove and system.break_off.",
        )  # fmt: skip
    _make(system, state, name, plain)


def add_coupling(system: System, state: State, thing: object, name: str | None) -> str:
    """Add a spring or joint now, and note it in the state; returns its name."""
    check_state(state, "System.add")
    if name is not None:
        check_instance(name, str, "a name", where="System.add, name")
    name, table, positions = describe(system, state, thing, name)
    number = _count(state)
    keep_positions(state, number, positions)
    try:
        _make(system, state, name, {ADDED: table})
    except InputError:
        keep_positions(state, number, {})
        raise
    return name


def break_off(system: System, state: State, body: str, place: int | str, name: str | None) -> str:
    """Break a body in two now, and note it in the state; returns the name of the part that broke off."""
    where = f"break_off of '{body}'"
    check_state(state, where)
    for given in (body, body if name is None else name):
        check_instance(given, str, "a name", where=where)
    if not isinstance(place, int | str | np.integer) or isinstance(place, bool):
        raise InputError("a domain is given by its number or name", where=where, value=place)
    name = name or f"{body}-{place}"
    _make(system, state, body, {BROKEN: place if isinstance(place, str) else int(place), "name": name})
    return name


def remove_coupling(system: System, state: State, name: str) -> None:
    """Take a force or joint out for good, and note it in the state."""
    check_state(state, "System.remove")
    check_instance(name, str, "a name", where="System.remove, name")
    _make(system, state, name, {REMOVED: True})


def repeat_change(system: System, state: State, name: str, values: dict[str, Any]) -> None:
    """Make a change now as a state has kept it once, couplings and breaks included, and note it in this one."""
    check_state(state, "repeat_change")
    if ADDED not in values:
        _make(system, state, name, {key: _plain(value, name, key) for key, value in values.items()})
        return
    sides = [values[ADDED][side] for side in SIDES]
    bodies = [side["body"] for side in sides if "body" in side]
    number = _count(state)
    keep_positions(state, number, {known: system.positions(state, known).copy() for known in bodies})
    try:
        _make(system, state, name, values)
    except InputError:
        keep_positions(state, number, {})
        raise


def replay(system: System, state: State) -> None:
    """Make the changes that led to a state of this system, which has seen none yet; those that a later one replaces are
    left out, as the values of a control that changed many times."""
    check_state(state, "System.replay")
    done = changes_of(state)
    replaced = _replaced(done)
    for number, change in enumerate(done):
        if number in replaced:
            continue
        apply_change(system, change.name, change.values, kept_positions(state, number))
    if done and (state.x.size, state.v.size) != (system.x_size, system.v_size):
        raise InputError(
            "the state does not fit the scene with its changes", where="state", value=(state.x.size, state.v.size),
            allowed=f"{system.x_size} positions, {system.v_size} velocities",
        )  # fmt: skip


def _make(system: System, state: State, name: str, values: dict[str, Any]) -> None:
    before = _stored(system, state, name) if END in values else 0.0
    apply_change(system, name, values, kept_positions(state, _count(state)), state)
    if END in values:
        system.given += max(0.0, _stored(system, state, name) - before)
    line = np.frombuffer(json.dumps([state.t, name, values]).encode() + b"\n", dtype=np.uint8)
    kept = state.memory.get(KEPT)
    state.memory[KEPT] = line.copy() if kept is None else np.concatenate([kept, line])
    multipliers = state.memory.get("multipliers")
    if multipliers is not None and multipliers.size != system.joint_row_count:
        del state.memory["multipliers"]  # joints come and go: who pulled how much is found by the next step
    if values.get("enabled") is True and name in contact_names(Whole.of(system).scene):
        for contact in system.contacts:
            contact.look_anew(state.memory)


def _stored(system: System, state: State, name: str) -> float:
    """Energy of the springs of a name [J]."""
    springs = [(slot, force) for label, slot, force in system.forces if label == name and has_energy(force)]
    only = hanging_on([slot for slot, _ in springs])
    kin = system.propagate(state.t, state.x, state.v, state.memory, only=only)
    return float(sum(force.energy(kin.local(slot)) for slot, force in springs))


def _count(state: State) -> int:
    """How many changes led to a state."""
    kept = state.memory.get(KEPT)
    return 0 if kept is None else int(np.count_nonzero(kept == ord("\n")))


def _replaced(done: list[Change]) -> set[int]:
    """Numbers of changes whose values later ones replace, with nothing but values changed in between."""
    found: set[int] = set()
    last: dict[tuple[Any, ...], int] = {}
    for number, change in enumerate(done):
        if set(change.values) & {ADDED, REMOVED, BROKEN, "enabled", "domain"}:
            last.clear()
            continue
        if set(change.values) & set(TIMES):
            continue
        which = [change.values.get(key) for key in WHICH]
        key = (change.name, json.dumps(which), *sorted(change.values))
        if key in last:
            found.add(last[key])
        last[key] = number
    return found


def _plain(value: object, name: str, key: str) -> Any:
    """Numbers, lists and booleans, as they would be read again; texts, and lists of them."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(part, str) for part in value):
        return list(value)
    try:
        array = np.asarray(value, dtype=float)
    except NOT_NUMBERS:
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise InputError(
            f"{key} is not a number or a list of finite numbers", where=f"change of '{name}'", value=value,
            fix="Functions of time are given when the scene is made.",
        )  # fmt: skip
    return array.tolist()


def apply_change(
    system: System, name: str, values: dict[str, Any], positions: dict[str, Array], state: State | None = None
) -> None:
    """Change a system; an InputError names what it does not know, and leaves it as it was. positions: of the bodies
    that a joint takes hold of, by name, where one is added. state: which gets other coordinates where the system does;
    None: it has them already."""
    where, whole = f"change of '{name}'", Whole.of(system)
    scene = whole.scene
    bodies = {slot.name: slot for slot in system.bodies}
    forces = [acting for acting in scene.forces if acting.label == name]
    joints = whole.joints_called(name)
    check_instance(name, str, "a name", where=where)
    if not values:
        raise InputError("nothing is changed", where=where, fix="Give values by their names.")
    if ADDED in values:
        rebuild(system, add_table(whole, name, values[ADDED], positions, where))
    elif REMOVED in values:
        rebuild(system, whole.without(name, where))
    elif name == "gravity":
        refuse_others(values, ("value",), where)
        gravity = check_vector(values["value"], name="gravity", where=where)
        set_gravity(system, whole, gravity)
    elif "enabled" in values and (forces or joints):
        refuse_others(values, ("enabled",), where)
        rebuild(system, whole.enabling(name, values["enabled"], where))
    elif name in bodies:
        relaid = _relaid(whole, bodies[name], values, state, where)
        rebuild(system, whole.with_body(bodies[name], values, where) if relaid is None else relaid.whole)
        if relaid is not None and state is not None:
            lay_out(system, list(bodies.values()), state, relaid.coordinates)
    elif forces and END in values:
        refuse_others(values, (END,), where)
        move_end(system, whole, forces, values[END], where)
    elif forces:
        change_force(system, whole, forces, values, where)
    elif joints:
        change_motor(system, whole, joints, values, where)
    elif name in scene.winds:
        rebuild(system, whole.with_wind(name, values, where))
    elif name in contact_names(scene):
        rebuild(system, change_contact(whole, name, values, where))
    elif name in scene.obstacles:
        rebuild(system, change_obstacle(whole, name, values, where))
    else:
        known = ["gravity", *bodies, *(f.label for f in scene.forces), *map(scene.joint_name, scene.joints)]
        known += [*scene.winds, *contact_names(scene), *scene.obstacles]
        raise InputError("nothing of that name can be changed", where=where, value=name, allowed=", ".join(known))


def _relaid(whole: Whole, slot: Slot, values: dict[str, Any], state: State | None, where: str) -> Relaid | None:
    """What a change makes of a body that has other coordinates then; None where it keeps its own."""
    placed = slot.body.place(slot.node.placement) if state is None else None
    x = slot.view_x(state.x) if state is not None else placed.x  # type: ignore[union-attr]
    v = slot.view_v(state.v) if state is not None else placed.v  # type: ignore[union-attr]
    if BROKEN in values:
        return break_body(whole, slot, x, v, values[BROKEN], values["name"], where)
    return recast_body(whole, slot, x, v, values, where)
