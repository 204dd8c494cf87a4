"""Rayleigh damping of copies that differ in size, stiffness and density: the ratios of their kind."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    LinearizedTree,
    TreeDynamics,
    TreeModel,
)
from supple.material import Material
from supple.validation.tree.reference import block_mesh, face

MASS_DAMPING, STIFFNESS_DAMPING, MODES = 0.7, 2e-3, 4  # [1/s], [s]


def test_every_copy_has_the_damping_ratios_of_its_kind() -> None:
    """(alpha / w + beta w) / 2 of each mode, w found by the elimination; copies hang on a rigid root that is held."""
    mesh = block_mesh((0.2, 0.03, 0.02), (8, 1, 1))
    hold = DomainInterface(face(mesh, 0.2), np.ones(4))
    material = Material(2e6, 0.35, 1000)
    root = DomainTemplate("root", mesh, material, 0, face(mesh, 0.0), {"tip": hold})
    blade = DomainTemplate("blade", mesh, material, MODES, face(mesh, 0.0), {})
    copies = [
        Domain("blade", 0, "tip"),
        Domain("blade", 0, "tip", scale=1.7, frequency_factor=1.3, density_factor=0.4),
    ]
    model = TreeModel.of(DomainTree({"root": root, "blade": blade}, [Domain("root"), *copies]))
    small = LinearizedTree.of(TreeDynamics(model))
    w = np.empty((2, MODES))
    for k in range(2):
        own = slice(*model.q_starts[k + 1 : k + 3])
        w[k] = np.sqrt(np.sort(np.linalg.eigvals(small.inverse_mass[own, own] @ small.stiffness[own, own]).real))
    alpha, beta = (values[1:, None] for values in model.damping_at_ratio(MASS_DAMPING, STIFFNESS_DAMPING))
    assert w[1] == pytest.approx(w[0] * 1.3 / (1.7 * np.sqrt(0.4)), rel=1e-9)
    of_mass, of_stiffness = MASS_DAMPING / w[0], STIFFNESS_DAMPING * w[0]  # those of the kind, at scale 1
    np.testing.assert_allclose(alpha / w, [of_mass] * 2, rtol=1e-9)  # w: by an elimination and an eigenproblem
    np.testing.assert_allclose(beta * w, [of_stiffness] * 2, rtol=1e-9)
