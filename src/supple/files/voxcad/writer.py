"""Writes VoxCAD scenes, so that what was read from a file is read again the same."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from supple.errors import InputError, RecordError, check_choice, check_path
from supple.files.voxcad.environment import HELD_BITS
from supple.files.voxcad.palette import BILINEAR, BY_STRAIN, BY_STRESS, FAILING, LINEAR, TABLE
from supple.files.voxcad.record import BoundaryRegion, VoxcadEnvironment, VoxcadFile, check_file
from supple.files.voxcad.structure import NAMES, Compression, encode_field, encode_materials
from supple.files.voxcad.xml import UnreadTag, format_xml, parse_xml
from supple.material.voxel import VoxelMaterial

_HEAD = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
_STEP = re.compile(r"([^\[\]]+)(?:\[(\d{1,9})\])?")
_UNWRITABLE = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")


def save_voxcad(file: VoxcadFile, path: str | Path, *, compression: Compression = "ascii") -> None:
    """Write a .vxa file. compression: the form of the layers of material numbers."""
    check_file(file, "save_voxcad")
    path = check_path(path, where="save_voxcad, path")
    check_choice(compression, tuple(NAMES), "compression", where="save_voxcad")
    if path.suffix.lower() != ".vxa":
        raise InputError("VoxCAD scenes are written as .vxa", where=path.name, value=path.suffix)
    data = (_HEAD + format_xml(_scene(file, compression)) + "\n").encode("ascii", "xmlcharrefreplace")
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise RecordError(f"the file cannot be written: {error.strerror}", where=str(path)) from error


def _scene(file: VoxcadFile, compression: Compression) -> Element:
    root = Element("VXA", Version="1.1")
    _add_simulator(SubElement(root, "Simulator"), file)
    _add_environment(SubElement(root, "Environment"), file.environment)
    vxc = SubElement(root, "VXC", Version="0.94")
    lattice = SubElement(vxc, "Lattice")
    _add(lattice, Lattice_Dim=file.grid.voxel_size, X_Dim_Adj=1, Y_Dim_Adj=1, Z_Dim_Adj=1)
    palette = SubElement(vxc, "Palette")
    for number, (material, phase) in enumerate(zip(file.palette, file.material_phase), start=1):
        _add_material(SubElement(palette, "Material", ID=str(number)), material, phase)
    _add_structure(SubElement(vxc, "Structure", Compression=NAMES.get(compression, "")), file, compression)
    for tag in file.unread:
        _put_back(root, tag)
    return root


def _add(parent: Element, **values: float | bool | str) -> None:
    """Children with a number, a flag or a text."""
    for tag, value in values.items():
        if not isinstance(value, str):
            value = str(int(value)) if isinstance(value, int) else repr(float(value))
        SubElement(parent, tag).text = value


def _add_simulator(parent: Element, file: VoxcadFile) -> None:
    simulator = file.simulator
    bond, contact, ground = file.damping
    _add(SubElement(parent, "Integration"), DtFrac=simulator.time_step_fraction)
    _add(SubElement(parent, "Damping"), BondDampingZ=bond, ColDampingZ=contact, SlowDampingZ=ground)
    _add(SubElement(parent, "Collisions"), SelfColEnabled=simulator.self_collision)
    stop = SubElement(parent, "StopCondition")
    _add(stop, StopConditionType=int(simulator.stop_kind), StopConditionValue=simulator.stop_value)
    _add(stop, InitCmTime=simulator.measured_from)


def _add_environment(parent: Element, environment: VoxcadEnvironment) -> None:
    conditions = SubElement(parent, "Boundary_Conditions")
    _add(conditions, NumBCs=len(environment.regions))
    for region in environment.regions:
        _add_region(SubElement(conditions, "FRegion"), region)
    _add(
        SubElement(parent, "Gravity"),
        GravEnabled=environment.gravity_enabled,
        GravAcc=environment.gravity_acceleration,
        FloorEnabled=environment.floor_enabled,
        FloorSlope=environment.floor_slope,
    )
    _add(
        SubElement(parent, "Thermal"),
        TempEnabled=environment.temperature_enabled,
        TempAmplitude=environment.temperature_amplitude,
        TempBase=environment.temperature_base,
        VaryTempEnabled=environment.temperature_varies,
        TempPeriod=environment.temperature_period,
    )


def _add_region(parent: Element, region: BoundaryRegion) -> None:
    _add(parent, PrimType=int(region.shape))
    _add(parent, **dict(zip(("X", "Y", "Z", "dX", "dY", "dZ"), (*region.corner, *region.size))))
    _add(parent, Radius=region.radius, **dict(zip(("R", "G", "B", "alpha"), region.colour)))
    _add(parent, DofFixed=sum(bit for bit, held in zip(HELD_BITS, region.held) if held))
    for name in ("force", "torque", "displacement", "rotation"):
        tag = {"force": "Force", "torque": "Torque", "displacement": "Displace", "rotation": "AngDisplace"}[name]
        _add(parent, **{tag + axis: value for axis, value in zip("XYZ", getattr(region, name))})


def _add_material(parent: Element, material: VoxelMaterial, phase: float) -> None:
    if _UNWRITABLE.search(material.name) or " ".join(material.name.split()) != material.name or not material.name:
        raise InputError(
            "the name of a material cannot be written", value=material.name, allowed="words with single spaces"
        )
    _add(parent, MatType=0, Name=material.name)
    if material.colour is not None:
        _add(SubElement(parent, "Display"), **dict(zip(("Red", "Green", "Blue", "Alpha"), material.colour)))
    mechanical = SubElement(parent, "Mechanical")
    _add_law(mechanical, material)
    _add(
        mechanical,
        Elastic_Mod=material.young,
        Density=material.density,
        Poissons_Ratio=material.poisson,
        CTE=material.expansion,
        MaterialTempPhase=phase,
        uStatic=material.static_friction,
        uDynamic=material.kinetic_friction,
    )


def _add_law(parent: Element, material: VoxelMaterial) -> None:
    """Where the material yields and fails; a table ends where it fails, as other readers take it."""
    if material.curve is not None:
        if material.fail_strain != material.curve[-1][0]:
            raise InputError(
                "a stress-strain curve is written only where the material fails at its end",
                where=f"material '{material.name}'",
                value=material.fail_strain,
                allowed=f"fail_strain={material.curve[-1][0]!r}",
            )
        _add(parent, MatModel=TABLE)
        data = SubElement(parent, "SSData")
        _add(data, NumDataPts=len(material.curve))
        for column, tag in enumerate(("Strain", "Stress")):
            points = SubElement(data, f"{tag}Data")
            for point in material.curve:
                _add(points, **{tag: point[column]})
        return
    if material.yield_stress is not None:
        _add(parent, MatModel=BILINEAR, Yield_Stress=material.yield_stress, Plastic_Mod=material.plastic_modulus)
    else:
        _add(parent, MatModel=LINEAR if material.is_linear else FAILING)
    if material.fail_strain is not None:
        _add(parent, FailModel=BY_STRAIN, Fail_Strain=material.fail_strain)
    elif not material.is_linear:
        _add(parent, FailModel=BY_STRESS, Fail_Stress=material.fail_stress or -1.0)  # -1: never


def _add_structure(parent: Element, file: VoxcadFile, compression: Compression) -> None:
    for axis, count in zip("XYZ", file.grid.shape):
        _add(parent, **{f"{axis}_Voxels": count})
    tables = {"Data": encode_materials(file.grid.materials, compression)}
    tables |= {name: encode_field(table) for name, table in file.voxel_fields.items()}
    for name, layers in tables.items():
        table = SubElement(parent, name)
        for layer in layers:
            _add(table, Layer=layer)


def _put_back(root: Element, tag: UnreadTag) -> None:
    """Put an unread tag or attribute where it was."""
    *steps, last = tag.path.split("/")
    parent = root
    for step in steps:
        parent = _child(parent, step, tag.path)
    if last.startswith("@"):
        parent.set(last[1:], tag.xml)
    else:
        parent.append(parse_xml(tag.xml.encode("utf-8", "xmlcharrefreplace"), tag.path))


def _child(parent: Element, step: str, path: str) -> Element:
    match = _STEP.fullmatch(step)
    found = parent.findall(match[1]) if match else []
    index = int(match[2] or 1) if match else 0
    if 0 < index <= len(found):
        return found[index - 1]
    if step in ("VXD", "Condition") and not found:
        return SubElement(parent, step)
    raise InputError("an unread tag has no place in this scene", value=path)
