"""Trees of reduced domains against a brute-force Lagrangian, unreduced finite elements, and conservation laws.

The beam is 1.6 x 0.1 x 0.1 m, held at one end, of linear tets with consistent masses, cut into equal domains.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree import (
    Domain,
    DomainInterface,
    DomainTemplate,
    DomainTree,
    LinearizedTree,
    OneWayWarning,
    TreeBody,
    TreeDynamics,
    TreeKinematics,
    TreeModel,
    TreeSettings,
    TreeState,
)
from supple.errors import BasisWarning
from supple.geometry import HexMesh, TetMesh
from supple.material import Material
from supple.modal import ElasticSolid, Support, linear_modes
from supple.validation.row import Row, bounded, compare
from supple.validation.tree.reference import (
    block_mesh,
    face,
    lagrangian_accelerations,
    mixed_domain_tree,
    mixed_kind,
    whole_mass,
)

Array = np.ndarray
LENGTH, SIDE, CELLS = 1.6, 0.1, 32
BEAM = Material(2e7, 0.3, 1000)
GRAVITY = np.array([0.0, 0.0, -9.81])
COUPLINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("L1", {"coupling": "lumped"}),
    ("L1, no torque", {"coupling": "lumped", "torque": False}),
    ("L2", {"coupling": "centroid"}),
    ("L2, no torque", {"coupling": "centroid", "torque": False}),
    ("L3c", {"coupling": "composite"}),
    ("L3a", {"coupling": "articulated"}),
)


# first frequency and tip deflection over those of the unreduced beam, with 2, 4 and 8 domains; an independent dense
# computation, with the full basis for 2 domains. Deflections are to two digits; those with torque are 1.
ONE_WAY = {
    "L1": ((1.766, 4.28, 10.6), (1.0, 1.0, 1.0)),
    "L1, no torque": ((1.766, 4.28, 10.6), (0.44, 0.21, 0.10)),
    "L2": ((1.060, 1.296, 1.709), (1.0, 1.0, 1.0)),
    "L2, no torque": ((1.400, 2.49, 4.71), (0.44, 0.21, 0.10)),
    "L3c": ((1.026, 1.193, 1.527), (1.0, 1.0, 1.0)),
}


# --- the Lagrangian


def plain_model(tree: DomainTree, **options: bool) -> TreeModel:
    """Reduced without static responses. That it stretches too little is not told: its rival is the Lagrangian of the
    same basis, or a tree of the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BasisWarning)
        return TreeModel.of(tree, statics=False, **options)


def random_state(tree: TreeDynamics, seed: int) -> TreeState:
    """A tree deformed, moving and turned by random numbers."""
    rng, state, n = np.random.default_rng(seed), tree.state(), tree.model.coordinate_count
    state.q[:], state.v[:] = 0.1 * rng.normal(size=n), 0.8 * rng.normal(size=n)
    state.frame[3:] = rotations.exp(rng.normal(size=3))
    if tree.model.is_free:
        state.velocity[:] = rng.normal(size=6)
    return state


def acceleration_error(*, free: bool, chain: bool, coupling: str = "articulated") -> float:
    """Relative error of q" and the root's acceleration in a random state, under gravity and random forces."""
    model = plain_model(mixed_domain_tree(free=free, chain=chain), keep=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneWayWarning)
        tree = TreeDynamics(model, coupling=coupling)  # type: ignore[arg-type]
    state, rng = random_state(tree, 3), np.random.default_rng(4)
    forces, m = 3 * rng.normal(size=model.coordinate_count), whole_mass(model)
    a, root = tree.accelerations(state, gravity=GRAVITY, forces=forces)
    weight = m @ np.tile(GRAVITY, m.shape[0] // 3)
    expected = lagrangian_accelerations(model, state.q, state.v, state.frame, state.velocity, forces, weight)
    found = np.concatenate([a, root]) if free else a
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def lagrangian() -> list[Row]:
    """Accelerations of domains of 3, 1, 2, 0 and 2 coordinates, some scaled, against differences of all positions."""
    rows, case = [], "tree/lagrangian"
    for free in (False, True):
        for chain in (False, True):
            name = f"{'free' if free else 'fixed'} root, {'chain' if chain else 'branches'}"
            error = acceleration_error(free=free, chain=chain)
            rows.append(bounded(case, name, error, 1e-6, source="brute-force Lagrangian"))
    return rows


# --- the beam


@cache
def whole_beam() -> tuple[Array, float]:
    """First six frequencies [Hz] of the unreduced beam and its static tip compliance [m/N]."""
    mesh = block_mesh((LENGTH, SIDE, SIDE), (CELLS, 2, 2))
    support = Support(ElasticSolid(mesh, BEAM), face(mesh, 0.0))
    load = tip_load(mesh, LENGTH)
    return linear_modes(support, 6).frequencies, float(load @ support.static_response(load[:, None])[:, 0])


def tip_load(mesh: TetMesh | HexMesh, x: float) -> Array:
    """A unit force in z, shared by the nodes of the end at x, flat."""
    out, tip = np.zeros(mesh.nodes.shape), face(mesh, x)
    out[tip, 2] = 1 / len(tip)
    return out.ravel()


def beam_domain_tree(count: int, modes: int, *, material: Material = BEAM, cells: int = CELLS) -> DomainTree:
    """A chain of equal domains."""
    length = LENGTH / count
    mesh = block_mesh((length, SIDE, SIDE), (cells // count, 2, 2))
    tip = face(mesh, length)
    kind = DomainTemplate(
        "part", mesh, material, modes, face(mesh, 0.0), {"tip": DomainInterface(tip, np.ones(len(tip)))}
    )
    domains = [Domain("part"), *(Domain("part", k, "tip") for k in range(count - 1))]
    return DomainTree({"part": kind}, domains)


def beam_tree(model: TreeModel, **options: Any) -> TreeDynamics:
    """A tree that does not warn of one-way couplings, which are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneWayWarning)
        return TreeDynamics(model, **options)


def tip_compliance(tree: TreeDynamics) -> float:
    """Static deflection of the tip under a unit force there [m/N], as the tree transmits it."""
    model = tree.model
    last = model.domain_count - 1
    kind = model.classes[model.domain_class[last]]
    load = tip_load(model.domain_tree.kinds["part"].mesh, LENGTH / model.domain_count)
    forces, wrenches = np.zeros(model.coordinate_count), np.zeros((model.domain_count, 6))
    forces[model.q_starts[last] :] = kind.U.T @ load
    wrenches[last, :3] = np.cross(kind.nodes, load.reshape(-1, 3)).sum(axis=0)
    wrenches[last, 3:] = load.reshape(-1, 3).sum(axis=0)
    linear = LinearizedTree.of(tree)
    # what the tree makes of it: the forces that its own accelerations answer
    a = tree.accelerations(tree.state(), forces=forces, wrenches=wrenches)[0]
    transmitted = np.linalg.solve(linear.inverse_mass, a)
    motion = TreeKinematics(model).motion(tree.state().q, tree.state().v, tree.state().frame, np.zeros(6))
    return float(motion.pull(forces, wrenches)[0] @ linear.deflection(transmitted))


def beam() -> list[Row]:
    """First frequencies and static tip deflection of all couplings; limits for the articulated one."""
    rows, case, source = [], "tree/beam", "unreduced finite elements"
    frequencies, compliance = whole_beam()
    for case_number, (count, modes) in enumerate(((2, 20), (4, 16), (8, 12))):
        model = TreeModel.of(beam_domain_tree(count, modes))
        for label, options in COUPLINGS:
            tree = beam_tree(model, **options)
            values, sag = LinearizedTree.of(tree).frequencies(6), tip_compliance(tree)
            name = f"{count} domains of {modes}, {label}"
            if label in ONE_WAY:
                expected = [ONE_WAY[label][k][case_number] for k in range(2)]
                found = (values[0] / frequencies[0], sag / compliance)
                dense = "unreduced finite elements, and an independent dense computation of the coupling"
                for what, value, ratio, limit in zip(("mode 1", "tip"), found, expected, (0.02, 0.05)):
                    quantity = f"{name}: {what} over unreduced"
                    rows.append(compare(case, quantity, value, ratio, limit, unit="-", source=dense))
                continue
            tight = count == 4
            for k in range(6):
                quantity, limit = f"{name}: mode {k + 1}", 0.01 if tight else 0.015
                rows.append(compare(case, quantity, values[k], frequencies[k], limit, unit="Hz", source=source))
            limit = 0.01 if tight else 0.02
            rows.append(compare(case, f"{name}: tip", sag, compliance, limit, unit="m/N", source=source))
    return rows


# --- conservation


class Fall(NamedTuple):
    """sag: the largest [m]; change, growth: largest change and largest gain of energy over the energy exchanged [-]."""

    sag: float
    change: float
    growth: float


def released(
    settings: TreeSettings,
    *,
    seconds: float = 10.0,
    dt: float = 1 / 30,
    every: int = 1,
    damping: float = 0.0,
    statics: bool = True,
) -> Fall:
    """A straight beam of four domains falls under gravity; measured every so many steps.

    damping: of stiffness [s]. statics: as of `TreeModel.of`.
    """
    material = Material(1.9e7, 0.3, 1000)
    model = TreeModel.of(beam_domain_tree(4, 10, material=material, cells=16), statics=statics)
    tree = TreeDynamics(model, settings=settings, stiffness_damping=damping)
    kinematics, state = TreeKinematics(tree.model), tree.state()
    tip = np.array([LENGTH / 4, 0.0, 0.0])
    sags, energies, falls = [], [], []
    for _ in range(round(seconds / dt / every) + 1):
        motion = kinematics.motion(state.q, state.v, state.frame, state.velocity)
        measures = motion.measures()
        energies.append(measures.energy(GRAVITY))
        falls.append(float(GRAVITY @ measures.first_moment))
        sags.append(-float((motion.o[-1] + motion.R[-1] @ tip)[2]))
        tree.advance(state, dt, gravity=GRAVITY, steps=every)
    change = (np.array(energies) - energies[0]) / (max(falls) - falls[0])
    return Fall(max(sags), float(np.abs(change).max()), float(change.max()))


def energy() -> list[Row]:
    """A beam falls from its straight shape by a quarter of its length, undamped, for 10 s in steps of 1/30 s.

    Relative to the energy exchanged. The midpoint rule, theta = 1/2, does not damp the fastest modes: undamped and
    with few passes it gains energy in the end. The damping that a tree has in a scene by default, or a theta a little
    above 1/2, prevents that.
    """
    case, source = "tree/energy", "conservation"
    fine, default, near = (
        released(settings)
        for settings in (TreeSettings(converge=True), TreeSettings(), TreeSettings(passes=3, renew_forces=True))
    )
    scene = released(TreeSettings(), seconds=60.0, every=5, damping=float(np.asarray(TreeBody.stiffness_damping)))
    safe = released(TreeSettings(theta=0.505), seconds=60.0, every=5)
    return [
        compare(case, "largest sag over length", fine.sag / LENGTH, 0.25, 0.02, unit="-", source="the set-up"),
        bounded(case, "iterated to convergence: change of energy", fine.change, 0.005, source=source),
        bounded(case, "three passes with new forces: change of energy", near.change, 0.005, source=source),
        bounded(case, "default settings: growth of energy", default.growth, 0.005, source=source),
        bounded(case, "default settings: change of energy", default.change, 0.005, source=source),
        bounded(case, "default damping of a scene, 60 s: growth of energy", scene.growth, 0.005, source=source),
        bounded(case, "theta 0.505, undamped, 60 s: growth of energy", safe.growth, 0.005, source=source),
    ]


def momentum_drift(dt: float, seconds: float = 1.0) -> Array:
    """Relative drift of linear and angular momentum and energy of a free branching tree, tumbling without gravity."""
    tree = TreeDynamics(plain_model(mixed_domain_tree(free=True, chain=False), keep=False))
    kinematics, state = TreeKinematics(tree.model), tree.state()
    state.velocity[:] = [0.4, -0.2, 0.3, 1.5, -1.0, 1.3]

    def now() -> tuple[Array, Array, float]:
        m = kinematics.motion(state.q, state.v, state.frame, state.velocity).measures()
        return m.momentum[:3], m.momentum[3:], m.energy(np.zeros(3))

    P0, L0, E0 = now()
    tree.advance(state, dt, steps=round(seconds / dt))
    P, L, E = now()
    return np.array(
        [np.linalg.norm(P - P0) / np.linalg.norm(P0), np.linalg.norm(L - L0) / np.linalg.norm(L0), abs(E / E0 - 1)]
    )


def momentum() -> list[Row]:
    """Free flight: momenta stay to round-off; energy drifts by the integrator's error, which falls with the step."""
    case, source = "tree/momentum", "conservation"
    coarse, fine = momentum_drift(1 / 400), momentum_drift(1 / 800)
    rows = [
        bounded(case, f"{name}, h = 1/400 s", coarse[k], limit, source=source)
        for k, (name, limit) in enumerate((("linear momentum", 1e-13), ("angular momentum", 1e-11), ("energy", 1e-4)))
    ]
    ratio = fine[2] / coarse[2]
    return [*rows, bounded(case, "energy, h = 1/800 s over 1/400 s", ratio, 0.35, source="second order")]


# --- copies


def scaled_pair(direct: bool) -> TreeDynamics:
    """A block with a child of 0.6 of its size and 1.3 times its frequencies: as a scaled copy, or built so."""
    s, c = 0.6, 1.3
    whole = mixed_kind("whole", 6, seed=1)
    if not direct:
        domains = [Domain("whole"), Domain("whole", 0, "tip", s, c)]
        return TreeDynamics(plain_model(DomainTree({"whole": whole}, domains), attachment_modes=False))
    mesh = TetMesh(s * whole.mesh.nodes, whole.mesh.elements)
    assert isinstance(whole.material, Material)
    stiff = Material(c * c * whole.material.young, whole.material.poisson, whole.material.density)
    part = DomainTemplate("part", mesh, stiff, 6, whole.held, {})
    domain_tree = DomainTree({"whole": whole, "part": part}, [Domain("whole"), Domain("part", 0, "tip")])
    return TreeDynamics(plain_model(domain_tree, attachment_modes=False))


def copies() -> list[Row]:
    """A scaled and tuned copy against a domain built so; a deep chain and a domain with many children."""
    case, source = "tree/copies", "domains built so"
    one, two = scaled_pair(False), scaled_pair(True)
    a, b = (LinearizedTree.of(tree).frequencies(12) for tree in (one, two))
    rows = [bounded(case, "12 frequencies", float(np.abs(a / b - 1).max()), 1e-6, source=source)]
    centres = []
    for tree in (one, two):
        state = tree.state()
        tree.advance(state, 1 / 200, steps=60, gravity=GRAVITY)
        motion = TreeKinematics(tree.model).motion(state.q, state.v, state.frame, state.velocity)
        centres.append(motion.measures().first_moment / tree.model.total_mass)
    moved = centres[1] - TreeKinematics(two.model).motion(*_rest(two)).measures().first_moment / two.model.total_mass
    error = np.linalg.norm(centres[0] - centres[1]) / np.linalg.norm(moved)
    rows.append(bounded(case, "centre of mass after 0.3 s", float(error), 1e-6, source=source))
    for name, count, deep in (("chain 1,000 deep", 1000, True), ("5,000 children on one domain", 5001, False)):
        rows.append(bounded(case, f"{name}: change of energy", crowd(count, deep), 1e-2, source="conservation"))
    return rows


def _rest(tree: TreeDynamics) -> tuple[Array, Array, Array, Array]:
    state = tree.state()
    return state.q, state.v, state.frame, state.velocity


def crowd(count: int, deep: bool, steps: int = 20) -> float:
    """Change of energy over the energy exchanged, of `count` domains that fall for some steps of 1/2000 s."""
    interfaces = ("tip", "top")
    domains = [
        Domain("k"),
        *(Domain("k", k if deep else 0, "tip" if deep else interfaces[k % 2]) for k in range(count - 1)),
    ]
    tree = TreeDynamics(plain_model(DomainTree({"k": mixed_kind("k", 2, seed=2)}, domains)))
    kinematics, state = TreeKinematics(tree.model), tree.state()
    start = kinematics.motion(*_rest(tree)).measures()
    tree.advance(state, 1 / 2000, steps=steps, gravity=GRAVITY)
    end = kinematics.motion(state.q, state.v, state.frame, state.velocity).measures()
    exchanged = abs(float(GRAVITY @ (end.first_moment - start.first_moment)))
    return abs(end.energy(GRAVITY) - start.energy(GRAVITY)) / exchanged


CASES = {
    "tree/lagrangian": lagrangian,
    "tree/beam": beam,
    "tree/energy": energy,
    "tree/momentum": momentum,
    "tree/copies": copies,
}
