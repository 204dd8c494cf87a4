"""A tree of reduced domains in a scene. It is stepped by its own scheme, `TreeSolver`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array
from supple.algebra.sparse.threefold import SparseRows, chosen_rows
from supple.bodies.body_protocol import Embedding, Method, Numbers
from supple.bodies.capabilities import BrokenPart, RecastBody
from supple.bodies.changing import Adjustment, one_or_each
from supple.bodies.coordinates import check_coordinates
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState, Mapping, PlacedBody
from supple.bodies.selecting import check_numbers
from supple.bodies.stride import check_local_state, check_steps
from supple.bodies.surfaces import MappedSurface, NumberedSurface, RenderSurface
from supple.bodies.tree.body_forces import TreeElastic, TreeMass
from supple.bodies.tree.changes import recast, retuned
from supple.bodies.tree.coordinates import TreeCoordinates
from supple.bodies.tree.detach import TreePart, detach, split
from supple.bodies.tree.domains.carried_masses import CarriedMasses, carry
from supple.bodies.tree.domains.deviation import Deviation
from supple.bodies.tree.domains.domain_tree import DomainTree
from supple.bodies.tree.domains.inversion import TreeInversion
from supple.bodies.tree.dynamics import Coupling, StrideKernel, TreeDynamics, TreeSettings, TreeState
from supple.bodies.tree.kinematics import TreeMeasures
from supple.bodies.tree.looking import Seen, TreeLook
from supple.bodies.tree.measuring import TreeMeasuring
from supple.bodies.tree.model import CALM, TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.surface.frame_cache import RowKeys
from supple.bodies.tree.surface.instant_kernels import is_same
from supple.bodies.tree.surface.point_springs import PointSprings
from supple.bodies.tree.surface.render_skin import RenderSkin
from supple.bodies.tree.surface.skin import TreeSkin
from supple.bodies.tree.surface.wind_patches import WindPatches
from supple.errors import InputError, check_flag, check_instance, check_row
from supple.geometry import SurfaceMesh

Array = np.ndarray


CHANGEABLE = ("frequency_factor", "density_factor", "mass_damping", "stiffness_damping")
"""What can change while it runs, coordinates as they are."""
FEW_DOMAINS = 64
"""Up to which frames and points of several instants stay in the cache."""
MOST_INSTANTS = 64
"""That are foreseen at once."""


@dataclass(frozen=True, eq=False)
class TreeBody:
    """A tree of domains. tree: a domain tree, which is reduced here, or a model.

    coupling, torque, mass_damping [1/s], stiffness_damping [s], settings: as of `TreeDynamics`. The root is fixed where
    its kind is held, else it flies freely. surface: a finer surface of the whole tree at rest, in the root's frame [m],
    to be seen instead of the domains' own, and to be pulled at (`scene.surface_points.render_points`). grown: its
    weight is in its shape at rest, as that of a plant; gravity does not act on it. statics: as of `TreeModel.of`, for a
    domain tree: its parts stretch as they should; None: where every domain has a stiffness damping of `CALM` or more.
    carried: masses of a scene that hang on its points.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.bodies.tree import Domain, DomainTemplate
    >>> mesh = box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1))
    >>> kind = DomainTemplate("beam", mesh, Material(1e6, 0.3, 1000), 4, held=mesh.node_region("x_min"))
    >>> TreeBody(DomainTree({"beam": kind}, [Domain("beam")])).skin.count
    36
    """

    tree: DomainTree | TreeModel
    coupling: Coupling = field(default="articulated", kw_only=True)
    torque: bool = field(default=True, kw_only=True)
    mass_damping: ArrayLike = field(default=0.0, kw_only=True)
    stiffness_damping: ArrayLike = field(default=0.001, kw_only=True)
    settings: TreeSettings = field(default_factory=TreeSettings, kw_only=True)
    grown: bool = field(default=False, kw_only=True)
    statics: bool | None = field(default=None, kw_only=True)
    surface: SurfaceMesh | None = field(default=None, kw_only=True)
    carried: tuple[CarriedMasses, ...] = field(default=(), kw_only=True)
    kind = "tree"
    method = Method.ELIMINATION

    def __post_init__(self) -> None:
        if not isinstance(self.tree, DomainTree | TreeModel):
            raise InputError(
                "a tree needs a DomainTree or a TreeModel", where="TreeBody", value=type(self.tree).__name__
            )
        if self.statics is not None and isinstance(self.tree, TreeModel):
            raise InputError(
                "a tree that is reduced already has its static responses, or none",
                where="TreeBody, statics",
                value=self.statics,
                fix="Give the domain tree, or TreeModel.of(domain tree, statics=...).",
            )
        check_row(self.carried, CarriedMasses, "masses on points of the tree", where="TreeBody, carried")
        check_flag(self.grown, name="grown", where="TreeBody")
        _ = self.dynamics
        if self.grown and self.model.is_free:
            raise InputError("a tree that flies freely has not grown in gravity", where="TreeBody", fix="grown=False")

    @cached_property
    def model(self) -> TreeModel:
        """The reduced tree."""
        return carry(self.bare.model, self.carried) if self.carried else self._given

    def domain_parents(self) -> Array:
        """Number of the domain that each hangs on, (d,), -1: on none."""
        return self.model.parent

    @cached_property
    def _given(self) -> TreeModel:
        if isinstance(self.tree, TreeModel):
            return self.tree
        return TreeModel.of(self.tree, statics=self.stretches)

    @property
    def stretches(self) -> bool:
        """Whether a domain tree is reduced with static responses here."""
        if self.statics is not None:
            return self.statics
        return bool(np.all(check_array(self.stiffness_damping, name="stiffness_damping", where="TreeBody") >= CALM))

    @cached_property
    def bare(self) -> TreeBody:
        """The tree without the masses that hang on it."""
        return self._of_model(self._given, carried=()) if self.carried else self

    def _of_model(self, model: TreeModel, **changes: Any) -> TreeBody:
        """With another tree, which is reduced already."""
        return replace(self, tree=model, statics=None, **changes)

    def carrying(self, loads: Sequence[tuple[Mapping, Array, Array]]) -> TreeBody:
        """The tree with these masses in the place of those it carried."""
        given = tuple(CarriedMasses(p, weights, m) for p, weights, m in loads if isinstance(p, DomainPoints))
        if len(given) < len(loads):
            raise InputError("a tree carries masses on its own points", where="TreeBody", fix="Use node.points(...).")
        same = [
            a.points is b.points and np.array_equal(a.weights, b.weights) and np.array_equal(a.m, b.m)
            for a, b in zip(given, self.carried)
        ]
        if len(given) == len(self.carried) and all(same):
            return self
        return replace(self.bare, carried=given)

    @cached_property
    def dynamics(self) -> TreeDynamics:
        """What steps it."""
        return TreeDynamics(
            self.model,
            coupling=self.coupling,
            torque=self.torque,
            mass_damping=self.mass_damping,
            stiffness_damping=self.stiffness_damping,
            settings=self.settings,
        )

    @cached_property
    def skin(self) -> TreeSkin:
        """The surface to look at and to pull."""
        return TreeSkin.of(self.model)

    @cached_property
    def seen(self) -> TreeSkin | RenderSkin:
        """What is recorded and drawn: the given surface, or the domains' own."""
        return self.skin if self.surface is None else RenderSkin.of(self.model, self.surface)

    @cached_property
    def wind_patches(self) -> WindPatches:
        """A few flat triangles a domain, for drag."""
        return WindPatches.of(self.model)

    @property
    def rest_coordinates(self) -> Array:
        """Coordinates (1, width) of the undeformed tree at the origin."""
        x = np.zeros((1, self.coordinates.x_width))
        x[0, 3] = 1.0
        return x

    @property
    def positions(self) -> Array:
        """Surface points at rest, in the root's frame, (n, 3) [m]."""
        return self.skin.rest

    @property
    def coordinates(self) -> TreeCoordinates:
        """How its state is laid out."""
        return TreeCoordinates(self.model.coordinate_count)

    @property
    def total_mass(self) -> float:
        """Mass [kg]."""
        return self.model.total_mass

    def place(self, placement: Placement) -> PlacedBody:
        """The tree in the world, undeformed."""
        c = self.coordinates
        x, v = np.zeros((1, c.x_width)), np.zeros((1, c.v_width))
        x[0, :3], x[0, 3:7] = placement.at, placement.rotation
        if self.model.is_free:
            v[0, :3], v[0, 3:6] = placement.velocity, rotations.rotate_inverse(placement.rotation, placement.spin)
        elif np.any(placement.velocity) or np.any(placement.spin):
            raise InputError("the root of this tree is fixed: it starts at rest", where="TreeBody")
        return PlacedBody(c, x, v, (TreeMass(self),), (("elastic", TreeElastic(self)),))

    @property
    def rest_points(self) -> Array:
        """Surface points, (n, 3) [m]."""
        return np.asarray(self.positions)

    def point_numbers(self, selector: Numbers) -> Array:
        """Surface points of the domains of a name, or of numbers."""
        if isinstance(selector, str):
            return self.point_region(selector)
        return check_numbers(selector, len(self.rest_points))

    def embed(self, local: Array) -> Embedding:
        """The surface points nearest to places (k, 3) [m] stand for them."""
        nearest = self.nearest_points(local)
        return Embedding(self.point_mapping(nearest), nearest)

    def contact_surface(self) -> NumberedSurface:
        """The surface, without gaps between domains."""
        return NumberedSurface(np.arange(self.skin.count), np.asarray(self.skin.triangles, dtype=np.int64))

    def wind_surface(self) -> MappedSurface:
        """A few flat triangles a domain that stand for it, see `supple.bodies.tree.surface.wind_patches`."""
        points, triangles = self.wind_patches
        return MappedSurface((points,), points.apply(self.rest_coordinates), triangles)

    def render_surface(self) -> RenderSurface:
        """The given surface, or the domains' own."""
        seen, tree = self.seen, self.model.domain_tree
        triangles = np.asarray(seen.triangles, dtype=np.int64)
        colours = tree.domain_colours()
        return RenderSurface(
            seen, triangles, colours=None if colours is None else colours[seen.domain[triangles[:, 0]]]
        )

    def shown_surface(self) -> MappedSurface:
        """The given surface, as points to be pulled at."""
        if not isinstance(self.seen, RenderSkin):
            raise InputError("this body was given no surface", fix="Use TreeBody(..., surface=).")
        points = self.seen.points
        return MappedSurface((points,), points.apply(self.rest_coordinates), self.seen.triangles)

    def point_mapping(self, numbers: Array | None) -> DomainPoints:
        """Surface points of these numbers, or all."""
        skin = self.skin
        number = np.arange(skin.count) if numbers is None else np.asarray(numbers, dtype=np.int64)
        W = chosen_rows(skin.weights, number)
        hung, column = np.unique(W.indices, return_inverse=True)
        weights = SparseRows(W.indptr, column.ravel(), W.data, (len(number), len(hung)))
        domain = skin.domain[hung]
        at = skin.class_start[self.model.domain_class[domain]] + skin.row[hung]
        return DomainPoints.on(self.model, domain, skin.class_X[at], skin.class_U[at], weights, number)

    def point_region(self, name: str) -> Array:
        """Numbers of the surface points of the domains of that name, or kind."""
        domains = self.model.domain_tree.domains
        check_instance(name, str, "a name", where="TreeBody.point_region")
        chosen = [k for k, d in enumerate(domains) if name in (d.name, d.kind)]
        if not chosen:
            raise InputError("no domain of that name", where="TreeBody", value=name)
        return np.flatnonzero(np.isin(self.skin.domain, chosen))

    def nearest_points(self, local: Array) -> Array:
        """Numbers of the surface points nearest to positions at rest, in the root's frame (n, 3) [m]."""
        return np.asarray(KDTree(self.skin.rest).query(local)[1])

    def recall(self, kept: dict[str, Array]) -> None:
        """Nothing: a tree is its coordinates and their rates. What is kept under its name is its solver's."""

    def unpack(self, x: Array, v: Array) -> TreeState:
        """The state of coordinates x, v (1, width)."""
        n = self.model.coordinate_count
        return TreeState(
            x[0, 7 : 7 + n].copy(), v[0, 6 : 6 + n].copy(), np.zeros(n), x[0, :7].copy(), v[0, :6].copy(), np.zeros(6)
        )

    def pack(self, state: TreeState, x_out: Array, v_out: Array) -> None:
        """Write a state to coordinates."""
        n = self.model.coordinate_count
        x_out[0, :7], x_out[0, 7 : 7 + n] = state.frame, state.q
        v_out[0, :6], v_out[0, 6 : 6 + n] = state.velocity, state.v

    def advance(
        self,
        state: LocalState,
        dt: float,
        *,
        steps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        forces: Array | None = None,
        push: Array | None = None,
        wrenches: Array | None = None,
        springs: PointSprings | None = None,
        theta: float = 0.0,
        is_blown: bool = False,
        more_passes: int = 0,
    ) -> LocalState:
        """The state after so many steps of dt [s], in one compiled call. `forces` (1, v_width) act all the while.

        push (6,): on the root, in the place of theirs: force at its origin and torque, in world axes. wrenches (d, 6):
        on domains. springs: on points, solved within each step. theta: at least this; is_blown: a wind acts;
        more_passes: beyond its own; see `TreeDynamics.advance`.
        """
        check_local_state(state, self.coordinates, "TreeBody.advance")
        check_steps(dt, steps, "TreeBody.advance")
        now, acting = self.unpack(state.x, state.v), self.loads(state.x, forces, push)
        gravity = np.zeros(3) if self.grown else gravity
        self.dynamics.advance(
            now, dt, steps=steps, gravity=gravity, springs=springs, theta=theta, is_blown=is_blown, wrenches=wrenches,
            more_passes=more_passes, **acting,
        )  # fmt: skip
        x, v = state.x.copy(), state.v.copy()
        self.pack(now, x, v)
        return LocalState(state.t + steps * dt, x, v)

    def stride(
        self,
        x: Array,
        v: Array,
        dt: float,
        calls: int,
        *,
        steps: int,
        gravity: ArrayLike,
        limit: float,
        acting: StrideKernel | None = None,
        is_blown: bool = False,
        marks: Sequence[int] = (),
    ) -> tuple[Array, Array, Array]:
        """Move coordinates x, v (1, width) on, in place, by calls of `steps` steps of dt [s] that settle; also returns
        coordinates (k, width) and their rates at `marks`; see `TreeDynamics.stride`."""
        now, gravity = self.unpack(x, v), np.zeros(3) if self.grown else gravity
        changes, marked = self.dynamics.stride(
            now, dt, calls, steps=steps, gravity=gravity, limit=limit, acting=acting, is_blown=is_blown, marks=marks
        )
        self.pack(now, x, v)
        n, k = self.model.coordinate_count, len(marked.calls)
        x_out, v_out = np.repeat(x, k, axis=0), np.repeat(v, k, axis=0)
        x_out[:, :7], x_out[:, 7 : 7 + n] = marked.root[:, :7], marked.q
        v_out[:, :6], v_out[:, 6 : 6 + n] = marked.root[:, 7:], marked.v
        return changes, x_out, v_out

    def loads(self, x: Array, forces: Array | None, push: Array | None = None) -> dict[str, Array]:
        """Forces (1, v_width) on the coordinates x, and push in the place of those on the root's frame, as
        `TreeDynamics.advance` takes them."""
        if forces is None:
            return {}
        check_coordinates(forces, (1, self.coordinates.v_width), name="forces", where="TreeBody")
        if push is None:
            push = np.concatenate([forces[0, :3], rotations.rotate(x[0, 3:7], forces[0, 3:6])])
        return {"forces": forces[0, 6 : 6 + self.model.coordinate_count], "push": push}

    def changed(self, values: dict[str, Any], *, where: str) -> TreeBody:
        """With other mass_damping [1/s], stiffness_damping [s], frequency_factor, density_factor, one number or one a
        domain; see `retuned`."""
        if others := [name for name in values if name not in CHANGEABLE]:
            raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(CHANGEABLE))
        factors = {name: value for name, value in values.items() if name.endswith("factor")}
        damping = {name: value for name, value in values.items() if name.endswith("damping")}
        return self._of_model(retuned(self.bare.dynamics, **factors).model, **damping)

    def adjustments(self) -> list[Adjustment]:
        """The frequency factor of each domain, and damping."""
        domains = self.bare.model.domain_tree.domains
        names = tuple(domain.name or f"domain {number}" for number, domain in enumerate(domains))
        found = [one_or_each("frequency_factor", self.bare.model.tuning, names)]
        for key in ("mass_damping", "stiffness_damping"):
            given = getattr(self.bare, key)
            found.append(one_or_each(key, given, names if np.ndim(given) else ()))
        return found

    def recast(self, x: Array, v: Array, values: dict[str, Any], *, where: str) -> RecastBody | None:
        """With another kind of a `domain`: a `kind` of the same mesh that the tree knows, or its own with other
        `modes`, 0: rigid. Displacements are those of before as far as the new basis can show them."""
        if "domain" not in values:
            return None
        if self.carried:
            raise InputError(
                "masses hang on this tree, whose points a domain of another kind moves otherwise", where=where,
                fix="Hang rigid bodies on it by joints instead.",
            )  # fmt: skip
        tree, state = recast(self.dynamics, self.unpack(x, v), values, where)
        body = self._of_model(tree.model)
        x_out, v_out = np.zeros((1, body.coordinates.x_width)), np.zeros((1, body.coordinates.v_width))
        body.pack(state, x_out, v_out)
        return RecastBody(body, x_out, v_out)

    def broken(self, x: Array, v: Array, place: int | str) -> tuple[BrokenPart, BrokenPart]:
        """The rest, and the branch that begins with a domain, given by number or name."""
        whole = self.bare  # a scene hangs its masses on the parts
        found, shares = detach(whole.dynamics, self.unpack(x, v), place), split(whole.model, place)
        first = _broken_part(whole, shares[0], found.rest_state)
        return first, _broken_part(whole, shares[1], found.branch_state)

    def largest_gap(self, x: Array) -> float:
        """The largest distance [m] at coordinates x between points that were one before the tree was cut.

        Where nothing was cut: between an interface's points and where a rigid interface would have them, which is the
        same.
        """
        if len(self.skin.seams):
            return self.skin.largest_gap(x)
        return self.deviation.largest(x) if self._look is None else self._seen(x).gap

    def inversion_check(self, rest: Array) -> TreeInversion:
        """Which elements of the domains are inside out; see `Inverting`."""
        if self._look is None:
            return self._inversion
        return replace(self._inversion, near=lambda x: self._seen(x).near)

    @cached_property
    def _inversion(self) -> TreeInversion:
        return TreeInversion.of(self.model)

    @cached_property
    def deviation(self) -> Deviation:
        """How far the interfaces are from rigid."""
        return Deviation.of(self.model)

    @property
    def foresight(self) -> int:
        """For how many instants it pays to find energies, frames and points in one call."""
        return MOST_INSTANTS if self.model.domain_count <= FEW_DOMAINS else 1

    def foresee(self, x: Array, v: Array) -> None:
        """Find energies and momenta at coordinates x, v (k, width) of several instants, which `measures` is asked for
        one by one; frames of domains too, from which points and gaps of all follow in one call."""
        if self._look is None:
            self._measured[:] = [RowKeys(x), RowKeys(v), self._measuring.at_all(x, v)]

    def measures(self, x: Array, v: Array | None = None) -> TreeMeasures:
        """Energies and momenta at coordinates x, v (1, width). The last are kept: a frame asks for them one by one."""
        check_coordinates(x, (1, self.coordinates.x_width), name="x", where="TreeBody.measures")
        if v is not None:
            check_coordinates(v, (1, self.coordinates.v_width), name="v", where="TreeBody.measures")
        if self._look is not None:
            return self._seen(x, v).measures
        kept = self._measured
        number = kept[0].number(x) if kept else -1
        if number < 0 or not (v is None or kept[1].all[number] == v.tobytes()):
            rates = np.zeros((1, self.coordinates.v_width)) if v is None else v
            kept[:], number = [RowKeys(x), RowKeys(rates), self._measuring.at_all(x, rates)], 0
        measures: TreeMeasures = kept[2][number]
        return measures

    @cached_property
    def _measured(self) -> list[Any]:
        """Bytes of coordinates and of rates at k instants, and measures there; of a large tree the numbers themselves
        and all that was seen."""
        return []

    def _seen(self, x: Array, v: Array | None = None) -> Seen:
        """What a frame asks of a large tree at coordinates x and rates v (1, width), None: any; kept of the last."""
        assert self._look is not None
        kept = self._measured
        if not kept or not is_same(kept[0], x[0]) or not (v is None or is_same(kept[1], v[0])):
            rates = np.zeros((1, self.coordinates.v_width)) if v is None else v
            kept[:] = [x[0].copy(), rates[0].copy(), self._look.at(x, rates)]
        seen: Seen = kept[2]
        return seen

    @cached_property
    def _look(self) -> TreeLook | None:
        """What finds all that a frame asks for at once, of a tree too large for several instants in the cache."""
        if self.model.domain_count <= FEW_DOMAINS:
            return None
        return TreeLook(self.dynamics, self._inversion, not len(self.skin.seams))

    @cached_property
    def _measuring(self) -> TreeMeasuring:
        return TreeMeasuring.of(self.model)


def _broken_part(body: TreeBody, share: TreePart, state: TreeState) -> BrokenPart:
    """A part of a body, with the damping of its domains."""
    tree = body.dynamics
    damping = {
        "mass_damping": np.asarray(tree.mass_damping)[share.domains],
        "stiffness_damping": np.asarray(tree.stiffness_damping)[share.domains],
    }
    surface, shown = _cut_surface(body, share)
    grown = body.grown and not share.model.is_free
    part = replace(body, tree=share.model, statics=None, surface=surface, grown=grown, **damping)
    x, v = np.zeros((1, part.coordinates.x_width)), np.zeros((1, part.coordinates.v_width))
    part.pack(state, x, v)
    points = np.flatnonzero(np.isin(body.skin.domain, share.domains))
    frame = body.model.domain_tree.rest_frames[share.domains[0]]
    return BrokenPart(part, x, v, points, str(share.domains[0]), points if shown is None else shown, frame)


def _cut_surface(body: TreeBody, share: TreePart) -> tuple[SurfaceMesh | None, Array | None]:
    """What of a given surface belongs to a part, in the frame of its root at rest, and the numbers of its points."""
    if body.surface is None or not isinstance(body.seen, RenderSkin):
        return None, None
    inside = np.isin(body.seen.domain, share.domains)
    triangles = body.seen.triangles[inside[body.seen.triangles].all(axis=1)]
    numbers, frame = np.flatnonzero(inside), body.model.domain_tree.rest_frames[share.domains[0]]
    nodes = rotations.rotate_inverse(frame[3:], np.asarray(body.surface.nodes, dtype=float)[numbers] - frame[:3])
    return SurfaceMesh(nodes, np.searchsorted(numbers, triangles)), numbers
