"""BodyPlan: what all bodies of an encoding have in common: grid, numbers of the palette, fields, symmetry, rules.

A body is kept where it is one piece (cells touch by faces), has enough cells and enough of them are muscles. With a
mirror, only one half is free: the other is its reflection, and the piece that is kept must touch the plane between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Literal

import numpy as np
from scipy import ndimage

from supple.design.encodings.pattern_kernels import exponentials
from supple.errors import InputError, check_choice, check_flag, check_instance, check_number, check_row

Array = np.ndarray
Axis = Literal["x", "y", "z"]


@dataclass(frozen=True)
class FieldRange:
    """Values of a field: from low to high. periodic: high is low again. logarithmic: equal factors are equal steps."""

    low: float
    high: float
    periodic: bool = False
    logarithmic: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            check_number(getattr(self, name), name=name, where="FieldRange")
        for name in ("periodic", "logarithmic"):
            check_flag(getattr(self, name), name=name, where="FieldRange")
        if not self.low < self.high:
            raise InputError("a field needs low < high", where="FieldRange", value=(self.low, self.high))
        if self.logarithmic and self.low <= 0:
            raise InputError("a logarithmic field is positive", where="FieldRange", value=self.low, allowed="> 0")

    def inside(self, unit: Array) -> Array:
        """Units brought back to [0, 1]: wrapped where the field is periodic, cut otherwise."""
        unit = np.asarray(unit, dtype=float)
        return unit - np.floor(unit) if self.periodic else np.clip(unit, 0.0, 1.0)

    def values(self, unit: Array) -> Array:
        """Values of the field for units in [0, 1]."""
        unit = self.inside(unit)
        if not self.logarithmic:
            return np.asarray(self.low + (self.high - self.low) * unit)
        out = np.empty(unit.size)
        exponentials(np.ascontiguousarray(unit.ravel() * float(np.log(self.high / self.low))), out)
        return np.asarray(np.clip(self.low * out.reshape(unit.shape), self.low, self.high))


PHASE = FieldRange(0.0, 1.0, periodic=True)
STIFFNESS = FieldRange(1 / 3, 3.0, logarithmic=True)
RANGES = {"phase": PHASE, "stiffness": STIFFNESS}
"""Usual ranges: phase of the muscles [periods], factor of Young's modulus [-]."""


@dataclass(frozen=True)
class BodyPlan:
    """The grid and the rules of bodies.

    shape: cells along x, y, z. muscles, passive: numbers of the palette that swell, and that do not. fields: what each
    cell has beside its number. least_cells, least_muscles: counts of a whole body; by default a quarter and a tenth of
    the grid. mirror: the axis across which bodies are symmetric. mirror_shift: the reflected half swings so much later
    [periods].

    >>> plan = BodyPlan((6, 6, 6), mirror="y")
    >>> plan.free_shape
    (6, 3, 6)
    """

    shape: tuple[int, int, int]
    muscles: Sequence[int] = (1,)
    passive: Sequence[int] = ()
    fields: Mapping[str, FieldRange] = field(default_factory=lambda: {"phase": PHASE})
    least_cells: int | None = None
    least_muscles: int | None = None
    mirror: Axis | None = None
    mirror_shift: float = 0.0

    def __post_init__(self) -> None:
        check_row(self.shape, Integral, "whole numbers", where="BodyPlan, shape")
        for name in ("muscles", "passive"):
            check_row(getattr(self, name), Integral, "numbers of a palette", where=f"BodyPlan, {name}")
        check_instance(self.fields, Mapping, "a table", where="BodyPlan, fields")
        for name, one in self.fields.items():
            check_instance(one, FieldRange, "a range of values", where=f"BodyPlan, field {name!r}")
        if len(self.shape) != 3 or min(self.shape) < 1:
            raise InputError("the grid is not three positive counts", where="BodyPlan", value=tuple(self.shape))
        if not self.muscles or min(self.numbers) < 1 or max(self.numbers) > 255:
            raise InputError("muscles are numbers of the palette", where="BodyPlan", value=tuple(self.numbers),
                             allowed="1 to 255, at least one muscle")  # fmt: skip
        if len(set(self.numbers)) != len(self.numbers):
            raise InputError("a number is twice in the palette", where="BodyPlan", value=tuple(self.numbers))
        if self.mirror is not None:
            check_choice(self.mirror, ("x", "y", "z"), "axis", where="BodyPlan, mirror")
        most = int(np.prod(self.shape))
        for name, count in (("least_cells", self.cells_needed), ("least_muscles", self.muscles_needed)):
            check_number(count, name=name, where="BodyPlan", whole=True)
            if not 1 <= count <= most:
                raise InputError(f"{name} cannot be had", where="BodyPlan", value=count, allowed=f"1 to {most}")

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers that a cell may have, muscles first."""
        return (*self.muscles, *self.passive)

    @property
    def cells_needed(self) -> int:
        """The least number of cells."""
        return max(1, int(np.prod(self.shape)) // 4) if self.least_cells is None else self.least_cells

    @property
    def muscles_needed(self) -> int:
        """The least number of muscles."""
        return max(1, int(np.prod(self.shape)) // 10) if self.least_muscles is None else self.least_muscles

    @property
    def mirror_axis(self) -> int | None:
        """The number of the mirror's axis."""
        return None if self.mirror is None else "xyz".index(self.mirror)

    @property
    def free_shape(self) -> tuple[int, int, int]:
        """Cells that an encoding fills: all, or the half below the mirror, with the middle row of an odd count."""
        nx, ny, nz = (-(-n // 2) if k == self.mirror_axis else n for k, n in enumerate(self.shape))
        return nx, ny, nz

    def kept(self, cells: Array) -> Array | None:
        """The largest piece of free cells, or None where the whole body breaks the rules."""
        labels, count = ndimage.label(cells > 0)
        if count == 0:
            return None
        sizes = np.bincount(labels.ravel())[1:]
        if self.mirror_axis is not None:
            touching = np.unique(np.take(labels, -1, axis=self.mirror_axis))
            sizes = np.where(np.isin(np.arange(1, count + 1), touching), sizes, 0)
        if sizes.max() == 0:
            return None
        kept = np.where(labels == 1 + int(np.argmax(sizes)), cells, 0).astype(np.uint8)
        whole = self.whole(kept)
        enough = np.count_nonzero(whole) >= self.cells_needed
        return kept if enough and np.isin(whole, self.muscles).sum() >= self.muscles_needed else None

    def whole(self, free: Array, *, shift: float = 0.0) -> Array:
        """The whole grid from its free half; shift is added to what is reflected."""
        axis = self.mirror_axis
        if axis is None:
            return np.array(free)
        other = np.flip(free, axis=axis)
        if self.shape[axis] % 2:
            other = np.delete(other, 0, axis=axis)
        return np.concatenate([free, other + shift if shift else other], axis=axis)

    def whole_fields(self, units: Mapping[str, Array]) -> dict[str, Array]:
        """Fields of the whole grid from units of the free half."""
        shifts = {"phase": self.mirror_shift}
        return {
            name: kind.values(self.whole(units[name], shift=shifts.get(name, 0.0)))
            for name, kind in self.fields.items()
        }
