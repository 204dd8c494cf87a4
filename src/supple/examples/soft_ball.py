"""soft-ball: a ball with a rigid core and a soft layer rolls down a slope, at the acceleration that its mass asks for.

    a = g sin(slope) / (1 + I / (m r²))

m and I are those of core and layer. r = v / w is the rolling radius: what rolls without sliding and without loss has
m v a + I w w' = m g v sin(slope), whatever its patch looks like. The layer is flattened by the weight, so r lies
between the height of the centre above the slope and the radius of the ball. What slows the ball down beside this is
what its coarse surface takes from it while vertices come down on the slope, and steps of finite length.

Checked: the acceleration; that the ball rolls by its flattened radius; that its patch stands still on the slope while
the ball moves; and that the layer yields by less than a ball without a core would, after Hertz, but by half of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.layered.body import LayeredBody
from supple.contact import Contact, Floor
from supple.examples import Check, Example, below, within
from supple.geometry import sphere_tets
from supple.material import Material
from supple.scene import Scene
from supple.solvers import ImplicitEuler

Array = np.ndarray
RADIUS, THICKNESS = 0.1, 0.03  # [m]
CELLS = 5  # along the radius
SLOPE = np.radians(10.0)
GRAVITY = 9.81  # [m/s²]
STEP, UNTIL = 5e-3, 1.0  # [s]
ROLLS = 0.3
"""From here on the ball rolls and no longer bounces [s]."""
RUBBER = Material(young=3e5, poisson=0.3, density=1000.0, name="rubber")
WEIGHT = GRAVITY * np.array([np.sin(SLOPE), 0.0, -np.cos(SLOPE)])
"""In axes of the slope: x runs down, z stands on it, so that it is the floor of the picture [m/s²]."""


def ball() -> LayeredBody:
    """Three centimetres of rubber around a rigid core."""

    def inside(X: Array) -> Array:
        return np.asarray(np.linalg.norm(X, axis=1) < RADIUS - THICKNESS + 1e-9)

    return LayeredBody.from_mesh(sphere_tets(RADIUS, CELLS), RUBBER, core=inside)


def make() -> Scene:
    """The ball touches the slope, at rest."""
    scene = Scene(gravity=tuple(WEIGHT), solver=ImplicitEuler(STEP), name="soft-ball")
    scene.add(ball(), at=(0, 0, RADIUS), name="ball")
    scene.add(Floor())
    scene.add(Contact(friction=0.6))
    return scene


def inertia(body: LayeredBody, x: Array) -> float:
    """About the centre of mass and the axis along which the ball turns, y [kg m²], at coordinates x (1, 7 + 3 n)."""
    M = body.inertia.at(x)
    m, y = body.total_mass, M.R.T @ np.array([0.0, 1.0, 0.0])
    return float(y @ (M.J - (M.S @ M.S * np.eye(3) - np.outer(M.S, M.S)) / m) @ y)


def patch_speed(run: Any) -> float:
    """Of the touching points along the slope, weighted by their depth [m/s]."""
    slot = run.system.contacts[0].slots[0]
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    depth = np.maximum(0.0, -kin.x[slot.index][:, 2])
    return float(depth @ np.linalg.norm(kin.v[slot.index][:, :2], axis=1) / depth.sum())


def check(run: Any) -> list[Check]:
    """Over the frames in which the ball rolls."""
    body, columns, t = run.system.body("ball").node.body, run.frames.columns, run.frames.times
    late, m = t >= ROLLS, body.total_mass
    momentum, centre = columns["momentum"][late], columns["centre_of_mass"][late]
    I = inertia(body, run.system.positions(run.state, "ball"))
    v = momentum[:, 0] / m
    w = (momentum[:, 3:] - rotations.cross(centre, momentum[:, :3]))[:, 1] / I
    r = float(v @ w / (w @ w))
    height = float(centre[:, 2].mean())
    expected = WEIGHT[0] / (1 + I / (m * r**2))
    E = RUBBER.young / (1 - RUBBER.poisson**2)
    hertz = (-0.75 * m * WEIGHT[2] / (E * np.sqrt(RADIUS))) ** (2 / 3)
    sunk = float((RADIUS - height) / hertz)
    return [
        within("acceleration [m/s²]", float(np.polyfit(t[late], v, 1)[0]), float(expected), 0.01),
        Check("flattening over that without a core (0.5 to 1)", sunk, 0.75, 0.25, bool(0.5 <= sunk <= 1)),
        Check("rolling radius, between height and radius [m]", r, height, RADIUS - height, bool(height <= r <= RADIUS)),
        below("speed of the patch over that of the ball", patch_speed(run) / float(v[-1]), 0.02),
    ]


EXAMPLE = Example("soft-ball", "a ball with a soft layer rolls down a slope", make, UNTIL, check, record_every=1 / 50)
