"""Run: what a run leaves behind, and how it is told to a person or a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from supple.errors import printable
from supple.record.measures import measure_bodies
from supple.record.reader import Trajectory
from supple.scene.state import State
from supple.scene.system import System
from supple.showing import mime_bundle
from supple.solvers.protocol import Solving

Array = np.ndarray
RunOutcome = Literal["finished", "stopped", "interrupted", "diverged", "failed"]

SENTENCES: dict[str, str] = {
    "finished": "the run reached its end",
    "stopped": "the run was stopped by on_step",
    "interrupted": "the run was interrupted; it can be resumed from its checkpoint",
    "diverged": "the run diverged; the state is the last good one",
    "failed": "the run ended with an error; the state is the last one that was completed",
}


class Energies(NamedTuple):
    """times (frames,) [s]; kinetic, potential (frames,) [J]."""

    times: Array
    kinetic: Array
    potential: Array

    @property
    def total(self) -> Array:
        """Mechanical energy (frames,) [J]."""
        return self.kinetic + self.potential


@dataclass(eq=False)
class Run:
    """A run that has ended.

    time: simulated [s]. steps: all that lead to `state`, those before a resume too. wall_time: of this run's
    loop [s]. real_time_factor: simulated over wall time, without the first step, which may have to compile.
    worst_residual: the largest of all steps. under_converged: steps that stopped above their tolerance, or
    left contacts or joints open.
    inverted: elements, and links of voxels, turned inside out at the last frame. gaps: of each tree of domains
    the largest gap between them in any frame of this run [m]. frames: surfaces over time, to look at and to
    export; the record's where there is one, else in memory. folder: of the record, None without one.
    """

    outcome: RunOutcome
    time: float
    steps: int
    state: State
    system: System
    wall_time: float
    real_time_factor: float
    energies: Energies
    worst_residual: float
    under_converged: int
    solver: Any
    inverted: int = 0
    gaps: dict[str, float] = field(default_factory=dict)
    frames: Trajectory | None = None
    folder: Path | None = None

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """As a notebook shows it."""
        return mime_bundle(self, **options)

    @property
    def sentence(self) -> str:
        """How the run ended."""
        return SENTENCES[self.outcome]

    @property
    def convergence(self) -> str:
        """Whether the steps were solved, in a sentence."""
        if not self.under_converged:
            return self._solved()
        return (
            f"{self.under_converged} of {self.steps} steps stopped above their tolerance{self._tolerance()}, or left "
            f"contacts or joints open; the worst relative residual was {self.worst_residual:.1e}. Allow more "
            "iterations, use linear='direct', or a smaller dt."
        )

    def _solved(self) -> str:
        """Of a run without a step that failed."""
        worst = f"worst residual {self.worst_residual:.1e}"
        if not isinstance(self.solver, Solving):
            return f"No step of {self.steps} had anything to solve, or left it unsolved ({worst})."
        if self.worst_residual <= self.solver.residual_limit:
            return f"All {self.steps} steps met their tolerance{self._tolerance()} ({worst})."
        return f"All {self.steps} steps were solved as far as rounding allows ({worst}, tolerance{self._tolerance()})."

    def _tolerance(self) -> str:
        return f" of {self.solver.residual_limit:.2g}" if isinstance(self.solver, Solving) else ""

    def report(self) -> str:
        """A short table: outcome, time, speed, energies, bodies, convergence."""
        lines = [f"{self.system.name}: {self.sentence}"]
        method = type(self.solver).__name__
        rows = [
            ("time", f"{self.time:.6g} s in {self.steps} steps of {self.solver.dt:g} s ({method})"),
            ("speed", f"{self.real_time_factor:.3g} x real time ({self.wall_time:.3g} s)"),
        ]
        if len(self.energies.times):
            for name in ("kinetic", "potential", "total"):
                values = getattr(self.energies, name)
                rows.append((name, f"{values[0]:.6g} J at the start, {values[-1]:.6g} J at the end"))
        if self.folder is not None:
            rows.append(("record", str(self.folder)))
        lines += [f"  {name:<10} {text}" for name, text in rows]
        head = (
            f"  {'body':<16} {'kind':<10} {'centre of mass [m]':<30} {'displacement [m]':<30} orientation (w, x, y, z)"
        )
        lines.append(head)
        for body in measure_bodies(self.system, self.state):
            centre, moved = _vector(body.centre_of_mass), _vector(body.displacement)
            turned = _vector(body.orientation)
            lines.append(f"  {body.name:<16} {body.kind:<10} {centre:<30} {moved:<30} {turned}")
        for name, gap in self.gaps.items():
            lines.append(f"  The domains of '{name}' were at most {gap:.3g} m apart where they meet.")
        if self.inverted:
            lines.append(f"  {self.inverted} elements are turned inside out; refine the mesh there, or load it less.")
        lines.append(f"  {self.convergence}")
        return "\n".join(map(printable, lines))

    def to_json(self) -> dict[str, Any]:
        """Plain values: outcome, time [s], steps, real_time_factor, bodies, energy [J] at the end.

        For trees of domains also their largest_gap [m].
        """
        energy = {
            name: float(getattr(self.energies, name)[-1]) if len(self.energies.times) else None
            for name in ("kinetic", "potential", "total")
        }
        return {
            "outcome": self.outcome,
            "time": self.time,
            "steps": self.steps,
            "real_time_factor": self.real_time_factor,
            "bodies": [body.to_json() for body in measure_bodies(self.system, self.state)],
            "energy": energy,
        } | ({"largest_gap": self.gaps} if self.gaps else {})


def _vector(v: Array) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in v) + ")"
