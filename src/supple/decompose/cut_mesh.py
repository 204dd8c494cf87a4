"""`decompose`: a mesh cut into a tree of domains [BZ11, sec. 3].

Domains are sets of elements that hang together, given by labels or regions. Where two of them share vertices is their
interface. The graph of domains must be a tree; it is directed from the root. Every domain keeps the axes of the whole
mesh. The root keeps its origin too; a child's origin is the weighted mean of its interface vertices, and these it holds
fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.bodies.tree.body import TreeBody
from supple.bodies.tree.domains.budget import Modes, resolve_modes
from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.decompose.cut_graph import CutInterface, DomainGraph, breadth_first, domain_graph, neighbours
from supple.decompose.cut_interfaces import Joint, Thin, Weights, make_joint
from supple.decompose.cut_labels import Pieces, check_pieces, resolve_labels
from supple.decompose.cut_root import Root, choose_root, held_by_root
from supple.errors import InputError, check_instance, check_row
from supple.geometry import HexMesh, Region, Selector, TetMesh
from supple.geometry.meshes.connectivity import shared_faces
from supple.geometry.meshes.partition import Part, part_of
from supple.material import Material

Array = np.ndarray
Cycles = Literal["refuse", "break"]
Patches = Literal["refuse", "join"]
CHOICES = {
    "weights": ("area", "volume"),
    "cycles": ("refuse", "break"),
    "patches": ("refuse", "join"),
    "thin": ("refuse", "thicken"),
    "pieces": ("refuse", "split"),
}


NEAR = 1e-6
"""Of the body's extent: distance of points that were one before the cut."""


class LoopPatches(NamedTuple):
    """Numbers of the surface points of two domains where their interface was left open, (m,) and (n,)."""

    a: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Decomposition:
    """A mesh cut into domains, with the domain tree made of it and what was left aside.

    labels: number of the domain in the domain tree of each element, (m,). names: of the domains in the domain tree's
    order. graph: of the domains as given. open: interfaces left open to break cycles, in numbers of `graph`. parts: the
    domain's share of the mesh, in the domain tree's order.
    """

    mesh: TetMesh | HexMesh
    labels: Array
    names: tuple[str, ...]
    graph: DomainGraph
    open: tuple[CutInterface, ...]
    parts: tuple[Part, ...]
    domain_tree: DomainTree

    @property
    def open_names(self) -> list[tuple[str, str]]:
        """Names of the pairs of domains whose interfaces were left open, largest interface first."""
        return [(self.graph.names[i.pair[0]], self.graph.names[i.pair[1]]) for i in self.open]

    @cached_property
    def interface_sizes(self) -> dict[str, int]:
        """Vertices of the interface each child hangs on, by the child's name."""
        domains, kinds = self.domain_tree.domains, self.domain_tree.kinds
        return {d.name: len(kinds[domains[d.parent].kind].interfaces[d.interface].nodes) for d in domains[1:]}

    @cached_property
    def interface_patches(self) -> dict[str, int]:
        """Patches of each interface, by the child's name. More than one hide a loop: `patches="join"` allows it."""
        patches = {frozenset(i.pair): self.graph.patch_count(i) for i in self.graph.interfaces}
        number = {name: k for k, name in enumerate(self.graph.names)}
        domains = self.domain_tree.domains
        return {d.name: patches[frozenset((number[d.name], number[domains[d.parent].name]))] for d in domains[1:]}

    def loop_patches(self, body: TreeBody) -> tuple[LoopPatches, ...]:
        """Where cycles were broken: the surface points of the two domains there, of a body of this domain tree.

        `FixedJoint(node, node, at=node.rest[p.a].mean(axis=0), patch_a=p.a, patch_b=p.b)` closes one of them.
        """
        if list(body.model.domain_tree.domains) != list(self.domain_tree.domains):
            raise InputError("the body is of another domain tree", where="loop_patches")
        X, out = body.rest_points, []
        for interface in self.open:
            one, other = (body.point_region(self.graph.names[k]) for k in interface.pair)
            a, b = (p[KDTree(X[q]).query(X[p])[0] < NEAR * np.ptp(X)] for p, q in ((one, other), (other, one)))
            out.append(LoopPatches(a, b))
        return tuple(out)

    @cached_property
    def labelled_mesh(self) -> TetMesh | HexMesh:
        """The whole mesh with a region of elements for each domain, to be saved and looked at."""
        return self.mesh.with_regions({n: Region(elements=p.elements) for n, p in zip(self.names, self.parts)})


def decompose(
    mesh: TetMesh | HexMesh,
    labels: ArrayLike | None = None,
    *,
    regions: Iterable[str] | Mapping[str, Selector] | None = None,
    material: Material | Mapping[str, Material],
    modes: Modes,
    root: Root = None,
    fixed: Selector | None = None,
    weights: Weights = "area",
    cycles: Cycles = "refuse",
    patches: Patches = "refuse",
    thin: Thin = "refuse",
    pieces: Pieces = "refuse",
    rest: str | None = None,
) -> DomainTree:
    """The tree of domains of a mesh. See `cut` for the arguments and for what was left open.

    >>> from supple.geometry import box_tets
    >>> beam = box_tets((1.0, 0.1, 0.1), (10, 1, 1))
    >>> halves = np.arange(60) // 30
    >>> tree = decompose(beam, halves, material=Material(1e6, 0.3, 1000), modes=6, fixed="x_min")
    >>> [d.name for d in tree.domains], tree.rest_frames[1, :3].round(12).tolist()
    (['domain_0', 'domain_1'], [0.5, 0.0, 0.0])
    """
    return cut(
        mesh,
        labels,
        regions=regions,
        material=material,
        modes=modes,
        root=root,
        fixed=fixed,
        weights=weights,
        cycles=cycles,
        patches=patches,
        thin=thin,
        pieces=pieces,
        rest=rest,
    ).domain_tree


def cut(
    mesh: TetMesh | HexMesh,
    labels: ArrayLike | None = None,
    *,
    regions: Iterable[str] | Mapping[str, Selector] | None = None,
    material: Material | Mapping[str, Material],
    modes: Modes,
    root: Root = None,
    fixed: Selector | None = None,
    weights: Weights = "area",
    cycles: Cycles = "refuse",
    patches: Patches = "refuse",
    thin: Thin = "refuse",
    pieces: Pieces = "refuse",
    rest: str | None = None,
) -> Decomposition:
    """Cut a mesh into a tree of domains.

    labels: a whole number or a name of each element, (m,). regions: instead, names of regions, or selectors of elements
    by name; rest: the domain of the elements in none of them. material: one, or by name of domain, or by region of the
    mesh. modes: of each domain, by name, or a `ModeBudget`; 0 is rigid.
    fixed: nodes held in the world; all must belong to the root. root: a name, "fixed", "largest" (volume) or "central"
    (fewest levels); None takes the fixed part, else the largest. weights: of interface vertices. cycles: refused, or
    broken at the smallest interfaces. patches: two domains that meet in several patches, as the feet of a handle do,
    hide a loop: refused, or the patches are joined to one rigid interface. thin: interfaces of fewer than three
    vertices or in line are refused, or thickened by one ring. pieces: domains in several pieces are refused, or each
    piece is made a domain.
    """
    given = {"weights": weights, "cycles": cycles, "patches": patches, "thin": thin, "pieces": pieces}
    for name, value in given.items():
        if not isinstance(value, str) or value not in CHOICES[name]:
            raise InputError(
                f"{name} is not a known choice", where="decompose", value=value, allowed=", ".join(CHOICES[name])
            )
    check_instance(mesh, (TetMesh, HexMesh), "a mesh of tets or hexes", where="decompose")
    check_instance(material, (Material, Mapping), "a material, or a table of them", where="decompose")
    if not isinstance(material, Material):
        check_row(list(material.values()), Material, "materials", where="decompose, material")
    shared = shared_faces(mesh)
    numbers, names = check_pieces(*resolve_labels(mesh, labels, regions, rest), shared, pieces)
    graph = domain_graph(mesh, numbers, names, shared)
    graph.check_connected()
    if cycles == "refuse":
        graph.check_acyclic()
    kept, left_open = graph.spanning
    if patches == "refuse":
        graph.check_patches(kept)
    beside = neighbours(len(names), kept)
    held = None if fixed is None else mesh.node_region(fixed)
    first = choose_root(mesh, numbers, names, beside, root, held)
    parents = breadth_first(beside, first)
    order = list(parents)
    rank = {domain: number for number, domain in enumerate(order)}
    joints = {}
    for interface in kept:
        a, b = interface.pair
        parent, child = (a, b) if parents[b] == a else (b, a)
        where = f"interface '{names[parent]}' - '{names[child]}'"
        joints[child] = make_joint(mesh, numbers, shared, interface, parent, weights=weights, thin=thin, where=where)
    parts = [part_of(mesh, np.flatnonzero(numbers == domain)) for domain in order]
    root_held = held_by_root(mesh, numbers, names, first, held)
    domain_tree = _domain_tree(
        names, order, parents, parts, joints, root_held, material, modes, _welds(parts, rank, kept)
    )
    for interface in left_open:
        for side, other in (interface.pair, interface.pair[::-1]):
            where = f"interface '{names[side]}' - '{names[other]}'"
            joint = make_joint(mesh, numbers, shared, interface, side, weights=weights, thin=thin, where=where)
            made = DomainInterface(parts[rank[side]].local(joint.parent_nodes), joint.weights)
            domain_tree = _with_loop_interface(domain_tree, rank[side], _loop_interface(names[other]), made)
    ranks = np.array([rank[domain] for domain in range(len(names))])
    return Decomposition(
        mesh, ranks[numbers], tuple(names[d] for d in order), graph, tuple(left_open), tuple(parts), domain_tree
    )


def _domain_tree(
    names: list[str],
    order: list[int],
    parents: dict[int, int],
    parts: list[Part],
    joints: dict[int, Joint],
    root_held: Array,
    material: Material | Mapping[str, Material],
    modes: Modes,
    welds: Array,
) -> DomainTree:
    part = dict(zip(order, parts))
    held = {d: part[d].local(joints[d].held if d in joints else root_held) for d in order}
    rigid_motions = {d: 0 if held[d].size else 6 for d in order}
    capacity = [max(3 * (len(part[d].nodes) - len(held[d])) - rigid_motions[d], 0) for d in order]
    ordered = [names[d] for d in order]
    counts = resolve_modes(modes, ordered, [len(part[d].elements) for d in order], capacity)
    origin = {
        d: np.average(
            part[parents[d]].mesh.nodes[part[parents[d]].local(joint.parent_nodes)], axis=0, weights=joint.weights
        )
        for d, joint in joints.items()
    }
    kinds, domains, number = {}, [], {d: n for n, d in enumerate(order)}
    for d in order:
        interfaces = {
            names[child]: DomainInterface(part[d].local(joint.parent_nodes), joint.weights)
            for child, joint in sorted(joints.items())
            if parents[child] == d
        }
        mesh = part[d].mesh.moved(at=-origin[d]) if d in origin else part[d].mesh
        stuff = _material_of(names[d], names, mesh, material)
        kinds[names[d]] = DomainTemplate(names[d], mesh, stuff, counts[names[d]], held[d], interfaces)
        parent = parents[d]
        domains.append(Domain(names[d], number.get(parent, -1), names[d] if parent >= 0 else "", name=names[d]))
    return DomainTree(kinds, domains, welds)


def _loop_interface(other: str) -> str:
    """The name of the interface where a cycle was broken, towards the other domain."""
    return f"{other} (open)"


def _with_loop_interface(domain_tree: DomainTree, number: int, name: str, interface: DomainInterface) -> DomainTree:
    kind = domain_tree.kinds[domain_tree.domains[number].kind]
    kinds = {**domain_tree.kinds, kind.name: replace(kind, interfaces={**kind.interfaces, name: interface})}
    return replace(domain_tree, kinds=kinds, joined=(*domain_tree.joined, (number, name)))


def _material_of(
    name: str, names: list[str], mesh: TetMesh | HexMesh, material: Material | Mapping[str, Material]
) -> Material | Mapping[str, Material]:
    """The domain's own material, or the mapping of the regions that reach into it."""
    if isinstance(material, Material):
        return material
    if name in material:
        return material[name]
    if any(other in material for other in names):
        raise InputError("the domain has no material", where=f"domain '{name}'", allowed=", ".join(names))
    inside = {region: stuff for region, stuff in material.items() if region in mesh.regions}
    covered = np.zeros(len(mesh.elements), dtype=bool)
    for region in inside:
        covered[mesh.element_region(region)] = True
    if not covered.all():
        raise InputError(f"{np.count_nonzero(~covered)} elements have no material", where=f"domain '{name}'")
    only = list(inside.values())
    return only[0] if len(only) == 1 else inside


def _welds(parts: list[Part], rank: dict[int, int], kept: list[CutInterface]) -> Array:
    """Rows group, domain, node: vertices that were one and that interfaces of the tree join, by vertex."""
    joined: dict[int, list[tuple[int, int]]] = {}
    for interface in kept:
        pair = (rank[interface.pair[0]], rank[interface.pair[1]])
        for node in interface.nodes.tolist():
            joined.setdefault(node, []).append(pair)
    rows, group = [], 0
    for node in sorted(joined):
        todo = {d for pair in joined[node] for d in pair}
        while todo:
            beside: dict[int, list[int]] = {d: [] for d in todo}
            for a, b in joined[node]:
                if a in todo:
                    beside[a].append(b)
                    beside[b].append(a)
            reached, stack = set(), [min(todo)]
            while stack:
                here = stack.pop()
                if here not in reached:
                    reached.add(here)
                    stack += beside[here]
            rows += [(group, d, int(parts[d].local(np.array([node]))[0])) for d in sorted(reached)]
            todo, group = todo - reached, group + 1
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
