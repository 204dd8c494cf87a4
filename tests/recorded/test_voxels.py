"""Recorded numbers of voxel lattices: laws of links, actuation, rigid cells, contact and springs in the sweep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from tests.recorded.making import EDGE, GRAVITY, HARD, SOFT, bent, grid, moved, random, scene_of, swing, voxels
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies.voxel import Collision, index_box, touched_by_box, touched_by_cylinder, touched_by_sphere
from supple.bodies.voxel.stability.stable_step import find_step
from supple.bodies.voxel.touching.collision import contact_rates, damping_ratios
from supple.contact import distance

recorded = Recorded(__name__)
YIELDS = {"yield_stress": 900.0, "plastic_modulus": 3.1e4, "fail_strain": 0.19}
CURVE = [(0.004, 440.0), (0.011, 900.0), (0.05, 1500.0), (0.2, 1900.0)]
BONE = sp.VoxelMaterial(9e5, 1900.0, rigid=True, static_friction=0.9, kinetic_friction=0.7, name="bone")


def model_numbers(body: sp.VoxelBody) -> dict[str, Any]:
    m = body.model
    return {
        "links": [m.link_voxels, m.link_axis, m.link_stiffness, m.link_damping],
        "masses": [m.mass, m.inertia, m.ground_damping, m.size],
        "properties": m.properties,
        "laws": [np.nan_to_num(a, posinf=-1.0) for a in (m.laws.knot, m.laws.change, m.laws.failure)],
        "groups": m.group,
    }


LATTICES = {
    "plain": lambda: voxels(actuation=None, transverse=False),
    "transverse": lambda: voxels(actuation=None),
    "fields": lambda: voxels(
        young=1e5 * (1.0 + 0.1 * np.arange(grid().voxel_count)),
        density=400.0 + 13.0 * np.arange(grid().voxel_count),
    ),
    "by rest": lambda: voxels(stiffness_by_rest=True, transverse=False),
    "commands": lambda: voxels(actuation=swing()),
    "yielding": lambda: sp.VoxelBody(grid(), {1: replace(SOFT, **YIELDS), 2: replace(HARD, curve=None)}),
    "curve": lambda: sp.VoxelBody(grid(), {1: replace(SOFT, curve=CURVE, young=1.1e5, fail_stress=1700.0), 2: HARD}),
    "bones": lambda: sp.VoxelBody(grid((5, 3, 2)), {1: SOFT, 2: BONE}, actuation=swing()[:1]),
}


@recorded.over(LATTICES)
def lattice(make: Any) -> Values:
    """The model, and strides in gravity with a pull that bends it."""
    body = make()
    scene, node = scene_of(body)
    scene.add(sp.Load(node.points([0, 2, 7]), [(1.0, 0, 2), (0, -2, 3), (14, 1, 1)]))
    return model_numbers(body) | moved(scene, steps=3)


@recorded.over({name: LATTICES[name] for name in ("plain", "fields", "bones")})
def sizes(make: Any) -> Values:
    """Sizes in time and the stable step."""
    body = make()
    found: dict[str, Any] = {"step": list(find_step(body.model))}
    if body.swing is not None:
        t = np.array([0.0, 0.007, 0.013, 0.05])
        found |= {"signals": [s(t) for s in body.swing.signals], "patterns": body.swing.patterns}
    return found


@recorded.case
def regions() -> Values:
    g = grid((6, 4, 3))
    return {
        "box": touched_by_box(g, (0.1, 0.2, 0.0), (0.4, 0.5, 0.6)),
        "sphere": touched_by_sphere(g, (0.4, 0.6, 0.3), 0.27),
        "cylinder": touched_by_cylinder(g, (0.2, 0.4, 0.5), (0.6, 0, 0), 0.15),
        "cells": index_box(g, (1, 0, 0), (-2, 2, -1)),
        "layer": sp.VoxelBody(g, {1: SOFT, 2: HARD}).point_numbers("y_max"),
    }


def low(body: Any, obstacle: Any) -> sp.Scene:
    """A body in an obstacle by little, and moving into it, aslant."""
    at, options = np.array([0.1, 0.2, 0.1]), {"rotation": (0.1, -0.07, 0.4), "spin": (0.3, 1, 2)}
    for _ in range(30):
        scene = sp.Scene(gravity=GRAVITY)
        node = scene.add(body, name="body", at=at, velocity=(0.4, -0.2, -0.3), **options)
        gap = float(distance(obstacle, node.rest)[0].min()) - 0.53 * EDGE
        at = at - (0.0, 0.0, 0.8 * gap)
    scene.add(obstacle, name="thing")
    return scene


LIFT = sp.Motion((0.3, 0.1, 0.2), (0.3, -0.2, 0.5), (0.1, 0.2, 0.0))
OBSTACLES = {
    "floor": lambda: sp.Floor(0.01),
    "rough floor": lambda: sp.Floor(0.01, friction=0.31, static_friction=0.47),
    "slope": lambda: sp.Plane((0.2, -0.3, 0.9), 0.02, friction=0.37),
    "ball": lambda: sp.Sphere((0.18, 0.22, -0.17), 0.2, friction=0.23),
    "capsule": lambda: sp.Capsule((0.1, 0.1, -0.1), (0.3, 0.3, -0.06), 0.12, friction=0.29),
    "box": lambda: sp.Box((0.2, 0.2, -0.1), (0.13, 0.17, 0.1), (0.1, 0.2, 0.3), friction=0.41),
    "hills": lambda: sp.HeightField(
        0.03 * np.sin(np.arange(30.0)).reshape(5, 6), origin=(-0.2, -0.1), spacing=(0.17, 0.13), friction=0.43
    ),
    "lift": lambda: sp.Floor(0.01, friction=0.31, motion=LIFT),
    "rising ball": lambda: sp.Sphere((0.18, 0.22, -0.17), 0.2, friction=0.23, motion=LIFT),
    "rising capsule": lambda: sp.Capsule((0.1, 0.1, -0.1), (0.3, 0.3, -0.06), 0.12, motion=LIFT),
    "rising box": lambda: sp.Box((0.2, 0.2, -0.1), (0.13, 0.17, 0.1), (0.1, 0.2, 0.3), motion=LIFT),
}


@recorded.over(OBSTACLES)
def on_obstacles(make: Any) -> Values:
    return moved(low(voxels(), make()), steps=4, dt=0.004)


@recorded.case
def bones_on_a_floor() -> Values:
    return moved(low(LATTICES["bones"](), sp.Floor(0.01, friction=0.31)), steps=4, dt=0.004)


@recorded.case
def self_contact() -> Values:
    """The arms of a U close on each other, and another lattice is thrown at it."""
    cells = np.ones((5, 3, 3), dtype=int)
    cells[1:4, :, 1:] = 0
    cells[0] = 2
    scene = sp.Scene(gravity=GRAVITY)
    body = sp.VoxelBody(sp.VoxelGrid(cells, EDGE, (0.01, 0.02, 0.03)), {1: SOFT, 2: HARD})
    node = scene.add(body, name="u", rotation=(0.1, 0.2, 0.3), spin=(0.3, 0.2, 0.5))
    other = scene.add(voxels(), at=(0.02, 0.1, 0.17), rotation=(0.4, 0.1, 0.2), velocity=(0.3, 0.1, -2.0), name="other")
    scene.add(sp.Load(node.points("x_min"), (40.0, 2.0, 1.0)))
    scene.add(sp.Load(node.points("x_max"), (-40.0, 1.0, 3.0)))
    scene.add(sp.Contact(friction=0.37, self_contact=[node, other]))
    return moved(scene, steps=6, dt=0.005)


@recorded.case
def collision() -> Values:
    model, given = voxels().model, Collision()
    return {"rates": contact_rates(model, given), "ratios": damping_ratios(model, given)}


@recorded.case
def springs_in_the_sweep() -> Values:
    scene, node = scene_of(voxels())
    scene.add(
        sp.Springs(node.points([0, 4]), sp.World.points([(0.3, 0.2, 0.4), (0.1, 0.4, 0.2)]), [50.0, 170.0], [0.3, 0.9])
    )
    scene.add(sp.Springs(node.points([1]), sp.World.points([(0.3, -0.2, 0.4)]), 90.0, 0.3, rest_length=0.1))
    other = scene.add(voxels(actuation=None), at=(0.7, 0.2, 0.4), spin=(1, 2, 3))
    scene.add(sp.Springs(node.points([9]), other.points([3]), 700.0, 0.4))
    return moved(scene, steps=3)


@recorded.over({"fem": "fem", "rigid": "rigid", "tree": "tree", "particles": "particles"}, rtol=1e-6)
def with_others(name: str) -> Values:
    """A lattice that touches another kind and hangs on it."""
    from tests.recorded.making import BODIES

    scene = sp.Scene(gravity=GRAVITY)
    a = scene.add(voxels(), name="body", at=(0.1, 0.2, 0.3), rotation=(0.1, 0.1, 0.4), velocity=(0.2, 0.1, -0.3))
    top = a.rest[:, 2].max() + EDGE
    b = scene.add(
        BODIES[name](), name="other", at=(0.12, 0.2, top + 0.063), rotation=(0.2, 0.1, 0.1), velocity=(0.1, 0.2, -3.0)
    )
    if name != "particles":
        scene.add(sp.Springs(a.points([0]), b.points(at=b.rest[:1] * 0.99 + 0.002), 300.0, 0.7))
    scene.add(sp.Contact(friction=0.41))
    return moved(scene, steps=4, dt=0.005)


@recorded.case
def elastic_force() -> Values:
    """The lattice as a force in an implicit step, with fluid and ground damping."""
    scene, _ = scene_of(voxels())
    scene.add(sp.Fluid(density=900.0, drag=0.8, flow=(0.1, 0.2, 0.3), level=0.55))
    return moved(scene, steps=2)


@recorded.case
def implicit() -> Values:
    scene, node = scene_of(voxels())
    scene.add(sp.Load(node.points([0, 2, 7]), [(1.0, 0, 2), (0, -2, 3), (14, 1, 1)]))
    return moved(scene, sp.ImplicitEuler(0.004), steps=3)


@recorded.case
def large_strains() -> Values:
    """Links far from rest, along and across."""
    scene, _ = scene_of(voxels())
    system = scene.compile()
    kin = system.propagate(0.02, bent(system, 0.2), random(system.v_size), {})
    lin, d = system.linearize(kin), random(system.v_size, seed=5)
    return {
        "force": system.force(kin),
        "energy": system.potential_parts(kin),
        "stiffness": lin.product(d, stiffness=1.0),
        "damping": lin.product(d, damping=1.0),
    }


test_recorded = recorded.test()
