"""Tasks for robots of voxels: a suite by name and version, with scenes, scores and baselines."""

from supple.design.tasks.suite import find_task, tasks
from supple.design.tasks.task import Task
from supple.design.tasks.trial import Trial

__all__ = ["Task", "Trial", "find_task", "tasks"]
