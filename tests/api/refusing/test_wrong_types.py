"""What is public, given a first argument of a wrong type, answers in words, never with an error of Python's own."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import supple as sp
from supple.errors import SuppleError
from supple.record import load_checkpoint, open_record

WRONG: dict[str, Any] = {"nothing": None, "a text": "x", "a number": 3, "an empty list": []}
RIGHT: dict[str, dict[str, Any]] = {
    "run": {"until": 0.1},
    "save": {"path": "scene.toml"},
    "export": {"destination": "run.csv"},
    "save_mesh": {"mesh": sp.box_tets((1, 1, 1), (1, 1, 1))},
    "cylinder_tets": {"height": 1.0, "cells": (1, 1)},
    "sphere_tets": {"cells": 1},
    "Load": {"force": (0, 0, 1.0)},
    "Pressure": {"region": "x_max", "pressure": 1.0},
    "RigidBody.sphere": {"density": 500},
    "RigidBody.cylinder": {"height": 1.0, "density": 500},
    "Motion.sampled": {"until": 1.0},
    "System.change": {"name": "gravity", "value": (0, 0, -1.0)},
    "System.remove": {"name": "ball"},
    "System.break_off": {"body": "ball", "domain": 0},
    "System.positions": {"body": "ball"},
    "System.velocities": {"body": "ball"},
    "System.points": {"body": "ball"},
    "System.present": {"body": "ball"},
}
"""What else is given, where the first alone is to be wrong; elsewhere all that must be given is of the wrong type."""
OF_A_STATE = "add", "break_off", "change", "joint_readings", "matrices", "points", "positions", "present", "remove"
OF_SYSTEMS = (*OF_A_STATE, "replay", "velocities", "centre_of_mass", "body", "jacobian")
OF_SCENES = "add", "group", "node"
OF_NODES = "points", "indices"


def scene() -> sp.Scene:
    made = sp.Scene()
    made.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    return made


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """All that people call: names of the package, other ways to make its classes, what systems, scenes and nodes do for
    them, and how records are opened."""
    for name in sp.__all__:
        thing = getattr(sp, name)
        if callable(thing):
            yield name, thing
        for way, raw in vars(thing).items() if inspect.isclass(thing) else ():
            if isinstance(raw, classmethod) and not way.startswith("_"):
                yield f"{name}.{way}", getattr(thing, way)
    compiled = scene().compile()
    yield from ((f"System.{name}", getattr(compiled, name)) for name in OF_SYSTEMS)
    yield from ((f"Scene.{name}", getattr(scene(), name)) for name in OF_SCENES)
    yield from ((f"Node.{name}", getattr(scene().node("ball"), name)) for name in OF_NODES)
    yield from (("open_record", open_record), ("load_checkpoint", load_checkpoint))


CALLED = dict(public())


def call(name: str, wrong: Any) -> None:
    """Call with a wrong first argument."""
    parameters = list(inspect.signature(CALLED[name]).parameters.values())
    if not parameters:
        return
    first, *more = parameters
    given = RIGHT.get(name) or {p.name: wrong for p in more if p.default is p.empty and p.kind is not p.VAR_KEYWORD}
    if first.kind is first.KEYWORD_ONLY:
        given = {first.name: wrong, **given}
    CALLED[name](*(() if first.kind is first.KEYWORD_ONLY else (wrong,)), **given)


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", CALLED)
def test_a_wrong_type_is_refused_in_words(
    name: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(name, WRONG[wrong])
        except SuppleError:
            return
        except Exception as error:
            pytest.fail(f"{name} given {wrong}: {type(error).__name__}: {error}")


@pytest.mark.parametrize(
    "name", ["run", "settle", "solve_statics", "equilibrium_path", "vibration_modes", "load", "save", "open_record"]
)
@pytest.mark.parametrize("wrong", [None, 3, []])
def test_the_error_says_what_was_given_and_what_to_give(name: str, wrong: Any) -> None:
    with pytest.raises(SuppleError) as caught:
        call(name, wrong)
    assert caught.value.where is not None
    assert caught.value.value is not None
    assert caught.value.allowed or caught.value.fix
