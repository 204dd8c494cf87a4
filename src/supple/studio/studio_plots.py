"""Plots as an element of the page."""

from __future__ import annotations

from nicegui.element import Element


class StudioPlots(Element, component="studio_plots.js"):
    """Plots, which fetch samples by themselves while they are open."""

    def __init__(self) -> None:
        super().__init__()
        self._props["open"] = False

    def set_open(self, on: bool) -> None:
        """Whether they are seen; nothing is fetched else."""
        self._props["open"] = on
        self.update()
