"""A floating body: a frame that moves freely, and small deformations in it by a few shapes [GOMGL07, after Shabana]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_array
from supple.bodies.body_protocol import Method
from supple.bodies.changing import Adjustment, one_or_each
from supple.bodies.coordinates import FrameWithModes, check_coordinates
from supple.bodies.floating.forces import ModalForce
from supple.bodies.floating.inversion import FloatingInversion
from supple.bodies.floating.mass import FloatingMass
from supple.bodies.floating.matrices import MatrixSolid, load_matrices
from supple.bodies.floating.model import FloatingModel, make_model, reduce
from supple.bodies.floating.points import FloatingPoints
from supple.bodies.floating.stride import advance
from supple.bodies.floating.stride_kernels import StrideWorkspace
from supple.bodies.frame_start import check_start, place_frame
from supple.bodies.mesh_points import MeshPoints, ShapedPoints
from supple.bodies.placement import Placement, placement_of
from supple.bodies.protocols import PlacedBody
from supple.bodies.stride import Stride, StrideReport
from supple.elements.recovery import ElementStress, element_stress
from supple.errors import InputError, check_instance, check_number
from supple.geometry import embed
from supple.geometry.meshes.region import Selector
from supple.material import Law
from supple.modal.interfaces.interface import Interface
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support

Array = np.ndarray
NEAR = 8
"""Nodes that say how a place of a body without elements turns."""
FACTORS = ("stiffness_factor", "density_factor")
DAMPING = ("mass_damping", "stiffness_damping", "damping_ratio")
MAKE = "Use FloatingBody.from_solid, from_basis or from_matrices."


class DampingRates(NamedTuple):
    """mass_damping [1/s], stiffness_damping [s] and damping_ratio (r,) or one of all modes, of which D is made."""

    mass_damping: float
    stiffness_damping: float
    damping_ratio: ArrayLike

    def of(self, model: FloatingModel) -> Array:
        """D (r, r) [N s/m]."""
        return model.damping(mass=self.mass_damping, stiffness=self.stiffness_damping, ratio=self.damping_ratio)

    def scaled(self, stiffness: float, density: float) -> DampingRates:
        """Those with which D is as before where stiffness and mass become so many times as large."""
        mass, ratio = self.mass_damping / density, np.asarray(self.damping_ratio) / np.sqrt(stiffness * density)
        return DampingRates(mass, self.stiffness_damping / stiffness, ratio if ratio.ndim else float(ratio))


@dataclass(frozen=True, eq=False)
class FloatingBody(MeshPoints, ShapedPoints):
    """A deformable body with a floating frame. Made by `from_solid`, `from_basis` or `from_matrices`.

    damping: D (r, r) [N s/m] of the modes. q, q_rate (r,): how it starts, None for undeformed and at rest. rates: what
    D is made of, where that is known.

    >>> import supple as sp
    >>> from supple.modal import ElasticSolid
    >>> steel = sp.Material(young=2e11, poisson=0.3, density=7800)
    >>> rod = ElasticSolid(sp.box_tets(size=(1, 0.05, 0.05), cells=(8, 1, 1)), steel)
    >>> body = FloatingBody.from_solid(rod, modes=5)
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> node = scene.add(body, spin=(0, 0, 10), name="rod")
    >>> scene.compile().v_size    # a frame and five modes, filled up to whole 3-vectors
    12
    """

    model: FloatingModel
    damping: Array
    q: ArrayLike | None = field(default=None, kw_only=True)
    q_rate: ArrayLike | None = field(default=None, kw_only=True)
    rates: DampingRates | None = field(default=None, kw_only=True)
    kind = "floating"
    method = Method.IMPLICIT

    def __post_init__(self) -> None:
        check_instance(self.model, FloatingModel, "a model of a floating body", where="FloatingBody", fix=MAKE)
        for name in ("q", "q_rate"):
            value = check_start(getattr(self, name), self.mode_count, name=name, where="FloatingBody")
            object.__setattr__(self, name, value)

    @classmethod
    def from_solid(
        cls,
        solid: ElasticSolid | MatrixSolid,
        *,
        modes: int = 8,
        fixed: Selector | None = None,
        interfaces: Sequence[Interface] = (),
        origin: ArrayLike | None = None,
        stiffening: bool = False,
        cubic: bool = False,
        mass_damping: float | None = None,
        stiffness_damping: float | None = None,
        damping_ratio: ArrayLike = 0.0,
        q: ArrayLike | None = None,
        q_rate: ArrayLike | None = None,
    ) -> FloatingBody:
        """A body of the lowest vibration modes of a solid.

        fixed: nodes that stay in the frame (a region of the mesh); None: free modes about mean axes. interfaces: places
        that carry loads, whose static responses are added, six an interface. origin: of the frame, in the mesh
        [m]; by default the centre of mass for free modes, the mesh's origin otherwise. stiffening: with the
        centrifugal tension. cubic: with the exact St. Venant-Kirchhoff force of the modes. mass_damping [1/s],
        stiffness_damping [s]: of Rayleigh, by default the material's; damping_ratio: of each mode, or of all, added.
        """
        check_instance(solid, (ElasticSolid, MatrixSolid), "a solid", where="FloatingBody.from_solid")
        support = Support(solid, fixed)  # type: ignore[arg-type]
        U = reduce(support, modes, interfaces)
        model = make_model(support, U, origin=origin, stiffening=stiffening, cubic=cubic)
        rates = _rates(model, mass_damping, stiffness_damping, damping_ratio)
        return cls(model, rates.of(model), q=q, q_rate=q_rate, rates=rates)

    @classmethod
    def from_basis(
        cls,
        support: Support,
        U: Array,
        *,
        origin: ArrayLike | None = None,
        stiffening: bool = False,
        cubic: bool = False,
        mass_damping: float | None = None,
        stiffness_damping: float | None = None,
        damping_ratio: ArrayLike = 0.0,
        q: ArrayLike | None = None,
        q_rate: ArrayLike | None = None,
    ) -> FloatingBody:
        """A body of shapes U (3 node_count, r) of one's own. Rigid motion among them is taken out, with a warning."""
        check_instance(support, Support, "a support", where="FloatingBody.from_basis")
        model = make_model(support, np.asarray(U), origin=origin, stiffening=stiffening, cubic=cubic)
        rates = _rates(model, mass_damping, stiffness_damping, damping_ratio)
        return cls(model, rates.of(model), q=q, q_rate=q_rate, rates=rates)

    @classmethod
    def from_matrices(
        cls,
        nodes: ArrayLike | str | Path,
        M: Any = None,
        K: Any = None,
        *,
        elements: Any = None,
        modes: int = 8,
        fixed: Selector | None = None,
        basis: Array | None = None,
        origin: ArrayLike | None = None,
        mass_damping: float = 0.0,
        stiffness_damping: float = 0.0,
        damping_ratio: ArrayLike = 0.0,
    ) -> FloatingBody:
        """A body of the mass and stiffness matrices of another program; see `MatrixSolid` and `load_matrices`.

        nodes: (n, 3) [m], or a path to a `.npz` file or a folder of Matrix Market files. fixed: numbers of held nodes.
        basis: shapes (3 n, r) to use instead of vibration modes.
        """
        if isinstance(nodes, str | Path):
            solid = load_matrices(nodes)
        else:
            if M is None or K is None:
                raise InputError("mass and stiffness are needed", where="FloatingBody.from_matrices", fix="Give M, K.")
            solid = MatrixSolid(check_array(nodes, name="nodes", where="FloatingBody"), M, K, elements=elements)
        support = Support(solid, fixed)  # type: ignore[arg-type]
        U = reduce(support, modes) if basis is None else check_array(basis, name="basis", where="FloatingBody")
        model = make_model(support, U, origin=origin, stiffening=False, cubic=False)
        rates = _rates(model, mass_damping, stiffness_damping, damping_ratio)
        return cls(model, rates.of(model), rates=rates)

    def changed(self, values: dict[str, Any], *, where: str) -> FloatingBody:
        """With stiffness and mass times stiffness_factor > 0, density_factor > 0, in the same shapes. Its damping D
        stays, unless any of mass_damping [1/s], stiffness_damping [s] and damping_ratio is given: it is theirs then,
        and of the others as they are, or 0 where what D is made of is not known."""
        if others := [name for name in values if name not in (*FACTORS, *DAMPING)]:
            allowed = ", ".join((*FACTORS, *DAMPING))
            raise InputError("this cannot be changed", where=where, value=others[0], allowed=allowed)
        stiffness, density = (
            check_number(values.get(name, 1.0), name=name, where=where, above=0.0) for name in FACTORS
        )
        model = self.model.scaled(stiffness, density)
        rates = None if self.rates is None else self.rates.scaled(stiffness, density)
        if not set(DAMPING) & set(values):
            return replace(self, model=model, rates=rates)
        known: DampingRates = rates or DampingRates(0.0, 0.0, 0.0)
        given: list[Any] = [values.get(name, value) for name, value in zip(DAMPING, known)]
        rates = DampingRates(*given)
        return replace(self, model=model, damping=rates.of(model), rates=rates)

    def adjustments(self) -> list[Adjustment]:
        """How many times stiffer it becomes, and damping where it is known what that is made of."""
        found = [Adjustment("stiffness_factor", 1.0, is_factor=True)]
        if self.rates is None:
            return found
        mass, stiffness, ratio = self.rates
        modes = tuple(f"mode {number}" for number in range(1, self.mode_count + 1)) if np.ndim(ratio) else ()
        found += [Adjustment("mass_damping", float(mass)), Adjustment("stiffness_damping", float(stiffness))]
        return [*found, one_or_each("damping_ratio", ratio, modes)]

    @property
    def mode_count(self) -> int:
        """r."""
        return self.model.mode_count

    @property
    def frequencies(self) -> Array:
        """Of the modes while the frame is held, (r,) [Hz]."""
        return self.model.frequencies

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(self.model.numbers.mass)

    @property
    def origin(self) -> Array:
        """Of the frame, in the mesh [m]."""
        return self.model.origin

    @property
    def mesh(self) -> Any:
        """The mesh, or the bare nodes of matrices."""
        return self.model.solid.mesh

    @cached_property
    def coordinates(self) -> FrameWithModes:
        """A frame with r modes."""
        return FrameWithModes(self.mode_count)

    @cached_property
    def inertia(self) -> FloatingMass:
        """Mass matrix, velocity terms, momentum."""
        return FloatingMass(self.model.numbers, self.coordinates.padded)

    @cached_property
    def force(self) -> ModalForce:
        """Elastic force and damping of the modes."""
        fastest = float(self.model.eigen[0][-1])
        return ModalForce(self.model.K, self.damping, self.coordinates.padded, fastest, self.model.cubic)

    def place(self, placement: Placement) -> PlacedBody:
        """The frame and q in the world."""
        x, v = place_frame(self.coordinates, placement, self.origin, np.asarray(self.q), np.asarray(self.q_rate))
        return PlacedBody(self.coordinates, x, v, (self.inertia,), (("modes", self.force),))

    # places on the body

    @staticmethod
    def points_of(local: Array, shapes: Array) -> FloatingPoints:
        """Points that follow the frame and q."""
        return FloatingPoints.make(local, shapes)

    def node_shapes(self, indices: Array) -> tuple[Array, Array]:
        """X (k, 3) [m] in the frame and shapes (k, 3, r) of nodes."""
        return self.model.X[indices], self.model.shapes[indices]

    def shapes_at(self, local: Array) -> tuple[Array, Array]:
        """The same of places (k, 3) [m] of the mesh: inside elements, or the nearest nodes where there are none."""
        weights, nodes = self._embedded(local)
        return local - self.origin, np.einsum("kw,kwil->kil", weights, self.model.shapes[nodes])

    def shapes_fixed_to(self, place: Array, local: Array) -> tuple[Array, Array]:
        """The same of points (k, 3) [m] held fast to a place (3,) [m] of the body, with its mean turn, as joints need.

        To first order in q: the place moves by a q and turns by w q, a point at d from it by a q + (w q) x d. A place
        among held nodes neither moves nor turns in the frame, though elements around it do.
        """
        X = np.asarray(self.mesh.nodes)
        weights, nodes = self._embedded(place[None])
        if self._is_held(nodes[0][np.abs(weights[0]) > 1e-9]):
            return local - self.origin, np.zeros((len(local), 3, self.mode_count))
        near = nodes[0] if nodes.shape[1] > 3 else np.sort(KDTree(X).query(place, k=min(NEAR, len(X)))[1])
        fit = Interface(X, near)
        gradient = np.einsum("kil,kj->lij", self.model.shapes[near], fit.duals)
        P = fit.projector
        axial = np.stack([gradient[:, 2, 1] - gradient[:, 1, 2], gradient[:, 0, 2] - gradient[:, 2, 0],
                          gradient[:, 1, 0] - gradient[:, 0, 1]], axis=1)  # fmt: skip
        w = axial @ np.linalg.inv(np.trace(P) * np.eye(3) - P)
        moved = np.einsum("w,wil->il", weights[0], self.model.shapes[nodes[0]])
        turned = np.cross(w[None], (local - place)[:, None])  # (k, r, 3)
        return local - self.origin, moved + turned.swapaxes(1, 2)

    def _is_held(self, nodes: Array) -> bool:
        """Whether all these nodes are held, by a support that does not lie on one line."""
        held = self.model.support.fixed_nodes
        if not np.isin(nodes, held).all():
            return False
        X = np.asarray(self.mesh.nodes)[held]
        return int(np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-9 * float(np.ptp(X)))) >= 2

    def _embedded(self, local: Array) -> tuple[Array, Array]:
        """Weights and numbers of the nodes that carry places of the mesh, (k, w) each."""
        if hasattr(self.mesh, "elements"):
            found = embed(local, self.mesh)
            return np.asarray(found.weights), np.asarray(found.nodes)
        distance, nearest = KDTree(self.mesh.nodes).query(local)
        if np.max(distance) > 1e-6 * self.mesh.diagonal:
            raise InputError(
                "a body without elements has points at its nodes only",
                where="FloatingBody",
                value=local[int(np.argmax(distance))].tolist(),
                fix="Choose a node, or give elements.",
            )
        return np.ones((len(local), 1)), nearest[:, None]

    # what q means

    def positions(self, x: Array) -> Array:
        """World positions of all nodes, (node_count, 3) [m], at coordinates x (1, 7 + p)."""
        check_coordinates(x, (1, self.coordinates.x_width), name="x", where="FloatingBody.positions")
        u = self.model.X + self.model.shapes @ x[0, 7 : 7 + self.mode_count]
        return x[0, :3] + u @ rotations.to_matrix(x[0, 3:7]).T

    def boundary_colours(self) -> Array | None:
        """Of the triangles of the boundary, by their materials, (k, 3), 0 to 1; None: as pictures choose."""
        solid = self.model.solid
        return solid.boundary_colours() if isinstance(solid, ElasticSolid) else None

    def stress(self, x: Array, placement: Placement | None = None) -> ElementStress:
        """Strain [-] and stress [Pa] of each element at coordinates x (1, 7 + p); see `Stressed`.

        Linear in the axes of the body, or Cauchy's of the St. Venant-Kirchhoff law where the force is cubic.
        """
        solid = self.model.solid
        if not isinstance(solid, ElasticSolid):
            raise InputError("stress needs the elements and their material", where="FloatingBody.stress")
        check_coordinates(x, (1, self.coordinates.x_width), name="x", where="FloatingBody.stress")
        axes = placement_of(placement, "FloatingBody.stress").axes
        law = Law.LINEAR if self.model.cubic is None else Law.STVK
        moved = self.model.X + self.model.shapes @ x[0, 7 : 7 + self.mode_count]
        lam, mu = solid.element_values("lam"), solid.element_values("mu")
        found = element_stress(self.model.X, self.mesh.elements, law, lam, mu, moved)
        return found.turned(rotations.to_matrix(x[0, 3:7]), axes)

    def inversion_check(self, rest: Array) -> FloatingInversion:
        """Which elements are inside out; see `Inverting`. Bare nodes have none."""
        return FloatingInversion.of(self.model)

    def advance(
        self,
        x: Array,
        v: Array,
        dt: float,
        *,
        steps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        stride: Stride | None = None,
        history: Array | None = None,
        workspace: StrideWorkspace | None = None,
    ) -> StrideReport:
        """Move coordinates x (1, 7 + p) and v (1, 6 + p) on by `steps` implicit midpoint steps of dt [s], in place.

        For a body alone, many steps in one compiled call. stride: tolerance, iterations and forces on points. history:
        of `stride_history`, kept between calls, so that steps in two calls have the bits of those in one. workspace: of
        `stride_workspace`, scratch that need not be made anew.
        """
        return advance(
            self, x, v, dt, steps=steps, gravity=gravity, stride=stride, history=history, workspace=workspace
        )

    @property
    def brings_stride(self) -> bool:
        """Whether `advance` knows its forces: the linear one of the modes."""
        return self.model.cubic is None

    def stride_workspace(self) -> StrideWorkspace:
        """Scratch of its stride."""
        return StrideWorkspace.empty(self.mode_count)

    def stride_history(self) -> Array:
        """What the start of a step's iteration is extrapolated from, before the first step."""
        return np.zeros((3, 6 + self.mode_count))


def _rates(model: FloatingModel, mass: float | None, stiffness: float | None, ratio: ArrayLike) -> DampingRates:
    """Of Rayleigh, by default the material's, and of the modes."""
    materials = getattr(model.solid, "materials", ())
    given = []
    for value, name in ((mass, "mass_damping"), (stiffness, "stiffness_damping")):
        if value is None:
            found = {getattr(material, name) for material in materials} or {0.0}
            if len(found) > 1:
                raise InputError(f"the materials have different {name}", value=sorted(found), fix=f"Give {name}=.")
            value = found.pop()
        given.append(check_number(value, name=name, where="FloatingBody", least=0.0))
    return DampingRates(given[0], given[1], ratio)
