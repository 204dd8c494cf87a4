"""A tree of domains as a folder of VegaFEM's files: of each kind its mesh with materials, and the vertices it holds.

    name.veg          mesh in the kind's own frame, material by regions
    name.bou          held vertices, where there are any
    name.obj          skin, where there is one
    tree.json         kinds with modes, damping and interfaces; domains, parents first; welds

The meshes and held vertices are what VegaFEM's reduction needs; the tree itself it does not know.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.bodies.tree.domains.domain_tree import Domain, DomainInterface, DomainTemplate, DomainTree
from supple.errors import FileFormatError, InputError, check_instance, check_path
from supple.geometry import HexMesh, TetMesh, VegFile, VegMaterial, load_bou, load_veg, save_bou, save_veg
from supple.geometry.files.file_guard import read_text
from supple.geometry.files.obj import load_obj, save_obj
from supple.geometry.meshes.region import Region
from supple.material import Material

TREE = "tree.json"
NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_. -]*[A-Za-z0-9_.-])?")
UNIT_TOLERANCE = 1e-15  # a quaternion this near to unit length is taken as written, so that a saved one comes back
DAMPING = ("mass_damping", "stiffness_damping")


def save_domain_tree(folder: str | Path, domain_tree: DomainTree) -> list[Path]:
    """Write a tree of domains; returns the files. Regions of nodes and faces are left out: `.veg` holds none."""
    folder = check_path(folder, where="save_domain_tree")
    check_instance(domain_tree, DomainTree, "a tree of domains", where="save_domain_tree")
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file", where="save_domain_tree", value=str(folder), fix="Give a folder.")
    for name in domain_tree.kinds:
        if not NAME.fullmatch(name):
            raise InputError(
                "a kind's name is not usable as a file's", value=name, allowed="letters, digits, spaces, _ . -"
            )
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, kind in domain_tree.kinds.items():
        files.append(folder / f"{name}.veg")
        save_veg(files[-1], _veg_file(kind))
        if kind.held.size:
            files.append(folder / f"{name}.bou")
            save_bou(files[-1], kind.held)
        if kind.skin is not None:
            files.append(folder / f"{name}.obj")
            save_obj(files[-1], kind.skin)
    tree = {
        "kinds": {name: _kind_entry(kind) for name, kind in domain_tree.kinds.items()},
        "domains": [vars(d) for d in domain_tree.domains],
        "welds": domain_tree.welds.tolist(),
        "free": domain_tree.free,
        "joined": [list(pair) for pair in domain_tree.joined],
    }
    files.append(folder / TREE)
    files[-1].write_text(json.dumps(tree, indent=1) + "\n")
    return files


def load_domain_tree(folder: str | Path) -> DomainTree:
    """Read a tree of domains that `save_domain_tree` wrote; files edited elsewhere are read with it."""
    path = check_path(folder, where="load_domain_tree") / TREE
    try:
        tree = json.loads(read_text(path))
        kinds = {str(name): _load_kind(path.parent, str(name), entry) for name, entry in tree["kinds"].items()}
        domains = [Domain(**entry) for entry in tree["domains"]]
        welds = np.array(tree["welds"], dtype=np.int64).reshape(-1, 3)
        free = None if tree.get("free") is None else bool(tree["free"])
        joined = [(int(number), str(interface)) for number, interface in tree.get("joined", tree.get("tied", []))]
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise FileFormatError(
            f"the tree is not understood: {type(error).__name__} {error}"[:200],
            where=TREE,
            allowed="kinds, domains, welds",
        ) from error
    return DomainTree(kinds, domains, welds, free, joined)


def _veg_file(kind: DomainTemplate) -> VegFile:
    given = kind.material
    sets = {name: r.elements for name, r in kind.mesh.regions.items() if r.elements.size}
    if isinstance(given, Material):
        materials, regions = {"all": _enu(given)}, [("allElements", "all")]
    else:
        sets |= {name: kind.mesh.element_region(name) for name in given}
        materials = {name: _enu(m) for name, m in given.items()}
        regions = [(name, name) for name in given]
    bare = kind.mesh.with_regions({name: Region(elements=e) for name, e in sets.items()})
    return VegFile(bare, materials, {}, tuple(regions))


def _enu(material: Material) -> VegMaterial:
    return VegMaterial("ENU", (material.density, material.young, material.poisson))


def _kind_entry(kind: DomainTemplate) -> dict[str, Any]:
    materials = {"all": kind.material} if isinstance(kind.material, Material) else kind.material
    return {
        "modes": kind.modes,
        "held": bool(kind.held.size),
        "skin": kind.skin is not None,
        "uniform": isinstance(kind.material, Material),
        "materials": {
            name: {"name": m.name, "colour": m.colour, **{key: getattr(m, key) for key in DAMPING}}
            for name, m in materials.items()
        },
        "interfaces": {
            name: {"nodes": p.nodes.tolist(), "weights": p.weights.tolist(), "rotation": p.rotation.tolist()}
            for name, p in kind.interfaces.items()
        },
    }


def _load_kind(folder: Path, name: str, entry: Mapping[str, Any]) -> DomainTemplate:
    if not NAME.fullmatch(name):
        raise FileFormatError("a kind's name is not a file's", where=TREE, value=name[:40])
    file = load_veg(folder / f"{name}.veg")
    mesh: TetMesh | HexMesh = file.mesh
    materials = {key: _material(file, key, extra) for key, extra in entry["materials"].items()}
    held = load_bou(folder / f"{name}.bou", node_count=len(mesh.nodes)) if entry["held"] else np.empty(0, np.int64)
    interfaces = {key: _interface(p) for key, p in entry["interfaces"].items()}
    skin = load_obj(folder / f"{name}.obj") if entry["skin"] else None
    stuff = materials["all"] if entry["uniform"] else materials
    return DomainTemplate(name, mesh, stuff, int(entry["modes"]), held, interfaces, skin)


def _interface(entry: Mapping[str, Any]) -> DomainInterface:
    q = np.array(entry["rotation"], dtype=float)
    made = DomainInterface(np.array(entry["nodes"]), np.array(entry["weights"]), q)
    if abs(np.linalg.norm(q) - 1) <= UNIT_TOLERANCE:
        object.__setattr__(made, "rotation", q)
    return made


def _material(file: VegFile, key: str, extra: Mapping[str, Any]) -> Material:
    found = file.materials[key]
    if found.kind != "ENU":
        raise FileFormatError("the material is not of kind ENU", where=f"material '{key}'", value=found.kind)
    density, young, poisson = found.numbers
    damping = {name: float(extra[name]) for name in DAMPING}
    return Material(young, poisson, density, name=str(extra["name"]), colour=extra.get("colour"), **damping)
