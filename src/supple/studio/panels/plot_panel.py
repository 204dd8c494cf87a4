"""Plots: energies, momenta, the centre of mass over time, and of any point that is clicked on."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas
from supple.studio.studio_plots import StudioPlots


def plot_panel(canvas: StudioCanvas, running: RunningScene) -> StudioPlots:
    """A column beside the picture."""
    track = ui.button("Track a point").props('dense no-caps outline aria-pressed="false"')
    track.props('title="Then click on a body: its position and speed at that point are plotted, four points at most"')
    plots = StudioPlots().classes("w-full")

    def switch(on: bool) -> None:
        track.props(f'aria-pressed="{str(on).lower()}"')
        track.set_text("Click on a body …" if on else "Track a point")

    def press() -> None:
        on = track.props["aria-pressed"] != "true"
        switch(on)
        canvas.run_method("set_tracking", on)

    def seek(event: Any) -> None:
        if isinstance(event.args, int | float):
            canvas.run_method("back", float(event.args))

    track.on_click(press)
    canvas.on("tracking", lambda event: switch(bool(event.args)))
    plots.on("seek", seek)
    return plots
