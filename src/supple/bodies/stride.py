"""Options and report of a body's own stride: many steps of a body that is alone, in one compiled call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError, check_choice, check_number

Array = np.ndarray


class StrideReport(NamedTuple):
    """iterations: most of a step; residual: largest, relative to the momentum and the impulse of a step."""

    iterations: int
    residual: float


@dataclass(frozen=True, eq=False)
class Stride:
    """tolerance: relative residual of a step. nodes (k,), forces (k, 3) [N]: constant world forces on nodes.

    method: "midpoint", implicit and converged, or "runge-kutta", explicit of fourth order, as a reference.
    """

    method: Literal["midpoint", "runge-kutta"] = field(default="midpoint", kw_only=True)
    tolerance: float = field(default=1e-11, kw_only=True)
    max_iterations: int = field(default=30, kw_only=True)
    nodes: ArrayLike = field(default=(), kw_only=True)
    forces: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_choice(self.method, ("midpoint", "runge-kutta"), "method", where="Stride")
        check_number(self.tolerance, name="tolerance", where="Stride", above=0.0, most=1.0)
        check_number(self.max_iterations, name="max_iterations", where="Stride", least=1, whole=True)

    def loads(self) -> tuple[Array, Array]:
        """Node numbers (k,) and forces (k, 3)."""
        nodes = np.asarray(self.nodes, dtype=np.int64).ravel()
        forces = np.zeros((0, 3)) if self.forces is None else np.asarray(self.forces, dtype=float).reshape(-1, 3)
        if len(forces) != len(nodes) or not np.isfinite(forces).all():
            raise InputError("there is not one finite force a node", where="Stride", value=(len(nodes), len(forces)))
        return nodes, forces
