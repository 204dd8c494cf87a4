"""The page of the studio: the picture, and around it what a person can do, a panel each."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from supple.studio.panels.run_panel import run_panel
from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas


def make_page(running: RunningScene) -> None:
    """The page at /."""

    @ui.page("/", title="Supple")
    def page() -> None:
        ui.query(".nicegui-content").classes("p-0 gap-0 w-full h-screen flex-nowrap")
        dark = ui.dark_mode(False)
        with ui.row().classes("w-full items-center px-3 py-1 gap-2"):
            ui.label("Supple").classes("text-lg font-bold grow").props('role="heading" aria-level="1"')
            pull = ui.checkbox("Pull", value=True).tooltip(
                "Drag a body to pull at it; with Shift, drag to turn the view"
            )
            fit = ui.button("Fit").props("flat dense no-caps").tooltip("See all of it")
            wire = ui.checkbox("Wireframe")
            shadows = ui.checkbox("Shadows", value=True)
            night = ui.checkbox("Dark")
        canvas = StudioCanvas().classes("w-full grow")
        run_panel(canvas, running)
        pull.on_value_change(lambda event: canvas.run_method("set_pulls", bool(event.value)))
        fit.on_click(lambda: canvas.run_method("fit"))
        wire.on_value_change(lambda event: canvas.run_method("set_wire", bool(event.value)))
        shadows.on_value_change(lambda event: canvas.run_method("set_shadows", bool(event.value)))

        def darken(event: Any) -> None:
            dark.set_value(bool(event.value))
            canvas.run_method("set_theme", "dark" if event.value else "light")

        night.on_value_change(darken)
