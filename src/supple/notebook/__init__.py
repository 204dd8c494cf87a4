"""Notebook: a widget that draws scenes and plays runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from supple.errors import InputError, MissingExtraError, check_number
from supple.record.run_result import Run
from supple.scene.scene import Scene

if TYPE_CHECKING:
    from supple.notebook.widget import CanvasWidget

__all__ = ["show"]
HEIGHT = 420


def show(shown: Scene | Run, *, height: int = HEIGHT, fps: float = 30.0) -> CanvasWidget:
    """A widget of a scene, as it begins, or of a run, which plays. height: in pixels; fps: at most so many frames a
    second of the run.

    Scenes and runs at the end of a notebook's cell show themselves this way.

    Raises MissingExtraError without the extra "notebook", InputError where there is nothing to draw.
    """
    check_number(height, name="height", where="show", least=1, whole=True)
    for needed in ("anywidget", "nicegui"):
        if find_spec(needed) is None:
            raise MissingExtraError("notebook", needed_for="a widget in a notebook")
    from supple.notebook.film import film_of_run, film_of_scene
    from supple.notebook.widget import CanvasWidget

    if isinstance(shown, Scene):
        return CanvasWidget.of(film_of_scene(shown), height)
    if isinstance(shown, Run):
        return CanvasWidget.of(film_of_run(shown, fps), height)
    return refuse(shown)


def refuse(shown: Any) -> Any:
    """Say what can be shown."""
    raise InputError("this cannot be shown", where="show", value=type(shown).__name__, allowed="a Scene or a Run")
