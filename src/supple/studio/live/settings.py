"""Settings: what a person can change in the studio while a scene runs, made from what the scene has.

A setting is told by plain values. A change of one is a change of the system (`supple.scene.changes`), so that the
state keeps it and a scene file repeats it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.bodies.changing import Adjustable, Adjustment
from supple.errors import InputError
from supple.scene.acting.wind import Wind
from supple.scene.scene import Scene
from supple.scene.system import System
from supple.studio.live.frictions import Friction, frictions_of

AXES = ("x", "y", "z")
WIDE, STEEP, STRONG = 100.0, 3.0, 30.0
"""How many times larger or smaller a stiffness may become; largest gravity [9.81 m/s²]; largest wind [m/s]."""
WORDS = {
    "young": "Young's modulus",
    "frequency_factor": "Frequency factor",
    "stiffness_factor": "Stiffness, times",
    "mass_damping": "Mass damping",
    "stiffness_damping": "Stiffness damping",
    "damping_ratio": "Damping ratio",
    "bond_damping": "Damping of links",
    "ground_damping": "Damping against the world",
    "phase_shift": "Phase shift",
    "motor_speed": "Motor's speed",
    "motor_torque": "Motor's largest torque",
    "motor_force": "Motor's largest force",
    "static_friction": "Static friction",
    "kinetic_friction": "Kinetic friction",
}
SMALL = {"mass_damping": 10.0, "stiffness_damping": 0.1, "bond_damping": 1.0, "ground_damping": 1.0, "damping": 10.0,
         "damping_ratio": 1.0}  # fmt: skip
"""Up to which damping goes where there is little."""
EFFORTS = {"motor_torque": "N m", "motor_force": "N"}
"""Largest ones of motors, with their units."""
TURNS = ("phase", "phase_shift")
"""Values in periods: a slider goes one back and one ahead."""
RUBBED = ("static_friction", "kinetic_friction")
"""Of materials, which are left out where no friction of theirs holds."""


@dataclass(frozen=True)
class Setting:
    """title, unit: what a person reads. value: of now, a number, or one for each of the `parts`. low, high: of a
    slider, of the logarithm where is_log. name, key, which: the change that it makes, see `Adjustment`."""

    title: str
    unit: str
    value: float | list[float]
    low: float
    high: float
    is_log: bool
    name: str
    key: str
    which: dict[str, Any] = field(default_factory=dict)
    parts: tuple[str, ...] = ()

    def changed(self, value: float, part: int | None) -> dict[str, Any]:
        """The values of the change to a value; part: which of the parts alone."""
        if part is None or not self.parts:
            new: Any = [value] * len(self.parts) if self.parts else value
        else:
            new = list(self.value)  # type: ignore[arg-type]
            new[part] = value
        return {self.key: new, **self.which}


def settings_of(system: System, solver: Any) -> list[Setting]:
    """Gravity, winds, what bodies can change, motors, and the friction that holds under a solver; with their values of
    now."""
    scene = system.scene
    rough = frictions_of(scene, solver)
    steep = max(STEEP * 9.81, 2 * float(np.abs(system.gravity).max()))
    found = [Setting("Gravity", "m/s²", system.gravity.tolist(), -steep, steep, False, "gravity", "value", {}, AXES)]
    for name, wind in _winds(scene).items():
        strong = max(STRONG, 2 * float(np.abs(wind.velocity).max()))
        velocity = np.asarray(wind.velocity).tolist()
        found.append(Setting(_title(name, "wind"), "m/s", velocity, -strong, strong, False, name, "velocity", {}, AXES))
    for slot in system.bodies:
        if isinstance(slot.body, Adjustable):
            held = RUBBED if slot.name not in rough.materials else ()
            found += [_of_body(slot.name, given) for given in slot.body.adjustments() if given.key not in held]
    return found + _motors(scene) + _frictions(rough.given)


def find_setting(settings: list[Setting], number: Any, part: Any) -> tuple[Setting, int | None]:
    """The setting of a number, and the number of a part of it; what a page sends is not trusted."""
    if not isinstance(number, int) or not 0 <= number < len(settings):
        raise InputError("there is no such setting", value=number, allowed=f"0..{len(settings) - 1}")
    setting = settings[number]
    if part is not None and (not isinstance(part, int) or not 0 <= part < len(setting.parts)):
        raise InputError("the setting has no such part", where=setting.title, value=part)
    return setting, part


def _title(name: str, what: str) -> str:
    return what.capitalize() if name == what else f"{what.capitalize()} '{name}'"


def _winds(scene: Scene) -> dict[str, Any]:
    return {acting.label: acting.force for acting in scene.forces if isinstance(acting.force, Wind)} | scene.winds


def _of_body(name: str, given: Adjustment) -> Setting:
    numbers = ", ".join(f"{key} {value}" for key, value in given.which.items())
    which = f"{given.called} ({numbers})" if given.called else numbers
    word = WORDS.get(given.key, given.key.replace("_", " ").capitalize())
    title = f"{word} of {name}" + (f", {which}" if which else "")
    largest = float(np.max(np.abs(given.value)))
    is_log = given.is_factor or given.key in ("young", "frequency_factor", "stiffness")
    if given.key in TURNS:
        is_log, high = False, max(1.0, largest)
        low = -high
    elif is_log and largest > 0:
        low, high = np.log10(largest / WIDE), np.log10(largest * WIDE)
    else:
        is_log = False
        high = max(5 * largest, SMALL.get(given.key, 1.0))
        low = -high if largest and np.min(given.value) < 0 else 0.0
        high = min(high, 1.0) if given.key in ("bond_damping", "ground_damping") else high
    return Setting(
        title, given.unit, given.value, float(low), float(high), is_log, name, given.key, given.which, given.parts
    )


def _motors(scene: Scene) -> list[Setting]:
    """Speed of each motor, and the largest effort of those that have one."""
    found = []
    for joint in scene.joints:
        name, speed = scene.joint_name(joint), getattr(joint, "motor_speed", None)
        if isinstance(speed, int | float):
            most = max(10.0, 5 * abs(float(speed)))
            title, unit = f"{WORDS['motor_speed']} of {name}", "rad/s" if hasattr(joint, "motor_torque") else "m/s"
            found.append(Setting(title, unit, float(speed), -most, most, False, name, "motor_speed"))
        for key in EFFORTS:
            effort = float(getattr(joint, key, np.inf))
            if speed is not None and np.isfinite(effort):
                low, high = np.log10(effort / WIDE), np.log10(effort * WIDE)
                title = f"{WORDS[key]} of {name}"
                found.append(Setting(title, EFFORTS[key], effort, float(low), float(high), True, name, key))
    return found


def _frictions(given: list[Friction]) -> list[Setting]:
    found = []
    for one in given:
        word = WORDS.get(one.key, one.key.capitalize())
        title, which = f"{word} of {one.name}", {}
        if one.pair is not None:
            title, which = f"{word} of {one.pair[0]} and {one.pair[1]}", {"pair": list(one.pair)}
        most = max(2.0, 2 * one.value)
        found.append(Setting(title, "", one.value, 0.0, most, False, one.name, one.key, which))
    return found
