"""A matrix has a place for the turning of points that nothing acts on, as where parts of a step leave forces out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import supple as sp


def test_points_of_a_layered_body_without_forces_on_them() -> None:
    mesh = sp.sphere_tets(0.1, 3)
    core = np.flatnonzero(np.linalg.norm(mesh.nodes[mesh.elements].mean(axis=1), axis=1) < 0.05)
    scene = sp.Scene(name="fruit")
    body = sp.LayeredBody.from_mesh(mesh, sp.Material(1e5, 0.3, 1000), core=core)
    node = scene.add(body, name="fruit")
    place = mesh.nodes[np.argmax(mesh.nodes[:, 0])]
    scene.add(sp.Springs(node.points(at=place), sp.World.points(place), stiffness=10.0, rest_length=0.0))
    system = scene.compile()
    assert system.assembly is not None
    idle = replace(system, forces=[], masses=[]).assembly
    assert idle is not None
    assert set(idle.geometric_positions) == set(system.assembly.geometric_positions)
