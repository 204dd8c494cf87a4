"""Every example computes the same bits on one thread and on two, step by step and in strides, in one run or two; so do
the robots of the built-in searches."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.design.study.study import load_study
from supple.errors import SuppleWarning
from supple.examples import registry
from supple.examples.designs import studies, study_file

FRAME = 1 / 30
FRAMES = 12
"""Of each run: after 0.4 s every contact of an example has begun; the resumed one stops after half of them."""
DEAR = {"chain", "dragon", "garden", "letters", "oak", "rigid-on-springs", "space-station"}
"""Examples of which four such runs take more than three seconds, or whose modes take minutes to find."""
CUTS, MORE_FRAMES = (9, 30), 45
"""Of longer runs, to 1.5 s: where they are cut, after 0.3 s and 1 s."""


def scene_of(name: str) -> sp.Scene:
    """A built-in scene, or the first design of a built-in search in its arena."""
    if name in registry():
        return registry()[name].make()
    study = load_study(study_file(name))
    return study.arena.scene(study.method.ask()[0])


def last(name: str, frames: int = FRAMES, **options: object) -> sp.State:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        return sp.run(scene_of(name), until=frames * FRAME, progress=False, **options).state


def same(one: sp.State, other: sp.State) -> None:
    assert one.t == other.t
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.v, other.v)
    assert {k: a.tobytes() for k, a in one.memory.items()} == {k: a.tobytes() for k, a in other.memory.items()}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in DEAR)) for name in sorted([*registry(), *studies()])],
)
def test_bits_do_not_depend_on_threads_strides_and_where_a_run_was_cut(name: str, tmp_path: Path) -> None:
    whole = last(name, threads=1)
    same(whole, last(name, threads=2))
    same(whole, last(name, threads=1, on_step=lambda state, report: False))
    last(name, FRAMES // 2, out=tmp_path, threads=1)
    same(whole, last(name, out=tmp_path, threads=1, resume=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["garden", "gripper", "kicker", *studies()])
def test_bits_of_longer_runs_do_not_depend_on_threads_and_cuts(name: str, tmp_path: Path) -> None:
    """Walking, kicking, falling and lifting, cut twice: contacts have begun and ended, slipped and held."""
    whole = last(name, MORE_FRAMES, threads=1)
    same(whole, last(name, MORE_FRAMES, threads=2))
    for threads, frames in zip((1, 2, 1), (*CUTS, MORE_FRAMES)):
        resumed = last(name, frames, out=tmp_path, threads=threads, resume=frames > CUTS[0])
    same(whole, resumed)
