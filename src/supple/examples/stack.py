"""stack: five boxes on each other, rigid and soft in turn, at rest for ten seconds.

A stack shows every fault of contact: what is not solved together sinks, creeps or walks. Checked over the last eight
seconds: how far touching points sink, creep or walk on the boxes that they touch. The column itself sways back upright
from a lean of 4 mm, twice a second, as soft boxes do under weight that lies beside their middles; the sway halves every
0.6 s. So what any point moves by has a limit of its own from 2 s on, and one as sharp as that of touching points over
the last two seconds. At the end: the kinetic energy, and the force on the floor against the weight.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from supple.bodies.fem import FemBody
from supple.bodies.rigid import RigidBody
from supple.contact import Contact, Floor
from supple.examples import Check, Example, below, within
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.scene import Scene
from supple.solvers import ImplicitEuler

Array = np.ndarray
SIDE, DENSITY, G = 0.1, 500.0, 9.81
RUBBER = Material(young=2e5, poisson=0.3, density=DENSITY, stiffness_damping=2e-3, name="rubber")
OFFSETS = ((0.0, 0.0), (0.012, -0.006), (-0.008, 0.01), (0.006, 0.008), (-0.004, -0.01))
LANDED, SETTLED = 2.0, 8.0
"""Times after which no touching point may slip, and nothing may move any more [s]."""


def soft_box(cells: int = 3) -> FemBody:
    """A rubber cube around the origin."""
    mesh = box_tets(size=(SIDE, SIDE, SIDE), cells=(cells, cells, cells))
    middle = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    return FemBody(TetMesh(mesh.nodes - middle, mesh.tets), RUBBER)


def make() -> Scene:
    """Rigid, soft, rigid, soft, rigid, each a little beside the one below, let go 0.2 mm apart."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(0.01), name="stack")
    for k, (x, y) in enumerate(OFFSETS):
        body = soft_box() if k % 2 else RigidBody.box((SIDE, SIDE, SIDE), density=DENSITY)
        scene.add(body, at=(x, y, SIDE / 2 + k * (SIDE + 2e-4)), name=f"{'soft' if k % 2 else 'rigid'}-{k + 1}")
    scene.add(Floor())
    scene.add(Contact(friction=0.5))
    return scene


def largest_way(points: Array) -> float:
    """The farthest that any point comes from where it is first; points: (frame_count, n, 3) [m]."""
    return float(np.linalg.norm(points - points[0], axis=2).max())


def seen_from(box: Array, points: Array) -> Array:
    """Points (frame_count, n, 3) [m] in the axes of a rigid box with these corners, (frame_count, 8, 3) [m]."""
    middles = box.mean(axis=1, keepdims=True)
    first, seen = box[0] - middles[0], np.empty_like(points)
    for k, corners in enumerate(box - middles):
        seen[k] = Rotation.align_vectors(first, corners)[0].apply(points[k] - middles[k])
    return seen


def touching_points(points: dict[str, Array]) -> list[Array]:
    """Nodes of soft boxes that lie on or under a rigid one, in its axes, one array (frame_count, n, 3) [m] a pair."""
    names, pairs = list(points), []
    for lower, upper in pairwise(names):
        rigid, soft = (lower, upper) if lower.startswith("rigid") else (upper, lower)
        seen = seen_from(points[rigid], points[soft])
        height = seen[0, :, 2]
        face = np.isclose(height, height.min() if soft == upper else height.max(), rtol=0, atol=1e-3 * SIDE)
        pairs.append(seen[:, face & (np.abs(seen[0, :, :2]) < SIDE / 2).all(axis=1)])
    return pairs


def check(run: Any) -> list[Check]:
    """Nothing moves, and the floor carries all of it."""
    times = np.asarray(run.energies.times)
    landed, settled = (int(np.searchsorted(times, t - 1e-9)) for t in (LANDED, SETTLED))
    points = {
        slot.name: np.array([run.frames.points(slot.name, k) for k in range(len(times))], dtype=float)
        for slot in run.system.bodies
    }
    slip = max(largest_way(seen[landed:]) for seen in touching_points(points))
    sway, drift = (max(largest_way(x[first:]) for x in points.values()) for first in (landed, settled))
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    touching = run.system.contacts[0].touching(run.state.memory)
    floor = sum(f[2] for pair, f in zip(touching.bodies, touching.force) if pair[1] == "floor")
    return [
        below("slip and sinking of touching points from 2 s on [m]", slip, 1e-5),
        below("sway of any point from 2 s on [m]", sway, 1e-3),
        below("drift of any point from 8 s on [m]", drift, 1e-5),
        below("kinetic energy at the end [J]", run.system.kinetic_energy(kin), 1e-9),
        within("force on the floor [N]", float(floor), 5 * DENSITY * SIDE**3 * G, 1e-6),
    ]


EXAMPLE = Example("stack", "five rigid and soft boxes on each other, at rest", make, 10.0, check, record_every=0.1)
