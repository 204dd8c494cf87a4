"""Contact from a scene file."""

from __future__ import annotations

from supple.contact import Contact
from supple.files.scenes.reading.acting import find_body
from supple.files.scenes.schema import contact as schema
from supple.scene import Scene

NUMBERS = (
    "friction",
    "static_friction",
    "stiffness",
    "damping",
    "tangential_stiffness",
    "restitution",
    "margin",
    "overlap",
    "push_speed",
)


def build_contact(section: schema.Contact, scene: Scene) -> Contact:
    """The contact of a table."""
    for name in section.parts or {}:
        find_body(scene, name)
    return Contact(
        None if section.bodies is None else [find_body(scene, name) for name in section.bodies],
        frictions={(one, two): f.friction for f in section.frictions for one, two in [f.between]},
        self_contact=[find_body(scene, name) for name in section.self_contact],
        exclude=[(one, two) for one, two in section.exclude],
        parts=section.parts or {},
        **section.given("between_bodies", "enabled", *NUMBERS),
    )
