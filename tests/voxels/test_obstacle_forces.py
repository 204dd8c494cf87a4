"""Forces of lattices on obstacles that their own sweep meets: at rest, sliding, in a corner, beside other bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.examples.quadruped import make
from supple.record import open_record
from supple.record.files.contacts import Contacts, contacts_of

G, EDGE, SIZE = 9.81, 0.06, 0.02
WEIGHT = 1000 * EDGE**3 * G
REST = 1.0
"""Until nothing moves any more [s]."""


def block(*, static: float = 1.0, kinetic: float = 0.5) -> sp.VoxelBody:
    soft = sp.VoxelMaterial(
        1e5, 1000, bond_damping=0.5, ground_damping=0.0, static_friction=static, kinetic_friction=kinetic
    )
    return sp.VoxelBody(sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIZE), soft)


def scene(gravity: tuple[float, float, float] = (0, 0, -G), v: float = 0.0, *obstacles: sp.Floor) -> sp.Scene:
    found = sp.Scene(gravity=gravity)
    found.add(block(), name="block", velocity=(v, 0, 0))
    for obstacle in obstacles or (sp.Floor(),):
        found.add(obstacle)
    return found


def ended(made: sp.Scene, until: float = REST) -> Contacts:
    run = sp.run(made, until=until, progress=False)
    return contacts_of(run.system, run.state)


def test_a_block_at_rest_pushes_the_floor_by_its_weight(tmp_path: Path) -> None:
    frames = sp.run(scene(), until=REST, out=tmp_path / "run", progress=False).frames
    for kept in (frames, open_record(tmp_path / "run"), sp.run(scene(), until=REST, progress=False).frames):
        found = kept.contacts(-1)
        assert set(found.pairs) == {("block", "floor")}
        assert len(found.pairs) == 9  # voxels of the lowest layer
        # at rest, in single precision
        np.testing.assert_allclose(found.between("block", "floor"), [0, 0, WEIGHT], atol=1e-4 * WEIGHT)
        np.testing.assert_allclose(found.between("floor", "block"), [0, 0, -WEIGHT], atol=1e-4 * WEIGHT)
        np.testing.assert_allclose(found.normal, np.tile([0, 0, 1.0], (9, 1)))
        assert np.abs(found.place[:, 2]).max() < 1e-7
        assert np.ptp(found.place[:, 0]) == pytest.approx(2 * SIZE, rel=1e-2)


@pytest.mark.parametrize("slope", [0.2, 0.45])
def test_friction_holds_a_block_on_a_slope(slope: float) -> None:
    """Below both coefficients: the force is opposite to all of the weight."""
    a = np.arctan(slope)
    weight = WEIGHT * np.array([np.sin(a), 0, -np.cos(a)])
    found = ended(scene(tuple(weight / WEIGHT * G)))
    np.testing.assert_allclose(found.between("block", "floor"), -weight, atol=2e-3 * WEIGHT)


def test_friction_of_a_sliding_block_is_its_coefficient() -> None:
    found = ended(scene((0, 0, -G), 5.0), 0.5)
    force = found.between("block", "floor")
    assert force[0] == pytest.approx(-0.5 * force[2], rel=1e-6)
    assert np.abs(force[1]) < 1e-6 * force[2]


def test_a_conveyor_takes_a_block_along() -> None:
    """In its direction while it is slower, with the friction of the conveyor."""
    belt = sp.Plane((0, 0, 1), 1e-5, friction=0.3, motion=sp.Motion(velocity=(0, 1.5, 0)), name="belt")
    force = ended(scene((0, 0, -G), 0.0, belt), 0.2).between("block", "belt")
    assert force[1] == pytest.approx(0.3 * force[2], rel=1e-6)


def test_each_of_several_obstacles_has_its_own_force() -> None:
    """A block between two smooth slopes of 45 degrees: each bears the weight times the root of a half."""
    slopes = [sp.Plane((sign, 0, 1), 0.0, friction=0.0, name=name) for sign, name in ((1, "left"), (-1, "right"))]
    made = sp.Scene(gravity=(0, 0, -G))
    made.add(block(), name="block", rotation=(0, -np.pi / 4, 0))
    for slope in slopes:
        made.add(slope)
    found = ended(made)
    for name, sign in (("left", 1), ("right", -1)):
        np.testing.assert_allclose(
            found.between("block", name), WEIGHT / 2 * np.array([sign, 0, 1]), atol=0.01 * WEIGHT
        )


def test_looking_at_forces_keeps_the_bits() -> None:
    ends, found = [], 0
    for looks in (False, True):
        system, solver = make().compile(), sp.LatticeSolver(1 / 60)
        state = system.initial_state()
        for _ in range(30):
            solver.step(system, state)
            if looks:
                found += len(contacts_of(system, state).pairs)
        ends.append(state.x.tobytes() + state.v.tobytes())
    assert found > 0
    assert ends[0] == ends[1]


@pytest.mark.filterwarnings("ignore::supple.errors.StepWarning")  # contacts with the crate cost time
def test_a_floor_under_a_lattice_with_a_crate_bears_both() -> None:
    made = scene()
    crate = sp.RigidBody.box((0.04, 0.04, 0.02), density=1000)
    made.add(crate, at=(EDGE / 2, EDGE / 2, EDGE + 0.011), name="crate")
    made.add(sp.Contact())
    found = ended(made, 1.5)
    load = crate.total_mass * G
    assert found.between("crate", "block")[2] == pytest.approx(load, rel=1e-2)
    assert found.between("block", "floor")[2] == pytest.approx(WEIGHT + load, rel=1e-2)
    assert not found.between("crate", "floor").any()


def test_nothing_touches_in_the_air() -> None:
    made = sp.Scene(gravity=(0, 0, -G))
    made.add(block(), at=(0, 0, 1.0), name="block")
    made.add(sp.Floor())
    assert len(ended(made, 0.1).pairs) == 0


def test_forces_of_several_frames_are_those_of_each() -> None:
    """Found in one call, of voxels that swell and of two bodies between obstacles, one of which moves."""
    swelling = sp.VoxelMaterial(1e5, 1000, bond_damping=0.5, expansion=0.01)
    grid = sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIZE)
    made = scene((-G, 0, -G), 0.0, sp.Floor(), sp.Plane((1, 0, 0), 0.0, name="wall"))
    made.add(sp.VoxelBody(grid, swelling, actuation=sp.Actuation(5.0, 5.0)), at=(0, 0.2, 0), name="second")
    made.add(sp.Plane((0, 0, 1), 1e-5, friction=0.3, motion=sp.Motion(velocity=(0, 1.5, 0)), name="belt"))
    system, solver = made.compile(), sp.LatticeSolver()
    solver.prepare(system)
    state = system.initial_state()
    frames = [found for found, _ in solver.advance_frames(system, state, [5] * 8)]
    together = solver.obstacle_forces(system, frames)
    assert {pair for found in together for pair in found.bodies} == {
        (body, obstacle) for body in ("block", "second") for obstacle in ("floor", "wall", "belt")
    }
    assert len({len(found.bodies) for found in together}) > 1
    for frame, found in zip(frames, together):
        (alone,) = solver.obstacle_forces(system, [frame])
        assert found.bodies == alone.bodies
        for one, other in zip(found[1:], alone[1:]):
            np.testing.assert_array_equal(one, other)
