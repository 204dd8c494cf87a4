"""Domain trees: a tree of domains before anything is reduced. Kinds of domains, their copies, and how they hang
together.

A kind is a mesh in a frame of its own, whose origin is where it hangs on its parent. Ports are the places where
children hang: a child's frame has its origin at the interface's centroid and the interface's rotation, relative to the
parent's frame. A copy is scaled uniformly about its frame's origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array, check_vector, check_whole
from supple.bodies.tree.domains.domain_tree_checks import check_hangs, check_kind
from supple.errors import InputError, check_flag, check_instance, check_number, check_row
from supple.geometry import HexMesh, SurfaceMesh, TetMesh
from supple.material import Material
from supple.material.colour import material_colours

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class DomainInterface:
    """A place for a child: nodes (k,) of the kind's mesh, weights (k,): areas [m²] or volumes [m³].

    rotation: quaternion (4,) of the child's frame in the parent's.
    """

    nodes: Array
    weights: Array
    rotation: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def __post_init__(self) -> None:
        nodes = check_array(self.nodes, name="nodes", where="DomainInterface").astype(np.int64)
        weights = check_array(self.weights, name="weights", where="DomainInterface")
        if nodes.ndim != 1 or weights.shape != nodes.shape or not len(nodes):
            raise InputError(
                "an interface needs nodes and one weight each",
                where="DomainInterface",
                value=(nodes.shape, weights.shape),
            )
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InputError(
                "a weight of an interface is not positive", where="DomainInterface", value=float(weights.min())
            )
        rotation = check_vector(self.rotation, name="rotation", where="DomainInterface", size=4)
        object.__setattr__(self, "nodes", nodes)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "rotation", rotations.normalise(rotation))


@dataclass(frozen=True, eq=False)
class DomainTemplate:
    """A class of domains. mesh: nodes in the kind's own frame [m]. modes: reduced coordinates, 0: rigid.

    held: nodes (k,) where it hangs on its parent, or by which a root is fixed; none for a free-flying root. skin: a
    finer surface in the same frame to be carried along, or None.
    """

    name: str
    mesh: TetMesh | HexMesh
    material: Material | Mapping[str, Material]
    modes: int
    held: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    interfaces: Mapping[str, DomainInterface] = field(default_factory=dict)
    skin: SurfaceMesh | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", np.atleast_1d(check_whole(self.held, name="held", where="DomainTemplate")))
        check_instance(self.interfaces, Mapping, "a table of interfaces by their names", where="DomainTemplate")
        for interface in self.interfaces.values():
            check_instance(interface, DomainInterface, "an interface", where="DomainTemplate, interfaces")
        check_kind(self)


@dataclass(frozen=True)
class Domain:
    """A copy of a kind. parent: number of an earlier domain, -1: the root. interface: where it hangs on its parent.

    scale [-]; frequency_factor [-]: multiplies its frequencies, by its stiffness; density_factor [-]: its mass.
    """

    kind: str
    parent: int = -1
    interface: str = ""
    scale: float = 1.0
    frequency_factor: float = 1.0
    name: str = ""
    density_factor: float = 1.0


@dataclass(frozen=True, eq=False)
class DomainTree:
    """kinds by name; domains, parents first, the root alone at number 0.

    welds (k, 3): group, domain, node: nodes that were one in the whole mesh, for a surface without gaps. free: whether
    the root flies; None: where its kind holds no nodes. A root that flies although its kind holds nodes, such as a
    branch broken off, keeps the basis of the held kind: its frame then moves as these nodes do. joined: domain and
    interface of the places that joints hold on to, so that bases hold their responses to forces there.
    """

    kinds: Mapping[str, DomainTemplate]
    domains: Sequence[Domain]
    welds: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    free: bool | None = None
    joined: Sequence[tuple[int, str]] = ()

    def __post_init__(self) -> None:
        check_instance(self.kinds, Mapping, "a table of kinds by their names", where="DomainTree")
        check_instance(self.domains, Sequence, "a list of domains", where="DomainTree")
        object.__setattr__(self, "domains", tuple(self.domains))
        if not self.domains:
            raise InputError("a tree needs a domain", where="DomainTree", fix="Give a root: Domain(kind).")
        for number, domain in enumerate(self.domains):
            check_instance(domain, Domain, "a domain", where="DomainTree, domains")
            where = f"domain {number} '{domain.name}'"
            for label in ("kind", "interface"):
                check_instance(getattr(domain, label), str, "a name", where=f"{where}, {label}")
            check_number(domain.parent, name="parent", where=where, whole=True)
            if domain.kind not in self.kinds:
                raise InputError("no kind of that name", where=where, value=domain.kind, allowed=", ".join(self.kinds))
            if (domain.parent < 0) != (number == 0) or domain.parent >= number:
                raise InputError("the parent does not come before its child", where=where, value=domain.parent)
            if number and domain.interface not in self.kinds[self.domains[domain.parent].kind].interfaces:
                raise InputError("the parent has no interface of that name", where=where, value=domain.interface)
            if number:
                check_hangs(self.kinds[domain.kind], where)
            for label in ("scale", "frequency_factor", "density_factor"):
                check_number(getattr(domain, label), name=label, where=where, above=0.0)
        if self.free is not None:
            check_flag(self.free, name="free", where="DomainTree")
        check_row(self.joined, tuple, "pairs of a domain and an interface", where="DomainTree, joined")
        for pair in self.joined:
            if len(pair) != 2 or not isinstance(pair[0], Integral) or not isinstance(pair[1], str):
                raise InputError("this is no domain and interface", where="DomainTree, joined", value=pair)
            number, interface = pair
            if not 0 <= number < len(self.domains) or interface not in self.kinds[self.domains[number].kind].interfaces:
                raise InputError(
                    "a joint is on an interface that is not there", where="DomainTree", value=(number, interface)
                )

    def domain_colours(self) -> Array | None:
        """By the materials of the domains, the first of each kind, (d, 3), 0 to 1; None: as pictures choose."""
        first = {
            name: kind.material if isinstance(kind.material, Material) else next(iter(kind.material.values()))
            for name, kind in self.kinds.items()
        }
        return material_colours([first[d.kind] for d in self.domains])

    @property
    def is_free(self) -> bool:
        """Whether the root flies freely."""
        return not len(self.kinds[self.domains[0].kind].held) if self.free is None else self.free

    @property
    def coordinate_count(self) -> int:
        """Reduced coordinates of all domains."""
        return sum(self.kinds[d.kind].modes for d in self.domains)

    @cached_property
    def depths(self) -> Array:
        """Level of each domain, the root being 1, (d,)."""
        out = np.ones(len(self.domains), dtype=np.int64)
        for number, domain in enumerate(self.domains):
            if number:
                out[number] = out[domain.parent] + 1
        return out

    @property
    def element_count(self) -> int:
        """Volume elements of all copies."""
        return sum(len(self.kinds[d.kind].mesh.elements) for d in self.domains)

    @cached_property
    def rest_frames(self) -> Array:
        """Frames of all domains at rest, relative to the root's, (d, 7): origin [m] and quaternion."""
        out = np.zeros((len(self.domains), 7))
        out[:, 3] = 1.0
        for number, domain in enumerate(self.domains):
            if number == 0:
                continue
            above, kind = out[domain.parent], self.kinds[self.domains[domain.parent].kind]
            interface = kind.interfaces[domain.interface]
            centre = np.average(kind.mesh.nodes[interface.nodes], axis=0, weights=interface.weights)
            centre = centre * self.domains[domain.parent].scale
            out[number, :3] = above[:3] + rotations.rotate(above[3:], centre)
            out[number, 3:] = rotations.multiply(above[3:], interface.rotation)
        return out
