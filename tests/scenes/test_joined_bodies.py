"""Bodies of one kind that follow each other are moved and weighed as one, with the bits of one by one."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.rigid.mass import FrameMass
from supple.scene.joined_masses import join_masses

SOLVERS = [
    sp.ImplicitEuler(0.002),
    sp.ImplicitEuler(0.002, newton=True),
    sp.ImplicitEuler(0.002, linear="cg"),
    sp.Midpoint(0.002),
    sp.GeneralizedAlpha(0.002),
    sp.SymplecticEuler(0.0005),
    sp.RungeKutta4(0.001),
]


def mixed() -> sp.Scene:
    """Rigid bodies, a soft one, particles, rigid bodies again, with springs between them."""
    rng, scene = np.random.default_rng(0), sp.Scene(gravity=(0, 0, -9.81))
    rubber = sp.Material(young=2e5, poisson=0.3, density=500)

    def rigid(name: str, k: int, y: float) -> sp.Node:
        body = sp.RigidBody.box((0.1, 0.07, 0.12), density=500)
        turn, spin = rng.normal(size=3), rng.normal(size=3)
        return scene.add(body, at=(0.3 * k, y, 0.1), rotation=turn, spin=spin, name=f"{name} {k}")

    first = [rigid("box", k, 0.0) for k in range(3)]
    soft = scene.add(sp.FemBody(sp.box_tets(size=(0.1,) * 3, cells=(2, 2, 2)), rubber), at=(2, 0, 0), name="soft")
    for k in range(2):
        scene.add(sp.Particles(rng.normal(size=(5, 3)), 0.1), name=f"dust {k}")
    last = [rigid("brick", k, 3.0) for k in range(2)]
    scene.add(sp.Springs(first[0].points(at=[(0.02, 0.01, 0.1)]), last[1].points(at=[(0.3, 3, 0.1)]), stiffness=100.0))
    scene.add(sp.Springs(first[1].points(at=[(0.3, 0, 0.1)]), soft.points(at=[(2.05, 0.05, 0.05)]), stiffness=100.0))
    return scene


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_bits_are_those_of_bodies_one_by_one(solver: sp.Solver) -> None:
    joined, single = mixed().compile(), mixed().compile()
    single.__dict__["joined_bodies"], single.__dict__["joined_masses"] = single.bodies, single.masses
    one, other = joined.initial_state(), single.initial_state()
    for _ in range(10):
        solver.step(joined, one)
        solver.step(single, other)
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.v, other.v)


def test_rows_of_one_kind_are_joined() -> None:
    system = mixed().compile()
    assert [slot.coordinates.count for slot in system.joined_bodies] == [3, 27 + 10, 2]
    assert [len(system.bodies), len(system.masses), len(system.joined_masses)] == [8, 8, 3]
    assert sum(slot.coordinates.count * slot.coordinates.v_width for slot in system.joined_bodies) == system.v_size
    assert [system.body("dust 1").coordinates.count, system.body("brick 0").coordinates.count] == [5, 1]


def test_a_mass_of_ones_own_stays_alone() -> None:
    class Watched(FrameMass):
        """A mass that inherits, and may do anything."""

    system = mixed().compile()
    masses = [
        m._replace(mass=Watched(m.mass.mass, m.mass.inertia)) if k == 1 else m for k, m in enumerate(system.masses)
    ]
    assert [m.label for m in join_masses(masses)[:3]] == ["box 0 mass", "box 1 mass", "box 2 mass"]
    all_own = [m._replace(mass=Watched(m.mass.mass, m.mass.inertia)) for m in system.masses[:3]]
    assert join_masses(all_own) == all_own
