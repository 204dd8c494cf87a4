"""A flower of twelve domains beside unreduced finite elements [BZ11, fig. 7], and its interfaces [BZ11, fig. 3].

Both start at rest with a velocity along the first mode of the whole mesh. The unreduced one takes Newmark's steps, of
second order as those of the tree, each iterated to convergence, with the same stiffness-proportional damping:

    x_1 = x_p + h²/4 a_1,   v_1 = v_p + h/2 a_1,      M a_1 + f(x_1) + beta K(x_0) v_1 = 0

K of the start of a step damps the turning of the stem too, as beta h does: beta is small for that. What is compared is
the top of the bloom, along its first motion, against time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse.linalg

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.tree import (
    LinearizedTree,
    OneWayWarning,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    TreeMotion,
    TreeSettings,
)
from supple.bodies.tree.dynamics import Coupling
from supple.errors import ConvergenceError
from supple.examples.shapes import flower, flower_mesh
from supple.geometry import Region, TetMesh
from supple.material import Material
from supple.modal import ElasticSolid, Support, linear_modes
from supple.scene import Scene
from supple.validation.figure import COLOURS, GREY, INK, make_figure, save_figure
from supple.validation.row import Row, compare
from supple.validation.tree.reference import best_frame

Array = np.ndarray
DAMPING = 1e-4
"""Stiffness-proportional, of all of them [s]: one-way couplings gain energy without."""
STEP, COARSE, FINE = 1 / 480, 1 / 240, 1 / 960
"""Of the unreduced flower's large motion, of all small ones, and of the reduced flower's large motion [s]."""
SMALL, LARGE = 0.02, 3.0
"""Velocities of the top of the bloom at the start [m/s]: of a small motion, and of a stem bent by 45 degrees."""
SECONDS = 0.55
"""A little more than a period."""
BLOOM = 1
PATIENCE = 3
"""Iterations of a step after which its matrix is factored anew."""
SETTLED = 1e-5
"""Of the forces: the residual of a step of the unreduced flower."""
ROUND_OFF = 1e-8
"""Of the sum of its elastic forces [N]."""
NAMES: tuple[tuple[str, Coupling], ...] = (("L1", "lumped"), ("L2", "centroid"), ("articulated", "articulated"))


class Whole(NamedTuple):
    """The unreduced flower. shape (n, 3): first mode, 1 at the top of the bloom; frequency [Hz]; top: its node.

    along (3,): the direction in which the mode moves it. stem_end: nodes that stem and bloom share.
    """

    mesh: TetMesh
    materials: dict[str, Material]
    held: Array
    shape: Array
    frequency: float
    top: int
    along: Array
    stem_end: Array


class Swing(NamedTuple):
    """times (k,) [s]; tip (k,): way of the bloom's top along its first motion [m]; bend (k,): of the stem's end [°]."""

    times: Array
    tip: Array
    bend: Array

    @property
    def period(self) -> float:
        """Time of the last whole oscillation's end, over their number [s]."""
        up = np.flatnonzero((self.tip[1:-1] < 0) & (self.tip[2:] >= 0)) + 1
        x0, x1 = self.tip[up[-1]], self.tip[up[-1] + 1]
        end = self.times[up[-1]] + (self.times[up[-1] + 1] - self.times[up[-1]]) * x0 / (x0 - x1)
        return float(end / len(up))

    @property
    def amplitude(self) -> float:
        """The largest way of the bloom's top [m]."""
        return float(np.abs(self.tip).max())


@cache
def whole_flower() -> Whole:
    """The flower's mesh with the materials of its domains, and its first mode."""
    bare, labels, names = flower_mesh()
    domain_tree = flower()
    mesh = bare.with_regions({n: Region(elements=np.flatnonzero(labels == k)) for k, n in enumerate(names)})
    materials = {}
    for name in names:
        stuff = domain_tree.kinds[name].material
        assert isinstance(stuff, Material)
        materials[name] = replace(stuff, stiffness_damping=0.0)
    nodes = [np.unique(mesh.tets[labels == k]) for k in range(len(names))]
    held = nodes[0][domain_tree.kinds[names[0]].held]
    modes = linear_modes(Support(ElasticSolid(mesh, materials), held), 1)
    top = int(nodes[BLOOM][np.argmax(mesh.nodes[nodes[BLOOM], 2])])
    shape = modes.shapes[:, 0].reshape(-1, 3)
    size = float(np.linalg.norm(shape[top]))
    shared = np.intersect1d(nodes[0], nodes[BLOOM])
    return Whole(mesh, materials, held, shape / size, float(modes.frequencies[0]), top, shape[top] / size, shared)


@cache
def reduced_flower() -> TreeModel:
    """The flower's twelve domains of 20 coordinates each."""
    return TreeModel.of(flower())


@cache
def first_rates() -> Array:
    """Rates of the coordinates (n,) nearest, by mass, to the first mode of the whole."""
    whole, model = whole_flower(), reduced_flower()
    _, labels, names = flower_mesh()
    tree = TreeDynamics(model)
    state = tree.state()
    forces, wrenches = np.zeros(model.coordinate_count), np.zeros((model.domain_count, 6))
    for k, name in enumerate(names):
        kind, reduced = model.domain_tree.kinds[name], model.classes[model.domain_class[k]]
        own = np.unique(whole.mesh.tets[labels == k])
        p = ElasticSolid(kind.mesh, kind.material).node_mass @ whole.shape[own]
        forces[model.q_starts[k] : model.q_starts[k + 1]] = reduced.U.T @ p.ravel()
        wrenches[k] = [*np.cross(kind.mesh.nodes, p).sum(axis=0), *p.sum(axis=0)]
    motion = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    return LinearizedTree.of(tree).inverse_mass @ motion.pull(forces, wrenches)[0]


def tree_motions(coupling: Coupling, speed: float, *, dt: float = STEP) -> Iterator[TreeMotion]:
    """Frames of the reduced flower, step by step, from a velocity of the bloom's top along the first mode [m/s]."""
    tree = flower_tree(coupling)
    kinematics, state = TreeKinematics(tree.model), tree.state()
    state.v[:] = speed * first_rates()
    for _ in range(round(SECONDS / dt)):
        tree.advance(state, dt)
        yield kinematics.motion(state.q.copy(), state.v.copy(), state.frame, state.velocity)


@cache
def tree_swing(coupling: Coupling, speed: float, *, dt: float = STEP) -> Swing:
    """The reduced flower, from a velocity of the bloom's top along the first mode [m/s]."""
    whole, model = whole_flower(), reduced_flower()
    kind = model.classes[model.domain_class[BLOOM]]
    own = slice(model.q_starts[BLOOM], model.q_starts[BLOOM + 1])
    node = int(np.argmin(np.linalg.norm(whole.mesh.nodes[whole.top] - _rest_nodes(model, BLOOM), axis=1)))
    tip, bend = [0.0], [0.0]
    for motion in tree_motions(coupling, speed, dt=dt):
        at = motion.o[BLOOM] + motion.R[BLOOM] @ kind.positions(motion.q[own])[node]
        tip.append(float((at - whole.mesh.nodes[whole.top]) @ whole.along))
        bend.append(turned(motion.R[BLOOM]))
    return Swing(dt * np.arange(len(tip)), np.array(tip), np.array(bend))


def flower_tree(coupling: Coupling) -> TreeDynamics:
    """The reduced flower with its damping; one-way couplings are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneWayWarning)
        return TreeDynamics(
            reduced_flower(),
            coupling=coupling,
            stiffness_damping=DAMPING,
            settings=TreeSettings(passes=3, renew_forces=True),
        )


def turned(R: Array) -> float:
    """Angle of a rotation matrix [°]."""
    return float(np.degrees(np.arccos(np.clip((np.trace(R) - 1) / 2, -1.0, 1.0))))


def _rest_nodes(model: TreeModel, number: int) -> Array:
    frame = model.domain_tree.rest_frames[number]
    return frame[:3] + rotations.rotate(frame[3:], model.classes[model.domain_class[number]].nodes)


@cache
def full_swing(speed: float, *, dt: float = STEP) -> Swing:
    """The unreduced flower, likewise. The matrix of its iteration is factored anew whenever that gets slow."""
    whole = whole_flower()
    scene = Scene()
    scene.add(FemBody(whole.mesh, whole.materials, law="stvk", mass="consistent"))
    system = scene.compile()
    x, still = system.initial_state().x, np.zeros(system.v_size)
    free = np.setdiff1d(np.arange(system.v_size), (3 * whole.held[:, None] + np.arange(3)).ravel())

    def stiffness(x: Array) -> scipy.sparse.csc_array:
        matrix = system.linearize(system.propagate(0.0, x, still)).assemble(stiffness=-1.0)
        assert matrix is not None
        return scipy.sparse.csc_array(matrix.to_scipy())[free][:, free]

    def force(x: Array) -> Array:
        return system.force(system.propagate(0.0, x, still))[free]

    by_q, by_v, K = dt * dt / 4, DAMPING * dt / 2, stiffness(x)
    M = scipy.sparse.csc_array(system.linearize(system.propagate(0.0, x, still)).matrix(mass=1.0))[free][:, free]
    v, solve = speed * whole.shape.ravel()[free], _factor(M + (by_q + by_v) * K)
    a = scipy.sparse.linalg.spsolve(M, force(x) - DAMPING * (K @ v))
    tip, bend = [0.0], [0.0]
    ends, weights = whole.mesh.nodes[whole.stem_end], np.ones(len(whole.stem_end))
    for k in range(round(SECONDS / dt)):
        x_p, v_p = x.copy(), v + dt / 2 * a
        x_p[free] += dt * v + by_q * a
        K = stiffness(x)
        for iteration in range(60):
            x, v = x_p.copy(), v_p + dt / 2 * a
            x[free] += by_q * a
            inner, damped = force(x), DAMPING * (K @ v)
            rest = inner - damped - M @ a
            size = float(np.linalg.norm(inner) + np.linalg.norm(damped))
            if np.linalg.norm(rest) <= max(ROUND_OFF, SETTLED * size):
                break
            if iteration % PATIENCE == PATIENCE - 1:
                solve = _factor(M + by_q * stiffness(x) + by_v * K)
            a = a + solve(rest)
        else:
            raise ConvergenceError(f"step {k} of the unreduced flower did not converge", fix="Take smaller steps.")
        now = x.reshape(-1, 3)
        tip.append(float((now[whole.top] - whole.mesh.nodes[whole.top]) @ whole.along))
        bend.append(turned(best_frame(now[whole.stem_end], ends, weights, np.eye(3))[1]))
    return Swing(dt * np.arange(len(tip)), np.array(tip), np.array(bend))


def _factor(A: scipy.sparse.csc_array) -> Callable[[Array], Array]:
    options = {"SymmetricMode": True}
    return scipy.sparse.linalg.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options).solve


def small_motion() -> list[Row]:
    """First frequencies, by eigenvalues and by the time of an oscillation of 0.3 degrees, beside unreduced ones."""
    rows, case, source, full = [], "tree/flower", "unreduced finite elements", whole_flower().frequency
    exact = full_swing(SMALL, dt=COARSE)
    rows.append(
        compare(
            case, "unreduced: oscillation against eigenvalue", 1 / exact.period, full, 0.003, unit="Hz", source="modes"
        )
    )
    for name, coupling in NAMES:
        limit = 0.03 if coupling == "articulated" else np.inf
        value = LinearizedTree.of(flower_tree(coupling)).frequencies(1)[0]
        rows.append(compare(case, f"{name}: first eigenvalue", value, full, limit, unit="Hz", source=source))
        value = 1 / tree_swing(coupling, SMALL, dt=COARSE).period
        rows.append(compare(case, f"{name}: oscillation", value, 1 / exact.period, limit, unit="Hz", source=source))
    return rows


def large_motion() -> list[Row]:
    """The stem bent by about 45 degrees [BZ11, fig. 7]: period and amplitude beside unreduced ones, without limits."""
    rows, case, source = [], "tree/fig7", "unreduced finite elements"
    exact = full_swing(LARGE, dt=STEP)
    rows.append(
        compare(case, "unreduced: largest bend of the stem", exact.bend.max(), 45, 0.1, unit="°", source="the set-up")
    )
    for name, coupling in NAMES:
        found = tree_swing(coupling, LARGE, dt=FINE)
        for label, unit in (("period", "s"), ("amplitude", "m")):
            value, expected = getattr(found, label), getattr(exact, label)
            rows.append(compare(case, f"{name}: {label}", value, expected, np.inf, unit=unit, source=source))
        rows.append(
            compare(case, f"{name}: largest bend", found.bend.max(), exact.bend.max(), np.inf, unit="°", source=source)
        )
    one, two = (tree_swing("articulated", LARGE, dt=dt) for dt in (FINE, FINE / 2))
    for label, unit in (("period", "s"), ("amplitude", "m")):
        value, expected = getattr(one, label), getattr(two, label)
        rows.append(compare(case, f"articulated: {label}", value, expected, 0.01, unit=unit, source="half the step"))
    return rows


def draw_large_motion(path: Path) -> None:
    """Way of the bloom's top against time, small and large: unreduced, lumped, at the centroid, articulated."""
    figure, axes = make_figure(8.0, 5.5, rows=2)
    for ax, speed, dt in zip(axes[:, 0], (SMALL, LARGE), (COARSE, STEP)):
        exact = full_swing(speed, dt=dt)
        ax.plot(exact.times, 1e3 * exact.tip, color=INK, linewidth=2, label="unreduced")
        for (name, coupling), colour in zip(NAMES, (COLOURS[2], COLOURS[1], COLOURS[0])):
            found = tree_swing(coupling, speed, dt=COARSE if speed == SMALL else FINE)
            style = "-" if coupling == "articulated" else "--"
            ax.plot(found.times, 1e3 * found.tip, style, color=colour, label=name)
        ax.axhline(0, color=GREY, linewidth=0.5)
        ax.set_ylabel("top of the bloom [mm]")
        ax.set_title(f"stem bent by {exact.bend.max():.2g}°", fontsize=10)
    axes[1, 0].set_xlabel("time [s]")
    axes[0, 0].legend(fontsize=8, frameon=False)
    save_figure(figure, path)


CASES = {"tree/flower": small_motion, "tree/fig7": large_motion}
PICTURES = {"tree/fig7": draw_large_motion}
