"""Voxel bodies on voxel bodies by `Contact`: they rest wherever they lie, stick on a slope and slide down it."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.voxel.touching.limits import BEARABLE
from supple.validation.contact_kinds import resting

Array = np.ndarray
G, SIDE, DENSITY, MU = 9.81, 0.02, 500.0, 0.4
MATERIAL = sp.VoxelMaterial(1e6, density=DENSITY, bond_damping=1.0)


@pytest.mark.parametrize(
    ("aside", "turn"), [(0.0, 0.0), (1e-9, 0.0), (1e-7, 0.0), (3e-6, 0.0), (1e-3, 0.0), (1e-3, 0.01)]
)
def test_a_lattice_comes_to_rest_on_a_lattice(aside: float, turn: float) -> None:
    """Rims that all but meet, or lie aside: the limits of the case of five seconds, after two."""
    drift, energy, failed = resting("voxel", "voxel", 2.0, aside=aside, turn=turn)
    assert drift < 0.01
    assert energy < 0.01
    assert failed == 0


def on_slope(angle: float, until: float, length: int) -> Array:
    """Times and places (steps, 4) of a plate of voxels on a held block of them, which is level while gravity leans."""
    scene = sp.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)), solver=sp.Partitioned(0.005))
    stiffness, block = 1e7, sp.VoxelGrid(np.ones((length, 5, 2), dtype=int), SIDE)
    scene.add(sp.VoxelBody(block, MATERIAL), name="block", fix=lambda x: x[:, 2] < SIDE)
    depth = DENSITY * SIDE * G * np.cos(angle) / stiffness
    plate = sp.VoxelBody(sp.VoxelGrid(np.ones((3, 3, 1), dtype=int), SIDE), MATERIAL)
    scene.add(plate, at=(0.0117, 0.0241, 2 * SIDE - depth), rotation=(0, 0, 0.02), name="plate")
    scene.add(sp.Contact(friction=MU, stiffness=stiffness))
    system = scene.compile()
    state, places = system.initial_state(), []
    while state.t < until - 1e-6:
        assert scene.solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        places.append([state.t, *system.centre_of_mass(kin, system.bodies[1])])
    return np.array(places)


def test_a_plate_of_voxels_sticks_on_a_slope_of_voxels() -> None:
    """At 0.98 of the slope that friction holds; it is let go without a stretch along it, and slides a little first."""
    places = on_slope(np.arctan(0.98 * MU), 2.5, length=5)
    after = places[places[:, 0] > 0.5 - 1e-6, 1:]
    assert np.abs(after - after[0]).max() < 1e-6
    assert places[-1, 1] - places[0, 1] < 1e-3


@pytest.mark.parametrize("degrees", [24.0, 35.0])
def test_it_slides_down_a_steeper_one(degrees: float) -> None:
    """From where its springs are stretched on; at 35 degrees it passes a row of corners every ten steps or less."""
    angle = np.radians(degrees)
    t, x = on_slope(angle, 0.35, length=12).T[:2]
    slides = t > 0.05
    acceleration = 2 * np.polyfit(t[slides], x[slides], 2)[0]
    assert acceleration == pytest.approx(G * (np.sin(angle) - MU * np.cos(angle)), rel=0.01)


def test_contacts_of_voxels_have_the_dashpot_of_their_material() -> None:
    """zeta sqrt(2 m k), as on a floor of the lattice's own, where k = 2 E l; of stiff contacts what its steps bear."""

    def dashpots(
        body: sp.VoxelBody | sp.RigidBody, stiffness: float, damping: float | None = None, height: float = 0.0
    ) -> float:
        """Of the face that lies on a floor, of a stiffness [N/m]."""
        scene = sp.Scene(gravity=(0, 0, -G), solver=sp.Partitioned(0.001))
        scene.add(body, at=(0, 0, height), name="body")
        scene.add(sp.Plane())
        scene.add(sp.Contact(stiffness=stiffness / SIDE**2, damping=damping))
        system = scene.compile()
        state = system.initial_state()
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        found = system.contacts[0].find(kin, 0.001, {})
        np.testing.assert_allclose(found.tangential_dashpot, 0.5 * found.dashpot, rtol=1e-12)
        return float(found.dashpot.sum())

    voxel = sp.VoxelBody(sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), SIDE), MATERIAL)
    zeta, m, link = MATERIAL.contact_damping, DENSITY * SIDE**3, MATERIAL.young * SIDE
    soft = link / 100
    assert dashpots(voxel, soft) == pytest.approx(zeta * np.sqrt(2 * m * soft), rel=1e-12)
    assert dashpots(voxel, link) == pytest.approx(zeta * BEARABLE * np.sqrt(m * link), rel=1e-12)
    assert dashpots(voxel, soft, damping=0.0) == 0.0
    assert dashpots(voxel, soft, damping=1e-3) == pytest.approx(1e-3 * soft, rel=1e-12)
    assert dashpots(sp.RigidBody.box((SIDE,) * 3, density=DENSITY), soft, height=SIDE / 2) == 0.0
