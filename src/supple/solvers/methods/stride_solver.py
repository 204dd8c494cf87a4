"""StrideSolver: bodies that bring their own stride and touch nothing, many implicit midpoint steps in one call.

For floating and layered bodies that fly or hang by themselves: nothing but gravity acts on them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from supple.bodies.capabilities import Extrapolating
from supple.bodies.stride import Stride
from supple.errors import ConvergenceError, InputError, check_number
from supple.scene.scene import Scene
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.implicit_euler import check_dt
from supple.solvers.report import Outcome, StepReport
from supple.solvers.striding import step_times
from supple.solvers.world import check_step, refuse_world

HISTORY = "stride"  # in a state's memory, under a body's name


@dataclass
class StrideSolver:
    """dt: time of one call [s], divided into `steps` midpoint steps; tolerance, max_iterations: of each.

    >>> solver = StrideSolver(1e-3)
    """

    dt: float = 1e-3
    steps: int = field(default=1, kw_only=True)
    tolerance: float = field(default=1e-11, kw_only=True)
    max_iterations: int = field(default=30, kw_only=True)

    def __post_init__(self) -> None:
        check_dt(self.dt, "StrideSolver")
        check_number(self.steps, name="steps", where="StrideSolver", least=1, whole=True)
        self._stride = Stride(tolerance=self.tolerance, max_iterations=self.max_iterations)
        self._workspaces: dict[int, tuple[Any, dict[str, Any]]] = {}

    @property
    def residual_limit(self) -> float:
        """Largest relative residual of a step that is solved."""
        return self.tolerance

    def prepare(self, system: System) -> None:
        """Refuse bodies without a stride, and everything that acts on them but gravity."""
        refuse_world(system, "StrideSolver")
        reason = "a joint holds a body" if system.joints else why_not_alone(system.scene)
        if reason is not None:
            raise InputError(
                reason, where="StrideSolver", fix="Leave the solver out of the run: one that suits is chosen."
            )
        system.memo[f"stride, revision {system.revision}"] = True

    def _scratch(self, slot: Slot) -> dict[str, Any]:
        """The workspace of a body that has one, by the name that `advance` knows it by."""
        known = self._workspaces.get(id(slot.body))
        if known is None or known[0] is not slot.body:
            more = {"workspace": slot.body.stride_workspace()} if isinstance(slot.body, Extrapolating) else {}
            known = self._workspaces[id(slot.body)] = (slot.body, more)
        return known[1]

    def step(self, system: System, state: State) -> StepReport:
        """Advance the state by dt, in place."""
        check_step(system, state, "StrideSolver.step")
        return self.advance(system, state, 1)

    def advance(self, system: System, state: State, steps: int) -> StepReport:
        """So many steps of dt, in place, those of a body in one compiled call. iterations: the most of a body's
        midpoint steps, times the number of steps of dt."""
        if f"stride, revision {system.revision}" not in system.memo:
            self.prepare(system)  # something was changed while it ran
        iterations, residual, h, count = 0, 0.0, self.dt / self.steps, steps * self.steps
        for slot in system.bodies:
            x, v = slot.view_x(state.x), slot.view_v(state.v)
            more: dict[str, Any] = {"stride": self._stride, **self._scratch(slot)}
            if "workspace" in more:
                name = f"{slot.name}/{HISTORY}"
                if name not in state.memory:
                    state.memory[name] = slot.node.body.stride_history()
                more["history"] = state.memory[name]
            try:
                report = slot.node.body.advance(x, v, h, steps=count, gravity=system.gravity, **more)
            except ConvergenceError as error:
                error.where = f"body '{slot.name}', {error.where}"
                raise
            iterations, residual = max(iterations, report.iterations), max(residual, report.residual)
        state.t = step_times(state.t, self.dt, steps)[-1] if steps > 1 else state.t + self.dt
        outcome = Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE
        return StepReport(outcome, steps * iterations, residual=residual, steps=steps)


def why_not_alone(scene: Scene) -> str | None:
    """Why the bodies of a scene cannot stride by themselves; None where they can."""
    for node in scene.nodes:
        if not getattr(node.body, "brings_stride", False):
            return f"'{node.name}' has no stride of its own"
    for given, what in (
        (scene.forces, "a force acts on a body"),
        (scene.masses, "a mass hangs on a body"),
        (scene.filters, "a filter holds a body"),
        (scene.joints, "a joint holds a body"),
        (scene.contacts or scene.obstacles, "bodies may touch something"),
        (scene.fluid is not None, "there is a fluid"),
        (scene.winds, "a wind blows"),
    ):
        if given:
            return what
    return None
