"""Springs, a person's own forces and joints between bodies of different parts, within one step of `Partitioned`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.protocols import LocalState
from supple.errors import InputError, StepWarning
from supple.interaction.springs import SpringForce
from supple.scene.derivatives import differentiate
from supple.solvers.coupling.joint_rows import least_norm, solve_rows
from supple.solvers.coupling.laws import PointLaw, SpringLaw
from supple.solvers.methods import implicit_euler, partitioned
from supple.solvers.report import Outcome
from supple.validation.contact_kinds import KINDS, MASS, RUBBER, SIDE, cube, momenta
from supple.validation.couplings import KINDS as KINDS_OF_COUPLINGS
from supple.validation.couplings import coupled, rows_of

H, SPIN, G = 1 / 60, 5.0, 9.81
SLOW = ["rigid", "particles", "fem", "floating", "tree"]


def point(node: sp.Node, at: tuple[float, float, float]) -> sp.PointSet:
    """A point of a body: the nearest of particles, else one at a place."""
    if node.body.kind == "particles":
        return node.points([int(np.argmin(np.linalg.norm(node.rest - np.array(at), axis=1)))])
    return node.points(at=[at])


def turning_pair(one: str, two: str) -> tuple[sp.Scene, sp.Node, sp.Node]:
    """Two bodies that turn about the z axis together, at 5 rad/s."""
    scene = sp.Scene(solver=sp.Partitioned(H))
    a = scene.add(KINDS[one](), spin=(0, 0, SPIN), name="one")
    away = 1.2 * SIDE
    b = scene.add(KINDS[two](), at=(away, 0, 0), spin=(0, 0, SPIN), velocity=(0, SPIN * away, 0), name="two")
    return scene, a, b


def held_tree() -> sp.TreeBody:
    """A domain of eight modes whose upper face is held."""
    mesh = cube()
    held = np.flatnonzero(mesh.nodes[:, 2] > mesh.nodes[:, 2].max() - 1e-9)
    kind = sp.DomainTemplate("cube", mesh, RUBBER, 8, held=held)
    return sp.TreeBody(sp.DomainTree({"cube": kind}, [sp.Domain("cube")]), stiffness_damping=0.005)


@pytest.mark.parametrize("kind", SLOW)
def test_a_spring_between_a_tree_and_a_body_keeps_the_momentum_of_both(kind: str) -> None:
    scene, a, b = turning_pair("tree", kind)
    scene.add(sp.Springs(point(a, (0.5 * SIDE, 0.01, 0.02)), point(b, (0.7 * SIDE, 0.01, 0.02)), 500.0, 1.0))
    system = scene.compile()
    state = system.initial_state()
    before, exchanged = momenta(system, state), 0.0
    for _ in range(20):
        assert scene.solver.step(system, state).is_solved
        now = momenta(system, state)
        assert np.abs((now - before).sum(axis=0)).max() < 1e-12 * SPIN * SIDE * MASS
        exchanged = max(exchanged, np.abs(now - before).max())
    assert exchanged > 0.01 * SPIN * SIDE * MASS


@pytest.mark.parametrize("ratio", [0.1, 10.0, 1e4])
def test_a_body_comes_to_rest_on_a_spring_of_any_stiffness_below_a_tree(ratio: float) -> None:
    """ratio: k h²/m. It hangs by m g/k below the point of the tree, and its damper stops it."""
    k = ratio * MASS / H**2
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.Partitioned(H))
    tree = scene.add(held_tree(), name="tree")
    ball = scene.add(sp.RigidBody(MASS, np.full(3, 0.4 * MASS * 0.03**2)), at=(0, 0, -0.15), name="ball")
    ends = tree.points(at=[(0, 0, -SIDE / 2)]), ball.points(at=[(0, 0, -0.15)])
    scene.add(sp.Springs(*ends, k, 0.3 * np.sqrt(k * MASS)))
    run = sp.run(scene, until=2.0)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    slot = next(s for label, s, _ in run.system.forces if label == "springs")
    length = np.linalg.norm(np.diff(kin.x[slot.index], axis=0))
    assert length - np.linalg.norm(ends[0].rest - ends[1].rest) == pytest.approx(MASS * G / k, rel=1e-3, abs=1e-9)
    assert np.abs(run.state.v).max() < 1e-4


@pytest.mark.parametrize("kind", [*SLOW, "layered"])
def test_a_spring_between_voxels_and_a_body_keeps_the_momentum_of_both(kind: str) -> None:
    assert coupled("voxel", kind, "spring", until=0.2).linear < 1e-12


@pytest.mark.parametrize("ratio", [0.1, 10.0, 1000.0])
@pytest.mark.parametrize("rest_length", [None, 0.0])
def test_a_body_comes_to_rest_on_a_spring_of_any_stiffness_below_voxels(
    ratio: float, rest_length: float | None
) -> None:
    """ratio: k h²/m. The spring is met inside the small steps of the lattice, while the body responds."""
    h, mass = 0.002, 0.1
    k = ratio * mass / h**2
    scene = sp.Scene(gravity=(0, 0, -G), solver=sp.Partitioned(h))
    grid = sp.VoxelGrid(np.ones((2, 2, 1), dtype=int), 0.03)
    plate = scene.add(
        sp.VoxelBody(grid, sp.VoxelMaterial(1e6, density=800, bond_damping=1.0)), fix=[0, 1], name="plate"
    )
    at = plate.rest[3] - [0, 0, 0.015]
    below = at if rest_length == 0.0 else at - [0, 0, 0.05]
    ball = scene.add(sp.RigidBody(mass, np.full(3, 1e-4)), at=below, name="ball")
    springs = sp.Springs(ball.points(at=[below]), plate.points(at=[at]), k, np.sqrt(k * mass), rest_length=rest_length)
    scene.add(springs)
    warnings.simplefilter("ignore", StepWarning)  # the stiff ones cost small steps, and say so
    run = sp.run(scene, until=0.6)
    kin = run.system.propagate(run.state.t, run.state.x, run.state.v)
    slot = next(s for label, s, _ in run.system.forces if label == "springs")
    length = np.linalg.norm(np.diff(kin.x[slot.index], axis=0)) - springs.force.rest_length[0]
    assert length == pytest.approx(mass * G / k, rel=0.01)
    assert np.abs(run.system.velocities(run.state, "ball")).max() < 1e-3


@pytest.mark.parametrize("rest", [0.0, 0.3])
def test_tangents_of_laws_are_their_derivatives(rest: float) -> None:
    rng, h, k = np.random.default_rng(0), 0.07, 3
    pairs = np.stack([np.arange(k), k + np.arange(k)], axis=1)
    springs = SpringForce.make(pairs, rng.uniform(1, 9, k), rest, rng.uniform(1, 9, k), where="test")
    x = rng.normal(size=(2 * k, 3))
    for law in (SpringLaw("springs", springs, x[k:] - x[:k]), PointLaw("own", springs, x, 0.0)):
        u, d = rng.normal(size=(2, law.size, 3))
        T = np.zeros((law.size, 3, law.size, 3))
        T[np.arange(law.size), :, np.arange(law.size)] = law.forces(u, h, symmetric=False).tangent
        if isinstance(law, PointLaw):
            T += law.between(u, h).reshape(T.shape)
        slope = differentiate(lambda e, law=law, u=u, d=d: law.forces(u + e * d, h, symmetric=False).force, 1e-3)
        np.testing.assert_allclose(-np.einsum("aibj,bj->ai", T, d), slope, atol=1e-7)


class OwnSprings:
    """The same springs, as a person would write them."""

    def __init__(self, springs: sp.Springs) -> None:
        self.law, self.on = springs.force, springs.on

    def energy(self, state: LocalState) -> float:
        return self.law.energy(state)

    def add_force(self, state: LocalState, f_out: np.ndarray) -> None:
        self.law.add_force(state, f_out)

    def linearize(self, state: LocalState, *, definite: bool = False) -> Any:
        return self.law.linearize(state)


def test_a_force_of_ones_own_couples_parts_as_springs_do() -> None:
    ends = []
    for own in (False, True):
        scene, a, b = turning_pair("tree", "rigid")
        springs = sp.Springs(point(a, (0.5 * SIDE, 0, 0)), point(b, (0.7 * SIDE, 0, 0)), 500.0, 1.0)
        scene.add(OwnSprings(springs) if own else springs)
        ends.append(sp.run(scene, until=20 * H).state)
    np.testing.assert_allclose(ends[0].x, ends[1].x, atol=1e-8)
    np.testing.assert_allclose(ends[0].v, ends[1].v, atol=1e-6)


@pytest.mark.parametrize("kind", [*SLOW, "world"])
def test_a_ball_joint_of_a_tree_holds_and_keeps_the_momentum(kind: str) -> None:
    """At 1/60 s and 5 rad/s: closed to 1e-6 of the size after every step."""
    scene, a, b = turning_pair("tree", "rigid" if kind == "world" else kind)
    place = (0.5 * SIDE, 0.5 * SIDE, 0.5 * SIDE)
    other = sp.World.points([place]) if kind == "world" else point(b, (0.7 * SIDE, 0.5 * SIDE, 0.5 * SIDE))
    scene.add(sp.BallJoint(a.points(at=[place]), other))
    system = scene.compile()
    state = system.initial_state()
    before = momenta(system, state)
    for _ in range(30):
        assert scene.solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() < 1e-6 * SIDE
        if kind != "world":
            assert np.abs((momenta(system, state) - before).sum(axis=0)).max() < 1e-12 * SPIN * SIDE * MASS


@pytest.mark.parametrize("coupling", ["hinge", "slider", "fixed"])
@pytest.mark.parametrize("pair", ["tree-rigid", "tree-fem", "tree-tree", "tree-voxel", "voxel-rigid", "tree-world"])
def test_joints_on_patches_across_parts_hold(pair: str, coupling: str) -> None:
    found = coupled(*pair.split("-"), coupling, until=0.3)
    assert found.failed == 0
    assert found.joint < 1e-6
    assert found.linear < 1e-12 or pair == "tree-world"


def test_joints_that_say_the_same_twice_act_as_one() -> None:
    ends = []
    for count in (1, 2):
        scene, a, b = turning_pair("tree", "rigid")
        for _ in range(count):
            scene.add(sp.BallJoint(a.points(at=[(SIDE / 2, 0, 0)]), b.points(at=[(SIDE / 2, 0, 0)])))
        ends.append(sp.run(scene, until=20 * H).state)
    np.testing.assert_allclose(ends[0].x, ends[1].x, atol=1e-8)


def test_rows_share_forces_and_rest_at_their_bounds() -> None:
    W = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    none = np.full(3, np.inf)
    p, holds = solve_rows(W, np.array([4.0, 4.0, 3.0]), -none, none)
    np.testing.assert_allclose(p, [1, 1, 3])
    assert holds.all()
    p, holds = solve_rows(W, np.array([4.0, 4.0, 3.0]), -none, np.array([np.inf, np.inf, 2.0]))
    np.testing.assert_allclose(p, [1, 1, 2])
    np.testing.assert_array_equal(holds, [True, True, False])
    np.testing.assert_allclose(least_norm(np.zeros((1, 1)), np.ones(1)), [0.0])


@pytest.mark.parametrize(("pair", "module"), [("tree-rigid", partitioned), ("fem-rigid", implicit_euler)])
def test_a_step_that_leaves_joints_open_says_so(pair: str, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CLOSINGS", 1)
    scene, a, b = turning_pair(*pair.split("-"))
    scene.add(sp.BallJoint(a, b, at=(0.6 * SIDE, 0, 0)))
    system = scene.compile()
    report = scene.solver.step(system, system.initial_state())
    assert report.outcome is Outcome.JOINT_LIMIT


def test_what_is_refused_is_a_row_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    held = rows_of("rigid", "particles", "ball", until=0.1)
    assert len(held) == 4
    assert all(row.ok for row in held)
    monkeypatch.setitem(KINDS_OF_COUPLINGS, "particles", lambda: sp.Particles([[0, 0, 0], [0.1, 0, 0]], 0.1))
    (row,) = rows_of("rigid", "particles", "hinge", until=0.1)
    assert not row.ok
    assert "three points" in row.source


def test_solvers_of_one_kind_send_to_the_one_that_couples_all() -> None:
    """No solver names another that would refuse the scene."""
    for solver in (sp.TreeSolver(H), sp.LatticeSolver(H), sp.ImplicitEuler(H), sp.Midpoint(H)):
        scene, a, b = turning_pair("tree", "voxel")
        scene.add(sp.BallJoint(a, b, at=(0.6 * SIDE, 0, 0)))
        system = scene.compile()
        with pytest.raises(InputError, match="Use Partitioned"):
            solver.step(system, system.initial_state())
    assert sp.Partitioned(H).step(system, system.initial_state()).is_solved


def test_a_lattice_that_a_joint_guides_meets_the_floor_of_the_scene() -> None:
    """It is stepped with the implicit bodies then, and touches by its surface."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    robot = scene.add(KINDS["voxel"](), at=(0, 0, SIDE), name="robot")
    scene.add(sp.SliderJoint(robot, at=(0, 0, SIDE), axis=(0, 0, 1)))
    scene.add(sp.Floor())
    run = sp.run(scene, until=0.4)
    lowest = float(run.frames.points("robot", len(run.frames.times) - 1)[:, 2].min())
    assert abs(lowest) < 0.05 * SIDE


@pytest.mark.parametrize("pair", ["voxel-voxel", "rigid-voxel", "tree-layered", "particles-world"])
def test_contact_is_a_coupling_that_keeps_the_momentum(pair: str) -> None:
    """Two lattices keep their angular momentum, too: each force acts at one place on both."""
    for row in rows_of(*pair.split("-"), "contact", until=0.3):
        assert row.ok, row


@pytest.mark.parametrize("coupling", ["spring", "ball", "hinge", "slider", "fixed", "contact"])
def test_coupled_trees_keep_their_angular_momentum(coupling: str) -> None:
    """Their forces act at one place on both; joints are closed as inside a part."""
    found = coupled("tree", "tree", coupling, until=0.3)
    assert found.failed == 0
    assert found.pushed > 0.1
    assert np.linalg.norm(found.angular) < 1e-9 * MASS * SPIN * SIDE**2
    assert found.joint < 1e-9


@pytest.mark.parametrize("coupling", ["spring", "ball", "hinge", "slider", "fixed", "contact"])
def test_a_tree_and_a_lattice_keep_their_angular_momentum(coupling: str) -> None:
    """The tree takes the moments of all small steps of the sweep [theory.md, 12.15]."""
    found = coupled("voxel", "tree", coupling, until=0.3)
    assert found.failed == 0
    assert found.pushed > 0.1
    assert np.linalg.norm(found.angular) < 1e-12 * MASS * SPIN * SIDE**2


def test_joints_of_a_tree_with_the_world_do_not_damp_it() -> None:
    """A soft cube without damping turns about a hinge at its edge: its spin changes by the square of the step."""
    kind = sp.DomainTemplate("cube", cube(), RUBBER, 8)
    body = sp.TreeBody(sp.DomainTree({"cube": kind}, [sp.Domain("cube")], free=True), stiffness_damping=0.0)
    lost = []
    for dt in (H, H / 2):
        scene = sp.Scene(solver=sp.Partitioned(dt))
        node = scene.add(body, spin=(0, 0, SPIN), velocity=(0, SPIN * SIDE / 2, 0), name="cube")
        scene.add(sp.HingeJoint(node, at=(-SIDE / 2, 0, 0), axis=(0, 0, 1)))
        system = scene.compile()
        state, energies = system.initial_state(), []
        for _ in range(round(0.5 / dt)):
            assert scene.solver.step(system, state).is_solved
            kin = system.propagate(state.t, state.x, state.v)
            energies.append(system.kinetic_energy(kin) + system.potential_energy(kin))
            for _, slot, rows in system.joints:
                rate = rows.jacobian(kin.x[slot.index]) @ kin.v[slot.index].ravel()
                assert np.abs(rate).max() < 1e-9 * SPIN
        lost.append(np.ptp(energies[1:]) / energies[0])
    assert lost[0] < 0.02
    assert lost[1] < 0.5 * lost[0]
