"""All that a first touch needs is compiled, and read from the disk, before the page says ready."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from tests.studio.test_live_run import SCENES, towards
from tests.trees.welds import welded_beams

import supple as sp
from supple.algebra.compiling import kernel
from supple.studio.live.live_run import LiveRun


def joined() -> sp.Scene:
    """A tree that is touched where two domains are one."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="joined")
    scene.add(sp.TreeBody(welded_beams(2, 6), stiffness_damping=0.01), name="branch")
    return scene


def touch(name: str) -> None:
    """What a process does that prints the kernels that a person's first touch brings into it."""
    live = LiveRun(joined() if name == "joined" else SCENES[name][0]())
    live.compile_all()
    live.show.frame(live.state, 0)  # as of the first picture
    compile_one = kernel._Locked.compile

    def told(dispatcher: Any, signature: Any) -> Any:
        print(dispatcher.py_func.__module__, dispatcher.py_func.__qualname__, flush=True)
        return compile_one(dispatcher, signature)

    kernel._Locked.compile = told  # type: ignore[method-assign]
    live.take(3)
    surface = live.show.surfaces[0]
    points = surface.points(live.state).astype(float)
    tip, middle = points[np.argmax(points[:, 0])], points.mean(axis=0)
    place = middle + 0.3 * (tip - middle) if len(surface.triangles) else tip  # there is nothing between particles
    if name == "joined":
        place = points[live.system.bodies[0].body.skin.seams[0]]
    live.grab(1, towards(place, place), live.state)
    assert live.pulls.held
    for k in range(3):
        live.drag(1, towards(place, place + np.array([0.0, 0.001 * k, 0.0])))
        live.take(1 + k)
        live.pulls.lines(live.state, live.dragged)
        live.show.frame(live.state, live.step)
    live.check()
    live.release(1)
    live.take(2)


@pytest.mark.parametrize("name", [*SCENES, "joined"])
def test_the_first_touch_brings_no_kernel(name: str) -> None:
    command = f"from tests.studio.test_ready import touch; touch({name!r})"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
