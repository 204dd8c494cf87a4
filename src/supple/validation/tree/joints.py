"""Joints of trees, and changes of a running tree: loops against finite elements, pendulums against theory.

The ring is a square frame of four bars, 0.5 m wide and 0.05 m thick, standing on its lowest one. Its domains form a
cycle, which is broken and closed again by a fixed joint. The rods are rigid, 0.5 x 0.02 x 0.02 m.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from supple.algebra.dense import rotations
from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    TreeBody,
    TreeDynamics,
    TreeKinematics,
    TreeMeasures,
    TreeModel,
    TreeSettings,
    TreeState,
    detach,
)
from supple.bodies.tree.detach import split
from supple.decompose import cut
from supple.decompose.cut_mesh import Decomposition
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.modal import ElasticSolid, Support
from supple.scene import BallJoint, FixedJoint, HingeJoint, Load, Scene, State, System
from supple.solvers import Partitioned
from supple.solvers.methods.implicit_euler import extent_of
from supple.validation.row import Row, bounded, compare
from supple.validation.tree.coupling import GRAVITY, beam_domain_tree, plain_model, random_state
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


def joined_compliance(modes: int, direction: int, *, is_closed: bool = True) -> tuple[float, float]:
    """The same of the tree in a scene, at rest after damped steps, closed by a fixed joint between two of its domains;
    and the largest violation of the joint on the way."""
    parts = ring(modes)
    settings = TreeSettings(theta=0.6)  # dissipates
    body = TreeBody(parts.domain_tree, mass_damping=2.0, stiffness_damping=0.2, settings=settings)
    scene = Scene(solver=Partitioned(0.2))
    node = scene.add(body, name="ring")
    X = node.rest
    for patch in parts.loop_patches(body) if is_closed else ():
        scene.add(FixedJoint(node, node, at=X[patch.a].mean(axis=0), patch_a=patch.a, patch_b=patch.b))
    where, force = _loaded(X), 1e-4
    f = np.zeros((len(where), 3))
    f[:, direction] = force / len(where)
    scene.add(Load(node.points(where), f))
    watched = watch(scene, 12.0)
    moved = body.point_mapping(where).apply(watched.system.positions(watched.states[-1], "ring")) - X[where]
    return float(moved[:, direction].mean()) / force, watched.violation


def loop() -> list[Row]:
    """The frame, closed by a joint, against finite elements."""
    rows, case = [], "tree/loop"
    for direction, name in ((0, "sideways"), (2, "downwards")):
        exact = ring_compliance(direction)
        value, worst = joined_compliance(30, direction)
        rows.append(compare(case, f"compliance {name}, closed", value, exact, 0.02, unit="m/N", source="FEM"))
        rows.append(bounded(case, f"violation of the joint, {name}", worst, 1e-8, source="size 1"))
    return rows


# --- joints


def rod_kind(name: str = "rod") -> DomainTemplate:
    """A rigid rod along x with an interface at its end."""
    mesh = block_mesh((ROD, THICK, THICK), (4, 1, 1))
    tip = face(mesh, ROD)
    return DomainTemplate(
        name, mesh, Material(1e9, 0.3, 1000), 0, interfaces={"tip": DomainInterface(tip, np.ones(len(tip)))}
    )


def rods(count: int) -> TreeModel:
    """A free tree of rigid rods in a row."""
    kind = rod_kind()
    domains = [Domain("rod"), *(Domain("rod", k, "tip") for k in range(count - 1))]
    return TreeModel.of(DomainTree({"rod": kind}, domains, free=True))


class Watched(NamedTuple):
    """A run, step by step. energies, kinetic (steps,) [J]; violation: largest |phi| over the size, or 1 of angles;
    rate: the same of phi' [1/s]."""

    system: System
    states: list[State]
    energies: Array
    kinetic: Array
    violation: float
    rate: float


def watch(scene: Scene, seconds: float) -> Watched:
    """Run a scene by its solver, and look at its energy and its joints after every step."""
    system, solver = scene.compile(), scene.solver
    state, states, energies, kinetic = system.initial_state(), [], [], []
    violation, rate, size = 0.0, 0.0, extent_of(system)
    for _ in range(round(seconds / solver.dt)):
        solver.step(system, state)
        kin = system.propagate(state.t, state.x, state.v)
        states.append(state.copy())
        kinetic.append(system.kinetic_energy(kin))
        energies.append(kinetic[-1] + system.potential_energy(kin))
        for _, slot, rows in system.joints:
            x, v = kin.x[slot.index], kin.v[slot.index]
            scale = np.where(rows.meets, size, 1.0)
            violation = max(violation, float(np.abs(rows.violation(x) / scale).max()))
            rate = max(rate, float(np.abs(rows.jacobian(x) @ v.ravel() / scale).max()))
    return Watched(system, states, np.array(energies), np.array(kinetic), violation, rate)


def down(angle: float) -> Array:
    """The rotation vector of a rod along x that hangs at an angle from straight down, turned about y."""
    return np.array([0.0, np.pi / 2 - angle, 0.0])


def angles(watched: Watched, name: str) -> Array:
    """The angle of a rod from straight down after each step, (steps,) [rad]."""
    turns = [watched.system.positions(state, name)[0, 3:7] for state in watched.states]
    d = np.array([rotations.rotate(turn, np.array([1.0, 0.0, 0.0])) for turn in turns])
    return np.arctan2(d[:, 0], -d[:, 2])


class Swing(NamedTuple):
    """period [s]; drift of the energy over the energy exchanged; largest violation."""

    period: float
    drift: float
    violation: float


def hinge_pendulum(amplitude: float = 0.3, dt: float = 1 / 120, seconds: float = 5.0) -> Swing:
    """Two rigid domains in a row, hung on a hinge."""
    scene, model = Scene(gravity=GRAVITY, solver=Partitioned(dt)), rods(2)
    node = scene.add(TreeBody(model), rotation=down(amplitude), name="rods")
    scene.add(HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0)))
    watched = watch(scene, seconds)
    a = angles(watched, "rods")
    lowest = np.flatnonzero((a[:-1] > 0) & (a[1:] <= 0))
    crossed = dt * (lowest + 1 + a[lowest] / (a[lowest] - a[lowest + 1]))
    exchanged = model.total_mass * 9.81 * ROD * (1 - np.cos(amplitude))
    return Swing(float(np.diff(crossed).mean()), float(np.ptp(watched.energies)) / exchanged, watched.violation)


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
    scene = Scene(gravity=GRAVITY, solver=Partitioned(dt))
    end = rotations.rotate(rotations.exp(down(first)), np.array([ROD, 0.0, 0.0]))
    above = scene.add(TreeBody(rods(1)), rotation=down(first), name="above")
    below = scene.add(TreeBody(rods(1)), at=end, rotation=down(second), name="below")
    scene.add(BallJoint(above, at=(0, 0, 0)))
    scene.add(BallJoint(above, below, at=end))
    watched = watch(scene, seconds)
    last = np.array([angles(watched, name)[-1] for name in ("above", "below")])
    return DoubleSwing(last, float(np.ptp(watched.energies) / np.ptp(watched.kinetic)), watched.violation)


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
    """Of a soft beam: largest violation, its rate [1/s], gain of energy over the kinetic one."""

    violation: float
    rate: float
    gain: float


def soft_pendulum(dt: float = 1 / 60, seconds: float = 1.0) -> SoftSwing:
    """A beam of four domains, soft and heavy, hung by a ball at its far end and let go from the horizontal."""
    scene = Scene(gravity=GRAVITY, solver=Partitioned(dt))
    whole = replace(beam_domain_tree(4, 10), free=True)
    node = scene.add(TreeBody(whole, stiffness_damping=0.002), name="beam")
    X = node.rest
    scene.add(BallJoint(node, at=X[X[:, 0] > X[:, 0].max() - 1e-9].mean(axis=0)))
    start = scene.compile()
    kin = start.propagate(0.0, start.x0, start.v0)
    watched = watch(scene, seconds)
    gain = float(watched.energies.max() - start.potential_energy(kin)) / float(watched.kinetic.max())
    return SoftSwing(watched.violation, watched.rate, gain)


def joints() -> list[Row]:
    """A hinge's period and a double pendulum on balls, of rigid domains."""
    case = "tree/joints"
    swing, exact = hinge_pendulum(), pendulum_period(0.3)
    double, expected = double_pendulum(1 / 240, 3.0), double_pendulum_angles(1.0)
    soft = soft_pendulum()
    at_one = double_pendulum(1 / 240, 1.0).angles
    off = np.abs(at_one - expected).max()
    return [
        compare(case, "period on a hinge", swing.period, exact, 1e-3, unit="s", source="elliptic integral"),
        bounded(case, "energy drift of the pendulum", swing.drift, 1e-2, source="conservation"),
        bounded(case, "violation of the hinge", swing.violation, 1e-8, source="size 1"),
        bounded(case, "double pendulum, angles at 1 s", off, 5e-3, unit="rad", source="ODE"),
        bounded(case, "energy drift in 3 s", double.drift, 1e-2, source="conservation"),
        bounded(case, "violation of the balls", double.violation, 1e-8, source="size 1"),
        bounded(case, "violation of a swinging soft beam", soft.violation, 1e-8, source="size 1"),
    ]


# --- breaking


def measures(tree: TreeDynamics, state: TreeState) -> TreeMeasures:
    """Energies and momenta of a tree."""
    return TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity).measures()


def break_error(*, free: bool, domain: int) -> tuple[float, float, float]:
    """What a break changes in a random state: energy, momentum over their sizes, and positions of all nodes [m]."""
    tree = TreeDynamics(plain_model(mixed_domain_tree(free=free, chain=False)))
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
