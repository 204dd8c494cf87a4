"""MemoryRecord: the frames of a run without a folder, thinned so that they stay small."""

from __future__ import annotations

import numpy as np

from supple.bodies.capabilities import Recasting
from supple.bodies.carried import Carriers, carriage_of, carriers_of
from supple.record.asked import check_body, frame_number
from supple.record.fields import VOLUME
from supple.record.files.contacts import Contacts
from supple.record.files.layout import COLUMNS
from supple.record.files.obstacles import obstacles_of, poses_of
from supple.record.files.relaying import share_of
from supple.record.frame import Frame
from supple.record.surfaces import Surface, are_shown, make_surfaces
from supple.scene.changes import Change
from supple.scene.changing.whole import Share
from supple.scene.joints.readings import JointReading
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
MAX_FRAMES = 256
MAX_BYTES = 64 << 20
FEWEST_FRAMES = 8


class MemoryRecord:
    """Every k-th frame and the last one; k doubles whenever the frames outgrow their workspace.

    A frame holds surface points, or the positions of the state where these are fewer: points are then found when they
    are asked for. Nodes inside bodies made of tets are held where all frames still fit. Beside points the numbers are
    held that carry trees: frames of domains do not follow from points.
    """

    def __init__(self, system: System, ground: list[float] | None = None) -> None:
        """ground: see `ground_of`."""
        self.name, self.ground = system.name, ground
        self.asked: tuple[str, ...] = (VOLUME,)
        self.surfaces: dict[str, Surface] = self._surfaces_of(system)
        shown, whole = sum(12 * s.point_count for s in self.surfaces.values()), system.x0.nbytes
        self.keeps_positions = whole <= shown
        inside = sum(12 * s.inner_count for s in self.surfaces.values())
        if not self.keeps_positions and MAX_FRAMES * (shown + inside) > MAX_BYTES:
            self.asked = ()
            self.surfaces = self._surfaces_of(system)
        self.body_names = list(self.surfaces)
        self.limit = max(FEWEST_FRAMES, min(MAX_FRAMES, MAX_BYTES // max(1, min(shown, whole))))
        self.stride, self.seen = 1, 0
        self.rows: list[dict[str, object]] = []
        self.frames: list[dict[str, Array] | State] = []
        self.inner: list[dict[str, Array]] = []  # beside frames of surface points
        self.carried: list[dict[str, Array]] = []  # of trees, likewise
        self.touching: list[Contacts] = []
        self.held: list[dict[str, JointReading]] = []
        self.done: list[Change] = []
        self.done_counts: list[int] = []
        self.system, self.obstacles = system, obstacles_of(system)
        self.shares = {name: share_of(system, s) for name, s in self.surfaces.items()}
        self.last_is_extra = False

    def append(self, frame: Frame) -> None:
        """Keep a frame, in place of the last one where that was not due."""
        if self.last_is_extra:
            for kept in (self.rows, self.frames, self.inner, self.carried, self.touching, self.held, self.done_counts):
                del kept[-1]  # type: ignore[attr-defined]
        self.last_is_extra = self.seen % self.stride != 0
        self.seen += 1
        self.rows.append(frame.row())
        self.frames.append(self._kept(frame.state))
        self.inner.append({} if self.keeps_positions else self._inner(frame.state))
        self.carried.append({} if self.keeps_positions else self._carriage(frame.state))
        self.touching.append(frame.contacts)
        self.held.append(frame.joints)
        self.done = frame.changes
        self.done_counts.append(len(self.done))
        if len(self.frames) > self.limit and not self.last_is_extra:
            self.stride *= 2
            last = len(self.frames) - 1
            self.last_is_extra = last % 2 != 0
            kept = [k for k in range(last + 1) if k % 2 == 0 or k == last]
            self.rows = [self.rows[k] for k in kept]
            self.frames = [self.frames[k] for k in kept]
            self.inner = [self.inner[k] for k in kept]
            self.carried = [self.carried[k] for k in kept]
            self.touching = [self.touching[k] for k in kept]
            self.held = [self.held[k] for k in kept]
            self.done_counts = [self.done_counts[k] for k in kept]

    def follow(self, system: System) -> None:
        """Show the bodies of a system that has changed from now on; those that broke, in all frames."""
        if are_shown(self.surfaces.values(), system):
            return
        surfaces = self._surfaces_of(system)
        old, new = self.shares, {name: share_of(system, s) for name, s in surfaces.items()}
        if any(isinstance(s.slot.body, Recasting) for s in self.surfaces.values()):  # its coordinates may be others
            kept = range(len(self.frames))
            self.inner = [{name: self.inner_points(name, k) for name in self.surfaces} for k in kept]
            self.frames = [{name: self.points(name, k) for name in self.surfaces} for k in kept]
            self.carried = [{} for _ in kept]
        if {name: len(share.shown) for name, share in old.items()} != {n: len(share.shown) for n, share in new.items()}:
            self.frames = [_shared_out(frame, old, new) for frame in self.frames]  # type: ignore[arg-type]
        self.surfaces, self.body_names, self.shares = surfaces, list(surfaces), new

    def _surfaces_of(self, system: System) -> dict[str, Surface]:
        return {s.name: s for s in make_surfaces(system, fields=self.asked)}

    def _inner(self, state: State) -> dict[str, Array]:
        return {name: s.inner_points(state) for name, s in self.surfaces.items() if s.inner_count}

    def _carriage(self, state: State) -> dict[str, Array]:
        carried = {name: carriers_of(s.shown) for name, s in self.surfaces.items()}
        return {
            name: carriage_of(self.surfaces[name].shown, self.surfaces[name].slot.view_x(state.x)).astype(np.float32)
            for name, carriers in carried.items()
            if carriers is not None and carriers.branches is not None
        }

    def _kept(self, state: State) -> dict[str, Array] | State:
        if self.keeps_positions:
            return State(state.t, state.x.copy(), np.zeros(0))
        return {name: s.points(state) for name, s in self.surfaces.items()}

    @property
    def columns(self) -> dict[str, Array]:
        """What was measured at each kept frame; names as in `Record.columns`."""
        ends = np.cumsum([len(contacts.pairs) for contacts in self.touching])
        rows = [row | {"contacts": int(end)} for row, end in zip(self.rows, ends)]
        return {name: np.array([row[name] for row in rows]) for name in COLUMNS}

    @property
    def times(self) -> Array:
        """Times of the kept frames (frames,) [s]."""
        return np.array([row["time"] for row in self.rows], dtype=float)

    def _number(self, frame: int) -> int:
        return frame_number(frame, len(self.frames), where="frames")

    def _surface(self, body: str) -> Surface:
        check_body(body, self.surfaces, where="frames")
        return self.surfaces[body]

    def points(self, body: str, frame: int) -> Array:
        """Surface points of a body in a kept frame, (n, 3) float32 [m]."""
        surface, kept = self._surface(body), self.frames[self._number(frame)]
        return surface.points(kept) if isinstance(kept, State) else kept[body]

    def carriers(self, body: str) -> Carriers | None:
        """What carries the surface of a body, where the numbers for it are kept in all frames; None: its points are."""
        is_kept = all(isinstance(f, State) or body in own for f, own in zip(self.frames, self.carried))
        return carriers_of(self._surface(body).shown) if is_kept else None

    def carriage(self, body: str, frame: int) -> Array:
        """The numbers of a kept frame that carriers need, (width,)."""
        number = self._number(frame)
        surface, kept = self._surface(body), self.frames[number]
        if not isinstance(kept, State):
            return self.carried[number][body]
        return carriage_of(surface.shown, surface.slot.view_x(kept.x))

    def contacts(self, frame: int) -> Contacts:
        """The contacts that pushed at a kept frame."""
        return self.touching[self._number(frame)]

    def joints(self, frame: int) -> dict[str, JointReading]:
        """What each joint did at a kept frame, by name."""
        return self.held[self._number(frame)]

    def changes(self, frame: int | None = None) -> list[Change]:
        """What was changed while the scene ran: all of it, or since the kept frame before this one."""
        if frame is None:
            return self.done
        number = self._number(frame)
        return self.done[self.done_counts[number - 1] if number else 0 : self.done_counts[number]]

    def poses(self, frame: int) -> Array:
        """Where the obstacles were at a kept frame, (n, 7)."""
        return poses_of(self.system, float(self.times[self._number(frame)]))

    def triangles(self, body: str) -> Array:
        """Surface triangles of a body, (k, 3)."""
        return self._surface(body).triangles

    def colours(self, body: str) -> Array | None:
        """Red, green, blue, 0 to 1: of each triangle (k, 3), or of the whole body (1, 3); None: it has none."""
        return self._surface(body).colours

    fields: tuple[str, ...] = ()
    """A run without a folder keeps none."""

    def field(self, body: str, name: str, frame: int) -> Array | None:
        """None: see `fields`."""
        return None

    @property
    def solids(self) -> list[str]:
        """Names of the bodies made of tets, whether these are held or not."""
        return [name for name, surface in self.surfaces.items() if surface.is_solid]

    def tets(self, body: str) -> Array | None:
        """Tets of a body, (m, 4): numbers of its points, then of its inner points; None: its surface alone is held."""
        volume = self._surface(body).volume
        return None if volume is None else volume.tets

    def inner_points(self, body: str, frame: int) -> Array:
        """The nodes inside a body in a kept frame, (k, 3) float32 [m]."""
        number = self._number(frame)
        kept = self.frames[number]
        if isinstance(kept, State):
            return self._surface(body).inner_points(kept)
        return self.inner[number].get(body, np.zeros((0, 3), dtype=np.float32))

    def lines(self, body: str) -> Array:
        """Lines of a body, (l, 2)."""
        return self._surface(body).lines


def _shared_out(frame: dict[str, Array], old: dict[str, Share], new: dict[str, Share]) -> dict[str, Array]:
    """The points of a frame, by bodies that are parts of those before."""
    whole: dict[str, Array] = {}
    for name, share in old.items():
        size = 1 + int(share.shown.max())
        known = whole.get(share.body, np.zeros((0, 3), dtype=np.float32))
        if len(known) < size:
            known = np.concatenate([known, np.zeros((size - len(known), 3), dtype=np.float32)])
        known[share.shown] = frame[name]
        whole[share.body] = known
    return {name: whole[share.body][share.shown] for name, share in new.items()}
