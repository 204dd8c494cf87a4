"""Laws of what acts on bodies: the force of each that has an energy is its slope, on all kinds of bodies, in motion
through points that ride on them, and with several of each at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.laws.seen.test_other_observers import placed, point_of
from tests.laws.seen.views import BODIES, PLAIN

import supple as sp
from supple.scene.derivatives import differentiate
from supple.validation.tree.reference import mixed_domain_tree

PUSH = np.array([0.3, -0.5, 0.2])
KINDS = [*BODIES, "tree of scaled domains"]


def add(scene: sp.Scene, kind: str) -> sp.Node:
    if kind in BODIES:
        return placed(PLAIN, scene, kind)
    body = sp.TreeBody(mixed_domain_tree(free=True, chain=False))
    return scene.add(body, at=(0.1, 0.3, 0.2), rotation=(0.2, 0.5, -0.3), name="body")


def loads(scene: sp.Scene, node: sp.Node) -> None:
    scene.add(sp.Load(point_of(PLAIN, node), PUSH))
    if node.held_body.kind != "rigid":
        some = node.points([0, 2, 1])
        scene.add(sp.Load(some, np.array([[0.1, 0, 0], [0, -0.2, 0.3], [0.4, 0.1, 0.1]])))


def springs(scene: sp.Scene, node: sp.Node) -> None:
    for rest in (0.0, 0.07, None):
        end = sp.World.points((0.3, 0.2, 0.4))
        scene.add(sp.Springs(point_of(PLAIN, node), end, 20.0, 0.3, rest_length=rest))


def wrenches(scene: sp.Scene, node: sp.Node) -> None:
    kind = node.held_body.kind
    if kind == "voxel":
        scene.add(sp.Wrench(node, "x_max", PUSH))
        scene.add(sp.Wrench(node, [1, 4], -2 * PUSH))
    elif kind == "fem":
        scene.add(sp.Wrench(node, "x_max", PUSH))
    elif kind == "rigid":
        scene.add(sp.Wrench(node, force=PUSH))


def pressures(scene: sp.Scene, node: sp.Node) -> None:
    if node.held_body.kind == "fem":
        scene.add(sp.Pressure(node, None, 700.0))


def weight(scene: sp.Scene, node: sp.Node) -> None:
    scene.gravity = np.array([1.0, -2.0, -9.0])


ACTING: dict[str, Callable[[sp.Scene, sp.Node], None]] = {
    "loads": loads,
    "springs": springs,
    "wrenches": wrenches,
    "pressures": pressures,
    "weight": weight,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ACTING)
def test_a_force_is_the_slope_of_its_energy(name: str, kind: str) -> None:
    """Of the whole scene, bent and turned, at rest; what the body's own forces do is taken off."""
    found: list[Any] = []
    for acts in (True, False):
        scene = sp.Scene()
        node = add(scene, kind)
        if acts:
            ACTING[name](scene, node)
        system = scene.compile()
        rng = np.random.default_rng(2)
        x = system.retract(system.x0, 3e-3 * rng.normal(size=system.v_size))
        d, still = rng.normal(size=system.v_size), np.zeros(system.v_size)

        def energy(e: float, system: sp.System = system, x: Any = x, d: Any = d, still: Any = still) -> float:
            return float(system.potential_energy(system.propagate(0.0, system.retract(x, e * d), still)))

        f = system.force(system.propagate(0.0, x, still))
        found.append((float(f @ d), float(differentiate(energy, 1e-5)), float(np.abs(f).max())))
    (power, slope, size), (own_power, own_slope, _) = found
    if name in ("loads", "springs", "weight") or kind == "fem":
        assert abs(power - own_power) > 1e-6 * size
    assert power - own_power == pytest.approx(own_slope - slope, rel=1e-5, abs=1e-7 * size)
