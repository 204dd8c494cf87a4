"""Energies and momenta of a tree by one compiled loop, against those found domain by domain from its motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.traits import is_load
from supple.bodies.tree import TreeModel
from supple.bodies.tree.kinematics import TreeKinematics
from supple.bodies.tree.measuring import Monomials, TreeMeasuring
from supple.bodies.tree.surface.domain_points import bare_chain
from supple.bodies.tree.surface.placing import Placing
from supple.validation.tree.coupling import beam_domain_tree, random_state
from supple.validation.tree.reference import mixed_domain_tree

TREES = {
    "mixed": lambda: mixed_domain_tree(free=False, chain=False),
    "mixed chain": lambda: mixed_domain_tree(free=False, chain=True),
    "free": lambda: mixed_domain_tree(free=True, chain=False),
    "free chain": lambda: mixed_domain_tree(free=True, chain=True),
    "of one kind": lambda: beam_domain_tree(2 * LANES + 3, 6),
}


@pytest.mark.parametrize("name", TREES)
def test_measures_are_those_of_the_domains(name: str) -> None:
    body = sp.TreeBody(TreeModel.of(TREES[name]()), stiffness_damping=0.001)
    state = random_state(body.dynamics, np.random.default_rng(3))
    x, v = body.rest_coordinates, np.zeros((1, body.coordinates.v_width))
    body.pack(state, x, v)
    found = TreeMeasuring.of(body.model).measures(x, v)
    expected = TreeKinematics(body.model).motion(state.q, state.v, state.frame, state.velocity).measures()
    assert found.kinetic == pytest.approx(expected.kinetic, rel=1e-12)
    assert found.elastic == pytest.approx(expected.elastic, rel=1e-11)
    size = np.abs(expected.momentum).max()
    assert found.momentum == pytest.approx(expected.momentum, rel=1e-11, abs=1e-12 * size)
    assert found.first_moment == pytest.approx(expected.first_moment, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_several_instants_have_the_bits_of_each_alone(name: str) -> None:
    model, rng, k = TreeModel.of(TREES[name]()), np.random.default_rng(4), LANES + 3
    body, alone = (sp.TreeBody(model, stiffness_damping=0.001) for _ in range(2))
    x, v = np.repeat(body.rest_coordinates, k, axis=0), np.zeros((k, body.coordinates.v_width))
    for j in range(k):
        body.pack(random_state(body.dynamics, rng), x[j : j + 1], v[j : j + 1])
    model.frame_cache.forget()
    single = [(alone.measures(x[j : j + 1], v[j : j + 1]), alone.largest_gap(x[j : j + 1])) for j in range(k)]
    model.frame_cache.forget()
    body.foresee(x, v)
    for j, (measures, gap) in enumerate(single):
        found = body.measures(x[j : j + 1], v[j : j + 1])
        assert (found.kinetic, found.elastic) == (measures.kinetic, measures.elastic)
        assert np.array_equal(found.momentum, measures.momentum)
        assert np.array_equal(found.first_moment, measures.first_moment)
        assert body.largest_gap(x[j : j + 1]) == gap


def test_monomials_sum_to_the_energy() -> None:
    model = TreeModel.of(mixed_domain_tree(free=False, chain=True))
    force = next(c.force for c in model.classes if c.force is not None)
    r, rng = force.count, np.random.default_rng(0)
    q = rng.normal(size=r) * 0.01
    c2, c3, c4 = Monomials.of(force)
    assert (len(c2), len(c3)) == (r * (r + 1) // 2, r * (r + 1) * (r + 2) // 6)
    assert len(c4) == r * (r + 1) * (r + 2) * (r + 3) // 24
    places = [(a, b) for a in range(r) for b in range(a, r)]
    quadratic = sum(c * q[a] * q[b] for c, (a, b) in zip(c2, places))
    assert quadratic == pytest.approx(0.5 * q @ force.linear @ q, rel=1e-12)


def test_a_run_in_memory_shows_the_points_of_its_states() -> None:
    """A tree's positions are fewer than its surface's points: these are found when they are asked for."""
    from supple.record.surfaces import make_surfaces

    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.TreeBody(beam_domain_tree(2, 6), stiffness_damping=0.01), name="branch")
    seen: list[np.ndarray] = []
    surface = make_surfaces(scene.compile())[0]
    run = sp.run(scene, until=0.2, observers=[lambda frame: seen.append(surface.points(frame.state))])
    assert len(seen) == len(run.frames.times)
    assert all(np.array_equal(run.frames.points("branch", k), points) for k, points in enumerate(seen))


@pytest.mark.parametrize("free", [False, True])
def test_loads_and_winds_act_as_through_all_their_points(free: bool) -> None:
    """The solver brings equal loads to the mean of their points, and winds to centroids; the system pulls the force on
    each point back. Both in the middle of a step, where the tree is by constant velocities."""
    scene = sp.Scene()
    body = sp.TreeBody(TreeModel.of(mixed_domain_tree(free=free, chain=True)), stiffness_damping=0.01)
    node = scene.add(body, name="branch")
    ends = node.points([1, 5, 9, 40])
    scene.add(sp.Load(ends, lambda t: (1.0, 2.0 * t, -1.0)))
    scene.add(sp.Load(ends.subset([0, 2]), lambda t: [(0.0, 1.0, t), (2.0, 0.0, 0.0)]))
    scene.add(sp.Load(node.points(at=[(0.3, 0, 0)]), (0.0, 0.5, 0.0)))
    scene.add(sp.Wind(node, (2.0, -3.0, 0.5), intensity=0.3, modes=9))
    scene.add(sp.Wind(node, (0.0, 1.0, 0.0), intensity=0.0, two_sided=True))
    system, solver, rng = scene.compile(), sp.TreeSolver(0.01), np.random.default_rng(2)
    state = system.initial_state()
    state.t = 0.7
    state.x[7:] = 0.01 * rng.normal(size=system.x_size - 7)
    state.v[0 if free else 6 :] = 0.1 * rng.normal(size=system.v_size - (0 if free else 6))
    if free:
        state.x[3:7] = rotations.normalise(rng.normal(size=4))
    solver.prepare(system)
    half, x = 0.5 * solver.dt, state.x.copy()
    x[:3] += half * state.v[:3]
    x[3:7] = rotations.normalise(rotations.multiply(x[3:7], np.array([1.0, *(0.5 * half * state.v[3:6])])))
    x[7:] += half * state.v[6:]
    kin = system.propagate(state.t + half, x, state.v)
    out = [np.zeros_like(v) for v in kin.v]
    for _, slot, force in system.forces:
        if is_load(force):
            force.add_force(kin.local(slot), out[slot.index])
    kin.pull(out)
    out[0][0, 3:6] = rotations.rotate_inverse(state.x[3:7], rotations.rotate(x[3:7], out[0][0, 3:6]))  # axes of now
    assert solver.loads(system, state)[0] == pytest.approx(out[0], rel=1e-12, abs=1e-13 * np.abs(out[0]).max())


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("chain", [False, True])
def test_interfaces_are_as_far_from_rigid_as_their_points_say(chain: bool, scaled: bool) -> None:
    """scaled: domains of another scale alone are bent, so that theirs is the largest distance."""
    body = sp.TreeBody(TreeModel.of(mixed_domain_tree(free=False, chain=chain)), stiffness_damping=0.001)
    state, x = random_state(body.dynamics, np.random.default_rng(5)), body.rest_coordinates
    model, apart = body.model, []
    if scaled:
        assert np.ptp(model.scale) > 0.05
        state.q[np.repeat(model.scale == 1.0, np.diff(model.q_starts))] = 0.0
    body.pack(state, x, np.zeros((1, body.coordinates.v_width)))
    motion = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    for join in motion.kinematics.joinings:
        face, kind = motion.interfaces[join.number, join.interface], model.classes[join.number]
        interface = model.domain_tree.kinds[kind.name].interfaces[kind.interfaces[join.interface]]
        X, U = kind.nodes[interface.nodes], kind.U.reshape(len(kind.nodes), 3, kind.count)[interface.nodes]
        y = (X - kind.fits[join.interface].x_hat) @ rotations.to_matrix(interface.rotation)
        for k, parent in zip(join.rows, join.parents):
            q = state.q[model.q_starts[parent] : model.q_starts[parent + 1]]
            d = model.scale[parent] * (X + U @ q - face.x[k] - y @ face.R[k].T)
            apart.append(np.linalg.norm(d, axis=1).max())
    assert body.deviation.largest(x) == pytest.approx(max(apart), rel=1e-10)


@pytest.mark.parametrize("name", ["mixed", "free chain"])
def test_points_of_several_instants_are_those_of_the_mapping(name: str) -> None:
    """In lanes of points, shapes read once for all instants; chosen points alone are where they are among all."""
    model, rng = TreeModel.of(TREES[name]()), np.random.default_rng(6)
    body = sp.TreeBody(model, stiffness_damping=0.001)
    x, v = np.repeat(body.rest_coordinates, 5, axis=0), np.zeros((5, body.coordinates.v_width))
    for j in range(5):
        body.pack(random_state(body.dynamics, rng), x[j : j + 1], v[j : j + 1])
    points = body.point_mapping(None)
    placing, numbers = Placing.of(points), np.array([7, 2, 31])
    instants = model.frame_cache.all(x, bare_chain(model))
    placed, rounded = placing.positions(instants), placing.positions(instants, np.float32)
    assert np.array_equal(rounded, placed.astype(np.float32))
    for j in range(5):
        expected = points.apply(x[j : j + 1])
        assert placed[j] == pytest.approx(expected, abs=1e-14 * np.abs(expected).max())
        chosen = points.chosen(numbers)
        assert chosen.apply(x[j : j + 1]) == pytest.approx(expected[numbers], abs=1e-14 * np.abs(expected).max())
        model.frame_cache.forget()
        alone = placing.positions(model.frame_cache.all(x[j : j + 1], bare_chain(model)))
        assert np.array_equal(alone[0], placed[j])


def test_a_record_does_not_depend_on_how_many_frames_a_call_takes(tmp_path: Path) -> None:
    """With an observer frames are looked at one by one; else energies and points of several are found in one call."""
    records = []
    for name, observers in (("together", []), ("alone", [lambda frame: None])):
        scene = sp.Scene(gravity=(0, 0, -9.81), solver=sp.TreeSolver(1 / 120))
        node = scene.add(sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.01), name="branch")
        scene.add(sp.Load(node.points([1, 5]), lambda t: (0.0, t, 0.0)))
        records.append(sp.run(scene, until=1.0, out=tmp_path / name, observers=observers, threads=1).frames)
    one, two = records
    for column in ("time", "kinetic", "potential", "momentum", "centre_of_mass"):
        assert np.array_equal(one.columns[column], two.columns[column])
    assert all(np.array_equal(one.points("branch", k), two.points("branch", k)) for k in range(len(one.times)))
