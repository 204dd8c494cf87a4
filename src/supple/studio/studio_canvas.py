"""The canvas as an element of the page."""

from __future__ import annotations

from pathlib import Path

import nicegui.elements.scene
from nicegui.element import Element

import supple.canvas

WEB = Path(supple.canvas.__file__).parent / "web"
_ = nicegui.elements.scene.Scene  # registers three.js as the module nicegui-scene


class StudioCanvas(Element, component="studio_canvas.js", esm={"supple-canvas": str(WEB)}):
    """The canvas, which fetches frames by itself."""

    def __init__(self, theme: str = "light") -> None:
        super().__init__()
        self._props["theme"] = theme
