"""`TreeModel`: a tree of domains, each kind reduced once, with all that its copies share.

A kind is reduced to `modes` coordinates in a basis of linear modes, modal derivatives and, for each interface that
carries children, the six static responses to a unit force and torque there, weighted by what hangs there. Where that
would be too stiff, responses to these loads, to weight and to spin take the last places; where it still is, a warning
says how many modes are needed. A kind of no modes is rigid. The coordinates q of a copy are those of its kind:
x = scale (X + U q) in the copy's frame.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array
from supple.bodies.tree.domains.domain_tree import DomainTemplate, DomainTree
from supple.bodies.tree.domains.reduction_pool import Progress, reduce_all
from supple.bodies.tree.surface.frame_cache import FrameCache, SeenFrames
from supple.errors import BasisWarning, InputError, check_flag, check_instance
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
from supple.modal.compliance import Loss

Array = np.ndarray
CALM = 1e-4
"""Stiffness damping [s] from which on what stretches, and moves fast, gains no energy at steps of 1/30 s."""
SMALLEST_ARM = 1e-3
"""Of the kind's size: a child whose mass lies closer to its interface than this counts as being there."""


@dataclass(frozen=True, eq=False)
class ReducedTemplate:
    """What the copies of a kind share, at scale 1. U (3 node_count, r); force: None where rigid; fits: of
    `interfaces`; loss: of compliance by the basis, None where it is rigid; stretches: whether the basis may hold
    static responses for it."""

    name: str
    nodes: Array
    U: Array
    force: CubicForce | None
    integrals: MassIntegrals
    interfaces: tuple[str, ...]
    fits: tuple[InterfaceFit, ...]
    loss: Loss | None = None
    stretches: bool = False

    @property
    def count(self) -> int:
        """r, the number of coordinates."""
        return self.U.shape[1]

    def positions(self, q: Array) -> Array:
        """X + U q [m] in the domain's frame, of q (..., r): (..., node_count, 3)."""
        return self.nodes + (q @ self.U.T).reshape(*q.shape[:-1], *self.nodes.shape)


@dataclass(frozen=True)
class _Hanging:
    """What hangs on an interface, at the parent's scale 1: mass [kg], arm [m]."""

    mass: float
    arm: float


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A reduced tree. classes: one a kind that occurs; domain_class (d,): which one a domain belongs to.

    parent (d,): number of the parent, -1: root. parent_interface (d,): which of the parent's `interfaces`. scale,
    tuning, density (d,): size, frequency factor and density factor. is_free: whether the root flies freely.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.bodies.tree import DomainTree, Domain, DomainTemplate, DomainInterface
    >>> mesh = box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1))
    >>> mesh = type(mesh)(mesh.nodes - [mesh.nodes[:, 0].min(), 0, 0], mesh.tets)
    >>> end, tip = (mesh.node_region(lambda x, at=at: abs(x[:, 0] - at) < 1e-9) for at in (0, 1))
    >>> part = DomainTemplate("part", mesh, Material(1e7, 0.3, 1000), 4, held=end, interfaces={"tip":
    DomainInterface(tip, np.ones(4))}) >>> model = TreeModel.of(DomainTree({"part": part}, [Domain("part"),
    Domain("part", 0, "tip")])) >>> model.coordinate_count
    8
    """

    domain_tree: DomainTree
    classes: tuple[ReducedTemplate, ...]
    domain_class: Array
    parent: Array
    parent_interface: Array
    scale: Array
    tuning: Array
    density: Array
    is_free: bool = field(kw_only=True)

    @classmethod
    def of(
        cls,
        domain_tree: DomainTree,
        *,
        attachment_modes: bool = True,
        statics: bool = True,
        linear: int | None = None,
        keep: bool = True,
        processes: int | None = None,
        progress: Progress | bool | None = None,
    ) -> TreeModel:
        """Reduce the kinds of a domain tree.

        attachment_modes: whether bases hold the responses to what hangs on the interfaces. statics: whether they give
        up some places to static responses where they would be too stiff. linear: linear modes to derive from, as of
        `reduced_basis`. keep: use the cache. processes: reduce so many kinds at a time, each in a process; None: as
        many as there are cores and enough to do. progress: called with a kind's name, how many are done, and of how
        many; True: a bar on standard error; None: a bar where that is a terminal.
        """
        check_instance(domain_tree, DomainTree, "a tree of domains", where="TreeModel.of")
        for label, flag in (("attachment_modes", attachment_modes), ("statics", statics), ("keep", keep)):
            check_flag(flag, name=label, where="TreeModel.of")
        if progress is not None and not callable(progress):
            check_flag(progress, name="progress", where="TreeModel.of")
        domains = domain_tree.domains
        names = list(dict.fromkeys(d.kind for d in domains))
        hanging = _hanging(domain_tree)
        tasks = []
        for name in names:
            used = {d.interface for d in domains if d.parent >= 0 and domains[d.parent].kind == name}
            used |= {interface for number, interface in domain_tree.joined if domains[number].kind == name}
            interfaces = tuple(p for p in domain_tree.kinds[name].interfaces if p in used)
            loads = tuple(hanging[name, p] for p in interfaces)
            tasks.append((domain_tree.kinds[name], interfaces, loads, attachment_modes, statics, linear, keep))
        classes = reduce_all(reduce_kind, tasks, processes, progress)
        tell_losses(classes)
        index = {name: k for k, name in enumerate(names)}
        domain_class = np.array([index[d.kind] for d in domains])
        interfaces_of = [{p: k for k, p in enumerate(c.interfaces)} for c in classes]
        return cls(
            domain_tree,
            tuple(classes),
            domain_class,
            np.array([d.parent for d in domains]),
            np.array([interfaces_of[domain_class[d.parent]][d.interface] if d.parent >= 0 else -1 for d in domains]),
            np.array([d.scale for d in domains]),
            np.array([d.frequency_factor for d in domains]),
            np.array([d.density_factor for d in domains]),
            is_free=domain_tree.is_free,
        )

    def __post_init__(self) -> None:
        check_instance(self.domain_tree, DomainTree, "a tree of domains", where="TreeModel", fix="Use TreeModel.of.")
        for array in (self.domain_class, self.parent, self.parent_interface, self.scale, self.tuning, self.density):
            array.setflags(write=False)

    @property
    def domain_count(self) -> int:
        """d."""
        return len(self.parent)

    @cached_property
    def frame_cache(self) -> FrameCache:
        """Frames of the domains where they were last asked for, shared by all points on them."""
        return FrameCache()

    @cached_property
    def seen_frames(self) -> SeenFrames:
        """Those that a frame of a run has found, of a large tree."""
        return SeenFrames()

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
        return self.domain_tree.depths - 1

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


@contextmanager
def _named(kind: DomainTemplate) -> Iterator[None]:
    """Errors within name the kind."""
    try:
        yield
    except InputError as error:
        where = f"domain kind '{kind.name}', {error.where}" if error.where else f"domain kind '{kind.name}'"
        raise InputError(error.what, where=where, value=error.value, allowed=error.allowed, fix=error.fix) from error


def reduce_kind(
    kind: DomainTemplate,
    interfaces: tuple[str, ...],
    loads: tuple[_Hanging, ...],
    attachment_modes: bool,
    statics: bool,
    linear: int | None,
    keep: bool,
) -> ReducedTemplate:
    """The class of a kind, with fits for the interfaces that carry something. Errors name the kind."""
    with _named(kind):
        solid, X = ElasticSolid(kind.mesh, kind.material), kind.mesh.nodes
        faces = {}
        for name in interfaces:
            interface = kind.interfaces[name]
            faces[name] = Interface(
                X, interface.nodes, weights=interface.weights, rest_rotation=rotations.to_matrix(interface.rotation)
            )
        if kind.modes == 0:
            U = np.zeros((3 * len(X), 0))
            fits = tuple(_rigid_fit(face) for face in faces.values())
            return ReducedTemplate(
                kind.name, X, U, None, MassIntegrals.of(solid, U), interfaces, fits, stretches=statics
            )
        support = Support(solid, kind.held if len(kind.held) else None)
        given = {
            name: Attachment(face, mass=load.mass, arm=max(load.arm, SMALLEST_ARM * kind.mesh.diagonal))
            for (name, face), load in zip(faces.items(), loads)
        }
        reduced: ReducedClass = reduce_solid(
            support,
            kind.modes,
            attachments=given if attachment_modes else {},
            linear=linear,
            statics=statics,
            keep=keep,
        )
        fits = tuple(reduced.interfaces[p] if attachment_modes else faces[p].fit(reduced.U) for p in interfaces)
        return ReducedTemplate(
            kind.name, X, reduced.U, reduced.force, reduced.integrals, interfaces, fits, reduced.loss, statics
        )


def tell_losses(classes: Sequence[ReducedTemplate]) -> None:
    """Warn of kinds that are too stiff along some load."""
    for kind in classes:
        if kind.loss is None or not kind.loss.is_large:
            continue
        fix = f"Give it {kind.loss.needed} modes or more."
        if not kind.stretches:
            more = f", and {kind.loss.needed} modes or more" if kind.loss.needed > kind.count else ""
            fix = f"Give it static responses: statics=True, or a stiffness_damping of {CALM:g} s or more{more}."
        warnings.warn(
            f"domain kind '{kind.name}' is too stiff with {kind.count} modes"
            f"{'' if kind.stretches else ' and no static responses'}: under {kind.loss.load_name(kind.interfaces)} it "
            f"moves {max(1 - kind.loss.missing, 0.0):.0%} as far as it should. {fix}",
            BasisWarning,
            stacklevel=4,
        )


def _rigid_fit(face: Interface) -> InterfaceFit:
    rest = np.ascontiguousarray(face.projector @ np.asarray(face.rest_rotation))
    return InterfaceFit(face.x_hat, np.zeros((3, 0)), rest, np.zeros((0, 3, 3)))


def _hanging(domain_tree: DomainTree) -> dict[tuple[str, str], _Hanging]:
    """What hangs on the interfaces of each kind, as the mean over its copies of m / scale³ and of (m l² / scale⁵)."""
    domains, frames = domain_tree.domains, domain_tree.rest_frames
    kinds = {}
    for name in dict.fromkeys(d.kind for d in domains):
        solid = ElasticSolid(domain_tree.kinds[name].mesh, domain_tree.kinds[name].material)
        X, mass = domain_tree.kinds[name].mesh.nodes, solid.lumped_mass
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
    at_interface: dict[tuple[int, str], Array] = {}
    for k in range(1, count):
        origin = frames[k, :3]
        second = max(float(spread[k] - 2 * origin @ S[k] + m[k] * (origin @ origin)), 0.0)
        place = (domains[k].parent, domains[k].interface)
        at_interface[place] = at_interface.get(place, np.zeros(2)) + np.array([m[k], second])
    for number, interface in domain_tree.joined:  # what a loop will carry is not known: as much as there is
        reach = domains[number].scale * domain_tree.kinds[domains[number].kind].mesh.diagonal
        at_interface[number, interface] = m[0] * np.array([1.0, reach * reach])
    found: dict[tuple[str, str], list[Array]] = {}
    for (above, interface), total in at_interface.items():
        size = domains[above].scale
        found.setdefault((domains[above].kind, interface), []).append(total / [size**3, size**5])
    out = {}
    for key, values in found.items():
        mass, second = np.mean(values, axis=0)
        out[key] = _Hanging(float(mass), float(np.sqrt(second / mass)))
    return out


def check_domain_values(value: ArrayLike, count: int, name: str) -> Array:
    """Numbers of all domains (d,), not negative, from one number or one each."""
    array = check_array(value, name=name, where="tree")
    if array.shape not in ((), (count,)) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise InputError(f"{name} is not one number or one a domain, not negative", value=array, allowed=f"({count},)")
    return np.ascontiguousarray(np.broadcast_to(array, count))
