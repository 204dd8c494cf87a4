"""From the tree to the list: slots for bodies and their points, then forces, masses, filters and joints on them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from supple.bodies.coordinates import Coordinates, Points
from supple.bodies.mappings import WeightedPoints
from supple.bodies.protocols import Choosing
from supple.bodies.traits import is_linear, is_weightless, weighs_by_force
from supple.errors import InputError
from supple.scene.acting.carried import hang_masses, hung_weight
from supple.scene.acting.loads import Load
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.acting.world_forces import world_forces
from supple.scene.joints.measuring import measure_joint
from supple.scene.kinematics import Kinematics
from supple.scene.mapped.points import JoinedPoints, PointSet, WorldPoints
from supple.scene.node import Node
from supple.scene.scene import Acting, Scene
from supple.scene.slots import Slot
from supple.scene.system import BoundForce, BoundJoint, BoundMass, System
from supple.scene.world import default_contact

Array = np.ndarray


class _Slots:
    """Makes a slot for each node and point set once, parents before children."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.all: list[Slot] = []
        self.of: dict[int, Slot] = {}
        self.kept: list[object] = []  # handles stay alive, so that their ids stay theirs

    def body(self, node: Node, coordinates: Coordinates, x_start: int, v_start: int) -> Slot:
        slot = Slot(len(self.all), node.name, coordinates, node=node, x_start=x_start, v_start=v_start)
        return self._keep(node, slot)

    def find(self, handle: object, *, is_loaded: bool = False) -> Slot:
        """is_loaded: a load acts on them, which asks for no others."""
        if id(handle) in self.of:
            return self.of[id(handle)]
        if isinstance(handle, Node):
            now = self.scene.node_now(handle)
            if now is not handle:
                return self.find(now)
            raise InputError("a force acts on a node that is not in the scene", value=handle.name)
        if isinstance(handle, WorldPoints):
            slot = Slot(len(self.all), handle.label, Points(handle.count), fixed=handle.rest)
        elif isinstance(handle, JoinedPoints):
            parents = tuple(self.find(part) for part in handle.parts)
            slot = Slot(len(self.all), handle.label, Points(handle.count), parents=parents)
        elif isinstance(handle, PointSet) and handle.mapping is None:
            return self.find(handle.parent)
        elif isinstance(handle, PointSet):
            source, mapping = _directly(handle) if is_loaded else (handle.parent, handle.mapping)
            parent = self.find(source)
            slot = Slot(len(self.all), handle.label, Points(handle.count), parents=(parent,), mapping=mapping)
        else:
            raise InputError("forces act on nodes and point sets", value=type(handle).__name__)
        return self._keep(handle, slot)

    def _keep(self, handle: object, slot: Slot) -> Slot:
        self.all.append(slot)
        self.of[id(handle)] = slot
        self.kept.append(handle)
        return slot


def _directly(points: PointSet) -> tuple[Any, Any]:
    """What points follow, and how: some of the points of a mapping that can choose them follow what all of these do."""
    chosen, whole = points.mapping, points.parent
    taken = chosen.taken if isinstance(chosen, WeightedPoints) else None
    if taken is not None and isinstance(whole, PointSet) and isinstance(whole.mapping, Choosing):
        return whole.parent, whole.mapping.chosen(taken)
    return whole, chosen


def compile_scene(scene: Scene) -> System:
    """A runnable system of a scene."""
    if not scene.nodes:
        raise InputError("the scene has no bodies", where="scene", fix="Add one with scene.add(body).")
    scene = scene.snapshot()  # what is added later is not in this system
    others, carried = hang_masses(scene)
    slots = _Slots(scene)
    x_parts, v_parts, x_size, v_size = [], [], 0, 0
    masses: list[BoundMass] = []
    forces: list[BoundForce] = []
    loads: list[tuple[Acting, Load]] = []
    for node in scene.nodes:
        placed = node.held_body.place(node.placement)
        slot = slots.body(node, placed.coordinates, x_size, v_size)
        x_parts.append(placed.x.ravel())
        v_parts.append(np.asarray(placed.v).ravel())
        x_size, v_size = x_size + x_parts[-1].size, v_size + v_parts[-1].size
        hung = carried.get(node.name, [])
        label = ", ".join([f"{node.name} mass", *(f"with {acting.label}" for acting in hung)])
        masses += [BoundMass(label, slot, mass) for mass in placed.masses]
        if np.any(scene.gravity):
            heavy: list[Any] = [mass for mass in placed.masses if weighs_by_force(mass)]
            weights = [mass.weight(np.asarray(scene.gravity)) for mass in heavy]
            forces += [BoundForce(f"{node.name} weight", slot, weight) for weight in weights]
            if any(is_weightless(mass) for mass in placed.masses):
                loads += [(acting, hung_weight(acting, np.asarray(scene.gravity))) for acting in hung]
        forces += [BoundForce(f"{node.name} {label}", slot, force) for label, force in placed.forces]
    for m in others:
        slot, width = slots.find(m.on), np.shape(m.force.gravity_field(np.zeros(3)))
        expected = (slot.coordinates.count, slot.coordinates.v_width)
        if width != expected:
            raise InputError(
                "a mass does not fit the points it is on", where=slot.name, value=width, allowed=str(expected)
            )
        masses.append(BoundMass(m.label, slot, m.force))
    forces += [BoundForce(f"{acting.label} weight", slots.find(acting.on), load) for acting, load in loads]
    forces += [BoundForce(label, slots.find(on), force) for label, on, force in world_forces(scene)]
    for f in scene.forces:
        forces.append(BoundForce(f.label, slots.find(f.on, is_loaded=isinstance(f.force, Load)), f.force))
    joints, measured = [], []
    for given in scene.joints:
        joint = given.joint()
        slot = slots.find(joint.points)
        joints.append(BoundJoint(joint.label, slot, joint.rows))
        if joint.extra is not None:
            joints.append(BoundJoint(f"{joint.label}, limits and motor", slot, joint.extra))
        measured.append(measure_joint(scene.joint_name(given), joint, slot))
    x, v = np.concatenate(x_parts), np.concatenate(v_parts)
    conditions = [(slots.find(f.target), f.conditions()) for f in scene.filters]
    _keep_constant_rows(slots.all, x, v)
    system = System(
        name=scene.name,
        gravity=np.asarray(scene.gravity, dtype=float),
        slots=slots.all,
        masses=masses,
        forces=forces,
        joints=joints,
        measured_joints=measured,
        bind_contacts=partial(_bind_contacts, scene, slots, x, v),
        scene=scene,
        filter=SystemFilter.make(conditions, x, v_size // 3),
        x0=x,
        v0=v,
        handles=slots.of,
        kept=slots.kept,
    )
    if scene.contacts or not all(getattr(node.body, "meets_obstacles", False) for node in scene.nodes):
        _ = system.contacts
    return system


def _bind_contacts(scene: Scene, slots: _Slots, x: Array, v: Array) -> list[Any]:
    """The contacts on slots of their own, those of obstacles included."""
    described = scene.contacts or ([default_contact()] if scene.obstacles else [])
    known = len(slots.all)
    contacts = [given.bind_contact(scene, slots.find) for given in described]
    for number, contact in enumerate(contacts):
        contact.prefix = f"contact:{number}/"
    _keep_constant_rows(slots.all, x, v, known)
    return contacts


def _keep_constant_rows(slots: list[Slot], x: Array, v: Array, first: int = 0) -> None:
    """Store J where no frame stands between a slot and its bodies: it never changes. first: of the slots to look at."""
    kin = Kinematics(slots, 0.0, x, v)
    for slot in slots[first:]:
        linear = slot.mapping is None or is_linear(slot.mapping)
        if linear and all(p.constant_rows is not None for p in slot.parents):
            slot.constant_rows = kin.rows(slot)
