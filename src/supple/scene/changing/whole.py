"""The scene of a system that changes: all that is in it, what of it is disabled, and how the system follows it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.bodies.capabilities import Changeable
from supple.errors import InputError
from supple.scene.joints.joints import Jointed
from supple.scene.scene import Acting, Scene
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.scene.system import System

Array = np.ndarray
TAKEN = (
    "gravity", "slots", "masses", "forces", "joints", "measured_joints", "filter", "bind_contacts", "scene", "handles",
    "kept", "x0", "v0",
)  # fmt: skip
"""What a system takes over from the one that is compiled in its place."""
FOUND = ("contacts", "bodies", "joined_bodies", "joined_masses", "assembly", "joint_bounds")
"""What a system has computed of these."""


class Original(NamedTuple):
    """What a system was when it was compiled: gravity (3,) [m/s²], labels of forces and joints, name, kind and count
    of each body, number of filters, positions and velocities at the start."""

    gravity: Array
    forces: list[str]
    joints: list[str]
    bodies: list[list[str | int]]
    filters: int
    x0: Array
    v0: Array

    @classmethod
    def of(cls, system: System) -> Original:
        """Of a system as it is now."""
        return cls(
            system.gravity.copy(),
            [bound.label for bound in system.forces],
            [bound.label for bound in system.joints],
            [[slot.name, slot.body.kind, slot.coordinates.count] for slot in system.bodies],
            len(system.filter),
            system.x0,
            system.v0,
        )


class Share(NamedTuple):
    """Which body of the start a body was a part of, and the numbers (k,) of what is seen of it there."""

    body: str
    shown: Array


@dataclass(frozen=True, eq=False)
class Whole:
    """scene: with what is disabled; disabled: ids of forces and joints of it that are out of action; shares: of bodies
    that broke, by the names of what they are now."""

    original: Original
    scene: Scene
    disabled: frozenset[int] = field(default_factory=frozenset)
    shares: dict[str, Share] = field(default_factory=dict)

    @classmethod
    def of(cls, system: System) -> Whole:
        """Of a system as it is now."""
        if system.whole is not None:
            return system.whole
        return cls(Original.of(system), system.scene.snapshot())

    def copy(self) -> Whole:
        """One whose scene can be changed without this one's."""
        return replace(self, scene=self.scene.snapshot())

    @property
    def acting(self) -> Scene:
        """The scene without what is disabled."""
        scene = self.scene.snapshot()
        scene.forces = [acting for acting in scene.forces if id(acting) not in self.disabled]
        scene.joints = [joint for joint in scene.joints if id(joint) not in self.disabled]
        return scene

    def joints_called(self, name: str) -> list[Jointed]:
        """The joints of a name, or of a label such as "hinge door - world"."""
        known = self.scene.joints
        return [j for j in known if self.scene.joint_name(j) == name] or [j for j in known if j.joint().label == name]

    def called(self, name: str, where: str) -> list[Acting | Jointed]:
        """Forces and joints of a name; an InputError where there are none."""
        found: list[Acting | Jointed] = [acting for acting in self.scene.forces if acting.label == name]
        found += self.joints_called(name)
        if not found:
            known = [f.label for f in self.scene.forces] + [self.scene.joint_name(j) for j in self.scene.joints]
            raise InputError(
                "no force or joint of that name", where=where, value=name, allowed=", ".join(known) or "none"
            )
        return found

    def enabling(self, name: str, enabled: object, where: str) -> Whole:
        """With forces or joints of a name in action or out of it."""
        if not isinstance(enabled, bool):
            raise InputError("enabled is not True or False", where=where, value=enabled)
        found = {id(thing) for thing in self.called(name, where)}
        if enabled and not found & self.disabled:
            names = [a.label for a in self.scene.forces if id(a) in self.disabled]
            names += [self.scene.joint_name(j) for j in self.scene.joints if id(j) in self.disabled]
            raise InputError("nothing of that name was disabled", where=where, allowed=", ".join(names) or "none")
        return replace(self, disabled=self.disabled - found if enabled else self.disabled | found)

    def without(self, name: str, where: str) -> Whole:
        """Without the forces or joints of a name."""
        gone, out = {id(thing) for thing in self.called(name, where)}, self.copy()
        out.scene.forces = [acting for acting in out.scene.forces if id(acting) not in gone]
        out.scene.joints = [joint for joint in out.scene.joints if id(joint) not in gone]
        return replace(out, disabled=self.disabled - gone)

    def with_force(self, old: Acting, force: object) -> Whole:
        """With other values of a force."""
        out, new = self.copy(), replace(old, force=force)
        out.scene.forces = [new if acting is old else acting for acting in out.scene.forces]
        return out._instead(old, new)

    def with_joint(self, old: Jointed, new: Jointed) -> Whole:
        """With another joint in the place of one, of the same name."""
        out = self.copy()
        out.scene.joint_names[id(new)] = out.scene.joint_name(old)
        out.scene.joints = [new if joint is old else joint for joint in out.scene.joints]
        return out._instead(old, new)

    def _instead(self, old: object, new: object) -> Whole:
        is_out = id(old) in self.disabled
        return replace(self, disabled=self.disabled - {id(old)} | ({id(new)} if is_out else set()))

    def with_body(self, slot: Slot, values: dict[str, Any], where: str) -> Whole:
        """With other values of a body."""
        if not isinstance(slot.body, Changeable):
            raise InputError("this body cannot change while it runs", where=where, value=slot.body.kind)
        out = self.copy()
        out.scene.renew(slot.node, replace(slot.node, body=slot.body.changed(values, where=where)))
        return out

    def with_wind(self, name: str, values: dict[str, Any], where: str) -> Whole:
        """With other values of a wind that blows on all bodies."""
        out = self.copy()
        out.scene.winds[name] = changed_fields(out.scene.winds[name], values, where)
        return out


def rebuild(system: System, whole: Whole) -> None:
    """Compile the scene as it is now into the system; positions and velocities keep their places."""
    from supple.scene.compile import compile_scene

    new = compile_scene(whole.acting)
    for one, two in zip(system.__dict__.get("contacts", ()), new.__dict__.get("contacts", ())):
        two.has_warned = one.has_warned  # what was said of a contact is not said again after each change
    for name in TAKEN:
        setattr(system, name, getattr(new, name))
    for name in FOUND:
        system.__dict__.pop(name, None)
    if "contacts" in new.__dict__:
        system.__dict__["contacts"] = new.contacts
    follow(system, whole)


def follow(system: System, whole: Whole) -> None:
    """Forget what was computed of a system before a change; solvers prepare it anew."""
    for name in ("assembly", "joint_bounds", "joined_masses"):
        system.__dict__.pop(name, None)
    system.whole = whole
    system.memo.clear()
    system.revision += 1


def refuse_others(values: dict[str, Any], allowed: tuple[str, ...], where: str) -> None:
    """Refuse values that cannot be changed."""
    if others := [key for key in values if key not in allowed]:
        raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(allowed))


def changed_fields(thing: Any, values: dict[str, Any], where: str) -> Any:
    """A dataclass with other values of its fields; arrays keep their shapes."""
    names = [f.name for f in fields(thing) if f.init] if is_dataclass(thing) else []
    refuse_others(values, tuple(names), where)
    given: dict[str, Any] = {}
    for key, value in values.items():
        old = getattr(thing, key)
        if isinstance(old, np.ndarray):
            numbers = check_array(value, name=key, where=where)
            if numbers.ndim and numbers.shape != old.shape:
                raise InputError(f"{key} has another shape", where=where, value=numbers.shape, allowed=str(old.shape))
            given[key] = np.broadcast_to(numbers.astype(old.dtype), old.shape).copy()
        else:
            given[key] = value
    return replace(thing, **given)
