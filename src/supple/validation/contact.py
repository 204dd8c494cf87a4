"""Contact of rigid bodies against closed forms: resting depth, friction, rolling, tunnelling, overlap.

    depth           m g / (k A)                         stopping distance    v² / (2 mu g)
    rolls           5/7 g sin a                         slides      g (sin a - mu cos a),  R w' = 5/2 mu g cos a
    holds           tan a < mu

A ball of flat triangles that rolls over few of them loses speed at every edge, as a polygon does. Here it sinks by half
a per cent of its radius, over several triangles. Implicit steps resist rolling by W v dt / (2 R): R is half a metre.
"""

from __future__ import annotations

import warnings

import numpy as np

from supple.bodies.rigid import RigidBody
from supple.contact import Contact, Floor
from supple.errors import ContactWarning
from supple.geometry import SurfaceMesh
from supple.scene import Scene, State, System
from supple.solvers import ImplicitEuler
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
G, SIDE, DENSITY, STIFFNESS = 9.81, 0.1, 500.0, 1e7


def advance(system: System, state: State, until: float) -> int:
    """Step to a time [s]; returns how many steps were not solved to their tolerance."""
    solver, failed = system.scene.solver, 0
    while state.t < until - 0.5 * solver.dt:
        failed += not solver.step(system, state).is_solved
    return failed


def started(scene: Scene) -> tuple[System, State]:
    """A compiled scene and its first state."""
    system = scene.compile()
    return system, system.initial_state()


def rest() -> list[Row]:
    """A box on a plane, and a box on a box on a plane, after a second."""
    case, source, rows = "contact/rest", "m g / (k A)", []
    depth = DENSITY * SIDE * G / STIFFNESS
    for count in (1, 2):
        scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(0.005))
        for k in range(count):
            scene.add(RigidBody.box((SIDE,) * 3, density=DENSITY), at=(0, 0, (k + 0.5) * SIDE), name=f"box {k}")
        scene.add(Floor())
        scene.add(Contact(stiffness=STIFFNESS))
        system, state = started(scene)
        advance(system, state, 1.0)
        z = [system.positions(state, f"box {k}")[0, 2] for k in range(count)]
        quantity = "box on a plane" if count == 1 else "two boxes on a plane"
        rows.append(compare(case, quantity, SIDE / 2 - z[0], count * depth, 1e-6, unit="m", source=source))
        if count == 2:
            rows.append(compare(case, "box on a box", z[0] + SIDE - z[1], depth, 1e-3, unit="m", source=source))
    return rows


def on_slope(
    angle: float, friction: float, *, static: float | None = None, dt: float = 0.005, speed: float = 0.0
) -> tuple[System, State]:
    """A flat box that rests on a plane, which is level while gravity leans by an angle [rad]."""
    scene = Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)), solver=ImplicitEuler(dt))
    height = 0.2 * SIDE
    depth = DENSITY * height * G * np.cos(angle) / STIFFNESS
    box = RigidBody.box((SIDE, SIDE, height), density=DENSITY)
    scene.add(box, at=(0, 0, height / 2 - depth), velocity=(speed, 0, 0), name="box")
    scene.add(Floor())
    scene.add(Contact(friction=friction, static_friction=static, stiffness=STIFFNESS))
    return started(scene)


def slides(slope: float, friction: float, static: float | None) -> bool:
    """Whether a box moves on after a second on a slope tan a."""
    system, state = on_slope(np.arctan(slope), friction, static=static)
    advance(system, state, 1.0)
    return bool(state.v[0] > 1e-4)


def steepest(friction: float, static: float | None = None) -> float:
    """The slope that just holds a box, nan where that is not within 5 % of the larger coefficient."""
    mu = friction if static is None else static
    low, high = 0.95 * mu, 1.05 * mu
    held = not slides(low, friction, static) and slides(high, friction, static)
    while held and high - low > 1e-3 * mu:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slides(middle, friction, static) else (middle, high)
    return 0.5 * (low + high) if held else np.nan


def starting(mu: float, static: float) -> list[Row]:
    """The slope that sets a box sliding which has a static friction, and how it slides then."""
    case, angle = "contact/friction", np.arctan(1.02 * static)
    system, state = on_slope(angle, mu, static=static)
    advance(system, state, 0.5)
    before = state.v[0]
    advance(system, state, 1.0)
    exact = G * (np.sin(angle) - mu * np.cos(angle))
    quantity = "slope that sets a box sliding, static friction"
    return [
        compare(case, quantity, steepest(mu, static), static, 0.01, unit="-", source="Coulomb"),
        compare(
            case,
            "acceleration once it slides",
            (state.v[0] - before) / 0.5,
            exact,
            0.01,
            unit="m/s²",
            source="g (sin a - mu cos a)",
        ),
    ]


def friction() -> list[Row]:
    """Stopping distance, the slope that just holds, no creep below it, and the same with a static friction."""
    case, mu, speed = "contact/friction", 0.4, 1.0
    system, state = on_slope(0.0, mu, dt=0.001, speed=speed)
    advance(system, state, 0.3)
    way = speed**2 / (2 * mu * G)
    rows = [compare(case, "stopping distance", state.x[0], way, 0.01, unit="m", source="v²/(2 mu g)")]
    rows.append(compare(case, "slope that sets a box sliding", steepest(mu), mu, 0.01, unit="-", source="Coulomb"))
    system, state = on_slope(np.arctan(0.99 * mu), mu)
    advance(system, state, 0.5)
    before = state.x[:3].copy()
    advance(system, state, 2.5)
    creep = float(np.abs(state.x[:3] - before).max())
    rows.append(bounded(case, "creep in 2 s at 0.99 of that slope", creep, 1e-6, unit="m", source="Coulomb"))
    return rows + starting(mu, 0.6)


def ball_surface(cells: int) -> SurfaceMesh:
    """A unit ball of 12 cells² triangles of nearly one size: a cube of grids pressed round."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"))
    quads = []
    for axis in range(3):
        for side in (0, cells):
            corner = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            face = np.stack([np.insert(np.stack(c, axis=1), axis, side, axis=1) for c in corner], axis=1)
            quads.append(face if (side > 0) == (axis != 1) else face[:, ::-1])
    nodes, number = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    x = np.tan(0.25 * np.pi * (nodes * 2.0 / cells - 1.0))
    quad = number.reshape(-1, 4)
    triangles = np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])
    return SurfaceMesh(x / np.linalg.norm(x, axis=1)[:, None], triangles)


def accelerations(angle: float, mu: float) -> tuple[float, float]:
    """Of a ball let go on a slope, and of its spin times its radius [m/s²], once friction's springs are stretched."""
    radius, sinks, begin, end = 0.5, 0.005, 0.1, 0.4
    mass, surface = DENSITY * 4 / 3 * np.pi * radius**3, ball_surface(40)
    surface = SurfaceMesh(radius * surface.nodes, surface.triangles)
    body = RigidBody(mass, np.full(3, 0.4 * mass * radius**2), surface=surface)
    scene = Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)), solver=ImplicitEuler(0.001))
    scene.add(body, at=(0, 0, (1 - sinks) * radius), name="ball")
    stiffness = mass * G * np.cos(angle) / (np.pi * radius * (sinks * radius) ** 2)  # a paraboloid of pressure
    scene.add(Floor())
    scene.add(Contact(friction=mu, stiffness=stiffness, push_speed=1e3))
    system, state = started(scene)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContactWarning)  # it starts where it will rest
        advance(system, state, begin)
        before = state.v.copy()
        advance(system, state, end)
    gained = (state.v - before) / (end - begin)
    return float(gained[0]), float(radius * gained[4])


def rolling() -> list[Row]:
    """Acceleration of a ball that rolls, and of one that slides, with its spin."""
    case = "contact/rolling"
    rolls, _ = accelerations(0.2, 0.5)
    angle, mu = 0.5, 0.1
    slides_at, turns_at = accelerations(angle, mu)
    sliding, turning = G * (np.sin(angle) - mu * np.cos(angle)), 2.5 * mu * G * np.cos(angle)
    return [
        compare(case, "rolls", rolls, 5 / 7 * G * np.sin(0.2), 0.01, unit="m/s²", source="5/7 g sin a"),
        compare(case, "slides", slides_at, sliding, 0.01, unit="m/s²", source="g (sin a - mu cos a)"),
        compare(case, "slides, spin", turns_at, turning, 0.02, unit="m/s²", source="5/2 mu g cos a"),
    ]


def shot(elements: float, *, by_surface: bool = True, thickness: float = 0.02) -> tuple[float, bool]:
    """How far below a plate a small ball ends that flies at so many elements a step, and whether the run warned.

    by_surface: contacts of surfaces, as soft bodies have them; else of the shapes of rigid bodies. thickness: of the
    plate [m]; two elements of the ball are 0.018 m.
    """
    scene, dt = Scene(solver=ImplicitEuler(0.001)), 0.001
    ball = RigidBody.sphere(0.05, density=DENSITY)
    plate = scene.add(RigidBody.box((1.0, 1.0, thickness), density=8000.0), fix=True, name="plate")
    flying = scene.add(ball, at=(0.013, 0.021, 0.2), name="ball")
    parts = {"plate": lambda x: x[:, 2] > -1.0} if by_surface else {}
    scene.add(Contact([plate, flying], stiffness=1e9, parts=parts))
    system, state = started(scene)
    travel = system.contacts[0].detector.largest_safe_travel / 2 * elements
    system.body("ball").view_v(state.v)[0, 2] = -travel / dt
    lowest = np.inf
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(max(60, int(0.4 / travel))):
            scene.solver.step(system, state)
            lowest = min(lowest, float(system.positions(state, "ball")[0, 2]))
    return min(0.0, lowest), any(issubclass(w.category, ContactWarning) for w in said)


def tunnelling() -> list[Row]:
    """A ball is stopped by a plate of 2 cm, two of its elements; at a thinner one it warns beyond two a step."""
    case, source, rows = "contact/tunnelling", "the ball's centre stays above the plate", []
    for elements in (0.5, 1.0, 1.5, 1.9, 3.0):
        below, warned = shot(elements)
        rows.append(bounded(case, f"{elements:g} elements a step, past the plate", below, 0.0, unit="m", source=source))
        rows.append(bounded(case, f"{elements:g} elements a step, warns", float(warned), 0.0, source="it is safe"))
    warned = shot(3.0, thickness=0.01)[1]
    what = "3 elements a step at a plate of one, warns"
    rows.append(compare(case, what, float(warned), 1.0, 0.0, unit="-", source="it is not"))
    below, warned = shot(10.0, by_surface=False)
    rows.append(bounded(case, "10 elements a step by shapes, past the plate", below, 0.0, unit="m", source=source))
    rows.append(bounded(case, "10 elements a step by shapes, warns", float(warned), 0.0, source="it is safe"))
    return rows


def overlap() -> list[Row]:
    """Two boxes that begin 5 mm inside each other are pushed apart at the speed that was asked for."""
    case, speed = "contact/overlap", 0.1
    scene = Scene(solver=ImplicitEuler(0.005))
    for k in range(2):
        scene.add(RigidBody.box((SIDE,) * 3, density=DENSITY), at=(0, 0, k * (SIDE - 0.005)), name=f"box {k}")
    scene.add(Contact(push_speed=speed))
    system, state = started(scene)
    fastest = 0.0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        while state.t < 0.2:
            scene.solver.step(system, state)
            fastest = max(fastest, float(np.abs(system.velocities(state, "box 1")[0, :3]).max()))
    gap = float(state.x[9] - state.x[2]) - SIDE
    warned = any(issubclass(w.category, ContactWarning) for w in said)
    return [
        compare(case, "warns", float(warned), 1.0, 0.0, unit="-", source="bodies that overlap are named"),
        bounded(case, "fastest box", fastest, speed, unit="m/s", source="push_speed"),
        bounded(case, "overlap left", min(0.0, gap), 1e-6, unit="m", source="pushed apart"),
    ]


CASES = {
    "contact/rest": rest,
    "contact/friction": friction,
    "contact/rolling": rolling,
    "contact/tunnelling": tunnelling,
    "contact/overlap": overlap,
}
