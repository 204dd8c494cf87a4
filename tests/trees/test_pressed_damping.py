"""Stiffness damping of a domain whose stiffness is indefinite takes energy, or none. [theory.md, T18]."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeDynamics, TreeKinematics, TreeModel
from supple.bodies.tree.surface.point_springs import PointSprings
from supple.bodies.tree.surface.skin import TreeSkin
from supple.material import Material
from supple.validation.tree.reference import block_mesh, face

Array = np.ndarray
BETA, STEP, STEPS = 1e-3, 1e-7, 10  # [s], [s]
SPEED = 0.1  # of a shape with a unit mass [m sqrt(kg) / s]


def clamped_block(modes: int, damping: float) -> TreeDynamics:
    mesh = block_mesh((0.2, 0.03, 0.02), (8, 1, 1))
    root = DomainTemplate("root", mesh, Material(2e6, 0.35, 1000), modes, face(mesh, 0.0), {})
    model = TreeModel.of(DomainTree({"root": root}, [Domain("root")]), statics=True)
    return TreeDynamics(model, stiffness_damping=damping)


def buckled(tree: TreeDynamics) -> tuple[Array, Array, Array, Array]:
    """Coordinates of a block that is pressed beyond buckling, its force, eigenvalues of K over M and shapes there."""
    kind = tree.model.classes[0]
    M = np.asarray(kind.integrals.W4)

    def at(q: Array) -> tuple[Array, Array, Array, Array]:
        f, K = kind.force.evaluate(q[None])
        return q, np.squeeze(f), *eigh(np.squeeze(K), M)

    _, _, rest, shapes = at(np.zeros(kind.force.count))
    for amount in np.geomspace(1e-6, 1.0, 200):
        for shape in (shapes[:, -1], -shapes[:, -1]):
            found = at(amount * shape)
            if found[2][0] < -0.5 * rest[0]:
                return found
    raise AssertionError("nothing buckles")


def gained(tree: TreeDynamics, q: Array, v: Array, force: Array) -> float:
    """Energy [J] that a block gains in some steps from q on at rates v, under the force that holds it at q."""
    skin = TreeSkin.of(tree.model)
    held = PointSprings.on(skin, [0], skin.rest[0], 0.0)  # a spring that pulls at nothing: held trees are damped so
    state, energies = tree.state(), []
    state.q[:], state.v[:] = q, v
    for _ in range(2):
        m = TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity).measures()
        energies.append(m.kinetic + m.elastic - force @ (state.q - q))
        tree.advance(state, STEP, steps=STEPS, forces=force, springs=held)
    return energies[1] - energies[0]


@pytest.mark.parametrize("modes", [6, 12])  # f and K of the second pass: anew, and by their change
def test_damping_does_not_feed_what_buckles(modes: int) -> None:
    """beta K(q) q' alone would add beta |l| v² a second along the lowest eigenvalue l; the shift of K, larger than |l|
    by an eighth at most, takes an eighth of that at most."""
    tree = clamped_block(modes, BETA)
    q, force, values, shapes = buckled(tree)
    fed = BETA * -values[0] * SPEED**2 * STEP * STEPS
    gain = gained(tree, q, SPEED * shapes[:, 0], force) - gained(
        clamped_block(modes, 0.0), q, SPEED * shapes[:, 0], force
    )
    assert -0.13 * fed < gain < 0.01 * fed


@pytest.mark.parametrize("modes", [6, 12])
def test_the_shift_leaves_other_shapes_as_they_were_damped(modes: int) -> None:
    """Of the second shape, of the eigenvalue l_2, damping takes beta (l_2 + s) v² a second."""
    tree = clamped_block(modes, BETA)
    q, force, values, shapes = buckled(tree)
    taken = gained(clamped_block(modes, 0.0), q, SPEED * shapes[:, 3], force) - gained(
        tree, q, SPEED * shapes[:, 3], force
    )
    by = taken / (BETA * SPEED**2 * STEP * STEPS)
    assert 0.97 * (values[3] - values[0]) < by < 1.01 * (values[3] - 1.13 * values[0])
