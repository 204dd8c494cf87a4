"""Help: what each tool is for, and keys."""

from __future__ import annotations

from nicegui import ui

POINTER = {
    "Drag a body": "pull at it, by a damped spring from the point under the pointer",
    "Drag beside it, or with Shift": "turn the view",
    "Drag with the right button": "move the view",
    "Wheel": "come nearer or go away",
    "Click on a body": "select it",
}
TOOLS = {
    "Open": "another scene, a file of yours, a recent run",
    "Colours": "what colours tell: materials, parts, domains, or speed, strain, stress with a legend",
    "Body, Follow": "the selected body, and whether the view goes with it",
    "Pull": "whether dragging pulls; without it, dragging turns the view",
    "Fit": "see all of it",
    "Show": "wireframe, shadows, links, frames, domain graph, contacts",
    "Plots": "energy, momentum, centre of mass and points over time; a click on a plot looks back",
    "Change": "gravity, wind, materials, controls, friction while it runs; save it all as a scene file",
    "Play, Step, Reset": "run or stop, take one step, begin anew",
    "Speed, Strength": "of simulated time against real time; of the pulling spring",
    "Look back, Live": "see the last 60 s again while it runs on; return to now",
}
KEYS = {
    "Space": "play or pause",
    ". (full stop)": "one step",
    "F": "fit",
    "O": "open",
    "?": "this help",
    "Arrows, on the picture": "turn the view; with Shift, move it",
    "+ and -, on the picture": "come nearer, go away",
    "Tab, Enter, Escape": "next tool, press it, close a list or a dialog",
}


def help_panel() -> ui.dialog:
    """A dialog over the page."""
    with ui.dialog().props('aria-label="Help"') as dialog, ui.card().classes("supple-help"):
        with ui.row().classes("w-full items-center justify-between"):
            ui.label("Help").classes("text-lg font-bold").props('role="heading" aria-level="2"')
            ui.button("Close", on_click=dialog.close).props("flat dense no-caps")
        for title, rows in (("With the pointer", POINTER), ("Tools", TOOLS), ("Keys", KEYS)):
            ui.label(title).classes("font-bold").props('role="heading" aria-level="3"')
            with ui.element("dl"):
                for term, meaning in rows.items():
                    ui.html(term, tag="dt", sanitize=False)
                    ui.html(meaning, tag="dd", sanitize=False)
    return dialog
