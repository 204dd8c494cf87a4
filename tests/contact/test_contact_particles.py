"""Particles as balls and points: they rest on every kind of body, on each other and in grooves, and nothing passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import ContactWarning, FileFormatError, InputError
from supple.validation.contact_kinds import KINDS

G, SIDE, RADIUS, MASS, STIFFNESS = 9.81, 0.1, 0.02, 0.01, 1e7
RUBBER = sp.Material(young=2e5, poisson=0.3, density=500, stiffness_damping=2e-3)


def layered() -> sp.LayeredBody:
    mesh = sp.box_tets(size=(SIDE,) * 3, cells=(3, 3, 3))
    mesh = sp.TetMesh(mesh.nodes - (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2, mesh.tets)

    def inside(x: np.ndarray) -> np.ndarray:
        return np.abs(x).max(axis=1) < 0.6 * SIDE / 2

    return sp.LayeredBody.from_mesh(mesh, RUBBER, core=inside, core_density=500)


def ball_above(body: Any, radius: float, solver: Any, **contact: Any) -> sp.Scene:
    """A ball beside the middle of a body that lies on a plane."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=solver)
    scene.add(body, at=(0, 0, SIDE / 2), name="block")
    scene.add(sp.Particles([(0.011, 0.007, SIDE + radius + 1e-4)], MASS, radius=radius), name="ball")
    scene.add(sp.Plane())
    scene.add(sp.Contact(**contact))
    return scene


def between(run: Any, one: str) -> tuple[np.ndarray, np.ndarray]:
    """Forces on a body from what is no obstacle, and their places."""
    touching = run.system.contacts[0].touching(run.state.memory)
    rows = [k for k, pair in enumerate(touching.bodies) if one in pair and "plane" not in pair]
    sign = np.array([1.0 if touching.bodies[k][0] == one else -1.0 for k in rows])
    return sign[:, None] * touching.force[rows], touching.place[rows]


@pytest.mark.parametrize("radius", [0.0, RADIUS])
@pytest.mark.parametrize("kind", ["rigid", "fem"])
def test_a_ball_sinks_by_its_weight_over_the_stiffness(kind: str, radius: float) -> None:
    run = sp.run(ball_above(KINDS[kind](), radius, sp.ImplicitEuler(0.005), stiffness=STIFFNESS), until=2.0)
    contact, state = run.system.contacts[0], run.state
    kin = run.system.propagate(state.t, state.x, state.v, state.memory)
    found = contact.find(kin, 1e-9, dict(state.memory))
    mine = (found.body == [1, 0]).all(axis=1)
    area = np.pi * radius**2 if radius else 1.0  # a lone point stands for a square metre
    assert mine.sum() == 1
    # the block's own swings are damped to some 1e-5 of the weight after two seconds
    np.testing.assert_allclose(-found.gap[mine], MASS * G / (STIFFNESS * area), rtol=1e-4)
    force, place = between(run, "ball")
    np.testing.assert_allclose(force, [[0, 0, MASS * G]], atol=1e-5)
    np.testing.assert_allclose(place[0, 2], SIDE, atol=1e-3)


@pytest.mark.parametrize("kind", [*KINDS, "layered"])
def test_a_ball_rests_on_every_kind_of_body(kind: str) -> None:
    body = layered() if kind == "layered" else KINDS[kind]()
    scene = ball_above(body, RADIUS, sp.Partitioned(0.005), damping=0.005)  # voxels swing on a plane without
    run = sp.run(scene, until=1.0)
    force, _ = between(run, "ball")
    np.testing.assert_allclose(force.sum(axis=0), [0, 0, MASS * G], atol=0.02 * MASS * G)
    assert np.abs(run.system.velocities(run.state, "ball")).max() < 1e-3


def groove(friction: float) -> sp.Scene:
    """A ball in a groove of 45 degrees, with a slope along it of one in ten."""
    y = np.linspace(-0.3, 0.3, 6)
    nodes = np.concatenate([[(-0.3, a, 0.3 + a / 10), (0, a, a / 10), (0.3, a, 0.3 + a / 10)] for a in y])
    low = 3 * np.arange(5)[:, None]
    triangles = np.concatenate([low + t for t in ([0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4])])
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.005))
    scene.add(sp.Particles([(0.01, 0.013, 0.15)], 0.1, radius=0.06), name="ball")
    scene.add(sp.MeshObstacle(sp.SurfaceMesh(nodes, triangles)))
    scene.add(sp.Contact(friction=friction, stiffness=1e6))
    return scene


def test_a_ball_in_a_groove_leans_on_both_sides() -> None:
    scene = groove(1.0)
    system = scene.compile()
    state = system.initial_state()
    for k in range(400):
        assert scene.solver.step(system, state).is_solved
        if k == 200:
            early = state.x.copy()
    np.testing.assert_allclose(state.x, early, atol=1e-9)  # it sticks, and neither creeps nor swings
    touching = system.contacts[0].touching(state.memory)
    assert len(touching.force) == 2
    np.testing.assert_allclose(touching.force.sum(axis=0), [0, 0, 0.1 * G], atol=1e-6)
    np.testing.assert_allclose(touching.normal[:, 0].sum(), 0, atol=1e-6)


def test_a_ball_slides_down_a_groove_without_friction() -> None:
    run = sp.run(groove(0.0), until=0.4)
    later = sp.run(groove(0.0), until=0.6)
    slope = np.array([0, 1, 0.1]) / np.hypot(1, 0.1)
    gained = (later.state.v - run.state.v) @ slope / 0.2
    assert gained == pytest.approx(-G * slope[2], rel=1e-6)


def test_balls_of_one_body_lie_on_each_other_if_asked() -> None:
    heights = RADIUS * np.array([1.0, 3.001, 5.002])
    for own in (False, True):
        scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.005))
        balls = scene.add(sp.Particles(np.c_[np.zeros((3, 2)), heights], MASS, radius=RADIUS), name="balls")
        scene.add(sp.Plane())
        scene.add(sp.Contact(self_contact=[balls] if own else []))
        run = sp.run(scene, until=0.5)
        z = run.state.x.reshape(-1, 3)[:, 2]
        # each sinks by a ten-thousandth of its size for every ball that rests on it
        np.testing.assert_allclose(z, RADIUS * np.array([1.0, 3.0, 5.0]) if own else RADIUS, atol=2e-3 * RADIUS)


def test_fast_balls_meet_thin_sheets_and_each_other_and_pass_what_they_miss() -> None:
    i = np.arange(36).reshape(6, 6)
    quads = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]], axis=-1).reshape(-1, 4)
    nodes = np.stack([*np.divmod(np.arange(36.0), 6), np.zeros(36)], axis=1) - (2.5, 2.5, 0)
    sheet = sp.SurfaceMesh(nodes, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]))
    scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
    for name, radius, x in (("ball", 0.02, 0.1), ("point", 0.0, 1.3)):
        scene.add(sp.Particles([(x, 0.2, 0.4)], 0.1, radius=radius), velocity=(0, 0, -80), name=name)
    scene.add(sp.Particles([(-1, 0, 1.0), (-1, 0, 0.8)], 0.1, radius=0.02), name="row", velocity=(60, 0, 0))
    scene.add(sp.Particles([(0, 0, 1.0), (0, 0.05, 0.8)], 0.1, radius=0.02), name="wall", velocity=(-60, 0, 0))
    scene.add(sp.MeshObstacle(sheet))
    scene.add(sp.Contact())
    with pytest.warns(ContactWarning, match=r"'\w+' moves 1\.2 m past '\w+' in a step, more than the 0\.08 m"):
        run = sp.run(scene, until=0.1)
    at = {name: run.system.positions(run.state, name) for name in ("ball", "point", "row", "wall")}
    assert at["ball"][0, 2] > 0.019
    assert at["point"][0, 2] > -0.001
    assert at["row"][0, 0] < -0.519 < -0.481 < at["wall"][0, 0]  # met, though a step would carry them past each other
    assert at["row"][1, 0] == pytest.approx(5.0)  # passed at a distance of 0.05 m, which is more than both radii
    assert at["wall"][1, 0] == pytest.approx(-6.0)


def test_balls_that_overlap_at_the_start_are_named_and_pushed_apart() -> None:
    def scene(**contact: Any) -> sp.Scene:
        scene = sp.Scene(solver=sp.ImplicitEuler(0.01))
        scene.add(sp.Particles([(0, 0, 0)], 0.1, radius=0.02), name="one")
        scene.add(sp.Particles([(0.03, 0, 0)], 0.1, radius=0.02), name="two")
        scene.add(sp.Contact(**contact))
        return scene

    pushed = scene()
    system = pushed.compile()
    state = system.initial_state()
    with pytest.warns(ContactWarning, match=r"'one' and 'two' overlap at the start, by 0\.01 m"):
        pushed.solver.step(system, state)
    for _ in range(50):
        pushed.solver.step(system, state)
    assert np.linalg.norm(state.x[3:6] - state.x[:3]) > 0.0399
    assert np.abs(state.v).max() < 0.11  # pushed at 0.1 m/s, not shot
    with pytest.raises(InputError, match="overlap"):
        sp.run(scene(overlap="refuse"), until=0.5)


def test_radii_are_checked() -> None:
    for radius, word in ((-1.0, "negative"), (np.nan, "negative"), ([0.1, 0.2], "one radius a particle")):
        with pytest.raises(InputError, match=word):
            sp.Particles(np.eye(3), 1.0, radius=radius)


def test_part_of_the_particles_touches_with_its_own_radii() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(0.005))
    scene.add(sp.Particles([(0, 0, 0.3), (1, 0, 0.3), (2, 0, 0.3)], 0.1, radius=[0.1, 0.2, 0.25]), name="balls")
    scene.add(sp.Plane())
    scene.add(sp.Contact(parts={"balls": [0, 2]}))
    z = sp.run(scene, until=1.0).state.x.reshape(-1, 3)[:, 2]
    np.testing.assert_allclose(z[[0, 2]], [0.1, 0.25], atol=1e-3)
    assert z[1] < -1


def test_a_saved_scene_with_balls_moves_alike_and_is_recorded(tmp_path: Path) -> None:
    scene = ball_above(KINDS["rigid"](), RADIUS, sp.ImplicitEuler(0.005), friction=0.3)
    mixed = sp.Particles([(0.02, 0.03, 0.2), (0.03, -0.02, 0.2)], MASS, radius=[0.01, 0.0])
    scene.add(mixed, name="two", velocity=(0.1, 0, 0))
    sp.save(scene, tmp_path / "scene.toml")
    again = sp.load(tmp_path / "scene.toml")
    np.testing.assert_array_equal(again.nodes[2].body.radius, [0.01, 0.0])
    one, two = sp.run(scene, until=0.4), sp.run(again, until=0.4)
    assert one.state.x.tobytes() == two.state.x.tobytes()
    assert len(between(one, "two")[0]) == 2
    text = (tmp_path / "scene.toml").read_text().replace("radius = [0.01, 0.0]", "radius = [0.01]")
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(FileFormatError, match="radius"):
        sp.load(tmp_path / "bad.toml")
