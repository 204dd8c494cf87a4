"""Ties between domains, and changes of a running tree: loops against finite elements, joints against theory.

The ring is a square frame of four bars, 0.5 m wide and 0.05 m thick, standing on its lowest one. Its domains form a
cycle, which is broken and closed again by a weld. The rods are rigid, 0.5 x 0.02 x 0.02 m.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial import KDTree
from scipy.special import ellipk

from supple.algebra.dense import rotations
from supple.bodies.tree import (
    Anchor,
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    LinkedTrees,
    Loads,
    Tie,
    TreeBody,
    TreeDynamics,
    TreeKinematics,
    TreeMeasures,
    TreeModel,
    TreeSettings,
    TreeState,
    WorldAnchor,
    detach,
)
from supple.bodies.tree.detach import split
from supple.bodies.tree.surface.skin import TreePoints, TreeSkin
from supple.decompose import cut
from supple.decompose.cut_mesh import Decomposition
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.modal import ElasticSolid, Support
from supple.scene import FixedJoint, Load, Scene
from supple.solvers import Partitioned
from supple.validation.row import Row, bounded, compare
from supple.validation.tree.coupling import GRAVITY, beam_domain_tree, random_state
from supple.validation.tree.reference import block_mesh, face, mixed_domain_tree, whole_positions

Array = np.ndarray
SIDE, BAR, DEPTH = 0.5, 0.05, 0.05
STEEL = Material(2e7, 0.3, 1000)
ROD, THICK = 0.5, 0.02


# --- a loop


@cache
def ring_mesh() -> TetMesh:
    """The frame, in the plane of x and z."""
    mesh = box_tets(size=(SIDE, DEPTH, SIDE), cells=(20, 2, 20))
    mesh = TetMesh(mesh.nodes - mesh.nodes.min(axis=0), mesh.tets)
    middle = mesh.nodes[mesh.tets].mean(axis=1)
    hole = (np.abs(middle[:, [0, 2]] - SIDE / 2) < SIDE / 2 - BAR).all(axis=1)
    used, tets = np.unique(mesh.tets[~hole], return_inverse=True)
    return TetMesh(mesh.nodes[used], tets.reshape(-1, 4))


@cache
def ring(modes: int) -> Decomposition:
    """The frame cut into its four bars, the cycle broken at its smallest interface."""
    mesh = ring_mesh()
    x, _, z = mesh.nodes[mesh.tets].mean(axis=1).T
    labels = np.select([z < BAR, z > SIDE - BAR, x < SIDE / 2], ["foot", "top", "left"], "right")
    return cut(mesh, labels, material=STEEL, modes=modes, fixed=_foot(mesh), cycles="break")


def _foot(mesh: TetMesh) -> Array:
    return np.flatnonzero(mesh.nodes[:, 2] < 1e-9)


def _loaded(nodes: Array) -> Array:
    """Points in the middle of the top."""
    return np.flatnonzero((nodes[:, 2] > SIDE - 1e-9) & (np.abs(nodes[:, 0] - SIDE / 2) < 0.06))


@cache
def ring_compliance(direction: int) -> float:
    """Mean move of the loaded nodes under a unit force shared by them, in the force's direction, by FEM [m/N]."""
    mesh = ring_mesh()
    load, where = np.zeros((len(mesh.nodes), 3)), _loaded(mesh.nodes)
    load[where, direction] = 1 / len(where)
    support = Support(ElasticSolid(mesh, STEEL), _foot(mesh))
    return float(load.ravel() @ support.static_response(load.reshape(-1, 1))[:, 0])


def tied_compliance(modes: int, direction: int, *, tied: bool = True, compliance: float = 0.0) -> tuple[float, float]:
    """The same of the tree, at rest after damped steps; and the largest violation of the tie on the way."""
    parts = ring(modes)
    model = TreeModel.of(parts.domain_tree)
    settings = TreeSettings(theta=0.6)  # dissipates
    tree = TreeDynamics(model, mass_damping=2.0, stiffness_damping=0.2, settings=settings)
    ties = [Tie(t.kind, t.a, t.b, compliance=compliance) for t in parts.loop_ties] if tied else []
    linked = LinkedTrees([tree], ties)
    skin = TreeSkin.of(model)
    where, force = _loaded(skin.rest), 1e-4
    f = np.zeros((len(where), 3))
    f[:, direction] = force / len(where)
    points = TreePoints(skin, where)
    x = np.zeros((1, 7 + model.coordinate_count))
    x[0, 3] = 1.0
    pulled = np.zeros((1, 6 + model.coordinate_count))
    points.linearize(x).add_transpose(f, pulled)
    states, worst = linked.states(), 0.0
    for _ in range(60):
        linked.advance(states, 0.2, loads=[Loads(pulled[0, 6:])])
        worst = max(worst, linked.violation(states)[0])
    x[0, 7:] = states[0].q
    return float((points.apply(x) - skin.rest[where])[:, direction].mean()) / force, worst


def loop() -> list[Row]:
    """The frame, closed by a weld, against finite elements; and left open, which is softer."""
    rows, case = [], "tree/loop"
    for direction, name in ((0, "sideways"), (2, "downwards")):
        exact = ring_compliance(direction)
        value, worst = tied_compliance(30, direction)
        rows.append(compare(case, f"compliance {name}, closed", value, exact, 0.02, unit="m/N", source="FEM"))
        rows.append(bounded(case, f"violation of the weld, {name}", worst, 1e-8, source="size 1"))
        value = joined_compliance(30, direction)
        rows.append(compare(case, f"compliance {name}, by a joint", value, exact, 0.02, unit="m/N", source="FEM"))
    return rows


def joined_compliance(modes: int, direction: int) -> float:
    """The same of the tree in a scene, closed by a fixed joint between two of its domains, at rest after 12 s."""
    parts = ring(modes)
    body = TreeBody(parts.domain_tree, mass_damping=2.0, stiffness_damping=0.2)
    scene = Scene()
    node = scene.add(body, name="ring")
    one, other = (body.point_region(parts.graph.names[k]) for k in parts.open[0].pair)
    X = node.rest
    patches = [a[KDTree(X[b]).query(X[a])[0] < 1e-6] for a, b in ((one, other), (other, one))]
    scene.add(FixedJoint(node, node, at=X[patches[0]].mean(axis=0), patch_a=patches[0], patch_b=patches[1]))
    where, force = _loaded(X), 1e-4
    f = np.zeros((len(where), 3))
    f[:, direction] = force / len(where)
    scene.add(Load(node.points(where), f))
    solver = Partitioned(0.2)
    system = scene.compile()
    solver.prepare(system)
    state = system.initial_state()
    for _ in range(60):
        solver.step(system, state)
    moved = body.point_mapping(where).apply(system.positions(state, "ring")) - X[where]
    return float(moved[:, direction].mean()) / force


# --- joints


def rod_kind(name: str = "rod") -> DomainTemplate:
    """A rigid rod along x with an interface at its end."""
    mesh = block_mesh((ROD, THICK, THICK), (4, 1, 1))
    tip = face(mesh, ROD)
    return DomainTemplate(
        name, mesh, Material(1e9, 0.3, 1000), 0, interfaces={"tip": DomainInterface(tip, np.ones(len(tip)))}
    )


def rods(count: int) -> TreeDynamics:
    """A free tree of rigid rods in a row."""
    kind = rod_kind()
    domains = [Domain("rod"), *(Domain("rod", k, "tip") for k in range(count - 1))]
    return TreeDynamics(TreeModel.of(DomainTree({"rod": kind}, domains, free=True)))


def measures(tree: TreeDynamics, state: TreeState) -> TreeMeasures:
    """Energies and momenta of a tree."""
    return TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity).measures()


def hanging(tree: TreeDynamics, angle: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> TreeState:
    """A state with the root's x axis at an angle from straight down, turned about y."""
    state = tree.state()
    state.frame[:3], state.frame[3:] = at, rotations.exp(np.array([0.0, np.pi / 2 - angle, 0.0]))
    return state


class Swing(NamedTuple):
    """period [s]; drift of the energy over the energy exchanged; largest violation; most passes of a step."""

    period: float
    drift: float
    violation: float
    passes: int


def hinge_pendulum(amplitude: float = 0.3, dt: float = 1 / 120, seconds: float = 5.0) -> Swing:
    """Two rigid domains in a row, hung on a hinge."""
    tree = rods(2)
    hinge = Tie("hinge", WorldAnchor(), Anchor(0), axis=(0, 1, 0))
    linked = LinkedTrees([tree], [hinge], [hanging(tree, amplitude)])
    states, angles, energies, worst, largest = linked.states(), [], [], 0.0, 0
    for _ in range(round(seconds / dt)):
        largest = max(largest, linked.advance(states, dt, gravity=GRAVITY))
        d = rotations.to_matrix(states[0].frame[3:])[:, 0]
        angles.append(np.arctan2(d[0], -d[2]))
        energies.append(measures(tree, states[0]).energy(GRAVITY))
        worst = max(worst, linked.violation(states)[0])
    a = np.array(angles)
    down = np.flatnonzero((a[:-1] > 0) & (a[1:] <= 0))
    crossed = dt * (down + 1 + a[down] / (a[down] - a[down + 1]))
    exchanged = tree.model.total_mass * 9.81 * ROD * (1 - np.cos(amplitude))
    return Swing(float(np.diff(crossed).mean()), float(np.ptp(energies)) / exchanged, worst, largest)


def pendulum_period(amplitude: float) -> float:
    """Of a rigid rod twice as long, hung at its end [s]."""
    length = 2 * ROD
    square = (length**2 / 3 + THICK**2 / 12) / (9.81 * length / 2)
    return float(4 * np.sqrt(square) * ellipk(np.sin(amplitude / 2) ** 2))


class DoubleSwing(NamedTuple):
    """angles (2,) of both rods at the end [rad]; drift of the energy over the energy exchanged; violation."""

    angles: Array
    drift: float
    violation: float


def double_pendulum(dt: float, seconds: float, first: float = 1.0, second: float = 0.4) -> DoubleSwing:
    """Two rigid rods, each a tree of its own, on ball joints; they stay in the plane of x and z."""
    trees = [rods(1), rods(1)]
    above = hanging(trees[0], first)
    end = rotations.rotate(above.frame[3:], np.array([ROD, 0.0, 0.0]))
    below = hanging(trees[1], second, tuple(end))
    ties = [Tie("ball", WorldAnchor(), Anchor(0)), Tie("ball", Anchor(0, interface="tip"), Anchor(0, tree=1))]
    linked = LinkedTrees(trees, ties, [above, below])
    states, energies, potential, worst = linked.states(), [], [], 0.0
    for _ in range(round(seconds / dt)):
        linked.advance(states, dt, gravity=GRAVITY)
        found = [measures(tree, state) for tree, state in zip(trees, states)]
        energies.append(sum(m.energy(GRAVITY) for m in found))
        potential.append(sum(m.kinetic for m in found))
        worst = max(worst, linked.violation(states)[0])
    angles = []
    for state in states:
        d = rotations.to_matrix(state.frame[3:])[:, 0]
        angles.append(np.arctan2(d[0], -d[2]))
    return DoubleSwing(np.array(angles), float(np.ptp(energies) / np.ptp(potential)), worst)


def double_pendulum_angles(seconds: float, first: float = 1.0, second: float = 0.4) -> Array:
    """The same by its Lagrangian in the two angles, to 1e-10 (2,) [rad]."""
    m, own = 1.0, (ROD**2 + THICK**2) / 12
    half = ROD / 2

    def rate(_: float, y: Array) -> Array:
        a, b, da, db = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array([[own + half**2 + ROD**2, ROD * half * c], [ROD * half * c, own + half**2]]) * m
        above = -ROD * half * s * db**2 - 9.81 * (half + ROD) * np.sin(a)
        f = m * np.array([above, ROD * half * s * da**2 - 9.81 * half * np.sin(b)])
        return np.concatenate([[da, db], np.linalg.solve(M, f)])

    found = solve_ivp(rate, (0.0, seconds), [first, second, 0.0, 0.0], rtol=1e-10, atol=1e-12)
    return np.asarray(found.y[:2, -1])


class SoftSwing(NamedTuple):
    """Of a soft beam: most passes, largest violation, its rate [1/s], gain of energy over the kinetic one."""

    passes: int
    violation: float
    rate: float
    gain: float


def soft_pendulum(dt: float = 1 / 60, seconds: float = 1.0) -> SoftSwing:
    """A beam of four domains, soft and heavy, hung by a ball at its far end and let go from the horizontal."""
    whole = beam_domain_tree(4, 10)
    tree = TreeDynamics(TreeModel.of(replace(whole, free=True)), stiffness_damping=0.002)
    linked = LinkedTrees([tree], [Tie("ball", WorldAnchor(), Anchor(3, interface="tip"))])
    states, largest, worst, rate, found = linked.states(), 0, 0.0, 0.0, []
    for _ in range(round(seconds / dt)):
        largest = max(largest, linked.advance(states, dt, gravity=GRAVITY))
        now = linked.violation(states)
        worst, rate = max(worst, now[0]), max(rate, now[1])
        found.append(measures(tree, states[0]))
    energies = [m.energy(GRAVITY) for m in found]
    return SoftSwing(largest, worst, rate, float(max(energies)) / max(m.kinetic for m in found))


def joints() -> list[Row]:
    """A hinge's period and a double pendulum on balls, of rigid domains."""
    case = "tree/joints"
    swing, exact = hinge_pendulum(), pendulum_period(0.3)
    double, angles = double_pendulum(1 / 240, 3.0), double_pendulum_angles(1.0)
    soft = soft_pendulum()
    at_one = double_pendulum(1 / 240, 1.0).angles
    return [
        compare(case, "period on a hinge", swing.period, exact, 1e-3, unit="s", source="elliptic integral"),
        bounded(case, "energy drift of the pendulum", swing.drift, 1e-2, source="conservation"),
        bounded(case, "violation of the hinge", swing.violation, 1e-8, source="size 1"),
        bounded(case, "double pendulum, angles at 1 s", np.abs(at_one - angles).max(), 5e-3, unit="rad", source="ODE"),
        bounded(case, "energy drift in 3 s", double.drift, 1e-2, source="conservation"),
        bounded(case, "violation of the balls", double.violation, 1e-8, source="size 1"),
        bounded(case, "violation of a swinging soft beam", soft.violation, 1e-8, source="size 1"),
    ]


# --- breaking


def break_error(*, free: bool, domain: int) -> tuple[float, float, float]:
    """What a break changes in a random state: energy, momentum over their sizes, and positions of all nodes [m]."""
    tree = TreeDynamics(TreeModel.of(mixed_domain_tree(free=free, chain=False)))
    state = random_state(tree, 7)
    parts = detach(tree, state, domain)
    whole, rest, branch = (
        measures(*pair) for pair in ((tree, state), (parts.rest, parts.rest_state), (parts.branch, parts.branch_state))
    )
    energy = abs(whole.energy(GRAVITY) - rest.energy(GRAVITY) - branch.energy(GRAVITY))
    momentum = np.abs(whole.momentum - rest.momentum - branch.momentum).max()
    x = whole_positions(tree.model, state.q, state.frame)
    y = whole_positions(parts.rest.model, parts.rest_state.q, parts.rest_state.frame)
    z = whole_positions(parts.branch.model, parts.branch_state.q, parts.branch_state.frame)
    numbers = [part.domains for part in split(tree.model, domain)]
    moved = max(np.abs(x[k] - at).max() for part, ats in zip(numbers, (y, z)) for k, at in zip(part, ats))
    return energy / abs(whole.kinetic), float(momentum / np.abs(whole.momentum).max()), float(moved)


def detaching() -> list[Row]:
    """Energy, momentum and positions of the parts against those of the whole."""
    rows, case = [], "tree/detaching"
    for free in (False, True):
        energy, momentum, moved = break_error(free=free, domain=2)
        name = "free root" if free else "fixed root"
        rows += [
            bounded(case, f"energy, {name}", energy, 1e-12, source="the whole"),
            bounded(case, f"momentum, {name}", momentum, 1e-12, source="the whole"),
            bounded(case, f"positions, {name}", moved, 1e-12, unit="m", source="the whole"),
        ]
    return rows


CASES = {"tree/loop": loop, "tree/joints": joints, "tree/detaching": detaching}
