"""voxel/scenes: the surfaces of the built-in clapper and cloth never pass through each other in a run."""

from __future__ import annotations

from supple.contact import Sphere
from supple.examples import clapper, cloth
from supple.solvers import LatticeSolver
from supple.validation.row import Row, bounded

CASE = "voxel/scenes"
OFTEN = 5e-4  # [s] between looks at the arms
LIMIT = 0.3  # part of its size by which a voxel may enter another, as spheres


def clapping() -> float:
    """Deepest overlap of the clapper's arms over a voxel's size, in two periods."""
    system = clapper.make().compile()
    stride = LatticeSolver(dt=OFTEN)
    state, slot, least = system.initial_state(), system.body("clapper"), clapper.SIZE
    while state.t < 2 / clapper.FREQUENCY:
        stride.step(system, state)
        least = min(least, clapper.clearance(slot.node.body, slot.view_x(state.x)))
    return 1 - least / clapper.SIZE


def draping() -> tuple[float, float]:
    """Deepest overlap of the cloth with the ball, and of its folds, over a voxel's size."""
    scene = cloth.make()
    system = scene.compile()
    state, slot = system.initial_state(), system.body("cloth")
    ball = scene.obstacles["ball"]
    assert isinstance(ball, Sphere)
    depth, fold = 0.0, 0.0
    while state.t < cloth.EXAMPLE.until:
        scene.solver.step(system, state)
        x = slot.view_x(state.x)
        reach = ball.radius + 0.5 * cloth.SIZE
        depth = max(depth, reach - float(((x[:, :3] - ball.centre) ** 2).sum(axis=1).min() ** 0.5))
        fold = max(fold, cloth.SIZE - cloth.nearest(slot.node.body, x))
    return depth / cloth.SIZE, fold / cloth.SIZE


def run() -> list[Row]:
    """The deepest overlaps."""
    depth, fold = draping()
    return [
        bounded(CASE, "clapper: overlap of the arms over a voxel", clapping(), LIMIT, source="spheres that touch"),
        bounded(CASE, "cloth: depth in the ball over a voxel", depth, LIMIT, source="spheres that touch"),
        bounded(CASE, "cloth: overlap of folds over a voxel", fold, LIMIT, source="spheres that touch"),
    ]


CASES = {CASE: run}
