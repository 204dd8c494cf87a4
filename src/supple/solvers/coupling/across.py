"""Which laws of a scene act across its parts, and which part each body is in.

    part       implicit bodies together, trees, lattices
    across     a force on points of bodies of several parts, or of several trees; a joint of a tree with anything

Springs on a lattice, and joints that bind it to other lattices, to the world and to other bodies, are met inside its
sweep, see `lattice_joints`. A lattice that other joints hold, that a person's own force binds to bodies of other parts,
or that carries further masses, is stepped with the implicit bodies, as a force like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.bodies.body_protocol import Method
from supple.bodies.traits import is_load
from supple.errors import InputError
from supple.interaction.springs import SpringForce
from supple.scene.kinematics import hanging_on
from supple.scene.parts import can_be_split, nodes_of
from supple.scene.slots import Slot
from supple.scene.system import BoundForce, BoundJoint, System
from supple.solvers.coupling.lattice_joints import swept_joints
from supple.solvers.coupling.trees.springs import AMONG_TREES, world_springs

Array = np.ndarray
IMPLICIT, TREE, LATTICE, FIXED = 0, 1, 2, 3
PART_OF_METHOD = {Method.IMPLICIT: IMPLICIT, Method.ELIMINATION: TREE, Method.SWEEP: LATTICE}


@dataclass(frozen=True, eq=False)
class Across:
    """forces, joints: those that act across parts. part: of each body, by name. ids: of the scene's own objects that
    the scenes of the parts leave out. swept: joints that sweeps hold, as they were given, met: those of them with
    bodies that are not swept."""

    forces: list[BoundForce]
    joints: list[BoundJoint]
    part: dict[str, int]
    ids: frozenset[int]
    swept: list[Any]
    met: list[BoundJoint]

    @classmethod
    def of(cls, system: System) -> Across:
        """Sort the forces and joints of a system."""
        part, held = _parts(system)
        coupled = _coupled_trees(system, part)
        forces, joints, ids = [], [], set()
        for given, acting in _given_forces(system):
            if is_load(acting.force) and can_be_split(given):
                continue
            if _is_across(acting, part, coupled):
                forces.append(acting)
                ids.add(id(given))
        swept, met = [], []
        for given, own in _given_joints(system):
            is_spanning = spans([slot.name for slot in bodies_of(own[0].slot)], part)
            if id(given) in held:
                swept.append(given)
                met += own if is_spanning else []
            elif is_spanning or _has_tree(own[0].slot, part):
                joints += own
            if is_spanning or _has_tree(own[0].slot, part):
                ids.add(id(given))
        return cls(forces, joints, part, frozenset(ids), swept, met)

    @cached_property
    def hanging(self) -> frozenset[int]:
        """Indices of the slots of coupled points, and of all that they hang on."""
        return hanging_on([*(f.slot for f in self.forces), *(j.slot for j in [*self.joints, *self.met])])

    @cached_property
    def met_sides(self) -> list[Slot]:
        """The sides of joints with lattices that are not lattices', nor the world's, in the order of the joints."""
        sides = [side for joint in self.met for side in joint.slot.parents]
        return [s for s in sides if any(self.part[body.name] != LATTICE for body in bodies_of(s))]

    def spring_theta(self, slot: Slot) -> float:
        """Where in a step springs between points are taken: at its end, but where all points are of trees."""
        return AMONG_TREES if self.is_among_trees(slot) else 1.0

    def is_among_trees(self, slot: Slot) -> bool:
        """Whether points are of trees and of the world alone."""
        return all(self.part[body.name] == TREE for body in bodies_of(slot))

    def all_multipliers(self, system: System, inside: Array, across: Array, swept: Array) -> Array:
        """The multipliers of all joints of a system in its order, of those inside the implicit part, those across
        parts, and those that sweeps hold."""
        ids, parts, starts = {id(rows) for _, _, rows in self.joints}, (inside, across, swept), [0, 0, 0]
        found = [np.zeros(0)]
        for _, slot, rows in system.joints:
            k = int(id(rows) in ids)
            if any(self.part[body.name] == LATTICE for body in bodies_of(slot)):
                k = 2
            found.append(parts[k][starts[k] : starts[k] + rows.count])
            starts[k] += rows.count
        return np.concatenate(found)

    def check_held(self, system: System) -> None:
        """Refuse lattices that joints take out of the sweep, where only the sweep knows what becomes of them."""
        remembers = {slot.name for _, slot, force in system.forces if getattr(force, "remembers", False)}
        for slot in system.bodies:
            if slot.body.method is not Method.SWEEP or self.part[slot.name] != IMPLICIT:
                continue
            where = f"Partitioned, body '{slot.name}'"
            if slot.name in remembers:
                raise InputError(
                    "links that yield, break or follow commands need the lattice's own sweep, which lacks these joints",
                    where=where,
                    fix="Hold it by Springs, or by joints without limits and motors.",
                )


def spans(names: list[str], part: dict[str, int]) -> bool:
    """Whether bodies are in several parts."""
    return len({part[name] for name in names}) > 1


def bodies_of(slot: Slot) -> list[Slot]:
    """The bodies that a slot's points hang on."""
    if slot.is_body:
        return [slot]
    return list(dict.fromkeys(body for parent in slot.parents for body in bodies_of(parent)))


def _given_forces(system: System) -> Iterator[tuple[Any, BoundForce]]:
    """The forces that were added to the scene; those that bodies bring come before them."""
    given = system.scene.forces
    return zip(given, system.forces[len(system.forces) - len(given) :])


def _given_joints(system: System) -> Iterator[tuple[Any, list[BoundJoint]]]:
    start = 0
    for given in system.scene.joints:
        count = 1 if given.joint().extra is None else 2
        yield given, system.joints[start : start + count]
        start += count


def _parts(system: System) -> tuple[dict[str, int], frozenset[int]]:
    """The part of each body, by name, and ids of the joints that sweeps hold."""
    part = {slot.name: PART_OF_METHOD[slot.body.method] for slot in system.bodies}
    held: set[str] = set()
    for _, (_, slot, force) in _given_forces(system):
        names = [body.name for body in bodies_of(slot)]
        if not isinstance(force, SpringForce) and not is_load(force) and spans(names, part):
            held |= set(names)
    swept = swept_joints(system.scene, held)
    others = [given for given in system.scene.joints if id(given) not in swept]
    held |= {node.name for given in others for node in nodes_of(given.joint().points)}
    held |= {node.name for mass in system.scene.masses for node in nodes_of(mass.on)}
    return part | {name: IMPLICIT for name in held if part[name] == LATTICE}, swept


def _has_tree(slot: Slot, part: dict[str, int]) -> bool:
    return any(part[body.name] == TREE for body in bodies_of(slot))


def _coupled_trees(system: System, part: dict[str, int]) -> set[str]:
    """Names of trees that a spring or a joint binds to another body, or a joint to the world."""
    found: set[str] = set()
    for _, slot, _ in system.joints:
        found |= {body.name for body in bodies_of(slot)}
    for _, (_, slot, force) in _given_forces(system):
        if is_load(force):
            continue
        names = {body.name for body in bodies_of(slot)}
        found |= names if len(names) > 1 else set()
    return {name for name in found if part[name] == TREE}


def _is_across(acting: BoundForce, part: dict[str, int], coupled: set[str]) -> bool:
    names = [body.name for body in bodies_of(acting.slot)]
    if is_load(acting.force):
        if spans(names, part):
            raise InputError(
                "a load acts on bodies of several parts",
                where=f"Partitioned, '{acting.label}'",
                value=", ".join(names),
                fix="Let it act on joined points, supple.join(a.points(...), b.points(...)), or once on each body.",
            )
        return False
    if spans(names, part):
        return True
    if not _has_tree(acting.slot, part) or acting.slot.mapping is not None or len(acting.slot.parents) < 2:
        return False
    return len(names) > 1 or bool(coupled & set(names)) or world_springs(acting) is None
