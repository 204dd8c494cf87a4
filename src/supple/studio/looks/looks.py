"""Looks: what watchers want to see beside the frames, some times a second and only while somebody wants it.

A look is the length of its JSON (u4), the JSON, then bytes that it tells places in, see `Pack`:

    {"field", "unit", "highest", "tints": [{"name", "per", "values"}],    colours of a field, see `field_colours`
     "selected": {"name", "kind", "mass", "size", "speed"},               the body that is selected
     "picked": name,                                                       what a click has met, "" where nothing
     "links", "contacts", "pulls", "tracked"}                              see `marks`

Colours come at most ten times a second, marks thirty times. Either may take a tenth of the time at most: what
is dear to find is shown less often.
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
from supple.scene.system import System
from supple.studio.due import Due
from supple.studio.looks.colour_scale import ColourScale
from supple.studio.looks.field_colours import UNITS, FieldColours
from supple.studio.looks.marks import LEAST, told_contacts, told_links
from supple.studio.looks.wishes import Wish
from supple.studio.show import Show

Array = np.ndarray
COLOURS, MARKS = 0.1, 1 / 30
"""Least wall time between looks with colours, and with marks [s]."""
SHARE = 0.1
"""Most of the wall time that finding either may take."""


class Looks:
    """The wishes of all watchers on what is shown of a system."""

    def __init__(self, show: Show, tracked: Callable[[State], Array] | None = None) -> None:
        """tracked: where the points are that plots follow, see `Samples.places`."""
        self.tracked = tracked or (lambda state: np.zeros((0, 4)))
        self.surfaces = {surface.name: surface for surface in show.surfaces}
        self.colours = FieldColours(show.surfaces, show.shapes[: len(show.surfaces)])
        self.forces = ColourScale(LEAST)
        self.wishes: dict[int, Wish] = {}
        self.picked: dict[int, str] = {}
        self.colours_due, self.marks_due = Due(COLOURS, SHARE), Due(MARKS, SHARE)
        self.colours_stale = self.marks_stale = self.had_lines = False

    def wish(self, watcher: int, wish: Wish) -> None:
        """What a watcher wants from now on."""
        self.wishes[watcher] = wish
        self.forget()

    def tell_picked(self, watcher: int, body: str) -> None:
        """A watcher has clicked on a body; "": on none."""
        self.picked[watcher] = body
        self.forget()

    def leave(self, watcher: int) -> None:
        """A watcher is gone."""
        self.wishes.pop(watcher, None)
        self.picked.pop(watcher, None)

    def forget(self) -> None:
        """What was told last is not so any more."""
        self.colours_stale = self.marks_stale = True

    def send(
        self,
        system: System,
        state: State,
        pulls: Callable[[State], Array],
        clock: Callable[[], float],
        send: Callable[[tuple[int, str, bytes]], None],
    ) -> None:
        """Give each watcher his look at a state, where it is time for it, with a word for its kind: a newer one of a
        kind takes the place of an older one. pulls: their ends, see `Pulls.lines`."""
        begun = clock()
        colours = self.colours_stale and begun >= self.colours_due.at
        marks = self.marks_stale and begun >= self.marks_due.at
        if not self.wishes or not (colours or marks or self.picked):
            return
        lines, tracked = pulls(state), self.tracked(state)
        has_lines = len(lines) > 0 or len(tracked) > 0
        made: dict[Any, bytes] = {}
        for watcher, wish in self.wishes.items():
            picked = self.picked.pop(watcher, None)
            has_marks = marks and (wish.links or wish.contacts or has_lines or self.had_lines)
            if not (has_marks or picked is not None or (colours and (wish.field or wish.body))):
                continue
            key = (wish, picked)
            if key not in made:
                about, pack = self.seen(wish, state, begun) if colours else ({}, Pack())
                if marks:
                    about |= self.marked(wish, system, state, lines, begun, pack)
                    about["tracked"] = pack.add(tracked, "f4")
                made[key] = joined(about if picked is None else about | {"picked": picked}, pack.data)
            kind = "picked" if picked is not None else "colours" if colours else "marks"
            send((watcher, kind, made[key]))
        self._pay(begun, clock(), colours=colours, marks=marks)
        self.had_lines = has_lines if marks else self.had_lines

    def _pay(self, begun: float, ended: float, *, colours: bool, marks: bool) -> None:
        if colours:
            self.colours_due.pay(begun, ended)
            self.colours_stale = False
        if marks:
            self.marks_due.pay(begun, ended if not colours else begun)
            self.marks_stale = False

    def seen(self, wish: Wish, state: State, now: float) -> tuple[dict[str, Any], Pack]:
        """Colours, and the body that is selected."""
        about: dict[str, Any] = {"field": wish.field}
        pack = Pack()
        if wish.field:
            tints, highest = self.colours.tints(wish.field, state, wish.body, now)
            told = [{"name": t.name, "per": t.per, "values": pack.add(t.values, "u1")} for t in tints]
            about |= {"unit": UNITS[wish.field], "highest": highest, "tints": told}
        if wish.body in self.surfaces:
            about["selected"] = told_body(self.surfaces[wish.body], state)
        return about, pack

    def marked(self, wish: Wish, system: System, state: State, pulls: Array, now: float, pack: Pack) -> dict[str, Any]:
        """Links, contacts and pulls."""
        about: dict[str, Any] = {"pulls": pack.add(pulls, "f4")}
        if wish.links:
            about["links"] = told_links(list(self.surfaces.values()), state, pack)
        if wish.contacts:
            about["contacts"] = told_contacts(system, state, self.forces, now, pack)
        return about


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
