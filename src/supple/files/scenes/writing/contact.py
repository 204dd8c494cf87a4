"""Contact as a table of a scene file."""

from __future__ import annotations

from typing import Any

from supple.contact import Contact
from supple.errors import InputError
from supple.files.scenes.reading.contact import NUMBERS
from supple.files.scenes.writing.values import Table
from supple.scene import Scene


def describe_contact(contact: Contact, scene: Scene) -> Table:
    """The table of a contact, with what differs from the defaults."""
    default, table, number = Contact(), Table(), scene.contacts.index(contact)
    if (name := scene.contact_name(contact)) != ("contact" if number == 0 else f"contact-{number + 1}"):
        table["name"] = name
    if contact.bodies is not None:
        table["bodies"] = [node.name for node in contact.bodies]
    if not contact.between_bodies:
        table["between_bodies"] = False
    if not contact.enabled:
        table["enabled"] = False
    if contact.exclude:
        table["exclude"] = [list(pair) for pair in contact.exclude]
    if contact.frictions:
        table["frictions"] = [{"between": list(pair), "friction": float(f)} for pair, f in contact.frictions.items()]
    if contact.self_contact:
        table["self_contact"] = [node.name for node in contact.self_touching(scene)]
    if contact.parts:
        table["parts"] = {name: _regions(name, part) for name, part in contact.parts.items()}
    for name in NUMBERS:
        value = getattr(contact, name)
        if value != getattr(default, name):
            table[name] = value if isinstance(value, str) else float(value)
    return table or {"friction": float(contact.friction)}


def _regions(name: str, part: Any) -> list[str]:
    given = list(part) if isinstance(part, list | tuple) else [part]
    if not all(isinstance(region, str) for region in given):
        raise InputError(
            "a part of a surface is saved by the names of its regions",
            where=f"Contact, body '{name}'",
            fix="Name a region of the mesh, or keep the scene as a .py file.",
        )
    return given
