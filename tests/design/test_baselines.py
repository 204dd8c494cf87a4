"""Baselines: stored scores come again to the bit, and searched robots are better than random ones."""

from __future__ import annotations

import numpy as np
import pytest

from supple.design import Design
from supple.design.tasks import find_task, tasks
from supple.design.tasks.baselines import SEEDS, load_baselines, random_design, score_of, search_design
from supple.design.tasks.suite import ENOUGH

NOT_DONE = ("gap-v1",)
"""Whose searches were too short for all three seeds."""


def test_every_task_has_baselines_of_three_seeds() -> None:
    stored = load_baselines()
    assert list(stored) == list(tasks())
    for name, row in stored.items():
        assert all(len(row[kind]) == len(SEEDS) for kind in ("random", "searched", "designs"))
        assert np.isfinite(row["random"] + row["searched"]).all()
        assert np.median(row["searched"]) > np.median(row["random"]), name


@pytest.mark.parametrize("name", tasks())
def test_searched_robots_do_their_tasks(name: str) -> None:
    """All three of those that were searched for long enough, by a score whose meaning is told; random ones do not."""
    stored, (enough, _) = load_baselines()[name], ENOUGH[name]
    assert max(stored["random"]) < enough
    assert min(stored["searched"]) >= enough or name in NOT_DONE


@pytest.mark.parametrize("name", ["rough-v1", "stairs-v1", "slope-v1", "gap-v1"])
def test_random_robots_meet_the_ground_of_a_task(name: str) -> None:
    stored = load_baselines()
    assert abs(stored[name]["random"][0] - stored["walk-v1"]["random"][0]) > 1e-3


def test_a_random_robot_moves_the_block() -> None:
    assert load_baselines()["push-v1"]["random"][0] > 0.01


@pytest.mark.parametrize("name", ["jump-v1", "throw-v1"])
def test_baselines_repeat_to_the_bit(name: str) -> None:
    check_baselines(name, SEEDS[:1])


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_all_baselines_repeat_to_the_bit(name: str) -> None:
    check_baselines(name, SEEDS)


def check_baselines(name: str, seeds: tuple[int, ...]) -> None:
    """Random robots drawn anew and searched ones as they are stored have the stored scores."""
    task, stored = find_task(name), load_baselines()[name]
    for k, seed in enumerate(seeds):
        assert score_of(task, random_design(task, seed)) == stored["random"][k]
        assert score_of(task, Design.from_json(stored["designs"][k])) == stored["searched"][k]


@pytest.mark.slow
def test_a_search_finds_the_same_robot_again() -> None:
    stored = load_baselines()["slope-v1"]
    found = search_design(find_task("slope-v1"), 0, stored["generations"][0])
    assert found.design == Design.from_json(stored["designs"][0])
    assert found.result.scores["score"] == stored["searched"][0]
