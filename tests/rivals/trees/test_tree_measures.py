"""Energies and momenta of a tree by one compiled loop, against those found domain by domain from its motion."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.traits import is_load
from supple.bodies.tree import TreeModel
from supple.bodies.tree.kinematics import TreeKinematics
from supple.bodies.tree.measuring import Monomials, TreeMeasuring
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
    assert (len(TreeMeasuring.of(body.model).arrays.groups) > 0) == (name == "of one kind")
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


@pytest.mark.parametrize("chain", [False, True])
def test_interfaces_are_as_far_from_rigid_as_their_points_say(chain: bool) -> None:
    body = sp.TreeBody(TreeModel.of(mixed_domain_tree(free=False, chain=chain)), stiffness_damping=0.001)
    state, x = random_state(body.dynamics, np.random.default_rng(5)), body.rest_coordinates
    body.pack(state, x, np.zeros((1, body.coordinates.v_width)))
    model, apart = body.model, []
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
