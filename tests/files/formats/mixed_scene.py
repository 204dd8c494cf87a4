"""A scene with a part of each form: rigid copies, springs, a solid of elements, a floor and an obstacle that moves."""

from __future__ import annotations

import numpy as np

import supple as sp
from supple.bodies.tree import DomainTemplate, Mount, TreeBody, attach
from supple.decompose import decompose


def make_scene() -> sp.Scene:
    scene = sp.Scene(gravity=(0, 0, -9.81), name="mixed parts")
    for k in range(3):
        turn = (0.2 * k, 0.1, 0.3 * k)
        box = sp.RigidBody.box((0.5, 0.4, 0.3), density=500)
        scene.add(box, at=(1.5 * k, 0, 1.5), rotation=turn, spin=(1, 2, 3 + k), name=f"box {k}")
    positions = np.c_[np.arange(4.0), np.full(4, 2.0), np.ones(4)]
    node = scene.add(sp.Particles(positions, 0.1, springs=[(0, 1), (1, 2), (2, 3)], stiffness=500), name="chain")
    scene.add(sp.FixedPoints(node, [0, 3]))
    rubber = sp.Material(density=1000, young=1e5, poisson=0.4, colour="#c2477f")
    beam = sp.FemBody(sp.box_tets((1.0, 0.2, 0.2), (4, 2, 2)), rubber)
    scene.add(beam, at=(0, -1.5, 1.0), fix=lambda x: x[:, 0] < 1e-9, name="beam")
    scene.add(sp.Floor(), name="floor")
    pusher = sp.Sphere((0, -3, 0.2), 0.2, motion=sp.Motion(velocity=(0.5, 0, 0), angular_velocity=(0, 0, 1)))
    scene.add(pusher, name="pusher")
    return scene


def make_run(out=None, **options) -> sp.Run:
    return sp.run(make_scene(), until=0.3, dt=0.01, out=out, record_every=0.1, **options)


def make_tree_run(out=None) -> sp.Run:
    """A branch that is held, of two domains, with leaves that are copies of one."""
    wood = sp.Material(young=2e6, poisson=0.2, density=600, colour="#7d5f45")
    green = sp.Material(young=1e5, poisson=0.3, density=500, stiffness_damping=0.01, colour="#5f9a45")
    mesh, blade = sp.box_tets((1.0, 0.05, 0.05), (10, 1, 1)), sp.box_tets((0.2, 0.05, 0.01), (6, 2, 1))
    labels = np.where(mesh.nodes[mesh.elements].mean(axis=1)[:, 0] < 0.5, "low", "high")
    tree = decompose(mesh, labels, material=wood, modes=6, fixed="x_min")
    leaf = DomainTemplate("leaf", blade, green, 4, blade.node_region("x_min"))
    mounts = [Mount("high", (0.1 + 0.1 * k, 0, 0), rotation=(0.8, 0, 0, 0.6)) for k in range(4)]
    scene = sp.Scene(gravity=(0, 0, -9.81), name="branch")
    scene.add(TreeBody(attach(tree, leaf, mounts), stiffness_damping=0.01), name="tree")
    return sp.run(scene, until=0.3, dt=0.01, out=out, record_every=0.05)
