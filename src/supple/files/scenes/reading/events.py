"""Events of a scene from those of its file."""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.files.scenes.places import Place
from supple.files.scenes.schema import events as schema
from supple.scene import Scene
from supple.scene.changing.contacts import contact_names
from supple.scene.changing.couplings import ADDED, REMOVED
from supple.scene.changing.in_place import END
from supple.scene.events import Event


def build_events(sections: list[schema.Event], scene: Scene, place: Place) -> list[Event]:
    """The events, each of which names what the scene then has."""
    known = {"gravity", *(node.name for node in scene.nodes), *(acting.label for acting in scene.forces)}
    known |= {*map(scene.joint_name, scene.joints), *scene.winds, *contact_names(scene), *scene.obstacles}
    bodies = {node.name for node in scene.nodes}
    pulls: set[str] = set()
    events: list[Event] = []
    for number, section in enumerate(sections):
        here = place.at(f"events[{number}]")
        name = section.change or section.pull or section.release or ""
        if section.change is not None:
            _refuse_unknown(here, "nothing of that name can be changed", name, known)
        elif section.body is not None:
            _refuse_unknown(here, "no body of that name", section.body, bodies)
            if name in pulls | known:
                raise here.error("the name is already used", value=name, fix="Release the pull before it begins anew.")
            pulls.add(name)
        else:
            _refuse_unknown(here, "no pull of that name has begun", name, pulls)
        if section.release is not None:
            pulls.discard(name)
        events.append(Event(section.step, name, _change_values(section)))
    return events


def _refuse_unknown(here: Place, what: str, name: str, known: set[str]) -> None:
    if name not in known:
        raise here.error(what, value=name, allowed=", ".join(sorted(known)) or "none")


def _change_values(section: schema.Event) -> dict[str, Any]:
    """As a state keeps them."""
    if section.change is not None:
        return dict(section.values or {})
    if section.release is not None:
        return {REMOVED: True}
    assert section.end is not None
    end = [section.end.tolist()]
    if section.body is None:
        return {END: end}
    point = {"numbers": section.numbers} if section.local is None else {"local": np.atleast_2d(section.local)}
    side = {"body": section.body} | {key: value.tolist() for key, value in point.items()}  # type: ignore[union-attr]
    table = {"kind": "Springs", "a": side, "b": {"world": end}, "rest_length": 0.0}
    return {ADDED: table | section.given("stiffness", "damping")}
