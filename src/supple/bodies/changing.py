"""Values of frozen things that change: checked by name, then by the thing itself; and what a body can change, with its
values of now, for those who offer it to a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from supple.errors import InputError
from supple.material import Material

Thing = TypeVar("Thing")


def with_values(thing: Thing, values: dict[str, Any], allowed: tuple[str, ...], *, where: str) -> Thing:
    """A dataclass with other values; refuses names that are not allowed."""
    if others := [name for name in values if name not in allowed]:
        raise InputError("this cannot be changed", where=where, value=others[0], allowed=", ".join(allowed))
    for name, value in values.items():
        if np.ndim(value) or isinstance(value, bool | str):
            raise InputError(f"{name} is not a number", where=where, value=value)
    return replace(thing, **values)  # type: ignore[type-var]


MATERIAL = ("young", "poisson", "density", "mass_damping", "stiffness_damping")


def changed_material(
    material: Material | Mapping[str, Material], values: dict[str, Any], allowed: tuple[str, ...], *, where: str
) -> Material | Mapping[str, Material]:
    """A material with other values; where each region has one, that of the `region` among the values."""
    given = {name: value for name, value in values.items() if name != "region"}
    if isinstance(material, Material):
        if "region" in values:
            raise InputError("this body has one material", where=where, value=values["region"])
        return with_values(material, given, allowed, where=where)
    if values.get("region", "") not in material:
        raise InputError(
            "no material of that region", where=where, value=values.get("region"), allowed=", ".join(material),
            fix="Give region=.",
        )  # fmt: skip
    return {**material, values["region"]: with_values(material[values["region"]], given, allowed, where=where)}


UNITS = {
    "young": "Pa",
    "mass_damping": "1/s",
    "stiffness_damping": "s",
    "stiffness": "N/m",
    "damping": "N s/m",
    "frequency": "Hz",
    "phase": "periods",
    "phase_shift": "periods",
}


@dataclass(frozen=True)
class Adjustment:
    """A value that a body can change. key: as `Changeable.changed` takes it, with the values of `which` beside it.

    value: of now, a number, or a list with one for each of the `parts` that are named. unit: "" where there is none.
    is_factor: whether it multiplies what is there, so that 1 changes nothing. called: the name of what the values of
    `which` say, where it has one."""

    key: str
    value: float | list[float]
    which: dict[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    is_factor: bool = False
    called: str = ""

    @property
    def unit(self) -> str:
        """Of the value."""
        return UNITS.get(self.key, "")


@runtime_checkable
class Adjustable(Protocol):
    """A body that says what of it can change."""

    def adjustments(self) -> list[Adjustment]:
        """What can change, with the values of now."""
        ...


def adjusted_materials(material: Material | Mapping[str, Material], keys: tuple[str, ...]) -> list[Adjustment]:
    """Those of a material, or of each region's."""
    if isinstance(material, Material):
        return [Adjustment(key, float(getattr(material, key))) for key in keys]
    return [Adjustment(key, float(getattr(m, key)), {"region": name}) for name, m in material.items() for key in keys]


def one_or_each(key: str, given: Any, parts: tuple[str, ...]) -> Adjustment:
    """That of a number, or of one for each of some parts."""
    values = np.broadcast_to(np.asarray(given, dtype=float), (len(parts),)) if len(parts) else np.asarray(given)
    return Adjustment(key, values.tolist(), {}, parts)
