"""A scene with a part of each form: rigid copies, springs, a solid of elements, a floor and an obstacle that moves."""

from __future__ import annotations

import numpy as np

import supple as sp


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


def make_run(out=None) -> sp.Run:
    return sp.run(make_scene(), until=0.3, dt=0.01, out=out, record_every=0.1)
