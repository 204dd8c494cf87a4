"""contact/bullets: a body of 1 cm at 100 m/s against a plate of 5 mm, of every kind on either side, never passes it.

    depth       how far the bullet is below the top of the plate, over its thickness: half of it is the middle
    speed       at which it goes on into the plate after it has arrived
    momentum    change of that of a bullet and a free plate, over what it was

Detection alone would not do: contacts as stiff as rest needs let a bullet sink 45 mm whatever is found. Plates are held
at their rims, and hard: 1 GPa. A soft one would be pierced in truth, and its elements turn inside out here, which a run
says.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact
from supple.geometry import TetMesh, VoxelGrid, box_tets
from supple.material import Material, VoxelMaterial
from supple.modal import ElasticSolid
from supple.scene import Scene
from supple.solvers import ImplicitEuler, Partitioned
from supple.validation.contact_kinds import momenta
from supple.validation.row import Row, bounded

Array = np.ndarray
SPEED, THICK, SIDE, BALL, START = 100.0, 0.005, 0.04, 0.01, 0.001
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
DENSITY = 2000.0
STIFF = Material(young=1e9, poisson=0.3, density=DENSITY)


def block(size: tuple[float, float, float], cells: tuple[int, int, int]) -> TetMesh:
    """Tets of a box around the origin."""
    mesh = box_tets(size=size, cells=cells)
    return TetMesh(mesh.nodes - (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2, mesh.tets)


def voxels(count: tuple[int, int, int], size: float) -> VoxelBody:
    """Voxels around the origin."""
    grid = VoxelGrid(np.ones(count, dtype=int), size, origin=-0.5 * size * np.array(count))
    return VoxelBody(grid, VoxelMaterial(1e9, density=DENSITY))


def domain(mesh: TetMesh, held: Array) -> TreeBody:
    """A tree of one domain of eight modes."""
    kind = DomainTemplate("one", mesh, STIFF, 8, held=held)
    return TreeBody(DomainTree({"one": kind}, [Domain("one")]), stiffness_damping=1e-6)


def balls(side: float) -> Particles:
    """Two layers of balls with springs to their neighbours."""
    size = THICK / 2
    line = size * (np.arange(round(side / size)) - 0.5 * (round(side / size) - 1))
    X = np.stack(np.meshgrid(line, line, (-size / 2, size / 2), indexing="ij"), axis=-1).reshape(-1, 3)
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 1.5 * size
    springs = np.argwhere(np.triu(near, 1))
    return Particles(X, DENSITY * size**3, radius=size / 2, springs=springs, stiffness=0.5e9 * size)


def outside(half: float) -> Callable[[Array], Array]:
    """What lies outside a square of half its edge [m]."""
    return lambda X: np.abs(X[:, :2]).max(axis=1) > half


def plate(kind: str, *, is_free: bool) -> tuple[Any, Any]:
    """A plate, and what of it is fixed; of trees and reduced bodies the shapes are those of a held rim."""
    mesh, rim = block((SIDE, SIDE, THICK), (4, 4, 1)), outside(0.45 * SIDE)
    edge = np.flatnonzero(rim(mesh.nodes))
    if kind == "tree":
        return domain(mesh, edge[:0] if is_free else edge), None
    body, fixed = {
        "rigid": lambda: (RigidBody.box((SIDE, SIDE, THICK), density=DENSITY), True),
        "fem": lambda: (FemBody(mesh, STIFF), rim),
        "voxel": lambda: (voxels((8, 8, 1), THICK), outside(0.4 * SIDE)),
        "floating": lambda: (
            FloatingBody.from_solid(
                ElasticSolid(mesh, STIFF), modes=8, fixed=None if is_free else edge, origin=np.zeros(3)
            ),
            True,
        ),
        "layered": lambda: (
            LayeredBody.from_mesh(block((SIDE, SIDE, THICK), (8, 8, 1)), STIFF, core=outside(0.3 * SIDE)),
            True,
        ),
        "particles": lambda: (balls(SIDE / 2), outside(0.2 * SIDE)),
    }[kind]()
    return body, None if is_free else fixed


BULLETS: dict[str, Callable[[], Any]] = {
    "rigid": lambda: RigidBody.sphere(BALL / 2, density=7800, cells=4),
    "fem": lambda: FemBody(block((BALL,) * 3, (1, 1, 1)), STIFF),
    "voxel": lambda: voxels((2, 2, 2), BALL / 2),
    "tree": lambda: domain(block((BALL,) * 3, (2, 2, 2)), np.zeros(0, dtype=np.int64)),
    "floating": lambda: FloatingBody.from_solid(ElasticSolid(block((BALL,) * 3, (2, 2, 2)), STIFF), modes=8),
    "layered": lambda: LayeredBody.from_mesh(
        block((BALL,) * 3, (3, 3, 3)), STIFF, core=lambda X: np.abs(X).max(axis=1) < BALL / 5
    ),
    "particles": lambda: Particles([(0, 0, 0)], 0.004, radius=[BALL / 2]),
    "point": lambda: Particles([(0, 0, 0)], 0.004),
}
KINDS = [kind for kind in BULLETS if kind != "point"]
PAIRS = [(kind, "rigid") for kind in KINDS] + [("rigid", kind) for kind in BULLETS if kind != "rigid"]
"""Plate and bullet."""


class Shot(NamedTuple):
    """See the module; speed [m/s]."""

    depth: float
    speed: float
    momentum: float


def scene_of(kind: str, bullet: str, dt: float, *, is_free: bool) -> Scene:
    """A bullet 1 mm above a plate, beside its middle."""
    small = {"voxel", "tree"} & {kind, bullet}
    scene = Scene(gravity=(0, 0, 0), solver=Partitioned(dt) if small else ImplicitEuler(dt))
    body, fixed = plate(kind, is_free=is_free)
    scene.add(body, at=(0, 0, -THICK / 2), name="plate", fix=fixed)
    high = START + (0.0 if bullet == "point" else BALL / 2)
    scene.add(BULLETS[bullet](), at=(0.003, 0.002, high), velocity=(0, 0, -SPEED), name="bullet")
    scene.add(Contact())
    return scene


def shoot(kind: str, bullet: str, dt: float, *, is_free: bool = False) -> Shot:
    """From before the first touch until it would be 2 cm beyond."""
    scene = scene_of(kind, bullet, dt, is_free=is_free)
    system = scene.compile()
    state, contact = system.initial_state(), system.contacts[0]
    one, two = (slot.index for slot in contact.slots)
    before, depth, lost, speed = momenta(system, state).sum(axis=0), -np.inf, 0.0, 0.0
    radius = contact.surface.vertex_radius[contact.starts[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is fast
        for _ in range(max(3, round((START + 2 * BALL) / SPEED / dt))):
            scene.solver.step(system, state)
            kin = system.propagate(state.t, state.x, state.v, state.memory)
            x, y = kin.x[one], kin.x[two]
            near = np.argsort(np.linalg.norm(x[:, :2] - y[:, :2].mean(axis=0), axis=1))[:8]
            top = float(x[near, 2].mean()) + THICK / 2
            depth = max(depth, (top - float(y[:, 2].min()) + radius) / THICK)
            speed = float(kin.v[one][near, 2].mean() - kin.v[two][:, 2].mean())
            lost = max(lost, float(np.abs(momenta(system, state).sum(axis=0) - before).max()))
    return Shot(depth, speed, lost / float(np.abs(before).max()))


def bullets() -> list[Row]:
    """Steps from 10 ms to 1 µs."""
    case, rows = "contact/bullets", []
    for kind, bullet in PAIRS:
        for dt in STEPS:
            shot, what = shoot(kind, bullet, dt), f"{bullet} on {kind}, dt = {dt:g} s"
            rows.append(bounded(case, f"{what}, depth", max(0.0, shot.depth), 0.5, source="above the middle"))
            speed = max(0.0, shot.speed)
            rows.append(bounded(case, f"{what}, speed into it", speed, 0.2 * SPEED, unit="m/s", source="it is stopped"))
        for dt in STEPS[2:4]:
            shot, what = shoot(kind, bullet, dt, is_free=True), f"{bullet} on free {kind}, dt = {dt:g} s"
            rows.append(bounded(case, f"{what}, momentum", shot.momentum, 1e-12, source="action and reaction"))
    return rows


CASES = {"contact/bullets": bullets}
