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
from supple.bodies.layered import LayeredBody
from supple.bodies.particles import Particles
from supple.bodies.rigid import RigidBody
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.bodies.voxel import VoxelBody
from supple.contact import Contact, Floor
from supple.decompose import decompose
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


def cube(side: float = SIDE, cells: int = 2) -> TetMesh:
    """A cube of 6 cells³ tets around the origin."""
    mesh = box_tets(size=(side,) * 3, cells=(cells,) * 3)
    return TetMesh(mesh.nodes - (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2, mesh.tets)


def particles(side: float = SIDE) -> Particles:
    """27 balls side by side, with springs to their neighbours."""
    X = np.stack(np.meshgrid(*[np.linspace(-side / 3, side / 3, 3)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 0.6 * side
    springs, part = np.argwhere(np.triu(near, 1)), side / SIDE
    mass = MASS / 27 * part**3
    return Particles(X, mass, radius=side / 6, springs=springs, stiffness=2000.0 * part, damping=2.0 * part**2)


def voxels(side: float = SIDE) -> VoxelBody:
    """27 voxels."""
    grid = VoxelGrid(np.ones((3, 3, 3), dtype=int), side / 3, origin=np.full(3, -side / 2))
    return VoxelBody(grid, VoxelMaterial(1e6, density=DENSITY, bond_damping=1.0))


def tree(side: float = SIDE) -> TreeBody:
    """A free domain of eight modes."""
    domain_tree = DomainTree({"cube": DomainTemplate("cube", cube(side), RUBBER, 8)}, [Domain("cube")])
    return TreeBody(domain_tree, stiffness_damping=0.005)


def layered(side: float = SIDE) -> LayeredBody:
    """The cube around a rigid core."""
    return LayeredBody.from_mesh(cube(side, 3), RUBBER, core=lambda X: np.abs(X).max(axis=1) < side / 5)


def five() -> TreeBody:
    """A cube cut into five slices, each a domain; the tree flies freely."""
    mesh = box_tets(size=(SIDE,) * 3, cells=(5, 2, 2))
    mesh = TetMesh(mesh.nodes - (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2, mesh.tets)
    middle = mesh.nodes[mesh.tets].mean(axis=1)[:, 0]
    labels = np.clip(((middle / SIDE + 0.5) * 5).astype(int), 0, 4)
    return TreeBody(decompose(mesh, labels, material=RUBBER, modes=8), stiffness_damping=0.005)


KINDS: dict[str, Callable[..., Any]] = {
    "rigid": lambda side=SIDE: RigidBody.box((side,) * 3, density=DENSITY),
    "fem": lambda side=SIDE: FemBody(cube(side), RUBBER),
    "floating": lambda side=SIDE: FloatingBody.from_solid(ElasticSolid(cube(side), RUBBER), modes=8),
    "voxel": voxels,
    "tree": tree,
    "particles": particles,
    "layered": layered,
}
PAIRS = list(combinations_with_replacement(KINDS, 2))
STACKS = [*PAIRS, *((one, f"small {two}") for one, two in PAIRS), *(("five", kind) for kind in [*KINDS, "five"])]
"""Who lies below whom: every two kinds; every second one of half the size; a tree of five domains below all."""


def body_of(name: str) -> tuple[Any, float]:
    """A body of a stack, and its size [m]."""
    if name == "five":
        return five(), SIDE
    side = SIDE / 2 if name.startswith("small ") else SIDE
    return KINDS[name.removeprefix("small ")](side), side


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
    """Drift after the first fifth over the size, the largest kinetic energy of the last one over that of a fall by a
    hundredth of the size, unsolved steps; of a body moved by `aside` [m] and turned by `turn` [rad] on another."""
    is_fast = "voxel" in f"{below} {above}"
    scene = Scene(gravity=(0, 0, -G), solver=Partitioned(0.005 if is_fast else 0.01))
    lower, _ = body_of(below)
    upper, side = body_of(above)
    scene.add(lower, at=(0, 0, SIDE / 2), name="below")
    over = SIDE / 6 if below == "particles" and side < SIDE else 0.0  # on four balls: on one it would tip
    scene.add(upper, at=(aside + over, over, SIDE + side / 2 + 1e-4), rotation=(0, 0, turn), name="above")
    scene.add(Floor())
    scene.add(Contact())
    system = scene.compile()
    state, failed, drift, energy = system.initial_state(), 0, 0.0, 0.0
    early: Array | None = None
    while state.t < until - 1e-6:
        failed += not scene.solver.step(system, state).is_solved
        if state.t < until / 5 - 1e-6:
            continue
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        centres = np.array([system.centre_of_mass(kin, body) for body in system.bodies])
        early = centres if early is None else early
        drift = max(drift, float(np.abs(centres - early).max()))
        if state.t > 0.8 * until + 1e-6:
            energy = max(energy, system.kinetic_energy(kin))
    return drift / SIDE, energy / (MASS * G * 0.01 * SIDE), failed


def case_of(below: str, above: str) -> str:
    """The name of the case of a stack."""
    return f"contact/pairs/{below}-{above.replace(' ', '-')}"


def at_rest(below: str, above: str) -> list[Row]:
    """One body on another, on a plane, for five seconds."""
    drift, moving, failed = resting(below, above)
    case, what = case_of(below, above), f"{above} on {below}"
    return [
        bounded(case, f"{what}: drift in 4 s, of the size", drift, 0.01, source="nothing moves"),
        bounded(case, f"{what}: kinetic energy, of a fall by 1 %", moving, 0.01, source="nothing moves"),
        bounded(case, f"{what}: steps that did not settle", failed, 0.0, source="every step is solved"),
    ]


RESTS = {case_of(one, two): partial(at_rest, one, two) for one, two in STACKS}
CASES: dict[str, Callable[[], list[Row]]] = {"contact/impulses": impulses} | RESTS
