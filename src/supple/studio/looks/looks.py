"""Looks: what watchers want to see beside the frames, some times a second and only while somebody wants it.

A look is the length of its JSON (u4), the JSON, then bytes that it tells places in, see `Pack`:

    {"field", "unit", "highest", "tints": [{"name", "per", "values"}],    colours of a field, see `field_colours`
     "selected": {"name", "kind", "mass", "size", "speed"},               the body that is selected
     "picked": name}                                                       what a click has met, "" where nothing

It may take a tenth of the time at most: what is dear to find is shown less often.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from supple.canvas.pack import Pack
from supple.record.surfaces import Surface
from supple.scene.state import State
from supple.studio.looks.field_colours import UNITS, FieldColours
from supple.studio.looks.wishes import Wish
from supple.studio.show import Show

INTERVAL = 0.1
"""Least wall time between looks [s]."""
SHARE = 0.1
"""Most of the wall time that finding them may take."""


class Looks:
    """The wishes of all watchers on what is shown of a system."""

    def __init__(self, show: Show) -> None:
        self.surfaces = {surface.name: surface for surface in show.surfaces}
        self.colours = FieldColours(show.surfaces, show.shapes[: len(show.surfaces)])
        self.wishes: dict[int, Wish] = {}
        self.picked: dict[int, str] = {}
        self.next_due, self.is_stale = 0.0, False

    def wish(self, watcher: int, wish: Wish) -> None:
        """What a watcher wants from now on."""
        self.wishes[watcher], self.is_stale = wish, True

    def tell_picked(self, watcher: int, body: str) -> None:
        """A watcher has clicked on a body; "": on none."""
        self.picked[watcher], self.is_stale = body, True

    def leave(self, watcher: int) -> None:
        """A watcher is gone."""
        self.wishes.pop(watcher, None)
        self.picked.pop(watcher, None)

    def send(self, state: State, clock: Callable[[], float], send: Callable[[tuple[int, bytes]], None]) -> None:
        """Give each watcher his look at a state, where it is time for it."""
        begun = clock()
        if not self.is_stale or not self.wishes or (begun < self.next_due and not self.picked):
            return
        self.is_stale = False
        made: dict[tuple[Wish, str | None], bytes] = {}
        for watcher, wish in self.wishes.items():
            key = (wish, self.picked.pop(watcher, None))
            if key not in made:
                made[key] = self.look(*key, state, begun)
            send((watcher, made[key]))
        self.next_due = begun + max(INTERVAL, (clock() - begun) / SHARE)

    def look(self, wish: Wish, picked: str | None, state: State, now: float) -> bytes:
        """As bytes."""
        about: dict[str, Any] = {"field": wish.field}
        pack = Pack()
        if wish.field:
            tints, highest = self.colours.tints(wish.field, state, wish.body, now)
            told = [{"name": t.name, "per": t.per, "values": pack.add(t.values, "u1")} for t in tints]
            about |= {"unit": UNITS[wish.field], "highest": highest, "tints": told}
        if wish.body in self.surfaces:
            about["selected"] = told_body(self.surfaces[wish.body], state)
        if picked is not None:
            about["picked"] = picked
        return joined(about, pack.data)


def told_body(surface: Surface, state: State) -> dict[str, Any]:
    """What a person is told of a body: name, kind, mass [kg], size (3,) [m] along the axes of the world, points."""
    x = surface.points(state)
    size = np.ptp(x, axis=0) if len(x) else np.zeros(3)
    return {
        "name": surface.name,
        "kind": surface.kind,
        "mass": float(surface.slot.body.total_mass),
        "size": [float(value) for value in size],
        "points": surface.point_count,
    }


def joined(about: dict[str, Any], data: bytes) -> bytes:
    """JSON and bytes as one message."""
    text = json.dumps(about).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + data
