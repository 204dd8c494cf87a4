"""A voxel without links: its fall, its step."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.errors import InputError


def lone_voxel() -> sp.VoxelBody:
    return sp.VoxelBody(sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), 0.01), sp.VoxelMaterial(young=1e6, density=1000))


def test_a_lone_voxel_falls_as_linked_ones_do() -> None:
    """Half a second of free fall to a thousandth: two linked voxels, in steps short enough for their link, are off by
    less than half of that."""
    scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.LatticeSolver())
    scene.add(lone_voxel(), name="voxel")
    run = sp.run(scene, until=0.5)
    assert run.state.x[2] - run.system.x0[2] == pytest.approx(-0.5 * 9.81 * run.time**2, rel=1e-3)


def test_the_stable_step_of_a_body_can_be_taken_or_the_error_is_true() -> None:
    body = lone_voxel()
    try:
        body.advance(LocalState(0.0, body.model.rest_frames, np.zeros((1, 6))), body.stable_step(), 1)
    except InputError as error:
        said = str(error)
    else:
        said = ""
    assert "not positive" not in said
