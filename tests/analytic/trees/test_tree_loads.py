"""Loads in time on a tree: they act as they are in the middle of a call, so that steps are of order two."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeBody
from supple.material import Material
from supple.scene import Load, Scene
from supple.solvers import TreeSolver
from supple.validation.tree.reference import block_mesh, face

Array = np.ndarray


def ends(rate: int, *, held: bool) -> Array:
    """Where the points of a beam are after 0.2 s under a load that grows on its tip, in so many steps a second."""
    mesh = block_mesh((0.1, 0.01, 0.01), (8, 1, 1))
    kind = DomainTemplate("beam", mesh, Material(2e5, 0.3, 500), 8, face(mesh, 0.0) if held else ())
    scene = Scene()
    body = TreeBody(DomainTree({"beam": kind}, [Domain("beam")]), stiffness_damping=1e-3)
    node = scene.add(body, name="beam", **({} if held else {"spin": (0.0, 0.0, 8.0)}))
    tip = node.points(np.flatnonzero(node.body.positions[:, 0] > 0.099))
    scene.add(Load(tip, lambda t: np.array([0.0, 1e-3, 2e-3]) * np.sin(30 * t + 0.5)))
    system, solver = scene.compile(), TreeSolver(1 / rate)
    solver.prepare(system)
    state = system.initial_state()
    solver.advance(system, state, rate // 5)
    return body.skin.positions(system.bodies[0].view_x(state.x))


@pytest.mark.parametrize("held", [True, False])
def test_steps_under_a_load_in_time_are_of_order_two(held: bool) -> None:
    found = [ends(rate, held=held) for rate in (120, 240, 480, 3840)]
    errors = [np.abs(x - found[-1]).max() for x in found[:-1]]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)
