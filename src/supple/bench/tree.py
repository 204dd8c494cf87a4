"""tree/flower, letters, dragon, space-station, oak: steps, points and precomputation, after [BZ11, table 1].

    quantity                what is measured
    step_time               a full step (frames, forces, elimination) of 1/120 s, two passes, one thread, in windows of
                            several steps a call, from a tree in motion under gravity
    StVK                    what a step costs more that has f and K of both passes, not of the first alone
    u = Uq                  world positions of all volume vertices of all domains in float32, from coordinates and
                            frames, with the mean over the cuts, one thread
    precompute_time         all kinds, on two cores as it comes, nothing read from the cache, kernels compiled before

The shortest of many windows counts; what is compared is measured by turns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from supple.bench.row import Row, at_most, measured, threads
from supple.bodies.tree import Domain, DomainTemplate, DomainTree, TreeModel
from supple.bodies.tree.dynamics import Coupling, OneWayWarning, TreeDynamics, TreeSettings, TreeState
from supple.bodies.tree.surface.reconstruction import Reconstruction
from supple.bodies.tree.surface.skin import TreeSkin
from supple.errors import DivergenceError
from supple.examples import shapes
from supple.geometry import box_hexes, box_tets
from supple.material import Material

DT = 1 / 120  # [s]
GRAVITY = (0.0, 0.0, -9.81)
DAMPING = 0.001  # [s], on the stiffness
START_STEPS = 30
WINDOW, LONG = 5e-3, 4.0  # [s]: of a window, and of all windows of a comparison
LEAST = 10  # steps of a window, which is one call: its start is not a part of a step


class Published(NamedTuple):
    """Row of [BZ11, table 1]: step, StVK's share, u = Uq [ms], precomputation [min]; our limits [ms], [ms], [s]."""

    make: Callable[[], DomainTree]
    step: float
    share: float
    points: float
    precomputation: float
    step_limit: float
    precomputation_limit: float


EXAMPLES = {
    "flower": Published(shapes.flower, 6.5, 0.78, 0.43, 0.6, 0.4, 5.0),
    "letters": Published(shapes.letters, 1.7, 0.79, 2.5, 4.3, 0.35, 20.0),
    "dragon": Published(shapes.dragon, 1.6, 0.55, 7.0, 5.1, 0.4, 30.0),
    "space-station": Published(shapes.space_station, 4.5, 0.75, 25.5, 0.8, 1.0, 20.0),
    "oak": Published(shapes.oak, 29.0, 0.48, 12.2, 1.0, 3.0, 15.0),
}


def by_turns(
    works: dict[str, Callable[[], Any]],
    seconds: float = LONG,
    *,
    clock: Callable[[], float] = perf_counter,
    again: bool = False,
) -> dict[str, float]:
    """The shortest time [s] of each, taken in turn for so long, after one turn that is not counted; at least twice.

    again: each is done twice in its turn and counted once, so that it finds in the cache what it left there and not
    what the others did.
    """
    for work in works.values():
        work()
    best, end, turns = dict.fromkeys(works, float("inf")), perf_counter() + seconds, 0
    while turns < 2 or perf_counter() < end:
        for name, work in works.items():
            if again:
                work()
            start = clock()
            work()
            best[name] = min(best[name], clock() - start)
        turns += 1
    return best


def tree_of(model: TreeModel, coupling: Coupling = "articulated", **settings: Any) -> TreeDynamics:
    """The dynamics measured here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneWayWarning)
        return TreeDynamics(model, coupling=coupling, stiffness_damping=DAMPING, settings=TreeSettings(**settings))


def moving(tree: TreeDynamics) -> TreeState:
    """The tree let go under gravity, some steps later."""
    state = tree.state()
    tree.advance(state, DT, steps=START_STEPS, gravity=GRAVITY)
    return state


class Steps(NamedTuple):
    """Windows of so many steps of a tree, always from the same state."""

    tree: TreeDynamics
    state: TreeState
    steps: int

    @classmethod
    def of(cls, tree: TreeDynamics, state: TreeState, count: int | None = None) -> Steps:
        """count: None for as many as fill a window."""
        if count is None:
            once = (
                by_turns({"step": lambda: tree.advance(state.copy(), DT, steps=2, gravity=GRAVITY)}, 0.05)["step"] / 2
            )
            count = int(np.clip(WINDOW / once, LEAST, 50))
        return cls(tree, state, count)

    def run(self) -> TreeState:
        """One window; the state after it."""
        state = self.state.copy()
        self.tree.advance(state, DT, steps=self.steps, gravity=GRAVITY)
        return state


def warm_kernels() -> None:
    """Reduce two small kinds, so that what is compiled for precomputation is compiled."""
    material = Material(1e6, 0.3, 1000)
    for make in (box_tets, box_hexes):
        mesh = make(size=(1.0, 0.2, 0.2), cells=(20, 8, 8))
        kind = DomainTemplate("small", mesh, material, 4, held=mesh.node_region("x_min"))
        TreeModel.of(DomainTree({"small": kind}, [Domain("small")]), keep=False, processes=1)


def precomputation(case: str, example: Published) -> tuple[TreeModel, list[Row]]:
    """The model, and how long it took."""
    warm_kernels()
    domain_tree = example.make()
    start = perf_counter()
    model = TreeModel.of(domain_tree, keep=False)
    value = perf_counter() - start
    name = f"precompute_time, without cache (paper {60 * example.precomputation:g} s)"
    return model, [at_most(case, name, value, example.precomputation_limit, unit="s", threads=2)]


def step_rows(case: str, model: TreeModel, example: Published) -> list[Row]:
    """Times of a step, their parts, and the one-way coupling."""
    articulated = tree_of(model)
    state = moving(articulated)
    steps = Steps.of(articulated, state)
    works: dict[str, Callable[[], Any]] = {
        "articulated": steps.run,
        "once": Steps.of(tree_of(model, renew_forces=False), state, steps.steps).run,
    }
    lumped = Steps.of(tree_of(model, "lumped"), state, steps.steps).run
    try:
        lumped()
        works["lumped"] = lumped
    except DivergenceError:  # a flying root that is lighter than what hangs on it
        pass
    best = {name: 1e3 * value / steps.steps for name, value in by_turns(works).items()}
    step, forces = best["articulated"], best["articulated"] - best["once"]
    share = f"{100 * example.share:g} % of {example.step:g}"
    return [
        at_most(case, f"step_time (paper {example.step:g} ms)", step, example.step_limit, unit="ms", threads=1),
        measured(
            case, "step_time, lumped coupling (nan: it diverges)", best.get("lumped", np.nan), unit="ms", threads=1
        ),
        measured(case, f"StVK forces of a step (paper {share} ms)", forces, unit="ms", threads=1),
        measured(case, "rest of a step", step - forces, unit="ms", threads=1),
    ]


def point_rows(case: str, model: TreeModel, example: Published) -> list[Row]:
    """Time of the deformed volume vertices."""
    tree = tree_of(model)
    state = moving(tree)
    skin = TreeSkin.of(model)
    motion = skin.kinematics.motion(state.q, state.v, state.frame, state.velocity)
    volume = Reconstruction.volume(model, dtype=np.float32)
    out = np.empty((volume.count, 3), dtype=np.float32)
    surface = skin.reconstruction(np.float32)
    works: dict[str, Callable[[], Any]] = {
        "volume": lambda: volume.positions(motion, out),
        "surface": lambda: surface.positions(motion),
        "frames": lambda: skin.kinematics.motion(state.q, state.v, state.frame, state.velocity),
    }
    best = {name: 1e3 * value for name, value in by_turns(works, 2.0).items()}
    rows = [
        at_most(
            case,
            f"u = Uq, volume (paper {example.points:g} ms)",
            best["volume"],
            example.points / 3,
            unit="ms",
            threads=1,
        ),
        measured(case, "u = Uq, surface", best["surface"], unit="ms", threads=1),
    ]
    return [
        *(row._replace(dtype="float32") for row in rows),
        measured(case, "frames of all domains from q, in Python", best["frames"], unit="ms", threads=1),
        measured(case, "X and U read for all volume vertices", 1e-6 * volume.bytes_read, unit="MB", threads=1),
        measured(case, "volume vertices", volume.count, unit="-", threads=1),
        measured(case, "surface vertices", skin.count, unit="-", threads=1),
        measured(case, "surface triangles", len(skin.triangles), unit="-", threads=1),
    ]


def size_rows(case: str, model: TreeModel) -> list[Row]:
    """The other columns of the table."""
    domain_tree = model.domain_tree
    counts = {
        "domains": model.domain_count,
        "classes": len(model.classes),
        "coordinates": model.coordinate_count,
        "depth": int(domain_tree.depths.max()),
        "elements": domain_tree.element_count,
    }
    return [measured(case, name, value, unit="-", threads=1) for name, value in counts.items()]


def example(name: str) -> list[Row]:
    """All rows of one example."""
    case, published = f"tree/{name}", EXAMPLES[name]
    model, rows = precomputation(case, published)
    with threads(1):
        rows = [*step_rows(case, model, published), *point_rows(case, model, published), *rows]
    return [*rows, *size_rows(case, model)]


CASES = {f"tree/{name}": partial(example, name) for name in EXAMPLES}
