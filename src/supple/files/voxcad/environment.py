"""The <Environment> of a VoxCAD scene: boundary regions, gravity, floor, temperature."""

from __future__ import annotations

from supple.errors import FileFormatError
from supple.files.voxcad.record import CONDITIONS, BoundaryRegion, RegionShape, Vector, VoxcadEnvironment
from supple.files.voxcad.xml import Section, step_of

MAX_REGIONS = 1000
HELD_BITS = (1, 2, 4, 8, 16, 32)
"""Of DofFixed: x, y, z, rotations about x, y, z."""
_LEGACY = (("Fixed_Regions", "NumFixed"), ("Forced_Regions", "NumForced"))


def read_environment(scene: Section) -> VoxcadEnvironment:
    """The environment of a scene; where there is none, gravity, floor and a constant temperature, as in VoxCAD."""
    section = scene.section("Environment")
    if section is None:
        return VoxcadEnvironment(gravity_enabled=True, floor_enabled=True, temperature_enabled=True)
    gravity, thermal = section.section("Gravity"), section.section("Thermal")
    values: dict[str, float | bool] = {"gravity_enabled": True, "floor_enabled": True, "temperature_enabled": True}
    if gravity is not None:
        values["gravity_enabled"] = gravity.flag("GravEnabled", False)
        values["gravity_acceleration"] = gravity.number("GravAcc", -9.81)
        values["floor_enabled"] = gravity.flag("FloorEnabled", False)
        values["floor_slope"] = gravity.number("FloorSlope", 0.0)
    if thermal is not None:
        base = thermal.number("TempBase", 25.0)
        values["temperature_base"] = base
        values["temperature_amplitude"] = _read_amplitude(thermal, base)
        values["temperature_enabled"] = thermal.flag("TempEnabled", False)
        values["temperature_varies"] = thermal.flag("VaryTempEnabled", False)
        values["temperature_period"] = thermal.number("TempPeriod", 0.1)
    regions = _read_regions(section)
    with (thermal or section).blamed():
        return VoxcadEnvironment(regions=regions, **values)  # type: ignore[arg-type]


def _read_amplitude(thermal: Section, base: float) -> float:
    """Amplitude about the base; older files give the highest temperature instead."""
    if thermal.has("TempAmplitude") or not thermal.has("TempAmp"):
        return thermal.number("TempAmplitude", 0.0)
    return thermal.number("TempAmp") - base


def _read_regions(environment: Section) -> tuple[BoundaryRegion, ...]:
    """All regions; older files list the fixed and the forced ones apart."""
    conditions = environment.section("Boundary_Conditions")
    if conditions is not None:
        found = _claimed(conditions, "NumBCs")
    else:
        found = []
        for tag, claim in _LEGACY:
            listed = environment.section(tag)
            if listed is not None:
                listed.kept_as = CONDITIONS  # where regions are written
                found += _claimed(listed, claim)
    for number, section in enumerate(found, start=1):
        section.kept_as = f"{CONDITIONS}/{step_of('FRegion', number, len(found))}"
    return tuple(_read_region(section) for section in found)


def _claimed(regions: Section, claim: str) -> list[Section]:
    """The regions of a list, as many as it claims."""
    count, claimed = regions.count("FRegion"), regions.integer(claim, 0)
    if claimed != count or count > MAX_REGIONS:
        raise FileFormatError(
            "the number of regions is too large or differs from those present",
            where=f"{regions.where}/{claim}",
            value=claimed,
            allowed=f"{min(count, MAX_REGIONS)}",
        )
    return regions.sections("FRegion")


def _read_region(section: Section) -> BoundaryRegion:
    shape = section.integer("PrimType")
    if shape not in list(RegionShape):
        raise FileFormatError(
            "this shape of a region is not read", where=f"{section.where}/PrimType", value=shape, allowed="0, 1, 2"
        )

    def vector(*tags: str) -> Vector:
        x, y, z = (section.number(tag, 0.0) for tag in tags)
        return x, y, z

    colour = tuple(section.number(tag, 0.0) for tag in ("R", "G", "B", "alpha"))
    with section.blamed():
        return BoundaryRegion(
            corner=vector("X", "Y", "Z"),
            size=vector("dX", "dY", "dZ"),
            shape=RegionShape(shape),
            radius=section.number("Radius", 0.0),
            held=_read_held(section),
            force=vector("ForceX", "ForceY", "ForceZ"),
            torque=vector("TorqueX", "TorqueY", "TorqueZ"),
            displacement=vector("DisplaceX", "DisplaceY", "DisplaceZ"),
            rotation=vector("AngDisplaceX", "AngDisplaceY", "AngDisplaceZ"),
            colour=colour,  # type: ignore[arg-type]
        )


def _read_held(section: Section) -> tuple[bool, ...]:
    if not section.has("DofFixed"):
        return (section.flag("Fixed", False),) * 6
    bits = section.integer("DofFixed")
    if not 0 <= bits < 64:
        raise FileFormatError("not a set of six bits", where=f"{section.where}/DofFixed", value=bits, allowed="0 to 63")
    return tuple(bool(bits & bit) for bit in HELD_BITS)
