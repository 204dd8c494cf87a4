"""Optional capabilities of a body. A kind has one by having its method.

Whoever needs a capability asks for it by `isinstance`, never for the name of a kind.

    Framed            one frame carries the body: joints may ask for its orientation, filters hold it as a whole
    Holding           points held fast to a place of a body that deforms, for joints
    Massed            masses of its points, and what a person calls one of them
    Faced             outward faces that pressures act on
    Shown             a finer surface to be seen, which can be pulled at
    Solid             tets behind its surface, which can be recorded and exported
    Dragging          another surface for the wind than the one that touches
    ExplicitContact   contact constants of its own, since its contacts are met in small explicit steps
    Inverting         elements that may turn inside out
    SelfSolving       the matrix of what its frame carries, solved by itself: a preconditioner
    Remembering       memory beside coordinates
    Breaking          it can be broken in two while it runs
    Pressed           energy of contacts with obstacles, which its own stride meets
    Gapped            gaps between its domains
    Carrying          it steps itself, masses on its points included
    Recasting         parts of it can be of other kinds, with other coordinates
    Changeable        its material, or what drives it, can change while it runs; `changing.Adjustable`: it says what
    Stressed          strain and stress of its elements
    Extrapolating     its stride begins each step with what the last ones found
    Linked            links between its rows, which can be shown
    Branching         domains that hang on each other, which can be shown
    Foreseeing        what there is to know of several instants is found in one call
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from supple.bodies.body_protocol import Body, Surface
from supple.bodies.placement import Placement
from supple.bodies.protocols import Mapping
from supple.bodies.surfaces import MappedSurface, RenderVolume
from supple.elements.recovery import ElementStress
from supple.geometry.surfaces.convex import ConvexShape

Array = np.ndarray


@runtime_checkable
class Framed(Protocol):
    """A body that one frame carries."""

    def frame_origin(self) -> Array:
        """Where the frame sits at rest, (3,)."""
        ...


@runtime_checkable
class Holding(Protocol):
    """A body with a frame that also deforms."""

    def held_mapping(self, place: Array, local: Array) -> Mapping:
        """Points (k, 3) held fast to a place (3,) of the body, which turn with it: for joints."""
        ...


@runtime_checkable
class Massed(Protocol):
    """A body whose coordinates are rows of points or frames."""

    def point_masses(self) -> Array:
        """Of each row, (count,) [kg]."""
        ...

    def point_word(self) -> str:
        """What a person calls a row: node, particle, voxel."""
        ...


@runtime_checkable
class Faced(Protocol):
    """A body with a boundary of faces between its points."""

    def face_triangles(self, region: Any) -> Array:
        """Outward triangles (k, 3) of a region of its boundary, or of all, in the numbers of its points."""
        ...


@runtime_checkable
class Shown(Protocol):
    """A body that may be given a finer surface to be seen."""

    def shown_surface(self) -> MappedSurface:
        """Its points, as points that follow the body."""
        ...


@runtime_checkable
class Solid(Protocol):
    """A body with a mesh behind its render surface."""

    def render_volume(self) -> RenderVolume | None:
        """Its tets; None where the mesh has none."""
        ...


@runtime_checkable
class Dragging(Protocol):
    """A body with a surface for the wind alone."""

    def wind_surface(self) -> Surface:
        """What the wind blows on."""
        ...


class ContactConstants(NamedTuple):
    """sinks: part of its size by which a body sinks under its weight. modulus [N/m³]: the largest pressure a depth.
    dash: a [kg^1/2 / m], b [kg / m² / s]: dashpot over spring is min(a / K^1/2, b / K) at K [N/m³]; nan: none."""

    sinks: float
    modulus: float = np.inf
    dash: tuple[float, float] = (np.nan, np.nan)


@runtime_checkable
class ExplicitContact(Protocol):
    """A body whose contacts must be soft enough for its own steps."""

    def contact_constants(self) -> ContactConstants:
        """How soft."""
        ...


@runtime_checkable
class Stressed(Protocol):
    """A body of elements with a law."""

    def stress(self, x: Array, placement: Placement | None = None) -> ElementStress:
        """Of each element at the body's coordinates x. placement: where the body was put at the start, None: not moved
        from where it was made. Cauchy's stress [Pa] is in the axes of the world, strain [-] in those of the body at its
        start, as it stood in the world."""
        ...


class InversionCheck(Protocol):
    """Which elements are inside out. stays: whether the law keeps them so. word: what they are called, in plural."""

    @property
    def stays(self) -> bool: ...
    @property
    def word(self) -> str: ...
    @property
    def count(self) -> int:
        """Of all its elements."""
        ...

    def place(self, number: int) -> str:
        """Where an element is, in words."""
        ...

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted elements at coordinates x."""
        ...


@runtime_checkable
class Inverting(Protocol):
    """A body of elements."""

    def inversion_check(self, rest: Array) -> InversionCheck:
        """The check of the body with world positions `rest` (n, 3) of its points at the start."""
        ...


class Factor(Protocol):
    """A factored matrix."""

    def apply(self, r: Array, z_out: Array) -> None:
        """z_out = A^-1 r."""
        ...


class OwnSolve(NamedTuple):
    """factor: of the rows of q; C, Y (6, rows of q): the coupling of the frame to q, in body axes, and C A_qq^-1."""

    factor: Factor
    C: Array
    Y: Array


@runtime_checkable
class SelfSolving(Protocol):
    """A body with one frame and many coordinates q that it solves by itself."""

    def own_solve(self, x: Array, mass: float, damping: float, stiffness: float) -> OwnSolve:
        """For (mass M + damping B + stiffness K) / mass at coordinates x."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A body with memory: arrays "name/..." of a state."""

    def recall(self, kept: dict[str, Array]) -> Any:
        """What its forces see as `LocalState.memory`, from its arrays."""
        ...


class BrokenPart(NamedTuple):
    """A part of a body after a break: body, coordinates x and v, points (k,): numbers in the whole of its points,
    label: what it is called after the whole. shown (l,): numbers of what is seen of it, where these are others. frame
    (7,): where its axes were in the whole's, at rest."""

    body: Body
    x: Array
    v: Array
    points: Array
    label: str
    shown: Array | None = None
    frame: Array | None = None


@runtime_checkable
class Breaking(Protocol):
    """A body that can be broken in two."""

    def broken(self, x: Array, v: Array, place: int | str) -> tuple[BrokenPart, BrokenPart]:
        """The rest and the branch, where it breaks at a place of coordinates x, v."""
        ...


@runtime_checkable
class Carrying(Protocol):
    """A body whose own steps move masses that hang on its points."""

    def carrying(self, loads: Sequence[tuple[Mapping, Array, Array]]) -> Body:
        """The body with these masses in the place of those it carried: points, weights (k, points) and m (k,) [kg]."""
        ...


@runtime_checkable
class Pressed(Protocol):
    """A body whose stride meets obstacles by itself."""

    def pressed_energy(self, x: Array, obstacles: Sequence[Any]) -> float:
        """Of its contacts with obstacles where these were given [J], at coordinates x."""
        ...


@runtime_checkable
class Gapped(Protocol):
    """A body with gaps between its domains."""

    def largest_gap(self, x: Array) -> float:
        """At coordinates x [m]."""
        ...


@runtime_checkable
class Convex(Protocol):
    """A rigid body that may touch others by a convex shape, in a few points."""

    def convex_shape(self) -> ConvexShape | None:
        """The shape, in the body's axes; None where it has none."""
        ...


@runtime_checkable
class Patched(Protocol):
    """A body of small bodies, such as voxels, each of which can carry a frame."""

    def patch_points(self, numbers: Array) -> tuple[Mapping, Array]:
        """Points around some of its own that carry a frame together, and where they rest in its axes, (n, 3) [m]."""
        ...


@runtime_checkable
class Changeable(Protocol):
    """A body that can change while it runs."""

    def changed(self, values: dict[str, Any], *, where: str) -> Body:
        """The body with other values by their names, its coordinates as they are. where: who asks, for errors."""
        ...


class RecastBody(NamedTuple):
    """A body with other coordinates x, v, and as many points as before."""

    body: Body
    x: Array
    v: Array


@runtime_checkable
class Recasting(Protocol):
    """A body of parts whose kinds can change while it runs, and with them its coordinates."""

    def recast(self, x: Array, v: Array, values: dict[str, Any], *, where: str) -> RecastBody | None:
        """The body with other kinds of parts, from coordinates x, v; momentum is kept where it is free. None where the
        values are others. where: who asks, for errors."""
        ...


@runtime_checkable
class Extrapolating(Protocol):
    """A body with a stride of its own that remembers the last steps."""

    def stride_history(self) -> Array:
        """What it remembers before the first step; given to `advance` as `history`, which changes it in place."""
        ...

    def stride_workspace(self) -> Any:
        """Scratch, given to `advance` as `workspace`."""
        ...


@runtime_checkable
class Linked(Protocol):
    """A body whose rows of points or frames are joined by links."""

    def link_rows(self) -> Array:
        """Numbers of the two rows of each link, (m, 2)."""
        ...


@runtime_checkable
class Branching(Protocol):
    """A body of domains, of which each but the first hangs on another."""

    def domain_parents(self) -> Array:
        """Number of the domain that each hangs on, (d,), -1: on none."""
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A body that finds what a frame asks of it for several frames in one call."""

    @property
    def foresight(self) -> int:
        """For how many instants that pays; 1: for none."""
        ...

    def foresee(self, x: Array, v: Array) -> None:
        """Coordinates x, v (k, width) of the instants for which it will be asked next."""
        ...
