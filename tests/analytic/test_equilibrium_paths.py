"""Equilibria past the largest load: closed forms of trusses, and displacements given in place of loads."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import ConvergenceError, InputError
from supple.solvers import Outcome
from supple.validation.voxel.bending import cantilever

Array = np.ndarray
RISE, SPAN, LONG, STIFFNESS, PUSH = 0.2, 1.0, 5.0, 1000.0, 10.0
SHALLOW = float(np.hypot(SPAN, RISE))
"""Length of a bar of the truss of von Mises at rest, half its span 1 m."""


def carried(z: Array) -> Array:
    """Load [N], downwards, of two bars whose apex is at the height z."""
    length = np.hypot(SPAN, z)
    return 2 * STIFFNESS * (SHALLOW - length) * z / length


def truss(push: float = PUSH, *, above: float | None = None) -> tuple[sp.System, int]:
    """Two bars held at their feet, pushed down at the apex, or through a spring of stiffness `above` on top of it. The
    number of the particle that is pushed."""
    X, springs, stiffness = [(-SPAN, 0, 0), (0, 0, RISE), (SPAN, 0, 0)], [(0, 1), (1, 2)], [STIFFNESS, STIFFNESS]
    pushed = 1
    if above is not None:
        X, springs, stiffness, pushed = [*X, (0, 0, RISE + LONG)], [*springs, (1, 3)], [*stiffness, above], 3
    scene = sp.Scene()
    body = scene.add(sp.Particles(X, 0.1, springs=springs, stiffness=stiffness), fix=[0, 2], name="truss")
    scene.add(sp.FixedAxes(body, [1], axes="y"))
    if above is not None:
        scene.add(sp.FixedAxes(body, [3], axes="xy"))
    scene.add(sp.Load(body.points([pushed]), (0, 0, -push)))
    return scene.compile(), pushed


def test_a_truss_snaps_through_along_its_closed_form() -> None:
    """Largest load where dP/dz = 0: the bars' length is then the cube root of rest length by span squared."""
    path = sp.equilibrium_path(truss()[0])
    z = path.positions("truss")[:, 1, 2]
    np.testing.assert_allclose(PUSH * path.loads, carried(z), atol=1e-8 * PUSH)
    turn = np.sqrt((SHALLOW * SPAN**2) ** (2 / 3) - SPAN**2)
    largest = float(carried(turn))
    np.testing.assert_allclose(PUSH * path.limit_loads, [largest, -largest], rtol=1e-8)
    np.testing.assert_allclose(z[path.limits], [turn, -turn], rtol=1e-4)  # the load is flat there
    assert path.loads[0] == 0.0
    assert path.loads[-1] == 1.0
    assert z[-1] < -RISE
    assert (np.diff(z) < 0).all()  # the apex never turns back
    assert path.report.is_solved
    np.testing.assert_allclose(path.lengths, (RISE - z) / np.sqrt(3), rtol=1e-9)  # one of three masses moves


def test_between_its_limit_points_a_truss_is_unstable() -> None:
    """An apex of mass m is pushed away by dP/dz: it grows as sqrt(dP/dz / m)."""
    path = sp.equilibrium_path(truss()[0], longest=0.01)
    z, first, second = path.positions("truss")[:, 1, 2], *path.limits
    assert not path.growth[:first].any()
    assert not path.growth[second + 1 :].any()
    inside = slice(first + 1, second)
    slope = (carried(z + 1e-6) - carried(z - 1e-6))[inside] / 2e-6
    np.testing.assert_allclose(path.growth[inside], np.sqrt(slope / 0.1), rtol=1e-4)


def test_a_truss_under_a_soft_spring_snaps_back() -> None:
    """The spring is softer than the truss falls: what is pushed moves back while the apex goes on."""
    soft = 10.0
    system, pushed = truss(above=soft)
    path = sp.equilibrium_path(system)
    X = path.positions("truss")
    np.testing.assert_allclose(PUSH * path.loads, carried(X[:, 1, 2]), atol=1e-7 * PUSH)
    np.testing.assert_allclose(PUSH * path.loads, soft * (X[:, 1, 2] + LONG - X[:, pushed, 2]), atol=1e-7 * PUSH)
    assert len(path.limits) == 2
    assert (np.diff(X[:, 1, 2]) < 0).all()
    between = X[path.limits[0] : path.limits[1] + 1, pushed, 2]
    assert between[-1] > between[0]  # up again, while the load falls


def test_any_choice_of_steps_finds_the_same_limits() -> None:
    limits = [
        sp.equilibrium_path(truss()[0], load_steps=steps, longest=longest).limit_loads
        for steps, longest in ((1, None), (4, None), (50, None), (10, 3e-3))
    ]
    np.testing.assert_allclose(limits, np.tile(limits[0], (4, 1)), rtol=1e-8)


def test_a_path_ends_where_it_is_told_to() -> None:
    """At a height, or at a part of the loads, above none or below."""
    system = truss()[0]
    path = sp.equilibrium_path(system, stop=lambda load, state: system.positions(state, "truss")[1, 2] < 0.05)
    z = path.positions("truss")[:, 1, 2]
    assert z[-1] < 0.05 <= z[-2]
    part = sp.equilibrium_path(system, until=0.2)
    assert part.loads[-1] == 0.2
    assert not len(part.limits)
    lifted = sp.equilibrium_path(system, until=-1.0)
    assert lifted.loads[-1] == -1.0
    z = lifted.positions("truss")[:, 1, 2]
    assert z[-1] > RISE
    np.testing.assert_allclose(PUSH * lifted.loads, carried(z), atol=1e-8 * PUSH)


def test_a_path_through_equilibria_that_load_steps_find() -> None:
    """Before the limit, statics is on the path; beyond it, it jumps to where the path comes out again."""
    for push in (1.5, 10.0):
        path, rest = sp.equilibrium_path(truss(push)[0]), sp.solve_statics(truss(push)[0])
        np.testing.assert_allclose(path.states[-1].x, rest.x, atol=1e-7)


def lever() -> sp.System:
    """A rigid bar of 1 m on a hinge, raised by 30 degrees, that a spring from its tip to (1.5, 0, 0) holds against a
    push down."""
    scene, raised = sp.Scene(), np.radians(30)
    bar = sp.RigidBody.box((1.0, 0.05, 0.05), density=400)
    node = scene.add(bar, at=(0.5 * np.cos(raised), 0, 0.5 * np.sin(raised)), rotation=(0, -raised, 0), name="bar")
    tip = node.points(local=[(0.5, 0.0, 0.0)])
    scene.add(sp.HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0)))
    anchor = scene.add(sp.Particles([(1.5, 0, 0)], 1.0), fix=[0], name="anchor")
    scene.add(sp.Springs(tip, anchor.points([0]), 200.0))
    scene.add(sp.Load(tip, (0, 0, -200)))
    return scene.compile()


def test_a_rigid_bar_on_a_hinge_snaps_through() -> None:
    """A frame turns past the line to its spring's anchor. With the tip at the angle a and the spring's length
    l² = 3.25 - 3 cos a, moments about the hinge give P cos a = k (l - l0) 1.5 sin a / l, P upwards."""
    path = sp.equilibrium_path(lever())
    frames = path.positions("bar")[:, 0]
    a = np.arctan2(frames[:, 2], frames[:, 0])
    l0, l = (np.sqrt(3.25 - 3 * np.cos(angle)) for angle in (np.radians(30), a))
    np.testing.assert_allclose(200 * path.loads, 200 * (l0 - l) * 1.5 * np.sin(a) / l / np.cos(a), atol=1e-5)
    assert len(path.limits) == 2
    assert a[-1] < -np.radians(30)
    np.testing.assert_allclose(np.linalg.norm(frames[:, :3], axis=1), 0.5, atol=1e-9)


def crank() -> tuple[sp.System, float]:
    """A bar of 1 m on a hinge, turned against a spring from its tip to (1.5, 0, 0) by a moment that is half as much
    again as the spring's largest. That moment over the one that acts."""
    a = np.linspace(0.0, np.pi, 200_001)
    l = np.sqrt(3.25 - 3 * np.cos(a))
    largest = float((200 * (l - 0.2) * 1.5 * np.sin(a) / l).max())
    scene = sp.Scene()
    node = scene.add(sp.RigidBody.box((1.0, 0.05, 0.05), density=400), at=(0.5, 0, 0), name="bar")
    scene.add(sp.HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0)))
    anchor = scene.add(sp.Particles([(1.5, 0, 0)], 1.0), fix=[0], name="anchor")
    scene.add(sp.Springs(node.points(local=[(0.5, 0.0, 0.0)]), anchor.points([0]), 200.0, rest_length=0.2))
    scene.add(sp.Wrench(node, torque=(0, 1.5 * largest, 0)))
    return scene.compile(), 1 / 1.5


def test_statics_tells_how_much_of_a_load_is_carried_that_is_too_large() -> None:
    """Load steps end just below the largest load, which the path goes through; beyond it there is nothing."""
    system, largest = crank()
    state = system.initial_state()
    report, carried = sp.Statics().approach(system, state)
    assert not report.is_solved
    assert 0.99 * largest < carried <= largest * (1 + 1e-9)
    f = system.force(system.propagate(0.0, state.x, np.zeros(system.v_size)))
    assert np.isfinite(f).all()
    with pytest.raises(ConvergenceError, match=r"beyond 0\.66"):
        sp.solve_statics(system)
    path = sp.ArcLength(max_points=60).follow(system, system.initial_state())
    assert path.report.outcome is Outcome.PATH_LIMIT
    np.testing.assert_allclose(path.limit_loads[:2], [largest, -largest], rtol=1e-7)


def beam(count: int, torque: float) -> tuple[sp.System, Array, float]:
    """A cantilever of `count` cubes of finite elements, in a plane, under a moment at its end. The way between the
    centres of its ends, over its length, and by how much the end has turned."""
    mesh = sp.box_hexes((0.01 * count, 0.01, 0.01), (count, 1, 1))
    scene = sp.Scene()
    node = scene.add(sp.FemBody(mesh, sp.Material(1e6, 0.0, 1000)), fix="x_min", name="beam")
    scene.add(sp.FixedAxes(node, np.flatnonzero(mesh.nodes[:, 0] > mesh.nodes[:, 0].min()), axes="y"))
    scene.add(sp.Wrench(node, "x_max", torque=(0, torque, 0)))
    system = scene.compile()
    x = system.positions(sp.solve_statics(system, tolerance=1e-9), "beam")
    far, near = node.indices("x_max"), node.indices("x_min")
    up = far[np.argmax(mesh.nodes[far, 2])], far[np.argmin(mesh.nodes[far, 2])]
    side = x[up[0]] - x[up[1]]
    return system, (x[far].mean(axis=0) - x[near].mean(axis=0)) / (0.01 * count), float(np.arctan2(side[0], side[2]))


@pytest.mark.parametrize("count", [30, 60])
def test_a_beam_of_finite_elements_rolls_into_a_circle_in_a_plain_call(count: int) -> None:
    """By a moment that turns its end once, as its own small turns say; ends miss each other by about 1 / count²."""
    turned = beam(count, 1e-6)[2] / 1e-6
    _, gap, angle = beam(count, 2 * np.pi / turned)
    assert np.linalg.norm(gap) < 1.5 / count**2
    assert angle == pytest.approx(0.0, abs=10 / count**2)


ARCH = {"span": 1.0, "rise": 0.04, "thick": 0.01, "cells": (32, 1, 1)}
ARCH_PUSH = 1.0


def arch(*, moving: float | None = None) -> tuple[sp.System, Array]:
    """A shallow arch of finite elements between two clamps, in a plane; pushed at its crown, or its crown moved down.
    Its nodes at the crown."""
    mesh = sp.box_hexes((ARCH["span"], 0.02, ARCH["thick"]), ARCH["cells"])
    X = mesh.nodes - mesh.nodes.min(axis=0)
    X[:, 2] += ARCH["rise"] * 0.5 * (1 - np.cos(2 * np.pi * X[:, 0] / ARCH["span"]))
    mesh = sp.HexMesh(X, mesh.hexes)
    ends = np.flatnonzero((X[:, 0] < 1e-9) | (X[:, 0] > ARCH["span"] - 1e-9))
    crown = np.flatnonzero(np.abs(X[:, 0] - ARCH["span"] / 2) < 1e-9)
    crown = crown[X[crown, 2] > ARCH["rise"] + 0.5 * ARCH["thick"]]
    scene = sp.Scene()
    body = scene.add(sp.FemBody(mesh, sp.Material(1e6, 0.0, 1000)), fix=ends, name="arch")
    scene.add(sp.FixedAxes(body, np.setdiff1d(np.arange(len(X)), [*ends, *crown]), axes="y"))
    if moving is None:
        scene.add(sp.FixedAxes(body, crown, axes="y"))
        scene.add(sp.Load(body.points(crown), (0, 0, -ARCH_PUSH)))
    else:
        scene.add(sp.PrescribedMotion(body, crown, displacement=lambda t: (0, 0, -moving)))
    return scene.compile(), crown


def reaction(sag: float, near: sp.State) -> float:
    """Force [N] at the crown of the arch moved down by sag, from a state nearby."""
    system, crown = arch(moving=sag)
    state = near.copy()
    system.filter.project_position(state.x, state.t)
    state = sp.solve_statics(system, state, tolerance=1e-10)
    f = system.force(system.propagate(state.t, state.x, np.zeros(system.v_size)))
    return float(f.reshape(-1, 3)[crown, 2].sum())


def test_an_arch_of_finite_elements_snaps_through_as_where_its_crown_is_moved() -> None:
    """The largest and smallest load are those that moves of the crown find, which know no limit of the load."""
    system, crown = arch()
    path = sp.equilibrium_path(system)
    sags = -(path.positions("arch")[:, crown, 2] - path.positions("arch")[0, crown, 2]).mean(axis=1)
    assert len(path.limits) == 2
    assert path.limit_loads[1] < path.limit_loads[0] < 1.0
    for k in range(1, len(path), 2):
        assert reaction(sags[k], path.states[k]) == pytest.approx(ARCH_PUSH * path.loads[k], abs=1e-7)
    for k in path.limits:
        there = ARCH_PUSH * path.loads[k]
        assert reaction(sags[k], path.states[k]) == pytest.approx(there, abs=1e-8)
        beside = [reaction(sags[k] + 0.05 * ARCH["rise"] * side, path.states[k]) for side in (-1, 1)]
        assert max(beside) < there if k == path.limits[0] else min(beside) > there


def test_a_line_of_voxels_rolls_up_along_a_path() -> None:
    """Frames turn by up to a full turn; the end is that of load steps."""
    system = cantilever(20, torque=2 * np.pi)
    path = sp.equilibrium_path(system, load_steps=8)
    with pytest.warns(sp.errors.StabilityWarning):  # a circle is unstable to its side
        rest = sp.solve_statics(system)
    np.testing.assert_allclose(path.positions("beam")[-1, :, :3], rest.x.reshape(-1, 7)[:, :3], atol=1e-7)
    np.testing.assert_allclose(path.loads[-1], 1.0)
    assert not len(path.limits)


def test_a_path_that_is_lost_or_too_long_is_told() -> None:
    """In the error how far it came; `ArcLength` gives what there is."""
    with pytest.raises(ConvergenceError, match=r"5 points of the path led to .* the path did not come to its end"):
        sp.equilibrium_path(truss()[0], max_points=5)
    part = sp.ArcLength(max_points=5).follow(truss()[0], truss()[0].initial_state())
    assert part.report.outcome is Outcome.PATH_LIMIT
    assert not part.report.is_solved
    assert len(part) == 5
    scene = sp.Scene()  # a rope that hangs on nothing across: its first matrix is singular
    rope = scene.add(sp.Particles([(0, 0, 0), (1, 0, 0)], 1.0, springs=[(0, 1)], stiffness=10.0), fix=[0])
    scene.add(sp.Load(rope.points([1]), (0, 0, -1.0)))
    with pytest.raises(ConvergenceError, match="singular"):
        sp.equilibrium_path(scene.compile())


def test_what_cannot_be_followed_is_refused() -> None:
    system = truss()[0]
    wrong: list[dict[str, object]] = [
        {"until": 0.0},
        {"until": np.nan},
        {"stop": 3},
        {"load_steps": 0},
        {"longest": -1.0},
        {"max_points": 1},
        {"tolerance": 0.0},
        {"state": "start"},
    ]
    for given in wrong:
        with pytest.raises(InputError):
            sp.equilibrium_path(system, **given)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="compiled scene"):
        sp.equilibrium_path(sp.Scene())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no load acts"):
        sp.equilibrium_path(truss(0.0)[0])
    scene = sp.Scene(gravity=(0, 0, -9.81))
    ball = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 1))
    scene.add(sp.HingeJoint(ball, axis=(0, 1, 0), limits=(-1.0, 1.0)))
    with pytest.raises(InputError, match="limits or motors"):
        sp.equilibrium_path(scene.compile())
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, 1))
    scene.add(sp.Floor())
    scene.add(sp.Contact())
    with pytest.raises(InputError, match="contacts are not followed"):
        sp.equilibrium_path(scene.compile())
