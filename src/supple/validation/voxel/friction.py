"""voxel/friction: a plate on a floor stops after v²/(2 mu_d g), and starts to slide at the slope mu_s."""

from __future__ import annotations

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.interaction.obstacles import Plane
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.blocks import block

Array = np.ndarray
CASE = "voxel/friction"
COULOMB = "Coulomb's friction"
G, STATIC, KINETIC, SPEED = 9.81, 0.6, 0.4, 0.3
FLOOR = (Plane(),)


def resting(shape: tuple[int, int, int]) -> tuple[VoxelBody, LocalState, float]:
    """A block that has come to rest on the floor, and a stable step [s]."""
    body = block(
        shape,
        size=0.01,
        bond_damping=0.5,
        contact_damping=1.0,
        static_friction=STATIC,
        kinetic_friction=KINETIC,
    )
    dt = body.stable_step(contact=True)
    start = LocalState(0.0, body.model.rest_frames, np.zeros((body.model.voxel_count, 6)))
    return body, body.advance(start, dt, 4000, gravity=(0, 0, -G), planes=FLOOR), dt


def stopping_way(shape: tuple[int, int, int]) -> tuple[float, float]:
    """How far a block slides [m], and its largest speed at the end [m/s]."""
    body, rest, dt = resting(shape)
    v = rest.v.copy()
    v[:, 0] += SPEED
    steps = int(3 * SPEED / (KINETIC * G) / dt)
    end = body.advance(LocalState(0.0, rest.x, v), dt, steps, gravity=(0, 0, -G), planes=FLOOR)
    return float((end.x - rest.x)[:, 0].mean()), float(np.abs(end.v[:, :3]).max())


def slides(body: VoxelBody, rest: LocalState, dt: float, slope: float) -> bool:
    """Whether the block leaves its place by more than a tenth of what free sliding would give."""
    steps = 1500
    end = body.advance(rest, dt, steps, gravity=(slope * G, 0, -G), planes=FLOOR)
    way = float((end.x - rest.x)[:, 0].mean())
    return way > 0.1 * (slope - KINETIC) * G * (steps * dt) ** 2 / 2


def threshold(shape: tuple[int, int, int]) -> float:
    """The slope at which a block starts to slide, by bisection to 0.1 %."""
    body, rest, dt = resting(shape)
    low, high = 0.8 * STATIC, 1.2 * STATIC
    if slides(body, rest, dt, low) or not slides(body, rest, dt, high):
        return float("nan")
    while high - low > 1e-3 * STATIC:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slides(body, rest, dt, middle) else (middle, high)
    return 0.5 * (low + high)


def friction() -> list[Row]:
    """Stopping distance of a plate and of a block, the rest after it, and the slope that a plate just holds."""
    rows = []
    for shape in ((4, 2, 1), (6, 4, 3)):
        name = "x".join(map(str, shape))
        way, speed = stopping_way(shape)
        expected = SPEED**2 / (2 * KINETIC * G)
        rows.append(compare(CASE, f"{name}, stopping distance", way, expected, 0.01, unit="m", source="v²/(2 mu g)"))
        rows.append(bounded(CASE, f"{name}, speed afterwards", speed, 1e-6, unit="m/s", source=COULOMB))
    slope = threshold((4, 2, 1))
    return [*rows, compare(CASE, "4x2x1, slope that sets it sliding", slope, STATIC, 0.01, unit="-", source=COULOMB)]


CASES = {CASE: friction}
