"""Changes while a scene runs: they act as in closed form, and a resumed run makes them again, to the same bits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel import Actuation, VoxelBody
from supple.errors import InputError
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.scene import changes
from supple.scene.changes import changes_of
from supple.validation.tree.coupling import beam_domain_tree

G = (0.0, 0.0, -9.81)
WHEN, UNTIL = 0.1, 0.3


def ball() -> sp.Scene:
    scene = sp.Scene(gravity=G, solver=sp.Midpoint(0.01))
    scene.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    return scene


def tree() -> sp.Scene:
    scene = sp.Scene(gravity=G)
    scene.add(sp.TreeBody(beam_domain_tree(2, 6), stiffness_damping=0.01), name="branch")
    return scene


def beam() -> sp.Scene:
    scene = sp.Scene(gravity=G, solver=sp.ImplicitEuler(0.01))
    mesh = sp.box_hexes(size=(0.2, 0.02, 0.02), cells=(6, 1, 1))
    node = scene.add(sp.FemBody(mesh, sp.Material(1e6, 0.3, 1000)), fix="x_min", name="beam")
    end = node.points("x_max")
    scene.add(
        sp.Springs(end, sp.World.points(end.rest + np.array([0, 0, 0.1])), stiffness=2.0, rest_length=0.1), name="tie"
    )
    return scene


def robot() -> sp.Scene:
    muscle = VoxelMaterial(young=1e5, density=1000, expansion=0.01, bond_damping=0.3, ground_damping=1e-3)
    scene = sp.Scene(gravity=G)
    drive = Actuation(10.0, 5.0, np.linspace(0, 1, 16))
    scene.add(VoxelBody(VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01), {1: muscle}, actuation=drive), name="robot")
    return scene


def wheel() -> sp.Scene:
    scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
    node = scene.add(sp.RigidBody.cylinder(0.1, 0.02, density=1000), name="wheel")
    scene.add(sp.HingeJoint(node, axis=(0, 0, 1), motor_speed=2.0, motor_torque=5.0))
    return scene


def mixed() -> sp.Scene:
    scene = tree()
    end = scene.node("branch").points([3])
    mass = scene.add(sp.Particles(end.rest - np.array([0, 0, 0.1]), 0.02), name="mass")
    scene.add(sp.Springs(end, mass.points([0]), stiffness=20.0, damping=0.5, rest_length=0.1), name="tie")
    return scene


def blown() -> sp.Scene:
    scene = tree()
    scene.add(sp.Wind(scene.node("branch"), velocity=(0, 8, 0), intensity=0.0), name="wind")
    return scene


Row = tuple[Callable[[], sp.Scene], str, dict]
CASES: dict[str, Row] = {
    "gravity": (ball, "gravity", {"value": (0.0, 1.0, -1.62)}),
    "gravity on a tree": (tree, "gravity", {"value": (0.0, 1.0, -1.62)}),
    "gravity on a lattice": (robot, "gravity", {"value": (0.0, 1.0, -1.62)}),
    "frequencies of a tree": (tree, "branch", {"frequency_factor": 0.5, "density_factor": [1.0, 2.0]}),
    "damping of a tree": (tree, "branch", {"mass_damping": 3.0}),
    "material": (beam, "beam", {"young": 3e5, "stiffness_damping": 0.01}),
    "rest length": (beam, "tie", {"rest_length": 0.02}),
    "no spring": (beam, "tie", {"enabled": False}),
    "voxels' material": (robot, "robot", {"young": 5e4, "number": 1}),
    "voxels' control": (robot, "robot", {"amplitude": 5.0}),
    "motor": (wheel, "hinge", {"motor_speed": -1.0}),
    "wind": (blown, "wind", {"velocity": (0.0, -8.0, 0.0)}),
    "tree and mass": (mixed, "tie", {"stiffness": 50.0}),
    "frequencies between parts": (mixed, "branch", {"frequency_factor": 0.5, "density_factor": 2.0}),
    "no spring between parts": (mixed, "tie", {"enabled": False}),
}


def run(case: Row, out: Path, until: float = UNTIL, *, resume: bool = False, changes: bool = True) -> sp.Run:
    make, name, values = case

    def observer(frame) -> None:
        if changes and frame.time >= WHEN and not changes_of(frame.state):
            frame.system.change(frame.state, name, **values)

    scene = make()
    if make is wheel:
        name = scene.compile().joints[0].label
    return sp.run(scene, until=until, out=out, observers=[observer], resume=resume)


@pytest.mark.parametrize("name", CASES)
def test_a_change_is_made_again_where_a_run_is_resumed(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    whole = run(case, tmp_path / "whole")
    run(case, tmp_path / "parts", 0.2)
    parts = run(case, tmp_path / "parts", resume=True)
    plain = run(case, tmp_path / "plain", changes=False)
    assert whole.outcome == parts.outcome == "finished"
    assert whole.state.x.tobytes() == parts.state.x.tobytes()
    assert whole.state.v.tobytes() == parts.state.v.tobytes()
    assert np.abs(whole.state.x - plain.state.x).max() > 1e-6
    (made,) = changes_of(parts.state)
    assert WHEN <= made.t < 0.2


def test_a_ball_falls_by_the_gravity_of_now() -> None:
    g = np.array(G)

    def observer(frame) -> None:
        if frame.time == pytest.approx(0.5):
            frame.system.change(frame.state, "gravity", value=(0.0, 2.0, 0.0))

    end = sp.run(ball(), until=1.0, record_every=0.5, observers=[observer])
    expected = 0.5 * g * 0.25 + 0.5 * g * 0.5 + 0.5 * np.array([0, 2.0, 0]) * 0.25
    assert end.state.x[:3] == pytest.approx(expected, abs=1e-12)


def test_a_wheel_follows_its_new_speed() -> None:
    scene = wheel()
    system, solver = scene.compile(), sp.ImplicitEuler(0.01)
    state, label = system.initial_state(), system.joints[0].label
    for speed in (2.0, -3.0):
        system.change(state, label, motor_speed=speed)
        for _ in range(100):
            solver.step(system, state)
        assert state.v[5] == pytest.approx(speed, rel=1e-6)


def test_a_spring_that_is_brought_back_holds_again() -> None:
    scene = sp.Scene(gravity=G)
    bob = scene.add(sp.Particles([(0, 0, 0)], 1.0), name="bob")
    scene.add(sp.Springs(bob.points([0]), sp.World.points([(0, 0, 1)]), stiffness=100.0, rest_length=1.0), name="tie")
    system, solver = scene.compile(), sp.Midpoint(0.01)
    state = system.initial_state()
    before = system.force(system.propagate(0.0, state.x - 0.1, state.v))
    system.change(state, "tie", enabled=False)
    solver.step(system, state)
    assert state.v[2] == pytest.approx(-0.0981, rel=1e-12)
    system.change(state, "tie", enabled=True)
    assert system.force(system.propagate(0.0, system.x0 - 0.1, state.v)) == pytest.approx(before)
    assert [change.values["enabled"] for change in changes_of(state)] == [False, True]


def test_a_tree_swings_at_its_new_frequency() -> None:
    scene = sp.Scene()
    scene.add(sp.TreeBody(beam_domain_tree(2, 6), stiffness_damping=0.01), name="branch")
    system = scene.compile()
    state = system.initial_state()
    before = sp.vibration_modes(system, 2).frequencies
    system.change(state, "branch", frequency_factor=0.5)
    assert sp.vibration_modes(system, 2).frequencies == pytest.approx(before / 2, rel=1e-5)


def test_what_is_added_after_compile_is_not_in_the_system() -> None:
    scene = robot()
    system = scene.compile()
    scene.add(sp.Floor(), name="floor")
    scene.add(sp.RigidBody.sphere(0.1, density=500), name="late")
    solver, state = sp.LatticeSolver(), system.initial_state()
    for _ in range(30):
        solver.step(system, state)
    assert state.x.reshape(-1, 7)[:, 2].min() < -0.02  # it falls through a floor that was not there
    assert [node.name for node in system.scene.nodes] == ["robot"]


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("wind", {"velocity": 1}, "nothing of that name"),
        ("beam", {"colour": 1.0}, "cannot be changed"),
        ("beam", {"young": -1.0}, "Young"),
        ("beam", {"young": lambda t: t}, "not a number"),
        ("beam", {}, "nothing is changed"),
        ("tie", {"stiffness": -1.0}, "negative"),
        ("tie", {"stiffness": [1.0, 2.0, 3.0]}, "shape"),
        ("tie", {"enabled": 1.0}, "True or False"),
        ("tie", {"enabled": True}, "was disabled"),
        ("gravity", {"value": (0, 0)}, "gravity"),
        ("gravity", {"value": (0, 0, float("nan"))}, "finite"),
    ],
)
def test_bad_changes_are_named_and_change_nothing(name: str, values: dict, said: str) -> None:
    system = beam().compile()
    state = system.initial_state()
    f = system.force(system.propagate(0.0, state.x, state.v))
    with pytest.raises(InputError, match=said):
        system.change(state, name, **values)
    assert not changes_of(state)
    assert np.array_equal(system.force(system.propagate(0.0, state.x, state.v)), f)


def test_a_control_that_changes_often_is_set_once_when_a_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state keeps every change; the values that later ones replace are not set again."""
    scene = beam()
    system = scene.compile()
    state = system.initial_state()
    for k in range(300):
        system.change(state, "tie", stiffness=1.0 + k)
        system.change(state, "gravity", value=(0, 0, -float(k)))
    system.change(state, "tie", enabled=False)
    system.change(state, "tie", enabled=True)
    system.change(state, "tie", stiffness=5.0)
    system.change(state, "tie", damping=0.5)
    assert len(changes_of(state)) == 604
    made = []
    apply = changes.apply_change
    monkeypatch.setattr(changes, "apply_change", lambda *given: made.append(given[1:3]) or apply(*given))
    again = scene.compile()
    again.replay(state)
    assert [name for name, _ in made] == ["tie", "gravity", "tie", "tie", "tie", "tie"]
    kin = [s.propagate(0.0, state.x + 0.01, state.v) for s in (system, again)]
    assert np.array_equal(system.force(kin[0]), again.force(kin[1]))
