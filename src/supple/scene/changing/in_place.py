"""Changes that a system takes in place: gravity, values of forces, ends of springs, motors of joints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.bodies.traits import is_weightless, weighs_by_force
from supple.errors import InputError, check_number
from supple.scene.changing.whole import Whole, changed_fields, follow, rebuild, refuse_others
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.joints.joints import Jointed
from supple.scene.mapped.points import WorldPoints
from supple.scene.scene import Acting

if TYPE_CHECKING:
    from supple.scene.slots import Slot
    from supple.scene.system import System

Array = np.ndarray
MOTOR = ", limits and motor"  # ends the label of a joint's bounded rows
END = "end"
SPRINGS = ("stiffness", "rest_length", "damping")


def set_gravity(system: System, whole: Whole, gravity: Array) -> None:
    """Give all bodies their weight under a gravity (3,) [m/s²], and contacts the stiffness that carries it."""
    out, contacts = whole.copy(), system.__dict__.get("contacts", ())
    out.scene.gravity = gravity
    if any(contact.contact.stiffness is None for contact in contacts):
        rebuild(system, out)
        return
    system.gravity = system.scene.gravity = gravity
    for slot in system.bodies:
        _weigh(system, slot)
    for contact in contacts:
        contact.gravity = float(np.linalg.norm(gravity))
    if system.scene.masses and any(is_weightless(mass) for _, _, mass in system.masses):
        rebuild(system, out)  # what hangs on such bodies weighs by a load
    follow(system, out)


def _weigh(system: System, slot: Slot) -> None:
    """Give a body the weight that its masses have, where that is a force."""
    label = f"{slot.name} weight"
    places = [k for k, bound in enumerate(system.forces) if bound.label == label]
    at = places[0] if places else next((k for k, b in enumerate(system.forces) if b.slot is slot), len(system.forces))
    heavy: list[Any] = [m for _, s, m in system.masses if s is slot and weighs_by_force(m)]
    kept = [bound for bound in system.forces if bound.label != label]
    weights = [system.bound_force(label, slot, mass.weight(system.gravity)) for mass in heavy]
    system.forces[:] = kept[:at] + (weights if system.gravity.any() else []) + kept[at:]


def change_force(system: System, whole: Whole, forces: list[Acting], values: dict[str, Any], where: str) -> None:
    """Give forces of the scene other values."""
    changed = [(acting, _changed_force(acting.force, values, where)) for acting in forces]
    for acting, new in changed:
        whole, old = whole.with_force(acting, new), acting.force
        given = system.scene.forces
        given[:] = [replace(a, force=new) if a.force is old else a for a in given]
        system.forces[:] = [b._replace(force=new) if b.force is old else b for b in system.forces]
    follow(system, whole)


def _changed_force(force: Any, values: dict[str, Any], where: str) -> Any:
    make = getattr(type(force), "make", None)
    if make is None or not set(values) <= set(SPRINGS):
        return changed_fields(force, values, where)
    for key, value in values.items():
        shape = getattr(force, key).shape
        if np.ndim(value) and np.shape(value) != shape:
            raise InputError(f"{key} has another shape", where=where, value=np.shape(value), allowed=str(shape))
    now = {key: values.get(key, getattr(force, key)) for key in SPRINGS}
    return make(force.pairs, now["stiffness"], now["rest_length"], now["damping"], where=where)


def move_end(system: System, whole: Whole, forces: list[Acting], given: ArrayLike, where: str) -> None:
    """Move the points of the world (n, 3) [m] that springs were added to. Solvers need not prepare anew: they look
    where these points are in each step."""
    ends = [part for acting in forces for part in getattr(acting.on, "parts", ()) if isinstance(part, WorldPoints)]
    if len(ends) != 1 or not ends[0].moves:
        raise InputError(
            "these have no end in the world that moves", where=where, fix="Add springs to World.points while it runs.",
        )  # fmt: skip
    to = check_array(given, name=END, where=where)
    if to.shape != ends[0].rest.shape or not np.isfinite(to).all():
        raise InputError(
            "the end is not finite numbers, three a point", where=where, value=given, allowed=f"{ends[0].rest.shape}"
        )
    ends[0].rest[:] = to


def change_motor(system: System, whole: Whole, joints: list[Jointed], values: dict[str, Any], where: str) -> None:
    """Give the motors of joints another speed or largest torque."""
    changed = [(joint, _changed_motor(joint, values, where)) for joint in joints]
    for joint, new in changed:
        whole = whole.with_joint(joint, new)
        if joint not in system.scene.joints:
            continue  # it is disabled
        k, rows = _motor_rows(system, joint), new.joint().extra
        system.joints[k] = system.joints[k]._replace(rows=rows)
        system.scene.joint_names[id(new)] = system.scene.joint_name(joint)
        system.scene.joints[:] = [new if given is joint else given for given in system.scene.joints]
    follow(system, whole)


def _changed_motor(joint: Any, values: dict[str, Any], where: str) -> Any:
    allowed = tuple(name for name in ("motor_speed", "motor_torque", "motor_force") if hasattr(joint, name))
    rows = joint.joint().extra
    if rows is None or not rows.is_driven:
        raise InputError("this joint has no motor", where=where, fix="Give motor_speed when the joint is made.")
    refuse_others(values, allowed, where)
    for key, value in values.items():
        check_number(value, name=key, where=where, above=None if key == "motor_speed" else 0.0)
    new = replace(joint, **values)
    new.joint()
    return new


def _motor_rows(system: System, joint: Jointed) -> int:
    """The number of the rows of a joint's motor among those of the system."""
    k = -1
    for given in system.scene.joints:
        k += 1
        is_bounded = k + 1 < len(system.joints) and system.joints[k + 1].label.endswith(MOTOR)
        k += is_bounded
        if given is joint:
            assert isinstance(system.joints[k].rows, BoundedRows)
            return k
    raise AssertionError("the joint is not in the system")
