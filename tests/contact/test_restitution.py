"""Restitution by Newton's law, within the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.validation.contact_kinds import KINDS, tree

G, RADIUS, HEIGHT = 9.81, 0.05, 0.1
STEPS = (5e-3, 1e-3, 1e-4)
BODIES: dict[str, Any] = {
    "sphere": lambda: sp.RigidBody.sphere(RADIUS, density=1000),
    "cube": lambda: sp.RigidBody.box((2 * RADIUS,) * 3, density=1000),
    "ball": lambda: sp.Particles([(0, 0, 0)], 0.5, radius=RADIUS),
}


def hold_another(scene: sp.Scene) -> None:
    """Something that is held, far away: the step is then the general one."""
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=1000), at=(9, 9, 9), name="held", fix=True)


def drop(
    kind: str, e: float, h: float, until: float, *, height: float = HEIGHT, general: bool = False
) -> dict[str, np.ndarray]:
    """Height of the lowest point, vertical speed and energy per mass of a body dropped on a floor."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(h))
    if general:
        hold_another(scene)
    scene.add(BODIES[kind](), at=(0, 0, RADIUS + height), name="body")
    scene.add(sp.Floor())
    scene.add(sp.Contact(restitution=e))
    system = scene.compile()
    state = system.initial_state()
    heights, speeds = [], []
    for _ in range(round(until / h)):
        scene.solver.step(system, state)
        heights.append(system.body("body").view_x(state.x)[0, 2] - RADIUS)
        speeds.append(system.body("body").view_v(state.v)[0, 2])
    z, v = np.array(heights), np.array(speeds)
    return {"z": z, "v": v, "energy": G * z + v**2 / 2}


@pytest.mark.parametrize("h", STEPS)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", BODIES)
def test_a_body_parts_from_the_floor_with_e_times_its_speed(kind: str, e: float, h: float) -> None:
    got = drop(kind, e, h, 0.32)
    first = int(np.argmax(got["v"][1:] > got["v"][:-1] + 1e-9))  # the last step before the blow
    before, after = -got["v"][first], got["v"][first + 1]
    assert after + (G * h if e > 0 else 0.0) == pytest.approx(e * before, abs=2e-5 * before)  # less what gravity takes
    assert before == pytest.approx(np.sqrt(2 * G * HEIGHT), abs=2 * G * h)
    assert np.diff(got["energy"]).max() <= 1e-4 * G * HEIGHT  # what the contact's spring gives back of a rest
    assert got["z"].min() > -1e-3 * RADIUS
    if e > 0:
        assert got["z"][first + 1 :].max() <= HEIGHT * e**2 + 2 * before * h
        assert got["z"][first + 1 :].max() >= HEIGHT * e**2 - 2 * before * h


@pytest.mark.parametrize("h", STEPS)
def test_the_height_of_a_rebound_is_e_squared(h: float) -> None:
    """At 0.1 ms to 1 % of the height; it is early by at most the way of a step."""
    got = drop("sphere", 0.8, h, 0.3)
    first = int(np.argmax(got["v"] > 0))
    top = got["z"][first:].max()
    assert abs(top - 0.64 * HEIGHT) <= 0.01 * HEIGHT + 2 * np.sqrt(2 * G * HEIGHT) * h


def test_both_ways_to_step_say_the_same() -> None:
    one, two = (drop("cube", 0.7, 1e-3, 0.3, general=general) for general in (False, True))
    assert np.abs(one["z"] - two["z"]).max() < 1e-4 * HEIGHT


def test_what_rests_stays_at_rest_with_full_restitution() -> None:
    for kind in BODIES:
        got = drop(kind, 1.0, 2e-3, 0.2, height=0.0)
        assert np.abs(got["z"]).max() < 1e-3 * RADIUS
        assert np.abs(got["v"][20:]).max() < 1e-4


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("h", STEPS)
def test_free_bodies_keep_their_momentum(e: float, h: float) -> None:
    """Off centre and rough: the normal speed follows e, linear and angular momentum are kept, energy does not grow."""
    scene = sp.Scene(solver=sp.ImplicitEuler(h))
    m = [1000 * 4 / 3 * np.pi * r**3 for r in (0.05, 0.08)]
    scene.add(sp.RigidBody.sphere(0.05, density=1000), at=(-0.3, 0.03, 0), velocity=(2, 0, 0), name="one")
    scene.add(sp.RigidBody.sphere(0.08, density=1000), at=(0, 0, 0), velocity=(-1, 0, 0), name="two")
    scene.add(sp.Contact(friction=0.3, restitution=e))
    system = scene.compile()
    state = system.initial_state()

    def sums() -> tuple[np.ndarray, np.ndarray, float]:
        x, v = state.x.reshape(2, 7), state.v.reshape(2, 6)
        I = np.array([0.4 * m[0] * 0.05**2, 0.4 * m[1] * 0.08**2])
        turn = sum(np.cross(x[k, :3], m[k] * v[k, :3]) + I[k] * v[k, 3:] for k in range(2))
        energy = sum(m[k] * v[k, :3] @ v[k, :3] / 2 + I[k] * v[k, 3:] @ v[k, 3:] / 2 for k in range(2))
        return m[0] * v[0, :3] + m[1] * v[1, :3], turn, energy

    first = sums()
    for _ in range(round(0.15 / h)):
        scene.solver.step(system, state)
    last = sums()
    assert np.abs(last[0] - first[0]).max() < 1e-9  # rounding, times h² k/m of the blow
    assert last[2] <= first[2] * (1 + 1e-9)
    v = state.v.reshape(2, 6)[:, :3]
    assert np.abs(v - [[2, 0, 0], [-1, 0, 0]]).max() > 0.1  # they have met
    scale = m[0] * 3 * 0.13  # of the arms, by the way of a step in which the blow falls early
    assert np.abs(last[1] - first[1]).max() < scale * 3 * h / 0.13


def test_an_obstacle_has_its_own_restitution() -> None:
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(1e-3))
    scene.add(sp.RigidBody.sphere(0.05, density=1000), at=(0, 0, 0.06), velocity=(0, 0, -2), name="one")
    scene.add(sp.RigidBody.sphere(0.05, density=1000), at=(0, 0, 1), velocity=(0, 0, 2), name="two")
    scene.add(sp.Floor(restitution=0.9))
    scene.add(sp.Plane((0, 0, -1), -1.06))
    scene.add(sp.Contact(restitution=0.2))
    run = sp.run(scene, until=0.02)
    low, high = run.state.v.reshape(2, 6)[:, 2]
    assert low == pytest.approx(0.9 * 2, abs=3 * G * 0.02)
    assert high == pytest.approx(-0.2 * 2, abs=3 * G * 0.02)


@pytest.mark.parametrize("general", [False, True])
def test_a_blow_passes_through_balls_in_a_row(general: bool) -> None:
    """Newton's cradle: the last of five balls that touch leaves with the speed of the first, the others rest."""
    scene = sp.Scene(solver=sp.ImplicitEuler(1e-3))
    for k in range(5):
        at = (0.1 * k - (0.05 if k == 0 else 0.0), 0, 0)
        scene.add(sp.RigidBody.sphere(0.05, density=7800), at=at, velocity=(float(k == 0), 0, 0), name=f"ball {k}")
    if general:
        hold_another(scene)
    scene.add(sp.Contact(restitution=1.0))
    run = sp.run(scene, until=0.1)
    v = run.state.v.reshape(-1, 6)[:5, 0]
    assert np.abs(v - [0, 0, 0, 0, 1]).max() < 0.02
    assert v.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, "high"])
def test_bad_restitution_is_named(value: Any) -> None:
    for make in (lambda: sp.Contact(restitution=value), lambda: sp.Floor(restitution=value)):
        with pytest.raises(InputError, match="restitution"):
            make()


def test_solvers_that_know_no_restitution_refuse_it() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(tree(), at=(0, 0, 1), name="tree")
    scene.add(sp.Contact(restitution=0.5))
    with pytest.raises(InputError, match=r"without a restitution \(got 'Contact\(restitution=0.5\)'|restitution"):
        sp.Partitioned().prepare(scene.compile())
    voxels = sp.Scene(gravity=(0, 0, -G))
    grid = sp.VoxelGrid(np.ones((2, 2, 2), int), 0.03)
    voxels.add(sp.VoxelBody(grid, sp.VoxelMaterial(1e6, density=800)), at=(0, 0, 0.1))
    voxels.add(sp.Floor(restitution=0.5))
    for solver in (sp.LatticeSolver(), sp.Partitioned()):
        with pytest.raises(InputError, match="restitution"):
            solver.prepare(voxels.compile())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("rigid", "particles")])
@pytest.mark.parametrize("of_floor", [True, False])
def test_bodies_that_deform_are_refused_by_name(kind: str, of_floor: bool) -> None:
    """It was ignored without a word."""
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(KINDS["rigid"](), at=(0, 0, 1), name="hard")
    scene.add(KINDS[kind](), at=(1, 0, 1), name="soft")
    scene.add(sp.Floor(restitution=0.5) if of_floor else sp.Contact(restitution=0.5))
    with pytest.raises(InputError, match=r"'soft' deforms.*restitution 0.5 of 'soft'|touch without a restitution"):
        sp.Partitioned().prepare(scene.compile())
    if kind in ("fem", "floating", "layered"):
        with pytest.raises(InputError, match="'soft' deforms"):
            sp.ImplicitEuler().prepare(scene.compile())


@pytest.mark.parametrize("kind", ["rigid", "particles"])
def test_a_contact_of_rigid_bodies_alone_has_its_restitution(kind: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    hard = [scene.add(KINDS[kind](), at=(x, 0, 1)) for x in (0, 0.5)]
    scene.add(KINDS["fem"](), at=(1, 0, 1), name="soft")
    scene.add(sp.Contact(hard, restitution=0.5))
    scene.add(sp.Contact(exclude=[(hard[0].name, hard[1].name)]))
    system = scene.compile()
    sp.ImplicitEuler().prepare(system)
    assert [contact.contact.restitution for contact in system.contacts] == [0.5, None]
