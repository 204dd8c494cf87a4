"""Environments: Gymnasium's own check, and vector environments equal to single ones bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from supple.design import try_design  # noqa: E402
from supple.design.controllers import Waves  # noqa: E402
from supple.design.environments import TaskEnv, TaskVectorEnv  # noqa: E402
from supple.design.tasks import find_task, tasks  # noqa: E402
from supple.design.tasks.baselines import random_design  # noqa: E402
from supple.design.tasks.task import Task  # noqa: E402
from supple.errors import InputError  # noqa: E402

BLOCK = np.full((2, 2, 3), 3, dtype=np.uint8)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", tasks())
def test_check_env(name: str) -> None:
    check_env(TaskEnv(name), skip_render_check=True)  # rendering has a test of its own


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_registered() -> None:
    for task in tasks().values():
        assert task.environment in gymnasium.registry
    env = gymnasium.make("supple/Jump-v1", design=BLOCK)
    first, _ = env.reset(seed=1)
    assert env.observation_space.contains(first)
    assert first["mask"].sum() == 12
    vector = gymnasium.make_vec("supple/Jump-v1", num_envs=2)
    assert vector.num_envs == 2
    vector.close()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_robot_is_rendered_where_it_is_and_that_changes_nothing() -> None:
    """The picture changes as the robot does; its score is that of a robot nobody looks at."""
    env = gymnasium.make("supple/Walk-v1", design=BLOCK, render_mode="rgb_array")
    alone = gymnasium.make("supple/Walk-v1", design=BLOCK)
    for one in (env, alone):
        one.reset(seed=0)
    first = env.render()
    actions = np.ones(env.action_space.shape, dtype=np.float32)
    infos = [one.step(actions)[4] for one in (env, alone)]
    second = env.render()
    third = env.render()
    assert (first.shape, first.dtype) == ((320, 480, 3), np.uint8)
    assert np.array_equal(second, third)
    red = (second[..., 0].astype(int) - second[..., 2]) > 60
    assert 0.02 < red.mean() < 0.5  # its muscles are red, the world is not
    assert not np.array_equal(first, second)
    assert infos[0] == infos[1]
    assert alone.render() is None
    with pytest.raises(InputError, match="rendering"):
        TaskEnv("walk-v1", BLOCK, render_mode="human")


def test_spaces_do_not_depend_on_the_body() -> None:
    one, two = TaskEnv("walk-v1", BLOCK), TaskEnv("walk-v1", np.full((5, 4, 3), 3))
    assert one.observation_space == two.observation_space
    assert one.action_space == two.action_space


def test_rewards_sum_to_the_score_and_the_episode_ends() -> None:
    env = TaskEnv("jump-v1", BLOCK)
    env.reset(seed=0)
    start, total, steps, cut = env.episode.score, 0.0, 0, False
    rng = np.random.default_rng(0)
    while not cut:
        _, reward, over, cut, info = env.step(rng.uniform(-1, 1, env.task.grid))
        assert not over
        total, steps = total + reward, steps + 1
    assert steps == env.task.steps
    assert total == pytest.approx(info["score"] - start)
    with pytest.raises(InputError, match="has not begun"):
        env.step(np.zeros(env.task.grid))


BODIES = [BLOCK, np.full((4, 3, 2), 3, dtype=np.uint8), np.full((5, 1, 1), 3, dtype=np.uint8)]


def check_vector_equals_single(task: Task) -> None:
    """Step by step, also over the end of episodes, which begin anew in the next step."""
    vector, singles = TaskVectorEnv(task, 3, BODIES, threads=2), [TaskEnv(task, body) for body in BODIES]
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    seen, _ = vector.reset(seed=0)
    for k, env in enumerate(singles):
        assert np.array_equal(seen["cells"][k], env.reset(seed=k)[0]["cells"])
    rng, ended = np.random.default_rng(2), [False] * 3
    for _ in range(task.steps + 3):
        actions = rng.uniform(-1, 1, vector.action_space.shape).astype(np.float32)
        seen, rewards, over, cut, infos = vector.step(actions)
        for k, env in enumerate(singles):
            if ended[k]:
                (alone, info), reward, o, c = env.reset(), 0.0, False, False
            else:
                alone, reward, o, c, info = env.step(actions[k])
            ended[k] = o or c
            assert all(np.array_equal(seen[name][k], alone[name]) for name in alone)
            assert (rewards[k], over[k], cut[k], infos["score"][k]) == (reward, o, c, info["score"])
    vector.close()


@pytest.mark.parametrize("name", ["walk-v1", "carry-v1", "rough-v1"])
def test_vector_equals_single_bit_for_bit(name: str) -> None:
    """In short episodes; the flat bodies drop the plate of carry-v1 before the end."""
    check_vector_equals_single(replace(find_task(name), duration=0.6))


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks())
def test_vector_equals_single_bit_for_bit_at_every_task(name: str) -> None:
    check_vector_equals_single(find_task(name))


def test_environments_score_as_trials_do() -> None:
    """The same robot, stepped with the same actions, alone and among others: the bits of `try_design`."""
    task = replace(find_task("jump-v1"), duration=1.0)
    designs = [random_design(task, seed) for seed in (0, 1)]
    waves = [Waves(2.0, design.fields["phase"]) for design in designs]
    env, vector = TaskEnv(task, designs[0]), TaskVectorEnv(task, 2, designs)
    _, info = env.reset()
    _, infos = vector.reset()
    cut, both = False, np.zeros(2, dtype=bool)
    while not cut:
        _, _, _, cut, info = env.step(waves[0].act(info["t"]).astype(np.float32))
        actions = [one.act(t) for one, t in zip(waves, infos["t"])]
        _, _, _, both, infos = vector.step(np.array(actions, dtype=np.float32))
    assert both.all()
    scores = [try_design(design, task).scores["score"] for design in designs]
    assert infos["score"].tolist() == scores
    assert info["score"] == scores[0]
    vector.close()


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="no task"):
        TaskEnv("fly-v1")
    with pytest.raises(InputError, match="each environment"):
        TaskVectorEnv("walk-v1", 2, [BLOCK])
    with pytest.raises(InputError, match="has not begun"):
        TaskEnv("walk-v1", BLOCK).step(np.zeros((5, 5, 5)))
