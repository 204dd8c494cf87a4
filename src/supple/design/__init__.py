"""Populations: designs as data, evaluated by many processes, with every result kept. Names are loaded on first use."""

from __future__ import annotations

import importlib
from typing import Any

_HOME = {
    "Arena": "arena",
    "Design": "designs",
    "Evaluator": "population.evaluation",
    "FileArena": "scenes.file_arena",
    "MEASURES": "measures",
    "Measure": "measures",
    "Object": "arena",
    "Result": "results",
    "SceneArena": "scenes.scene_arena",
    "Search": "search.driver",
    "Store": "store",
    "Trial": "trial",
    "arena_of": "arenas",
    "evaluate": "population.evaluation",
    "evaluation_key": "conditions",
    "evaluations": "population.evaluation",
    "is_one_piece": "designs",
    "largest_piece": "designs",
    "measure_of": "measures",
    "measures_of": "measures",
    "try_design": "conditions",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'supple.design' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"supple.design.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
