"""A fluid that fills the world, or what of it lies below a level: it drags bodies and bears them up."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.errors import check_number


@dataclass(frozen=True, eq=False)
class Fluid:
    """density [kg/m³]; drag: coefficient C [-]; flow (3,) [m/s]; level: height z [m] of its surface, None: everywhere.

    >>> Fluid(density=1000.0).drag
    1.05
    """

    density: float
    drag: float = 1.05
    flow: ArrayLike = (0.0, 0.0, 0.0)
    level: float | None = None

    def __post_init__(self) -> None:
        check_number(self.density, name="density", where="Fluid", least=0.0)
        check_number(self.drag, name="drag", where="Fluid", least=0.0)
        if self.level is not None:
            check_number(self.level, name="level", where="Fluid")
        object.__setattr__(self, "flow", check_vector(self.flow, name="flow", where="Fluid"))
