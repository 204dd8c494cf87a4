"""Pictures of searches: the map of an archive has the score of each cell's elite in its cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.design import Design, Result, Trial
from supple.design.measures import Measure
from supple.design.search import Candidate, Descriptor
from supple.design.search.elites import Elites
from supple.design.study.pictures import draw_map, scores_on_map

BODY = Design([[[1]]])


def unused(trial: Trial) -> float:
    raise AssertionError("these results are made by hand")


LOSS = Measure("loss", "J", unused, "less")
AXES = [Descriptor(Measure(name, "", unused), 0.0, 1.0, cells) for name, cells in (("a", 4), ("b", 2), ("c", 3))]
SCORES = [(0.1, 0.1, 0.1, 5.0), (0.1, 0.1, 0.9, 3.0), (0.1, 0.1, 0.5, 4.0), (0.6, 0.9, 0.5, 1.0), (7.0, -7.0, 0.5, 2.0)]
"""a, b, c and the loss: three in one cell of the first two axes, one in a cell of its own, one beyond the map."""


def archive(axes: list[Descriptor]) -> Elites:
    found, names = Elites(LOSS, axes, 1, where="test"), ("a", "b", "c", "loss")
    told = [
        Candidate(k, None, BODY, Result(str(k), BODY.key(), "finished", dict(zip(names, row, strict=True))))
        for k, row in enumerate(SCORES)
    ]
    found.add(told, np.zeros((len(told), 1)))
    return found


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (AXES, {(0, 0): 3.0, (2, 1): 1.0, (3, 0): 2.0}),
        (AXES[:2], {(0, 0): 3.0, (2, 1): 1.0, (3, 0): 2.0}),
        (AXES[:1], {(0, 0): 3.0, (2, 0): 1.0, (3, 0): 2.0}),
    ],
)
def test_a_map_has_the_best_score_of_each_cell(
    axes: list[Descriptor], expected: dict[tuple[int, int], float], tmp_path: Path
) -> None:
    elites = archive(axes)
    shown = scores_on_map(elites)
    assert shown.shape == (4, 1 if len(axes) == 1 else 2)
    assert {(int(i), int(k)): float(shown[i, k]) for i, k in np.argwhere(np.isfinite(shown))} == expected
    draw_map(elites, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 1000
