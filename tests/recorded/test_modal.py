"""Recorded numbers of reduced solids and of meshes cut into domains."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from tests.recorded.making import (
    GUM,
    RUBBER,
    cut_tree,
    halved,
    hexes,
    mixed_model,
    random,
    rotation,
    tets,
    two,
)
from tests.recorded.recording import Recorded, Values

from supple.bodies.tree import DomainTemplate, Mount, attach, interface_at
from supple.decompose import automatic_labels, cut, decompose_surface, load_domain_tree, save_domain_tree
from supple.elements.element_set import ElementSet
from supple.geometry import VoxelGrid, box_tets
from supple.modal import (
    Attachment,
    CubicForce,
    ElasticSolid,
    Interface,
    MassIntegrals,
    NewmarkSettings,
    ReducedDomain,
    Support,
    attachment_modes,
    linear_modes,
    modal_derivatives,
    reduce_solid,
    reduced_basis,
)
from supple.modal.inertia_kernels import domain_inertia
from supple.modal.interfaces.interface_kernels import interface_motion

recorded = Recorded(__name__)
SOLIDS = {
    "tets": lambda: ElasticSolid(tets(), two()),
    "tets, lumped": lambda: ElasticSolid(tets(), two(), mass="lumped"),
    "hexes": lambda: ElasticSolid(hexes(), two()),
    "bricks": lambda: ElasticSolid(VoxelGrid(np.ones((3, 2, 1), dtype=int), 0.03, (0.01, 0.02, 0.03)).to_hexes(), GUM),
}


def interface(solid: ElasticSolid) -> Interface:
    """On the tip, with uneven weights and a turned rest."""
    from supple.algebra.dense import rotations

    X = solid.mesh.nodes
    nodes = np.flatnonzero(X[:, 0] > X[:, 0].max() - 0.03)
    R = rotations.to_matrix(rotation([0.3, -0.5, 0.2]))
    return Interface(X, nodes, weights=0.5 + np.modf(0.37 * np.arange(len(nodes)))[0], rest_rotation=R)


def held(solid: ElasticSolid) -> Support:
    X = solid.mesh.nodes
    return Support(solid, np.flatnonzero(X[:, 0] < X[:, 0].min() + 0.01))


@recorded.over(SOLIDS)
def solid(make: Any) -> Values:
    s = make()
    return {
        "mass": s.node_mass,
        "total": s.total_mass,
        "stiffness": s.stiffness @ random(3 * s.node_count, 2),
        "product": s.mass_product(random(3 * s.node_count, 2, seed=1)),
    }


@recorded.over(SOLIDS, rtol=1e-6)
def modes(make: Any) -> Values:
    """Bases of a held and of a free solid; squares of shapes, whose signs and mixtures are then of no account."""
    s = make()
    support, free = held(s), Support(s)
    loads = random(3 * s.node_count, 2, seed=2)
    shapes = linear_modes(support, 3)
    return {
        "frequencies": shapes.frequencies,
        "shapes": shapes.shapes**2,
        "free frequencies": linear_modes(free, 3).frequencies,
        "response": support.static_response(loads),
        "free response": free.static_response(loads),
        "attachment": attachment_modes(support, interface(s)),
        "derivatives": modal_derivatives(support, random(3 * s.node_count, 2, seed=3) * 1e-2),
    }


@recorded.over({k: v for k, v in SOLIDS.items() if k != "bricks"}, rtol=1e-5)
def bases(make: Any) -> Values:
    s = make()
    tip = interface(s)
    found: dict[str, Any] = {}
    more = {"attached": {"attachments": [Attachment(tip, mass=0.13, arm=0.07)]}, "statics": {"statics": True}}
    for name, options in {"plain": {}, "linear": {"linear": 3}, **more}.items():
        found[name] = np.abs(reduced_basis(held(s), 6, **options).U)
    return found


@recorded.over(SOLIDS)
def forces(make: Any) -> Values:
    """The cubic force, integrals and interface in a basis that is given."""
    s = make()
    U = random(3 * s.node_count, 4, seed=4)
    q, v, w = 1e-3 * random(3, 4, seed=5), random(3, 4, seed=6), random(3, 3, seed=7)
    force, W = CubicForce.of(s, U), MassIntegrals.of(s, U)
    fit = interface(s).fit(U)
    inertia = domain_inertia(W, q, v, w)
    return {
        "force": list(force.evaluate(q)),
        "energy": force.energy(q),
        "scaled": force.scaled(1.3).multiplied(0.7).evaluate(q)[0],
        "coefficients": [force.linear, force.quadratic, force.cubic],
        "W": [W.mass, W.W1, W.W2, W.W3, W.W4, W.W5, W.W6],
        "W, scaled": [W.scaled(1.3).mass, W.scaled(1.3).W2, W.scaled(1.3).W3, W.scaled(1.3).W6],
        "inertia": list(inertia),
        "fit": fit,
        "fit, scaled": fit.scaled(1.3),
        "motion": list(interface_motion(fit, q, v)),
        "loads": interface(s).unit_loads(),
    }


@recorded.over({"undamped": (0.25, 0.5), "damped": (0.3025, 0.6)})
def newmark(given: tuple[float, float]) -> Values:
    s = SOLIDS["tets"]()
    U = random(3 * s.node_count, 4, seed=4) * 0.1
    settings = NewmarkSettings(*given, max_iterations=30, epsilon=1e-12)
    root = np.eye(4) + 0.2 * random(4, 4, seed=8)
    damping = {"mass_damping": 0.3, "stiffness_damping": 0.002}
    domain = ReducedDomain(CubicForce.of(s, U), mass=root @ root.T, settings=settings, **damping)
    state = domain.state(9)
    state.q, state.v = 1e-3 * random(9, 4, seed=9), 0.1 * random(9, 4, seed=10)
    state.a = domain.acceleration(state, 0.1)
    first = state.a.copy()
    domain.advance(state, 1e-3, steps=3, f_ext=random(9, 4, seed=11))
    return {"start": first, "q": state.q, "v": state.v, "a": state.a, "energy": domain.energy(state)}


@recorded.case(rtol=1e-5)
def reduced() -> Values:
    s = SOLIDS["tets"]()
    kind = reduce_solid(
        held(s), 5, attachments={"tip": Attachment(interface(s), mass=0.07, arm=0.03)}, statics=True, keep=False
    )
    again = type(kind).from_arrays(kind.to_arrays()).scaled(1.4)
    return {
        "mass": np.abs(kind.mass),
        "U": np.abs(kind.U),
        "scaled": np.abs(again.mass),
        "energy": kind.force.energy(np.zeros((1, 5))),
    }


@recorded.case
def elements() -> Values:
    """Elements of a mesh that is bent at rest."""
    m = tets()
    made = ElementSet.make(m.nodes, m.elements, 3.1, 2.3)
    return {f.name: getattr(made, f.name) for f in fields(made)}


def tree_numbers(tree: Any) -> dict[str, Any]:
    return {
        "domains": list(tree.domains),
        "kinds": [[name, k.mesh.nodes, k.mesh.elements, k.held, k.modes] for name, k in tree.kinds.items()],
        "interfaces": [
            [name, i.nodes, i.weights, i.rotation] for k in tree.kinds.values() for name, i in k.interfaces.items()
        ],
        "welds": tree.welds,
        "frames": tree.rest_frames,
        "counts": [tree.coordinate_count, tree.element_count, tree.depths],
    }


@recorded.case
def cut_by_labels() -> Values:
    return tree_numbers(cut_tree())


@recorded.case
def cut_with_a_loop() -> Values:
    ring = np.ones((5, 4, 2), dtype=int)
    ring[1:4, 1:3] = 0
    m = VoxelGrid(ring, 0.1, (0.2, 0.3, 0.1)).to_hexes()
    X = m.nodes[m.hexes].mean(axis=1)
    labels = (X[:, 0] > 0.45).astype(int) + 2 * ((X[:, 1] > 0.5) & (X[:, 0] < 0.6))
    found = cut(m, labels, material=GUM, modes=2, fixed=[0, 1, 5, 6], cycles="break", weights="volume")
    return tree_numbers(found.domain_tree) | {"sizes": found.interface_sizes, "patches": found.interface_patches}


@recorded.case
def cut_by_itself() -> Values:
    cells = np.zeros((9, 6, 4), dtype=int)
    cells[:, 2:4, :2] = 1
    cells[1:3, 3:, 1:] = 1
    cells[6:8, :3, :] = 1
    m = VoxelGrid(cells, 0.1, (0.2, 0.3, 0.1)).to_tets()
    return {"three": automatic_labels(m, parts=3), "by size": automatic_labels(m, size=150)}


@recorded.case
def cut_of_a_surface() -> Values:
    trunk = box_tets((1.0, 0.13, 0.11), (4, 1, 1)).boundary.surface
    leaf = box_tets((0.4, 0.1, 0.03), (3, 1, 1)).boundary.surface
    whole = trunk
    for k, at in enumerate([(0.3, 0.07, 0.0), (0.6, -0.075, 0.01), (0.9, 0.06, -0.01)]):
        whole = whole.merged(leaf.scaled(0.8 + 0.2 * k).moved(at=at, rotation=rotation([0, 0, 1.3 - 1.4 * k])))
    return tree_numbers(decompose_surface(whole, material=RUBBER, modes=3, cells=8))


@recorded.case(rtol=1e-4)  # interfaces are fitted to a basis of modes, and move by 1e-5 on other processors
def attached() -> Values:
    mesh = halved(box_tets((0.4, 0.11, 0.03), (3, 1, 2)))
    leaf = DomainTemplate("leaf", mesh, two(), 3, mesh.node_region("x_min"))
    turn = rotation([0.2, -0.4, 1.1])
    mounts = [
        Mount(0, (0.04, 0.03, -0.02), turn, scale=0.3, frequency_factor=1.2),
        Mount(2, (0.02, 0.01, 0.01), scale=0.2),
    ]
    return tree_numbers(attach(cut_tree(), leaf, mounts, reach=0.1))


@recorded.case
def places() -> Values:
    found = interface_at(tets((6, 2, 3)), (0.083, 0.021, -0.01), rotation([0.2, -0.4, 1.1]))
    return {"nodes": found.nodes, "weights": found.weights, "rotation": found.rotation}


@recorded.case
def trees_in_files() -> Values:
    with tempfile.TemporaryDirectory() as folder:
        paths = save_domain_tree(folder, mixed_model().domain_tree)
        texts = {Path(p).name: Path(p).read_text() for p in sorted(paths) if Path(p).suffix in (".json", ".bou")}
        return tree_numbers(load_domain_tree(folder)) | {"texts": texts}


test_recorded = recorded.test()
