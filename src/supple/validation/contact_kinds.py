"""Contact between every two kinds of bodies: impulses exchanged in a collision, and rest on each other.

    impulse     sum of dt F over the recorded forces on a body = its change of momentum;  F on the other is -F
    rest        one on the other, a little aside and turned, so that nothing stands still by symmetry

All bodies here fly freely. From a tree whose root is fixed the ground takes part of the momentum, which its contacts do
not record. Particles are balls that fill a cube of the same size.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from supple.bodies.fem import FemBody
from supple.bodies.floating import FloatingBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact, Floor
from supple.geometry import TetMesh, VoxelGrid, box_tets
from supple.material import Material
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid
from supple.scene import Scene, State, System
from supple.solvers import Partitioned
from supple.validation.row import Row, bounded

Array = np.ndarray
G, SIDE, DENSITY = 9.81, 0.1, 500.0
ASIDE, TURN = 1e-3, 0.01  # of the upper body of two at rest [m], [rad]
MASS = DENSITY * SIDE**3
RUBBER = Material(young=2e5, poisson=0.3, density=DENSITY, stiffness_damping=2e-3)


def cube() -> TetMesh:
    """A cube of 48 tets around the origin."""
    mesh = box_tets(size=(SIDE,) * 3, cells=(2, 2, 2))
    return TetMesh(mesh.nodes - (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2, mesh.tets)


def particles() -> Particles:
    """27 balls side by side, with springs to their neighbours."""
    X = np.stack(np.meshgrid(*[np.linspace(-SIDE / 3, SIDE / 3, 3)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 0.6 * SIDE
    springs = np.argwhere(np.triu(near, 1))
    return Particles(X, MASS / 27, radius=SIDE / 6, springs=springs, stiffness=2000.0, damping=2.0)


def voxels() -> VoxelBody:
    """27 voxels."""
    grid = VoxelGrid(np.ones((3, 3, 3), dtype=int), SIDE / 3, origin=np.full(3, -SIDE / 2))
    return VoxelBody(grid, VoxelMaterial(1e6, density=DENSITY, bond_damping=1.0))


def tree() -> TreeBody:
    """A free domain of eight modes."""
    domain_tree = DomainTree({"cube": DomainTemplate("cube", cube(), RUBBER, 8)}, [Domain("cube")])
    return TreeBody(domain_tree, stiffness_damping=0.005)


KINDS: dict[str, Callable[[], Any]] = {
    "rigid": lambda: RigidBody.box((SIDE,) * 3, density=DENSITY),
    "fem": lambda: FemBody(cube(), RUBBER),
    "floating": lambda: FloatingBody.from_solid(ElasticSolid(cube(), RUBBER), modes=8),
    "voxel": voxels,
    "tree": tree,
    "particles": particles,
}
PAIRS = list(combinations_with_replacement(KINDS, 2))


def momenta(system: System, state: State) -> Array:
    """Linear momentum of each body (bodies, 3) [kg m/s]."""
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    return np.array([
        np.sum([m.momentum(kin.local(slot))[:3] for _, slot, m in system.masses if slot is body], axis=0)
        for body in system.bodies
    ])  # fmt: skip


def collide(one: str, two: str) -> tuple[float, float, float]:
    """Largest change of the momentum of both, and of one less its recorded impulses, over the impulse; the impulse."""
    scene = Scene(solver=Partitioned(0.002))
    scene.add(KINDS[one](), name="one")
    scene.add(KINDS[two](), at=(0.02, 0.01, SIDE + 5e-4), velocity=(0.1, 0.0, -0.5), name="two")
    scene.add(Contact(friction=0.3))
    system = scene.compile()
    state = system.initial_state()
    before, given, off, whole = momenta(system, state), np.zeros(3), 0.0, 0.0
    for _ in range(25):
        scene.solver.step(system, state)
        touching = system.contacts[0].touching(state.memory)
        for pair, force in zip(touching.bodies, touching.force):
            given += scene.solver.dt * (force if pair[0] == "one" else -force)
        now = momenta(system, state) - before
        off = max(off, *(float(np.abs(p - sign * given).max()) for p, sign in zip(now, (1, -1))))
        whole = max(whole, float(np.abs(now.sum(axis=0)).max()))
    size = float(np.linalg.norm(given))
    return whole / size, off / size, size


def impulses() -> list[Row]:
    """A body that strikes another beside its middle, with friction: 25 steps of 2 ms."""
    rows, case = [], "contact/impulses"
    for one, two in PAIRS:
        whole, off, size = collide(one, two)
        name = f"{one} and {two}"
        limit = 1e-12
        rows.append(bounded(case, f"{name}: momentum of both", whole, limit, source="action and reaction"))
        rows.append(bounded(case, f"{name}: of each, less the impulse", off, limit, source=f"impulse {size:.2g} N s"))
    return rows


def resting(
    below: str, above: str, until: float = 5.0, *, aside: float = ASIDE, turn: float = TURN
) -> tuple[float, float, int]:
    """Drift after the first second over the size, the largest kinetic energy of the last one over that of a fall by a
    hundredth of the size, unsolved steps; of a body moved by `aside` [m] and turned by `turn` [rad] on another."""
    is_fast = "voxel" in (below, above)
    scene = Scene(gravity=(0, 0, -G), solver=Partitioned(0.005 if is_fast else 0.01))
    scene.add(KINDS[below](), at=(0, 0, SIDE / 2), name="below")
    scene.add(KINDS[above](), at=(aside, 0, 1.5 * SIDE + 1e-4), rotation=(0, 0, turn), name="above")
    scene.add(Floor())
    scene.add(Contact())
    system = scene.compile()
    state, failed, drift, energy = system.initial_state(), 0, 0.0, 0.0
    early: Array | None = None
    while state.t < until - 1e-6:
        failed += not scene.solver.step(system, state).is_solved
        if state.t < 1.0 - 1e-6:
            continue
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        centres = np.array([system.centre_of_mass(kin, body) for body in system.bodies])
        early = centres if early is None else early
        drift = max(drift, float(np.abs(centres - early).max()))
        if state.t > until - 1.0 + 1e-6:
            energy = max(energy, system.kinetic_energy(kin))
    return drift / SIDE, energy / (MASS * G * 0.01 * SIDE), failed


def at_rest(below: str, above: str) -> list[Row]:
    """One body on another, on a plane, for five seconds."""
    drift, moving, failed = resting(below, above)
    case, what = f"contact/pairs/{below}-{above}", f"{above} on {below}"
    return [
        bounded(case, f"{what}: drift in 4 s, of the size", drift, 0.01, source="nothing moves"),
        bounded(case, f"{what}: kinetic energy, of a fall by 1 %", moving, 0.01, source="nothing moves"),
        bounded(case, f"{what}: steps that did not settle", failed, 0.0, source="every step is solved"),
    ]


RESTS = {f"contact/pairs/{one}-{two}": partial(at_rest, one, two) for one, two in PAIRS}
CASES: dict[str, Callable[[], list[Row]]] = {"contact/impulses": impulses} | RESTS
