"""A scene as the tables of a scene file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import InputError
from supple.files.scenes.schema.scene import VERSION
from supple.files.scenes.schema.solver import describe_solver
from supple.files.scenes.writing.acting import (
    describe_filter,
    describe_force,
    describe_joint,
    describe_mass,
    describe_wind,
)
from supple.files.scenes.writing.bodies import BodyWriter
from supple.files.scenes.writing.contact import describe_contact
from supple.files.scenes.writing.values import Table, plain
from supple.files.scenes.writing.world import describe_world
from supple.scene import FixedPoints, Node, Scene


def describe_scene(scene: Scene, path: Path) -> tuple[Table, dict[Path, Any]]:
    """The tables, and the meshes to be written beside the file."""
    writer = BodyWriter(path)
    fixed, filters = _split_filters(scene)
    bodies = []
    for parent, node in _family(scene.root):
        table = writer.describe(node)
        table |= {} if parent is scene.root else {"under": parent.name}
        bodies.append(table | ({"fix": fixed[id(node)]} if id(node) in fixed else {}))
    data: Table = {"supple": VERSION, "name": scene.name, "gravity": plain(scene.gravity)}
    data |= {"materials": writer.material_tables(), "voxel_materials": writer.voxel_material_tables(), "bodies": bodies}
    data |= _forces(scene)
    data |= {"masses": [describe_mass(mass) for mass in scene.masses]}
    data |= {"joints": [describe_joint(j, scene.joint_name(j)) for j in scene.joints]}
    data |= {"filters": [describe_filter(f) for f in filters]}
    data |= {"contact": [describe_contact(c, scene) for c in scene.contacts]}
    if scene.solver is not None:
        data["solver"] = describe_solver(scene.solver)
        if data["solver"] is None:
            raise InputError("a solver of your own cannot be saved", value=type(scene.solver).__name__)
    data |= describe_world(scene)
    needed = ("supple", "bodies")
    return {key: value for key, value in data.items() if key in needed or np.size(value)}, writer.meshes


def _family(parent: Node) -> list[tuple[Node, Node]]:
    """All nodes below a node with their parents, top down."""
    above = {id(child): node for node in parent.walk() for child in node.children}
    return [(above[id(node)], node) for node in parent.walk() if node is not parent]


def _forces(scene: Scene) -> Table:
    """Loads, springs and winds; their common order too, where it is another than this."""
    lists: dict[str, list[Table]] = {"loads": [], "springs": [], "wind": []}
    order = []
    for acting in scene.forces:
        kind, table = describe_force(acting)
        order.append(f"{kind}[{len(lists[kind])}]")
        lists[kind].append(table)
    for name, wind in scene.winds.items():
        order.append(f"wind[{len(lists['wind'])}]")
        lists["wind"].append(describe_wind(wind) | ({} if name == "wind" else {"name": name}))
    plain_order = [f"{kind}[{k}]" for kind in lists for k in range(len(lists[kind]))]
    return {"force_order": [] if order == plain_order else order, **lists}


def _split_filters(scene: Scene) -> tuple[dict[int, Any], list[Any]]:
    """What `fix` of each body says, and the other filters; all are others where that keeps their order."""
    by_body: dict[int, list[FixedPoints]] = {}
    for f in scene.filters:
        if type(f) is FixedPoints and f.rotation and (f.selector is None or isinstance(f.selector, str)):
            by_body.setdefault(id(f.target), []).append(f)
    fixing = [f for node in scene.nodes for f in by_body.get(id(node), [])]
    chosen = {id(f) for f in fixing}
    others = [f for f in scene.filters if id(f) not in chosen]
    mixed = any(len(given) > 1 and any(_is_whole(f) for f in given) for given in by_body.values())
    if mixed or [id(f) for f in fixing + others] != [id(f) for f in scene.filters]:
        return {}, scene.filters
    regions = {key: [f.selector for f in given] for key, given in by_body.items()}
    return {key: True if _is_whole(by_body[key][0]) else regions[key] for key in by_body}, others


def _is_whole(given: FixedPoints) -> bool:
    return given.selector is None or given.target.is_frame
