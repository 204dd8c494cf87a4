"""Right calls of what is public, each with the arguments that may be given to it, for tests that give one wrongly.

A call takes what is given in place of what is right, makes its thing and lets it act for a step.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import supple as sp
from supple.modal import ElasticSolid
from supple.validation.tree.coupling import beam_domain_tree

RUBBER = sp.Material(1e5, 0.3, 1000)
CUBE, BRICK = sp.box_tets((0.1, 0.1, 0.1), (2, 2, 2)), sp.box_hexes((0.1, 0.1, 0.1), (1, 1, 1))
BALL = sp.RigidBody.sphere(0.1, density=1, cells=4).surface
SOLID, TREE = ElasticSolid(CUBE, RUBBER), beam_domain_tree(2, 10)
WORLD = ("friction", "static_friction", "restitution", "motion", "name")


class Call(NamedTuple):
    """A function of keywords, and those that are tried."""

    function: Callable[..., Any]
    names: tuple[str, ...]


def names_of(thing: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(thing).parameters)


def step(scene: sp.Scene, solver: Any = None) -> None:
    system, solver = scene.compile(), solver or sp.ImplicitEuler(1e-3)
    state = system.initial_state()
    solver.prepare(system)
    solver.step(system, state)


def boxes() -> tuple[sp.Scene, sp.Node, sp.Node]:
    scene, box = sp.Scene(gravity=(0, 0, -9.81)), sp.RigidBody.box((0.1, 0.1, 0.1), density=500)
    return scene, scene.add(box, name="a"), scene.add(box, at=(0.3, 0, 0), name="b")


def soft() -> tuple[sp.Scene, sp.Node]:
    scene = sp.Scene()
    return scene, scene.add(sp.FemBody(CUBE, RUBBER), name="soft")


def body(make: Callable[..., Any], solver: Any = None, **right: Any) -> Call:
    """A body that is alone in its scene."""

    def call(**given: Any) -> None:
        scene = sp.Scene()
        scene.add(make(**(right | given)))
        step(scene, solver)

    return Call(call, tuple(right) + tuple(n for n in names_of(make) if n not in right and n != "options"))


def between(thing: Callable[..., Any], **right: Any) -> Call:
    """A joint, spring or contact of two boxes; right values that are functions are of the nodes."""

    def call(**given: Any) -> None:
        scene, a, b = boxes()
        scene.add(thing(**({n: v(a, b) for n, v in right.items()} | given)))
        step(scene)

    return Call(call, names_of(thing))


def on_soft(thing: Callable[..., Any], node: str, **right: Any) -> Call:
    """A filter or load on a soft body."""

    def call(**given: Any) -> None:
        scene, soft_node = soft()
        scene.add(thing(**({node: soft_node} | right | given)))
        step(scene)

    return Call(call, names_of(thing))


def obstacle(thing: Callable[..., Any], **right: Any) -> Call:
    def call(**given: Any) -> None:
        scene, _, _ = boxes()
        scene.add(thing(**(right | given)))
        step(scene)

    return Call(call, (*right, *WORLD))


def solver(thing: Callable[..., Any], make: Callable[[], Any], **right: Any) -> Call:
    def call(**given: Any) -> None:
        scene = sp.Scene()
        scene.add(make())
        step(scene, thing(**(right | given)))

    return Call(call, names_of(thing))


def made(thing: Callable[..., Any], *names: str, **right: Any) -> Call:
    """What is called, and no more."""
    return Call(lambda **given: thing(**(right | given)), names or tuple(right))


def voxels(**given: Any) -> sp.VoxelBody:
    grid = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
    return sp.VoxelBody(**({"grid": grid, "palette": sp.VoxelMaterial(1e6, 1000, expansion=0.01)} | given))


def driven(thing: Callable[..., Any], **right: Any) -> Call:
    """What drives voxels."""
    call = body(voxels, sp.LatticeSolver(1e-3)).function
    return Call(lambda **given: call(actuation=thing(**(right | given))), names_of(thing))


def run(**given: Any) -> None:
    sp.run(boxes()[0], **({"until": 0.01} | given))


def held(call: Callable[..., Any], *names: str) -> Call:
    """What takes the system of a soft body that is held."""

    def act(**given: Any) -> None:
        scene = sp.Scene(gravity=(0, 0, -1.0))
        scene.add(sp.FemBody(CUBE, RUBBER), fix="x_min")
        call(scene, **given)

    return Call(act, names)


def tree_of(**given: Any) -> sp.TreeBody:
    return sp.TreeBody(**({"tree": TREE} | given))


def domain_tree(**given: Any) -> sp.DomainTree:
    return sp.DomainTree(**({"kinds": TREE.kinds, "domains": list(TREE.domains)} | given))


def domain(**given: Any) -> sp.DomainTree:
    *first, last = TREE.domains
    right = {name: getattr(last, name) for name in ("kind", "parent", "interface")}
    return domain_tree(domains=[*first, sp.Domain(**(right | given))])


def template(**given: Any) -> sp.DomainTree:
    part = TREE.kinds["part"]
    right = {name: getattr(part, name) for name in names_of(sp.DomainTemplate)}
    return domain_tree(kinds={**TREE.kinds, "part": sp.DomainTemplate(**(right | given))})


def matrices(**given: Any) -> sp.FloatingBody:
    M = np.diag(np.repeat(SOLID.lumped_mass, 3))
    return sp.FloatingBody.from_matrices(**({"nodes": CUBE.nodes, "M": M, "K": SOLID.stiffness, "modes": 3} | given))


def inner(x: np.ndarray) -> np.ndarray:
    return np.abs(x - np.array([0.2, 0.0, 0.0])).max(axis=1) < 0.11


def saved(**given: Any) -> sp.Scene:
    """Written into the current folder, and read."""
    scene, _, _ = boxes()
    sp.save(scene, "scene.toml")
    return sp.load(**({"path": "scene.toml"} | given))


def mesh_of_file(**given: Any) -> Any:
    sp.save_mesh("mesh.veg", CUBE)
    return sp.load_mesh(**({"path": "mesh.veg"} | given))


def exported(**given: Any) -> Any:
    run = sp.run(boxes()[0], until=0.01)
    return sp.export(**({"run": run, "destination": "table.csv", "to": "csv"} | given))


def joined(**given: Any) -> None:
    """Two boxes whose points are pulled as one set."""
    scene, a, b = boxes()
    right = {"one": a.points(local=[(0, 0, 0)]), "two": b.points(local=[(0, 0, 0)])} | given
    scene.add(sp.Load(sp.join(right["one"], right["two"]), (0, 0, 1.0)))
    step(scene)


LAYERED = {"mesh": sp.box_tets((0.4,) * 3, (4,) * 3), "material": RUBBER, "core": inner}
POINTS = {"a": lambda a, b: a.points(local=[(0, 0, 0)]), "b": lambda a, b: b.points(local=[(0, 0, 0)])}
NODES = {"a": lambda a, b: a, "b": lambda a, b: b}
FLOATING = {"solid": SOLID, "modes": 3}

CALLS: dict[str, Call] = {
    "BallJoint": between(sp.BallJoint, **NODES, at=lambda a, b: (0.1, 0, 0)),
    **{t.__name__: between(t, **NODES) for t in (sp.HingeJoint, sp.SliderJoint, sp.FixedJoint)},
    "Springs": between(sp.Springs, **POINTS, stiffness=lambda a, b: 10.0, rest_length=lambda a, b: 0.1),
    "Load": between(sp.Load, on=POINTS["a"], force=lambda a, b: (0, 0, 1.0)),
    "Contact": between(sp.Contact),
    **{t.__name__: on_soft(t, "target") for t in (sp.FixedPoints, sp.FixedAxes, sp.SlidingPlane, sp.PrescribedMotion)},
    "Pressure": on_soft(sp.Pressure, "node", region="x_max", pressure=1.0),
    "Wrench": on_soft(sp.Wrench, "node", selector="x_max", force=(0, 0, 1.0)),
    "Wind": on_soft(sp.Wind, "nodes", velocity=(1.0, 0, 0)),
    "Fluid": obstacle(sp.Fluid, density=1000.0, drag=1.0, flow=(0, 0, 0), level=0.0)._replace(
        names=("density", "drag", "flow", "level")
    ),
    "Floor": obstacle(sp.Floor, height=-1.0),
    "Plane": obstacle(sp.Plane, normal=(0, 0, 1.0), offset=-1.0),
    "Box": obstacle(sp.Box, centre=(0, 0, -5), edges=(1, 1, 1), rotation=None),
    "Sphere": obstacle(sp.Sphere, centre=(0, 0, -5), radius=1.0),
    "Capsule": obstacle(sp.Capsule, start=(0, 0, -5), end=(1, 0, -5), radius=1.0),
    "HeightField": obstacle(sp.HeightField, heights=-np.ones((3, 3)), origin=(0, 0), spacing=1.0),
    "MeshObstacle": obstacle(sp.MeshObstacle, mesh=BALL),
    "Motion": made(sp.Motion, *names_of(sp.Motion)),
    "Motion.sampled": made(sp.Motion.sampled, position=lambda t: (t, 0, 0), until=1.0, every=0.1),
    "Actuation": driven(sp.Actuation, amplitude=0.1, frequency=1.0),
    "Drive": driven(sp.Drive, signal=lambda t: 0.0),
    "Commands": driven(sp.Commands, function=lambda t, s: [0.0], rate=10.0),
    "Samples": made(sp.Samples, values=[0.0, 1.0], rate=10.0),
    "SineInTime": made(sp.SineInTime, amplitude=(0, 0, 1.0), frequency=1.0, phase=0.0, offset=0.0),
    "RampInTime": made(sp.RampInTime, end=(0, 0, 1.0), duration=1.0),
    "TableInTime": made(sp.TableInTime, times=[0, 1.0], values=[0.0, 1.0]),
    **{
        t.__name__: solver(t, lambda: sp.Particles(np.eye(3), 1.0, springs=[(0, 1)], stiffness=1.0))
        for t in (sp.ImplicitEuler, sp.Midpoint, sp.Newmark, sp.GeneralizedAlpha, sp.SymplecticEuler, sp.RungeKutta4)
    },
    "LatticeSolver": solver(sp.LatticeSolver, voxels, dt=1e-3),
    "StrideSolver": solver(sp.StrideSolver, lambda: sp.FloatingBody.from_solid(SOLID, modes=3)),
    "TreeSolver": solver(sp.TreeSolver, tree_of),
    "Partitioned": solver(sp.Partitioned, voxels, dt=1e-3),
    "Statics": made(sp.Statics, *names_of(sp.Statics)),
    "Material": made(sp.Material, *names_of(sp.Material), young=1e5, poisson=0.3, density=1000.0),
    "VoxelMaterial": made(sp.VoxelMaterial, *names_of(sp.VoxelMaterial), young=1e6, density=1000.0),
    "VoxelGrid": made(sp.VoxelGrid, materials=np.ones((2, 1, 1), dtype=int), voxel_size=0.01, origin=(0, 0, 0)),
    "VoxelBody": body(voxels, sp.LatticeSolver(1e-3))._replace(names=names_of(sp.VoxelBody)),
    "FemBody": body(sp.FemBody, mesh=CUBE, material=RUBBER),
    "Particles": body(sp.Particles, positions=np.eye(3), mass=0.1, springs=[(0, 1)], stiffness=1.0),
    "RigidBody": body(sp.RigidBody, mass=1.0, inertia=(1.0, 1.0, 1.0)),
    "RigidBody.box": body(sp.RigidBody.box, size=(0.1, 0.1, 0.1), density=1.0),
    "RigidBody.sphere": body(sp.RigidBody.sphere, radius=0.1, density=1.0),
    "RigidBody.cylinder": body(sp.RigidBody.cylinder, radius=0.1, height=0.1, density=1.0),
    "FloatingBody.from_solid": made(sp.FloatingBody.from_solid, *names_of(sp.FloatingBody.from_solid), **FLOATING),
    "FloatingBody.from_matrices": made(matrices, *names_of(sp.FloatingBody.from_matrices)),
    "LayeredBody.from_mesh": made(sp.LayeredBody.from_mesh, *names_of(sp.LayeredBody.from_mesh), **LAYERED),
    "LayeredBody.from_surface": made(
        sp.LayeredBody.from_surface, "surface", "material", "thickness", "cells", "core_density", "law",
        surface=BALL, material=RUBBER, thickness=0.03, cells=1,
    ),
    "TreeBody": body(tree_of, sp.TreeSolver())._replace(names=names_of(sp.TreeBody)),
    "TreeSettings": made(lambda **given: tree_of(settings=sp.TreeSettings(**given)), *names_of(sp.TreeSettings)),
    "DomainTree": made(domain_tree, *names_of(sp.DomainTree)),
    "Domain": made(domain, *names_of(sp.Domain)),
    "DomainTemplate": made(template, *names_of(sp.DomainTemplate)),
    "DomainInterface": made(sp.DomainInterface, nodes=np.arange(4), weights=np.ones(4), rotation=(1.0, 0, 0, 0)),
    "TetMesh": made(sp.TetMesh, *names_of(sp.TetMesh), nodes=CUBE.nodes, tets=CUBE.tets),
    "HexMesh": made(sp.HexMesh, *names_of(sp.HexMesh), nodes=BRICK.nodes, hexes=BRICK.hexes),
    "TreeModel.of": made(
        sp.TreeModel.of, "domain_tree", "attachment_modes", "statics", "linear", "keep", "processes", "progress",
        domain_tree=TREE,
    ),
    "join": Call(joined, ("one", "two")),
    "load": Call(saved, names_of(sp.load)),
    "load_mesh": Call(mesh_of_file, names_of(sp.load_mesh)),
    "save": made(sp.save, *names_of(sp.save), scene=boxes()[0], path="scene.toml"),
    "save_mesh": made(sp.save_mesh, *names_of(sp.save_mesh), path="mesh.veg", mesh=CUBE),
    "export": Call(exported, names_of(sp.export)),
    "SurfaceMesh": made(sp.SurfaceMesh, *names_of(sp.SurfaceMesh), nodes=BALL.nodes, triangles=BALL.triangles),
    "box_tets": made(sp.box_tets, size=(1, 1, 1), cells=(1, 1, 1), pattern="mirrored"),
    "box_hexes": made(sp.box_hexes, size=(1, 1, 1), cells=(1, 1, 1)),
    "cylinder_tets": made(sp.cylinder_tets, radius=1.0, height=1.0, cells=(1, 1)),
    "sphere_tets": made(sp.sphere_tets, radius=1.0, cells=1),
    "Scene.add": made(
        lambda **given: sp.Scene().add(**({"thing": sp.RigidBody.sphere(0.1, density=1.0, cells=2)} | given)),
        "thing", "at", "rotation", "velocity", "spin", "fix", "name", "under",
    ),
    "run": made(
        run, "until", "start", "out", "dt", "solver", "record_every", "fields", "observers", "on_step", "threads"
    ),
    "settle": held(sp.settle, "tolerance", "within", "dt", "solver"),
    "solve_statics": held(lambda scene, **given: sp.solve_statics(scene.compile(), **given), "load_steps", "tolerance"),
    "equilibrium_path": held(
        lambda scene, **given: sp.equilibrium_path(scene.compile(), **given),
        "state", "until", "stop", "load_steps", "longest", "max_points", "tolerance",
    ),
    "ArcLength": made(sp.ArcLength, *names_of(sp.ArcLength)),
    "vibration_modes": held(lambda scene, **given: sp.vibration_modes(scene.compile(), **given), "count", "state"),
    "check_derivatives": held(
        lambda scene, **given: sp.check_derivatives(scene.compile(), **given), "x", "v", "t", "step", "seed"
    ),
}  # fmt: skip
