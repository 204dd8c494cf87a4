"""A tree of domains in a scene: its mapping and transpose, loads by virtual work, recording, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.trees.welds import welded_beams

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree import Domain, DomainTree, TreeBody, TreeDynamics, TreeKinematics, TreeModel, TreeSettings
from supple.errors import InputError
from supple.validation.tree.coupling import beam_domain_tree, tip_load, whole_beam
from supple.validation.tree.reference import mixed_domain_tree, whole_positions


@pytest.fixture(scope="module")
def body() -> TreeBody:
    return TreeBody(mixed_domain_tree(free=True, chain=False), stiffness_damping=0.01)


def test_points_are_the_nodes_and_the_transpose_is_the_transpose(body: TreeBody) -> None:
    rng, c = np.random.default_rng(0), body.coordinates
    n = body.model.coordinate_count
    x, v = np.zeros((1, c.x_width)), np.zeros((1, c.v_width))
    x[0, :3], x[0, 3:7] = rng.normal(size=3), rotations.exp(rng.normal(size=3))
    x[0, 7 : 7 + n], v[0, : 6 + n] = 0.05 * rng.normal(size=n), rng.normal(size=6 + n)
    points = body.skin.whole
    expected = whole_positions(body.model, x[0, 7 : 7 + n], x[0, :7])
    classes = body.skin.classes
    seen = np.concatenate([p[classes[k].node] for p, k in zip(expected, body.model.domain_class)])
    assert np.abs(points.apply(x) - seen).max() < 1e-12  # two ways to the same positions
    tangent, h = points.linearize(x), 1e-5
    moved = [points.apply(c.retract(x, s * h * v)) for s in (1, -1)]
    rate = tangent.product(v)
    assert np.abs((moved[0] - moved[1]) / (2 * h) - rate).max() < 1e-7  # h² times a third derivative of some hundreds
    f, pulled = rng.normal(size=rate.shape), np.zeros((1, c.v_width))
    tangent.add_transpose(f, pulled)
    assert np.sum(f * rate) == pytest.approx(np.sum(pulled * v), rel=1e-12)
    bias = tangent.bias(v)
    curved = (moved[0] + moved[1] - 2 * points.apply(x)) / h**2
    assert np.abs(bias - curved).max() < 1e-4 * np.abs(bias).max()


def test_a_pulled_beam_hangs_where_finite_elements_do(tmp_path: Path) -> None:
    settings = TreeSettings(theta=0.6)  # dissipates
    beam = TreeBody(beam_domain_tree(2, 14), stiffness_damping=0.1, mass_damping=2.0, settings=settings)
    scene = sp.Scene()
    node = scene.add(beam, name="beam")
    last = beam.skin.domain == 1
    tip = np.flatnonzero(last & (beam.skin.rest[:, 0] > 1.6 - 1e-9))
    force = 1e-2
    scene.add(sp.Load(node.points(tip), (0.0, 0.0, force)))
    run = sp.run(scene, until=6.0, dt=1 / 5, record_every=1.0, out=tmp_path / "beam")
    moved = beam.skin.positions(run.system.positions(run.state, "beam"))[tip] - beam.skin.rest[tip]
    load = tip_load(beam.model.domain_tree.kinds["part"].mesh, 0.8)
    assert np.abs(load).sum() == pytest.approx(1.0)
    assert moved[:, 2].mean() == pytest.approx(force * whole_beam()[1], rel=0.02)
    picture = sp.export(run, tmp_path / "beam.png")
    assert picture.stat().st_size > 1000
    assert run.frames is not None


def test_gaps_close_at_welds() -> None:
    body = TreeBody(welded_beams(2, 8))
    x = np.zeros((1, body.coordinates.x_width))
    x[0, 3] = 1.0
    assert body.skin.largest_gap(x) < 1e-12
    free = TreeBody(beam_domain_tree(2, 8)).skin
    assert len(body.skin.triangles) == len(free.triangles) - 2 * 8  # the two faces of the cut are not seen
    x[0, 7:15] = 0.5 * np.random.default_rng(1).normal(size=8)
    gap = body.skin.largest_gap(x)
    assert gap > 1e-4
    seen = body.skin.positions(x)
    for group in range(len(body.skin.group_start) - 1):
        at = seen[body.skin.seams[body.skin.group_start[group] : body.skin.group_start[group + 1]]]
        assert np.abs(at - at[0]).max() < 1e-14


def test_gravity_moves_the_centre_of_a_free_tree(body: TreeBody) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(body, at=(1, 2, 3), velocity=(0.5, 0, 1.0), spin=(0.2, 1.0, -0.4), name="tree")
    run = sp.run(scene, until=0.2, dt=1 / 200)
    start = run.system.initial_state()
    centre0, centre1 = (run.system.centre_of_mass(run.system.propagate(s.t, s.x, s.v)) for s in (start, run.state))
    momentum = run.system.momentum(run.system.propagate(0, start.x, start.v))[:3]
    expected = centre0 + 0.2 * momentum / body.total_mass + 0.5 * 0.04 * np.array([0, 0, -9.81])
    assert np.abs(centre1 - expected).max() < 1e-5  # the scheme's error at h = 1/200


def test_errors_name_the_fix(body: TreeBody) -> None:
    scene = sp.Scene()
    scene.add(body)
    with pytest.raises(InputError, match="TreeSolver"):
        sp.run(scene, until=0.1, solver=sp.ImplicitEuler())
    with pytest.raises(InputError, match="coupling"):
        TreeBody(body.model, coupling="loose")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="torque"):
        TreeBody(body.model, torque=False)
    with pytest.raises(InputError, match="DomainTree"):
        TreeBody(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="fit the tree"):
        body.dynamics.advance(body.dynamics.state(), 0.1, forces=np.zeros(3))
    held = TreeBody(DomainTree(mixed_domain_tree(free=False, chain=True).kinds, [Domain("k0")]))
    scene = sp.Scene()
    scene.add(held, velocity=(1, 0, 0))
    with pytest.raises(InputError, match="fixed"):
        scene.compile()
    assert TreeKinematics(held.model).joinings == []


def test_a_resumed_run_is_the_run(body: TreeBody, tmp_path: Path) -> None:
    def scene() -> sp.Scene:
        made = sp.Scene(gravity=(0, 0, -9.81))
        node = made.add(body, spin=(0.5, 0, 0), name="tree")
        made.add(sp.Load(node.points("k4"), lambda t: (0.0, 0.3 * t, 0.0)))
        return made

    whole = sp.run(scene(), until=0.2, dt=1 / 50, out=tmp_path / "whole")
    sp.run(scene(), until=0.1, dt=1 / 50, out=tmp_path / "parts")
    parts = sp.run(scene(), until=0.2, dt=1 / 50, out=tmp_path / "parts", resume=True)
    assert (whole.state.x == parts.state.x).all()
    assert (whole.state.v == parts.state.v).all()


def test_rates_that_are_damped_within_a_step_do_not_turn_round_for_ever() -> None:
    """In wind, where 2 beta >= h; by the midpoint rule 0.98 of a stiff mode's rate would be left after 40 steps."""
    model = TreeModel.of(beam_domain_tree(2, 6))
    tree = TreeDynamics(model, stiffness_damping=0.02)
    state = tree.state()
    state.v[-1] = 1e-3
    tree.advance(state, 1 / 60, steps=40, is_blown=True)
    assert np.abs(state.v).max() < 0.1 * 1e-3
    ratio = tree.numbers(1 / 60, is_blown=True).theta - 0.5, tree.numbers(1 / 120, is_blown=True).theta - 0.5
    assert ratio[0] / ratio[1] == pytest.approx(2.0)  # of second order: theta - 1/2 goes with the step
    assert tree.numbers(1 / 60).theta == 0.5
    assert TreeDynamics(model, stiffness_damping=1e-3).numbers(1 / 60, is_blown=True).theta == 0.5
