"""Surfaces: what can be seen of each body, and how its points follow from the state. Each body says what it shows.

A record shows some points only of a surface that has many and is carried by frames; with these it is made again.
Frames of a surface that shows all its points are kept too where they are few numbers, and those of trees always: a
page draws from them, and joints of skeletons follow them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.capabilities import Solid
from supple.bodies.carried import FRAME, CarriedSkin, Carriers, carriage_of, carriers_of
from supple.bodies.surfaces import FrameSkin, RenderSurface, RenderVolume, SingleSkin
from supple.material.colour import rgb
from supple.record.fields import VOLUME, Measure, fields_of
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
SAVED = 4
"""Carriage is kept where it has so many times fewer numbers than the points."""


@dataclass(frozen=True, eq=False)
class Surface:
    """What is seen of a body. slot: where the body lies in the state; shown: points and cells of the body; whole: what
    carries all points, where some of them only are shown, and whole_colours: of all triangles then; fields: what else
    is recorded at the points that are shown, see `supple.record.fields`; carriers: what is recorded to make all points
    again, None: the points alone are; volume: the tets behind it, where they are recorded."""

    name: str
    kind: str
    slot: Slot
    shown: RenderSurface
    whole: CarriedSkin | None = None
    whole_colours: Array | None = None
    fields: dict[str, Measure] = field(default_factory=dict)
    carriers: Carriers | None = None
    volume: RenderVolume | None = None

    @property
    def triangles(self) -> Array:
        """Numbers of the points of triangles, (k, 3)."""
        return self.shown.triangles

    @property
    def lines(self) -> Array:
        """Numbers of the points of lines, (l, 2)."""
        return self.shown.lines

    @property
    def vertices(self) -> Array:
        """Numbers of the points that are shown as such, (m, 1)."""
        return self.shown.vertices

    @property
    def colours(self) -> Array | None:
        """Red, green, blue, 0 to 1: of each triangle (k, 3), or of the whole (1, 3); None: as pictures choose."""
        given = self.slot.node.colour
        return self.shown.colours if given is None else rgb(given)[None]

    @property
    def point_count(self) -> int:
        """Number of points."""
        return int(self.shown.skin.count)

    @property
    def whole_count(self) -> int:
        """Number of points of the whole surface."""
        return self.point_count if self.whole is None else self.whole.carriers.count

    @property
    def is_solid(self) -> bool:
        """Whether the body is made of tets, recorded or not."""
        body = self.slot.body
        return self.volume is not None or (isinstance(body, Solid) and body.render_volume() is not None)

    @property
    def inner_count(self) -> int:
        """Number of recorded points inside."""
        return 0 if self.volume is None else int(self.volume.inner.count)

    def carriage(self, state: State) -> Array | None:
        """The numbers in single precision that the whole surface is made of again; None where it has no carriers."""
        if self.carriers is None:
            return None
        x = self.slot.view_x(state.x)
        row = carriage_of(self.shown, x) if self.whole is None else self.whole.carriage(x)
        return row.astype(np.float32, copy=False)

    def points(self, state: State) -> Array:
        """World positions in single precision, (point_count, 3) [m]."""
        x = self.slot.view_x(state.x)
        return self.shown.skin.positions(x).astype(np.float32) if self._single is None else self._single.single(x)

    def inner_points(self, state: State) -> Array:
        """World positions in single precision of the points inside, (inner_count, 3) [m]."""
        if self.volume is None:
            return np.zeros((0, 3), dtype=np.float32)
        return self.volume.inner.positions(self.slot.view_x(state.x)).astype(np.float32)

    @cached_property
    def _single(self) -> SingleSkin | None:
        return skin if isinstance(skin := self.shown.skin, SingleSkin) else None

    def field_values(self, state: State) -> dict[str, Array]:
        """The fields in single precision, (point_count,) or (point_count, 3) each."""
        return {name: measure(state).astype(np.float32) for name, measure in self.fields.items()}


@dataclass(frozen=True, eq=False)
class RigidPoints:
    """Points of all surfaces that one frame each carries without bending, found in one go. number (k,): of the surfaces
    in a list; frame (k, 7): where their frames lie in a state's positions; owner (n,), local (n, 3) [m]: the frame of
    each point, and where it is in its axes; start (k + 1,): of the points of each surface."""

    number: list[int]
    frame: Array
    owner: Array
    local: Array
    start: list[int]

    @classmethod
    def of(cls, surfaces: Sequence[Surface]) -> RigidPoints:
        """Those of a list of surfaces."""
        skins = ((k, surface.slot, surface.shown.skin) for k, surface in enumerate(surfaces))
        rigid = [(k, s, f) for k, s, f in skins if isinstance(f, FrameSkin) and f.shapes is None]
        counts = [skin.count for *_, skin in rigid]
        frame = np.array([slot.x_start for _, slot, _ in rigid], dtype=np.int64)[:, None] + np.arange(7)
        local = np.concatenate([np.zeros((0, 3)), *(skin.local for *_, skin in rigid)])
        start = np.cumsum([0, *counts]).tolist()
        return cls([k for k, *_ in rigid], frame, np.repeat(np.arange(len(rigid)), counts), local, start)

    def points(self, state: State) -> dict[int, Array]:
        """World positions in single precision, (count, 3) [m], by the number of their surface."""
        if not self.number:
            return {}
        x = state.x[self.frame]
        R = rotations.to_matrix(x[:, 3:])
        turned = np.einsum("nij,nj->ni", R[self.owner], self.local)
        found = (x[self.owner, :3] + turned).astype(np.float32)
        return {k: found[a:b] for k, (a, b) in zip(self.number, pairwise(self.start))}


def make_surface(slot: Slot, most: int | None = None, fields: Collection[str] = ()) -> Surface:
    """The surface of a body in a system, of so many points at most where frames carry them."""
    shown = slot.body.render_surface()
    if most is None or shown.skin.count <= most or not isinstance(shown.skin, CarriedSkin):
        volume = slot.body.render_volume() if VOLUME in fields and isinstance(slot.body, Solid) else None
        return Surface(slot.name, slot.body.kind, slot, shown, fields=fields_of(slot, shown, fields), volume=volume)
    given = slot.node.colour
    colours = shown.colours if given is None else np.broadcast_to(rgb(given), shown.triangles.shape)
    thin = shown.skin.thinned(most)
    measures, carriers = fields_of(slot, thin, fields), shown.skin.carriers
    return Surface(slot.name, slot.body.kind, slot, thin, shown.skin, colours, measures, carriers)


def with_carriers(surface: Surface) -> Surface:
    """The same, with what makes all points again, where that takes few numbers an instant, and of trees always, whose
    frames do not follow from the points; rigid motions do."""
    found = carriers_of(surface.shown) if surface.carriers is None else None
    if found is None or found.width <= FRAME:
        return surface
    is_short = SAVED * found.width <= 3 * surface.point_count
    return replace(surface, carriers=found) if is_short or found.branches is not None else surface


def make_surfaces(
    system: System,
    most: int | None = None,
    only: Collection[str] | None = None,
    fields: Collection[str] = (),
) -> list[Surface]:
    """The surfaces of all bodies, in their order; most: see `make_surface`, for bodies of these names only."""
    return [make_surface(s, most if only is None or s.name in only else None, fields) for s in system.bodies]


def are_shown(surfaces: Iterable[Surface], system: System) -> bool:
    """Whether surfaces show the bodies of a system as they are: none has changed, broken or moved in the state."""
    known = [(id(s.slot.body), s.slot.x_start) for s in surfaces]
    return known == [(id(slot.body), slot.x_start) for slot in system.bodies]
