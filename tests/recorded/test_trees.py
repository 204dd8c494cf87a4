"""Recorded numbers of trees of domains: accelerations, steps of all couplings, what a frame asks, contacts, wind."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from tests.recorded.making import GRAVITY, GUM, cut_tree, mixed_model, moved, random, rotation, scene_of, surface, tree
from tests.recorded.recording import Recorded, Values

import supple as sp
from supple.bodies.tree import (
    LinearizedTree,
    PointSprings,
    TreeBody,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    TreeState,
    detach,
    replaced,
    retuned,
)
from supple.bodies.tree.surface.reconstruction import Reconstruction
from supple.errors import SuppleWarning

recorded = Recorded(__name__)
TREES = {"free": (True, False), "free chain": (True, True), "fixed": (False, False), "fixed chain": (False, True)}
DAMPING = {"mass_damping": [0.3, 0.5, 0.2, 0.7, 0.4], "stiffness_damping": [0.003, 0.002, 0.004, 0.001, 0.005]}


def bent_state(model: TreeModel) -> TreeState:
    n = model.coordinate_count
    state = TreeState.at_rest(n)
    state.q[:], state.v[:] = 2e-3 * random(n, seed=1), 0.1 * random(n, seed=2)
    state.frame[:3], state.frame[3:] = (0.3, -0.2, 0.5), rotation([0.4, 0.7, -0.3])
    if model.is_free:
        state.velocity[:] = (0.2, 0.5, -0.1, 1.0, -2.0, 0.5)
    return state


def loads(model: TreeModel) -> dict[str, Any]:
    return {
        "gravity": GRAVITY,
        "forces": 0.1 * random(model.coordinate_count, seed=3),
        "wrenches": 0.05 * random(model.domain_count, 6, seed=4),
        "push": (0.3, -0.2, 0.1, 0.02, 0.03, -0.05) if model.is_free else None,
    }


@recorded.over(TREES)
def accelerations(given: tuple[bool, bool]) -> Values:
    model = mixed_model(*given)
    dynamics = TreeDynamics(model, **DAMPING)
    state = bent_state(model)
    return {"loaded": list(dynamics.accelerations(state, **loads(model))), "free": list(dynamics.accelerations(state))}


STEPS = {
    "articulated": {},
    "converged": {"settings": sp.TreeSettings(converge=True, epsilon=1e-10)},
    "implicit": {"settings": sp.TreeSettings(theta=0.8, passes=3)},
    "first forces": {"settings": sp.TreeSettings(renew_forces=False, theta=0.6)},
    "composite": {"coupling": "composite"},
    "centroid": {"coupling": "centroid"},
    "lumped": {"coupling": "lumped"},
    "lumped without torque": {"coupling": "lumped", "torque": False},
    "composite without torque": {"coupling": "composite", "torque": False},
}


@recorded.over(
    {
        f"{name}, {kind}": (name, kind)
        for name in STEPS
        for kind in ("free", "fixed chain", "fixed")
        if kind != "free" or "coupling" not in STEPS[name]
    }
)
def steps(given: tuple[str, str]) -> Values:
    model = mixed_model(*TREES[given[1]])
    dynamics = TreeDynamics(model, **DAMPING, **STEPS[given[0]])
    state = bent_state(model)
    for _ in range(2):
        dynamics.advance(state, 0.004, steps=2, **loads(model))
    return {"q": state.q, "v": state.v, "a": state.a, "frame": state.frame, "velocity": state.velocity}


@recorded.over({"theta": {"theta": 0.9}, "blown": {"is_blown": True}, "passes": {"more_passes": 2}})
def ways_to_step(options: dict[str, Any]) -> Values:
    model = mixed_model(False, True)
    dynamics = TreeDynamics(model, **DAMPING)
    state = bent_state(model)
    dynamics.advance(state, 0.004, steps=3, **loads(model), **options)
    return {"q": state.q, "v": state.v}


@recorded.over(TREES)
def motion(given: tuple[bool, bool]) -> Values:
    """Frames, momenta and energies by the kinematics, and by the kernels of a frame."""
    model = mixed_model(*given)
    body, state = tree(*given), bent_state(model)
    found = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    x, v = np.zeros((1, body.coordinates.x_width)), np.zeros((1, body.coordinates.v_width))
    body.pack(state, x, v)
    measured = body.measures(x, v)
    points = body.point_mapping(np.array([0, 3, 11, 40, 66]))
    tangent = points.linearize(x)
    pulled, geometric = np.zeros_like(v), np.zeros_like(v)
    f = random(5, 3, seed=6)
    tangent.add_transpose(f, pulled)
    tangent.add_geometric(f, v, geometric, 1.3)
    forces = found.pull(random(model.coordinate_count, seed=7), random(model.domain_count, 6, seed=8))
    made = [body.render_surface().skin.positions(x), Reconstruction.volume(model).positions(found)]
    return {
        "R": found.R, "o": found.o, "u": found.u, "w": found.w, "margin": found.margin, "pulled back": list(forces),
        "measures": list(found.measures()), "measured": list(measured), "energy": measured.energy(np.array(GRAVITY)),
        "gap": body.largest_gap(x), "deviation": body.deviation.largest(x), "points": points.apply(x),
        "velocities": tangent.product(v), "pulled": pulled, "bias": tangent.bias(v), "geometric": geometric,
        "skin": made[0], "volume": made[1], "carriage": body.skin.carriage(x),
        "inverted": body.inversion_check(body.rest_points).inverted(x),
    }  # fmt: skip


@recorded.over({name: given for name, given in TREES.items() if "chain" in name})
def linearized(given: tuple[bool, bool]) -> Values:
    model = mixed_model(*given)
    found = LinearizedTree.of(TreeDynamics(model))
    f = random(model.coordinate_count)
    return {
        "mass": found.inverse_mass,
        "stiffness": found.stiffness,
        "modes": found.frequencies(4),
        "moved": found.deflection(f),
    }


@recorded.over({"free": (True, False), "fixed": (False, True)})
def model(given: tuple[bool, bool]) -> Values:
    m = mixed_model(*given)
    patches, triangles = tree(*given).wind_patches
    x = tree(*given).rest_coordinates
    return {
        "mass": [m.total_mass, m.domain_mass],
        "damping": list(m.damping_at_ratio(0.03, 0.07)) if given[1] else 0.0,
        "numbers": [m.q_starts, m.levels, m.mode_counts, m.domain_class],
        "scales": [m.scale, m.density, m.tuning],
        "patches": [patches.apply(x), triangles],
        "thinned": tree(*given).skin.thinned(80).triangles,
    }


@recorded.case
def changed() -> Values:
    """Retuned, with another kind, and broken, from a state in motion."""
    dynamics = TreeDynamics(mixed_model(), **DAMPING)
    state = bent_state(dynamics.model)
    tuned = retuned(dynamics, frequency_factor=[1.3, 0.8, 1.1, 1.2, 0.9], density_factor=[1.1, 0.9, 1.2, 0.7, 1.0])
    parts = detach(tuned, state, 2)
    other, then = replaced(tuned, state, 4, "k1")
    return {
        "tuned": list(tuned.accelerations(state, **loads(tuned.model))),
        "rest": numbers(parts.rest_state),
        "branch": numbers(parts.branch_state),
        "branch, stepped": list(parts.branch.accelerations(parts.branch_state, gravity=GRAVITY)),
        "replaced": numbers(then),
        "replaced, stepped": list(other.accelerations(then, gravity=GRAVITY)),
    }


def numbers(state: TreeState) -> list[np.ndarray]:
    return [state.q, state.v, state.frame, state.velocity]


@recorded.over({"free": (True, False), "fixed chain": (False, True)})
def pulled(given: tuple[bool, bool]) -> Values:
    """By springs on points, solved within a step."""
    body = tree(*given)
    model, state = body.model, bent_state(body.model)
    found = TreeKinematics(model).motion(state.q, state.v, state.frame, state.velocity)
    K = [np.diag([30.0, 70.0, 20.0]), np.diag([10.0, 40.0, 90.0]), 50 * np.eye(3)]
    places = body.rest_points[[4, 30, 51]] + (0.3, -0.2, 0.52)
    springs = PointSprings.on(
        body.skin, [4, 30, 51], places, K, damping=0.3, force=(0.1, 0.2, -0.1), velocity=(0.2, 0, 0.1)
    )
    said = {"at": springs.positions(model, found), "energy": springs.energy(model, found)}
    accelerations = list(body.dynamics.accelerations(state, springs=springs, gravity=GRAVITY))
    body.dynamics.advance(state, 0.004, steps=3, gravity=GRAVITY, springs=springs)
    return said | {"accelerations": accelerations, "stepped": numbers(state)}


ACTS = {
    "nothing": lambda s, n: None,
    "wind": lambda s, n: s.add(sp.Wind(n, (3.0, -4.0, 1.5), intensity=0.3, length=0.7, modes=12, seed=4)),
    "springs": lambda s, n: s.add(
        sp.Springs(n.points([4, 30]), sp.World.points([(0.5, 0.2, 0.4), (0.1, 0.4, 0.2)]), [300.0, 70.0], [0.3, 0.7])
    ),
    "floor": lambda s, n: s.add(sp.Floor(float(n.rest[:, 2].min()) + 0.001, friction=0.37)),
    "self-contact": lambda s, n: s.add(sp.Contact(friction=0.4, self_contact=[n])),
    "box": lambda s, n: _thrown(s, n, sp.RigidBody.box((0.12, 0.08, 0.06), density=510.0)),
    "fem": lambda s, n: _thrown(s, n, sp.FemBody(sp.box_tets((0.1, 0.07, 0.05), (2, 1, 1)), GUM)),
}  # fmt: skip


def _thrown(scene: sp.Scene, node: sp.Node, body: Any) -> None:
    top = node.rest[np.argmax(node.rest[:, 2])]
    scene.add(body, at=top + 0.047, rotation=(0.3, 0.2, 0.1), velocity=(-0.2, 0.1, -2.0), name="thrown")
    scene.add(sp.Contact(friction=0.43))


@recorded.over({f"{a}, {kind}": (a, kind) for a in ACTS for kind in ("free", "fixed")}, rtol=1e-6)
def scenes(given: tuple[str, str]) -> Values:
    """Trees in a scene by the method that suits it."""
    scene = sp.Scene(gravity=GRAVITY)
    free = given[1] == "free"
    start = {"velocity": (0.2, 0.5, -0.3), "spin": (1, -2, 0.5)} if free else {}
    node = scene.add(tree(free), name="body", at=(0.3, -0.2, 0.5), rotation=(0.4, -0.7, 0.3), **start)
    ACTS[given[0]](scene, node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        return moved(scene, steps=4, dt=0.004)


@recorded.case
def a_cut_tree_with_a_surface() -> Values:
    body = TreeBody(cut_tree(), stiffness_damping=0.003, surface=surface(3).scaled(0.35).moved(at=(0.06, 0.02, -0.02)))
    scene, _ = scene_of(body)
    x = body.coordinates.retract(body.place(scene.nodes[0].placement).x, 1e-3 * random(1, body.coordinates.v_width))
    return moved(scene) | {"seen": body.render_surface().skin.positions(x), "shown": body.seen.carriage(x)}


@recorded.case
def a_grown_tree() -> Values:
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(tree(False, grown=True), at=(0.3, -0.2, 0.5), rotation=(0.4, -0.7, 0.3), name="body")
    scene.add(sp.Load(node.points([0, 7]), (0.1, 0.2, 0.3)))
    return moved(scene, sp.TreeSolver(0.004, steps=2))


test_recorded = recorded.test()
