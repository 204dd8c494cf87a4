"""Values of frozen things that change: checked by name, then by the thing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

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
