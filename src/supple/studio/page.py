"""The page of the studio: the picture, and around it what a person can do, a panel each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from supple.studio.panels.change_panel import change_panel
from supple.studio.panels.look_panel import look_panel
from supple.studio.panels.run_panel import run_panel
from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas

STYLE = Path(__file__).parent / "studio.css"
Panel = Callable[[StudioCanvas, RunningScene], None]
BESIDE: dict[str, tuple[Panel, str]] = {
    "Change": (change_panel, "Change gravity, wind, materials, controls, friction while it runs"),
}
"""Panels that a person opens beside the picture, with what they are for."""


def make_page(running: RunningScene) -> None:
    """The page at /."""

    @ui.page("/", title="Supple")
    def page() -> None:
        ui.colors(primary="#3b6ea5", negative="#b3372f")
        ui.add_css(STYLE.read_text())
        ui.query(".nicegui-content").classes("p-0 gap-0 w-full h-screen flex-nowrap")
        above = ui.row().classes("w-full items-center px-3 py-1 gap-2")
        with ui.row().classes("w-full grow flex-nowrap gap-0").style("min-height: 10rem"):
            canvas = StudioCanvas().classes("grow h-full").style("min-width: 10rem")
            beside = ui.column().classes("h-full shrink-0 gap-0")
        with above:
            ui.label("Supple").classes("text-lg font-bold").props('role="heading" aria-level="1"')
            look_panel(canvas, running)
            for name, (panel, purpose) in BESIDE.items():
                _foldable(name, purpose, panel, beside, canvas, running)
        run_panel(canvas, running)


def _foldable(
    name: str, purpose: str, panel: Panel, beside: ui.column, canvas: StudioCanvas, running: RunningScene
) -> None:
    """A button that shows and hides a panel. Its help is the browser's own, which does not lie over the panel."""
    with beside:
        place = (
            ui.column().classes("w-72 grow overflow-auto px-3 py-1 gap-1").props(f'role="region" aria-label="{name}"')
        )
    with place:
        panel(canvas, running)
    place.set_visibility(False)
    button = ui.button(name).props(f'flat dense no-caps aria-pressed="false" title="{purpose}"')

    def fold() -> None:
        place.set_visibility(not place.visible)
        button.props(f'aria-pressed="{str(place.visible).lower()}"')

    button.on_click(fold)
