"""A function that selects points sees world positions, where the body has been placed: in all that takes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.validation.contact_kinds import KINDS, SIDE

AT = np.array([0.2, -0.1, 3.0])
Predicate = Callable[[np.ndarray], np.ndarray]
TAKERS: dict[str, Callable[[sp.Node, Predicate], Any]] = {
    "points": lambda node, chosen: node.points(chosen),
    "FixedPoints": sp.FixedPoints,
    "FixedAxes": lambda node, chosen: sp.FixedAxes(node, chosen, axes="z"),
    "PrescribedMotion": lambda node, chosen: sp.PrescribedMotion(node, chosen, lambda t: (0.0, 0.0, t)),
    "SlidingPlane": lambda node, chosen: sp.SlidingPlane(node, chosen, normal=(0, 0, 1)),
    "Wrench": lambda node, chosen: sp.Wrench(node, chosen, force=(1.0, 0, 0)),
    "Pressure": lambda node, chosen: sp.Pressure(node, chosen, 10.0),
    "HingeJoint": lambda node, chosen: sp.HingeJoint(node, at=AT, axis=(0, 0, 1), patch_a=chosen),
}
TAKEN = {  # filters, not by bodies with one frame nor by trees; pressures, by what has faces
    "rigid": {"points"},
    "floating": {"points", "Pressure"},
    "layered": {"points", "Pressure"},
    "fem": set(TAKERS),
    "voxel": set(TAKERS) - {"Pressure"},
    "particles": set(TAKERS) - {"Pressure"},
    "tree": {"points", "HingeJoint"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_predicate_sees_where_the_body_was_placed(kind: str) -> None:
    """Raised and turned: what lies above the middle then, not in the mesh."""
    seen: dict[str, np.ndarray] = {}
    for name, take in TAKERS.items():
        scene = sp.Scene()
        node = scene.add(KINDS[kind](), at=AT, rotation=(0.0, 0.5 * np.pi, 0.0), name="body")

        def chosen(X: np.ndarray, name: str = name) -> np.ndarray:
            seen[name] = np.array(X)
            return X[:, 2] > AT[2]

        try:
            made = take(node, chosen)
            if name not in ("points", "Pressure"):
                scene.add(made)
                scene.compile()
        except InputError:
            assert name not in TAKEN[kind]
    assert set(seen) >= TAKEN[kind]
    for name, X in seen.items():
        np.testing.assert_allclose(X, node.rest, atol=1e-12, err_msg=name)
        assert np.abs(X - AT).max() < 0.51 * SIDE, name


def test_a_pressure_acts_on_the_faces_that_the_predicate_means() -> None:
    """A raised and turned cube is pressed on its top by p A, downwards."""
    scene = sp.Scene()
    mesh = sp.box_tets((SIDE, SIDE, SIDE), (2, 2, 2))
    body = sp.FemBody(mesh, sp.Material(1e5, 0.3, 1000.0))
    node = scene.add(body, at=AT, rotation=(0.0, 0.5 * np.pi, 0.0), name="cube")
    top = node.rest[:, 2].max()
    scene.add(sp.Pressure(node, lambda X: X[:, 2] > top - 1e-9, 30.0))
    system = scene.compile()
    f = system.force(system.propagate(0.0, system.x0, system.v0)).reshape(-1, 3)
    np.testing.assert_allclose(f.sum(axis=0), [0, 0, -30.0 * SIDE**2], atol=1e-12)
    np.testing.assert_allclose(f[node.rest[:, 2] < top - 1e-9], 0.0, atol=1e-9)
