"""Elsewhere: what makes executors whose work is computed on another device, or in another type of numbers.

A score that a graphics card computes is another one in its last bits, and its key says so. Three must agree on it:

    the caller     evaluate(..., device="cuda", dtype="float32")       what it asks for
    the factory    .device, .dtype                                     what its executors compute by and with
    the results    .key                                                what their engine was told, `Conditions.key_of`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Protocol, runtime_checkable

from supple.design.conditions import HERE, Conditions
from supple.design.designs import Design
from supple.design.population.workers import evaluate_batch
from supple.design.results import Result
from supple.errors import InputError

Work = Callable[[Conditions, Sequence[Design], int], list[Result]]
"""Evaluates designs in their order. The number is another one each time, for executors that remember calls."""


@runtime_checkable
class Elsewhere(Protocol):
    """Makes executors, and says what they compute by and with. Its evaluate_batch is handed to them in place of that of
    this package, and must be such that they can import it or unpickle it. They compile what they need themselves."""

    device: str
    dtype: str

    def __call__(self) -> Executor:
        """An executor."""
        ...

    def evaluate_batch(self, conditions: Conditions, designs: Sequence[Design], attempt: int) -> list[Result]:
        """Results of designs in their order, under the keys of the conditions."""
        ...


def work_of(executor: Callable[[], Executor] | None, conditions: Conditions) -> Work:
    """What the workers of an executor do: an InputError where that is not what the conditions ask for."""
    found: Any = executor
    offered = (str(getattr(found, "device", HERE[0])), str(getattr(found, "dtype", HERE[1])))
    asked = (conditions.device, conditions.dtype)
    if asked != offered:
        raise InputError(
            "the executor computes on another device, or in another type of numbers", where="evaluate, device, dtype",
            value=", ".join(asked), allowed=", ".join(offered),
            fix="Give an executor that carries this device and dtype, or ask for what it computes.",
        )  # fmt: skip
    if offered == HERE:
        return evaluate_batch
    if not isinstance(found, Elsewhere):
        raise InputError("the executor does not say how it evaluates there", where="evaluate, executor",
                         value=type(found).__name__,
                         allowed="device, dtype and evaluate_batch(conditions, designs, attempt)")  # fmt: skip
    return found.evaluate_batch
