"""Open: built-in scenes with small pictures, files by upload, recent runs."""

from __future__ import annotations

from datetime import datetime
from html import escape
from typing import Any

from nicegui import run, ui

from supple.errors import SuppleError
from supple.studio.opening import Make
from supple.studio.running_scene import RunningScene
from supple.studio.shelf.shelf import Shelf
from supple.studio.studio_upload import StudioUpload


class OpenPanel:
    """A dialog over the page."""

    def __init__(self, running: RunningScene, shelf: Shelf) -> None:
        self.running, self.shelf = running, shelf
        with ui.dialog().props('aria-label="Open"') as self.dialog, ui.card().classes("supple-open"):
            with ui.row().classes("w-full items-center justify-between"):
                ui.label("Open").classes("text-lg font-bold").props('role="heading" aria-level="2"')
                ui.button("Close", on_click=self.dialog.close).props("flat dense no-caps")
            self.word = ui.label("").classes("text-negative").props('role="alert"')
            ui.label("Built-in scenes").props('role="heading" aria-level="3"').classes("font-bold")
            with ui.element("div").classes("supple-cards"):
                for name, summary in shelf.examples.items():
                    self._card(name, summary)
            ui.label("A file of yours").props('role="heading" aria-level="3"').classes("font-bold")
            StudioUpload(shelf.uploads.largest).on("uploaded", self._uploaded)
            ui.label("Recent runs").props('role="heading" aria-level="3"').classes("font-bold")
            self.runs = ui.column().classes("w-full gap-0")

    def show(self) -> None:
        """Open the dialog, with the runs of now."""
        self.word.set_text("")
        self.runs.clear()
        with self.runs:
            self._list_runs()
        self.dialog.open()

    def _card(self, name: str, summary: str) -> None:
        card = ui.element("button").classes("supple-card").props(f'type="button" aria-label="{name}"')
        card.props["title"] = summary
        card.on("click", lambda: self._open(self.shelf.example(name), name))
        with card:
            if self.shelf.thumbnail(name) is not None:
                ui.element("img").props(f'src="/thumbnails/{name}" alt="" loading="lazy"')
            ui.html(escape(name), tag="b", sanitize=False)
            ui.html(escape(summary), tag="span", sanitize=False)

    def _list_runs(self) -> None:
        found = self.shelf.recent()
        if not found:
            ui.label("None yet: supple run SCENE, or supple view SCENE --out FOLDER, keeps runs.").classes("opacity-70")
        for one in found:
            with ui.row().classes("w-full items-center gap-2 flex-nowrap"):
                when = datetime.fromtimestamp(one.at).strftime("%Y-%m-%d %H:%M")
                ui.label(f"{one.name}, {when}").classes("truncate")
                ui.label(one.folder).classes("grow truncate opacity-70 text-sm").props["title"] = one.folder
                play = ui.link("Play", f"/runs/{one.key}", new_tab=True)
                play.props["title"] = "Play the recorded run in a page of its own"
                play.props["aria-label"] = f"Play {one.name}, {when}"
                if (make := self.shelf.again(one)) is not None:
                    again = ui.button("Run again", on_click=lambda _, make=make, name=one.name: self._open(make, name))
                    again.props("flat dense no-caps").props["aria-label"] = f"Run {one.name} again"

    async def _uploaded(self, event: Any) -> None:
        try:
            make, name = self.shelf.uploaded(str(event.args)[:64])
        except SuppleError as error:
            self.word.set_text(str(error))
            return
        await self._open(make, name)

    async def _open(self, make: Make, name: str) -> None:
        self.dialog.close()
        try:
            await run.io_bound(self.running.open, make, name)
        except SuppleError as error:
            self.word.set_text(str(error))
            self.dialog.open()
