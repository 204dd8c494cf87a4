"""The page of the studio: the picture, and around it what a person can do, a panel each."""

from __future__ import annotations

from nicegui import ui

from supple.studio.panels.look_panel import look_panel
from supple.studio.panels.run_panel import run_panel
from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas


def make_page(running: RunningScene) -> None:
    """The page at /."""

    @ui.page("/", title="Supple")
    def page() -> None:
        ui.query(".nicegui-content").classes("p-0 gap-0 w-full h-screen flex-nowrap")
        above = ui.row().classes("w-full items-center px-3 py-1 gap-2")
        canvas = StudioCanvas().classes("w-full grow")
        with above:
            ui.label("Supple").classes("text-lg font-bold").props('role="heading" aria-level="1"')
            look_panel(canvas, running)
        run_panel(canvas, running)
