"""Edges that cross at speed meet where they cross: thin bars do not pass each other, and are not stopped before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.contact.narrow.closest_kernels import edge_meeting

LENGTH, WIDE, SPEED = 0.1, 0.005, 100.0
STIFF = sp.Material(young=1e9, poisson=0.3, density=2000)
WAYS = ((0, 0, -1), (0, 1, -1), (1, 0, -1), (1, 1, -1), (0, 3, -1), (2, 2, -1))
PAIRS = (("fem", "fem"), ("fem", "rigid"), ("rigid", "fem"), ("rigid", "rigid"))


def bar(kind: str, size: tuple[float, float, float]) -> Any:
    """One cell: it has vertices at its ends alone."""
    mesh = sp.box_tets(size, (1, 1, 1))
    middle = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    if kind == "rigid":
        return sp.RigidBody.box(size, density=2000)
    return sp.FemBody(sp.TetMesh(mesh.nodes - middle, mesh.tets), STIFF)


def shoot(one: str, two: str, way: tuple[int, int, int], dt: float, aside: float = 0.0) -> tuple[float, float]:
    """Height of a bar along x [m] after a step in which it comes down on one along y; and where it would be."""
    v = SPEED * np.array(way) / np.linalg.norm(way)
    scene = sp.Scene(solver=sp.ImplicitEuler(dt))
    scene.add(bar(two, (WIDE, LENGTH, WIDE)), fix=True, name="held")
    start = np.array([0, aside, WIDE]) - 0.8 * dt * v
    scene.add(bar(one, (LENGTH, WIDE, WIDE)), at=tuple(start), velocity=tuple(v), name="bar")
    scene.add(sp.Contact(friction=0.0))
    system = scene.compile()
    state = system.initial_state()
    scene.solver.step(system, state)
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    return float(kin.x[system.contacts[0].slots[1].index][:, 2].mean()), float((start + dt * v)[2])


@pytest.mark.filterwarnings("ignore::supple.errors.ContactWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_bars_that_cross_stop_at_each_other(one: str, two: str, way: tuple[int, int, int]) -> None:
    """They were stopped 4 to 30 mm before, or went on by as much."""
    high, _ = shoot(one, two, way, 1e-3)
    assert high == pytest.approx(WIDE, abs=0.05 * WIDE)


@pytest.mark.filterwarnings("ignore::supple.errors.ContactWarning")
@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_bars_that_miss_each_other_fly_on(one: str, two: str) -> None:
    high, free = shoot(one, two, (0, 3, -1), 1e-3, aside=LENGTH)
    assert high == pytest.approx(free, rel=1e-9)


def test_the_time_of_crossing_is_that_of_many_small_steps() -> None:
    rng = np.random.default_rng(3)
    times = np.linspace(0.0, 1.0, 4001)
    met = 0
    for _ in range(200):
        x, y = rng.normal(size=(2, 4, 3))
        time, s, t = edge_meeting(*map(tuple, x), *map(tuple, y))
        p, q, r, w = np.moveaxis(x + times[:, None, None] * (y - x), 1, 0)
        volume = np.einsum("ni,ni->n", p - r, np.cross(q - p, w - r))
        crossings = []
        for k in np.flatnonzero(volume[:-1] * volume[1:] < 0):
            A = np.stack([q[k] - p[k], r[k] - w[k]], axis=1)
            a, b = np.linalg.lstsq(A, r[k] - p[k], rcond=None)[0]
            if 0.01 < a < 0.99 and 0.01 < b < 0.99:
                crossings.append((times[k], a, b))
        if crossings:
            met += 1
            assert time <= crossings[0][0] + 1e-3
            if time > crossings[0][0] - 1e-3:
                assert (s, t) == pytest.approx(crossings[0][1:], abs=0.05)
        elif time <= 1.0:
            assert min(s, 1 - s, t, 1 - t) < 0.05
    assert met > 10
