"""A system that was changed steps as one that was made so from the start, to the same bits; contacts come and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import Actuation, Commands, Drive, Samples, VoxelBody
from supple.errors import ContactWarning, InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.scene.changes import changes_of
from supple.validation.tree.coupling import beam_domain_tree

G, MOON = (0.0, 0.0, -9.81), (0.0, 0.0, -1.62)
STEPS = 6
CONTACT = sp.Contact(friction=0.2)


def table(
    contact: sp.Contact | None = CONTACT,
    *,
    young: float = 1e5,
    density: float = 500,
    factor: float = 1.0,
    gravity: tuple[float, float, float] = G,
    floor: float | None = None,
) -> sp.Scene:
    """A soft block and a ball on a floor, under a branch."""
    scene = sp.Scene(gravity=gravity)
    mesh = sp.box_tets(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    block = sp.FemBody(mesh, sp.Material(young, 0.3, density, stiffness_damping=0.01))
    scene.add(block, name="block", at=(0, 0, 0.0501), velocity=(0.4, 0, 0))
    scene.add(sp.RigidBody.sphere(0.05, density=500), name="ball", at=(0.155, 0, 0.0501), velocity=(-0.4, 0, 0))
    branch = beam_domain_tree(2, 6)
    branch = replace(branch, domains=[replace(d, frequency_factor=factor) for d in branch.domains])
    scene.add(sp.TreeBody(branch, stiffness_damping=0.01), name="branch", at=(0, 0, 0.5))
    scene.add(sp.Floor(friction=floor), name="floor")
    if contact is not None:
        scene.add(contact)
    return scene


def net(*, mass: float = 0.1, stiffness: float = 50.0, density: float = 500.0) -> sp.Scene:
    """Particles on springs, and a box that touches the lowest of them."""
    scene = sp.Scene(gravity=G)
    places = [(0, 0, 0.5), (0.1, 0, 0.5), (0, 0.1, 0.5)]
    net = sp.Particles(places, mass, radius=0.02, springs=[(0, 1), (0, 2)], stiffness=stiffness)
    scene.add(net, name="net", spin=(0, 0, 9.0))
    scene.add(sp.RigidBody.box((0.2, 0.2, 0.1), density=density), name="box", at=(0, 0, 0.428), velocity=(0, 0, 0.3))
    scene.add(sp.Contact())
    return scene


def blown(velocity: tuple[float, float, float]) -> sp.Scene:
    scene = sp.Scene(gravity=G)
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=50), name="box")
    scene.add(sp.Wind(velocity=velocity), name="wind")
    return scene


def robot(
    *,
    contact: sp.Contact | None = None,
    amplitude: float = 10.0,
    phase: float = 0.0,
    kinetic: float = 0.5,
    floor: float | None = None,
) -> sp.Scene:
    muscle = VoxelMaterial(1e5, 1000, expansion=0.01, bond_damping=0.3, ground_damping=1e-3, kinetic_friction=kinetic)
    scene = sp.Scene(gravity=G)
    drives = [Actuation(3.0, 4.0), Actuation(amplitude, 5.0, phase)]
    scene.add(VoxelBody(VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.01), muscle, actuation=drives), name="robot")
    scene.add(sp.Floor(friction=floor), name="floor")
    if contact is not None:
        scene.add(contact)
    return scene


def driven(*drivers: Actuation | Drive | Commands) -> sp.Scene:
    """A robot of two materials in mid-air."""
    scene, numbers = sp.Scene(), np.ones((3, 2, 2), dtype=int)
    numbers[1] = 2
    muscle = VoxelMaterial(1e5, 1000, expansion=0.01, bond_damping=0.3)
    scene.add(VoxelBody(VoxelGrid(numbers, 0.01), [muscle, muscle], actuation=list(drivers)), name="robot")
    return scene


def sine(amplitude: float = 10.0, frequency: float = 5.0, **more: Any) -> sp.Scene:
    return driven(Actuation(amplitude, frequency, **more))


def drive(**more: Any) -> sp.Scene:
    return driven(Drive(Samples([0.0, 8.0, 2.0, -5.0], rate=50.0, repeats=True), **more))


def commanded(**more: Any) -> sp.Scene:
    return driven(Commands(lambda t, state: [8.0 * t / 0.05, 5.0], rate=100.0, count=2, **more))


def machine(*, speed: float = 2.0, torque: float = 0.01, force: float = 0.5) -> sp.Scene:
    """A wheel and a sledge with weak motors, and a block that hangs on the sledge."""
    scene = sp.Scene(gravity=G)
    wheel = scene.add(sp.RigidBody.box((0.1, 0.1, 0.02), density=500), name="wheel")
    sledge = scene.add(sp.RigidBody.box((0.1, 0.1, 0.02), density=500), at=(1, 0, 0), name="sledge")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=speed, motor_torque=torque), name="hub")
    slide = sp.SliderJoint(sledge, axis=(1, 0, 0), at=(1, 0, 0), motor_speed=0.3, motor_force=force)
    scene.add(slide, name="rail")
    return scene


PLACES = np.linspace(0.0, 0.5, 12)
BY_NUMBER = {1: 0.1, 2: 0.4}
Case = tuple[Callable[[], sp.Scene], str, dict, Callable[[], sp.Scene]]
CASES: dict[str, Case] = {
    "material between parts": (table, "block", {"young": 5e4}, lambda: table(young=5e4)),
    "density in contact": (table, "block", {"density": 900.0}, lambda: table(density=900.0)),
    "frequencies between parts": (table, "branch", {"frequency_factor": 0.5}, lambda: table(factor=0.5)),
    "gravity in contact": (table, "gravity", {"value": MOON}, lambda: table(gravity=MOON)),
    "gravity, contact of a given stiffness": (
        lambda: table(sp.Contact(stiffness=1e6)),
        "gravity",
        {"value": MOON},
        lambda: table(sp.Contact(stiffness=1e6), gravity=MOON),
    ),
    "friction": (table, "contact", {"friction": 0.9}, lambda: table(sp.Contact(friction=0.9))),
    "stiffness": (table, "contact", {"stiffness": 1e7}, lambda: table(sp.Contact(friction=0.2, stiffness=1e7))),
    "no contact": (table, "contact", {"enabled": False}, lambda: table(sp.Contact(friction=0.2, enabled=False))),
    "no contact of a pair": (
        table,
        "contact",
        {"pair": ("ball", "block"), "enabled": False},
        lambda: table(sp.Contact(friction=0.2, exclude=[("block", "ball")])),
    ),
    "friction of a pair": (
        table,
        "contact",
        {"pair": ("block", "floor"), "friction": 0.0},
        lambda: table(sp.Contact(friction=0.2, frictions={("block", "floor"): 0.0})),
    ),
    "friction of an obstacle": (lambda: table(floor=0.6), "floor", {"friction": 0.1}, lambda: table(floor=0.1)),
    "friction of an obstacle under a lattice": (
        lambda: robot(floor=0.5),
        "floor",
        {"friction": 0.1},
        lambda: robot(floor=0.1),
    ),
    "friction of a lattice's material": (
        robot,
        "robot",
        {"kinetic_friction": 0.1},
        lambda: robot(kinetic=0.1),
    ),
    "no floor": (
        lambda: table(None),
        "contact",
        {"enabled": False},
        lambda: table(sp.Contact(enabled=False)),
    ),
    "masses of particles": (net, "net", {"mass": 0.3}, lambda: net(mass=0.3)),
    "springs of particles": (net, "net", {"stiffness": 5.0}, lambda: net(stiffness=5.0)),
    "mass of a rigid body": (net, "box", {"density_factor": 2.0}, lambda: net(density=1000.0)),
    "wind on all": (lambda: blown((5, 0, 0)), "wind", {"velocity": (0, 5, 0)}, lambda: blown((0, 5, 0))),
    "phase of a sine": (sine, "robot", {"phase": 0.3}, lambda: sine(phase=0.3)),
    "gain of a sine": (sine, "robot", {"gain": 0.5}, lambda: sine(gain=0.5)),
    "phases of voxels, shifted": (
        lambda: sine(phase=PLACES),
        "robot",
        {"phase_shift": 0.3},
        lambda: sine(phase=PLACES + 0.3),
    ),
    "phase of one material": (
        lambda: sine(phase=BY_NUMBER),
        "robot",
        {"phase": 0.9, "number": 2},
        lambda: sine(phase={1: 0.1, 2: 0.9}),
    ),
    "gain of one material": (
        lambda: sine(gain=BY_NUMBER),
        "robot",
        {"gain": 0.9, "number": 1},
        lambda: sine(gain={1: 0.9, 2: 0.4}),
    ),
    "amplitude of a signal": (drive, "robot", {"amplitude": 0.4}, lambda: drive(gain=0.4)),
    "gain of a signal": (drive, "robot", {"gain": -0.4}, lambda: drive(gain=-0.4)),
    "phase of a signal": (drive, "robot", {"phase": 0.4}, lambda: drive(phase=0.4)),
    "phases of a signal, shifted": (
        lambda: drive(phase=BY_NUMBER),
        "robot",
        {"phase_shift": 0.25},
        lambda: drive(phase=BY_NUMBER, phase_shift=0.25),
    ),
    "amplitude of commands": (commanded, "robot", {"amplitude": 0.4}, lambda: commanded(amplitude=0.4)),
    "gains of commands": (commanded, "robot", {"gain": (0.2, 0.7)}, lambda: commanded(gain=(0.2, 0.7))),
    "speed of a motor": (machine, "hub", {"motor_speed": -1.0}, lambda: machine(speed=-1.0)),
    "torque of a motor": (machine, "hub", {"motor_torque": 0.002}, lambda: machine(torque=0.002)),
    "force of a motor": (machine, "rail", {"motor_force": 0.1}, lambda: machine(force=0.1)),
    "voxels through the floor": (
        robot,
        "contact",
        {"enabled": False},
        lambda: robot(contact=sp.Contact(enabled=False)),
    ),
    "one of two controls": (
        robot,
        "robot",
        {"amplitude": 4.0, "phase": 0.25, "control": 1},
        lambda: robot(amplitude=4.0, phase=0.25),
    ),
}


def steps(scene: sp.Scene, count: int, change: tuple[str, dict] | None = None) -> sp.State:
    system = scene.compile()
    solver = sp.LatticeSolver(0.01) if "robot" in [node.name for node in scene.nodes] else sp.Partitioned(0.005)
    state = system.initial_state()
    solver.prepare(system)
    if change is not None:
        system.change(state, change[0], **change[1])
    for _ in range(count):
        solver.step(system, state)
    return state


@cache
def unchanged(make: Callable[[], sp.Scene]) -> sp.State:
    return steps(make(), STEPS)


@pytest.mark.parametrize("name", CASES)
def test_a_changed_system_is_the_one_that_was_made_so(name: str) -> None:
    make, what, values, made = CASES[name]
    changed, wanted, plain = steps(make(), STEPS, (what, values)), steps(made(), STEPS), unchanged(make)
    assert changed.x.tobytes() == wanted.x.tobytes()
    assert changed.v.tobytes() == wanted.v.tobytes()
    assert np.abs(changed.x - plain.x).max() > 1e-7


@pytest.mark.parametrize("key", ["density_factor", "stiffness_factor"])
def test_factors_that_multiply_are_all_made_again(key: str) -> None:
    """A slider of a factor that is moved twice multiplies twice, in a run that goes on from its state too."""
    solid = ElasticSolid(sp.box_tets((0.3, 0.02, 0.02), (12, 1, 1)), sp.Material(1e7, 0.3, 1000))
    scene = sp.Scene()
    scene.add(sp.FloatingBody.from_solid(solid, modes=4), name="rod")
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 1), name="crate")
    system, again = scene.compile(), scene.compile()
    state = system.initial_state()
    names = ["rod"] if key == "stiffness_factor" else ["rod", "crate"]
    for name in names:
        for factor in (2.0, 3.0):
            system.change(state, name, **{key: factor})
    again.replay(state)
    for one, two in zip(system.bodies, again.bodies):
        assert one.body.total_mass == two.body.total_mass
    rods = [made.bodies[0].body.frequencies for made in (system, again, scene.compile())]
    assert rods[0].tobytes() == rods[1].tobytes()
    power = 0.5 if key == "stiffness_factor" else -0.5
    assert rods[0] == pytest.approx(rods[2] * 6**power)


def test_a_pair_that_may_touch_again_is_pushed_apart() -> None:
    """Two balls that moved into each other while they could not touch part without a jump of energy or momentum."""
    scene = sp.Scene()
    for name, x, v in (("left", -0.1, 0.5), ("right", 0.1, -0.5)):
        scene.add(sp.RigidBody.sphere(0.08, density=500), name=name, at=(x, 0, 0), velocity=(v, 0, 0))
    scene.add(sp.Contact(exclude=[("left", "right")]), name="meeting")
    system, solver = scene.compile(), sp.ImplicitEuler(0.005)
    state = system.initial_state()
    for _ in range(20):
        solver.step(system, state)
    assert abs(state.x[0] - state.x[7]) < 0.11
    state.v[:] = 0.0
    system.change(state, "meeting", pair=("left", "right"), enabled=True)
    with pytest.warns(ContactWarning, match="overlap"):
        solver.step(system, state)
    for _ in range(40):
        solver.step(system, state)
    assert np.abs(state.v[:3]).max() < 0.3
    assert state.v[0] + state.v[6] == pytest.approx(0.0, abs=1e-14)
    assert abs(state.x[0] - state.x[7]) > 0.11


@pytest.mark.parametrize("stop", [0.02, 0.08])
def test_a_run_with_changing_contact_has_the_same_bits_when_resumed(stop: float, tmp_path: Path) -> None:
    def go(folder: str, until: float, *, resume: bool = False) -> sp.Run:
        def observer(frame) -> None:
            count = len(changes_of(frame.state))
            if frame.time >= 0.03 and count == 0:
                frame.system.change(frame.state, "contact", pair=("block", "ball"), enabled=False)
            if frame.time >= 0.06 and count == 1:
                frame.system.change(frame.state, "contact", pair=("block", "ball"), enabled=True)
            if frame.time >= 0.06 and count == 2:
                frame.system.change(frame.state, "block", young=5e4)

        out = tmp_path / folder
        return sp.run(table(), until=until, dt=0.005, record_every=0.01, out=out, observers=[observer], resume=resume)

    whole = go("whole", 0.1)
    go("parts", stop)
    parts = go("parts", 0.1, resume=True)
    assert len(changes_of(whole.state)) == len(changes_of(parts.state)) == 3
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("contact", {"enabled": 1}, "True or False"),
        ("contact", {"enabled": True}, "was not disabled"),
        ("contact", {"pair": ("ball", "moon"), "enabled": False}, "ball, branch, floor"),
        ("contact", {"pair": ("ball", "block"), "enabled": True}, "may touch already"),
        ("contact", {"pair": "ball", "enabled": False}, "two names"),
        ("contact", {"pair": ("ball", "block")}, "nothing is changed"),
        ("contact", {"friction": -1.0}, "friction"),
        ("contact", {"margin": 1.0}, "friction, static_friction"),
        ("contact-2", {"friction": 1.0}, "contact"),
        ("block", {"enabled": False}, "cannot be changed"),
        ("branch", {"frequency_factor": 0.0}, "positive"),
        ("ball", {"density": 1.0}, "density_factor"),
        ("ball", {"density_factor": 0.0}, "density_factor is out of range"),
    ],
)
def test_bad_changes_are_named_and_change_nothing(name: str, values: dict, said: str) -> None:
    system = table().compile()
    state = system.initial_state()
    with pytest.raises(InputError, match=said):
        system.change(state, name, **values)
    assert not changes_of(state)
    assert system.revision == 0


def test_names_of_contacts_are_saved(tmp_path: Path) -> None:
    scene = table()
    scene.add(sp.Contact(enabled=False), name="later")
    sp.save(scene, tmp_path / "scene.toml")
    again = sp.load(tmp_path / "scene.toml")
    assert [again.contact_name(contact) for contact in again.contacts] == ["contact", "later"]
    assert [contact.enabled for contact in again.contacts] == [True, False]


@pytest.mark.parametrize("given", [None, 1e6], ids=["default", "given"])
def test_a_body_rests_as_deep_as_the_stiffness_of_its_contact_says(given: float | None) -> None:
    """By default the stiffness carries the weight, and the depth stays; a given one lets it rise with less weight."""
    scene = sp.Scene(gravity=G)
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(0, 0, 0.05), name="box")
    scene.add(sp.Floor())
    scene.add(sp.Contact(stiffness=given))
    system, solver = scene.compile(), sp.Partitioned(0.005)
    state, depths = system.initial_state(), []
    for gravity in (G, MOON):
        system.change(state, "gravity", value=gravity)
        for _ in range(120):
            solver.step(system, state)
        depths.append(0.05 - system.positions(state, "box")[0, 2])
    assert depths[0] > 1e-6
    assert depths[1] == pytest.approx(depths[0] * (1.0 if given is None else MOON[2] / G[2]), rel=0.01)


def test_what_was_said_of_a_contact_is_not_said_again() -> None:
    system = table().compile()
    system.contacts[0].has_warned = True
    system.change(system.initial_state(), "contact", friction=0.3)
    assert system.contacts[0].has_warned
