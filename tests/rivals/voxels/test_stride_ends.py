"""The ends of strides in bricks: limits of strain and bend against links one by one, states against frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.elastic import links_of
from supple.bodies.voxel.links.link_memory import LinkMemory
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.lattice_kernels import largest_strain_and_bend
from supple.bodies.voxel.sweep.look_kernels import may_exceed
from supple.bodies.voxel.sweep.state_kernels import enter_bricks, is_finite, leave_bricks, renew_bricks
from supple.bodies.voxel.sweep.strides import Strides
from supple.bodies.voxel.sweep.sweep import LatticeSweep

Array = np.ndarray
SOFT = sp.VoxelMaterial(young=1e6, density=1000.0, name="soft")
FRAIL = sp.VoxelMaterial(young=1e6, density=1000.0, fail_strain=0.5, name="frail")
HARD = sp.VoxelMaterial(young=1e6, density=1000.0, rigid=True, name="hard")
BEYOND = 1e9  # no link reaches it
LATTICES = {
    "beam": ((9, 3, 2), (SOFT,), 1, np.float64),
    "slabs": ((16, 16, 20), (SOFT,), 1, np.float64),
    "holes": ((7, 8, 9), (SOFT,), 0, np.float64),
    "single precision": ((7, 8, 9), (SOFT,), 0, np.float32),
    "rigid cells": ((6, 5, 4), (SOFT, HARD), 2, np.float64),
    "failed links": ((6, 5, 4), (FRAIL,), 1, np.float64),
}
"""Shape, materials, the number of some of the cells, and what the bricks hold."""


def lattice(shape: tuple[int, ...], palette: Any, other: int, dtype: Any) -> tuple[LatticeSweep, Array]:
    """A lattice with bent frames in its bricks, and these frames."""
    rng = np.random.default_rng(5)
    numbers = np.ones(shape, dtype=int)
    numbers[rng.random(shape) < 0.3] = other
    model = sp.VoxelBody(sp.VoxelGrid(numbers, 0.01), palette).model
    sweep = LatticeSweep.make(model, dtype=dtype)
    x = model.rest_frames
    x[:, :3] += rng.normal(scale=5e-4, size=(len(x), 3))
    x[:, 3:] = rotations.exp(rng.normal(scale=0.2, size=(len(x), 3)))
    sweep.load(x, np.zeros((len(x), 6)))
    fields = sweep.layout.fields(sweep.layout.bricks.state, STATE)[sweep.layout.brick, :, sweep.layout.lane]
    back = np.argsort(sweep.layout.axes)
    return sweep, np.hstack([fields[:, back], fields[:, 3:4], fields[:, 4 + back]]).astype(float)


@pytest.mark.parametrize("name", LATTICES)
def test_bricks_see_the_most_strained_and_the_most_bent_link(name: str) -> None:
    sweep, x = lattice(*LATTICES[name])
    model = sweep.model
    if name == "slabs":
        assert len(sweep.layout.slabs.start) > 2
    if name == "failed links":
        alive = np.ones(model.link_count, dtype=bool)
        for _ in range(3):  # the most bent ones have failed
            left = model.with_links(alive)
            alive[np.flatnonzero(alive)[largest_strain_and_bend(links_of(left), x)[2]]] = False
        none = np.zeros(len(alive))
        sweep.memory, model = LinkMemory(none, none, alive), model.with_links(alive)
    strain, bend, _ = largest_strain_and_bend(links_of(model.with_stiffness), x)
    near = 1e-3 if sweep.dtype == np.float32 else 1e-9  # some thousand times round-off
    bricks, slabs = sweep.layout.bricks, sweep.layout.slabs
    for limits in ((strain, BEYOND), (BEYOND, bend)):
        below, above = ([value * factor for value in limits] for factor in (1 - 1e-12, 1 + near))
        assert may_exceed(bricks, slabs, *below)
        assert not may_exceed(bricks, slabs, *above)
    assert not may_exceed(bricks, slabs, np.inf, np.inf)


def test_bricks_are_renewed_as_frames_would_renew_them() -> None:
    """A stride may go on in its bricks: bit for bit as if it had left them for frames and come back."""
    rng = np.random.default_rng(6)
    model = sp.VoxelBody(sp.VoxelGrid(np.ones((7, 3, 5), dtype=int), 0.01), SOFT).model
    sweep = LatticeSweep.make(model, held=[0, 5, 9, 104])
    x, v = model.rest_frames, rng.normal(size=(model.voxel_count, 6))
    x[:, 3:] = rotations.exp(rng.normal(size=(len(x), 3)))
    sweep.load(x, v)
    bricks, strides = sweep.layout.bricks, Strides.of(sweep)
    fields = sweep.layout.fields(bricks.state, STATE)
    fields[sweep.layout.brick, 7:13, sweep.layout.lane] = rng.normal(size=(len(x), 6))  # held ones move too
    frames, before = strides._frames(LocalState(0.0, x, v), 1, []), bricks.state.copy()
    leave_bricks(bricks.state, frames)
    enter_bricks(bricks.state, frames)
    through_frames = bricks.state.copy()
    assert (through_frames != before).sum() > len(x)  # spins are rounded
    bricks.state[:] = before
    renew_bricks(bricks)
    np.testing.assert_array_equal(bricks.state, through_frames)


def test_bricks_with_a_number_that_is_not_finite_are_found() -> None:
    model = sp.VoxelBody(sp.VoxelGrid(np.ones((7, 3, 5), dtype=int), 0.01), SOFT).model
    sweep = LatticeSweep.make(model)
    bricks = sweep.layout.bricks
    assert is_finite(bricks)
    for field, value in ((0, np.nan), (4, np.inf), (12, -np.inf)):
        place = (int(sweep.layout.brick[40]) * STATE + field) * sweep.layout.lanes + int(sweep.layout.lane[40])
        kept, bricks.state[place] = bricks.state[place], value
        assert not is_finite(bricks)
        bricks.state[place] = kept
