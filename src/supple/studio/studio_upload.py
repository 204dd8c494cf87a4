"""The choice of files to upload as an element of the page."""

from __future__ import annotations

from nicegui.element import Element

from supple.studio.shelf.uploads import BESIDE, SCENES


class StudioUpload(Element, component="studio_upload.js"):
    """Sends files; emits `uploaded` with the key of the upload."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._props["accept"] = ",".join((*SCENES, *BESIDE))
        self._props["largest"] = largest
