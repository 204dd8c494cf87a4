"""Wind and loads on bodies of several parts at once are those on each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.floating import FloatingBody
from supple.bodies.layered import LayeredBody
from supple.bodies.tree import TreeBody
from supple.bodies.voxel import VoxelBody
from supple.decompose import decompose
from supple.errors import InputError
from supple.material.voxel import VoxelMaterial
from supple.modal import ElasticSolid

RUBBER = sp.Material(1e6, 0.3, 1000)


def beam() -> Any:
    return sp.box_tets((0.4, 0.1, 0.1), (4, 1, 1))


def ball() -> LayeredBody:
    mesh = sp.box_hexes((0.6, 0.3, 0.3), (6, 3, 3))
    middle = np.abs(mesh.nodes[mesh.elements].mean(axis=1) - [0.3, 0, 0]).max(axis=1) < 0.16
    return LayeredBody.from_mesh(mesh, RUBBER, core=np.flatnonzero(middle))


KINDS: dict[str, Any] = {
    "rigid": lambda: sp.RigidBody.box((0.4, 0.1, 0.1), density=100),
    "fem": lambda: sp.FemBody(beam(), RUBBER),
    "voxel": lambda: VoxelBody(sp.VoxelGrid(np.ones((4, 1, 1), dtype=np.uint8), 0.1), VoxelMaterial(1e6, 1000)),
    "tree": lambda: TreeBody(decompose(beam(), np.arange(24) // 12, material=RUBBER, modes=4)),
    "floating": lambda: FloatingBody.from_solid(ElasticSolid(beam(), RUBBER), modes=4),
    "layered": ball,
}


def scene_of_all() -> tuple[sp.Scene, list[sp.Node]]:
    scene = sp.Scene()
    return scene, [scene.add(make(), at=(0, 3 * k, 0), name=name) for k, (name, make) in enumerate(KINDS.items())]


def points_of(node: sp.Node) -> Any:
    return node.points(at=[node.placement.at]) if node.name == "rigid" else node.points([0])


def end(scene: sp.Scene) -> sp.State:
    return sp.run(scene, until=0.05, dt=0.005).state  # type: ignore[no-any-return]


@pytest.mark.parametrize("what", ["wind", "load", "load in time"])
def test_one_load_on_all_kinds_is_one_on_each(what: str) -> None:
    together, nodes = scene_of_all()
    apart, others = scene_of_all()
    if what == "wind":
        together.add(sp.Wind(nodes, (0, 6, 0), seed=3))
        for node in others:
            apart.add(sp.Wind(node, (0, 6, 0), seed=3))
    else:
        force: Any = (0, 1.2, 0.6) if what == "load" else sp.SineInTime((0, 1.2, 0.6), 5.0)
        share: Any = np.array([0, 0.2, 0.1]) if what == "load" else sp.SineInTime((0, 0.2, 0.1), 5.0)
        together.add(sp.Load(sp.join(*map(points_of, nodes)), force))
        for node in others:
            apart.add(sp.Load(points_of(node), share))
    one, two = end(together), end(apart)
    np.testing.assert_allclose(one.v, two.v, atol=1e-12 * np.abs(two.v).max())


def test_a_load_gives_its_impulse_to_bodies_of_several_parts() -> None:
    scene, nodes = scene_of_all()
    scene.add(sp.Load(sp.join(*map(points_of, nodes)), (0, 1.2, 0)))
    run = sp.run(scene, until=0.05, dt=0.005)
    assert run.frames.columns["momentum"][-1][1] == pytest.approx(1.2 * 0.05, rel=1e-9)


def test_a_load_on_a_mean_of_points_of_several_parts_is_refused() -> None:
    scene, nodes = scene_of_all()
    mean = sp.join(*map(points_of, nodes)).combined(np.full((1, 6), 1 / 6))
    scene.add(sp.Load(mean, (0, 1, 0)))
    with pytest.raises(InputError, match=r"several parts.*joined points"):
        end(scene)
