"""Materials of voxel lattices: elastic constants of the links, expansion, friction and damping ratios.

    G = E / (2 (1 + nu))                          shear modulus, in the torsion of links only
    size = voxel_size (1 + expansion T)           T: the control variable, a "temperature"           [HL12, eq. 40]

    stress = curve(strain)                        yield_stress with plastic_modulus, or a table; unloading by E
    a link fails, for good, in tension beyond fail_strain, or where the curve reaches fail_stress

A lattice contracts sideways as little as a solid with Poisson's ratio zero, whatever is entered here: Poisson's ratio
acts through torsion alone. Compare lattices with continua of Poisson's ratio zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from supple.errors import NOT_NUMBERS, InputError, check_flag, check_number, is_finite, is_number

NUMBERS = (
    "young",
    "poisson",
    "density",
    "expansion",
    "static_friction",
    "kinetic_friction",
    "bond_damping",
    "ground_damping",
    "contact_damping",
)
"""Of a material, one for each voxel."""

UNNAMED = "voxel material"
"""Name of a material to which nobody gave one."""


@dataclass(frozen=True)
class VoxelMaterial:
    """A material of voxels.

    young [Pa]; poisson [-], in (-1, 0.5]; density [kg/m³]; expansion [1/unit of control].
    static_friction, kinetic_friction: Coulomb's coefficients on a floor [-], the kinetic one at most the static one.
    bond_damping, ground_damping, contact_damping: damping ratios [-] of links, of motion relative to the world, and of
    contacts, each 0 to 1. colour: red, green, blue, opacity, each 0 to 1; None: as pictures choose.
    yield_stress [Pa] and plastic_modulus [Pa], the slope beyond it: a bilinear law; or curve: rows of strain and stress
    [Pa], ascending, the first slope being young's and none steeper; the last slope goes on. fail_strain, or
    fail_stress [Pa]: where links break in tension.
    rigid: cells of this material that share faces are one rigid body; young is then that of what they touch, contacts
    and links to other cells.

    >>> rubber = VoxelMaterial(young=1e6, density=1000)
    >>> rubber.shear_modulus
    500000.0
    """

    young: float
    density: float
    poisson: float = 0.0
    expansion: float = 0.0
    static_friction: float = 1.0
    kinetic_friction: float = 0.5
    bond_damping: float = 0.1
    ground_damping: float = 0.0
    contact_damping: float = 0.5
    colour: tuple[float, float, float, float] | None = None
    name: str = UNNAMED
    yield_stress: float | None = None
    plastic_modulus: float = 0.0
    curve: Sequence[tuple[float, float]] | None = None
    fail_strain: float | None = None
    fail_stress: float | None = None
    rigid: bool = False

    def __post_init__(self) -> None:
        where = f"material '{self.name}'"
        for field in NUMBERS:
            value = getattr(self, field)
            if not is_number(value) or not is_finite(value):
                raise InputError(f"{field} is not a finite number", where=where, value=value)
        if self.young <= 0:
            raise InputError("Young's modulus is not positive", where=where, value=self.young, allowed="> 0 Pa")
        if self.density <= 0:
            raise InputError("the density is not positive", where=where, value=self.density, allowed="> 0 kg/m³")
        if not -1 < self.poisson <= 0.5:
            raise InputError(
                "Poisson's ratio is out of range", where=where, value=self.poisson, allowed="-1 < poisson <= 0.5"
            )
        for field in NUMBERS[4:6]:
            if getattr(self, field) < 0:
                raise InputError(f"{field} is negative", where=where, value=getattr(self, field), allowed=">= 0")
        for field in NUMBERS[6:]:
            if not 0 <= getattr(self, field) <= 1:
                raise InputError(f"{field} is out of range", where=where, value=getattr(self, field), allowed="0 to 1")
        if self.kinetic_friction > self.static_friction:
            raise InputError(
                "kinetic friction is larger than static friction",
                where=where,
                value=self.kinetic_friction,
                allowed=f"<= {self.static_friction}",
            )
        colour = self.colour
        if colour is not None and not (
            isinstance(colour, Sequence)
            and len(colour) == 4
            and all(isinstance(c, (int, float)) and 0 <= c <= 1 for c in colour)
        ):
            raise InputError("the colour is not four numbers from 0 to 1", where=where, value=colour)

        self._check_law(where)
        check_flag(self.rigid, name="rigid", where=where)
        if self.rigid and self.expansion != 0.0:
            raise InputError(
                "rigid cells do not change their size",
                where=where,
                value=self.expansion,
                allowed="expansion=0",
                fix="Leave out expansion, or rigid.",
            )
        if self.rigid and not self.is_linear:
            raise InputError(
                "rigid cells neither yield nor fail",
                where=where,
                fix="Leave out yield_stress, curve, fail_strain and fail_stress, or rigid.",
            )

    def _check_law(self, where: str) -> None:
        if self.curve is not None:
            object.__setattr__(self, "curve", _checked_curve(self.curve, self.young, where))
        if self.curve is not None and (self.yield_stress is not None or self.plastic_modulus):
            raise InputError("both a curve and a yield stress are given", where=where, fix="Leave one of them out.")
        for field in ("yield_stress", "fail_strain", "fail_stress"):
            value = getattr(self, field)
            if value is not None and not (is_number(value) and is_finite(value) and value > 0):
                raise InputError(f"{field} is not positive", where=where, value=value, allowed="> 0")
        check_number(self.plastic_modulus, name="plastic_modulus", where=where)
        if not (isfinite(self.plastic_modulus) and 0 <= self.plastic_modulus <= self.young):
            raise InputError(
                "the plastic modulus is out of range",
                where=where,
                value=self.plastic_modulus,
                allowed=f"0 to Young's modulus, {self.young:g} Pa",
            )
        if self.plastic_modulus and self.yield_stress is None:
            raise InputError("a plastic modulus needs a yield stress", where=where, value=self.plastic_modulus)
        if self.fail_strain is not None and self.fail_stress is not None:
            raise InputError("both a strain and a stress of failure are given", where=where, fix="Leave one out.")

    @property
    def is_linear(self) -> bool:
        """Whether links never yield or fail."""
        return (
            self.curve is None and self.yield_stress is None and self.fail_strain is None and self.fail_stress is None
        )

    @property
    def segments(self) -> list[tuple[float, float]]:
        """The stress-strain curve: strains where a segment starts, ascending from 0, and its slope [Pa]."""
        if self.curve is not None:
            points = np.array(self.curve)
            slopes = np.diff(points[:, 1]) / np.diff(points[:, 0])
            return list(zip(points[:-1, 0].tolist(), slopes.tolist()))
        elastic = [(0.0, float(self.young))]
        if self.yield_stress is None:
            return elastic
        return [*elastic, (self.yield_stress / self.young, float(self.plastic_modulus))]

    def stress(self, strain: float) -> float:
        """Stress [Pa] on the curve of first loading."""
        ends = [start for start, _ in self.segments[1:]] + [inf]
        return sum(slope * max(0.0, min(strain, end) - start) for (start, slope), end in zip(self.segments, ends))

    def strain(self, stress: float) -> float:
        """The least strain at which first loading reaches a stress [Pa]; infinite where it never does."""
        reached = 0.0
        ends = [start for start, _ in self.segments[1:]] + [inf]
        for (start, slope), end in zip(self.segments, ends):
            if stress <= reached:
                return start
            if slope > 0 and stress <= reached + slope * (end - start):
                return start + (stress - reached) / slope
            reached += slope * (end - start) if slope > 0 else 0.0
        return inf

    def plateau(self, stress: float) -> float:
        """How far the strain grows at a constant stress [Pa] on the curve of first loading, before it rises again."""
        ends = pairwise(self.segments)
        return sum(end - start for (start, slope), (end, _) in ends if slope == 0 and self.stress(start) == stress)

    @property
    def failure(self) -> float:
        """Strain at which links fail, infinite if never."""
        if self.fail_stress is not None:
            return self.strain(self.fail_stress)
        return inf if self.fail_strain is None else self.fail_strain

    @property
    def shear_modulus(self) -> float:
        """G [Pa]."""
        return self.young / (2 * (1 + self.poisson))


def _checked_curve(curve: Sequence[tuple[float, float]], young: float, where: str) -> tuple[tuple[float, float], ...]:
    """Rows of strain and stress from (0, 0) on; refused unless they ascend and never steepen beyond Young's modulus."""
    try:
        points = np.array(curve, dtype=float)
    except NOT_NUMBERS:
        points = np.full((1, 1), np.nan)
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise InputError("the stress-strain curve is not rows of two finite numbers", where=where, value=curve)
    if points[0].any():
        points = np.vstack([[0.0, 0.0], points])
    strains, stresses = np.diff(points[:, 0]), np.diff(points[:, 1])
    if len(points) < 2 or (strains <= 0).any():
        raise InputError(
            "the strains of the stress-strain curve do not ascend", where=where, value=points[:, 0].tolist()
        )
    if (stresses < 0).any():
        raise InputError("the stress-strain curve decreases", where=where, value=points[:, 1].tolist())
    slopes = stresses / strains
    if abs(slopes[0] / young - 1) > 1e-3:
        raise InputError(
            "the curve does not start with Young's modulus", where=where, value=slopes[0], allowed=f"{young:g} Pa"
        )
    if (slopes > slopes[0] * (1 + 1e-9)).any():
        raise InputError(
            "the curve is steeper than at its start", where=where, value=slopes.max(), allowed=f"<= {slopes[0]:g} Pa"
        )
    return tuple((float(e), float(s)) for e, s in points)
