"""Trial: one design in one arena, as measures see it. `try_design` makes one and gives its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import supple
from supple.algebra.dense import rotations
from supple.contact import MeshObstacle, Obstacle, distance
from supple.design.arena import ArenaLike
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.measures import Measure, measures_of
from supple.design.results import Outcome, Result
from supple.errors import DivergenceError, InputError, SuppleError
from supple.record.frame import Frame
from supple.record.run_result import Run
from supple.running import run as run_scene
from supple.scene.slots import Slot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Trial:
    """One design in one arena, run to its end.

    since: when measuring begins [s]. times (frames,) [s]. watched: centres of mass (frames, 3) [m] of every body by
    name. contacts (frames,): whether the robot touched an obstacle or another body.
    """

    design: Design
    arena: ArenaLike
    seed: int
    run: Run
    since: float
    times: Array
    watched: dict[str, Array]
    contacts: Array

    @property
    def centres(self) -> Array:
        """Centres of mass of the robot (frames, 3) [m]."""
        return self.watched[self.arena.body]

    def slot(self, name: str) -> Slot:
        """The place of a body in `run.system` and `run.state`."""
        return self.run.system.body(name)


def evaluation_key(design: Design, arena: ArenaLike, measures: Any, *, seed: int = 0) -> str:
    """Names an evaluation by all that its scores depend on: design, arena, measures, seed and version of Supple."""
    return content_key("evaluation", supple.__version__, design.key(), arena.key(), measures_of(measures), seed)


def make_trial(design: Design, arena: ArenaLike, *, seed: int = 0) -> Trial:
    """Run a design in an arena, on one thread; a DivergenceError or an InputError where that cannot be."""
    scene, watch = arena.scene(design, seed), Watch(arena.body)
    end = arena.settle + arena.duration
    run = run_scene(
        scene, until=end, dt=arena.dt, record_every=arena.record_every, observers=[watch], progress=False, threads=1
    )
    if run.outcome == "interrupted":
        raise KeyboardInterrupt
    centres = {name: np.array(rows) for name, rows in watch.centres.items()}
    return Trial(design, arena, seed, run, arena.settle, np.array(watch.times), centres, np.array(watch.contacts))


def try_design(design: Design, arena: ArenaLike, measures: Any = ("travel",), *, seed: int = 0) -> Result:
    """Evaluate one design, in this process: the same arguments give the same scores, bit for bit.

    A design that diverges, that the arena refuses, or whose run or measures fail, is a result with the worst scores
    and what went wrong. Measures that cannot be found are an InputError.

    >>> import numpy as np
    >>> from supple.design import Arena, Design
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, 0.01, duration=0.1, obstacles=(), velocity=(1, 0, 0))
    >>> round(try_design(Design(np.ones((2, 1, 1))), arena).scores["travel"], 6)
    0.1
    """
    chosen, begun = measures_of(measures), perf_counter()
    outcome, scores, message = _outcome(design, arena, chosen, seed)
    key = evaluation_key(design, arena, chosen, seed=seed)
    return Result(key, design.key(), outcome, scores, perf_counter() - begun, message)


def _outcome(
    design: Design, arena: ArenaLike, measures: Sequence[Measure], seed: int
) -> tuple[Outcome, dict[str, float], str]:
    outcome: Outcome
    try:
        trial = make_trial(design, arena, seed=seed)
        return "finished", {one.name: one.of(trial) for one in measures}, ""
    except DivergenceError as error:
        outcome, message = "diverged", str(error)
    except InputError as error:
        outcome, message = "refused", str(error)
    except SuppleError as error:
        outcome, message = "crashed", str(error)
    except Exception as error:  # of a measure or a controller: one design must not end the others
        outcome, message = "crashed", f"{type(error).__name__}: {error}"
    return outcome, {one.name: one.worst for one in measures}, message


@dataclass(eq=False)
class Watch:
    """An observer of a run, that notes where bodies are and whether one of them, `body`, touches something."""

    body: str
    times: list[float] = field(default_factory=list)
    centres: dict[str, list[Array]] = field(default_factory=dict)
    contacts: list[bool] = field(default_factory=list)

    def __call__(self, frame: Frame) -> None:
        """Note a frame."""
        self.times.append(float(frame.time))
        for slot in frame.system.bodies:
            centre = np.array(frame.system.centre_of_mass(frame.state, slot), dtype=float)
            self.centres.setdefault(slot.name, []).append(centre)
        self.contacts.append(self._touches(frame))

    def _touches(self, frame: Frame) -> bool:
        if any(self.body in pair and pair[0] != pair[1] for pair in frame.contacts.pairs):
            return True
        slot = frame.system.body(self.body)
        body = slot.body
        size = body.model.size if body.swing is None else body.swing.sizes(frame.time)  # type: ignore[attr-defined]
        x = slot.view_x(frame.state.x)[:, :3]
        obstacles = {} if frame.system.scene is None else frame.system.scene.obstacles
        return any(_reaches(one, x, size, frame.time) for one in obstacles.values())


def _reaches(obstacle: Obstacle, x: Array, size: Array, time: float) -> bool:
    """Whether a voxel of centre x (n, 3) and size (n,) [m] touches an obstacle; meshes are met by surfaces alone."""
    if isinstance(obstacle, MeshObstacle):
        return False
    pose = obstacle.pose(time)
    local = (x - pose[:3]) @ rotations.to_matrix(pose[3:7])
    return bool((distance(obstacle, local)[0] < size / 2).any())
