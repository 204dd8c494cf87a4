"""Springs on points within a tree's steps: against a dense implicit equation, statics, and energy."""

from __future__ import annotations

import numpy as np
import pytest
from tests.trees.welds import welded_beams

import supple as sp
from supple.bodies.protocols import LocalState
from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    PointSprings,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    TreeSettings,
    TreeState,
)
from supple.bodies.tree.dynamics import PULLED
from supple.bodies.tree.kinematics import TreeMotion
from supple.bodies.tree.surface.skin import TreeSkin
from supple.errors import InputError
from supple.material import Material
from supple.solvers.coupling.trees.springs import springs_at, world_springs
from supple.validation.tree.coupling import GRAVITY, beam_domain_tree, random_state
from supple.validation.tree.reference import (
    block_mesh,
    face,
    lagrangian_accelerations,
    mixed_domain_tree,
    whole_mass,
    whole_positions,
)

Array = np.ndarray


class Rival:
    """Accelerations of the whole by brute force, with the springs' forces from differences of positions."""

    def __init__(self, model: TreeModel, skin: TreeSkin, points: list[int], springs: PointSprings) -> None:
        self.model, self.springs = model, springs
        self.nodes = [(d := int(skin.domain[p]), skin.classes[model.domain_class[d]].node[skin.row[p]]) for p in points]
        m = whole_mass(model)
        self.weight = m @ np.tile(GRAVITY, m.shape[0] // 3)

    def accelerations(self, state: TreeState, q: Array, v: Array, *, sprung: bool = True) -> Array:
        x, e = whole_positions(self.model, q, state.frame), 1e-6
        ahead, behind = (whole_positions(self.model, q + s * e * v, state.frame) for s in (1, -1))
        forces, law = [np.zeros_like(part) for part in x], self.springs
        for k, (d, n) in enumerate(self.nodes if sprung else []):
            rate = (ahead[d][n] - behind[d][n]) / (2 * e)
            pull = np.asarray(law.stiffness)[k] @ (x[d][n] - np.asarray(law.place)[k])
            forces[d][n] += np.asarray(law.force)[k] - pull - np.asarray(law.damping)[k] @ rate
        given = self.weight + np.concatenate(forces).ravel()
        return lagrangian_accelerations(self.model, q, v, state.frame, state.velocity, np.zeros(len(q)), given)


def test_a_step_solves_the_dense_implicit_equation() -> None:
    model = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    skin, rng = TreeSkin.of(model), np.random.default_rng(1)
    tree = TreeDynamics(model, settings=TreeSettings(converge=True, epsilon=1e-12, max_iterations=200))
    state = random_state(tree, 5)
    state.q *= 0.3
    state.v *= 0.3
    points = [int(np.flatnonzero(skin.domain == d)[-1]) for d in (1, 2, 4)]
    K = np.array([400 * M @ M.T for M in rng.normal(size=(3, 3, 3))])
    motion = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    place = PointSprings.on(skin, points, np.zeros(3), 0.0).positions(model, motion) + 0.05 * rng.normal(size=(3, 3))
    springs = PointSprings.on(skin, points, place, K, damping=0.01 * K, force=rng.normal(size=3))
    rival, h = Rival(model, skin, points, springs), 1 / 60
    start, a = state.copy(), tree.accelerations(state, gravity=GRAVITY, springs=springs)[0]
    assert np.abs(rival.accelerations(state, state.q, state.v) - a).max() < 1e-6 * np.abs(a).max()
    tree.advance(state, h, gravity=GRAVITY, springs=springs)
    k = PULLED * h
    u = start.v + k * state.a  # in the middle of the step
    assert np.abs(start.q + h * u - state.q).max() < 1e-12
    assert np.abs(start.v + h * state.a - state.v).max() < 1e-12 * np.abs(state.v).max()
    residual = state.a - rival.accelerations(start, start.q + k * u, u)
    assert np.abs(residual).max() < 1e-6 * np.abs(state.a).max()  # differences of positions


def test_points_of_springs_are_nodes_of_the_whole() -> None:
    """Bent domains, some of another scale."""
    model = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    tree, skin = TreeDynamics(model), TreeSkin.of(model)
    assert np.ptp(model.scale) > 0.05
    points = [int(np.flatnonzero(skin.domain == d)[-1]) for d in range(model.domain_count)]
    state = random_state(tree, 6)
    motion = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    found = PointSprings.on(skin, points, np.zeros(3), 1.0).positions(model, motion)
    whole = whole_positions(model, state.q, state.frame)
    nodes = [skin.classes[model.domain_class[d]].node[skin.row[p]] for d, p in enumerate(points)]
    assert found == pytest.approx(np.array([x[n] for x, n in zip(whole, nodes)]), abs=1e-12)


def test_the_pull_of_springs_is_the_slope_of_their_energy() -> None:
    """-dE/dq along a way of q is the work of f - K (x - place) along the way of the points."""
    model = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    tree, skin, rng = TreeDynamics(model), TreeSkin.of(model), np.random.default_rng(2)
    points = [int(np.flatnonzero(skin.domain == d)[-1]) for d in (0, 2, 4)]
    K = np.array([400 * M @ M.T for M in rng.normal(size=(3, 3, 3))])
    place, force = skin.rest[points] + 0.1 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    springs, state = PointSprings.on(skin, points, place, K, force=force), random_state(tree, 6)
    way, e, kinematics = rng.normal(size=len(state.q)), 1e-5, TreeKinematics(model)

    def moved(by: float) -> TreeMotion:
        return kinematics.motion(state.q + by * way, state.v, state.frame, state.velocity)

    x, (behind, ahead) = springs.positions(model, moved(0.0)), (moved(-e), moved(e))
    pull = force - np.einsum("pij,pj->pi", K, x - place)
    work = np.sum(pull * (springs.positions(model, ahead) - springs.positions(model, behind)))
    assert springs.energy(model, behind) - springs.energy(model, ahead) == pytest.approx(work, rel=1e-6)


def leafy() -> TreeModel:
    """A stem with a leaf of a tenth of a gram."""
    stem, leaf = block_mesh((0.3, 0.01, 0.01), (8, 1, 1)), block_mesh((0.05, 0.02, 1e-4), (6, 2, 1))
    tip = face(stem, 0.3)
    kinds = {
        "stem": DomainTemplate(
            "stem", stem, Material(5e7, 0.3, 800), 8, face(stem, 0.0), {"tip": DomainInterface(tip, np.ones(4))}
        ),
        "leaf": DomainTemplate("leaf", leaf, Material(5e7, 0.3, 1000), 6, face(leaf, 0.0)),
    }
    return TreeModel.of(DomainTree(kinds, [Domain("stem"), Domain("leaf", 0, "tip")]))


def test_a_stiff_pull_on_a_leaf_is_stable_and_settles() -> None:
    model, h = leafy(), 1 / 30
    assert model.domain_mass[1] == pytest.approx(1e-4)
    tree, skin = TreeDynamics(model, mass_damping=3.0, stiffness_damping=0.02), TreeSkin.of(model)
    point = int(np.argmax(skin.rest[:, 0]))
    k = 1e4 * 4 * model.domain_mass[1] / h**2  # 4 m / h² is where a spring of the step before would diverge
    springs = PointSprings.on(skin, [point], skin.rest[point] + [0, 0.001, 0.005], k, damping=0.02 * k)
    state, kinematics, energies = tree.state(), TreeKinematics(model), []
    for _ in range(250):
        motion = kinematics.motion(state.q, state.v, state.frame, state.velocity)
        energies.append(motion.measures().energy(GRAVITY) + springs.energy(model, motion))
        tree.advance(state, h, gravity=GRAVITY, springs=springs)
    assert np.diff(energies).max() < 1e-3 * energies[0]  # damped: energy only falls, but for the scheme's own error
    rival, n = Rival(model, skin, [point], springs), len(state.q)

    def energy(q: Array) -> float:
        x = whole_positions(model, q, state.frame)
        d = x[rival.nodes[0][0]][rival.nodes[0][1]] - np.asarray(springs.place)[0]
        parts = [(model.classes[c].force, q[model.q_starts[c] : model.q_starts[c + 1]]) for c in (0, 1)]
        elastic = sum(float(force.energy(own[None])[0]) for force, own in parts if force is not None)
        return float(elastic + 0.5 * k * d @ d - rival.weight @ np.concatenate(x).ravel())

    e = 1e-4 * np.abs(state.q).max() * np.eye(n)
    slope = np.array([energy(state.q + d) - energy(state.q - d) for d in e]) / (2 * e[0, 0])
    curve = np.array([[energy(state.q + d + c) - energy(state.q + d - c) for d in e] for c in e])
    curve -= np.array([[energy(state.q - d + c) - energy(state.q - d - c) for d in e] for c in e])
    step = np.linalg.solve(curve / (4 * e[0, 0] ** 2), slope)
    assert np.abs(step).max() < 1e-3 * np.abs(state.q).max()  # the way to the balance, by Newton's method


def test_springs_of_a_scene_may_be_stiff() -> None:
    model = leafy()
    body = sp.TreeBody(model, mass_damping=3.0, stiffness_damping=0.02)
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(body, name="plant")
    tip = body.skin.rest[int(np.argmax(body.skin.rest[:, 0]))]
    target = tip + np.array([0.0, 0.0, 0.004])
    scene.add(sp.Springs(node.points(at=tip), sp.World.points(target), 3600.0, 70.0, rest_length=0.0))
    run = sp.run(scene, until=3.0, dt=1 / 30)
    seen = node.points(at=tip).mapping.apply(run.system.positions(run.state, "plant"))
    assert np.abs(seen - target).max() < 1e-4


def test_bad_springs_say_what_is_wrong() -> None:
    model = leafy()
    skin, tree = TreeSkin.of(model), TreeDynamics(model)
    with pytest.raises(InputError, match="out of range"):
        PointSprings.on(skin, [skin.count], np.zeros(3), 1.0)
    with pytest.raises(InputError, match="negative"):
        PointSprings.on(skin, [0], np.zeros(3), -1.0)
    with pytest.raises(InputError, match="symmetric"):
        PointSprings.on(skin, [0], np.zeros(3), np.array([[1.0, 1, 0], [0, 1, 0], [0, 0, 1]]))
    with pytest.raises(InputError, match="place"):
        PointSprings.on(skin, [0], np.zeros(2), 1.0)
    springs = PointSprings.on(skin, [0], np.zeros(3), 1.0)
    lumped = TreeDynamics(model, coupling="lumped", stiffness_damping=0.01)
    with pytest.raises(InputError, match="articulated"):
        lumped.advance(lumped.state(), 0.1, springs=springs)
    with pytest.raises(InputError, match="theta"):
        TreeSettings(theta=0.4)
    other = TreeModel.of(mixed_domain_tree(free=False, chain=False))
    with pytest.raises(InputError, match="not of this tree"):
        tree.advance(tree.state(), 0.1, springs=PointSprings.on(TreeSkin.of(other), [0], np.zeros(3), 1.0))


@pytest.mark.parametrize("k", [30.0, 3e5])
def test_a_point_of_a_seam_is_pulled_as_the_points_that_were_one(k: float) -> None:
    """However stiff the spring; where nothing is welded, the parent's point at the joint is pulled."""
    found = []
    for tree in (welded_beams(3, 6), beam_domain_tree(3, 6)):
        scene = sp.Scene()
        node = scene.add(sp.TreeBody(tree, stiffness_damping=0.01), name="branch")
        rest = node.body.rest_points
        point = int(np.flatnonzero(node.body.skin.domain == 1)[np.argmax(rest[node.body.skin.domain == 1, 0])])
        place = rest[point] + (0.0, 0.01, 0.03)
        scene.add(sp.Springs(node.points([point]), sp.World.points(place), k, damping=0.02 * k, rest_length=0.0))
        run = sp.run(scene, until=0.5, dt=1 / 50)
        found.append(node.points([point]).mapping.apply(run.system.positions(run.state, "branch"))[0] - rest[point])
    assert np.linalg.norm(found[0] - found[1]) < 0.01 * np.linalg.norm(found[1])


@pytest.mark.parametrize("tree", [beam_domain_tree(3, 6), welded_beams(3, 6)], ids=["own", "seam"])
@pytest.mark.parametrize("rest", [0.0, 0.05])
def test_springs_to_the_world_are_damped_as_any_others(rest: float, tree: DomainTree) -> None:
    """Stiffness and damping within the steps of a tree against the tangent of the springs themselves."""
    scene = sp.Scene()
    node = scene.add(sp.TreeBody(tree, stiffness_damping=0.01), name="branch")
    at_seam = np.isin(np.arange(node.body.skin.count), node.body.skin.seams) | (len(tree.welds) == 0)
    tip = int(np.argmax(np.where(at_seam, node.body.rest_points[:, 0], -np.inf)))
    place = node.body.rest_points[tip] + (0.02, 0.05, 0.1)
    law = sp.Springs(node.points([tip]), sp.World.points(place), stiffness=30.0, damping=0.7, rest_length=rest)
    scene.add(law)
    system = scene.compile()
    x = system.bodies[0].view_x(system.initial_state().x)
    pull = next(found for found in map(world_springs, system.forces) if found is not None)
    springs = springs_at([pull], node.body, x)
    ends = LocalState(0.0, np.stack([pull.points.apply(x)[0], place]), np.zeros((2, 3)))
    tangent, f = pull.force.linearize(ends), np.zeros((2, 3))
    for stiffness, damping, found in ((1.0, 0.0, springs.stiffness), (0.0, 1.0, springs.damping)):
        columns = []
        for axis in range(3):
            move, out = np.zeros((2, 3)), np.zeros((2, 3))
            move[0, axis] = 1.0
            tangent.add_product(move, out, stiffness, damping)
            columns.append(-out[0])
        assert np.sum(found, axis=0) == pytest.approx(np.array(columns).T, rel=1e-9)
    pull.force.add_force(ends, f)
    assert np.sum(springs.force, axis=0) == pytest.approx(f[0])
    assert springs.count == (2 if len(tree.welds) else 1)  # what is one at a seam hangs on two domains
