"""Obstacles that voxels rest on: a penalty normal to the surface, and Coulomb's friction along it, by `law_kernels`.

    p = size/2 - (n . x - offset),   N by the depth p and the speed -n . v,   k = 2 E l,   c = 2 zeta sqrt(m E l)
    V* = V + dt F/m without friction, along the plane
    at rest:   |V*| <= mu_s N dt/m stays at rest                                             [HL12, eq. 36]
    sliding:   |V*| <= mu_d N dt/m stops; else V = V* (1 - mu_d N dt / (m |V*|))             [HL12, eqs. 37, 38]

Eq. 38 tests the velocity before the step; tested is the candidate V*, so that friction never turns a motion round. A
voxel counts as at rest while it does not move along the plane. The normal force never pulls. Contact acts at the
voxel's centre: it exerts no torque. On a sphere n points from its centre to the voxel, and p = size/2 + R - distance;
boxes and the ground likewise, by the distance to their surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.voxel.model import VoxelModel
from supple.errors import InputError
from supple.interaction.obstacles import Box, HeightField, Obstacle, Plane, Sphere

Array = np.ndarray


def obstacle_arrays(obstacles: Sequence[Obstacle], axes: Sequence[int]) -> dict[str, Array]:
    """The obstacles at rest as the sweep takes them, in its axes."""
    chosen = list(axes)
    rows: dict[type, list[Array]] = {Plane: [], Sphere: [], Box: []}
    ground, place = np.zeros((0, 0)), np.zeros(0)
    for obstacle in obstacles:
        if isinstance(obstacle, HeightField):
            if ground.size:
                raise InputError("there is more than one height field", where="obstacles", allowed="one HeightField")
            ground = np.asarray(obstacle.heights)
            place = np.r_[obstacle.place, ground.max(), np.argsort(chosen)]
        elif isinstance(obstacle, Box):
            centre = np.asarray(obstacle.centre)[chosen]
            rows[Box].append(np.r_[centre, obstacle.axes[:, chosen].ravel(), np.asarray(obstacle.edges) / 2])
        elif isinstance(obstacle, Sphere):
            rows[Sphere].append(np.r_[np.asarray(obstacle.centre)[chosen], obstacle.radius])
        elif isinstance(obstacle, Plane):
            rows[Plane].append(np.r_[np.asarray(obstacle.normal)[chosen], obstacle.offset])
        else:
            raise InputError(
                "the sweep of a lattice does not know this obstacle",
                where="obstacles",
                value=type(obstacle).__name__,
                allowed="Plane, Sphere, Box, Capsule, HeightField",
                fix="Leave the solver out, or use Partitioned.",
            )
    planes, spheres, boxes = (np.concatenate(r) if r else np.zeros(0) for r in rows.values())
    return {"planes": planes, "spheres": spheres, "boxes": boxes, "ground": ground, "ground_place": place}


def own_friction(obstacles: Sequence[Obstacle]) -> tuple[float, float] | None:
    """Static and kinetic friction of all obstacles, None: those of the voxels' materials. The sweep knows one pair for
    all of them."""
    given = {(o.static_friction, o.friction) for o in obstacles if isinstance(o, Obstacle)}
    given = {(kinetic if static is None else static, kinetic) for static, kinetic in given}
    if any(static is not None and kinetic is None for static, kinetic in given):
        raise InputError(
            "static friction of an obstacle without friction",
            where="obstacles",
            value=", ".join(f"{o.name or o.kind}: {o.static_friction}" for o in obstacles),
            fix="Give the obstacle a friction too, or none of both and let the voxels' materials say it.",
        )
    if len(given) > 1:
        raise InputError(
            "the sweep of a lattice knows one friction for all obstacles",
            where="obstacles",
            value=", ".join(f"{o.name or o.kind}: {o.friction}" for o in obstacles),
            fix="Give all obstacles the same friction, or none and let the voxels' materials say it.",
        )
    static, kinetic = given.pop() if given else (None, None)
    return None if static is None or kinetic is None else (static, kinetic)


def contact_constants(model: VoxelModel, friction: tuple[float, float] | None = None) -> Array:
    """k/m [1/s²], c/m [1/s], mu_s, mu_d of each voxel, (n, 4). friction: mu_s, mu_d of the obstacles, None: of the
    materials."""
    square = model.values("young") * model.size / model.mass
    own = model.values("static_friction"), model.values("kinetic_friction")
    if friction is not None:
        own = np.full(model.voxel_count, friction[0]), np.full(model.voxel_count, friction[1])
    return np.stack(
        [
            2 * square,
            2 * model.values("contact_damping") * np.sqrt(square),
            *own,
        ],
        axis=1,
    )
