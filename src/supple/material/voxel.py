"""Materials of voxel lattices: elastic constants of the links, expansion, friction and damping ratios.

    G = E / (2 (1 + nu))                          shear modulus, in the torsion of links only
    size = voxel_size (1 + expansion T)           T: the control variable, a "temperature"           [HL12, eq. 40]

A lattice contracts sideways as little as a solid with Poisson's ratio zero, whatever is entered here: Poisson's ratio
acts through torsion alone. Compare lattices with continua of Poisson's ratio zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from supple.errors import InputError

_NUMBERS = (
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


@dataclass(frozen=True)
class VoxelMaterial:
    """A material of voxels.

    young [Pa]; poisson [-], in (-1, 0.5]; density [kg/m³]; expansion [1/unit of control].
    static_friction, kinetic_friction: Coulomb's coefficients on a floor [-], the kinetic one at most the static one.
    bond_damping, ground_damping, contact_damping: damping ratios [-] of links, of motion relative to the world, and of
    contacts. colour: red, green, blue, opacity, each 0 to 1.

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
    colour: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    name: str = "voxel material"

    def __post_init__(self) -> None:
        where = f"material '{self.name}'"
        for field in _NUMBERS:
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
                raise InputError(f"{field} is not a finite number", where=where, value=value)
        if self.young <= 0:
            raise InputError("Young's modulus is not positive", where=where, value=self.young, allowed="> 0 Pa")
        if self.density <= 0:
            raise InputError("the density is not positive", where=where, value=self.density, allowed="> 0 kg/m³")
        if not -1 < self.poisson <= 0.5:
            raise InputError(
                "Poisson's ratio is out of range", where=where, value=self.poisson, allowed="-1 < poisson <= 0.5"
            )
        for field in _NUMBERS[4:]:
            if getattr(self, field) < 0:
                raise InputError(f"{field} is negative", where=where, value=getattr(self, field), allowed=">= 0")
        if self.kinetic_friction > self.static_friction:
            raise InputError(
                "kinetic friction is larger than static friction",
                where=where,
                value=self.kinetic_friction,
                allowed=f"<= {self.static_friction}",
            )
        colour = self.colour
        if len(colour) != 4 or not all(isinstance(c, (int, float)) and 0 <= c <= 1 for c in colour):
            raise InputError("the colour is not four numbers from 0 to 1", where=where, value=colour)

    @property
    def shear_modulus(self) -> float:
        """G [Pa]."""
        return self.young / (2 * (1 + self.poisson))
