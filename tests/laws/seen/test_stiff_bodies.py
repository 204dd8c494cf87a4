"""A body of any kind that is stiff moves as the rigid one of its shape and mass, whatever acts on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.decompose import decompose
from supple.modal import ElasticSolid

Array = np.ndarray
EDGES, DENSITY, STEPS, DT = (0.12, 0.08, 0.08), 500.0, 16, 1 / 240
HARD = sp.Material(2e8, 0.3, DENSITY)
AT, TURN, MIDDLE = np.array([0.1, 0.3, 0.2]), np.array([0.2, 0.5, -0.3]), np.array([0.06, 0.0, 0.0])


def box(cells: tuple[int, int, int] = (3, 2, 2)) -> sp.TetMesh:
    return sp.box_tets(EDGES, cells)


def layered() -> sp.LayeredBody:
    mesh = box((3, 3, 3))
    return sp.LayeredBody.from_mesh(mesh, HARD, core=lambda X: np.abs(X - MIDDLE).max(axis=1) < 0.021)


def tree() -> sp.TreeBody:
    mesh = box((4, 2, 2))
    labels = (mesh.nodes[mesh.tets].mean(axis=1)[:, 0] > 0.06).astype(int)
    return sp.TreeBody(decompose(mesh, labels, material=HARD, modes=6), stiffness_damping=1e-4)


def voxels() -> sp.VoxelBody:
    hard = sp.VoxelMaterial(5e7, DENSITY, bond_damping=1.0)
    return sp.VoxelBody(sp.VoxelGrid(np.ones((3, 2, 2), dtype=int), 0.04, origin=(0.0, -0.04, -0.04)), hard)


SOFT: dict[str, Callable[[], Any]] = {
    "fem": lambda: sp.FemBody(box(), HARD),
    "floating": lambda: sp.FloatingBody.from_solid(ElasticSolid(box(), HARD), modes=4),
    "layered": layered,
    "voxel": voxels,
    "tree": tree,
}


def placed(scene: sp.Scene, body: Any, aside: Array, **motion: Any) -> sp.Node:
    """With its middle where that of the others is."""
    at = AT - rotations.rotate(rotations.exp(TURN), aside)
    return scene.add(body, name="body", at=at, rotation=TURN, **motion)


def corner(node: sp.Node) -> Any:
    return node.points(at=AT + rotations.rotate(rotations.exp(TURN), np.array([0.05, -0.03, 0.02])))


def pulled(scene: sp.Scene, node: sp.Node) -> None:
    scene.gravity = np.array([0.5, -1.0, -2.0])
    scene.add(sp.Springs(corner(node), sp.World.points((0.3, 0.2, 0.4)), 60.0, 0.5, rest_length=0.05))


def pushed(scene: sp.Scene, node: sp.Node) -> None:
    scene.add(sp.Load(corner(node), lambda t: (1.0 + 20 * t, -0.5, 0.8)))


def blown_at(scene: sp.Scene, node: sp.Node) -> None:
    scene.add(sp.Wind(velocity=(9.0, -5.0, 4.0), intensity=0.0))


def afloat(scene: sp.Scene, node: sp.Node) -> None:
    scene.gravity = np.array([0.0, 0.0, -9.0])
    scene.add(sp.Fluid(900.0, drag=0.8, flow=(2.0, -1.0, 0.5), level=0.19))


def hinged(scene: sp.Scene, node: sp.Node) -> None:
    scene.gravity = np.array([0.5, -1.0, -9.0])
    scene.add(sp.HingeJoint(node, at=AT, axis=(0.3, 1.0, 0.2), motor_speed=lambda t: 60 * t))


ACTING = {"pulled": pulled, "pushed": pushed, "blown at": blown_at, "afloat": afloat, "hinged": hinged}


def change(body: Any, aside: Array, acts: Callable[[sp.Scene, sp.Node], None]) -> Array:
    """Of momentum and of angular momentum about where the body began, over the mass and its size."""
    scene = sp.Scene()
    acts(scene, placed(scene, body, aside))
    run = sp.run(scene, until=STEPS * DT, dt=DT, progress=False)
    p = run.system.momentum(run.state) / body.total_mass
    return np.concatenate([p[:3], (p[3:] - np.cross(AT, p[:3])) / 0.05])


LIMITS = {
    ("blown at", "fem"): 1e-6,
    ("blown at", "layered"): 1e-6,
    ("blown at", "voxel"): 2e-3,  # and of a tree: the wind of the middle of the step
    ("blown at", "tree"): 2e-3,
    **{(name, "floating"): 1e-4 for name in ("pulled", "pushed", "blown at", "hinged")},
    ("afloat", "floating"): 0.03,  # its triangles are smaller, and wet to the edge
    ("afloat", "layered"): 0.04,
    ("pushed", "layered"): 0.02,
    ("pushed", "voxel"): 0.03,
    ("hinged", "voxel"): 1e-3,
    ("hinged", "tree"): 0.02,
}
"""Part by which a stiff body may depart. Left out are implicit steps that damp the turning of stiff elements, points of
trees, which are those of their surface, and water around voxels, which their sweep meets by their centres."""


@pytest.mark.parametrize(("name", "kind"), LIMITS)
def test_a_stiff_body_moves_as_a_rigid_one(name: str, kind: str) -> None:
    rigid = change(sp.RigidBody.box(EDGES, density=DENSITY), np.zeros(3), ACTING[name])
    soft = change(SOFT[kind](), MIDDLE, ACTING[name])
    assert np.abs(rigid).max() > 0.01
    assert np.abs(soft - rigid).max() < LIMITS[name, kind] * np.abs(rigid).max()
