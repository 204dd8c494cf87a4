"""Obstacles with a shape of their own in every small step of a sweep: those that move, and capsules.

Their shapes are taken where a small step starts. Their material moves from there to the step's end,

    u(x) = b + A x,   A = (R_1 R_0^T - I)/dt,   b = (p_1 - R_1 R_0^T p_0)/dt        x = p + R X: its pose

so that a voxel with this velocity stays on its spot, however the obstacle turns. The normal push of a small step has
the voxel's velocity less that of the obstacle in the step before, which is when the voxel got it; friction acts against
the obstacle's velocity in the step itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.voxel.touching.moving_kernels import BESIDE, DRIFT, MOVING, OWN
from supple.errors import InputError
from supple.interaction.motion import Motion
from supple.interaction.obstacles import Box, Capsule, Obstacle, Plane, Sphere

Array = np.ndarray
KINDS = (Plane, (Sphere, Capsule), Box)
"""In the order of the table."""


def moves(obstacle: object) -> bool:
    """Whether the sweep takes its shape anew in every small step."""
    return isinstance(obstacle, Capsule) or (isinstance(obstacle, Obstacle) and obstacle.motion is not None)


def check_moving(obstacles: Sequence[Obstacle]) -> None:
    """Refuse what moves and has no formula for its distance."""
    unknown = [o.kind for o in obstacles if moves(o) and not isinstance(o, (Plane, Sphere, Capsule, Box))]
    if unknown:
        raise InputError(
            "the sweep of a lattice does not know this obstacle in motion",
            where="obstacles",
            value=unknown[0],
            allowed="Plane, Sphere, Capsule, Box",
            fix="Leave the solver out, or use Partitioned.",
        )


def moving_counts(obstacles: Sequence[Obstacle]) -> Array:
    """How many of the obstacles are planes, capsules or spheres, and boxes, (3,)."""
    return np.array([sum(isinstance(o, kind) for o in obstacles if moves(o)) for kind in KINDS], dtype=np.int64)


def moving_table(obstacles: Sequence[Obstacle], axes: Sequence[int], t: float, dt: float, count: int) -> Array:
    """What moves, in the axes of the sweep: (count + 1, MOVING k) for the step before t [s] and the steps of dt [s]
    after it; one row of numbers a step."""
    chosen = [o for kind in KINDS for o in obstacles if moves(o) and isinstance(o, kind)]
    times = t + dt * np.arange(-1, count + 1)
    table = np.zeros((count + 1, len(chosen), MOVING))
    for k, obstacle in enumerate(chosen):
        pose = (obstacle.motion or Motion()).poses(times)
        p, R = pose[:, :3], rotations.to_matrix(pose[:, 3:])
        shape = _shape(obstacle, p[:-1], R[:-1], list(axes))
        table[:, k, : shape.shape[1]] = shape
        A = R[1:] @ R[:-1].transpose(0, 2, 1)
        b = (p[1:] - np.einsum("nij,nj->ni", A, p[:-1])) / dt
        A = (A - np.eye(3)) / dt
        drift = np.concatenate([b[:, list(axes)], A[:, axes][:, :, axes].reshape(-1, 9)], axis=1)
        table[:, k, DRIFT : DRIFT + 12] = drift
        table[:, k, OWN : OWN + 2] = _friction(obstacle)
    return table.reshape(count + 1, -1)


def _shape(obstacle: Obstacle, p: Array, R: Array, axes: list[int]) -> Array:
    """Plane: normal and offset; sphere and capsule: start, way to the end, radius; box: centre, axes, half edges."""

    def placed(X: Array) -> Array:
        return p + np.einsum("nij,j->ni", R, np.asarray(X))

    def filled(value: object) -> Array:
        return np.tile(np.atleast_1d(np.asarray(value, dtype=float)), (len(p), 1))

    if isinstance(obstacle, Plane):
        normal = np.einsum("nij,j->ni", R, np.asarray(obstacle.normal))
        offset = obstacle.offset + np.einsum("ni,ni->n", normal, p)
        return np.concatenate([normal[:, axes], offset[:, None]], axis=1)
    if isinstance(obstacle, Box):
        turned = np.einsum("nij,kj->nki", R, obstacle.axes)[:, :, axes].reshape(-1, 9)
        centre = placed(np.asarray(obstacle.centre))[:, axes]
        return np.concatenate([centre, turned, filled(np.asarray(obstacle.edges) / 2)], axis=1)
    start, end = _line(obstacle)
    way = np.einsum("nij,j->ni", R, end - start)
    return np.concatenate([placed(start)[:, axes], way[:, axes], filled(obstacle.radius)], axis=1)  # type: ignore[attr-defined]


def _line(obstacle: Obstacle) -> tuple[Array, Array]:
    if isinstance(obstacle, Sphere):
        return np.asarray(obstacle.centre), np.asarray(obstacle.centre)
    assert isinstance(obstacle, Capsule)
    return np.asarray(obstacle.start), np.asarray(obstacle.end)


def _friction(obstacle: Obstacle) -> tuple[float, float]:
    """Static and kinetic, BESIDE: those of the voxels' materials."""
    if obstacle.friction is None:
        return BESIDE, BESIDE
    static = obstacle.friction if obstacle.static_friction is None else obstacle.static_friction
    return static, obstacle.friction
