"""Tasks as Gymnasium environments, `supple/Walk-v1` and so on, registered by this import; needs the extra design."""

from supple.errors import MissingExtraError

try:
    import gymnasium
except ImportError as error:
    raise MissingExtraError("design", needed_for="an environment") from error

from supple.design.environments.task_env import TaskEnv
from supple.design.environments.task_vector_env import TaskVectorEnv
from supple.design.tasks.suite import tasks

__all__ = ["TaskEnv", "TaskVectorEnv"]

for _task in tasks().values():
    if _task.environment not in gymnasium.registry:
        gymnasium.register(
            _task.environment,
            entry_point="supple.design.environments:TaskEnv",
            vector_entry_point="supple.design.environments:TaskVectorEnv",
            kwargs={"task": _task.name},
        )
