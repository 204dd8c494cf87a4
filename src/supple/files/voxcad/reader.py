"""Reads VoxCAD files: `.vxa`, a scene; `.vxc`, an object alone; `.vxd`, voxcraft's changes to a `base.vxa`."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from supple.errors import FileFormatError, InputError, check_path
from supple.files.voxcad.environment import read_environment
from supple.files.voxcad.overlay import overlaid
from supple.files.voxcad.palette import read_palette
from supple.files.voxcad.record import (
    FIELD_WIDTHS,
    StopKind,
    VoxcadEnvironment,
    VoxcadFile,
    VoxcadSimulator,
)
from supple.files.voxcad.structure import read_field, read_materials
from supple.files.voxcad.xml import Section, load_xml
from supple.geometry import VoxelGrid

ROOTS = {".vxa": "VXA", ".vxc": "VXC", ".vxd": "VXD"}


def load_voxcad(path: str | Path, *, base: str | Path | None = None) -> VoxcadFile:
    """The scene of a .vxa file, the object of a .vxc file, or a scene changed by a .vxd file.

    base: the .vxa file that a .vxd file changes; `base.vxa` beside it where none is given.
    """
    path = check_path(path, where="load_voxcad, path")
    if base is not None:
        base = check_path(base, where="load_voxcad, base")
    suffix = path.suffix.lower()
    if suffix not in ROOTS:
        raise InputError("this is not a VoxCAD file", where=path.name, allowed=", ".join(ROOTS))
    if base is not None and suffix != ".vxd":
        raise InputError("only .vxd files have a base", where=path.name)
    root = _load_root(path, ROOTS[suffix])
    if suffix == ".vxd":
        root = overlaid(_load_root(_base_of(path) if base is None else Path(base), "VXA"), root, path.name)
    return _read_object(root, path.name) if suffix == ".vxc" else _read_scene(root, path.name)


def _base_of(path: Path) -> Path:
    """The scene that a .vxd file changes, where nobody names one: `base.vxa` beside it."""
    base = path.with_name("base.vxa")
    if not base.exists():
        raise FileFormatError(
            f"the file cannot be read: {path.name} changes it, and it is not there",
            where=str(base),
            fix="Give the .vxa file that is changed: --base FILE, or load_voxcad(path, base=...).",
        )
    return base


def _load_root(path: Path, tag: str) -> Element:
    root = load_xml(path)
    if root.tag != tag:
        raise FileFormatError(
            "the file begins with another tag", where=path.name, value=root.tag[:60], allowed=f"<{tag}>"
        )
    return root


def _read_object(root: Element, file: str) -> VoxcadFile:
    section = Section(root, "VXC", file)
    return _make(section, section, {}, VoxcadSimulator(), VoxcadEnvironment())


def _read_scene(root: Element, file: str) -> VoxcadFile:
    section = Section(root, "", file)
    section.attribute("Version")
    section.section("VXD")  # what a .vxd file held without saying what it replaces
    simulator = section.section("Simulator")
    damping = _read_damping(simulator)
    return _make(section, section.need("VXC"), damping, _read_simulator(simulator), read_environment(section))


def _make(
    root: Section, vxc: Section, damping: dict[str, float], simulator: VoxcadSimulator, environment: VoxcadEnvironment
) -> VoxcadFile:
    vxc.attribute("Version")
    size = _read_voxel_size(vxc.need("Lattice"))
    palette, phases = read_palette(vxc.need("Palette"), damping)
    structure = vxc.need("Structure")
    materials = read_materials(structure)
    with structure.blamed():
        grid = VoxelGrid(materials, size)
        fields: dict[str, Any] = {name: read_field(structure, name, grid.shape) for name in FIELD_WIDTHS}
        return VoxcadFile(
            grid,
            palette,
            phases,
            {name: table for name, table in fields.items() if table is not None},
            simulator,
            environment,
            tuple(root.unread()),
        )


def _read_voxel_size(lattice: Section) -> float:
    """Edge of the cubes [m]; lattices that are stretched unevenly or sheared are refused."""
    stretch = [lattice.number(f"{axis}_Dim_Adj", 1.0) for axis in "XYZ"]
    shear = [lattice.number(f"{axis}_{kind}_Offset", 0.0) for axis in "XY" for kind in ("Line", "Layer")]
    size = lattice.number("Lattice_Dim") * stretch[0]
    if len(set(stretch)) > 1 or any(shear):
        raise FileFormatError(
            "the lattice is not cubic",
            where=f"{lattice.where}, Dim_Adj and Offset",
            value=(*stretch, *shear),
            allowed="equal X_Dim_Adj, Y_Dim_Adj, Z_Dim_Adj, and offsets of zero",
        )
    if not 0 < size < float("inf"):
        raise FileFormatError("the voxel size is not positive", where=f"{lattice.where}/Lattice_Dim", value=size)
    return size


def _read_damping(simulator: Section | None) -> dict[str, float]:
    """Ratios for all materials; the values of voxcraft where the file has none."""
    section = simulator.section("Damping") if simulator is not None else None
    found = {"bond_damping": ("BondDampingZ", 0.1), "contact_damping": ("ColDampingZ", 1.0)}
    found["ground_damping"] = ("SlowDampingZ", 1.0)
    if section is None:
        return {name: default for name, (_, default) in found.items()}
    ratios = {name: section.number(tag, default) for name, (tag, default) in found.items()}
    for name, ratio in ratios.items():
        if not 0 <= ratio <= 1:
            where = f"{section.where}/{found[name][0]}"
            raise FileFormatError("a damping ratio is out of range", where=where, value=ratio, allowed="0 to 1")
    return ratios


def _read_simulator(section: Section | None) -> VoxcadSimulator:
    if section is None:
        return VoxcadSimulator()
    integration, collisions = section.section("Integration"), section.section("Collisions")
    stop = section.section("StopCondition")
    stop_kind, stop_value = _read_stop(stop)
    condition = section.section("Condition")
    if condition is not None and stop_kind is StopKind.NONE:
        until = _read_time_formula(condition, "StopCondition")
        stop_kind, stop_value = (stop_kind, stop_value) if until is None else (StopKind.TIME, until)
    with section.blamed():
        return VoxcadSimulator(
            time_step_fraction=integration.number("DtFrac", 0.9) if integration is not None else 0.9,
            self_collision=collisions.flag("SelfColEnabled", False) if collisions is not None else False,
            stop_kind=stop_kind,
            stop_value=stop_value,
            measured_from=stop.number("InitCmTime", 0.0) if stop is not None else 0.0,
        )


def _read_stop(section: Section | None) -> tuple[StopKind, float]:
    if section is None:
        return StopKind.NONE, 0.0
    if not (section.has("StopConditionType") or section.has("StopConditionValue")):
        until = _read_time_formula(section, "StopConditionFormula")
        if until is not None:
            return StopKind.TIME, until
    kind = section.integer("StopConditionType", 0)
    if kind not in list(StopKind):
        raise FileFormatError(
            "an unknown stop condition", where=f"{section.where}/StopConditionType", value=kind, allowed="0 to 8"
        )
    return StopKind(kind), section.number("StopConditionValue", 0.0)


def _read_time_formula(section: Section, tag: str) -> float | None:
    """The time of voxcraft's usual formula, stop where t - time > 0; None, and unread, for any other.

    tag: what holds the formula: Simulator/StopCondition/StopConditionFormula, or in iffiX's voxcraft
    Simulator/Condition/StopCondition.
    """
    formula = section.element.find(tag)
    if formula is None or [e.tag for e in formula.iter()][1:] != ["mtSUB", "mtVAR", "mtCONST"]:
        return None
    difference = formula[0]
    if len(difference) != 2 or (difference[0].text or "").strip() != "t":
        return None
    terms = section.need(tag).need("mtSUB")
    terms.need("mtVAR")
    return terms.number("mtCONST")
