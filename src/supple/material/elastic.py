"""Isotropic elastic materials.

lambda = E nu / ((1 + nu)(1 - 2 nu)),   mu = E / (2 (1 + nu))        Lamé's constants [Pa]
f_damping = -(alpha M + beta K_s) v                                  Rayleigh's damping, K_s = -df/dx
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from supple.errors import InputError, is_finite, is_number
from supple.material.colour import Colour, check_colour


class Law(IntEnum):
    """Elastic laws, by the energy density they fix; see `supple.elements.laws`."""

    LINEAR = 0
    COROTATIONAL = 1
    STVK = 2
    NEO_HOOKEAN = 3

    @classmethod
    def of(cls, name: str | Law) -> Law:
        """The law of a name: "linear", "corotational", "stvk", "neo-hookean"."""
        if isinstance(name, cls):
            return name
        known = {law.label: law for law in cls}
        if not isinstance(name, str) or name not in known:
            raise InputError("unknown elastic law", value=name, allowed=", ".join(known))
        return known[str(name)]

    @property
    def label(self) -> str:
        """The name a person writes."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Material:
    """A homogeneous isotropic solid.

    young: Young's modulus E [Pa]. poisson: Poisson's ratio [-], in (-1, 0.5). density [kg/m³].
    mass_damping: Rayleigh's alpha [1/s]. stiffness_damping: Rayleigh's beta [s], on the rate of strain alone.
    colour: in pictures, "#rrggbb" or red, green, blue from 0 to 1.

    >>> rubber = Material(young=1e6, poisson=0.45, density=1100)
    >>> round(rubber.mu)
    344828
    """

    young: float
    poisson: float
    density: float
    mass_damping: float = 0.0
    stiffness_damping: float = 0.0
    name: str = "material"
    colour: Colour | None = None

    def __post_init__(self) -> None:
        where = f"material '{self.name}'"
        for field in ("young", "poisson", "density", "mass_damping", "stiffness_damping"):
            value = getattr(self, field)
            if not is_number(value) or not is_finite(value):
                raise InputError(f"{field} is not a finite number", where=where, value=value)
            object.__setattr__(self, field, float(value))
        if self.colour is not None:
            object.__setattr__(self, "colour", check_colour(self.colour, where=where))
        if self.young <= 0:
            raise InputError("Young's modulus is not positive", where=where, value=self.young, allowed="> 0 Pa")
        if self.density <= 0:
            raise InputError("the density is not positive", where=where, value=self.density, allowed="> 0 kg/m³")
        if not -1 < self.poisson < 0.5:
            raise InputError(
                "Poisson's ratio is out of range",
                where=where,
                value=self.poisson,
                allowed="-1 < poisson < 0.5",
                fix="For a nearly incompressible solid use 0.49.",
            )
        for field in ("mass_damping", "stiffness_damping"):
            if getattr(self, field) < 0:
                raise InputError(f"{field} is negative", where=where, value=getattr(self, field), allowed=">= 0")

    @property
    def lam(self) -> float:
        """Lamé's first constant [Pa]."""
        return self.young * self.poisson / ((1 + self.poisson) * (1 - 2 * self.poisson))

    @property
    def mu(self) -> float:
        """Lamé's second constant, the shear modulus [Pa]."""
        return self.young / (2 * (1 + self.poisson))
