"""System: a compiled scene. Flat vectors, and the elementary operations a solver is written in [Faure07].

    propagate      x, v of the bodies -> x, v of every slot
    forces         f of every force on its slot, pulled back to the bodies:  f = sum J^T f_c
    linearize      -> Linearization: products and blocks of  m M + b B + k K,  K = df/dx, B = df/dv
    impulse        change of momentum between two states;  bias: the velocity terms of M dv/dt = f + bias
    filter         projections of velocities and positions
    vectors        flat numpy arrays; positions move by `retract`

Nothing here walks a tree: the calls are lists in order, which `print(system)` shows and `timings` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.bodies.protocols import Force, is_changing, is_kinetic, is_tumbling
from supple.bodies.traits import has_energy, is_load, is_weightless, weighs_by_force
from supple.errors import InputError
from supple.interaction.protocol import PointConditions
from supple.scene.acting.system_filter import SystemFilter
from supple.scene.assembly import Assembly
from supple.scene.changes import add_coupling, break_off, make_change, remove_coupling, replay
from supple.scene.changing.present import PresentNode
from supple.scene.changing.whole import Whole
from supple.scene.joined_masses import join_masses
from supple.scene.joints.readings import JointReading, MeasuredJoint
from supple.scene.kinematics import Kinematics, hanging_on
from supple.scene.linearization import Linearization, slot_jacobian
from supple.scene.mapped.points import Points
from supple.scene.slot_values import SlotArrays, SlotValues
from supple.scene.slots import Slot, joined_slots
from supple.scene.state import State, check_state
from supple.scene.timing import Timings
from supple.scene.transport import transport

Array = np.ndarray
SMALL = 300  # unknowns up to which dense matrices are faster than sparse ones
MANY_PARTS = 16  # parts of a system that are kept


class BoundForce(NamedTuple):
    """A force on its slot."""

    label: str
    slot: Slot
    force: Force


class BoundMass(NamedTuple):
    """A mass on its slot: a `Mass`, or a `ChangingMass` on a body's."""

    label: str
    slot: Slot
    mass: Any


class BoundJoint(NamedTuple):
    """A joint on the slot of its points."""

    label: str
    slot: Slot
    rows: PointConditions


class Matrices(NamedTuple):
    """M [kg], K = df/dx [N/m] and B = df/dv [N s/m] as scipy matrices (v_size, v_size); rows and columns of frames are
    (force, torque) and (move, turn in body axes)."""

    M: sparse.csr_array
    K: sparse.csr_array
    B: sparse.csr_array


def _is_in(slot: Slot, keep: Array) -> bool:
    """Whether points hang on a body that has 3-blocks of velocity in a mask."""
    if slot.is_body:
        return bool(keep[slot.block_start : slot.block_start + slot.block_count].any())
    return any(_is_in(parent, keep) for parent in slot.parents)


@dataclass(eq=False)
class System:
    """See the module's docstring. Made by `Scene.compile`."""

    name: str
    gravity: Array
    slots: list[Slot]
    masses: list[BoundMass]
    forces: list[BoundForce]
    joints: list[BoundJoint]
    measured_joints: list[MeasuredJoint]
    filter: SystemFilter
    x0: Array
    v0: Array
    bind_contacts: Callable[[], list[Any]] = field(default=list, repr=False)
    scene: Any = field(default=None, repr=False)
    handles: dict[int, Slot] = field(default_factory=dict, repr=False)  # by id of the point sets in `kept`
    kept: list[object] = field(default_factory=list, repr=False)
    timings: Timings = field(default_factory=Timings)
    notes: list[str] = field(default_factory=list, repr=False)  # how it is advanced, and why
    memo: dict[str, Any] = field(default_factory=dict, repr=False)  # what solvers compute once
    whole: Whole | None = field(default=None, repr=False)  # the scene with all that was changed; None: nothing was
    revision: int = 0  # how often it was changed
    given: float = 0.0  # energy that ends of springs, where they were moved, have brought in [J]

    @cached_property
    def contacts(self) -> list[Any]:
        """The contacts, on slots of their own. They are made with the system, but where all bodies meet obstacles by
        their own method: then when they are first asked for."""
        return self.bind_contacts()

    @property
    def made_contacts(self) -> list[Any]:
        """The contacts that have been made until now."""
        return self.contacts if "contacts" in self.__dict__ else []

    @cached_property
    def bodies(self) -> list[Slot]:
        """The slots with independent coordinates."""
        return [slot for slot in self.slots if slot.is_body]

    @cached_property
    def joined_bodies(self) -> list[Slot]:
        """The same, with bodies of one kind that follow each other as one slot where their coordinates allow it."""
        return joined_slots(self.bodies)

    @cached_property
    def joined_masses(self) -> list[BoundMass]:
        """The masses, with those of bodies of one kind that follow each other as one where they allow it."""
        return join_masses(self.masses)

    @property
    def x_size(self) -> int:
        """Length of flat positions."""
        return self.x0.size

    @property
    def v_size(self) -> int:
        """Length of flat velocities and forces."""
        return self.v0.size

    @property
    def is_small(self) -> bool:
        """Whether dense matrices are the better choice."""
        return self.v_size + self.joint_row_count <= SMALL

    def body(self, name: str) -> Slot:
        """The slot of the body of that name."""
        for slot in self.bodies:
            if isinstance(name, str) and slot.name == name:
                return slot
        raise InputError(
            "no body of that name", where="system", value=name, allowed=", ".join(s.name for s in self.bodies)
        )

    def initial_state(self) -> State:
        """The state at t = 0, with the filters applied."""
        state = State(0.0, self.x0.copy(), self.v0.copy())
        self.filter.project_position(state.x, 0.0)
        self.filter.project_velocity(state.v, 0.0, 1e-3)
        return state

    def positions(self, state: State, body: str | Slot) -> Array:
        """Positions of a body, (count, 3 or 7), without a copy."""
        check_state(state, "System.positions")
        return (body if isinstance(body, Slot) else self.body(body)).view_x(state.x)

    def velocities(self, state: State, body: str | Slot) -> Array:
        """Velocities of a body, (count, 3 or 6), without a copy."""
        check_state(state, "System.velocities")
        return (body if isinstance(body, Slot) else self.body(body)).view_v(state.v)

    def points(self, state: State, body: str) -> Array:
        """World positions of a body's points: nodes, particles, voxels, or points of its surface, (n, 3) [m]."""
        return self.present(state, body).rest.copy()

    # changes while it runs

    def change(self, state: State, name: str, **values: Any) -> None:
        """Change something from now on: gravity, a body's material, a force, a motor; see `supple.scene.changes`.

        The state keeps the change with its time, so that runs that go on from it make it again. Solvers see it at their
        next step.

        >>> import supple as sp
        >>> from supple.scene.changes import changes_of
        >>> scene = sp.Scene(gravity=(0, 0, -9.81))
        >>> _ = scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
        >>> system = scene.compile()
        >>> state = system.initial_state()
        >>> system.change(state, "gravity", value=(0, 0, -1.62))
        >>> [change.name for change in changes_of(state)]
        ['gravity']
        """
        make_change(self, state, name, values)

    def add(self, state: State, thing: object, *, name: str | None = None) -> str:
        """Couple bodies from now on by Springs or a joint; returns its name. A joint takes hold of them as they stand:
        `at` and `axis` are where they are now. The state keeps it, as it keeps other changes.

        >>> import supple as sp
        >>> from supple.scene.changes import changes_of
        >>> scene = sp.Scene()
        >>> hand = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), name="hand")
        >>> ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0.15, 0, 0), velocity=(-0.1, 0, 0), name="ball")
        >>> system = scene.compile()
        >>> state = system.initial_state()
        >>> grip = system.add(state, sp.FixedJoint(hand, ball, at=(0.05, 0, 0)), name="grip")
        >>> _ = sp.ImplicitEuler(0.01).step(system, state)
        >>> system.remove(state, grip)
        >>> [(change.name, *change.values) for change in changes_of(state)]
        [('grip', 'added'), ('grip', 'removed')]
        """
        return add_coupling(self, state, thing, name)

    def remove(self, state: State, name: str) -> None:
        """Take a force or joint of that name out, for good; `change(state, name, enabled=False)` keeps it for later."""
        remove_coupling(self, state, name)

    def break_off(self, state: State, body: str, domain: int | str, *, name: str | None = None) -> str:
        """Break a domain of a tree, with all below it, off `body` now; returns the name of the body that flies from
        now on. The state has the coordinates of both parts then; no point jumps.

        >>> import supple as sp
        >>> from supple.validation.tree.coupling import beam_domain_tree
        >>> scene = sp.Scene(gravity=(0, 0, -9.81))
        >>> _ = scene.add(sp.TreeBody(beam_domain_tree(4, 6)), name="branch")
        >>> system = scene.compile()
        >>> state = system.initial_state()
        >>> twig = system.break_off(state, "branch", 2, name="twig")
        >>> _ = sp.TreeSolver(1 / 60).step(system, state)
        >>> bool(system.velocities(state, twig)[0, 2] < -0.1)
        True
        """
        return break_off(self, state, body, domain, name)

    def present(self, state: State, body: str) -> PresentNode:
        """A body as it stands now: its `points(at=...)` and predicates see where it is, for what is added."""
        check_state(state, "System.present")
        slot = self.body(body)
        return PresentNode.of(slot.node, slot.view_x(state.x).copy())

    def replay(self, state: State) -> None:
        """Make the changes that led to a state of this system, which has seen none yet."""
        replay(self, state)

    def bound_force(self, label: str, slot: Slot, force: Force) -> BoundForce:
        """A force on a slot."""
        return BoundForce(label, slot, force)

    def within(self, keep: Array) -> System:
        """The same bodies, with the forces and masses alone that act in some 3-blocks of velocity, (v_size / 3,).

        Joints and contacts are left out. It is kept until the system changes.
        """
        known: dict[bytes, System] = self.memo.setdefault(f"within, revision {self.revision}", {})
        key = keep.tobytes()
        if key not in known:
            if len(known) >= MANY_PARTS:
                known.clear()
            forces = [acting for acting in self.forces if _is_in(acting.slot, keep)]
            masses = [bound for bound in self.masses if _is_in(bound.slot, keep)]
            known[key] = replace(self, forces=forces, masses=masses, joints=[], bind_contacts=list, memo={})
        return known[key]

    # positions move along velocities

    def retract(self, x: Array, d: Array) -> Array:
        """Positions x moved along d (a velocity times a time)."""
        out = np.empty_like(x)
        for slot in self.joined_bodies:
            slot.view_x(out)[:] = slot.coordinates.retract(slot.view_x(x), slot.view_v(d))
        return out

    def difference(self, a: Array, b: Array) -> Array:
        """The move from positions a to positions b."""
        out = np.empty(self.v_size)
        for slot in self.joined_bodies:
            slot.view_v(out)[:] = slot.coordinates.difference(slot.view_x(a), slot.view_x(b))
        return out

    # elementary operations

    def propagate(
        self,
        t: float,
        x: Array,
        v: Array,
        memory: dict[str, Array] | None = None,
        *,
        only: frozenset[int] | None = None,
    ) -> Kinematics:
        """Positions and velocities of every slot. memory: of the state, for bodies that remember; only: see
        `Kinematics`."""
        with self.timings.measure("propagate"):
            return Kinematics(self.slots, t, x, v, memory, only)

    def slot_forces(self, kin: Kinematics, multipliers: Array | None = None, *, load: float = 1.0) -> SlotValues:
        """Forces at every slot, pulled back through the mappings; joints push with their multipliers.

        load: factor of gravity and of given loads, for equilibria in load steps.
        """
        out = kin.zeros()
        for label, slot, force in self.forces:
            with self.timings.measure(f"force {label}"):
                if load == 1.0 or not is_load(force):
                    force.add_force(kin.local(slot), out[slot.index])
                else:
                    part = np.zeros_like(out[slot.index])
                    force.add_force(kin.local(slot), part)
                    out[slot.index] += load * part
        if self.gravity.any():
            for _, slot, mass in self.joined_masses:
                if not weighs_by_force(mass):
                    mass.add_product(mass.gravity_field(self.gravity), out.of(slot), load)
        if multipliers is not None:
            start = 0
            for _, slot, rows in self.joints:
                part = multipliers[start : start + rows.count]
                out[slot.index] += (part @ rows.jacobian(kin.x[slot.index])).reshape(-1, 3)
                start += rows.count
        with self.timings.measure("pull back"):
            kin.pull(out)
        return out

    def gather(self, slot_values: SlotArrays) -> Array:
        """Values of the bodies' slots as one flat vector."""
        if isinstance(slot_values, SlotValues):
            return slot_values.flat.copy()
        return np.concatenate([slot_values[slot.index].ravel() for slot in self.bodies])

    def force(self, kin: Kinematics) -> Array:
        """f(x, v) on the bodies, flat."""
        return self.gather(self.slot_forces(kin))

    def bias(self, kin: Kinematics, over: float = 0.0) -> Array:
        """Velocity terms of M dv/dt = f + bias: gyroscopic ones, and -J^T M_c (dJ/dt) v of mapped masses. over: a step
        [s] of which those that know it give their mean."""
        out = kin.zeros()
        biases = kin.biases()
        for _, slot, mass in self.joined_masses:
            if over > 0.0 and is_tumbling(mass):
                mass.add_mean_bias(kin.local(slot), over, out.of(slot))
            else:
                mass.add_bias(kin.local(slot), out.of(slot))
            if not slot.is_body:
                mass.add_product(biases[slot.index], out[slot.index], -1.0)
        kin.pull(out)
        return self.gather(out)

    def impulse(self, kin0: Kinematics, kin1: Kinematics, at: Kinematics | None = None) -> Array:
        """Change of momentum from one state to another, in the coordinates of `at`, or of the second, flat [N s].

        Momentum of mapped points is pulled back there: a rule that is symmetric in time does so in the middle.
        """
        at = at or kin1
        own, mapped = kin1.zeros(), kin1.zeros()
        for _, slot, mass in self.joined_masses:
            start, end = (kin0.x.of(slot), kin0.v.of(slot)), (kin1.x.of(slot), kin1.v.of(slot))
            if is_changing(mass):
                mapped.of(slot)[...] += mass.impulse_at(*start, *end, at.x.of(slot))
            else:
                (own if slot.is_body else mapped).of(slot)[...] += mass.compute_impulse(*start, *end)
        at.pull(mapped)
        return transport(self, kin1, at, self.gather(own)) + self.gather(mapped)

    def mass_product(self, kin: Kinematics, dv: Array) -> Array:
        """M dv, flat, mapped masses included."""
        pushed = kin.push(dv)
        out = kin.zeros()
        for _, slot, mass in self.joined_masses:
            kin.mass_of(slot, mass).add_product(pushed.of(slot), out.of(slot), 1.0)
        kin.pull(out)
        return self.gather(out)

    def linearize(
        self,
        kin: Kinematics,
        *,
        definite: bool = False,
        multipliers: Array | None = None,
        load: float = 1.0,
        masses: Mapping[int, Any] | None = None,
    ) -> Linearization:
        """K, B and M at this state, as a value; masses: see `Linearization`."""
        with self.timings.measure("linearize"):
            forces = self.slot_forces(kin, multipliers, load=load)
            return Linearization(self, kin, forces, definite, multipliers, load, masses)

    @cached_property
    def assembly(self) -> Assembly | None:
        """Where every block of the forces lands in one block-sparse matrix; None where a force has no blocks."""
        return Assembly.make(self)

    # for those who want to leave

    def matrices(self, state: State) -> Matrices:
        """M, K and B at a state, filters and joints not applied."""
        check_state(state, "System.matrices")
        lin = self.linearize(self.propagate(state.t, state.x, state.v))
        return Matrices(lin.matrix(mass=1.0), lin.matrix(stiffness=1.0), lin.matrix(damping=1.0))

    def jacobian(self, points: object, state: State) -> sparse.csr_array:
        """J of a point set of the scene, (3 * count, v_size): velocities of its points from those of the bodies."""
        slot = self.handles.get(id(points))
        if slot is None:
            raise InputError(
                "these points are not in the system",
                value=points.label if isinstance(points, Points) else type(points).__name__,
                fix="Only point sets that a force, joint or mass of the scene uses are compiled.",
            )
        return slot_jacobian(self.propagate(state.t, state.x, state.v), slot, self.v_size)

    # joints

    @property
    def joint_row_count(self) -> int:
        """Number of scalar conditions of all joints."""
        return sum(rows.count for _, _, rows in self.joints)

    def violation(self, kin: Kinematics) -> Array:
        """phi of all joints."""
        parts = [rows.violation(kin.x[slot.index]) for _, slot, rows in self.joints]
        return np.concatenate(parts) if parts else np.zeros(0)

    @cached_property
    def joint_bounds(self) -> tuple[Array, Array]:
        """Lowest and highest multiplier of each row of the joints."""
        pairs = [rows.bounds for _, _, rows in self.joints]
        return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])

    def begin_joints(self, kin: Kinematics, dt: float, t1: float) -> None:
        """Tell the joints that a step from this state begins: motors note their angle."""
        for _, slot, rows in self.joints:
            rows.begin(kin.x[slot.index], dt, t1)

    def joint_readings(self, state: State) -> dict[str, JointReading]:
        """What each joint does at a state, by its name: reactions of the last step, angle, speed, motor power; see
        `JointReading`. No joint has a reaction before the first step."""
        check_state(state, "System.joint_readings")
        if not self.measured_joints:
            return {}
        if "read slots" not in self.memo:
            self.memo["read slots"] = hanging_on(joint.slot for joint in self.measured_joints)
        kin = self.propagate(state.t, state.x, state.v, state.memory, only=self.memo["read slots"])
        l, start, found = state.memory.get("multipliers"), 0, {}
        if l is None or l.size != self.joint_row_count:
            l = np.zeros(self.joint_row_count)
        for joint in self.measured_joints:
            k, part = joint.slot.index, l[start : start + joint.count]
            found[joint.name] = joint.read(kin.x[k], kin.v[k], part)
            start += joint.count
        return found

    # energy and momentum, at what `propagate` found, or at a state

    def _seen(self, at: Kinematics | State) -> Kinematics:
        if isinstance(at, Kinematics):
            return at
        check_state(at, "System")
        return self.propagate(at.t, at.x, at.v, at.memory)

    def potential_energy(self, at: Kinematics | State) -> float:
        """Energy of all forces and of gravity [J]."""
        return sum(self.potential_parts(at))

    def potential_parts(self, at: Kinematics | State) -> tuple[float, float]:
        """The same in two parts [J]: stored in bodies and between them; of gravity and of loads from outside."""
        kin, stored, outer = self._seen(at), 0.0, 0.0
        for _, slot, force in self.forces:
            if not has_energy(force):
                continue
            energy = float(force.energy(kin.local(slot)))
            if is_load(force):
                outer += energy
            else:
                stored += energy
        if self.gravity.any():
            for _, slot, mass in self.joined_masses:
                if not is_weightless(mass):
                    outer -= float(self.gravity @ kin.first_moment(slot, mass)[1])
        return stored, outer

    def kinetic_energy(self, at: Kinematics | State) -> float:
        """v^T M v / 2 [J]."""
        kin = self._seen(at)
        total = 0.0
        for _, slot, mass in self.joined_masses:
            if is_kinetic(mass):
                total += float(mass.kinetic_energy(kin.local(slot)))
                continue
            v = kin.v.of(slot)
            p = np.zeros_like(v)
            kin.mass_of(slot, mass).add_product(v, p, 1.0)
            total += 0.5 * float(np.sum(p * v))
        return total

    def momentum(self, at: Kinematics | State) -> Array:
        """Linear [kg m/s] and angular momentum about the origin [kg m²/s], (6,)."""
        kin = self._seen(at)
        return np.asarray(sum(mass.momentum(kin.local(slot)) for _, slot, mass in self.joined_masses))

    def centre_of_mass(self, at: Kinematics | State, body: Slot | None = None) -> Array:
        """Centre of mass of all bodies or of one, (3,) [m]."""
        kin = self._seen(at)
        chosen = [(s, m) for _, s, m in (self.joined_masses if body is None else self.masses) if body in (None, s)]
        parts = [kin.first_moment(slot, mass) for slot, mass in chosen]
        return np.asarray(sum(p[1] for p in parts) / sum(p[0] for p in parts))

    def __str__(self) -> str:
        lines = [f"System '{self.name}': {len(self.bodies)} bodies, {self.v_size} degrees of freedom"]
        k = 0

        def call(text: str) -> None:
            nonlocal k
            k += 1
            lines.append(f"  {k:>3}  {text}")

        for slot in self.slots:
            if slot.mapping is not None:
                kind = type(slot.mapping).__name__
                call(f"propagate  {slot.parents[0].name} -> {slot.name}  ({kind}, {slot.coordinates.count})")
            elif slot.parents:
                call(f"join       {slot.name}  ({slot.coordinates.count} points)")
        for label, slot, force in self.forces:
            call(f"add force  {label}  on {slot.name}  ({type(force).__name__})")
        if self.gravity.any():
            call(f"add force  gravity {self.gravity.tolist()}")
        for slot in reversed(self.slots):
            if slot.mapping is not None:
                call(f"pull back  {slot.name} -> {slot.parents[0].name}")
        for label, slot, mass in self.masses:
            call(f"apply mass {label}  on {slot.name}  ({type(mass).__name__})")
        if len(self.filter):
            call(f"filter     {len(self.filter)} blocks")
        for label, _, rows in self.joints:
            call(f"joint      {label}  ({rows.count} rows)")
        path = "one block-sparse matrix" if self.assembly is not None else "products only"
        lines.append(f"  solved by {path}")
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)
