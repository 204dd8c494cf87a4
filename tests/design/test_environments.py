"""Environments: Gymnasium's own check, and vector environments equal to single ones bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from supple.design.environments import TaskEnv, TaskVectorEnv  # noqa: E402
from supple.design.tasks import tasks  # noqa: E402
from supple.errors import InputError  # noqa: E402

BLOCK = np.full((2, 2, 3), 3, dtype=np.uint8)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["walk-v1", "carry-v1"])
def test_check_env(name: str) -> None:
    check_env(TaskEnv(name), skip_render_check=True)


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


def test_spaces_do_not_depend_on_the_body() -> None:
    one, two = TaskEnv("walk-v1", BLOCK), TaskEnv("walk-v1", np.full((5, 4, 3), 3))
    assert one.observation_space == two.observation_space
    assert one.action_space == two.action_space


def test_rewards_sum_to_the_score_and_the_episode_ends() -> None:
    env = TaskEnv("jump-v1", BLOCK)
    env.reset(seed=0)
    start, total, steps, cut = env.trial.score, 0.0, 0, False
    rng = np.random.default_rng(0)
    while not cut:
        _, reward, over, cut, info = env.step(rng.uniform(-1, 1, env.task.grid))
        assert not over
        total, steps = total + reward, steps + 1
    assert steps == env.task.steps
    assert total == pytest.approx(info["score"] - start)
    with pytest.raises(InputError, match="has not begun"):
        env.step(np.zeros(env.task.grid))


def test_vector_equals_single_bit_for_bit() -> None:
    """Also over the end of episodes, which begin anew in the next step."""
    bodies = [BLOCK, np.full((4, 3, 2), 3, dtype=np.uint8), np.full((5, 1, 1), 3, dtype=np.uint8)]
    vector, singles = TaskVectorEnv("jump-v1", 3, bodies, threads=2), [TaskEnv("jump-v1", body) for body in bodies]
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    seen, _ = vector.reset(seed=0)
    for k, env in enumerate(singles):
        assert np.array_equal(seen["cells"][k], env.reset(seed=k)[0]["cells"])
    rng, ended = np.random.default_rng(2), [False] * 3
    for _ in range(singles[0].task.steps + 3):
        actions = rng.uniform(-1, 1, vector.action_space.shape)
        seen, rewards, over, cut, _ = vector.step(actions)
        for k, env in enumerate(singles):
            if ended[k]:
                alone, reward, o, c = env.reset()[0], 0.0, False, False
            else:
                alone, reward, o, c, _ = env.step(actions[k])
            ended[k] = o or c
            assert all(np.array_equal(seen[name][k], alone[name]) for name in alone)
            assert (rewards[k], over[k], cut[k]) == (reward, o, c)
    vector.close()


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="no task"):
        TaskEnv("fly-v1")
    with pytest.raises(InputError, match="each environment"):
        TaskVectorEnv("walk-v1", 2, [BLOCK])
    with pytest.raises(InputError, match="has not begun"):
        TaskEnv("walk-v1", BLOCK).step(np.zeros((5, 5, 5)))
