"""The kicker: its stiffnesses, its resonance, its pieces, and the pin that nobody kicks."""

from __future__ import annotations

import numpy as np
import pytest

from supple.bodies.voxel import VoxelBody
from supple.examples.kicker import (
    BALL,
    FREQUENCY,
    LEFT,
    PIN,
    RIGHT,
    SIZE,
    ball_way,
    hold,
    lean,
    make,
    pieces,
    voxels_of,
)
from supple.geometry import VoxelGrid
from supple.scene import Scene
from supple.solvers import vibration_modes


def test_stiffnesses_are_as_100_to_10_to_1() -> None:
    young = {number: m.young for number, m in pieces().palette_by_number.items()}
    assert young[LEFT] == young[RIGHT] == 10 * young[BALL] == 100 * young[PIN]


def test_three_pieces_without_links_between_them() -> None:
    body = pieces()
    of = np.zeros(body.model.voxel_count, dtype=int)
    for piece, numbers in enumerate(((LEFT, RIGHT), (BALL,), (PIN,))):
        of[voxels_of(body, *numbers)] = piece
    one, two = body.model.link_voxels.T
    assert (of[one] == of[two]).all()
    assert body.positions[:, 2].min() == pytest.approx(SIZE / 2)  # ball and pin stand on the floor


def test_the_beam_is_driven_in_resonance() -> None:
    """Gravity adds some 1 % to the frequency of the hanging beam, damping is a ninth of critical: 2 % are near."""
    body = pieces()
    alone = np.where(np.isin(body.grid.materials, (LEFT, RIGHT)), body.grid.materials, 0)
    beam = VoxelBody(VoxelGrid(alone, SIZE), body.palette)
    scene = Scene()
    scene.add(beam, fix=hold(beam), name="beam")
    assert vibration_modes(scene.compile(), 1).frequencies[0] == pytest.approx(FREQUENCY, rel=0.02)


def test_no_piece_passes_through_another_during_the_kick() -> None:
    scene = make()
    system = scene.compile()
    state, (slot,) = system.initial_state(), system.bodies
    body = slot.node.body
    beam, ball, pin = voxels_of(body, LEFT, RIGHT), voxels_of(body, BALL), voxels_of(body, PIN)
    least = {"kick": np.inf, "hit": np.inf}
    while state.t < 0.25:
        assert scene.solver.step(system, state).is_solved
        x = slot.view_x(state.x)[:, :3]
        for name, one, two in (("kick", beam, ball), ("hit", ball, pin)):
            distance = np.linalg.norm(x[one, None] - x[None, two], axis=2).min()
            least[name] = min(least[name], distance / SIZE)
    assert 0.7 < least["kick"] < 1.0  # they touch: spheres of one voxel size
    assert 0.7 < least["hit"] < 1.0


def test_without_actuation_the_pin_stands() -> None:
    scene = make(0.0)
    system = scene.compile()
    state, (slot,) = system.initial_state(), system.bodies
    while state.t < 0.3:
        assert scene.solver.step(system, state).is_solved
    x, v = slot.view_x(state.x), slot.view_v(state.v)
    assert lean(slot.node.body, x) < 0.1
    assert abs(ball_way(slot.node.body, x)) < 1e-4
    loose = voxels_of(slot.node.body, BALL, PIN)
    assert np.abs(v[loose, :2]).max() < 1e-2  # nothing is on its way to fall
