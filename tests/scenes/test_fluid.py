"""A fluid on bodies of every kind: Archimedes' weight, the draught of a raft, terminal speed, derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.scene import Node
from supple.scene.acting.ball_fluid import BallFluid
from supple.scene.acting.fluid_force import FluidForce
from supple.scene.derivatives import differentiate, relative_error
from supple.validation.couplings import KINDS

G, WATER, SIDE = 9.81, 1000.0, 0.1
SURFACED = [kind for kind in KINDS if kind != "particles"]


def octahedron(lift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A regular octahedron of radius 1 at a height, its triangles outward."""
    X = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    T = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    return X + np.array([0, 0, lift]), T


def total(force: FluidForce, x: np.ndarray, v: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the origin."""
    f = np.zeros_like(x)
    force.add_force(LocalState(0.0, x, np.zeros_like(x) if v is None else v), f)
    return f.sum(axis=0), np.cross(x, f).sum(axis=0)


@pytest.mark.parametrize("level", [None, 5.0])
def test_a_drowned_body_loses_the_weight_of_what_it_displaces(level: float | None) -> None:
    x, triangles = octahedron()
    x = x + np.array([0.3, -0.2, 0.1])
    force = FluidForce(sp.Fluid(density=WATER, level=level), triangles, np.array([0, 0, -G]))
    lift, moment = total(force, x)
    weight = np.array([0, 0, WATER * G * 4 / 3])
    assert lift == pytest.approx(weight, rel=1e-12, abs=1e-8)
    assert moment == pytest.approx(np.cross((0.3, -0.2, 0.1), weight), rel=1e-12, abs=1e-7)


@pytest.mark.parametrize("level", [-0.7, -0.2, 0.0, 0.4, 0.9])
def test_a_floating_body_displaces_what_lies_below_the_level(level: float) -> None:
    """A pyramid of height h over a square has 2 h³ / 3; what is wet of an octahedron is one, or all but one."""
    x, triangles = octahedron()
    lift, moment = total(FluidForce(sp.Fluid(density=WATER, level=level), triangles, np.array([0, 0, -G])), x)
    volume = 2 / 3 * (1 + level) ** 3 if level <= 0 else 4 / 3 - 2 / 3 * (1 - level) ** 3
    assert lift == pytest.approx([0, 0, WATER * G * volume], rel=1e-12, abs=1e-8)
    assert moment == pytest.approx(np.zeros(3), abs=1e-8)


def test_derivatives_of_pressure_and_drag() -> None:
    rng = np.random.default_rng(1)
    x, triangles = octahedron()
    x = x + 0.1 * rng.normal(size=x.shape)
    v = rng.normal(size=x.shape)
    drowned = FluidForce(sp.Fluid(density=2.0, flow=(0.3, 0, 0), level=3.0), triangles, np.array([0, 0, -G]))
    assert sp.check_derivatives(drowned, x, v).is_ok
    everywhere = FluidForce(sp.Fluid(density=2.0, drag=0.5), triangles, np.array([1.0, 2.0, -G]))
    assert sp.check_derivatives(everywhere, x, v).is_ok
    floating = FluidForce(sp.Fluid(density=2.0, drag=0.0, level=0.05), triangles, np.array([0, 0, -G]))
    assert sp.check_derivatives(floating, x, v).is_ok


def test_derivatives_of_balls() -> None:
    rng = np.random.default_rng(2)
    x, v = 0.1 * rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    force = BallFluid(sp.Fluid(density=3.0, level=0.02), np.full(5, 0.1), np.array([0, 0, -G]))

    def at(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        f = np.zeros_like(x)
        force.add_force(LocalState(0.0, x, v), f)
        return f

    d, Kd, Bd = rng.normal(size=x.shape), np.zeros_like(x), np.zeros_like(x)
    tangent = force.linearize(LocalState(0.0, x, v))
    tangent.add_product(d, Kd, 1.0, 0.0)
    tangent.add_product(d, Bd, 0.0, 1.0)
    assert relative_error(Kd, differentiate(lambda e: at(x + e * d, v), 1e-5)) < 1e-7
    assert relative_error(Bd, differentiate(lambda e: at(x, v + e * d), 1e-5)) < 1e-7


@pytest.mark.parametrize("kind", [*SURFACED, "particles"])
def test_a_body_as_dense_as_the_fluid_stays_where_it_is(kind: str) -> None:
    """Without a surface, and with drag: it neither sinks nor rises."""
    body = KINDS[kind]()
    volume = SIDE**3 if kind != "particles" else 27 * 4 / 3 * np.pi * (SIDE / 6) ** 3
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(body, at=(0, 0, 0.2), name="body")
    scene.add(sp.Fluid(density=body.total_mass / volume))
    run = sp.run(scene, until=0.2)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v, run.state.memory)
    fallen = run.system.centre_of_mass(kin)[2] - 0.2
    assert abs(fallen) < 1e-3 * G * 0.2**2 / 2 * (30 if kind in ("tree", "floating", "layered", "fem") else 1)


def test_a_box_floats_with_the_part_below_that_its_density_asks_for() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.RigidBody.box((0.2, 0.2, SIDE), density=400.0), at=(0, 0, 0.02), name="raft")
    scene.add(sp.Fluid(density=WATER, level=0.0))
    run = sp.run(scene, until=20.0, dt=0.01)
    assert run.system.positions(run.state, "raft")[0, 2] == pytest.approx(0.5 * SIDE - 0.4 * SIDE, abs=2e-3)


def test_a_ball_and_a_rigid_sphere_feel_the_same_drag() -> None:
    forces = {}
    for name, body in (
        ("ball", sp.Particles(np.zeros((1, 3)), 1.0, radius=0.1)),
        ("sphere", sp.RigidBody.sphere(0.1, density=500, cells=24)),
    ):
        for label, thing in (
            ("fluid", sp.Fluid(density=3.0, flow=(2.0, 0, 0))),
            ("wind", sp.Wind(speed=2.0, intensity=0)),
        ):
            scene = sp.Scene(gravity=(0, 0, 0))
            scene.add(body, name="body")
            scene.add(thing)
            system = scene.compile()
            state = system.initial_state()
            forces[name, label] = system.force(system.propagate(0.0, state.x, state.v))[:3]
    for label in ("fluid", "wind"):
        assert forces["ball", label] == pytest.approx(forces["sphere", label], rel=0.01, abs=1e-12)


def test_a_ball_sinks_with_its_terminal_speed() -> None:
    r, density, drag = 0.02, 3000.0, 0.47
    scene = sp.Scene(gravity=(0, 0, -G))
    volume = 4 / 3 * np.pi * r**3
    scene.add(sp.Particles(np.zeros((1, 3)), density * volume, radius=r), name="ball")
    scene.add(sp.Fluid(density=WATER, drag=drag))
    run = sp.run(scene, until=4.0, dt=0.005)
    speed = np.sqrt(4 * (density - WATER) * volume * G / (WATER * drag * np.pi * r**2))  # (rho C / 4) pi r² u²
    assert -run.system.velocities(run.state, "ball")[0, 2] == pytest.approx(speed, rel=1e-6)


def test_voxels_and_a_raft_are_in_the_same_water() -> None:
    """A lattice meets the fluid by its own sweep, the raft by its surface."""
    scene = sp.Scene(gravity=(0, 0, -G))
    grid = sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIDE / 3, origin=np.full(3, -SIDE / 2))
    scene.add(sp.VoxelBody(grid, sp.VoxelMaterial(1e5, density=500.0, bond_damping=1.0)), at=(0, 0, 0), name="cube")
    scene.add(sp.RigidBody.box((0.2, 0.2, SIDE), density=400.0), at=(1, 0, 0.01), name="raft")
    scene.add(KINDS["tree"](), at=(2, 0, 0), name="buoy")  # half as dense as water
    scene.add(sp.Fluid(density=WATER, level=0.0))
    run = sp.run(scene, until=1.0)
    assert "Partitioned" in str(run.system)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v, run.state.memory)
    for name in ("cube", "buoy"):
        assert run.system.centre_of_mass(kin, run.system.body(name))[2] == pytest.approx(0.0, abs=3e-3)
    assert abs(run.system.centre_of_mass(kin, run.system.body("raft"))[2] - 0.01) < 5e-3


def wet_cube(density: float, level: float | None, solver: object = None, young: float = 1e6) -> tuple[sp.Scene, Node]:
    """A cube of voxels about the origin, in water."""
    scene = sp.Scene(gravity=(0, 0, -G), solver=solver)
    grid = sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), SIDE / 3, origin=np.full(3, -SIDE / 2))
    node = scene.add(sp.VoxelBody(grid, sp.VoxelMaterial(young, density=density, bond_damping=1.0)), name="cube")
    scene.add(sp.Fluid(density=WATER, level=level))
    return scene, node


@pytest.mark.parametrize(("solver", "young"), [(None, 1e6), (sp.ImplicitEuler(0.01), 1e9)])
def test_voxels_sink_alike_in_their_sweep_and_by_their_surface(solver: object, young: float) -> None:
    """The speed at which the drag on the lower face carries what the water does not. The pressure of the depth, which
    the sweep does not know, makes a soft cube smaller."""
    scene, _ = wet_cube(3000.0, None, solver, young)
    run = sp.run(scene, until=1.5)
    speed = np.sqrt(2 * 2000.0 * SIDE**3 * G / (WATER * 1.05 * SIDE**2))
    assert -run.system.velocities(run.state, "cube")[:, 2].mean() == pytest.approx(speed, rel=2e-3)


def test_a_raft_of_voxels_floats_at_its_draught() -> None:
    """A cube that is much lighter than water stays upright."""
    solver = sp.ImplicitEuler(0.05)
    scene, _ = wet_cube(150.0, -0.3 * SIDE, solver)
    run = sp.run(scene, until=15.0)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    assert run.system.centre_of_mass(kin)[2] == pytest.approx((-0.3 + 0.35) * SIDE, abs=2e-3 * SIDE)


def test_voxels_in_a_fluid_may_have_joints() -> None:
    """A cube half as dense as water hangs up from a ball joint."""
    scene, cube = wet_cube(500.0, None)
    scene.add(sp.BallJoint(cube, sp.World, at=(SIDE / 2, 0, 0)))
    run = sp.run(scene, until=3.0, dt=0.02)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    assert run.system.centre_of_mass(kin) == pytest.approx([SIDE / 2, 0, SIDE / 2], abs=0.05 * SIDE)


def test_swept_voxels_leave_the_force_on_their_surface_aside() -> None:
    scene, _ = wet_cube(500.0, 0.02, sp.LatticeSolver(0.005))
    system = scene.compile()
    assert [f.label for f in system.forces if isinstance(f.force, FluidForce)] == ["fluid on cube"]
    state = system.initial_state()
    scene.solver.step(system, state)
    lift = system.momentum(system.propagate(state.t, state.x, state.v))[2] / 0.005
    wet = 0.7  # of the cube, by its layers
    assert lift == pytest.approx((wet * WATER - 500.0) * SIDE**3 * G, rel=0.02)


def test_a_ball_is_wet_by_its_cap_below_the_level() -> None:
    """Of balls of radius 2, with the level at the centre, half a radius above it, above and below the ball: the cap of
    height h holds h² (3 r - h) / (4 r³) of it."""
    balls = BallFluid(sp.Fluid(1000.0, level=1.0), np.full(4, 2.0), np.array([0.0, 0.0, -9.81]))
    part, _ = balls.wet(np.array([[0.0, 0, 1], [0, 0, 0], [0, 0, -1.5], [0, 0, 3.5]]))
    np.testing.assert_allclose(part, [0.5, 27 / 32, 1.0, 0.0], rtol=1e-12)
