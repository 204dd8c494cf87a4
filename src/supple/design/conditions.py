"""Conditions: all that an evaluation depends on beside the design. `try_design` evaluates one, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Unpack

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.design.arena import ArenaLike
from supple.design.arenas import ArenaGiven, arena_of
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.measures import Measure, measures_of
from supple.design.origin import origin
from supple.design.results import Outcome, Result
from supple.design.scenes.scene_arena import Placing
from supple.design.trial import make_trial
from supple.errors import DivergenceError, InputError, SuppleError, check_choice, check_instance, check_number

DEVICES, DTYPES = ("cpu", "cuda"), ("float64", "float32")
"""What scores may be computed by and with."""
HERE = ("cpu", "float64")
"""What a process of Python computes by and with."""
TIME_LIMIT = 3600.0  # [s]


@dataclass(frozen=True, eq=False)
class Conditions:
    """Where, by what and with which seed designs are evaluated. measures: as `measures_of` takes them, None: those of
    the arena. key: names all of it by its content.

    time_limit: wall time of one evaluation [s], after which it is a result `crashed`. It is no part of the key: a
    machine that is twice as slow must not give other scores, so that it should be far beyond what designs take.
    device, dtype: what scores are computed by and with: a process of Python does so on the "cpu" in "float64", an
    executor that carries others may do otherwise, see `population.elsewhere`.
    A process that is told the conditions is told their key too: a function of a script has another name elsewhere.
    """

    arena: ArenaLike
    measures: Sequence[Measure]
    seed: int = 0
    time_limit: float = TIME_LIMIT
    device: str = "cpu"
    dtype: str = "float64"
    key: str = field(init=False)

    def __post_init__(self) -> None:
        check_number(self.seed, name="seed", where="evaluation", least=0, whole=True)
        check_number(self.time_limit, name="time_limit", where="evaluation", above=0.0, infinite=True)
        given: Any = self.arena.measures if self.measures is None else self.measures
        object.__setattr__(self, "measures", measures_of(given))
        for name, known in (("device", DEVICES), ("dtype", DTYPES)):
            check_choice(getattr(self, name), tuple(known), "choice", where=f"evaluation, {name}")
        made_by = (*origin(), self.device, self.dtype)
        key = content_key(*made_by, self.arena.key(), self.measures, int(self.seed))
        object.__setattr__(self, "key", key)

    def key_of(self, design: Design) -> str:
        """Names the evaluation of a design by all that its scores depend on."""
        check_instance(design, Design, "a design", where="evaluation")
        return content_key("evaluation", self.key, design.key())

    def evaluate(self, design: Design) -> Result:
        """Evaluate one design in this process; see `try_design`."""
        if (self.device, self.dtype) != HERE:
            raise InputError("this process evaluates on another device, or in another type of numbers",
                             where="evaluation", value=f"{self.device}, {self.dtype}", allowed=", ".join(HERE),
                             fix="Give an executor that evaluates there.")  # fmt: skip
        begun = perf_counter()
        with one_blas_thread():
            outcome, scores, message = self._outcome(design)
        return Result(self.key_of(design), design.key(), outcome, scores, perf_counter() - begun, message)

    def failed(self, design: Design, message: str, seconds: float = 0.0) -> Result:
        """The result of a design that killed its process."""
        return Result(self.key_of(design), design.key(), "crashed", self._worst(), seconds, message)

    def _worst(self) -> dict[str, float]:
        return {one.name: one.worst for one in self.measures}

    def _outcome(self, design: Design) -> tuple[Outcome, dict[str, float], str]:
        outcome: Outcome
        try:
            works = any(one.works for one in self.measures)
            trial = make_trial(design, self.arena, seed=self.seed, time_limit=self.time_limit, works=works)
            return "finished", {one.name: one.of(trial) for one in self.measures}, ""
        except DivergenceError as error:
            outcome, message = "diverged", str(error)
        except InputError as error:
            outcome, message = "refused", str(error)
        except SuppleError as error:
            outcome, message = "crashed", str(error)
        except Exception as error:  # of a measure or a controller: one design must not end the others
            outcome, message = "crashed", f"{type(error).__name__}: {error}"
        return outcome, self._worst(), message


def evaluation_key(
    design: Design,
    arena: ArenaGiven,
    measures: Any = None,
    *,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float64",
    **placing: Unpack[Placing],
) -> str:
    """Names an evaluation by all that its scores depend on: design, arena, measures, seed, version and sources of
    Supple, device and type of numbers."""
    return Conditions(arena_of(arena, placing), measures, seed, device=device, dtype=dtype).key_of(design)


def try_design(
    design: Design, arena: ArenaGiven, measures: Any = None, *, seed: int = 0, **placing: Unpack[Placing]
) -> Result:
    """Evaluate one design, in this process: the same arguments give the same scores, bit for bit.

    arena: an `Arena`, a task or its name, a scene file, a `FileArena`, a `SceneArena`, or a `Scene` with what
    `SceneArena` takes beside it, such as duration=1.0. measures: what it is judged by; None: what the arena is about,
    "travel" of an `Arena`, "score" of a task.

    A design that diverges, that the arena refuses, or whose run or measures fail, is a result with the worst scores
    and what went wrong. Measures that cannot be found are an InputError.

    >>> import numpy as np
    >>> from supple.design import Arena, Design
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, 0.01, duration=0.1, obstacles=(), velocity=(1, 0, 0))
    >>> round(try_design(Design(np.ones((2, 1, 1))), arena).scores["travel"], 6)
    0.1
    """
    return Conditions(arena_of(arena, placing), measures, seed).evaluate(design)
