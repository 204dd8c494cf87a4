"""contact/bullets: a body of 1 cm at 100 m/s against a plate of 5 mm, soft or rigid on either side, never passes it.

The plate is rigid and held, or of finite elements and free. Detection alone would not do: contacts as stiff as rest
needs let a bullet sink 45 mm whatever is found. Voxels, whose steps carry no stiffer contacts, let it pass and say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact
from supple.errors import ContactWarning
from supple.geometry import VoxelGrid, box_tets
from supple.material import Material, VoxelMaterial
from supple.scene import Scene
from supple.solvers import ImplicitEuler, Partitioned
from supple.validation.row import Row, bounded, compare

SPEED, THICK, START = 100.0, 0.005, 0.05
STIFF = Material(young=1e9, poisson=0.3, density=2000)
BULLETS: dict[str, Callable[[], object]] = {
    "rigid": lambda: RigidBody.sphere(0.005, density=7800),
    "fem": lambda: FemBody(box_tets(size=(0.01,) * 3, cells=(1, 1, 1)), STIFF),
    "ball": lambda: Particles([(0, 0, 0)], 0.004, radius=[0.005]),
    "point": lambda: Particles([(0, 0, 0)], 0.004),
}


def add_plate(scene: Scene, kind: str) -> None:
    """A plate of 20 x 20 cm below z = 0."""
    if kind == "rigid":
        scene.add(RigidBody.box((0.2, 0.2, THICK), density=7800), at=(0, 0, -THICK / 2), name="plate", fix=True)
    elif kind == "fem":
        tets = box_tets(size=(0.2, 0.2, THICK), cells=(8, 8, 1))
        scene.add(FemBody(tets, STIFF), at=(0, 0, -THICK / 2), name="plate")
    else:
        voxels = VoxelBody(VoxelGrid(np.ones((20, 20, 1), int), 0.01), VoxelMaterial(1e8, density=2000))
        scene.add(voxels, at=(-0.1, -0.1, -0.01), name="plate")


def shoot(plate: str, bullet: str, dt: float) -> tuple[float, bool]:
    """Speed at which the bullet goes on into the plate after it has arrived [m/s], and whether a warning was given."""
    scene = Scene(gravity=(0, 0, 0), solver=Partitioned(dt) if plate == "voxel" else ImplicitEuler(dt))
    add_plate(scene, plate)
    scene.add(BULLETS[bullet](), at=(0.003, 0.002, START), velocity=(0, 0, -SPEED), name="bullet")
    scene.add(Contact())
    system = scene.compile()
    state = system.initial_state()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(max(3, round(1.2 * START / SPEED / dt))):
            scene.solver.step(system, state)
    x, v = system.positions(state, "plate"), system.velocities(state, "plate")
    near = np.argsort(np.linalg.norm(x[:, :2], axis=1))[:8]
    into = float(v[near, 2].mean() - system.velocities(state, "bullet")[:, 2].mean())
    return max(0.0, into), any(issubclass(w.category, ContactWarning) for w in said)


def bullets() -> list[Row]:
    """Steps from 10 ms to 10 µs."""
    case, rows = "contact/bullets", []
    for plate in ("rigid", "fem"):
        for bullet in BULLETS:
            for dt in (1e-2, 1e-3, 1e-4, 1e-5):
                into, _ = shoot(plate, bullet, dt)
                label = f"{bullet} on {plate}, dt = {dt:g} s, speed into the plate"
                rows.append(bounded(case, label, into, 0.2 * SPEED, unit="m/s", source="it is stopped"))
    for bullet in ("rigid", "fem", "ball", "point"):
        warned = shoot("voxel", bullet, 1e-4)[1]
        rows.append(compare(case, f"{bullet} on voxels, warns", warned, 1.0, 0.0, unit="-", source="it passes"))
    return rows


CASES = {"contact/bullets": bullets}
