"""Linear momentum does not depend on the tolerance of an iterative solution."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.validation.contact_kinds import RUBBER, cube, momenta, tree

H, CELLS = 0.002, 5


def fine_cube() -> sp.FemBody:
    """A cube of more unknowns than a dense matrix is used for."""
    size = np.ptp(cube().nodes, axis=0)
    mesh = sp.box_tets(tuple(size), (CELLS,) * 3)
    return sp.FemBody(sp.TetMesh(mesh.nodes - mesh.nodes.mean(axis=0), mesh.tets), RUBBER)


def striking(bodies: list[sp.FemBody | sp.TreeBody], solver: object) -> tuple[sp.Scene, sp.System, sp.State]:
    """Bodies in a row, the first of which flies towards the others; with friction, without gravity."""
    scene = sp.Scene(solver=solver)
    extent = float(np.ptp(cube().nodes, axis=0)[2])
    for k, body in enumerate(bodies):
        speed = (0.3, 0.0, 1.0) if k == 0 else (0.0, 0.0, 0.0)
        scene.add(body, at=(0.002 * k, 0, 1.02 * extent * k), velocity=speed, name=f"body {k}")
    scene.add(sp.Contact(friction=0.5, stiffness=1e7))
    system = scene.compile()
    return scene, system, system.initial_state()


@pytest.mark.parametrize("other", ["fem", "tree"])
def test_momentum_is_kept_however_loose_the_solution(other: str) -> None:
    loose = sp.ImplicitEuler(H, linear="cg", tolerance=1e-3)
    bodies = [fine_cube(), tree() if other == "tree" else sp.FemBody(cube(), RUBBER)]
    scene, system, state = striking(bodies, loose if other == "fem" else sp.Partitioned(H, implicit=loose))
    before = momenta(system, state)
    for _ in range(30):
        scene.solver.step(system, state)
    after = momenta(system, state)
    assert np.linalg.norm(after[1] - before[1]) > 0.1 * np.linalg.norm(before[0])  # they have met
    np.testing.assert_allclose(after.sum(axis=0), before.sum(axis=0), atol=1e-12 * np.linalg.norm(before))
