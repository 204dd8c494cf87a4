"""Tasks: bodies that are refused, runs that repeat, scores that know the physics, one score on every way to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from supple.design import Arena, Design, evaluate, evaluation_key, try_design
from supple.design.controllers import Network, Waves
from supple.design.measures import MEASURES
from supple.design.tasks import Episode, find_task, tasks
from supple.design.tasks.baselines import random_design
from supple.design.tasks.palette import palette
from supple.design.tasks.scores import SCORES, Moment
from supple.design.tasks.senses import INPUTS, inputs_of
from supple.design.tasks.task import Task
from supple.design.trial import make_trial
from supple.errors import InputError
from supple.material.voxel import VoxelMaterial

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
        (np.full((2, 2, 2), 2.5), "whole numbers"),
        (np.full((2, 2, 2), np.nan), "whole numbers"),
        (np.full((2, 2, 2), -3), "no material"),
    ],
)
def test_bad_bodies_are_refused(cells: np.ndarray, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Episode("walk-v1", cells)


def test_whole_numbers_are_cells_whatever_their_type() -> None:
    for dtype in (np.float64, np.int8, np.uint32):
        assert (Episode("walk-v1", np.full((2, 2, 2), 3, dtype=dtype)).mask.sum()) == 8


def test_bad_actions_are_refused() -> None:
    episode = Episode("walk-v1", BLOCK)
    with pytest.raises(InputError, match="do not fit"):
        episode.step(np.zeros((2, 2, 2)))
    episode.step(np.zeros(episode.task.grid))
    with pytest.raises(InputError, match=r"t = 0.05 s"):
        episode.step(np.full(episode.task.grid, np.nan))


@pytest.mark.parametrize("name", tasks())
def test_every_task_runs_and_repeats(name: str) -> None:
    """A block that does nothing stays where it is; the same actions end in the same bits."""
    episode = Episode(name, BLOCK)
    actions = np.random.default_rng(0).uniform(-1, 1, (4, *episode.task.grid))
    ends = []
    for _ in range(2):
        episode.reset()
        for action in actions:
            episode.step(action)
        ends.append(episode.state.x.copy())
    assert np.array_equal(*ends)
    assert episode.steps == 4
    assert np.isfinite(episode.score)


def test_actions_of_cells_without_muscle_change_nothing() -> None:
    cells = BLOCK.copy()
    cells[0] = 1
    one, two = Episode("walk-v1", cells), Episode("walk-v1", cells)
    action = np.random.default_rng(1).uniform(-1, 1, one.task.grid)
    for _ in range(3):
        one.step(action)
        two.step(np.where(one.mask, action, -action))
    assert np.array_equal(one.state.x, two.state.x)


def test_a_muscle_swells_by_its_strain() -> None:
    """Without gravity or floor a bar of muscle that is told 1 comes to rest 15 % longer."""
    episode = Episode("swim-v1", np.full((5, 1, 1), 3))
    for _ in range(60):
        episode.step(np.ones(episode.task.grid))
    x = episode.system.positions(episode.state, "robot")[:, 0]
    assert x.max() - x.min() == pytest.approx(4 * 0.05 * 1.15, rel=1e-3)
    assert episode.observe()["cells"][:, 2, 0, 7] == pytest.approx(0.15, rel=1e-2)


def test_a_still_block_observes_the_floor() -> None:
    episode = Episode("walk-v1", BLOCK)
    for _ in range(10):
        episode.step(np.zeros(episode.task.grid))
    cells = episode.observe()["cells"]
    assert (cells[:3, 1:4, 0, 8] == 1).all()
    assert not cells[:3, 1:4, 1:, 8].any()
    assert not cells[3:].any()
    assert abs(episode.score) < 1e-3


def test_a_still_block_rests_on_the_slope() -> None:
    """It starts flush with the ground and friction of 1 holds it at a rise of 0.18."""
    episode = Episode("slope-v1", BLOCK)
    assert episode.observe()["cells"][:3, 1:4, 0, 8].all()
    for _ in range(20):
        episode.step(np.zeros(episode.task.grid))
    assert episode.observe()["cells"][:3, 1:4, 0, 8].all()
    assert abs(episode.score) < 0.01


def test_cells_and_goal_are_seen_from_the_centre_of_mass() -> None:
    """Of a robot of unlike materials; the goal is the middle of the thing, or the target."""
    cells = np.full((3, 2, 2), 3)
    cells[0], cells[2, :, 1] = 1, 2
    stuff = {1: 1000.0, 2: 250.0, 3: 500.0}
    with pytest.MonkeyPatch.context() as patch:
        given = palette()
        heavy = {k: replace(material, density=stuff[k]) for k, material in given.items()}
        patch.setattr("supple.design.tasks.senses.palette", lambda: heavy)
        for name in ("push-v1", "reach-v1"):
            episode = Episode(name, cells)
            x = episode.system.positions(episode.state, "robot")[:, :3]
            mass = np.array([stuff[int(n)] for n in cells[cells > 0]])
            centre = mass @ x / mass.sum()
            seen = episode.observe()
            filled = seen["cells"][..., 0] > 0
            np.testing.assert_allclose(seen["cells"][filled][:, 1:4], (x - centre) / 0.25, atol=1e-6)
            goal = episode.task.target
            if episode.task.thing is not None:
                goal = episode.system.positions(episode.state, episode.task.thing)[:, :3].mean(axis=0)
            np.testing.assert_allclose(seen["goal"], np.asarray(goal) - centre, atol=1e-6)


def test_a_body_with_nothing_in_its_lowest_cells_stands_on_the_slope_too() -> None:
    """It is moved down across the ground by these cells: its lowest corners lie on the ground, and its back end where
    that of a full one does along it."""
    lifted = np.zeros((3, 3, 5), dtype=int)
    lifted[:, :, 2:] = 3
    places = [Episode("slope-v1", cells).state.x.reshape(-1, 7) for cells in (BLOCK, lifted)]
    np.testing.assert_allclose(places[1], places[0], atol=1e-12)


def test_the_network_of_a_design_drives_any_body() -> None:
    """Through `try_design` and through steps with what the network says, the same bits; the thing is seen by both."""
    network = Network.random([INPUTS, 4, 1], seed=0, scale=4.0)
    task = find_task("push-v1")
    for cells in (BLOCK, np.full((5, 2, 2), 3)):
        design = Design(cells, {"phase": np.linspace(0, 1, cells.size).reshape(cells.shape)}, network.to_data())
        short = shortened(task, 10)
        episode = Episode(short, design)
        for _ in range(10):
            seen = episode.observe()
            assert seen["goal"][0] > 0.1
            episode.step(network.act(episode.t, inputs_of(seen)))
        trial = make_trial(design, short)
        assert np.array_equal(trial.run.state.x, episode.state.x)
        assert trial.judge is not None
        assert trial.judge.score == episode.score


def shortened(task: Task, steps: int) -> Task:
    """A task that ends after so many control steps."""
    return replace(task, duration=steps / 20)


def stepped(task: Task, design: Design) -> Episode:
    """An episode with the waves of a design as actions, in single precision as of an action space."""
    episode = Episode(task, design)
    waves = Waves(2.0, design.fields["phase"])
    while not (episode.is_over or episode.is_finished):
        episode.step(waves.act(episode.t).astype(np.float32))
    return episode


@pytest.mark.parametrize("name", ["walk-v1", "jump-v1", "carry-v1"])
def test_a_design_has_one_score(name: str) -> None:
    """By `try_design`, by `evaluate`, and stepped with the same actions: the same bits."""
    task = shortened(find_task(name), 30)
    design = random_design(task, 0)
    result = try_design(design, task)
    assert result.ok, result.message
    assert list(result.scores) == ["score"]
    assert result == evaluate([design], task, workers=0)[0]
    assert stepped(task, design).score == result.scores["score"]


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_a_design_has_one_score_at_every_task(name: str) -> None:
    task = find_task(name)
    design = random_design(task, 1)
    assert stepped(task, design).score == try_design(design, task).scores["score"]


def test_a_task_is_tried_by_its_name() -> None:
    design = Design(np.full((2, 2, 2), 3))
    assert evaluation_key(design, "jump-v1") == evaluation_key(design, find_task("jump-v1"))
    with pytest.raises(InputError, match="Did you mean jump-v1"):
        try_design(design, "jmp-v1")
    with pytest.raises(InputError, match="not an arena"):
        try_design(design, 3)  # type: ignore[arg-type]


def test_a_task_takes_other_measures_too() -> None:
    task = shortened(find_task("swim-v1"), 10)
    result = try_design(random_design(task, 0), task, ("score", "forward", "energy"))
    assert result.scores["score"] == pytest.approx(result.scores["forward"], abs=1e-12)
    assert result.scores["energy"] > 0


def test_an_arena_without_a_score_says_so() -> None:
    arena = Arena({3: palette()[3]}, 0.05, duration=0.05)
    result = try_design(Design(BLOCK), arena, "score")
    assert result.outcome == "refused"
    assert "no score of its own" in result.message


def test_a_design_that_does_not_fit_is_a_result() -> None:
    task = find_task("walk-v1")
    for design, words in (
        (Design(np.full((6, 1, 1), 3)), "larger than the grid"),
        (Design(BLOCK, {"stiffness": np.ones((3, 3, 3))}), "do not know this field"),
        (Design(BLOCK, {}, Network.random([3, 1], seed=0).to_data()), "does not fit a cell"),
        (Design(BLOCK, {}, {"kind": "oracle"}), "not a network"),
    ):
        result = try_design(design, task)
        assert (result.outcome, result.scores["score"]) == ("refused", -1e9)
        assert words in result.message


def test_keys_tell_tasks_apart() -> None:
    assert len({task.key() for task in tasks().values()}) == len(tasks())
    walk = find_task("walk-v1")
    assert walk.key() == find_task("walk-v1").key() != replace(walk, duration=4.0).key()


def test_a_small_body_stands_in_the_middle_of_the_width() -> None:
    for name in tasks():
        episode = Episode(name, BLOCK)
        y = episode.system.positions(episode.state, "robot")[:, 1]
        assert y.mean() == pytest.approx(0.0, abs=1e-12)


def test_a_jump_is_no_swelling() -> None:
    """A block that swells on the floor does not leave it; one that falls with the floor far below has."""
    episode = Episode("jump-v1", BLOCK)
    for k in range(20):
        episode.step(np.full(episode.task.grid, k / 19))
    assert episode.score < 1e-3
    for action in (-1.0, -1.0, -1.0, 1.0, 1.0, 1.0):
        episode.step(np.full(episode.task.grid, action))
    assert episode.score > 0.01


def test_who_walks_away_from_the_block_has_not_thrown_it() -> None:
    robot, thing = np.zeros(6), np.zeros(6)
    start = Moment(robot, thing)
    back = Moment(np.array([-0.3, 0, 0, 0, 0, 0]), thing)
    thrown = Moment(robot, np.array([0.5, 0, 0, 0, 0, 0]))
    assert SCORES["throw"](start, back, 0.0) == pytest.approx(-0.3)
    assert SCORES["throw"](start, thrown, 0.0) == pytest.approx(0.5)


def test_a_dropped_plate_ends_the_task() -> None:
    """A body of one layer lets the plate come to rest below two cells."""
    result = make_trial(Design(np.full((3, 3, 1), 3)), find_task("carry-v1"))
    assert result.judge is not None
    assert result.judge.is_over
    assert result.run.time < 1.0
    assert abs(result.judge.score) < 0.02


TRANSCENDENTAL = (
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "power", "float_power", "cbrt", "hypot",
)  # fmt: skip


@pytest.mark.parametrize("controlled", [False, True])
def test_no_score_depends_on_the_functions_of_numpy(controlled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processors differ in the last bits of numpy's functions. What they are asked for here has no say in the score:
    with functions that are wrong in the last bits it is the same."""
    network = Network.random([INPUTS, 4, 1], seed=1).to_data() if controlled else None
    for name in ("walk-v1", "push-v1"):
        task = shortened(find_task(name), 12)
        drawn = random_design(task, 0)
        design = Design(drawn.cells, dict(drawn.fields), network)
        first = make_trial(design, task)
        with monkeypatch.context() as patch:
            for function in TRANSCENDENTAL:
                patch.setattr(np, function, _wrong(getattr(np, function)))
            second = make_trial(design, task)
            stepped_x = stepped(task, design).state.x if network is None else second.run.state.x
        assert np.array_equal(first.run.state.x, second.run.state.x)
        assert np.array_equal(first.run.state.x, stepped_x)
        assert first.judge is not None
        assert second.judge is not None
        assert first.judge.score == second.judge.score


@pytest.mark.parametrize("controlled", [False, True])
def test_nor_does_the_score_of_an_arena(controlled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its robots are driven by sines, or by networks."""
    soft = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
    arena = Arena({1: soft}, 0.01, duration=0.1, settle=0.1, amplitude=15.0, frequency=7.0, self_contact=True)
    network = Network.random([INPUTS, 4, 1], seed=1).to_data() if controlled else None
    design = Design(BLOCK // 3, {"phase": np.linspace(0, 0.9, BLOCK.size).reshape(BLOCK.shape)}, network)
    first = make_trial(design, arena, works=True)
    for function in TRANSCENDENTAL:
        monkeypatch.setattr(np, function, _wrong(getattr(np, function)))
    second = make_trial(design, arena, works=True)
    assert np.array_equal(first.run.state.x, second.run.state.x)
    for measure in MEASURES.values():
        if measure.name != "score":
            assert measure.of(first) == measure.of(second), measure.name


def _wrong(function: Any) -> Any:
    return lambda *given, **options: function(*given, **options) * (1 + 1e-12)
