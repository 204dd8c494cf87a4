"""What of the control variables of voxels can change while they run: given anew by `VoxelBody.changed`, and told with
its values of now for those who offer it to a person.

    a sine       amplitude, frequency, phase, gain, phase_shift
    a signal     amplitude, phase, gain, phase_shift
    commands     amplitude, gain

Phases and gains that are given for each material change by its number; those that are given for each voxel are
shifted together by phase_shift, and multiplied by the amplitude.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from supple.bodies.changing import Adjustment, with_values
from supple.bodies.voxel.actuation import Actuation, Commands, Drive, Driver
from supple.errors import InputError, check_number

CONTROL = ("amplitude", "frequency", "phase", "gain", "phase_shift")
WHICH = ("control", "number")
EACH = ("phase", "gain")
"""What may be given for each voxel, or for each material."""
KEYS = {
    Actuation: CONTROL,
    Drive: tuple(key for key in CONTROL if key != "frequency"),
    Commands: ("amplitude", "gain"),
}


def driven_anew(actuation: Driver | Sequence[Driver], values: dict[str, Any], where: str) -> Driver | list[Driver]:
    """Drivers with other values of one of them."""
    drivers, number = list(actuation) if isinstance(actuation, Sequence) else [actuation], values.get("control", 0)
    if number not in range(len(drivers)) or (len(drivers) > 1 and "control" not in values):
        raise InputError(
            "no control of that number", where=where, value=values.get("control"), allowed=f"0..{len(drivers) - 1}",
            fix="Give control=.",
        )  # fmt: skip
    old = drivers[int(number)]
    keys = KEYS[type(old)]
    given = {key: value for key, value in values.items() if key not in WHICH}
    if others := [key for key in given if key not in keys]:
        raise InputError(
            f"this cannot be changed in {type(old).__name__}", where=where, value=others[0], allowed=", ".join(keys)
        )
    single = {key: value for key, value in given.items() if key not in EACH}
    each = {key: value for key, value in given.items() if key in EACH}
    if "number" in values:
        each = {key: _of_material(old, key, values["number"], value, where) for key, value in each.items()}
    drivers[int(number)] = replace(with_values(old, single, keys, where=where), **each)
    return drivers if isinstance(actuation, Sequence) else drivers[0]


def _of_material(driver: Driver, key: str, number: Any, value: Any, where: str) -> dict[int, float]:
    """A table by materials with another value for one of them."""
    old = getattr(driver, key)
    if not isinstance(old, Mapping) or not isinstance(number, int | float) or number not in old:
        raise InputError(
            f"the {key} of this control is not given for a material of that number", where=where, value=number,
            allowed=", ".join(map(str, old)) if isinstance(old, Mapping) else None,
        )  # fmt: skip
    check_number(value, name=key, where=where)
    return {**old, int(number): float(value)}


def control_adjustments(actuation: Driver | Sequence[Driver] | None) -> list[Adjustment]:
    """What can change of each control variable."""
    drivers = [] if actuation is None else list(actuation) if isinstance(actuation, Sequence) else [actuation]
    found = []
    for number, driver in enumerate(drivers):
        which = {"control": number} if len(drivers) > 1 else {}
        for key in KEYS[type(driver)]:
            found += _adjustments(driver, key, which)
    return found


def _adjustments(driver: Driver, key: str, which: dict[str, Any]) -> list[Adjustment]:
    value, phase = getattr(driver, key), getattr(driver, "phase", 0.0)
    has_phases = not (isinstance(driver, Drive) and driver.period is None)
    if key == "phase_shift":  # a single phase is moved by itself
        return [Adjustment(key, float(value), which)] if has_phases and np.ndim(phase) > 0 else []
    if key == "phase" and not has_phases:
        return []
    if isinstance(value, Mapping):
        return [Adjustment(key, float(one), {**which, "number": material}) for material, one in value.items()]
    if isinstance(driver, Commands) and key == "gain" and np.ndim(value) == 1:
        gains = np.broadcast_to(np.asarray(value, dtype=float), driver.count)
        return [Adjustment(key, gains.tolist(), which, tuple(f"variable {k}" for k in range(driver.count)))]
    return [Adjustment(key, float(value), which)] if np.ndim(value) == 0 else []
