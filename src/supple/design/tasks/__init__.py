"""Tasks for robots of voxels: a suite by name and version, with scenes, scores and baselines."""

from supple.design.tasks.episode import Episode
from supple.design.tasks.suite import find_task, tasks
from supple.design.tasks.task import Task

__all__ = ["Episode", "Task", "find_task", "tasks"]
