"""Tasks: bodies that are refused, runs that repeat, scores that know the physics, baselines to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from supple.design.controllers import Network
from supple.design.tasks import Trial, find_task, tasks
from supple.design.tasks.baselines import SEEDS, load_baselines, random_robot
from supple.design.tasks.trial import INPUTS
from supple.errors import InputError

BLOCK = np.full((3, 3, 3), 3, dtype=np.uint8)


def test_the_suite_has_names_and_versions() -> None:
    assert len(tasks()) >= 10
    assert all(name.endswith("-v1") for name in tasks())
    assert find_task("walk-v1").environment == "supple/Walk-v1"
    with pytest.raises(InputError, match="walk-v1"):
        find_task("wlak-v1")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (np.full((6, 1, 1), 3), "larger than the grid"),
        (np.zeros((2, 2, 2), dtype=int), "empty"),
        (np.array([3, 0, 3]).reshape(3, 1, 1), "several pieces"),
        (np.full((2, 2, 2), 1), "no muscle"),
        (np.full((2, 2, 2), 9), "no material"),
        (np.full((2, 2), 3), "whole numbers"),
    ],
)
def test_bad_bodies_are_refused(cells: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Trial("walk-v1", cells)


def test_bad_actions_are_refused() -> None:
    trial = Trial("walk-v1", BLOCK)
    with pytest.raises(InputError, match="do not fit"):
        trial.step(np.zeros((2, 2, 2)))
    trial.step(np.zeros(trial.task.grid))
    with pytest.raises(InputError, match=r"t = 0.05 s"):
        trial.step(np.full(trial.task.grid, np.nan))


@pytest.mark.parametrize("name", tasks())
def test_every_task_runs_and_repeats(name: str) -> None:
    """A block that does nothing stays where it is; the same actions end in the same bits."""
    trial = Trial(name, BLOCK)
    actions = np.random.default_rng(0).uniform(-1, 1, (4, *trial.task.grid))
    ends = []
    for _ in range(2):
        trial.reset()
        for action in actions:
            trial.step(action)
        ends.append(trial.state.x.copy())
    assert np.array_equal(*ends)
    assert trial.steps == 4
    assert np.isfinite(trial.score)


def test_actions_of_cells_without_muscle_change_nothing() -> None:
    cells = BLOCK.copy()
    cells[0] = 1
    one, two = Trial("walk-v1", cells), Trial("walk-v1", cells)
    action = np.random.default_rng(1).uniform(-1, 1, one.task.grid)
    for _ in range(3):
        one.step(action)
        two.step(np.where(one.mask, action, -action))
    assert np.array_equal(one.state.x, two.state.x)


def test_a_muscle_swells_by_its_strain() -> None:
    """Without gravity or floor a bar of muscle that is told 1 comes to rest 15 % longer."""
    trial = Trial("swim-v1", np.full((5, 1, 1), 3))
    for _ in range(60):
        trial.step(np.ones(trial.task.grid))
    x = trial.system.positions(trial.state, "robot")[:, 0]
    assert x.max() - x.min() == pytest.approx(4 * 0.05 * 1.15, rel=1e-3)
    assert trial.observe()["cells"][:, 0, 0, 7] == pytest.approx(0.15, rel=1e-2)


def test_a_still_block_observes_the_floor() -> None:
    trial = Trial("walk-v1", BLOCK)
    for _ in range(10):
        trial.step(np.zeros(trial.task.grid))
    cells = trial.observe()["cells"]
    assert (cells[:3, :3, 0, 8] == 1).all()
    assert not cells[:3, :3, 1:, 8].any()
    assert not cells[3:].any()
    assert abs(trial.score) < 1e-3


def test_a_still_block_rests_on_the_slope() -> None:
    """It starts flush with the ground and friction of 1 holds it at a rise of 0.18."""
    trial = Trial("slope-v1", BLOCK)
    assert trial.observe()["cells"][:3, :3, 0, 8].all()
    for _ in range(20):
        trial.step(np.zeros(trial.task.grid))
    assert trial.observe()["cells"][:3, :3, 0, 8].all()
    assert abs(trial.score) < 0.01


@pytest.mark.parametrize("name", ["rough-v1", "stairs-v1", "slope-v1", "gap-v1"])
def test_random_robots_meet_the_ground_of_a_task(name: str) -> None:
    stored = load_baselines()["tasks"]
    assert abs(stored[name]["random"][0] - stored["walk-v1"]["random"][0]) > 1e-3


def test_a_random_robot_moves_the_block() -> None:
    assert load_baselines()["tasks"]["push-v1"]["random"][0] > 0.01


def test_a_network_drives_any_body() -> None:
    network = Network.random([INPUTS, 4, 1], seed=0)
    for cells in (BLOCK, np.full((5, 2, 2), 3)):
        trial = Trial("push-v1", cells)
        for _ in range(3):
            trial.step(network.act(trial.t, trial.inputs()))
        assert np.isfinite(trial.score)


@pytest.mark.parametrize("name", ["walk-v1", "jump-v1", "throw-v1"])
def test_random_baselines_repeat_to_the_bit(name: str) -> None:
    assert random_robot(find_task(name), 0).evaluate(name) == load_baselines()["tasks"][name]["random"][0]


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_all_baselines_repeat_to_the_bit(name: str) -> None:
    task, stored = find_task(name), load_baselines()["tasks"][name]
    assert [random_robot(task, s).evaluate(task) for s in SEEDS] == stored["random"]
