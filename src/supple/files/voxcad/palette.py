"""The <Palette> of a VoxCAD file: materials, with the laws by which their links yield and fail.

MatModel 0    linear; the tags of other laws change nothing
MatModel 1    linear, failing
MatModel 2    bilinear: Yield_Stress, Plastic_Mod, failing
MatModel 3    a table, SSData, which fails at its last strain; its first slope is Young's modulus
FailModel     0: Fail_Stress, 1: Fail_Strain; without the tag, the one that is not zero. Zero and less: never
"""

from __future__ import annotations

from typing import Any

from supple.errors import FileFormatError
from supple.files.voxcad.record import MAX_MATERIALS
from supple.files.voxcad.xml import Section
from supple.material.voxel import VoxelMaterial

MAX_POINTS = 10_000  # of one stress-strain table
SLOPE_TOLERANCE = 5e-4  # within it Elastic_Mod is the first slope of a table
LINEAR, FAILING, BILINEAR, TABLE = range(4)
BY_STRESS, BY_STRAIN = 0, 1


def read_palette(palette: Section, damping: dict[str, float]) -> tuple[tuple[VoxelMaterial, ...], tuple[float, ...]]:
    """The materials, and their phases [rad]. damping: ratios that all of them have."""
    count = palette.count("Material")
    if not 0 < count <= MAX_MATERIALS:
        raise FileFormatError(
            "the number of materials is out of range", where=palette.where, value=count, allowed=f"1 to {MAX_MATERIALS}"
        )
    pairs = [_read_material(m, n, damping) for n, m in enumerate(palette.sections("Material"), start=1)]
    materials, phases = zip(*pairs)
    return materials, phases


def _read_material(section: Section, number: int, damping: dict[str, Any]) -> tuple[VoxelMaterial, float]:
    """A material and its phase [rad]. Its place in the palette is its number, whatever its ID."""
    section.attribute("ID")
    if section.integer("MatType", 0) != 0:
        raise FileFormatError(
            "materials made of others are not read",
            where=f"{section.where}/MatType",
            value=section.peek("MatType"),
            allowed="0",
        )
    mechanical = section.need("Mechanical")
    optional: dict[str, Any] = {"name": section.text("Name") or f"material {number}"}
    display = section.section("Display")
    if display is not None:
        red, green, blue = (display.number(tag, 0.0) for tag in ("Red", "Green", "Blue"))
        optional["colour"] = (red, green, blue, display.number("Alpha", 1.0))
    with mechanical.blamed():
        material = VoxelMaterial(
            density=mechanical.number("Density"),
            poisson=mechanical.number("Poissons_Ratio", 0.0),
            expansion=mechanical.number("CTE", 0.0),
            static_friction=mechanical.number("uStatic", 0.0),
            kinetic_friction=mechanical.number("uDynamic", 0.0),
            **_read_law(mechanical),
            **damping,
            **optional,
        )
    return material, mechanical.number("MaterialTempPhase", 0.0)


def _read_law(mechanical: Section) -> dict[str, Any]:
    """Young's modulus, and where links yield and fail."""
    model = mechanical.integer("MatModel", LINEAR)
    if model not in range(4):
        raise FileFormatError(
            "an unknown law of a material", where=f"{mechanical.where}/MatModel", value=model, allowed="0 to 3"
        )
    law: dict[str, Any] = {"young": mechanical.number("Elastic_Mod", 0.0 if model == TABLE else None)}
    if model == TABLE:
        return _read_table(mechanical.need("SSData"), law["young"])
    if model == BILINEAR:
        law["yield_stress"] = mechanical.number("Yield_Stress", 0.0)
        law["plastic_modulus"] = mechanical.number("Plastic_Mod", 0.0)
    if model != LINEAR:
        law |= _read_failure(mechanical)
    return law


def _read_failure(mechanical: Section) -> dict[str, float]:
    by = mechanical.integer("FailModel") if mechanical.has("FailModel") else _guessed(mechanical)
    if by not in (BY_STRESS, BY_STRAIN):
        raise FileFormatError("an unknown way to fail", where=f"{mechanical.where}/FailModel", value=by, allowed="0, 1")
    key, tag = ("fail_stress", "Fail_Stress") if by == BY_STRESS else ("fail_strain", "Fail_Strain")
    value = mechanical.number(tag, 0.0)
    return {key: value} if value > 0 else {}


def _guessed(mechanical: Section) -> int:
    """How a material fails where the file does not say so."""
    if not mechanical.has("Fail_Stress") and mechanical.has("Fail_Strain"):
        return BY_STRAIN
    is_zero = mechanical.has("Fail_Stress") and mechanical.number("Fail_Stress") == 0
    return BY_STRAIN if is_zero and mechanical.has("Fail_Strain") else BY_STRESS


def _read_table(data: Section, young: float) -> dict[str, Any]:
    """The law of a table; its own slope where that differs from the modulus that was read."""
    claimed = data.integer("NumDataPts")
    columns = [data.need("StrainData").sections("Strain"), data.need("StressData").sections("Stress")]
    if not 1 < claimed <= MAX_POINTS or any(len(column) != claimed for column in columns):
        raise FileFormatError(
            "the points of the stress-strain table are too few, too many, or not as many as claimed",
            where=f"{data.where}/NumDataPts",
            value=(claimed, *map(len, columns)),
            allowed=f"2 to {MAX_POINTS}, one strain and one stress each",
        )
    strains, stresses = ([point.own_number() for point in column] for column in columns)
    start = 0 if strains[0] or stresses[0] else 1  # the point (0, 0) may be left out
    if not strains[start] > 0:
        raise FileFormatError(
            "the strains of the table do not ascend from zero", where=data.where, value=strains[start]
        )
    slope = stresses[start] / strains[start]
    return {
        "young": young if abs(young - slope) <= SLOPE_TOLERANCE * abs(slope) else slope,
        "curve": tuple(zip(strains, stresses)),
        "fail_strain": strains[-1],
    }
