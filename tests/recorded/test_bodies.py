"""Recorded numbers of bodies: what each kind says of itself, bent, turned and moving, and its first steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.recorded.making import AT, BODIES, SPIN, TURN, VELOCITY, bent, moved, random, rotation, scene_of
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies import capabilities
from supple.bodies.placement import Placement
from supple.bodies.surfaces import NumberedSurface

recorded = Recorded(__name__)
PLACED = Placement(at=AT, rotation=rotation(TURN), velocity=VELOCITY, spin=SPIN)


@recorded.over({name: make for name, make in BODIES.items() if not name.startswith("tree")})
def forces(make: Callable[[], Any]) -> Values:
    """Bent and in motion."""
    scene, _ = scene_of(make())
    system = scene.compile()
    x, v = bent(system), system.v0 + 0.1 * random(system.v_size, seed=4)
    state = system.initial_state()
    kin = system.propagate(0.013, x, v, state.memory)
    d = random(system.v_size, seed=5)
    still = system.propagate(0.013, x, np.zeros_like(v), state.memory)
    elastic = system.force(still)
    found = {
        "force at rest": elastic,
        "force of motion": system.force(kin) - elastic,
        "bias": system.bias(kin),
        "mass product": system.mass_product(kin, d),
        "momentum": system.momentum(kin),
        "kinetic energy": system.kinetic_energy(kin),
        "potential energy": system.potential_parts(kin),
        "centre of mass": system.centre_of_mass(kin),
        "impulse": system.impulse(system.propagate(0.0, system.x0, system.v0, state.memory), kin),
        "difference": system.difference(system.x0, x),
    }
    for definite in (False, True):
        matrices = system.linearize(kin, definite=definite)
        for name in ("stiffness", "damping"):
            found[f"{name} product, definite {definite}"] = matrices.product(d, **{name: 1.0})
    return found


@recorded.over(BODIES)
def says(make: Callable[[], Any]) -> Values:
    """Its points, surfaces, masses, stresses."""
    body = make()
    placed = body.place(PLACED)
    x = body.coordinates.retract(placed.x, 2e-3 * random(*placed.v.shape, seed=6))
    found: dict[str, Any] = {"mass": body.total_mass, "rest": body.rest_points, "x": placed.x, "v": placed.v}
    render = body.render_surface()
    found["skin"] = render.skin.positions(x)
    found["cells"] = [render.triangles, render.lines, render.vertices]
    surface = body.contact_surface()
    found["touches"] = surface.numbers if isinstance(surface, NumberedSurface) else surface.triangles
    if isinstance(surface, NumberedSurface):
        found["radius"] = surface.radius
    if not body.kind.startswith("particles"):
        mapping = body.embed(body.rest_points[:3] * 0.95 + 0.003).mapping
        tangent = mapping.linearize(x)
        pulled = np.zeros_like(placed.v)
        tangent.add_transpose(random(3, 3, seed=7), pulled)
        found |= {"embedded": mapping.apply(x), "embedded, velocity": tangent.product(placed.v), "pulled": pulled}
    if isinstance(body, capabilities.Massed):
        found["masses"] = body.point_masses()
    if isinstance(body, capabilities.Framed):
        found["origin"] = body.frame_origin()
    if isinstance(body, capabilities.Dragging):
        surface = body.wind_surface()
        found["wind"] = surface.triangles
    if isinstance(body, capabilities.Stressed):
        stress = body.stress(x, PLACED)
        found |= {"strain": stress.strain, "stress": stress.stress}
    if isinstance(body, capabilities.ExplicitContact):
        found["contact"] = body.contact_constants()
    if isinstance(body, capabilities.Convex) and (shape := body.convex_shape()) is not None:
        found |= {"convex": shape, "width": shape.width}
    if isinstance(body, capabilities.Changeable):
        found["adjustments"] = [a.value for a in body.adjustments()] if hasattr(body, "adjustments") else []
    return found


@recorded.over(BODIES)
def steps(make: Callable[[], Any]) -> Values:
    """A few steps of the method that suits it, in gravity, free."""
    scene, node = scene_of(make())
    if node.held_body.kind not in ("rigid", "particles"):
        scene.add(sp.Load(node.points([0, 2, 1]), [(0.1, 0, 0.2), (0, -0.2, 0.3), (0.4, 0.1, 0.1)]))
    return moved(scene)


test_recorded = recorded.test()
