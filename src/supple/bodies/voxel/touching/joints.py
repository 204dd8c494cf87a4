"""Joints that the sweep of a lattice holds, as plain values: sides, and conditions between their points; and springs.

See `joint_kernels` and `spring_kernels` for how.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.voxel.groups.groups import faces_of, group_centres, make_groups
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.bricks import Layout
from supple.bodies.voxel.touching.joint_kernels import OTHER, PATCH, POINTS, WORLD, JointRun
from supple.bodies.voxel.touching.springs import LatticeSprings
from supple.bodies.voxel.touching.surface_contact_kernels import SurfaceRun

Array = np.ndarray
CLOSED = 1e-12
"""Of the lattice's extent: what counts as closed, in double precision."""
CLOSED_SINGLE = 3e-7
"""The same in single precision."""
NO_POINTS = np.zeros((0, 3))


class JointSide(NamedTuple):
    """kind: WORLD, POINTS, PATCH or OTHER. voxel (p,), local (p, 3) [m]: points on voxels; offset (p, 3) [m]: from the
    middle of a patch, at the start. held (q, 3) [m]: points of the side, in the world or from the middle of the patch;
    of another body: where they start."""

    kind: int
    voxel: Array
    local: Array
    offset: Array
    held: Array

    @classmethod
    def world(cls, at: Array) -> JointSide:
        """Points (q, 3) [m] that do not move."""
        return cls(WORLD, np.zeros(0, dtype=np.int64), NO_POINTS, NO_POINTS, np.asarray(at, dtype=float))

    @classmethod
    def other(cls, at: Array) -> JointSide:
        """Points (q, 3) [m] of another body, which responds to the joint."""
        return cls.world(at)._replace(kind=OTHER)

    @classmethod
    def points(cls, voxel: Array, local: Array) -> JointSide:
        """Points on voxels."""
        return cls(POINTS, voxel, local, np.zeros_like(local), np.zeros_like(local))

    @classmethod
    def patch(cls, voxel: Array, local: Array, offset: Array, held: Array) -> JointSide:
        """Points that a patch of points on voxels holds."""
        return cls(PATCH, voxel, local, offset, held)


class LatticeJoints(NamedTuple):
    """sides: their points are numbered one side after another; meetings (k, 2), angles (l, 4), constants (l,) of rows
    between them; meetings first, three rows each. order (m,): the number among these rows of each row as a person has
    them."""

    sides: tuple[JointSide, ...]
    meetings: Array
    angles: Array
    constants: Array
    order: Array
    springs: LatticeSprings = LatticeSprings.none()

    @classmethod
    def of_springs(cls, springs: LatticeSprings) -> LatticeJoints:
        """Springs, and no joints."""
        none = np.zeros(0, dtype=np.int64)
        return cls((), none.reshape(0, 2), none.reshape(0, 4), np.zeros(0), none, springs)

    @classmethod
    def none(cls) -> LatticeJoints:
        """Neither joints nor springs."""
        return cls.of_springs(LatticeSprings.none())

    def with_hinges(self, model: VoxelModel) -> LatticeJoints:
        """These, and those by which rigid bodies of a model hold each other; their rows are not a person's."""
        faces = faces_of(model)
        count = len(faces.voxel)
        if not count:
            return self
        first, rows = sum(len(side.held) for side in self.sides), 3 * len(self.meetings)
        hinges = tuple(JointSide.points(faces.voxel[:, end], faces.local[:, end]) for end in range(2))
        meetings = first + np.stack([np.arange(count), count + np.arange(count)], axis=1)
        return self._replace(
            sides=self.sides + hinges,
            meetings=np.concatenate([self.meetings, meetings]),
            order=np.where(self.order < rows, self.order, self.order + 3 * count),
        )

    def run(self, model: VoxelModel, is_held: Array, layout: Layout, contact: Array | None = None) -> JointRun:
        """The joints in the axes and places of a layout, with workspace; is_held (n,): voxels that never move; contact:
        of voxels with obstacles, see `make_groups`."""
        axes, W, n = np.array(layout.axes), layout.lanes, model.voxel_count
        groups = make_groups(model, layout, contact)
        sides = tuple(_on_groups(side, model) for side in self.sides)
        units = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(side.voxel for side in sides)]))
        owner, voxels = np.where(units < n, -1, units - n), np.where(units < n, units, 0)
        joined_units = np.concatenate([units[:0], *(side.voxel for side in sides)])
        per = np.where(is_held[voxels, None], 0.0, 1.0 / np.stack([model.mass, model.inertia], axis=1)[voxels])
        per[owner >= 0] = np.stack([1.0 / groups.whole, np.ones(len(groups.whole))], axis=1)[owner[owner >= 0]]
        small = CLOSED if layout.bricks.state.dtype == np.float64 else CLOSED_SINGLE

        def joined(name: str) -> Array:
            return np.ascontiguousarray(np.concatenate([NO_POINTS, *(getattr(side, name) for side in sides)])[:, axes])

        def starts(name: str) -> Array:
            return np.cumsum([0, *(len(getattr(side, name)) for side in sides)]).astype(np.int64)

        p, q, s = int(starts("voxel")[-1]), int(starts("held")[-1]), len(sides)
        m, others = 3 * len(self.meetings) + len(self.angles), self.others
        springs = self.springs.run(model, is_held, layout)
        o, entry = len(others), np.full(q, -1, dtype=np.int64)
        entry[others] = np.arange(o)
        return JointRun(
            place=layout.brick[voxels] * STATE * W + layout.lane[voxels],
            per=np.ascontiguousarray(per),
            owner=owner.astype(np.int64),
            voxel=np.searchsorted(units, joined_units).astype(np.int64),
            local=joined("local"),
            offset=joined("offset"),
            start=starts("voxel"),
            held_start=starts("held"),
            kind=np.array([side.kind for side in sides], dtype=np.int64),
            held=joined("held"),
            meetings=np.ascontiguousarray(self.meetings, dtype=np.int64),
            angles=np.ascontiguousarray(self.angles, dtype=np.int64),
            constants=np.ascontiguousarray(self.constants, dtype=float),
            limit=np.array([small * model.extent]),
            open=np.zeros(m),
            progress=np.zeros(2, dtype=np.int64),
            impulse=np.zeros(m),
            levers=np.zeros((p, 3)),
            spots=np.zeros((p, 3)),
            middle=np.zeros((s, 3)),
            frames=np.zeros((s, 9)),
            stretch=np.zeros((s, 6)),
            points=np.zeros((q, 3)),
            gradient=np.zeros((q, 3)),
            rows=np.zeros((m, len(units), 6)),
            W=np.zeros((m, m)),
            phi=np.zeros(m),
            l=np.zeros(m),
            others=others,
            entry=entry,
            way=np.zeros((o, 3)),
            felt=np.zeros((o, 3)),
            force=np.zeros((o, 3)),
            passed=np.zeros((o, 3)),
            moment=np.zeros((o, 3)),
            heed=np.ones(1),
            mobility=np.zeros((3 * o, 3 * o)),
            per_step=np.zeros(1),
            spot=np.zeros((o, 3)),
            apart=np.zeros((len(self.meetings), 3)),
            outer=np.zeros((m, o, 3)),
            moved=np.zeros((m, o, 3)),
            **{f"spring_{name}": part for name, part in springs._asdict().items()},
            **{f"group_{name}": part for name, part in groups._asdict().items()},
        )

    @property
    def others(self) -> Array:
        """Which points are of other bodies."""
        kinds = np.concatenate([np.zeros(0), *(np.full(len(side.held), side.kind) for side in self.sides)])
        return np.flatnonzero(kinds == OTHER).astype(np.int64)

    def beside(self, run: JointRun, surfaces: SurfaceRun, places: Array) -> JointRun:
        """A run whose points of other bodies start at places (o, 3), in the axes of the sweep, and go with the last of
        the contacts."""
        others = self.others
        if not len(others):
            return run
        run.held[others] = places
        run.entry[others] = len(surfaces.gap) - len(others) + np.arange(len(others))
        return run._replace(
            way=surfaces.way,
            felt=surfaces.felt,
            force=surfaces.force,
            passed=surfaces.impulse,
            moment=surfaces.moment,
            heed=surfaces.heed,
            mobility=surfaces.mobility,
        )

    def turned_back(self, values: Array, axes: Array) -> Array:
        """Values of rows (m,) from the axes of the sweep to the world's, in a person's order."""
        found, count = values.copy(), 3 * len(self.meetings)
        found[:count].reshape(-1, 3)[:, axes] = values[:count].reshape(-1, 3)
        return found[self.order]


def _on_groups(side: JointSide, model: VoxelModel) -> JointSide:
    """A side whose points on rigid bodies are told from the bodies' centres; number n + g in place of the voxel's."""
    own = np.flatnonzero(model.group[side.voxel] >= 0)
    if not len(own):
        return side
    voxel, local = side.voxel.copy(), side.local.copy()
    group = model.group[voxel[own]]
    local[own] += model.centres[voxel[own]] - group_centres(model)[group]
    voxel[own] = model.voxel_count + group
    return side._replace(voxel=voxel, local=local)
