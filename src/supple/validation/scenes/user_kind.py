"""A kind of body of one's own, written with what the package gives everybody: it falls, touches, is joined and resumed.

string     beads of mass m on an elastic string between neighbours
"""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from supple.bodies.body_protocol import Embedding, Method, Numbers
from supple.bodies.coordinates import Points
from supple.bodies.mappings import WeightedPoints
from supple.bodies.placement import Placement
from supple.bodies.point_mass import PointMass
from supple.bodies.protocols import PlacedBody
from supple.bodies.selecting import check_numbers
from supple.bodies.surfaces import NumberedSurface, PointSkin, RenderSurface
from supple.contact import Contact, Floor
from supple.interaction.springs import SpringForce
from supple.running import run
from supple.scene import BallJoint, Scene
from supple.validation.contact_kinds import KINDS, SIDE, G
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
COUNT, RADIUS, MASS, STIFFNESS = 5, 0.015, 0.05, 400.0


class Beads:
    """Beads side by side along x, on an elastic string."""

    kind, method = "beads", Method.IMPLICIT
    coordinates, total_mass = Points(COUNT), COUNT * MASS
    rest_points = np.c_[2 * RADIUS * (np.arange(COUNT) - COUNT // 2), np.zeros((COUNT, 2))]

    def place(self, placement: Placement) -> PlacedBody:
        """The string, straight."""
        x, pairs = placement.apply(self.rest_points), np.c_[np.arange(COUNT - 1), np.arange(1, COUNT)]
        stiffness, rest, damping = (np.full(COUNT - 1, value) for value in (STIFFNESS, 2 * RADIUS, 0.1))
        string = SpringForce.make(pairs, stiffness, rest, damping, where="beads")
        mass = PointMass(np.full(COUNT, MASS))
        return PlacedBody(self.coordinates, x, placement.point_velocities(x), (mass,), (("string", string),))

    def point_numbers(self, selector: Numbers) -> Array:
        """Numbers as they are."""
        return check_numbers(selector, COUNT)

    def point_mapping(self, numbers: Array | None) -> WeightedPoints | None:
        """Some of the beads."""
        return None if numbers is None else WeightedPoints.subset(numbers, COUNT)

    def embed(self, local: Array) -> Embedding:
        """The nearest bead stands for a place."""
        nearest = np.argmin(np.abs(local[:, None, 0] - self.rest_points[:, 0]), axis=1)
        return Embedding(WeightedPoints.subset(nearest, COUNT), nearest)

    def contact_surface(self) -> NumberedSurface:
        """Balls."""
        return NumberedSurface(np.arange(COUNT), radius=np.full(COUNT, RADIUS))

    def render_surface(self) -> RenderSurface:
        """Points."""
        return RenderSurface(PointSkin(np.arange(COUNT)), vertices=np.arange(COUNT)[:, None])


def _falls(case: str) -> Row:
    scene = Scene(gravity=(0, 0, -G))
    scene.add(Beads(), name="beads")
    done = run(scene, until=0.2, dt=0.01)
    speed = float(done.system.velocities(done.state, "beads")[:, 2].mean())
    return compare(case, "falls for 0.2 s: speed", speed, -0.2 * G, 1e-9, unit="m/s", source="g t")


def _touches(case: str, kind: str) -> list[Row]:
    """The string flies on a body of a kind, across it."""
    scene = Scene()
    scene.add(KINDS[kind](), name="hit")
    scene.add(Beads(), at=(0.003, 0.002, 0.5 * SIDE + RADIUS + 0.01), velocity=(0, 0, -1.0), name="beads")
    scene.add(Contact(friction=0.3))
    done = run(scene, until=0.1)
    start = done.system.momentum(done.system.initial_state())[:3]
    lost = np.abs(done.system.momentum(done.state)[:3] - start).max() / (COUNT * MASS)
    speed = float(done.system.velocities(done.state, "beads")[:, 2].mean())
    return [
        bounded(case, f"on {kind}: momentum", float(lost), 1e-9, source="action and reaction"),
        bounded(case, f"on {kind}: passed through", float(speed < -0.5), 0.0, source="it is stopped"),
    ]


def _hung(gravity: float = -G) -> Scene:
    """The string between a tree that flies and a rigid body, over a floor."""
    scene = Scene(gravity=(0, 0, gravity))
    tree = scene.add(KINDS["tree"](), at=(-0.5 * SIDE - 2 * RADIUS, 0, 0.2), name="tree")
    beads = scene.add(Beads(), at=(0, 0, 0.2), name="beads")
    box = scene.add(KINDS["rigid"](), at=(0.5 * SIDE + 2 * RADIUS, 0, 0.2), velocity=(0, 0.3, 0), name="box")
    scene.add(BallJoint(tree, beads, at=(-2 * RADIUS, 0, 0.2)))
    scene.add(BallJoint(box, beads, at=(2 * RADIUS, 0, 0.2)))
    scene.add(Floor(friction=0.4))
    scene.add(Contact(exclude=[("tree", "beads"), ("box", "beads")]))
    return scene


def _joined(case: str) -> list[Row]:
    done = run(_hung(0.0), until=0.3)
    system: Any = done.system
    gap = system.violation(system.propagate(done.time, done.state.x, done.state.v))
    start = system.momentum(system.initial_state())[:3]
    lost = np.abs(system.momentum(done.state)[:3] - start).max() / np.abs(start).max()
    return [
        bounded(case, "joined to a tree and a box: opening", float(np.abs(gap).max()) / SIDE, 1e-6, source="closed"),
        bounded(case, "joined to a tree and a box: momentum", float(lost), 1e-12, source="action and reaction"),
    ]


def _resumed(case: str) -> Row:
    with TemporaryDirectory() as folder:
        whole = run(_hung(), until=0.2, out=f"{folder}/whole")
        run(_hung(), until=0.1, out=f"{folder}/parts")
        parts = run(_hung(), until=0.2, out=f"{folder}/parts", resume=True)
        off = float(np.abs(whole.state.x - parts.state.x).max())
    return bounded(case, "recorded and resumed: apart", off, 0.0, unit="m", source="the same bits")


def user_kind() -> list[Row]:
    """A string of beads that the package does not know."""
    case = "scene/user-kind"
    rows = [_falls(case)]
    for kind in KINDS:
        rows += _touches(case, kind)
    return [*rows, *_joined(case), _resumed(case)]


CASES = {"scene/user-kind": user_kind}
