"""`ReducedDomain`: reduced dynamics of one domain, or of many copies side by side, without coupling.

M q" + (alpha M + beta K(q)) q' + f(q) = f_ext,     f = frequency_factor² f_int
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.lanes.lane_type import LANES
from supple.errors import ConvergenceError, DivergenceError, InputError
from supple.modal.forces.cubic import CubicForce
from supple.modal.newmark_kernels import NOT_CONVERGED, SINGULAR, NewmarkNumbers, advance

Array = np.ndarray


@dataclass(frozen=True)
class NewmarkSettings:
    """Newmark's beta and gamma, and Newton's iterations.

    max_iterations = 1 is the semi-implicit step, which takes one iteration as it is; with more, a step that does not
    bring the residual below `epsilon` of its start is an error.
    """

    beta: float = 0.25
    gamma: float = 0.5
    max_iterations: int = 1
    epsilon: float = 1e-6

    def __post_init__(self) -> None:
        if not (self.beta > 0 and self.gamma >= 0 and self.epsilon > 0 and self.max_iterations >= 1):
            raise InputError(
                "the settings are out of range", where="NewmarkSettings", value=self,
                allowed="beta > 0, gamma >= 0, epsilon > 0, max_iterations >= 1",
            )  # fmt: skip

    def numbers(self, dt: float, mass_damping: float, stiffness_damping: float) -> NewmarkNumbers:
        """The numbers of the kernel for a step dt [s]."""
        if not np.isfinite(dt) or dt <= 0:
            raise InputError("the time step is not positive", where="ReducedDomain", value=dt, allowed="> 0 s")
        b, g = self.beta, self.gamma
        return NewmarkNumbers(
            1 / (b * dt * dt), 1 / (b * dt), (1 - 2 * b) / (2 * b), g / (b * dt), 1 - g / b, (1 - g / (2 * b)) * dt,
            float(mass_damping), float(stiffness_damping), int(self.max_iterations), float(self.epsilon),
        )  # fmt: skip


@dataclass
class ReducedState:
    """q, v = q', a = q" of the copies, (instances, r) each."""

    q: Array
    v: Array
    a: Array

    def copy(self) -> ReducedState:
        """An independent copy."""
        return ReducedState(self.q.copy(), self.v.copy(), self.a.copy())


@dataclass(frozen=True, eq=False)
class ReducedDomain:
    """Copies of one domain. force: its elastic force. mass: (r, r) [kg], None for the identity.

    mass_damping: alpha [1/s]. stiffness_damping: beta [s]. frequency_factor: multiplies all frequencies.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.modal import ElasticSolid, Support, reduce_solid
    >>> beam = ElasticSolid(box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1)), Material(1e6, 0.3, 1000))
    >>> kind = reduce_solid(Support(beam, "x_min"), 4, keep=False)
    >>> domain = ReducedDomain(kind.force, mass=kind.mass, stiffness_damping=0.01)
    >>> state = domain.state()
    >>> domain.advance(state, 1 / 120, steps=10, f_ext=kind.integrals.U_bar.T @ [0, 0, -9.81])
    1
    """

    force: CubicForce
    mass: Array | None = field(default=None, kw_only=True)
    mass_damping: float = field(default=0.0, kw_only=True)
    stiffness_damping: float = field(default=0.0, kw_only=True)
    frequency_factor: float = field(default=1.0, kw_only=True)
    settings: NewmarkSettings = field(default_factory=NewmarkSettings, kw_only=True)

    def __post_init__(self) -> None:
        r = self.force.count
        mass = np.eye(r) if self.mass is None else np.ascontiguousarray(self.mass, dtype=float)
        if mass.shape != (r, r):
            raise InputError("the mass does not fit the force", value=mass.shape, allowed=f"({r}, {r})")
        for name in ("mass_damping", "stiffness_damping", "frequency_factor"):
            value = getattr(self, name)
            if not np.isfinite(value) or value < 0:
                raise InputError(f"{name} is negative or not finite", where="ReducedDomain", value=value)
        object.__setattr__(self, "mass", mass)

    @cached_property
    def tuned_force(self) -> CubicForce:
        """The force times the square of the frequency factor."""
        return self.force if self.frequency_factor == 1.0 else self.force.multiplied(self.frequency_factor**2)

    def state(self, instances: int = 1) -> ReducedState:
        """All copies at rest."""
        shape = (instances, self.force.count)
        return ReducedState(np.zeros(shape), np.zeros(shape), np.zeros(shape))

    def acceleration(self, state: ReducedState, f_ext: Array | float = 0.0) -> Array:
        """q" (instances, r) that the equation of motion gives: a start for `state.a` where a load acts at once."""
        f, K = self.tuned_force.evaluate(state.q)
        mass = np.asarray(self.mass)
        damping = state.v @ mass * self.mass_damping + self.stiffness_damping * np.einsum("nij,nj->ni", K, state.v)
        return np.linalg.solve(mass, (f_ext - f - damping).T).T

    def advance(self, state: ReducedState, dt: float, *, steps: int = 1, f_ext: Array | float = 0.0) -> int:
        """Move `state` on by `steps` steps of dt [s] under constant forces f_ext (instances, r) [N].

        f_ext may also be (r,), for all copies alike. Returns the most Newton iterations of a step.
        Where a step fails, an error is raised and `state` is not to be used any more.
        """
        if (
            state.q.ndim != 2
            or state.q.shape[1] != self.force.count
            or not state.q.shape == state.v.shape == state.a.shape
        ):
            raise InputError("the state does not fit the domain", value=state.q.shape)
        load = np.asarray(f_ext, dtype=float)
        if load.shape not in ((), state.q.shape, state.q.shape[1:]):
            raise InputError("the forces do not fit the state", value=load.shape, allowed=f"{state.q.shape}")
        load = np.ascontiguousarray(np.broadcast_to(load, state.q.shape))
        numbers = self.settings.numbers(dt, self.mass_damping, self.stiffness_damping)
        with one_blas_thread():
            outcome, copy, iterations = advance(
                self.tuned_force.arrays, self.mass, numbers, steps, load, state.q, state.v, state.a
            )
        finite = np.isfinite(state.q).all(axis=1)
        if outcome == NOT_CONVERGED:
            raise ConvergenceError(
                "Newton's iterations did not reach their tolerance",
                where=f"ReducedDomain, copy {copy}",
                allowed=f"{self.settings.epsilon:g} of the first residual in {self.settings.max_iterations} iterations",
                fix="Take smaller steps, allow more iterations, or add stiffness_damping.",
            )
        if outcome == SINGULAR or not finite.all():
            copy = copy if outcome == SINGULAR else int(np.argmin(finite))
            raise DivergenceError(
                "the motion is not finite any more, or its matrix is singular",
                where=f"ReducedDomain, copy {copy} or one of the next {LANES - 1}",
                fix="Take smaller steps, or add stiffness_damping.",
            )
        return int(iterations)

    def energy(self, state: ReducedState) -> Array:
        """Kinetic and elastic energy of each copy [J], (instances,)."""
        return 0.5 * np.einsum("ni,ij,nj->n", state.v, np.asarray(self.mass), state.v) + self.tuned_force.energy(
            state.q
        )
