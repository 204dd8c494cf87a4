"""Look: colours, what is shown beside the bodies, which body is selected, and where the camera looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui

from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas

COLOURS = {
    "materials": "Materials",
    "parts": "Parts",
    "domains": "Domains",
    "speed": "Speed",
    "strain": "Strain",
    "stress": "Stress",
}
MARKS = {
    "links": ("Links", "Links between the voxels of lattices"),
    "frames": ("Frames", "Axes of rigid and floating bodies and of domains: x red, y green, z blue"),
    "graph": ("Domain graph", "Domains of trees as blue points, which hang on each other at interfaces, orange points"),
    "contacts": ("Contacts", "Where bodies push each other and obstacles, with arrows of the forces; voxels that push "
                 "voxels of the same sweep have none"),
}  # fmt: skip
"""What can be drawn beside bodies, in words, and help."""
REFRESH = 0.5


def look_panel(canvas: StudioCanvas, running: RunningScene) -> None:
    """A row above the picture. Help is the browser's own, which screen readers tell too."""
    told = ui.label("").classes("grow basis-0 min-w-32 text-sm opacity-80 truncate")
    told.props('role="status" aria-label="Selected body"')
    colours = ui.select(COLOURS, value="materials", label="Colours").props("dense").classes("w-28")
    colours.props["title"] = "What the colours of bodies tell: their material, part or domain, or a field with a legend"
    colours.on_value_change(lambda event: canvas.run_method("set_colours", event.value))
    bodies = ui.select([], label="Body", clearable=True).props("dense").classes("w-36")
    bodies.props["title"] = "The selected body; a click on the picture selects too. Its colours are told point by point"
    bodies.on_value_change(lambda event: canvas.run_method("select", event.value or ""))
    follow = ui.checkbox("Follow").props('title="Keep the selected body in the middle of the picture"')
    follow.on_value_change(lambda event: canvas.run_method("set_follow", bool(event.value)))
    pull = ui.checkbox("Pull", value=True)
    pull.props('title="Drag a body to pull at it; drag beside it, or with Shift, to turn the view"')
    pull.on_value_change(lambda event: canvas.run_method("set_pulls", bool(event.value)))
    fit = ui.button("Fit", on_click=lambda: canvas.run_method("fit"))
    fit.props('flat dense no-caps title="See all bodies (F)"')
    _show_menu(canvas)
    _theme(canvas)

    def selected(event: Any) -> None:
        if (words := words_of(event.args, bodies.value)) is not None:
            told.set_text(words)

    def picked(event: Any) -> None:
        if event.args and event.args not in bodies.options:  # of a scene just opened
            bodies.set_options(names_of(running))
        name = event.args if event.args in bodies.options else None
        if bodies.value != name:
            bodies.set_value(name)

    canvas.on("selected", selected)
    canvas.on("picked", picked)
    ui.timer(REFRESH, lambda: bodies.set_options(names_of(running)) if bodies.options != names_of(running) else None)


def _show_menu(canvas: StudioCanvas) -> None:
    """What is drawn beside the bodies."""

    def switch(text: str, value: bool, tip: str, act: Callable[[bool], Any]) -> None:
        box = ui.checkbox(text, value=value).classes("px-2")
        box.props["title"] = tip
        box.on_value_change(lambda event: act(bool(event.value)))

    show = ui.button("Show").props('flat dense no-caps icon-right=arrow_drop_down title="What else is drawn"')
    with show, ui.menu(), ui.column().classes("gap-0 py-1"):
        switch("Wireframe", False, "The triangles of surfaces", lambda on: canvas.run_method("set_wire", on))
        switch("Shadows", True, "Shadows on bodies and ground", lambda on: canvas.run_method("set_shadows", on))
        for name, (text, tip) in MARKS.items():
            switch(text, False, tip, partial(canvas.run_method, "set_mark", name))


def _theme(canvas: StudioCanvas) -> None:
    dark = ui.dark_mode(False)

    def darken(event: Any) -> None:
        dark.set_value(bool(event.value))
        canvas.run_method("set_theme", "dark" if event.value else "light")

    box = ui.checkbox("Dark").props('title="Light things on a dark ground"')
    box.on_value_change(darken)


def names_of(running: RunningScene) -> list[str]:
    """Names of the bodies that can be selected."""
    shapes = [] if running.header is None else running.header["shapes"]
    return [shape["name"] for shape in shapes if shape["kind"] == "body"]


def words_of(given: Any, chosen: str | None) -> str | None:
    """What is told of the body of a "selected" event, "" where none is selected. None: nothing, since another body has
    been chosen since the page sent it.

    >>> words_of({"name": "cube"}, "ball"), words_of(None, None)
    (None, '')
    """
    if not isinstance(given, dict) or not given:
        return ""
    return told_body(given) if given.get("name") == chosen else None


def told_body(about: dict[str, Any]) -> str:
    """A body in words.

    >>> told_body({"name": "ball", "kind": "rigid", "mass": 0.2618, "size": [0.1, 0.1, 0.1], "points": 162})
    'ball: rigid, 0.262 kg, 0.1 × 0.1 × 0.1 m, 162 points'
    """
    size = " × ".join(f"{value:.3g}" for value in about["size"])
    return f"{about['name']}: {about['kind']}, {about['mass']:.3g} kg, {size} m, {about['points']} points"
