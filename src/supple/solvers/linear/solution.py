"""What a solver asks of its linear systems, and what it gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from supple.errors import check_choice, check_instance
from supple.scene.system import System
from supple.solvers.linear.costs import FEWEST, MANY, Costs

Array = np.ndarray
SMALL = 1500  # unknowns up to which the direct solver is taken where costs are not known
FACTORED = 20_000  # unknowns up to which a factor is taken in a step that iterations do not solve


@dataclass(frozen=True)
class LinearOptions:
    """method: "cg", "direct", or "auto": direct for systems of a few hundred unknowns, else what costs less, see
    `Costs`; a step that its iterations do not solve, or whose contacts are too stiff for them, by a factor.

    tolerance: true relative residual of cg. max_iterations: of cg; with tolerance 0 exactly so many are done.
    preconditioner: a name of `solve_cg`; "bodies": what a body can solve by itself it solves; "aggregation": see
    `Aggregation`; or "auto": that where it costs less than "block_jacobi", see `Costs`.
    """

    method: Literal["auto", "cg", "direct"] = "auto"
    tolerance: float = 1e-6
    max_iterations: int | None = None
    preconditioner: str = "auto"

    def __post_init__(self) -> None:
        check_choice(self.method, ("auto", "cg", "direct"), "linear solver")
        check_instance(self.preconditioner, str, "the name of a preconditioner", where="solver")

    def uses_cg(self, system: System, *, mass: float, damping: float, stiffness: float) -> bool:
        """Whether conjugate gradients will be used for mass M + damping B + stiffness K, and so a definite tangent is
        needed."""
        if self.method != "auto" or system.is_small:
            return self.method == "cg"
        if system.assembly is None or self.preconditioner not in ("auto", "aggregation", "block_jacobi"):
            return system.v_size > SMALL
        if system.v_size > MANY:
            return True
        return Costs.of(system).iterates(self.tolerance, mass=mass, damping=damping, stiffness=stiffness)

    def aggregates(self, system: System, **weights: float) -> bool:
        """Whether conjugate gradients are preconditioned by aggregates."""
        if system.assembly is None or self.preconditioner not in ("auto", "aggregation"):
            return False
        if self.preconditioner == "aggregation":
            return True
        if system.assembly.matrix.block_count < FEWEST or self.tolerance == 0.0:
            return False
        return Costs.of(system).aggregates(self.tolerance, **weights)

    def may_factor(self, unknowns: int) -> bool:
        """Whether a factor takes a step that iterations do not solve, or would not resolve."""
        return self.method == "auto" and self.max_iterations is None and unknowns <= FACTORED

    @property
    def named(self) -> str:
        """The preconditioner that `solve_cg` makes by its name."""
        return "block_jacobi" if self.preconditioner in ("auto", "aggregation") else self.preconditioner


@dataclass
class LinearSolution:
    """d: the increment. multipliers of the joints. iterations, residual: of the linear solve; ok: within tolerance;
    is_final: that was the options' tolerance, not a looser one. unmet: what no motion can meet of the joints' rows.
    opened: by how much joints are open at the end of the step, over the size. pulled: forces on shapes that yield.
    lost (n,): the residual of a solution by iterations, None of others; size: of the right side that it is measured
    by, where there are joints. again(b, g): d of the same matrix for another right side, filtered, roughly by
    iterations; g: of the joints, with given multipliers of rows that rest."""

    d: Array
    multipliers: Array
    iterations: int
    residual: float
    ok: bool
    is_final: bool = True
    unmet: Array = field(default_factory=lambda: np.zeros(0))
    opened: float = 0.0
    pulled: Array = field(default_factory=lambda: np.zeros(0))
    lost: Array | None = None
    size: float = 0.0
    again: Callable[[Array, Array], Array] | None = None
