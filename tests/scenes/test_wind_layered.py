"""Wind on a rigid core with a soft layer."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp


def test_wind_blows_on_a_layered_body() -> None:
    """A cube of 0.2 m across the wind: rho C / 2 U² A."""
    mesh = sp.box_tets((0.2, 0.2, 0.2), (4, 4, 4))
    centre = (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)) / 2
    inside = np.abs(mesh.nodes[mesh.tets].mean(axis=1) - centre).max(axis=1) < 0.05
    body = sp.LayeredBody.from_mesh(mesh, sp.Material(1e5, 0.3, 1000), core=inside, core_density=1000)
    scene = sp.Scene()
    wind = scene.add(sp.Wind(scene.add(body, name="cube"), (3, 0, 0), intensity=0.0))
    scene.compile()
    assert wind.drag_at_rest() == pytest.approx([0.5 * 1.2 * 1.2 * 9 * 0.04, 0, 0], rel=1e-9, abs=1e-9)
