"""Changes of a system while it runs: gravity, bodies' materials, forces, joints; kept in the state, so that a run that
goes on from it makes them again.

A change has a name and plain values:

    "gravity"             value (3,) [m/s²]
    a body's name         what the body can change, such as young [Pa] or damping: see `Changeable`
    a force's label       fields of the force, such as stiffness, rest_length of springs, velocity of wind
    a joint's label       motor_speed, motor_torque (of a hinge) or motor_force (of a slider)
    a force or joint      enabled: False takes it out, True brings it back

Positions and velocities stay as they are: a change of gravity or stiffness changes the energy at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.algebra.dense.checks import check_vector
from supple.bodies.capabilities import Changeable
from supple.bodies.traits import weighs_by_force
from supple.errors import InputError, check_number
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.state import State

if TYPE_CHECKING:
    from supple.scene.slots import Slot
    from supple.scene.system import System

Array = np.ndarray
KEPT = "changes"  # in a state's memory: the list as JSON, in bytes
MOTOR = ", limits and motor"  # ends the label of a joint's bounded rows


@dataclass(frozen=True)
class Change:
    """A change at time t [s]. values: plain numbers, lists and booleans by name."""

    t: float
    name: str
    values: dict[str, Any]


class Original(NamedTuple):
    """What a system was when it was compiled: gravity (3,) [m/s²], labels of forces and joints."""

    gravity: Array
    forces: list[str]
    joints: list[str]


class Disabled(NamedTuple):
    """A force or joint that is out of action: the list of the system or of its scene that it was in, and where."""

    items: list[Any]
    place: int
    item: Any


def changes_of(state: State) -> list[Change]:
    """The changes that led to a state, in their order."""
    kept = state.memory.get(KEPT)
    return [] if kept is None else [Change(*row) for row in json.loads(bytes(np.asarray(kept, dtype=np.uint8)))]


def make_change(system: System, state: State, name: str, values: dict[str, Any]) -> None:
    """Change a system now, and note it in the state."""
    plain = {key: _plain(value, name, key) for key, value in values.items()}
    apply_change(system, name, plain)
    done = [*changes_of(state), Change(state.t, name, plain)]
    text = json.dumps([[change.t, change.name, change.values] for change in done])
    state.memory[KEPT] = np.frombuffer(text.encode(), dtype=np.uint8).copy()


def _plain(value: Any, name: str, key: str) -> Any:
    """Numbers, lists and booleans, as they would be read again."""
    if isinstance(value, bool | str):
        return value
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise InputError(
            f"{key} is not a number or a list of finite numbers", where=f"change of '{name}'", value=value,
            fix="Functions of time are given when the scene is made.",
        )  # fmt: skip
    return array.tolist()


def apply_change(system: System, name: str, values: dict[str, Any]) -> None:
    """Change a system; an InputError names what it does not know, and leaves it as it was."""
    if system.original is None:
        labels = [bound.label for bound in system.forces], [bound.label for bound in system.joints]
        system.original = Original(system.gravity.copy(), *labels)
    where, bodies = f"change of '{name}'", {slot.name: slot for slot in system.bodies}
    forces = [k for k, bound in enumerate(system.forces) if bound.label == name]
    joints = [k for k, bound in enumerate(system.joints) if bound.label.removesuffix(MOTOR) == name]
    if not values:
        raise InputError("nothing is changed", where=where, fix="Give values by their names.")
    if name == "gravity":
        _refuse_others(values, ("value",), where)
        _set_gravity(system, check_vector(values["value"], name="gravity", where=where))
    elif "enabled" in values:
        _refuse_others(values, ("enabled",), where)
        _enable(system, name, values["enabled"], where)
    elif name in bodies:
        _change_body(system, bodies[name], values, where)
    elif forces:
        for k, new in [(k, _changed_force(system.forces[k].force, values, where)) for k in forces]:
            given = system.scene.forces if system.scene is not None else []
            given[:] = [replace(a, force=new) if a.force is system.forces[k].force else a for a in given]
            system.forces[k] = system.forces[k]._replace(force=new)
    elif joints:
        _change_motor(system, joints, values, where)
    else:
        known = ["gravity", *bodies, *(f.label for f in system.forces), *(j.label for j in system.joints)]
        raise InputError("nothing of that name can be changed", where=where, value=name, allowed=", ".join(known))
    renew(system)


def renew(system: System) -> None:
    """Forget what was computed of a system before a change; solvers prepare it anew."""
    for name in ("assembly", "joint_bounds", "joined_masses"):
        system.__dict__.pop(name, None)
    system.memo.clear()
    system.revision += 1


def _refuse_others(values: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    if others := [key for key in values if key not in allowed]:
        raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(allowed))


def _set_gravity(system: System, gravity: Array) -> None:
    system.gravity = gravity
    if system.scene is not None:
        system.scene.gravity = gravity
    for slot in system.bodies:
        _weigh(system, slot)
    for contact in system.contacts:
        contact.gravity = float(np.linalg.norm(gravity))


def _weigh(system: System, slot: Slot) -> None:
    """Give a body the weight that its masses have, where that is a force."""
    label = f"{slot.name} weight"
    places = [k for k, bound in enumerate(system.forces) if bound.label == label]
    at = places[0] if places else next((k for k, b in enumerate(system.forces) if b.slot is slot), len(system.forces))
    heavy: list[Any] = [m for _, s, m in system.masses if s is slot and weighs_by_force(m)]
    kept = [bound for bound in system.forces if bound.label != label]
    weights = [system.bound_force(label, slot, mass.weight(system.gravity)) for mass in heavy]
    system.forces[:] = kept[:at] + (weights if system.gravity.any() else []) + kept[at:]


def _enable(system: System, name: str, enabled: Any, where: str) -> None:
    if not isinstance(enabled, bool):
        raise InputError("enabled is not True or False", where=where, value=enabled)
    if enabled:
        if name not in system.disabled:
            raise InputError("nothing of that name was disabled", where=where, allowed=", ".join(system.disabled))
        for items, place, item in system.disabled.pop(name):
            items.insert(place, item)
        return
    lists: list[list[Any]] = [system.forces, system.joints]
    if system.scene is not None:
        lists += [system.scene.forces, system.scene.joints]
    found = [Disabled(items, k, item) for items in lists for k, item in enumerate(items) if _label(item) == name]
    if not found:
        known = [f.label for f in system.forces] + [j.label for j in system.joints]
        raise InputError("no force or joint of that name", where=where, value=name, allowed=", ".join(known))
    system.disabled[name] = found
    for items, place, _ in reversed(found):
        del items[place]


def _label(item: Any) -> str:
    """What a force or joint is called, in a system or in a scene."""
    label: str = item.joint().label if hasattr(item, "joint") else item.label
    return label.removesuffix(MOTOR)


def _change_body(system: System, slot: Slot, values: dict[str, Any], where: str) -> None:
    if not isinstance(slot.body, Changeable):
        raise InputError("this body cannot change while it runs", where=where, value=slot.body.kind)
    body = slot.body.changed(values, where=where)
    placed = body.place(slot.node.placement)
    slot.node = replace(slot.node, body=body)
    system.changed_bodies.append(slot.name)
    slot.__dict__.pop("remembering", None)
    forces = {f"{slot.name} {label}": force for label, force in placed.forces}
    system.forces[:] = [
        bound._replace(force=forces[bound.label]) if bound.slot is slot and bound.label in forces else bound
        for bound in system.forces
    ]
    masses = iter(placed.masses)
    label = f"{slot.name} mass"
    system.masses[:] = [
        b._replace(mass=next(masses)) if b.slot is slot and b.label == label else b for b in system.masses
    ]
    _weigh(system, slot)


def _changed_force(force: Any, values: dict[str, Any], where: str) -> Any:
    names = [f.name for f in fields(force) if f.init] if is_dataclass(force) else []
    _refuse_others(values, tuple(names), where)
    given: dict[str, Any] = {}
    for key, value in values.items():
        old = getattr(force, key)
        if isinstance(old, np.ndarray):
            if np.ndim(value) and np.shape(value) != old.shape:
                raise InputError(f"{key} has another shape", where=where, value=np.shape(value), allowed=str(old.shape))
            given[key] = np.broadcast_to(np.asarray(value, dtype=old.dtype), old.shape).copy()
        else:
            given[key] = value
    make: Callable[..., Any] | None = getattr(type(force), "make", None)
    if make is not None and set(given) <= {"stiffness", "rest_length", "damping"}:
        now = {key: given.get(key, getattr(force, key)) for key in ("stiffness", "rest_length", "damping")}
        return make(force.pairs, now["stiffness"], now["rest_length"], now["damping"], where=where)
    return replace(force, **given)


def _change_motor(system: System, joints: list[int], values: dict[str, Any], where: str) -> None:
    _refuse_others(values, ("motor_speed", "motor_torque", "motor_force"), where)
    driven = [k for k in joints if isinstance(system.joints[k].rows, BoundedRows) and system.joints[k].rows.is_driven]
    if not driven:
        raise InputError("this joint has no motor", where=where, fix="Give motor_speed when the joint is made.")
    for key, value in values.items():
        check_number(value, name=key, where=where, above=None if key == "motor_speed" else 0.0)
    for k in driven:
        rows: Any = system.joints[k].rows
        largest = values.get("motor_torque", values.get("motor_force", rows.largest))
        new = BoundedRows(rows.coordinate, rows.limits, values.get("motor_speed", rows.speed), largest)
        system.joints[k] = system.joints[k]._replace(rows=new)
    if system.scene is not None:
        name = _label(system.joints[driven[0]])
        given = system.scene.joints
        given[:] = [replace(joint, **values) if _label(joint) == name else joint for joint in given]
