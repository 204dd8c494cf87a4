"""Recorded numbers of what acts on bodies: loads, springs, wrenches, pressure, wind, fluid, filters, masses, events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.recorded.making import BODIES, bent, moved, random, scene_of, seen, tree
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies.point_mass import PointMass
from supple.scene.acting.breaking import break_off

recorded = Recorded(__name__)
SOFT = ("fem", "fem, hexes", "voxel", "tree", "floating", "layered", "particles")
SOLID = ("fem", "fem, stvk", "floating", "layered", "voxel", "tree", "rigid", "rigid box")


def acted(scene: sp.Scene, t: float = 0.037) -> dict[str, Any]:
    """Forces and energies of a scene that is bent and in motion; products of its tangents where it has any."""
    system = scene.compile()
    state = system.initial_state()
    x, v = bent(system), system.v0 + 0.1 * random(system.v_size, seed=4)
    kin = system.propagate(t, x, v, state.memory)
    found = {
        "force": system.force(kin),
        "energy": system.potential_parts(kin),
        "kinetic": system.kinetic_energy(kin),
        "momentum": system.momentum(kin),
    }
    if not any(node.held_body.kind.startswith("tree") for node in scene.nodes):
        lin, d = system.linearize(kin), random(system.v_size, seed=5)
        found["stiffness"] = lin.product(d, stiffness=1.0)
        found["damping"] = lin.product(d, damping=1.0)
        found["mass"] = system.mass_product(kin, d)
        found["bias"] = system.bias(kin)
    return found


def points(node: sp.Node, count: int = 3) -> Any:
    if node.held_body.kind == "particles":
        return node.points([0, 2, 1][:count])
    return node.points(at=node.rest[[0, 2, 1][:count]] * 0.98 + 0.006)


def bare(name: str) -> tuple[sp.Scene, sp.Node]:
    return scene_of(BODIES[name](), gravity=(0, 0, 0))


def of(*names: str) -> dict[str, str]:
    return {name: name for name in names}


@recorded.over(of(*SOFT))
def loads(name: str) -> Values:
    scene, node = bare(name)
    scene.add(sp.Load(points(node), (0.3, -0.5, 0.2)))
    scene.add(sp.Load(points(node), lambda t: np.outer([1.0, t, t * t], [3.0, -2.0, 1.0])))
    ramp, wave = sp.RampInTime((0.3, 0.1, -0.2), 0.07), sp.SineInTime((0.4, -0.2, 0.9), 7.0, phase=0.3)
    table = sp.TableInTime([0.0, 0.03, 0.05], [(0, 1, 0), (2, 0.5, 0), (0, 0, 3)])
    for f in (ramp, wave, table):
        scene.add(sp.Load(points(node, 2), f))
    return acted(scene)


@recorded.over(of(*SOFT, "rigid"))
def springs(name: str) -> Values:
    scene, node = bare(name)
    other = scene.add(BODIES["rigid box"](), at=(0.5, 0.1, 0.4), rotation=(0.3, 0.1, 0.7), velocity=(0.1, 0, 0.3))
    for k, rest in enumerate((0.0, 0.07, None)):
        end = sp.World.points([(0.3, 0.2, 0.4 + 0.1 * k), (0.1, 0.4, 0.2)])
        scene.add(sp.Springs(points(node, 2), end, [20.0, 35.0 + k], [0.3, 0.7], rest_length=rest))
    scene.add(sp.Springs(points(node, 1), other.points(local=[[0.03, 0.02, 0.01]]), 91.0, 0.7, rest_length=0.11))
    return acted(scene)


@recorded.over(of("fem, hexes", "rigid", "voxel", "particles"))
def wrenches(name: str) -> Values:
    scene, node = bare(name)
    chosen = {"rigid": None, "voxel": [1, 4, 5], "particles": [0, 1, 2, 4]}.get(
        name, "x_max" if name == "fem" else [0, 3, 4, 7, 9]
    )
    scene.add(sp.Wrench(node, chosen, force=(0.3, -0.5, 0.2), torque=(0.02, 0.05, -0.03)))
    scene.add(sp.Wrench(node, chosen, force=lambda t: (t, 1 - t, 0.2), torque=lambda t: (0.1 * t, 0.02, 0.03)))
    return acted(scene)


@recorded.over(of("fem", "fem, hexes"))
def pressures(name: str) -> Values:
    scene, node = bare(name)
    scene.add(sp.Pressure(node, None, 700.0))
    scene.add(sp.Pressure(node, lambda X: X[:, 0] > node.rest[:, 0].mean(), lambda t: 300.0 + 5000.0 * t))
    return acted(scene)


@recorded.over(of(*SOLID))
def wind(name: str) -> Values:
    scene, node = bare(name)
    scene.add(sp.Wind(node, (3.0, -4.0, 1.5), intensity=0.3, length=0.7, density=1.1, drag=0.9, modes=12, seed=4))
    return acted(scene)


@recorded.case
def wind_both_sides() -> Values:
    scene, node = bare("fem")
    ball = scene.add(BODIES["rigid"](), at=(0.7, 0.1, 0.3), velocity=(0.2, 0.1, 0.3))
    wind = sp.Wind([node, ball], (3.0, -4.0, 1.5), two_sided=True, modes=9, seed=2, drag=0.8)
    scene.add(wind)
    return acted(scene)


@recorded.over(of(*SOFT, "rigid", "rigid cylinder"))
def fluid(name: str) -> Values:
    if name == "tree":
        name = "fem, neo-hookean"
    scene, _ = bare(name)
    scene.add(sp.Fluid(density=930.0, drag=0.9, flow=(0.3, -0.2, 0.1), level=0.62))
    return moved(scene, steps=2) if name == "voxel" else acted(scene)


@recorded.over(of("fem", "fem, hexes", "voxel", "floating", "layered", "rigid", "particles"))
def masses(name: str) -> Values:
    scene, node = scene_of(BODIES[name]())
    scene.add(PointMass(np.array([0.13, 0.07, 0.21])), on=points(node))
    return acted(scene)


@recorded.case
def masses_on_a_tree() -> Values:
    scene, node = scene_of(tree())
    scene.add(PointMass(np.array([0.13, 0.07, 0.21])), on=node.points([2, 9, 40]))
    return moved(scene, dt=0.004)


FILTERS: dict[str, Callable[[sp.Scene, sp.Node], Any]] = {
    "points": lambda s, n: s.add(sp.FixedPoints(n, [0, 3, 4])),
    "axes": lambda s, n: s.add(sp.FixedAxes(n, [0, 3, 4], "xz")),
    "plane": lambda s, n: s.add(sp.SlidingPlane(n, [0, 3, 4], (0.3, 0.5, -0.7))),
    "motion": lambda s, n: s.add(sp.PrescribedMotion(n, [0, 3, 4], lambda t: (0.3 * t, -t * t, 0.1 * t))),
}


@recorded.over({f"{name}, {kind}": (name, kind) for name in FILTERS for kind in ("fem", "voxel", "particles")})
def filters(given: tuple[str, str]) -> Values:
    name, kind = given
    scene, node = scene_of(BODIES[kind]())
    FILTERS[name](scene, node)
    return moved(scene, dt=0.004)


@recorded.over({"all": {}, "turning": {"rotation": False}})
def held_frames(options: dict[str, Any]) -> Values:
    scene, node = scene_of(BODIES["rigid"]())
    scene.add(sp.FixedPoints(node, **options))
    return moved(scene)


@recorded.case
def led_frame() -> Values:
    scene, node = scene_of(BODIES["rigid"](), velocity=(0, 0, 0), spin=(0, 0, 0))
    lead = sp.PrescribedMotion(node, None, lambda t: (0.3 * t, -t * t, 0.1 * t), lambda t: (t, 2 * t * t, -t))
    scene.add(lead)
    soft = scene.add(BODIES["fem"](), at=(0.4, 0.1, 0.3))
    scene.add(sp.Springs(node.points(local=[[0.05, 0.01, 0.02]]), soft.points([3]), 70.0, 0.3))
    return moved(scene, dt=0.01)


@recorded.case
def a_break() -> Values:
    scene, node = scene_of(tree())
    scene.add(sp.Load(node.points([0, 7]), (0.1, 0.2, 0.3)))
    run = sp.run(scene, until=0.012, dt=0.004, progress=False)
    broken = break_off(scene, run.state, "body", 2, name="twig")
    system = broken.scene.compile()
    for _ in range(2):
        sp.TreeSolver(0.004).step(system, broken.state)
    return seen(system, broken.state)


@recorded.case
def bodies_that_change() -> Values:
    """Changed while they run: materials, what acts, gravity."""
    scene, node = scene_of(BODIES["fem"]())
    box = scene.add(BODIES["rigid box"](), at=(0.9, 0.1, 0.4), spin=(1, 2, 0.5), name="box")
    scene.add(sp.Springs(node.points([2]), box.points(local=[[0.03, 0.02, 0.01]]), 91.0, 0.7), name="rope")
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.004)
    solver.prepare(system)
    solver.step(system, state)
    system.change(state, "body", young=3.3e5, region="left")
    system.change(state, "box", density_factor=1.3)
    system.change(state, "gravity", value=(0.3, 0.2, -5.0))
    for _ in range(2):
        solver.step(system, state)
    return seen(system, state)


test_recorded = recorded.test()
