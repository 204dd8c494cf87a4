"""Run: play, pause, single step, reset, speed, and what the simulation says of itself."""

from __future__ import annotations

from collections.abc import Callable
from math import log10
from time import monotonic
from typing import Any

from nicegui import ui

from supple.studio.panels.studio_range import StudioRange
from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas

SPEEDS = {0.1: "0.1", 0.25: "0.25", 0.5: "0.5", 1.0: "1", 2.0: "2", 5.0: "5"}
REFRESH = 0.2
SETTLED = 1.0
"""Wall time [s] after which what a person has set is what the simulation has."""


class Shared:
    """A control of a value that the simulation has for all who look on: what one sets, the others see."""

    def __init__(self, control: Any, tell: Callable[[float], None]) -> None:
        self.control, self.last, self.touched = control, float(control.value), 0.0
        control.on_value_change(lambda event: self._told(float(event.value), tell))

    def _told(self, value: float, tell: Callable[[float], None]) -> None:
        if value != self.last:
            self.last, self.touched = value, monotonic()
            tell(value)

    def show(self, value: float) -> None:
        """What the simulation says of it, where it shows another, and nobody moves it here just now."""
        if value != self.last and monotonic() - self.touched >= SETTLED:
            self.last = value
            self.control.set_value(value)


def run_panel(canvas: StudioCanvas, running: RunningScene) -> None:
    """A row under the picture. Its help is the browser's own, which does not lie over the bar above it."""
    message = ui.label("").classes("w-full px-3 text-negative").props('role="alert"')
    with ui.row().classes("w-full items-center px-3 py-1 gap-2"):
        play = ui.button("Play").props('dense no-caps title="Run, or stop for a while (Space)"').classes("w-20")
        step = ui.button("Step").props('flat dense no-caps title="One step of the solver (.)"')
        reset = ui.button("Reset").props('flat dense no-caps title="Begin anew"')
        speed = ui.select(SPEEDS, value=1.0, label="Speed").props("dense").classes("w-24")
        speed.props('title="How fast simulated time passes, against real time"')
        with ui.row().classes("items-center gap-2 flex-nowrap"):
            ui.label("Strength").props('id="strength" title="Of the spring that pulls: softer or stiffer"')
            strength = StudioRange(-1.5, 1.5, 0.1, 0.0, is_log=True).classes("w-28")
            strength.props('aria-labelledby="strength" title="Of the spring that pulls: softer or stiffer"')
        told = ui.label("").classes("grow text-right tabular-nums").props('role="status" aria-label="State"')
    wanted = Shared(speed, lambda value: running.tell("speed", value))
    stiff = Shared(strength, lambda value: running.tell("strength", 10.0**value))

    def tell(command: str) -> None:
        canvas.run_method("live")
        running.tell(command)

    play.on_click(lambda: running.tell("pause") if running.status.get("playing") else tell("play"))
    step.on_click(lambda: tell("step"))
    reset.on_click(lambda: tell("reset"))

    def refresh() -> None:
        status = running.status
        play.set_text("Pause" if status.get("playing") else "Play")
        for button in (play, step, reset):
            button.set_enabled(running.is_ready and not running.failure)
        message.set_text(running.failure or status.get("message", "") or status.get("notice", ""))
        coming = f"Opening {running.opening} ..." if running.opening else ""
        told.set_text(coming or (told_state(status) if running.is_ready else ""))
        if status:
            wanted.show(status["wanted"])
            stiff.show(round(log10(status["strength"]), 1))

    ui.timer(REFRESH, refresh)


def told_state(status: dict[str, Any]) -> str:
    """Time, speed and energy as a person reads them.

    >>> told_state({"time": 1.5, "speed": 0.98, "playing": True, "kinetic": 0.25, "potential": -1.0})
    't = 1.50 s, 0.98 of real time, energy -0.75 J'
    """
    if not status:
        return ""
    speed = f"{status['speed']:.2g} of real time" if status["playing"] else "paused"
    return f"t = {status['time']:.2f} s, {speed}, energy {status['kinetic'] + status['potential']:.3g} J"
