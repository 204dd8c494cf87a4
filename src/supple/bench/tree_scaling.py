"""tree/scaling, tets, threads, fem: how the cost of a tree grows, and what it gains.

scaling: copies of one kind with 20 modes in a tree that branches in three, each level 0.8 times as large. tets: the
flower's mesh refined to ten times its tets. fem: the flower's whole mesh, unreduced, by implicit Euler with one
linearised solve a step, from a state a few steps into its fall, to a true residual of 1e-6 where it is iterated.

Works of very different lengths on one thread are compared here. Their time is that of the process: what else the
machine does would lengthen the long ones more often than the short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import numba
import numpy as np

from supple.bench.row import Row, at_least, at_most, measured, threads
from supple.bench.tree import DT, GRAVITY, Steps, by_turns, moving, tree_of
from supple.bodies.fem import FemBody
from supple.bodies.tree import Domain, DomainInterface, DomainTemplate, DomainTree, TreeModel
from supple.examples.shapes import flower, flower_mesh, oak
from supple.examples.shapes.labelled import Labelled
from supple.geometry import Region, TetMesh, box_tets
from supple.material import Material
from supple.scene import Scene
from supple.solvers import ImplicitEuler

Array = np.ndarray
SCALING, TETS, THREADS, FEM = (f"tree/{name}" for name in ("scaling", "tets", "threads", "fem"))
COUNTS = (12, 120, 1_200, 20_000)
BRANCHES, SHRINK = 3, 0.8
FEM_DAMPING = 0.001  # [s], as that of the tree
DIRECT_LIMIT = 25.0  # ms, a step of the whole flower by the direct solver
SCALING_SECONDS, TETS_SECONDS, FEM_SECONDS = 20.0, 8.0, 15.0


def branching(count: int) -> DomainTree:
    """A tree of `count` copies of a beam, three on each end, filled level by level."""
    mesh = box_tets(size=(1.0, 0.2, 0.2), cells=(8, 2, 2))
    mesh = TetMesh(mesh.nodes - [mesh.nodes[:, 0].min(), 0, 0], mesh.tets)
    tip = mesh.node_region(lambda x: np.abs(x[:, 0] - 1.0) < 1e-9)
    interfaces = {}
    for k in range(BRANCHES):
        half = np.pi / 6 * np.array([1.0, np.cos(2 * np.pi * k / 3), np.sin(2 * np.pi * k / 3)])
        turn = [np.cos(half[0] / 2), 0.0, *(np.sin(half[0] / 2) * half[1:] / half[0])]
        interfaces[f"branch {k}"] = DomainInterface(tip, np.ones(len(tip)), np.array(turn))
    rubber = Material(young=1e8, poisson=0.3, density=1000)
    held = mesh.node_region(lambda x: np.abs(x[:, 0]) < 1e-9)
    kind = DomainTemplate("beam", mesh, rubber, 20, held=held, interfaces=interfaces)
    domains, scale = [Domain("beam")], [1.0]
    for k in range(1, count):
        parent = (k - 1) // BRANCHES
        scale.append(SHRINK * scale[parent])
        domains.append(Domain("beam", parent, f"branch {(k - 1) % BRANCHES}", scale[k]))
    return DomainTree({"beam": kind}, domains)


def scaling() -> list[Row]:
    """Cost of a domain in small and large trees."""
    with threads(1):
        steps = {}
        for count in COUNTS:
            tree = tree_of(TreeModel.of(branching(count)))
            steps[count] = Steps.of(tree, moving(tree))
        works: dict[str, Callable[[], Any]] = {str(count): work.run for count, work in steps.items()}
        best = by_turns(works, SCALING_SECONDS, clock=process_time, again=True)
    cost = {count: 1e6 * best[str(count)] / (steps[count].steps * count) for count in COUNTS}
    rows = [measured(SCALING, f"step_time a domain, {n} domains", v, unit="us", threads=1) for n, v in cost.items()]
    name = f"cost a domain, largest over smallest, {COUNTS[0]} to {COUNTS[-1]} domains"
    return [at_most(SCALING, name, max(cost.values()) / min(cost.values()), 2.0, unit="-", threads=1), *rows]


def refined_flower() -> DomainTree:
    """The flower with ten times its tets: each cut into eight, and some of these at their middle, into four."""
    domain_tree, (mesh, labels, names) = flower(), flower_mesh()
    kinds = [domain_tree.kinds[name] for name in names]
    root = kinds[0].mesh.nodes[kinds[0].held]
    held = np.flatnonzero((np.abs(mesh.nodes[:, None] - root).max(axis=2) < 1e-12).any(axis=1))
    fine, labels, held = eighths(mesh, labels, held)
    missing = (10 * len(mesh.tets) - len(fine.tets)) // 3
    cut, middle = fine.tets[:missing], len(fine.nodes) + np.arange(missing)
    quarters = [np.concatenate([np.delete(cut, k, axis=1), middle[:, None]], axis=1) for k in range(4)]
    tets = np.concatenate([fine.tets[missing:], *quarters])
    labels = np.concatenate([labels[missing:], *(labels[:missing],) * 4])
    whole = TetMesh(np.concatenate([fine.nodes, fine.nodes[cut].mean(axis=1)]), tets)
    parents = tuple(d.parent for d in domain_tree.domains)
    made = Labelled(whole, labels, names, parents)
    return made.cut([kind.modes for kind in kinds], [_one(kind.material) for kind in kinds], held=held)


def _one(material: Any) -> Material:
    assert isinstance(material, Material)
    return material


def eighths(mesh: TetMesh, labels: Array, held: Array) -> tuple[TetMesh, Array, Array]:
    """Every tet cut into eight at the middles of its edges; labels (m,) and nodes `held` go along."""
    corners = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    ends = np.sort(mesh.tets[:, corners], axis=2)
    edges, number = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
    a, b, c, d, e, f = (len(mesh.nodes) + number.reshape(-1, 6)).T
    v0, v1, v2, v3 = mesh.tets.T
    parts = [(v0, a, b, c), (a, v1, d, e), (b, d, v2, f), (c, e, f, v3)]
    parts += [(a, b, c, e), (a, b, e, d), (b, c, e, f), (b, d, f, e)]
    nodes = np.concatenate([mesh.nodes, mesh.nodes[edges].mean(axis=1)])
    tets = np.concatenate([np.stack(part, axis=1) for part in parts])
    both = np.isin(edges, held).all(axis=1)
    return TetMesh(nodes, tets), np.tile(labels, 8), np.concatenate([held, len(mesh.nodes) + np.flatnonzero(both)])


def tets() -> list[Row]:
    """The step of the flower and of the refined one."""
    with threads(1):
        steps = {}
        for name, domain_tree in (("coarse", flower()), ("fine", refined_flower())):
            tree = tree_of(TreeModel.of(domain_tree))
            steps[name] = Steps.of(tree, moving(tree), 12)
        best = by_turns({name: work.run for name, work in steps.items()}, TETS_SECONDS, clock=process_time)
    count = {name: work.tree.model.domain_tree.element_count for name, work in steps.items()}
    ratio = best["fine"] / best["coarse"]
    return [
        at_most(TETS, "step_time with ten times the tets over that of the flower", ratio, 1.1, unit="-", threads=1),
        *(measured(TETS, f"tets, {name}", value, unit="-", threads=1) for name, value in count.items()),
    ]


def two_threads() -> list[Row]:
    """The oak on two threads against one, and whether both give the same bits."""
    if numba.get_num_threads() < 2:
        return []
    tree = tree_of(TreeModel.of(oak()))
    steps = Steps.of(tree, moving(tree), 4)

    def on(count: int) -> Any:
        with threads(count):
            return steps.run()

    one, two = on(1), on(2)
    same = all(np.array_equal(getattr(one, name), getattr(two, name)) for name in one.__dataclass_fields__)
    best = by_turns({"one": lambda: on(1), "two": lambda: on(2)}, 8.0)
    return [
        at_least(THREADS, "two threads over one, step of the oak", best["one"] / best["two"], 1.5, unit="-", threads=2),
        at_least(THREADS, "same bits on one thread and two", float(same), 1.0, unit="-", threads=2),
        measured(THREADS, "step_time, oak", 250 * best["two"], unit="ms", threads=2),
    ]


def whole_flower() -> tuple[Any, Any]:
    """The flower's mesh as a body of finite elements, with its materials, a few steps into its fall."""
    domain_tree, (mesh, labels, names) = flower(), flower_mesh()
    regions = {name: Region(elements=np.flatnonzero(labels == k)) for k, name in enumerate(names)}
    materials = {name: replace(_one(domain_tree.kinds[name].material), stiffness_damping=FEM_DAMPING) for name in names}
    root = domain_tree.kinds[names[0]]
    at = root.mesh.nodes[root.held]
    held = np.flatnonzero((np.abs(mesh.nodes[:, None] - at).max(axis=2) < 1e-12).any(axis=1))
    scene = Scene(gravity=GRAVITY)
    scene.add(FemBody(TetMesh(mesh.nodes, mesh.tets, regions), materials, law="stvk"), fix=held, name="flower")
    system = scene.compile()
    return system, system.initial_state()


def one_step(solver: ImplicitEuler, system: Any, state: Any) -> None:
    """A step from always the same state."""
    solver.step(system, state.copy())


def fem() -> list[Row]:
    """A step of the whole flower, unreduced, and of its tree of domains, by turns; the fastest solver counts."""
    with threads(1):
        tree = tree_of(TreeModel.of(flower()))
        steps = Steps.of(tree, moving(tree))
        system, state = whole_flower()
        solvers = {
            "direct": ImplicitEuler(DT, linear="direct"),
            "CG, block Jacobi": ImplicitEuler(DT, linear="cg", preconditioner="block_jacobi"),
            "CG, incomplete Cholesky": ImplicitEuler(DT, linear="cg", preconditioner="incomplete_cholesky"),
        }
        for _ in range(5):
            solvers["direct"].step(system, state)
        works: dict[str, Callable[[], Any]] = {"tree": steps.run}
        works |= {name: partial(one_step, solver, system, state) for name, solver in solvers.items()}
        best = by_turns(works, FEM_SECONDS, clock=process_time)
    own, whole, direct = best["tree"] / steps.steps, min(best[name] for name in solvers), 1e3 * best.pop("direct")
    return [
        measured(FEM, "speed-up over full FEM, its fastest solver (paper 55)", whole / own, unit="-", threads=1),
        measured(FEM, "step_time, articulated flower", 1e3 * own, unit="ms", threads=1),
        at_most(FEM, "step_time, full FEM, direct", direct, DIRECT_LIMIT, unit="ms", threads=1),
        *(
            measured(FEM, f"step_time, full FEM, {name}", 1e3 * best[name], unit="ms", threads=1)
            for name in solvers
            if name in best
        ),
        measured(FEM, "tets", len(flower_mesh()[0].tets), unit="-", threads=1),
    ]


CASES = {SCALING: scaling, TETS: tets, THREADS: two_threads, FEM: fem}
