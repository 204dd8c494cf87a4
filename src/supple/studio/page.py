"""The page of the studio: the picture, and around it what a person can do, a panel each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nicegui import ui

from supple.studio.panels.change_panel import change_panel
from supple.studio.panels.help_panel import help_panel
from supple.studio.panels.look_panel import look_panel
from supple.studio.panels.open_panel import OpenPanel
from supple.studio.panels.plot_panel import plot_panel
from supple.studio.panels.run_panel import run_panel
from supple.studio.running_scene import RunningScene
from supple.studio.shelf.shelf import Shelf
from supple.studio.studio_canvas import StudioCanvas

STYLE = Path(__file__).parent / "studio.css"
HELP = Path(__file__).parent / "studio_help.js"
Panel = Callable[[StudioCanvas, RunningScene], Any]
"""Lays itself out; what it returns is told by `set_open` whether it is seen, where it has that."""
BESIDE: dict[str, tuple[Panel, str]] = {
    "Plots": (plot_panel, "Energy, momentum, centre of mass and points over time"),
    "Change": (change_panel, "Change gravity, wind, materials, controls, friction while it runs"),
}
"""Panels that a person opens beside the picture, with what they are for."""


REFRESH = 0.5


def make_page(running: RunningScene, shelf: Shelf | None = None) -> None:
    """The page at /. shelf: what can be opened from it."""

    @ui.page("/", title="Supple")
    def page() -> None:
        ui.colors(primary="#3b6ea5", negative="#b3372f")
        ui.add_css(STYLE.read_text())
        ui.add_body_html(f"<script>{HELP.read_text()}</script>")
        ui.query(".nicegui-content").classes("p-0 gap-0 w-full h-screen flex-nowrap")
        above = ui.row().classes("w-full items-center px-3 py-1 gap-2")
        with ui.row().classes("supple-middle w-full grow flex-nowrap gap-0").style("min-height: 10rem"):
            canvas = StudioCanvas().classes("grow h-full").style("min-width: 10rem")
            beside = ui.column().classes("supple-beside h-full shrink-0 gap-0")
        with above:
            title = ui.label("Supple").classes("text-lg font-bold").props('role="heading" aria-level="1"')
            opening = _open_button(running, shelf)
            look_panel(canvas, running)
            for name, (panel, purpose) in BESIDE.items():
                _foldable(name, purpose, panel, beside, canvas, running)
            helping = help_panel()
            ui.button("Help", on_click=helping.open).props(
                'flat dense no-caps title="What each tool is for, and keys (?)"'
            )
        run_panel(canvas, running)
        ui.timer(REFRESH, lambda: title.set_text(running.title or "Supple"))
        acts: dict[str, Callable[[], Any]] = {
            " ": lambda: _tell(canvas, running, "pause" if running.status.get("playing") else "play"),
            ".": lambda: _tell(canvas, running, "step"),
            "f": lambda: canvas.run_method("fit"),
            "?": helping.open,
        }
        if opening is not None:
            acts["o"] = opening.show
            if not running.is_open:
                opening.show()
        ui.keyboard(lambda event: acts[event.key.name.lower()]() if _is_meant(event, acts) else None)


def _is_meant(event: Any, acts: dict[str, Any]) -> bool:
    """Whether a key is pressed that does something, and no browser's own."""
    held = event.modifiers
    return bool(
        event.action.keydown and not event.action.repeat and event.key.name.lower() in acts
        and not (held.ctrl or held.alt or held.meta)
    )  # fmt: skip


def _tell(canvas: StudioCanvas, running: RunningScene, command: str) -> None:
    if running.is_ready and not running.failure:
        canvas.run_method("live")
        running.tell(command)


def _open_button(running: RunningScene, shelf: Shelf | None) -> OpenPanel | None:
    if shelf is None:
        return None
    panel = OpenPanel(running, shelf)
    ui.button("Open", on_click=panel.show).props('flat dense no-caps title="Another scene, a file, a recent run (O)"')
    return panel


def _foldable(
    name: str, purpose: str, panel: Panel, beside: ui.column, canvas: StudioCanvas, running: RunningScene
) -> None:
    """A button that shows and hides a panel. Its help is the browser's own, which does not lie over the panel."""
    with beside:
        place = (
            ui.column()
            .classes("w-72 overflow-auto px-3 py-1 gap-1 flex-nowrap")
            .props(f'role="region" aria-label="{name}"')
        )
    with place:
        made = panel(canvas, running)
    place.set_visibility(False)
    button = ui.button(name).props(f'flat dense no-caps aria-pressed="false" title="{purpose}"')

    def fold() -> None:
        place.set_visibility(not place.visible)
        button.props(f'aria-pressed="{str(place.visible).lower()}"')
        if hasattr(made, "set_open"):
            made.set_open(place.visible)

    button.on_click(fold)
