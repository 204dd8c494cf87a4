"""What joints do: reactions, angles or displacements, and what motors give, out of the multipliers of the last step.

    F = G^T l of the conditions' points;  force = sum F_a,  moment = sum (p_a - place) x F_a     on the first side
    power = torque x speed of the motor                                                         into the bodies

The second side feels the opposite of both. G is that of the end of the step; the solvers push with that of its start or
middle, which differs by the turn of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.interaction.protocol import PointConditions
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.joints.joint_coordinates import JointCoordinate
from supple.scene.slots import Slot

Array = np.ndarray


class WrenchOnBody(NamedTuple):
    """force (3,) [N]; moment (3,) [N m] about the joint's place; in world axes."""

    force: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class JointReading:
    """A joint at one moment. bodies: names of its sides, "world" for the world. place (3,) [m]: where it is, on the
    second side.

    force (3,) [N], moment (3,) [N m]: on the first side, in world axes, the moment about the place; limits and motor
    included. measures: what `value` is: "angle" [rad], "displacement" [m], or "" for a joint without either. speed:
    of the value, [rad/s] or [m/s]. motor: torque [N m] or force [N] of the motor on the first side; power [W]: what it
    gives to the bodies. limit: -1 or 1 where the lowest or the highest value is held, else 0.
    """

    bodies: tuple[str, str]
    place: Array
    force: Array
    moment: Array
    measures: str
    value: float
    speed: float
    motor: float
    power: float
    limit: int

    @property
    def angle(self) -> float:
        """Of the first side against the second, in (-pi, pi] [rad]."""
        return self._value("angle")

    @property
    def displacement(self) -> float:
        """Of the first side against the second, along the axis [m]."""
        return self._value("displacement")

    def _value(self, name: str) -> float:
        if self.measures != name:
            raise InputError(
                f"this joint has no {name}",
                where=f"joint {' - '.join(self.bodies)}",
                allowed=self.measures or "force and moment",
            )
        return self.value

    def on(self, body: str) -> WrenchOnBody:
        """Force and moment on the side of a name."""
        if body not in self.bodies:
            raise InputError("the joint does not hold this body", value=body, allowed=", ".join(self.bodies))
        if self.bodies[0] == self.bodies[1]:  # within one body they cancel
            return WrenchOnBody(np.zeros(3), np.zeros(3))
        sign = 1.0 if body == self.bodies[0] else -1.0
        return WrenchOnBody(sign * self.force, sign * self.moment)


@dataclass(frozen=True, eq=False)
class MeasuredJoint:
    """A joint of a system that can be read. slot: of its points, the first `first` of which are of the first side;
    origins: those of the second whose mean is its place; rows: its conditions in the order of the system's."""

    name: str
    bodies: tuple[str, str]
    slot: Slot
    first: int
    origins: Array
    rows: Sequence[PointConditions]
    coordinate: JointCoordinate | None

    @property
    def count(self) -> int:
        """Number of scalar conditions."""
        return sum(rows.count for rows in self.rows)

    def read(self, x: Array, v: Array, multipliers: Array) -> JointReading:
        """At positions and velocities (n, 3) of its points, with its multipliers (count,)."""
        pushes, start, motor, limit = np.zeros_like(x), 0, 0.0, 0
        for rows in self.rows:
            part = multipliers[start : start + rows.count]
            pushes += (part @ rows.jacobian(x)).reshape(-1, 3)
            start += rows.count
            if isinstance(rows, BoundedRows):
                motor, limit = rows.motor(part), rows.limit(part)
        place = x[self.origins].sum(axis=0) / len(self.origins)
        own, F = x[: self.first], pushes[: self.first]
        value = speed = float("nan")
        if self.coordinate is not None:
            value, speed = self.coordinate.value(x), float(np.sum(self.coordinate.gradient(x) * v))
        return JointReading(
            bodies=self.bodies,
            place=place,
            force=F.sum(axis=0),
            moment=rotations.cross(own - place, F).sum(axis=0),
            measures="" if self.coordinate is None else self.coordinate.name,
            value=value,
            speed=speed,
            motor=motor,
            power=motor * speed if motor else 0.0,
            limit=limit,
        )
