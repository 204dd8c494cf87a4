"""Lattices and slow bodies in one scene: rest with contacts of any stiffness, impulses, responses of slow bodies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import supple as sp
from supple.algebra.sparse.block_rows import BlockRows
from supple.bodies.protocols import LocalState
from supple.bodies.tree.step.responses import point_responses
from supple.errors import StepWarning
from supple.material.voxel import VoxelMaterial
from supple.solvers.coupling import contact_steps
from supple.solvers.coupling.contact_blocks import ContactBlocks
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.shapes import Shapes
from supple.solvers.report import Outcome
from supple.solvers.rigid import step as rigid_step
from supple.validation.contact_kinds import RUBBER, cube, momenta, tree

G, H, SHORT, SIDE = 9.81, 0.005, 0.001, 0.04
UP = np.array([0.0, 0.0, -G])


def block(mass: float = 0.1, side: float = SIDE) -> sp.RigidBody:
    """A cube of twelve triangles."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * side / 2
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))]
    return sp.RigidBody(mass, np.full(3, mass * side**2 / 6), surface=sp.SurfaceMesh(corners, np.array(triangles)))


def plate() -> sp.VoxelBody:
    """Two by two voxels of 3 cm, whose upper side is z = 0."""
    grid = sp.VoxelGrid(np.ones((2, 2, 1), dtype=int), 0.03, origin=np.array([-0.03, -0.03, -0.03]))
    return sp.VoxelBody(grid, sp.VoxelMaterial(1e6, density=800, bond_damping=0.3))


def held_tree() -> sp.TreeBody:
    """A domain of eight modes whose lower face is held."""
    mesh = cube()
    held = np.flatnonzero(mesh.nodes[:, 2] < mesh.nodes[:, 2].min() + 1e-9)
    kind = sp.DomainTemplate("cube", mesh, RUBBER, 8, held=held)
    return sp.TreeBody(sp.DomainTree({"cube": kind}, [sp.Domain("cube")]), stiffness_damping=0.005)


def on_plate(stiffness: float, *, gap: float = 1e-6, **contact: float) -> tuple[sp.Scene, sp.System, sp.State]:
    """A block above a plate that stands on the floor."""
    scene = sp.Scene(gravity=UP, solver=sp.Partitioned(SHORT))
    scene.add(sp.Floor(-0.03))
    scene.add(plate(), name="plate")
    scene.add(block(), at=(0.003, 0.002, SIDE / 2 + gap), name="block")
    scene.add(sp.Contact(stiffness=stiffness, exclude=[("block", "floor")], **contact))
    system = scene.compile()
    return scene, system, system.initial_state()


@pytest.mark.parametrize(("ratio", "steps"), [(0.1, 500), (1.0, 200), (10.0, 100), (100.0, 60), (1000.0, 40)])
def test_a_block_comes_to_rest_on_voxels_with_a_contact_of_any_stiffness(ratio: float, steps: int) -> None:
    """ratio: k h²/m of the whole patch. At rest it carries the weight, at the depth m g/k, and does not creep.
    A soft contact lets it rock for longer than is looked at."""
    mass = 0.1
    scene, system, state = on_plate(ratio * mass / SHORT**2 / SIDE**2)
    warnings.simplefilter("ignore", StepWarning)  # the stiff ones cost small steps, and say so
    places = []
    for _ in range(steps):
        scene.solver.step(system, state)
        places.append(system.positions(state, "block")[0].copy())
    touching = system.contacts[0].touching(state.memory)
    sign = np.array([1.0 if pair[0] == "block" else -1.0 for pair in touching.bodies])
    weight = (sign[:, None] * touching.force).sum(axis=0)
    assert weight[2] == pytest.approx(mass * G, rel=0.01)
    assert np.ptp(places[-10:], axis=0)[2] < 0.1 * G * SHORT**2  # of the way of a free fall of one step
    assert np.abs(places[-1][:2] - [0.003, 0.002]).max() < 1e-4
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    found = system.contacts[0].find(kin, SHORT, state.memory, leaving=frozenset({("plate", "floor")}))
    closed = found.gap < 0
    depth = np.average(-found.gap[closed], weights=found.stiffness[closed])
    assert depth == pytest.approx(mass * G / found.stiffness[closed].sum(), rel=0.02)


def test_contacts_that_cost_the_lattice_many_small_steps_are_named_once() -> None:
    scene, system, state = on_plate(1000 * 0.1 / SHORT**2 / SIDE**2, gap=-1e-7)
    with pytest.warns(StepWarning, match=r"contacts of .* N/m on voxels ask for steps of .* A stiffness of") as said:
        _ = [scene.solver.step(system, state) for _ in range(3)]
    assert len(said) == 1
    assert said[0].message.dt < SHORT / 100


def test_a_system_says_that_its_lattices_damp_in_one_stage() -> None:
    """Beside surfaces of other bodies; alone, and where damping is weak, there is nothing to say."""
    for damping, says in ((1.0, True), (0.05, False)):
        scene = sp.Scene(gravity=UP, solver=sp.Partitioned(H))
        material = VoxelMaterial(young=1e5, density=1000, bond_damping=damping)
        scene.add(sp.VoxelBody(sp.VoxelGrid(np.ones((3, 3, 3), dtype=int), 0.01), {1: material}), name="plate")
        scene.add(block(), at=(0, 0, 0.2), name="block")
        scene.add(sp.Contact())
        system = scene.compile()
        for _ in range(2):
            scene.solver.prepare(system)
        assert str(system).count("damp their links in one stage") == int(says)


@pytest.mark.parametrize("solver", [sp.ImplicitEuler(H), sp.Partitioned(H)], ids=["implicit", "partitioned"])
def test_contacts_that_do_not_settle_are_named_once(solver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contact_steps, "MAX_ITERATIONS", 1)
    monkeypatch.setattr(rigid_step, "MAX_ITERATIONS", 1)
    scene = sp.Scene(gravity=UP, solver=solver)
    scene.add(block(), at=(0, 0, SIDE / 2), spin=(1.0, 2.0, 0.0), velocity=(1.0, 0.0, -1.0), name="block")
    scene.add(sp.Plane())
    scene.add(sp.Contact())
    system = scene.compile()
    state = system.initial_state()
    with pytest.warns(StepWarning, match=r"contacts between block, plane did not settle .* smaller step") as said:
        reports = [scene.solver.step(system, state) for _ in range(5)]
    assert len(said) == 1
    assert not all(report.is_solved for report in reports)


def test_the_recorded_impulses_are_the_change_of_momentum_of_both() -> None:
    scene, system, state = on_plate(1e7, friction=0.3)
    system.body("block").view_v(state.v)[0, :3] = 0.2, 0.0, -0.5
    for _ in range(10):
        before = momenta(system, state)[1]
        scene.solver.step(system, state)
        touching = system.contacts[0].touching(state.memory)
        sign = np.array([1.0 if pair[0] == "block" else -1.0 for pair in touching.bodies])
        given = SHORT * ((sign[:, None] * touching.force).sum(axis=0) + 0.1 * UP)
        assert momenta(system, state)[1] - before == pytest.approx(given, abs=1e-14)


def mobility_case(name: str) -> tuple[sp.Scene, sp.System, sp.State]:
    """A slow body between voxels and the floor, after some steps."""
    rubber = sp.Material(young=2e5, poisson=0.3, density=500, stiffness_damping=2e-3)
    scene = sp.Scene(gravity=UP, solver=sp.Partitioned(H))
    bodies = {"rigid": lambda: block(0.5, 0.1), "fem": lambda: sp.FemBody(cube(), rubber), "tree": tree}
    node = scene.add(bodies[name.split()[0]](), at=(0, 0, 0.05), name="slow")
    if name == "fem held":
        scene.add(sp.FixedPoints(node, np.flatnonzero(cube().nodes[:, 0] < -0.049)))
    if name.endswith("tree's"):
        other = scene.add(tree(), at=(0.15, 0, 0.05), name="tree")
        scene.add(sp.BallJoint(node, other, at=(0.075, 0.01, 0.06)))
        scene.add(sp.Springs(node.points(at=[(0.05, 0, 0.1)]), other.points(at=[(0.1, 0, 0.1)]), 300.0))
    if name == "rigid hinged":
        scene.add(sp.HingeJoint(node, sp.World, at=(-0.05, 0, 0.05), axis=(0, 1, 0)))
    scene.add(plate(), at=(0.003, 0.002, 0.13), name="plate")
    scene.add(sp.Plane())
    scene.add(sp.Contact(friction=0.5))
    system = scene.compile()
    return scene, system, system.initial_state()


@pytest.mark.parametrize("name", ["rigid", "rigid hinged", "fem", "fem held", "tree", "rigid tree's", "tree tree's"])
def test_the_response_of_slow_bodies_is_the_derivative_of_their_step(name: str) -> None:
    """G against two solved steps with other forces; contacts with the floor, filters and joints are part of it."""
    scene, system, state = mobility_case(name)
    for _ in range(12):
        scene.solver.step(system, state)
    solver: sp.Partitioned = scene.solver
    kin = system.propagate(state.t, state.x, state.v, state.memory)
    sets = [c.find(kin, H, state.memory) for c in system.contacts]
    meeting = Meeting.of(system, kin, sets, solver._parts, solver._across, H)
    slow, fast = meeting.has(0) | meeting.has(1), meeting.has(2)
    begun = solver._begin(state, meeting)
    given = np.where((slow & fast)[:, None], meeting.pushes, 0.0)
    assert np.abs(given).max() > 0

    def sides(pushes: np.ndarray):
        return begun.sides(fast, slow & fast, slow & ~fast, pushes, begun.solve(slow & ~fast, pushes))

    G_0, forces = sides(given).responses
    np.testing.assert_array_equal(forces, given[fast])
    other = np.random.default_rng(0).normal(size=given.shape) * (slow & fast)[:, None]
    step = 1e-4
    slope = (sides(given + step * other).motion - sides(given - step * other).motion) / (2 * step)
    expected = (G_0 @ other[fast].ravel()).reshape(-1, 3)
    assert np.abs(slope - expected).max() < 1e-4 * np.abs(expected).max()  # contacts are solved to 1e-6


def test_how_points_of_a_tree_answer_is_the_derivative_of_its_step() -> None:
    """At rest the scheme is linear; the damped modes here are both slower and faster than the step."""
    scene = sp.Scene(solver=sp.TreeSolver(H))
    scene.add(tree(), name="tree")
    system = scene.compile()
    slot, state = system.bodies[0], system.initial_state()
    body, x, v = slot.node.body, slot.view_x(state.x), slot.view_v(state.v)
    points = body.point_mapping(np.array([0, 3, 10]))

    def moved(force: np.ndarray) -> np.ndarray:
        acting = np.zeros_like(v)
        points.linearize(x).add_transpose(force.reshape(-1, 3), acting)
        end = body.advance(LocalState(0.0, x, v), H, steps=1, gravity=np.zeros(3), forces=acting, theta=1.0)
        return (points.apply(end.x) - points.apply(x)).ravel()

    C = point_responses(body.dynamics, points, body.unpack(x, v), x, H, gravity=np.zeros(3))
    slope = np.array([(moved(1e-3 * e) - moved(-1e-3 * e)) / 2e-3 for e in np.eye(9)]).T
    np.testing.assert_allclose(C, slope, atol=1e-6 * np.abs(slope).max())


def test_contacts_that_respond_are_eliminated_as_a_dense_inverse_would() -> None:
    """S = (I + T C)^-1 and S T, with open contacts and contacts that C does not know left aside."""
    rng, k = np.random.default_rng(1), 7
    T = rng.normal(size=(k, 3, 3))
    T = T @ np.swapaxes(T, 1, 2)
    T[[1, 4]] = 0.0
    A = rng.normal(size=(3 * k, 3 * k))
    C = A @ A.T
    C[6:9] = C[:, 6:9] = 0.0
    wanted = rng.normal(size=3 * k)
    wanted.reshape(-1, 3)[[1, 4]] = 0.0
    J = BlockRows.of(np.arange(k + 1), np.arange(k), np.tile(np.eye(3), (k, 1, 1)), k)
    h, W, Y = 0.3, A, np.eye(3 * k)
    W[6:9] = 0.0
    shapes = Shapes.joined([(sparse.csr_array(W), sparse.csr_array((0, 3 * k)), np.array([0, 9, 3 * k]), Y)])
    assert shapes is not None
    step = contact_steps.ContactStep([], [], J, h, np.zeros(3 * k), np.zeros(3 * k), shapes)
    tangent = ContactBlocks(J, h * T, None, False)
    found = tangent._replace(yielding=step._yielding(shapes, tangent))
    dense = np.zeros((k, 3, k, 3))
    dense[np.arange(k), :, np.arange(k)] = T
    S = np.linalg.inv(np.eye(3 * k) + dense.reshape(3 * k, -1) @ C)
    np.testing.assert_allclose(wanted - tangent.stiff(found.yielding.moves(wanted)) / h, S @ wanted, atol=1e-9)
    assert set(np.flatnonzero(found.linked)) == {0, 1, 3, 4, 5, 6}
    np.testing.assert_allclose(found.matrix().toarray(), h * S @ dense.reshape(3 * k, -1), atol=1e-9)
    np.testing.assert_allclose(shapes.times(wanted), C @ wanted, atol=1e-9)


def test_springs_between_a_tree_and_the_world_act_in_parts_as_in_a_stride() -> None:
    ends = []
    for solver in (sp.Partitioned(H), sp.TreeSolver(H)):
        scene = sp.Scene(gravity=UP, solver=solver)
        node = scene.add(held_tree(), name="tree")
        tip = node.body.skin.rest[-1]
        scene.add(
            sp.Springs(node.points(at=[tip]), sp.World.points([tip + np.array([0, 0, 0.02])]), 200.0, rest_length=0.0)
        )
        ends.append(sp.run(scene, until=20 * H).state.x)
    np.testing.assert_array_equal(ends[0], ends[1])
    assert np.abs(ends[0]).max() > 0


def test_joints_that_the_sweep_leaves_open_are_reported() -> None:
    """Two that contradict each other, on a lattice beside a body of another kind."""
    scene = sp.Scene(solver=sp.Partitioned(0.005))
    bar = scene.add(
        sp.VoxelBody(sp.VoxelGrid(np.ones((4, 2, 2), dtype=int), 0.01), sp.VoxelMaterial(1e6, density=1e3)), name="bar"
    )
    points = bar.points(at=[[0.0, 0.01, 0.01]])
    for off in (0.0, 1e-3):
        scene.add(sp.BallJoint(points, sp.World.points(points.rest + np.array([0, 0, off]))))
    scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), at=(1, 0, 0), name="box")
    system = scene.compile()
    assert scene.solver.step(system, system.initial_state()).outcome is Outcome.JOINT_LIMIT
