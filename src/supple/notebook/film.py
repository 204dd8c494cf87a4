"""Film: what the canvas needs to draw a scene as it begins, or to play a run."""

from __future__ import annotations

from typing import NamedTuple

from supple.canvas import Header, encode_frame, make_header
from supple.errors import InputError
from supple.exports.html import choose_frames
from supple.exports.staging import Staging
from supple.record.run_result import Run
from supple.scene.scene import Scene
from supple.studio.show import Show

LARGEST = 40_000_000
"""Most bytes of all frames: where there are more, every second one is left out, until they fit."""


class Film(NamedTuple):
    """header: see `make_header`; times [s]: of the frames; frames: one after another."""

    header: Header
    times: list[float]
    frames: bytes


def film_of_scene(scene: Scene) -> Film:
    """Its first state."""
    if not scene.nodes:
        raise InputError("there is no body to draw", where="show", value=scene.name)
    system = scene.compile()
    state = system.initial_state()
    show = Show(system, state)
    return Film(show.header(), [state.t], show.frame(state, 0))


def film_of_run(run: Run, fps: float) -> Film:
    """Its frames, at most so many a second."""
    if run.frames is None or not len(run.frames.times) or not run.frames.body_names:
        raise InputError("this run has no frames to draw", where="show", fix="Run it with frames or a record.")
    trajectory = run.frames
    chosen = choose_frames(trajectory.times, fps=fps)
    staging = Staging(trajectory, chosen)
    header = make_header(trajectory.name, staging.shapes, staging.box, trajectory.ground)
    while len(chosen) > 2 and len(chosen) * header.about["frame"] > LARGEST:
        chosen = chosen[::2]
    steps, times = trajectory.columns["step"], trajectory.times
    frames = [
        encode_frame(staging.shapes, staging.rows(frame), number, int(steps[frame]), float(times[frame]))
        for number, frame in enumerate(chosen)
    ]
    return Film(header, [float(times[frame]) for frame in chosen], b"".join(frames))
