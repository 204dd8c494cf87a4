"""Marks: links of lattices, contacts and pulls, as numbers in a look.

"links": [{"name", "rows", "places"}]     numbers of two places each (u4), places (f4, 3 each) [m]
"contacts": {"places", "forces", "highest"}   places [m] and forces [N] (f4, 3 each); the longest arrow stands for
                                           `highest` [N]
"pulls"                                   where a pull holds and where it pulls to (f4, 6 each) [m]
"tracked"                                 points of plots: which of the places it has, then x, y, z (f4, 4 each)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.bodies.capabilities import Linked
from supple.canvas.pack import Pack
from supple.record.files.contacts import contacts_of
from supple.record.surfaces import Surface
from supple.scene.state import State
from supple.scene.system import System
from supple.studio.looks.colour_scale import ColourScale

Array = np.ndarray
HIGHEST = 95.0
"""Percentile of the sizes of forces that the longest arrow stands for."""
LEAST = 1e-6
"""Smallest force [N] that the longest arrow stands for."""


def told_links(surfaces: list[Surface], state: State, pack: Pack) -> list[dict[str, Any]]:
    """Of all lattices."""
    told = []
    for surface in surfaces:
        body = surface.slot.body
        if isinstance(body, Linked):
            places = surface.slot.view_x(state.x)[:, :3]
            rows = pack.add(body.link_rows(), "u4")
            told.append({"name": surface.name, "rows": rows, "places": pack.add(places, "f4")})
    return told


def told_contacts(system: System, state: State, scale: ColourScale, now: float, pack: Pack) -> dict[str, Any]:
    """Those that pushed in the last step. now: wall time [s]."""
    found = contacts_of(system, state)
    sizes = np.linalg.norm(found.force, axis=1)
    highest = scale.follow(float(np.percentile(sizes, HIGHEST)) if len(sizes) else 0.0, now)
    return {
        "places": pack.add(found.place, "f4"),
        "forces": pack.add(found.force, "f4"),
        "highest": highest,
    }
