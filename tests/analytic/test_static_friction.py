"""Static and kinetic friction: slopes that hold, blocks that start and slide, a belt that drags a block by starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.scene import State, System
from supple.solvers.choosing import choose

G, STATIC, KINETIC = 9.81, 0.6, 0.4
SIZE, DENSITY = (0.1, 0.1, 0.02), 1000.0
MASS = DENSITY * float(np.prod(SIZE))


def rigid() -> Any:
    return sp.RigidBody.box(SIZE, density=DENSITY)


def soft() -> Any:
    return sp.FemBody(sp.box_tets(SIZE, (3, 3, 1)), sp.Material(young=1e8, poisson=0.3, density=DENSITY))


BODIES = {"rigid": rigid, "soft": soft}


def on_slope(kind: str, slope: float, solver: Any, *, obstacle: bool = False) -> tuple[System, State]:
    """A plate at rest on a slope tan a: level, while gravity leans."""
    a = np.arctan(slope)
    scene = sp.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)), solver=solver)
    scene.add(BODIES[kind](), at=(0, 0, 0.5 * SIZE[2]), name="plate")
    own = {"friction": KINETIC, "static_friction": STATIC}
    scene.add(sp.Floor(**own if obstacle else {}))  # type: ignore[arg-type]
    scene.add(sp.Contact(**{} if obstacle else own))  # type: ignore[arg-type]
    system = scene.compile()
    return system, system.initial_state()


def advance(system: System, state: State, until: float) -> None:
    solver = system.scene.solver
    while state.t < until - 0.5 * solver.dt:
        assert solver.step(system, state).is_solved


def along(system: System, state: State) -> tuple[float, float]:
    """Mean place [m] and velocity [m/s] along x."""
    return float(system.positions(state, "plate")[:, 0].mean()), float(system.velocities(state, "plate")[:, 0].mean())


@pytest.mark.parametrize("solver", [sp.ImplicitEuler, sp.Partitioned])
@pytest.mark.parametrize("kind", BODIES)
def test_a_plate_holds_up_to_the_static_friction(kind: str, solver: Any) -> None:
    system, state = on_slope(kind, 0.98 * STATIC, solver(0.002))
    advance(system, state, 0.3)
    before, _ = along(system, state)
    advance(system, state, 0.6)
    after, speed = along(system, state)
    assert abs(after - before) < 1e-7
    assert abs(speed) < 1e-6


@pytest.mark.parametrize("obstacle", [False, True])
@pytest.mark.parametrize("kind", BODIES)
def test_beyond_it_a_plate_slides_with_the_kinetic_friction(kind: str, obstacle: bool) -> None:
    slope = 1.02 * STATIC
    system, state = on_slope(kind, slope, sp.ImplicitEuler(0.002), obstacle=obstacle)
    advance(system, state, 0.3)
    _, before = along(system, state)
    advance(system, state, 0.5)
    _, after = along(system, state)
    a = np.arctan(slope)
    assert (after - before) / 0.2 == pytest.approx(G * (np.sin(a) - KINETIC * np.cos(a)), rel=0.01)


def test_a_spring_lets_a_plate_stick_and_slip() -> None:
    """A belt carries a plate that a spring holds. It slides back through half a swing about where the spring balances
    the kinetic friction, from the belt's velocity to the belt's velocity."""
    stiffness, limit = 80.0, STATIC * MASS * G
    w, fall = np.sqrt(stiffness / MASS), 2 * (STATIC - KINETIC) * MASS * G / stiffness
    dt, speed = 0.02 / w, 0.1 * fall * w
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.ImplicitEuler(dt))
    plate = scene.add(rigid(), at=(0, 0, 0.5 * SIZE[2]), velocity=(speed, 0, 0), name="plate")
    middle, begin = np.array([[0.0, 0.0, 0.5 * SIZE[2]]]), 0.5 * limit / stiffness
    wall = sp.World.points(middle - [1.0, 0, 0])
    scene.add(sp.Springs(plate.points(at=middle), wall, stiffness, rest_length=1.0 - begin))
    scene.add(sp.Floor(friction=KINETIC, static_friction=STATIC, motion=sp.Motion(velocity=(speed, 0, 0))))
    scene.add(sp.Contact(stiffness=1e11))  # it lets go within a small part of the way
    system = scene.compile()
    state, places = system.initial_state(), []
    for _ in range(1300):
        assert scene.solver.step(system, state).is_solved
        places.append(along(system, state))
    (x, v), settled = np.array(places).T, 50
    first = settled + int(np.argmax(v[settled:] < 0.9 * speed))
    assert stiffness * (begin + x[first]) == pytest.approx(limit, rel=0.01)
    back = first + settled + int(np.argmax(v[first + settled :] > 0.98 * speed))
    assert x[first] - x[back] == pytest.approx(fall, rel=0.03)
    again = back + settled + int(np.argmax(v[back + settled :] < 0.9 * speed))
    assert v[back + settled : again - settled] == pytest.approx(speed, rel=0.02)  # carried
    assert stiffness * (begin + x[again]) == pytest.approx(limit, rel=0.01)


def test_equal_coefficients_leave_all_bits_as_they_are() -> None:
    runs = []
    for own in ({"friction": 0.4}, {"friction": 0.4, "static_friction": 0.4}):
        scene = sp.Scene(gravity=(4, 0, -9), solver=sp.ImplicitEuler(0.005))
        scene.add(rigid(), at=(0, 0, 0.5 * SIZE[2]))
        scene.add(sp.Floor())
        scene.add(sp.Contact(**own))  # type: ignore[arg-type]
        runs.append(sp.run(scene, until=0.2).state)
    assert runs[0].x.tobytes() == runs[1].x.tobytes()
    assert sorted(runs[0].memory) == sorted(runs[1].memory)


def test_an_obstacle_has_both_coefficients_of_its_own() -> None:
    scene = sp.Scene()
    scene.add(rigid(), name="plate")
    scene.add(sp.Floor(friction=0.9))
    scene.add(sp.Plane((1, 0, 0), -9.0, static_friction=0.7, name="wall"))
    scene.add(sp.Contact(friction=0.3, static_friction=0.5))
    bound = scene.compile().contacts[0]
    of = [bound.names.index(name) for name in ("plate", "floor", "wall")]
    assert bound.rough[of[0], of].tolist() == [0.3, 0.9, 0.3]
    assert bound.hold[of[0], of].tolist() == [0.5, 0.9, 0.7]


@pytest.mark.parametrize("solver", [sp.ImplicitEuler, sp.Partitioned])
@pytest.mark.parametrize("fall", [0.0, 0.5])
@pytest.mark.parametrize("kind", BODIES)
def test_new_contacts_of_a_plate_that_slides_have_the_kinetic_friction(kind: str, fall: float, solver: Any) -> None:
    system, state = on_slope(kind, 0.0, solver(0.002))
    state.v[:] = 0.0
    system.body("plate").view_v(state.v)[:, 0] = 2.0
    system.body("plate").view_v(state.v)[:, 2] = -fall
    advance(system, state, 0.02)
    _, speed = along(system, state)
    assert 2.0 - speed == pytest.approx(KINETIC * (G * 0.02 + fall), rel=0.02)


def test_new_contacts_of_a_plate_that_hardly_moves_have_the_static_friction() -> None:
    system, state = on_slope("rigid", 0.95 * STATIC, sp.ImplicitEuler(0.002))
    system.body("plate").view_v(state.v)[:, 0] = 0.2 * STATIC * G * 0.002
    advance(system, state, 0.3)
    _, speed = along(system, state)
    assert abs(speed) < 1e-9


def test_static_friction_below_kinetic_is_refused() -> None:
    for make in (sp.Contact, sp.Floor):
        with pytest.raises(InputError, match="static friction is smaller than friction") as error:
            make(friction=0.4, static_friction=0.3)
        assert error.value.fix
    scene = sp.Scene()
    scene.add(rigid(), name="plate")
    scene.add(sp.Floor(static_friction=0.3))
    with pytest.raises(InputError, match="'floor'"):
        scene.compile()


def test_a_run_goes_on_from_a_state_with_the_contacts_as_they_were() -> None:
    system, state = on_slope("rigid", 1.02 * STATIC, sp.ImplicitEuler(0.002))
    advance(system, state, 0.3)
    loose = [values for name, values in state.memory.items() if name.endswith("loose")]
    assert [(values == 1.0).all() for values in loose] == [True]
    other = state.copy()
    advance(system, state, 0.4)
    advance(system, other, 0.4)
    assert state.x.tobytes() == other.x.tobytes()


def voxels(slope: float, solver: Any, floor: sp.Floor, contact: sp.Contact | None = None) -> sp.Scene:
    """A plate of voxels on a slope; their material is smooth."""
    a, size = np.arctan(slope), 0.01
    scene = sp.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)), solver=solver(0.002))
    material = sp.VoxelMaterial(
        young=1e6, density=DENSITY, static_friction=0.0, kinetic_friction=0.0, contact_damping=1.0
    )
    body = sp.VoxelBody(sp.VoxelGrid(np.ones((4, 4, 1), dtype=int), size), material)
    depth = DENSITY * size**3 * G * np.cos(a) / (2 * 1e6 * size)  # where a voxel rests
    scene.add(body, at=(0, 0, -depth), name="plate")
    scene.add(floor)
    if contact is not None:
        scene.add(contact)
    return scene


@pytest.mark.parametrize("solver", [sp.LatticeSolver, sp.Partitioned])
def test_a_sweep_of_voxels_has_the_coefficients_of_obstacles(solver: Any) -> None:
    speeds = {}
    for part in (0.9, 1.05):
        scene = voxels(part * STATIC, solver, sp.Floor(friction=KINETIC, static_friction=STATIC))
        system = scene.compile()
        state = system.initial_state()
        advance(system, state, 0.2)
        before = along(system, state)[1]
        advance(system, state, 0.4)
        speeds[part] = (along(system, state)[1] - before) / 0.2
    a = np.arctan(1.05 * STATIC)
    assert abs(speeds[0.9]) < 1e-3
    assert speeds[1.05] == pytest.approx(G * (np.sin(a) - KINETIC * np.cos(a)), rel=0.01)


def speed_gained(scene: sp.Scene, until: float) -> tuple[float, float]:
    """Mean acceleration [m/s²] along x in the second half of a time [s], and the way [m]."""
    system = scene.compile()
    state = system.initial_state()
    advance(system, state, 0.5 * until)
    before, start = along(system, state)[1], along(system, state)[0]
    advance(system, state, until)
    return (along(system, state)[1] - before) / (0.5 * until), along(system, state)[0] - start


@pytest.mark.parametrize("own", [True, False])
def test_voxels_on_a_floor_by_surfaces_have_both_coefficients(own: bool) -> None:
    """A static friction of the contact, or of a floor without a kinetic one, takes the floor out of the sweep."""
    floor = sp.Floor(static_friction=STATIC) if own else sp.Floor()
    contact = sp.Contact(friction=KINETIC) if own else sp.Contact(friction=KINETIC, static_friction=STATIC)
    _, way = speed_gained(voxels(0.98 * STATIC, sp.Partitioned, floor, contact), 0.2)
    assert abs(way) < 1e-7
    slope = 1.02 * STATIC
    gained, _ = speed_gained(voxels(slope, sp.Partitioned, floor, contact), 0.2)
    a = np.arctan(slope)
    assert gained == pytest.approx(G * (np.sin(a) - KINETIC * np.cos(a)), rel=0.01)


def on_body(kind: str, slope: float) -> sp.Scene:
    """A plate of voxels on a body that is held, on a slope."""
    a, top = np.arctan(slope), (-0.1, 0.02, -0.01)
    scene = sp.Scene(gravity=(G * np.sin(a), 0, -G * np.cos(a)), solver=sp.Partitioned(0.002))
    material = sp.VoxelMaterial(1e6, density=DENSITY, contact_damping=1.0, bond_damping=1.0)
    scene.add(sp.VoxelBody(sp.VoxelGrid(np.ones((4, 4, 1), dtype=int), 0.01), material), name="plate")
    size = (0.4, 0.1, 0.02)
    if kind == "rigid":
        scene.add(sp.RigidBody.box(size, density=500), at=(0.1, 0.02, -0.01), fix=True, name="slope")
    else:
        steel = sp.Material(young=1e8, poisson=0.3, density=500)
        scene.add(sp.FemBody(sp.box_tets(size, (4, 2, 1)), steel), at=top, fix=lambda X: X[:, 2] < -0.019, name="slope")
    scene.add(sp.Contact(friction=KINETIC, static_friction=STATIC))
    return scene


@pytest.mark.parametrize("kind", ["rigid", "fem"])
def test_voxels_on_other_bodies_have_both_coefficients(kind: str) -> None:
    _, way = speed_gained(on_body(kind, 0.98 * STATIC), 0.2)
    assert abs(way) < 1e-7
    slope = 1.02 * STATIC
    gained, _ = speed_gained(on_body(kind, slope), 0.2)
    a = np.arctan(slope)
    assert gained == pytest.approx(G * (np.sin(a) - KINETIC * np.cos(a)), rel=0.01)


@pytest.mark.parametrize(
    ("floor", "contact"),
    [
        (sp.Floor(static_friction=0.6), None),
        (sp.Floor(), sp.Contact(friction=0.4, static_friction=0.6)),
        (sp.Floor(friction=0.4), sp.Contact(static_friction=0.6, self_contact=True)),
    ],
)
def test_a_sweep_alone_leaves_to_surfaces_what_it_does_not_know(floor: sp.Floor, contact: Any) -> None:
    scene = voxels(0.0, sp.LatticeSolver, floor, contact)
    with pytest.raises(InputError) as error:
        scene.solver.prepare(scene.compile())
    assert "Partitioned" in str(error.value.fix)
    assert isinstance(choose(scene).solver, sp.Partitioned)
