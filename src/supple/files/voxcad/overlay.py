"""Changes of a voxcraft `.vxd` file to a scene: each child with replace="VXA.a.b" takes the place of that tag."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement

from supple.errors import FileFormatError

_PATH = re.compile(r"VXA(\.[A-Za-z_][A-Za-z0-9_]*){1,12}", re.ASCII)


def overlaid(scene: Element, changes: Element, file: str) -> Element:
    """The scene with the changes in place; those that say no place are put in a tag VXD, to be named as unread."""
    for change in list(changes):
        place = change.attrib.pop("replace", None)
        if place is None:
            rest = scene.find("VXD")
            (SubElement(scene, "VXD") if rest is None else rest).append(change)
            continue
        if not _PATH.fullmatch(place):
            raise FileFormatError(
                "the place to replace is not read",
                where=f"{file}, VXD/{change.tag}, attribute replace",
                value=place[:80],
                allowed="a path such as VXA.VXC.Structure",
            )
        _put(scene, place.split(".")[1:], change)
    return scene


def _put(scene: Element, tags: list[str], change: Element) -> None:
    """Replace the first tag at a path, or make it."""
    parent = scene
    for tag in tags[:-1]:
        found = parent.find(tag)
        parent = SubElement(parent, tag) if found is None else found
    change.tag = tags[-1]
    old = parent.find(change.tag)
    if old is None:
        parent.append(change)
    else:
        parent[list(parent).index(old)] = change
