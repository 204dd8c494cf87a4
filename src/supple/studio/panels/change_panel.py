"""Change: sliders and numbers for what the scene has, and the file that repeats all that was done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite, log10
from typing import Any

from nicegui import run, ui

from supple.errors import SuppleError
from supple.studio.panels.studio_range import StudioRange
from supple.studio.running_scene import RunningScene
from supple.studio.studio_canvas import StudioCanvas

REFRESH = 0.3
AXES = ["x", "y", "z"]
ALL = "all"
Put = Callable[[float], None]


def change_panel(canvas: StudioCanvas, running: RunningScene) -> None:
    """A column beside the picture."""
    save = ui.button("Save as scene file").props("dense no-caps outline")
    save.props('title="A file whose run repeats all that was changed and pulled at, to the same bits"')
    save.on_click(lambda: _save(running))
    place = ui.column().classes("w-full gap-1")
    shown = Shown(running, place)
    ui.timer(REFRESH, shown.refresh)


class Shown:
    """The controls of the settings that the scene has, and what they show now."""

    def __init__(self, running: RunningScene, place: ui.column) -> None:
        self.running, self.place = running, place
        self.titles: list[str] = []
        self.values: list[Any] = []
        self.seen: list[dict[str, Any]] | None = None
        self.puts: list[Callable[[Any], None]] = []

    def refresh(self) -> None:
        """Make controls anew where the scene is another; else show the values of now."""
        settings = self.running.settings
        if settings is self.seen:
            return
        self.seen = settings
        titles, values = [s["title"] for s in settings], [s["value"] for s in settings]
        if titles != self.titles:
            self.titles = titles
            self.place.clear()
            with self.place:
                self.puts = [self._row(number, setting) for number, setting in enumerate(settings)]
        else:
            put_all(self.puts, values)
        self.values = values

    def _row(self, number: int, setting: dict[str, Any]) -> Callable[[Any], None]:
        unit = f" [{setting['unit']}]" if setting["unit"] else ""
        title, parts = setting["title"] + unit, list(setting["parts"])

        def tell(part: int | None, value: float) -> None:
            self.running.tell("change", (number, part, value))

        if not parts:
            return _control(title, setting, setting["value"], lambda value: tell(None, value))
        if parts == AXES:
            puts = [
                _control(f"{title}, {axis}", setting, setting["value"][k], partial(tell, k))
                for k, axis in enumerate(AXES)
            ]
            return lambda values: put_all(puts, values)
        chosen = ui.select([ALL, *parts], value=ALL, label=f"{setting['title']}: which")
        chosen.props('dense title="For which of them the value below is shown and set"').classes("w-full")

        def which() -> int | None:
            return None if chosen.value == ALL else parts.index(chosen.value)

        put = _control(title, setting, setting["value"][0], lambda value: tell(which(), value))
        chosen.on_value_change(lambda: put(self.values[number][which() or 0]))
        return lambda values: put(values[which() or 0])


def put_all(puts: list[Put], values: list[float]) -> None:
    """Show a value each."""
    for put, value in zip(puts, values):
        put(value)


def _control(title: str, setting: dict[str, Any], value: float, tell: Put) -> Put:
    """A number and a slider of one value; returns what shows that of now, where it is another, or another was asked for
    and refused."""
    low, high, is_log = setting["low"], setting["high"], setting["is_log"]

    def to_slider(value: float) -> float:
        place = log10(value) if is_log and value > 0 else low if is_log else value
        return min(max(place, low), high)

    number = ui.number(title, value=value).props("dense").classes("w-full")
    number.props["title"] = "Type a value and press Enter, or move the slider below"
    slider = StudioRange(low, high, (high - low) / 200, to_slider(value), is_log=is_log).classes("w-full")
    slider.props["aria-label"] = f"{title}, slider"
    slider.props["title"] = f"{title}: drag, or move it by arrow keys"
    shown, asked = [value], [False]

    def ask(value: float) -> None:
        asked[0] = True
        tell(value)

    def typed() -> None:
        if isinstance(number.value, int | float) and isfinite(number.value):
            ask(float(number.value))

    def slid(event: Any) -> None:
        place = float(event.args)
        moved = float(f"{10.0**place if is_log else place:.4g}")
        number.set_value(moved)
        ask(moved)

    number.on("keydown.enter", typed)
    number.on("blur", lambda: typed() if number.value != shown[0] else None)
    slider.on("change", slid)

    def put(value: float) -> None:
        if value == shown[0] and not asked[0]:
            return  # and what somebody types here just now stays
        shown[0], asked[0] = value, False
        number.set_value(value)
        slider.set_value(to_slider(value))

    return put


async def _save(running: RunningScene) -> None:
    try:
        saved = await run.io_bound(running.ask, "save")
    except SuppleError as error:
        ui.notify(str(error), type="negative", multi_line=True, timeout=0, close_button="Close")
        return
    assert saved is not None
    ui.download.content(saved["data"], saved["name"])
