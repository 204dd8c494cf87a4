"""Uneven things for recorded cases: no two edges, masses or materials alike, nothing at the origin or at rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree import TreeBody, TreeModel
from supple.decompose import decompose
from supple.geometry.meshes.region import Region
from supple.modal import ElasticSolid
from supple.validation.tree.reference import mixed_domain_tree

Array = np.ndarray
RUBBER = sp.Material(2.1e5, 0.31, 512.0, mass_damping=1.7, stiffness_damping=0.0023, name="rubber")
GUM = sp.Material(3.7e5, 0.22, 1130.0, mass_damping=1.7, stiffness_damping=0.0011, name="gum", colour="#a04010")
AT = np.array([0.31, -0.23, 0.57])
TURN = np.array([0.43, -0.71, 0.29])
VELOCITY = np.array([0.23, 0.51, -0.37])
SPIN = np.array([1.1, -2.3, 0.7])
ASIDE = np.array([0.013, 0.021, -0.034])
GRAVITY = (0.7, -1.3, -9.3)
EVERYWHERE = {"at": AT, "rotation": TURN, "velocity": VELOCITY, "spin": SPIN}


def random(*shape: int, seed: int = 0) -> Array:
    """Numbers that are normally distributed."""
    return np.random.default_rng(seed).normal(size=shape)


def bent_nodes(nodes: Array) -> Array:
    """A box made crooked, so that no two elements are alike."""
    x, y, z = nodes.T
    return np.stack([x + 0.31 * y * z / 0.1, y + 0.9 * x * x + 0.1 * z, z * (1 + 2.1 * x) - 0.7 * x * y], axis=1)


def tets(cells: tuple[int, int, int] = (3, 1, 2)) -> sp.TetMesh:
    """A crooked bar of two regions, off its origin."""
    mesh = sp.box_tets((0.13, 0.07, 0.05), cells)
    return halved(sp.TetMesh(bent_nodes(mesh.nodes) + ASIDE, mesh.tets))


def hexes(cells: tuple[int, int, int] = (3, 1, 2)) -> sp.HexMesh:
    """The same of hexahedra."""
    mesh = sp.box_hexes((0.13, 0.07, 0.05), cells)
    return halved(sp.HexMesh(bent_nodes(mesh.nodes) + ASIDE, mesh.hexes))


def halved(mesh: Any) -> Any:
    """With regions: "left", "right" of elements, "tip" of nodes."""
    left = mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 0.07
    tip = mesh.nodes[:, 0] > mesh.nodes[:, 0].max() - 0.03
    return mesh.with_regions(
        {
            "left": Region(elements=np.flatnonzero(left)),
            "right": Region(elements=np.flatnonzero(~left)),
            "tip": Region(nodes=np.flatnonzero(tip)),
        }
    )


def two(**changes: Any) -> dict[str, sp.Material]:
    """The materials of both regions."""
    return {"left": replace(RUBBER, **changes), "right": replace(GUM, **changes)}


def surface(cells: int = 3) -> sp.SurfaceMesh:
    """A closed surface: an ellipsoid that is dented, off its origin."""
    ball = sp.sphere_tets(0.1, cells).boundary.surface
    x = ball.nodes * (1.0, 0.7, 0.55)
    x[:, 2] += 1.5 * x[:, 0] ** 2 - 0.7 * x[:, 0] * x[:, 1]
    return sp.SurfaceMesh(x + ASIDE, ball.triangles)


def block() -> sp.RigidBody:
    """A rigid body whose inertia has no axis along its own, with a surface."""
    I = np.array([[2.1, 0.3, -0.2], [0.3, 2.9, 0.4], [-0.2, 0.4, 3.7]]) * 1e-3
    return sp.RigidBody(0.83, I, surface=surface())


def particles() -> sp.Particles:
    X = np.array([(0.0, 0.01, 0), (0.05, 0.01, 0.02), (0.1, 0, 0.02), (0.06, 0.05, 0.01), (0.02, 0.06, 0.05)])
    pairs = [(a, b) for b in range(5) for a in range(b)]
    k = 200.0 + 40.0 * np.arange(10)
    m, r = [0.1, 0.05, 0.08, 0.06, 0.03], [0.015, 0.01, 0.02, 0.012, 0.008]
    return sp.Particles(X, m, radius=r, springs=pairs, stiffness=k, damping=0.4)


def floating(**options: Any) -> sp.FloatingBody:
    more = {
        "modes": 5,
        "fixed": "x_min",
        "origin": (0.01, 0.02, -0.03),
        "stiffening": True,
        "stiffness_damping": 0.0017,
    }
    return sp.FloatingBody.from_solid(ElasticSolid(tets(), two()), **{**more, **options})


def start(count: int, size: float, seed: int = 3) -> dict[str, Array]:
    """q and q_rate of a body with shapes."""
    return {"q": size * random(count, seed=seed), "q_rate": 9 * size * random(count, seed=seed + 1)}


def layered(**options: Any) -> sp.LayeredBody:
    mesh = sp.box_hexes((0.13, 0.08, 0.07), (4, 3, 3))
    x, y, z = mesh.nodes.T
    mesh = sp.HexMesh(np.stack([x + 0.2 * y, y * (1 + x), z + 0.9 * x * x], axis=1), mesh.hexes)
    core = np.flatnonzero(np.abs(mesh.nodes[mesh.hexes].mean(axis=1) - (0.05, 0, 0.004)).max(axis=1) < 0.02)
    more = {"core": core, "core_density": 2100.0, "origin": (0.04, 0.01, -0.02), "law": "stvk"}
    return sp.LayeredBody.from_mesh(mesh, RUBBER, **{**more, **options})


SOFT = sp.VoxelMaterial(1.1e5, 510.0, poisson=0.27, expansion=0.013, bond_damping=0.31, ground_damping=0.013,
                        contact_damping=0.37, static_friction=0.61, kinetic_friction=0.43, name="soft")  # fmt: skip
HARD = sp.VoxelMaterial(2.3e5, 830.0, poisson=0.35, expansion=-0.021, bond_damping=0.17, ground_damping=0.029,
                        contact_damping=0.71, static_friction=0.83, kinetic_friction=0.37, name="hard")  # fmt: skip
EDGE = 0.041


def grid(shape: tuple[int, int, int] = (4, 3, 2)) -> sp.VoxelGrid:
    """Voxels of two materials with a hole and a notch, off the origin."""
    cells = np.ones(shape, dtype=int)
    cells[shape[0] // 2 :, :, -1] = 2
    cells[-1, 0, 0] = 0
    cells[0, -1, -1] = 0
    return sp.VoxelGrid(cells, EDGE, origin=(0.011, -0.032, -0.023))


def swing() -> list[Any]:
    """Control variables of all three kinds."""
    phase, gain = {1: 0.13, 2: 0.41}, {1: 0.7, 2: 1.3}
    samples = sp.Samples([0.3, 1.7, -0.9, 0.4], rate=170.0, repeats=True)
    return [
        sp.Actuation(7.0, 11.0, phase, gain, rise=0.03, phase_shift=0.07),
        sp.Drive(samples, gain=1.9, phase={1: 0.1, 2: 0.35}, amplitude=1.7, phase_shift=0.05),
        sp.Commands(lambda t, s: [s.x[0, 2] + 3 * t, 0.7], rate=300.0, count=2, gain=[0.9, -1.7], amplitude=2.3),
    ]


def voxels(**options: Any) -> sp.VoxelBody:
    more = {"actuation": swing()[:2], "transverse": True}
    return sp.VoxelBody(grid(), {1: SOFT, 2: HARD}, **{**more, **options})


@cache
def mixed_model(free: bool = True, chain: bool = False) -> TreeModel:
    """Five domains of unlike sizes and scales."""
    given = mixed_domain_tree(free=free, chain=chain)
    factors = [(1.0, 1.0), (0.9, 1.2), (1.1, 0.8), (1.0, 1.3), (0.8, 0.9)]
    domains = [replace(d, frequency_factor=f, density_factor=m) for d, (f, m) in zip(given.domains, factors)]
    return TreeModel.of(replace(given, domains=domains))


def tree(free: bool = True, chain: bool = False, **options: Any) -> TreeBody:
    more = {"mass_damping": [0.3, 0.5, 0.2, 0.7, 0.4], "stiffness_damping": [0.003, 0.002, 0.004, 0.001, 0.005]}
    return TreeBody(mixed_model(free, chain), **{**more, **options})


@cache
def cut_tree() -> Any:
    """A crooked bar cut into three domains."""
    mesh = tets((6, 1, 2))
    x = mesh.nodes[mesh.tets].mean(axis=1)[:, 0]
    return decompose(mesh, (x > 0.055).astype(int) + (x > 0.11), material=RUBBER, modes=5)


BODIES: Mapping[str, Callable[[], Any]] = {
    "rigid": block,
    "rigid box": lambda: sp.RigidBody.box((0.12, 0.08, 0.06), density=510.0),
    "rigid ball": lambda: sp.RigidBody.sphere(0.047, density=730.0, cells=3),
    "rigid cylinder": lambda: sp.RigidBody.cylinder(0.04, 0.13, density=910.0),
    "particles": particles,
    "fem": lambda: sp.FemBody(tets(), two()),
    "fem, linear": lambda: sp.FemBody(tets(), two(), law="linear", mass="consistent"),
    "fem, stvk": lambda: sp.FemBody(hexes(), two(), law="stvk"),
    "fem, neo-hookean": lambda: sp.FemBody(tets(), two(), law="neo-hookean"),
    "fem, neo-hookean hexes": lambda: sp.FemBody(hexes(), two(), law="neo-hookean", mass="consistent"),
    "fem, hexes": lambda: sp.FemBody(hexes(), two()),
    "fem, linear hexes": lambda: sp.FemBody(hexes(), two(), law="linear"),
    "floating": lambda: floating(damping_ratio=[0.01, 0.03, 0.02, 0.05, 0.04], **start(5, 1e-4)),
    "floating, cubic": lambda: floating(cubic=True, stiffening=False, **start(5, 1e-3)),
    "floating, free": lambda: floating(fixed=None, origin=None, mass_damping=0.7, stiffness_damping=0.003),
    "layered": lambda: layered(),
    "layered, corotational": lambda: layered(law="corotational", origin=None, core_density=None, mass_damping=0.9),
    "layered, linear": lambda: layered(law="linear", stiffness_damping=0.004),
    "voxel": voxels,
    "voxel, plain": lambda: voxels(actuation=None, transverse=False),
    "voxel, by rest": lambda: voxels(stiffness_by_rest=True, transverse=False),
    "tree": tree,
    "tree, chain": lambda: tree(chain=True),
    "tree, cut": lambda: TreeBody(cut_tree(), stiffness_damping=0.003, mass_damping=0.5),
}
"""Bodies of every kind, by names that begin with it."""


def scene_of(body: Any, *, gravity: Any = GRAVITY, **options: Any) -> tuple[sp.Scene, sp.Node]:
    """A scene of one body off the origin, turned, moving and turning."""
    scene = sp.Scene(gravity=gravity)
    return scene, scene.add(body, name="body", **{**EVERYWHERE, **options})


def bent(system: sp.System, size: float = 2e-3, seed: int = 3) -> Array:
    """Positions a little off those at the start, in all coordinates."""
    return system.retract(system.x0, size * random(system.v_size, seed=seed))


def moved(scene: sp.Scene, solver: Any = None, steps: int = 4, dt: float = 0.003, before: Any = None) -> dict[str, Any]:
    """What a few steps of a scene do: where it goes, how fast, energies, forces, readings.

    solver: None for the one that suits the scene. before: called with system and state.
    """
    if solver is None:
        run = sp.run(scene, until=steps * dt, dt=dt, progress=False)
        system, state = run.system, run.state
    else:
        system = scene.compile()
        state = system.initial_state()
        solver.prepare(system)
        if before is not None:
            before(system, state)
        for _ in range(steps):
            report = solver.step(system, state)
            assert report.is_solved, report
    return seen(system, state)


def seen(system: sp.System, state: sp.State) -> dict[str, Any]:
    """What can be said of a state."""
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    found = {
        "time": state.t,
        "way": system.difference(system.x0, state.x) if state.x.size == system.x0.size else state.x,
        "velocity": state.v,
        "change of velocity": state.v - system.v0 if state.v.size == system.v0.size else 0.0,
        "force": system.force(kin),
        "momentum": system.momentum(kin),
        "kinetic energy": system.kinetic_energy(kin),
        "potential energy": system.potential_parts(kin),
        "centre of mass": system.centre_of_mass(kin),
    }
    if system.joints:
        readings = system.joint_readings(state)
        said = [v for r in readings.values() for v in vars(r).values() if v is not None and not isinstance(v, str)]
        found["readings"] = [np.nan_to_num(v) for v in said]
        found["violation"] = system.violation(kin)
    return found


def rotation(theta: Array) -> Array:
    """A quaternion."""
    return rotations.exp(np.asarray(theta, dtype=float))
