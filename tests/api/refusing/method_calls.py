"""Right calls of what bodies, nodes, systems and files do for people, each with the arguments that may be given."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from tests.api.refusing.every_call import CUBE, LAYERED, RUBBER, SOLID, Call, boxes, names_of, soft, tree_of, voxels

import supple as sp
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.bodies.stride import Stride
from supple.bodies.voxel.touching.collision import Collision
from supple.files.voxcad import load as voxcad
from supple.modal import ElasticSolid, Support, linear_modes

STEP = {"dt": 1e-4, "steps": 1, "gravity": (0, 0, -1.0)}
GRID = sp.VoxelGrid(np.ones((2, 1, 1), dtype=int), 0.01)
FILE = voxcad.VoxcadFile(GRID, (sp.VoxelMaterial(1e6, 1000),))


@cache
def body_of(kind: str) -> tuple[Any, sp.State]:
    """A body, and the state of a scene that it is alone in."""
    make: Callable[[], Any] = {
        "fem": lambda: sp.FemBody(CUBE, RUBBER),
        "floating": lambda: sp.FloatingBody.from_solid(SOLID, modes=3),
        "layered": lambda: sp.LayeredBody.from_mesh(**LAYERED),
        "tree": tree_of,
        "voxel": voxels,
    }[kind]
    scene, made = sp.Scene(), make()
    scene.add(made, name="body")
    return made, scene.compile().initial_state()


def state_of(kind: str) -> LocalState:
    made, state = body_of(kind)
    n = made.coordinates.count
    return LocalState(0.0, state.x.reshape(n, -1).copy(), state.v.reshape(n, -1).copy())


def on_coordinates(kind: str, method: str, **right: Any) -> Call:
    """What takes coordinates x, or x and v."""

    def call(**given: Any) -> Any:
        now, made = state_of(kind), body_of(kind)[0]
        known = {"x": now.x, "v": now.v}
        both = known if "v" in names_of(getattr(made, method)) else {"x": now.x}
        return getattr(made, method)(**(both | right | given))

    names = ("x", "v") if method in ("advance", "measures") else ("x",)
    return Call(call, (*names, *right))


def on_state(kind: str, method: str, **right: Any) -> Call:
    """What takes a state of the body."""

    def call(**given: Any) -> Any:
        return getattr(body_of(kind)[0], method)(**({"state": state_of(kind)} | right | given))

    return Call(call, ("state", *right))


def on_system(method: str, *names: str, **right: Any) -> Call:
    """What a system with a hinge, a spring, a contact, a floor and a wind does at its first state."""

    def call(**given: Any) -> Any:
        scene, a, b = boxes()
        scene.add(sp.HingeJoint(a, b, motor_speed=1.0, motor_torque=1.0), name="hinge")
        scene.add(sp.Springs(a.points(local=[(0, 0, 0)]), b.points(local=[(0, 0, 0)]), 10.0), name="spring")
        scene.add(sp.Contact(), name="contact")
        scene.add(sp.Floor(height=-1.0), name="floor")
        scene.add(sp.Wind(velocity=(1.0, 0, 0)), name="wind")
        system = scene.compile()
        return getattr(system, method)(system.initial_state(), **(right | given))

    return Call(call, names or tuple(right))


def added(**given: Any) -> str:
    scene, a, b = boxes()
    system = scene.compile()
    joint = sp.BallJoint(a, b, at=(0.15, 0, 0))
    return system.add(system.initial_state(), **({"thing": joint} | given))


def on_node(method: str, **right: Any) -> Call:
    return Call(lambda **given: getattr(soft()[1], method)(**(right | given)), tuple(right))


def on_file(function: Callable[..., Any], **right: Any) -> Call:
    return Call(lambda **given: function(**({"file": FILE} | right | given)), ("file", *right))


def stepped(solver: Any, make: Callable[[], Any]) -> Call:
    """A step of a scene of one body."""

    def call(**given: Any) -> Any:
        scene = sp.Scene()
        scene.add(make())
        system = scene.compile()
        return solver().step(**({"system": system, "state": system.initial_state()} | given))

    return Call(call, ("system", "state"))


def prepared(solver: Any, make: Callable[[], Any]) -> Call:
    """A method made ready for a scene of one body."""

    def call(**given: Any) -> Any:
        scene = sp.Scene()
        scene.add(make())
        return solver().prepare(**({"system": scene.compile()} | given))

    return Call(call, ("system",))


def file_with(name: str, make: Callable[..., Any], **right: Any) -> Call:
    """A file with a part, and the scene it is."""

    def call(**given: Any) -> Any:
        part = make(**(right | given))
        if isinstance(part, voxcad.BoundaryRegion):
            part = voxcad.VoxcadEnvironment(regions=(part,))
        file = voxcad.VoxcadFile(
            **({"grid": GRID, "palette": FILE.palette} | ({name: part} if name else right | given))
        )
        return voxcad.voxcad_scene(file).compile(), voxcad.voxcad_settings(file)

    return Call(call, names_of(make))


def read(**given: Any) -> Any:
    voxcad.save_voxcad(FILE, "a.vxa")
    return voxcad.load_voxcad(**({"path": "a.vxa"} | given))


def changed(name: str, **right: Any) -> Call:
    return on_system("change", *right, "name", **right, name=name)


SOLVERS: dict[Any, Callable[[], Any]] = {
    **dict.fromkeys(
        (sp.ImplicitEuler, sp.Midpoint, sp.Newmark, sp.GeneralizedAlpha, sp.SymplecticEuler, sp.RungeKutta4),
        lambda: sp.Particles(np.eye(3), 1.0),
    ),
    sp.LatticeSolver: voxels,
    sp.Partitioned: voxels,
    sp.TreeSolver: tree_of,
    sp.StrideSolver: lambda: sp.FloatingBody.from_solid(SOLID, modes=3),
}

METHOD_CALLS: dict[str, Call] = {
    **{f"{solver.__name__}.prepare": prepared(solver, make) for solver, make in SOLVERS.items()},
    **{f"{solver.__name__}.step": stepped(solver, make) for solver, make in SOLVERS.items()},
    "System.positions": on_system("positions", body="a"),
    "System.velocities": on_system("velocities", body="a"),
    "System.points": on_system("points", body="a"),
    "System.present": on_system("present", body="a"),
    "System.remove": on_system("remove", name="spring"),
    "System.body": Call(lambda **given: boxes()[0].compile().body(**({"name": "a"} | given)), ("name",)),
    "System.add": Call(added, ("thing", "name")),
    "System.change gravity": changed("gravity", value=(0, 0, -1.0)),
    "System.change hinge": changed("hinge", motor_speed=1.0, motor_torque=2.0),
    "System.change spring": changed("spring", stiffness=2.0),
    "System.change contact": changed("contact", friction=0.3),
    "System.change floor": changed("floor", friction=0.3),
    "System.change wind": changed("wind", velocity=(2.0, 0, 0), drag=1.0),
    "System.change body": changed("a", density_factor=2.0),
    "Node.points": on_node("points", selector="x_min"),
    "Node.points at": on_node("points", at=[(0, 0, 0)]),
    "Node.points local": on_node("points", local=[(0, 0, 0)]),
    "Node.indices": on_node("indices", selector="x_min"),
    "Node.to_local": on_node("to_local", x=[(0, 0, 0)]),
    "Scene.node": Call(lambda **given: soft()[0].node(**({"name": "soft"} | given)), ("name",)),
    "Scene.group": Call(lambda **given: sp.Scene().group(**({"name": "g"} | given)), ("name", "under")),
    "FemBody.stress": on_coordinates("fem", "stress", placement=Placement()),
    "FloatingBody.stress": on_coordinates("floating", "stress", placement=Placement()),
    "FloatingBody.positions": on_coordinates("floating", "positions"),
    "FloatingBody.advance": on_coordinates("floating", "advance", **STEP, stride=None),
    "LayeredBody.stress": on_coordinates("layered", "stress", placement=Placement()),
    "LayeredBody.positions": on_coordinates("layered", "positions"),
    "LayeredBody.advance": on_coordinates("layered", "advance", **STEP, stride=None),
    "Stride": Call(
        lambda **given: on_coordinates("floating", "advance", **STEP).function(
            stride=Stride(**({"nodes": [0], "forces": [(0, 0, 1.0)]} | given))
        ),
        names_of(Stride),
    ),
    "VoxelBody.advance": on_state(
        "voxel", "advance", **STEP, held=[0], loads=np.zeros((2, 6)), planes=(), collision=Collision(), fluid=None,
        dtype=np.float64,
    ),
    "VoxelBody.links": on_state("voxel", "links"),
    "TreeBody.advance": on_state("tree", "advance", **STEP, forces=None),
    "TreeBody.measures": on_coordinates("tree", "measures"),
    "TreeBody.point_region": Call(
        lambda **given: body_of("tree")[0].point_region(**({"name": "part"} | given)), ("name",)
    ),
    "ElasticSolid": Call(
        lambda **given: ElasticSolid(**({"mesh": CUBE, "material": RUBBER} | given)).stiffness, names_of(ElasticSolid)
    ),
    "Support": Call(lambda **given: Support(**({"solid": SOLID, "fixed": "x_min"} | given)).free, names_of(Support)),
    "linear_modes": Call(
        lambda **given: linear_modes(**({"support": Support(SOLID, "x_min"), "count": 2} | given)), ("support", "count")
    ),
    **{
        function.__name__: on_file(function)
        for function in (
            voxcad.voxcad_held, voxcad.voxcad_loads, voxcad.voxcad_notes, voxcad.voxcad_planes, voxcad.voxcad_settings
        )
    },
    "voxcad_body": on_file(voxcad.voxcad_body, stiffness_by_rest=True),
    "voxcad_scene": on_file(voxcad.voxcad_scene, name="robot", ramp=0.1, stiffness_by_rest=True),
    "VoxcadFile": file_with("", voxcad.VoxcadFile, grid=GRID, palette=FILE.palette),
    "VoxcadEnvironment": file_with("environment", voxcad.VoxcadEnvironment),
    "VoxcadSimulator": file_with("simulator", voxcad.VoxcadSimulator, stop_kind=voxcad.StopKind.TIME, stop_value=0.5),
    "BoundaryRegion": file_with(
        "environment", voxcad.BoundaryRegion, corner=(0.0, 0.0, 0.0), size=(0.4, 1.0, 1.0), held=(True,) * 6
    ),
    "save_voxcad": on_file(voxcad.save_voxcad, path="b.vxa", compression="ascii"),
    "load_voxcad": Call(read, ("path", "base")),
}  # fmt: skip
"""No call of these changes what is kept between them: bodies are frozen, and states are made anew."""
