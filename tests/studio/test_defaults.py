"""Numbers of the studio that belong together, and what the page says of a body while events are on their way."""

from __future__ import annotations

import re
from pathlib import Path

from supple.studio import studio_plots
from supple.studio.history import FRAMES, History
from supple.studio.panels.look_panel import words_of
from supple.studio.plots.traces import Traces
from supple.studio.simulation import FRAME

ABOUT = {"name": "cube", "kind": "fem", "mass": 1.0, "size": [0.1, 0.1, 0.1], "points": 27}


def test_a_minute_can_be_looked_back_at() -> None:
    assert FRAMES * FRAME >= 60.0
    assert History().frames == Traces().most == FRAMES


def test_the_page_keeps_as_many_rows_of_plots() -> None:
    script = Path(studio_plots.__file__).with_name("studio_plots.js").read_text()
    found = re.search(r"LONGEST = (\d+);", script)
    assert found is not None
    assert int(found[1]) == FRAMES


def test_what_is_told_of_the_body_before_says_nothing_of_the_chosen_one() -> None:
    assert words_of(ABOUT, "ball") is None
    assert words_of(ABOUT, None) is None
    assert (words_of(ABOUT, "cube") or "").startswith("cube: fem")
    assert words_of(None, "ball") == ""
