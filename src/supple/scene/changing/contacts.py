"""Contacts that change: their numbers, and who may touch whom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from supple.errors import InputError
from supple.scene.changing.whole import Whole, refuse_others
from supple.scene.scene import Scene
from supple.scene.world import default_contact

NUMBERS = ("friction", "static_friction", "stiffness", "damping", "tangential_stiffness", "restitution", "push_speed")


def contact_names(scene: Scene) -> list[str]:
    """The names of the contacts of a scene; that of obstacles alone is "contact"."""
    if scene.contacts:
        return [scene.contact_name(contact) for contact in scene.contacts]
    return ["contact"] if scene.obstacles else []


def change_contact(whole: Whole, name: str, values: dict[str, Any], where: str) -> Whole:
    """With other numbers of a contact, or with bodies that may touch or may not."""
    out = whole.copy()
    scene = out.scene
    if not scene.contacts:
        scene.add(default_contact())
    old = next(contact for contact in scene.contacts if scene.contact_name(contact) == name)
    if "enabled" in values:
        refuse_others(values, ("enabled", "pair"), where)
        new = _enabled(old, scene, values, where)
    elif "pair" in values:
        refuse_others(values, ("friction", "pair"), where)
        pair = _pair(old, scene, values["pair"], where)
        if "friction" not in values:
            raise InputError("nothing is changed", where=where, fix="Give enabled= or friction= beside the pair.")
        others = {known: f for known, f in old.frictions.items() if set(known) != set(pair)}
        new = replace(old, frictions={**others, pair: values["friction"]})
    else:
        refuse_others(values, (*NUMBERS, "enabled", "pair"), where)
        new = replace(old, **values)
    scene.contact_names[id(new)] = name
    scene.contacts = [new if contact is old else contact for contact in scene.contacts]
    return out


def _enabled(old: Any, scene: Scene, values: dict[str, Any], where: str) -> Any:
    enabled = values["enabled"]
    if not isinstance(enabled, bool):
        raise InputError("enabled is not True or False", where=where, value=enabled)
    if "pair" not in values:
        if enabled and old.enabled:
            raise InputError("the contact was not disabled", where=where)
        return replace(old, enabled=enabled)
    pair = _pair(old, scene, values["pair"], where)
    others = [tuple(known) for known in old.exclude if set(known) != set(pair)]
    if enabled and len(others) == len(old.exclude):
        raise InputError("this pair may touch already", where=where, value=" and ".join(pair))
    return replace(old, exclude=others if enabled else [*others, pair])


def _pair(contact: Any, scene: Scene, given: object, where: str) -> tuple[str, str]:
    known = [node.name for node in contact.nodes(scene)] + list(scene.obstacles)
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(name, str) for name in given):
        raise InputError("a pair is two names of bodies or obstacles", where=where, value=given)
    for name in given:
        if name not in known:
            raise InputError("nothing of that name may touch", where=where, value=name, allowed=", ".join(known))
    return given[0], given[1]
