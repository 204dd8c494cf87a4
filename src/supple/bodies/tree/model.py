"""`SubstructureModel`: a tree of domains, each kind reduced once, with all that its copies share.

A kind is reduced to `modes` coordinates in a basis of linear modes, modal derivatives and, for each port that carries
children, the six static responses to a unit force and torque there, weighted by what hangs there. A kind of no modes
is rigid. The coordinates q of a copy are those of its kind: x = scale (X + U q) in the copy's frame.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.domains.domain_tree import Blueprint, DomainKind
from supple.bodies.tree.domains.reduction_pool import Progress, reduce_all
from supple.bodies.tree.step.frame_cache import FoundFrames
from supple.errors import InputError
from supple.modal import (
    Attachment,
    CubicForce,
    ElasticSolid,
    Interface,
    InterfaceFit,
    MassIntegrals,
    ReducedClass,
    Support,
    reduce_solid,
)

Array = np.ndarray
SMALLEST_ARM = 1e-3
"""Of the kind's size: a child whose mass lies closer to its port than this counts as being there."""


@dataclass(frozen=True, eq=False)
class DomainClass:
    """What the copies of a kind share, at scale 1. U (3 node_count, r); force: None where rigid; fits: of `ports`."""

    name: str
    nodes: Array
    U: Array
    force: CubicForce | None
    integrals: MassIntegrals
    ports: tuple[str, ...]
    fits: tuple[InterfaceFit, ...]

    @property
    def count(self) -> int:
        """r, the number of coordinates."""
        return self.U.shape[1]

    def positions(self, q: Array) -> Array:
        """X + U q [m] in the domain's frame, of q (..., r): (..., node_count, 3)."""
        return self.nodes + (q @ self.U.T).reshape(*q.shape[:-1], *self.nodes.shape)


@dataclass(frozen=True)
class _Hanging:
    """What hangs on a port, at the parent's scale 1: mass [kg], arm [m]."""

    mass: float
    arm: float


@dataclass(frozen=True, eq=False)
class SubstructureModel:
    """A reduced tree. classes: one a kind that occurs; domain_class (d,): which one a domain belongs to.

    parent (d,): number of the parent, -1: root. parent_port (d,): which of the parent's `ports`. scale, tuning,
    density (d,): size, frequency factor and density factor. is_free: whether the root flies freely.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.bodies.substructure import Blueprint, Domain, DomainKind, Port
    >>> mesh = box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1))
    >>> mesh = type(mesh)(mesh.nodes - [mesh.nodes[:, 0].min(), 0, 0], mesh.tets)
    >>> end, tip = (mesh.node_region(lambda x, at=at: abs(x[:, 0] - at) < 1e-9) for at in (0, 1))
    >>> part = DomainKind("part", mesh, Material(1e7, 0.3, 1000), 4, held=end, ports={"tip": Port(tip, np.ones(4))})
    >>> model = SubstructureModel.of(Blueprint({"part": part}, [Domain("part"), Domain("part", 0, "tip")]))
    >>> model.coordinate_count
    8
    """

    blueprint: Blueprint
    classes: tuple[DomainClass, ...]
    domain_class: Array
    parent: Array
    parent_port: Array
    scale: Array
    tuning: Array
    density: Array
    is_free: bool = field(kw_only=True)

    @classmethod
    def of(
        cls,
        blueprint: Blueprint,
        *,
        attachment_modes: bool = True,
        linear: int | None = None,
        keep: bool = True,
        processes: int | None = None,
        progress: Progress | bool | None = None,
    ) -> SubstructureModel:
        """Reduce the kinds of a blueprint.

        attachment_modes: whether bases hold the responses to what hangs on the ports. linear: linear modes to derive
        from, as of `reduced_basis`. keep: use the cache. processes: reduce so many kinds at a time, each in a process;
        None: as many as there are cores and enough to do. progress: called with a kind's name, how many are done, and
        of how many; True: a bar on standard error; None: a bar where that is a terminal.
        """
        domains = blueprint.domains
        names = list(dict.fromkeys(d.kind for d in domains))
        hanging = _hanging(blueprint)
        tasks = []
        for name in names:
            used = {d.port for d in domains if d.parent >= 0 and domains[d.parent].kind == name}
            used |= {port for number, port in blueprint.tied if domains[number].kind == name}
            ports = tuple(p for p in blueprint.kinds[name].ports if p in used)
            loads = tuple(hanging[name, p] for p in ports)
            tasks.append((blueprint.kinds[name], ports, loads, attachment_modes, linear, keep))
        classes = reduce_all(reduce_kind, tasks, processes, progress)
        index = {name: k for k, name in enumerate(names)}
        domain_class = np.array([index[d.kind] for d in domains])
        ports_of = [{p: k for k, p in enumerate(c.ports)} for c in classes]
        return cls(
            blueprint,
            tuple(classes),
            domain_class,
            np.array([d.parent for d in domains]),
            np.array([ports_of[domain_class[d.parent]][d.port] if d.parent >= 0 else -1 for d in domains]),
            np.array([d.scale for d in domains]),
            np.array([d.frequency_factor for d in domains]),
            np.array([d.density_factor for d in domains]),
            is_free=blueprint.is_free,
        )

    def __post_init__(self) -> None:
        for array in (self.domain_class, self.parent, self.parent_port, self.scale, self.tuning, self.density):
            array.setflags(write=False)

    @property
    def domain_count(self) -> int:
        """d."""
        return len(self.parent)

    @cached_property
    def found_frames(self) -> FoundFrames:
        """Frames of the domains where they were last asked for, shared by all points on them."""
        return FoundFrames()

    @cached_property
    def mode_counts(self) -> Array:
        """r of each domain, (d,)."""
        return np.array([c.count for c in self.classes])[self.domain_class]

    @cached_property
    def q_starts(self) -> Array:
        """Where the coordinates of each domain begin in the vector of all, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.mode_counts)])

    @property
    def coordinate_count(self) -> int:
        """Reduced coordinates of all domains, without the root's frame."""
        return int(self.q_starts[-1])

    @cached_property
    def levels(self) -> Array:
        """Level of each domain, the root being 0, (d,)."""
        return self.blueprint.depths - 1

    @cached_property
    def domain_mass(self) -> Array:
        """Mass of each domain [kg], (d,)."""
        return np.array([c.integrals.mass for c in self.classes])[self.domain_class] * self.scale**3 * self.density

    @property
    def total_mass(self) -> float:
        """Mass of the tree [kg]."""
        return float(self.domain_mass.sum())

    def members(self, number: int) -> Array:
        """Domains of class `number`, ascending."""
        return np.flatnonzero(self.domain_class == number)

    def coordinates_of(self, number: int) -> Array:
        """Where the coordinates of the copies of class `number` lie in the vector of all, (copies, r)."""
        return self.q_starts[self.members(number)][:, None] + np.arange(self.classes[number].count)

    def damping_at_ratio(self, mass_damping: float, stiffness_damping: float) -> tuple[Array, Array]:
        """Coefficients (d,) [1/s], [s] that give every copy the damping ratios these give its kind at scale 1."""
        speed = self.tuning / (self.scale * np.sqrt(self.density))
        return mass_damping * speed, stiffness_damping / speed


def reduce_kind(
    kind: DomainKind,
    ports: tuple[str, ...],
    loads: tuple[_Hanging, ...],
    attachment_modes: bool,
    linear: int | None,
    keep: bool,
) -> DomainClass:
    """The class of a kind, with fits for the ports that carry something. Errors name the kind."""
    try:
        return _reduced(kind, ports, loads, attachment_modes, linear, keep)
    except InputError as error:
        where = f"domain kind '{kind.name}', {error.where}" if error.where else f"domain kind '{kind.name}'"
        raise InputError(error.what, where=where, value=error.value, allowed=error.allowed, fix=error.fix) from error


def _reduced(
    kind: DomainKind,
    ports: tuple[str, ...],
    loads: tuple[_Hanging, ...],
    attachment_modes: bool,
    linear: int | None,
    keep: bool,
) -> DomainClass:
    solid, X = ElasticSolid(kind.mesh, kind.material), kind.mesh.nodes
    faces = {}
    for name in ports:
        port = kind.ports[name]
        faces[name] = Interface(X, port.nodes, weights=port.weights, rest_rotation=rotations.to_matrix(port.rotation))
    if kind.modes == 0:
        U = np.zeros((3 * len(X), 0))
        fits = tuple(_rigid_fit(face) for face in faces.values())
        return DomainClass(kind.name, X, U, None, MassIntegrals.of(solid, U), ports, fits)
    support = Support(solid, kind.held if len(kind.held) else None)
    given = {
        name: Attachment(face, mass=load.mass, arm=max(load.arm, SMALLEST_ARM * kind.mesh.diagonal))
        for (name, face), load in zip(faces.items(), loads)
    }
    reduced: ReducedClass = reduce_solid(
        support, kind.modes, attachments=given if attachment_modes else {}, linear=linear, keep=keep
    )
    fits = tuple(reduced.interfaces[p] if attachment_modes else faces[p].fit(reduced.U) for p in ports)
    return DomainClass(kind.name, X, reduced.U, reduced.force, reduced.integrals, ports, fits)


def _rigid_fit(face: Interface) -> InterfaceFit:
    rest = np.ascontiguousarray(face.projector @ np.asarray(face.rest_rotation))
    return InterfaceFit(face.x_hat, np.zeros((3, 0)), rest, np.zeros((0, 3, 3)))


def _hanging(blueprint: Blueprint) -> dict[tuple[str, str], _Hanging]:
    """What hangs on the ports of each kind, as the mean over its copies of m / scale³ and of (m l² / scale⁵)."""
    domains, frames = blueprint.domains, blueprint.rest_frames
    kinds = {}
    for name in dict.fromkeys(d.kind for d in domains):
        solid = ElasticSolid(blueprint.kinds[name].mesh, blueprint.kinds[name].material)
        X, mass = blueprint.kinds[name].mesh.nodes, solid.lumped_mass
        kinds[name] = (float(mass.sum()), mass @ X, float(mass @ (X * X).sum(axis=1)))
    count = len(domains)
    m, S, spread = np.zeros(count), np.zeros((count, 3)), np.zeros(count)  # of each subtree, about the root's origin
    for k, d in enumerate(domains):
        own, first, around = (d.density_factor * part for part in kinds[d.kind])
        moved = d.scale * rotations.rotate(frames[k, 3:], first / own)
        m[k] = own * d.scale**3
        S[k] = m[k] * (frames[k, :3] + moved)
        spread[k] = around * d.scale**5 + m[k] * (frames[k, :3] @ (frames[k, :3] + 2 * moved))
    for k in range(count - 1, 0, -1):
        above = domains[k].parent
        m[above] += m[k]
        S[above] += S[k]
        spread[above] += spread[k]
    at_port: dict[tuple[int, str], Array] = {}
    for k in range(1, count):
        origin = frames[k, :3]
        second = max(float(spread[k] - 2 * origin @ S[k] + m[k] * (origin @ origin)), 0.0)
        place = (domains[k].parent, domains[k].port)
        at_port[place] = at_port.get(place, np.zeros(2)) + np.array([m[k], second])
    for number, port in blueprint.tied:  # what a loop will carry is not known: as much as there is
        reach = domains[number].scale * blueprint.kinds[domains[number].kind].mesh.diagonal
        at_port[number, port] = m[0] * np.array([1.0, reach * reach])
    found: dict[tuple[str, str], list[Array]] = {}
    for (above, port), total in at_port.items():
        size = domains[above].scale
        found.setdefault((domains[above].kind, port), []).append(total / [size**3, size**5])
    out = {}
    for key, values in found.items():
        mass, second = np.mean(values, axis=0)
        out[key] = _Hanging(float(mass), float(np.sqrt(second / mass)))
    return out


def check_domain_values(value: object, count: int, name: str) -> Array:
    """Numbers of all domains (d,), not negative, from one number or one each."""
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (count,)) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"{name} is not one number or one a domain, not negative", value=array, allowed=f"({count},)")
    return np.ascontiguousarray(np.broadcast_to(array, count))
