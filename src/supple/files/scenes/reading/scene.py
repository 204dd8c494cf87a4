"""A scene from a checked scene file: bodies first, then what acts on them, in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from supple.files.scenes.places import Place
from supple.files.scenes.reading.acting import (
    add_mass,
    build_filter,
    build_joint,
    build_load,
    build_springs,
    build_wind,
)
from supple.files.scenes.reading.bodies import build_body
from supple.files.scenes.reading.contact import build_contact
from supple.files.scenes.reading.stand_ins import check_stand_in
from supple.files.scenes.reading.voxels import build_voxel_material
from supple.files.scenes.reading.world import build_world
from supple.files.scenes.schema.bodies import Group, TreeBody
from supple.files.scenes.schema.scene import Document
from supple.files.scenes.schema.solver import make_solver
from supple.material import Material
from supple.material.voxel import VoxelMaterial
from supple.scene import Node, Scene

UNIT_TOLERANCE = 1e-15  # a quaternion this near to unit length is taken as written, so that a saved one comes back


def build_scene(document: Document, place: Place, stand_ins: Mapping[str, Any] = MappingProxyType({})) -> Scene:
    """The scene of a document. stand_ins: bodies that are taken for those of these names."""
    for name in stand_ins:
        check_stand_in(document, name, place)
    materials: dict[str, Material] = {}
    for name, section in document.materials.items():
        with place.at(f"materials.{name}").guarded():
            numbers = section.given("young", "poisson", "density", "mass_damping", "stiffness_damping", "colour")
            materials[name] = Material(**numbers, name=name)
    voxel_materials: dict[str, VoxelMaterial] = {}
    for name, numbers_of_voxels in document.voxel_materials.items():
        with place.at(f"voxel_materials.{name}").guarded():
            voxel_materials[name] = build_voxel_material(numbers_of_voxels, name)
    scene = Scene(**document.given("gravity", "name"))
    if document.solver is not None:
        with place.at("solver").guarded():
            scene.solver = make_solver(document.solver)
    for k, body in enumerate(document.bodies):
        made = stand_ins.get(body.name) if body.name is not None else None
        _add_body(scene, body, materials, voxel_materials, place.at(f"bodies[{k}]"), made)
    build_world(scene, document, place)
    _add_forces(scene, document, place)
    acting: tuple[tuple[str, list[Any], Any], ...] = (
        ("joints", document.joints, build_joint),
        ("filters", document.filters, build_filter),
        ("contact", document.contact, build_contact),
    )
    for kind, sections, build in acting:
        for k, part in enumerate(sections):
            with place.at(f"{kind}[{k}]").guarded():
                scene.add(build(part, scene), **({"name": part.name} if kind != "filters" else {}))
    return scene


def _add_body(
    scene: Scene,
    section: Any,
    materials: dict[str, Material],
    voxel_materials: dict[str, VoxelMaterial],
    place: Place,
    stand_in: Any = None,
) -> None:
    with place.guarded():
        under = _find_node(scene, section.under, place)
        if isinstance(section, Group):
            scene.group(section.name, under=under)
            return
        body = build_body(section, materials, voxel_materials, place) if stand_in is None else stand_in
        held = () if isinstance(section, TreeBody) else ("fix",)  # a tree is held by its root's nodes, not by a filter
        given = section.given("at", "rotation", "velocity", "spin", "colour", *held, "name")
        node = scene.add(body, under=under, **given)
        q = given.get("rotation")
        if q is not None and q.shape == (4,) and abs(np.linalg.norm(q) - 1) <= UNIT_TOLERANCE:
            node.placement = replace(node.placement, rotation=q)


def _find_node(scene: Scene, name: str | None, place: Place) -> Node | None:
    if name is None:
        return None
    found = next((node for node in scene.root.walk() if node.name == name and node is not scene.root), None)
    if found is None:
        raise place.at(f"{place.keys}.under").error(f"no body or group above is called '{name}'")
    return found


def _add_forces(scene: Scene, document: Document, place: Place) -> None:
    sections: dict[str, Any] = {f"loads[{k}]": (part, build_load) for k, part in enumerate(document.loads)}
    sections |= {f"springs[{k}]": (part, build_springs) for k, part in enumerate(document.springs)}
    sections |= {f"wind[{k}]": (part, build_wind) for k, part in enumerate(document.wind)}
    for keys in document.force_order or sections:
        part, build = sections[keys]
        with place.at(keys).guarded():
            scene.add(build(part, scene), **part.given("name"))
    for k, mass in enumerate(document.masses):
        with place.at(f"masses[{k}]").guarded():
            add_mass(mass, scene)
