"""voxel/friction: a plate on a floor stops after v²/(2 mu_d g), and starts to slide at the slope mu_s."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.collision import Collision
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial
from supple.validation.row import Row, bounded, compare
from supple.validation.voxel.blocks import block

Array = np.ndarray
CASE = "voxel/friction"
COULOMB = "Coulomb's friction"
G, STATIC, KINETIC, SPEED, SIZE = 9.81, 0.6, 0.4, 0.3, 0.01
FLOOR = (Plane(),)


def resting(shape: tuple[int, int, int]) -> tuple[VoxelBody, LocalState, float]:
    """A block that has come to rest on the floor, and a stable step [s]."""
    body = block(
        shape,
        size=SIZE,
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


def lying() -> tuple[LatticeSweep, Array, float]:
    """A block of voxels that has come to rest on a held plate of voxels, which of them it is, and a stable step [s]."""
    numbers = np.zeros((6, 4, 3), dtype=int)
    numbers[:, :, 0] = numbers[1:5, :, 2] = 1
    material = VoxelMaterial(1e6, density=1000, bond_damping=0.5, contact_damping=1.0)
    rough = replace(material, static_friction=STATIC, kinetic_friction=KINETIC)
    body = VoxelBody(VoxelGrid(numbers, SIZE), rough)
    upper = body.grid.voxels[:, 2] > 0
    held = np.flatnonzero(~upper)
    dt = body.stable_step(held=held, collision=Collision(), staged=False)
    sweep = LatticeSweep.make(body.model, held=held, collision=Collision())
    x = body.model.rest_frames.copy()
    x[upper, 2] -= SIZE
    sweep.load(x, np.zeros((len(x), 6)))
    sweep.advance(dt, 20_000, gravity=(0, 0, -G))
    return sweep, upper, dt


def pulled(sweep: LatticeSweep, upper: Array, slope: float, dt: float, steps: int) -> float:
    """How far [m] the block goes in so many steps while it is pulled by a slope times its weight, and does not tip."""
    f, weight = np.zeros((sweep.model.voxel_count, 6)), sweep.model.mass[upper] * G
    f[upper, 0], f[upper, 4] = slope * weight, -0.5 * SIZE * slope * weight
    sweep.set_loads(f)
    before = sweep.component(0)[upper].mean()
    sweep.advance(dt, steps, gravity=(0, 0, -G))
    return float(sweep.component(0)[upper].mean() - before)


def holding() -> tuple[float, float]:
    """Way [m] that a block of voxels creeps on others at 0.98 of the slope of static friction, and the slope at which
    it starts to slide as the slope grows."""
    sweep, upper, dt = lying()
    for slope in np.linspace(0.0, 0.98 * STATIC, 100):
        pulled(sweep, upper, slope, dt, 400)
    pulled(sweep, upper, 0.98 * STATIC, dt, 5_000)
    creep, slope = pulled(sweep, upper, 0.98 * STATIC, dt, 20_000), 0.98 * STATIC
    while slope < 1.2 * STATIC and pulled(sweep, upper, slope, dt, 1000) < 1e-6:
        slope += 1e-3 * STATIC
    return creep, slope


def sliding() -> float:
    """The coefficient by which a block that slides on others is held back. Voxels are spheres, level at their tops
    alone: after a way x its weight helps by x/l."""
    sweep, upper, dt = lying()
    slope, steps = 0.7, 40
    ways = [pulled(sweep, upper, slope, dt, steps) for _ in range(4)]
    a = (ways[3] - ways[2]) / (steps * dt) ** 2
    return float(slope + sum(ways[:3]) / SIZE - a / G)


def friction() -> list[Row]:
    """Stopping distance of a plate and of a block, the rest after it, the slope that a plate just holds; on a floor,
    and on other voxels."""
    rows = []
    for shape in ((4, 2, 1), (6, 4, 3)):
        name = "x".join(map(str, shape))
        way, speed = stopping_way(shape)
        expected = SPEED**2 / (2 * KINETIC * G)
        rows.append(compare(CASE, f"{name}, stopping distance", way, expected, 0.01, unit="m", source="v²/(2 mu g)"))
        rows.append(bounded(CASE, f"{name}, speed afterwards", speed, 1e-6, unit="m/s", source=COULOMB))
    slope = threshold((4, 2, 1))
    rows.append(compare(CASE, "4x2x1, slope that sets it sliding", slope, STATIC, 0.01, unit="-", source=COULOMB))
    creep, slope = holding()
    return [
        *rows,
        bounded(CASE, "on voxels, creep below that slope", creep, 1e-7, unit="m", source=COULOMB),
        compare(CASE, "on voxels, slope that sets it sliding", slope, STATIC, 0.01, unit="-", source=COULOMB),
        compare(CASE, "on voxels, coefficient while it slides", sliding(), KINETIC, 0.01, unit="-", source=COULOMB),
    ]


CASES = {CASE: friction}
