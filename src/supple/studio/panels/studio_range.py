"""A slider as an element of the page: the browser's own, which keys and screen readers reach."""

from __future__ import annotations

from nicegui.elements.mixins.value_element import ValueElement


class StudioRange(ValueElement[float], component="studio_range.js"):
    """From low to high. is_log: the value is the logarithm to the base of 10 of what is told. Emits `change` with the
    value when somebody lets it go."""

    def __init__(self, low: float, high: float, step: float, value: float, *, is_log: bool = False) -> None:
        super().__init__(value=value, throttle=0.05)
        self._props.update(min=low, max=high, step=step, log=is_log)
