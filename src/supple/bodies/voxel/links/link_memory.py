"""What links remember: plastic strains and failures, as plain arrays and as tiles of the sweep."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from supple.bodies.voxel.links.link_laws import NEVER
from supple.bodies.voxel.links.transverse import coupling_constants
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import SHIFTS
from supple.bodies.voxel.sweep.bricks import Layout, aligned_zeros
from supple.bodies.voxel.sweep.shift_kernels import COUPLING, YIELDED, Laws
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LinkMemory:
    """plastic, accumulated (m,): plastic strain, and the sum of its changes. alive (m,): links that have not failed.

    commanded: the last values of commanded control variables, if there are any.
    """

    plastic: Array
    accumulated: Array
    alive: Array
    commanded: Array | None = None

    @classmethod
    def fresh(cls, link_count: int) -> LinkMemory:
        """Links that never yielded."""
        return cls(np.zeros(link_count), np.zeros(link_count), np.ones(link_count, dtype=bool))

    def to_array(self) -> Array:
        """All of it, (m, 3)."""
        return np.stack([self.plastic, self.accumulated, self.alive.astype(float)], axis=1)

    @classmethod
    def of_array(cls, values: Array) -> LinkMemory:
        """From (m, 3)."""
        return cls(values[:, 0].copy(), values[:, 1].copy(), values[:, 2] > 0.5)


def has_laws(model: VoxelModel) -> bool:
    """Whether links yield, fail, or couple strains across axes."""
    return not model.laws.is_linear or bool(model.transverse.any())


def no_laws(dtype: np.dtype) -> Laws:
    """Laws of links that know none."""
    none, index = np.zeros(0, dtype=dtype), np.zeros((3, 0), dtype=np.int32)
    return Laws(0, none, none, none, none, none, index, index, np.zeros(0, dtype=np.int64))


def make_laws(model: VoxelModel, layout: Layout) -> tuple[Layout, Laws]:
    """Tiles of the laws of a model, and the layout with its shifts."""
    count, W, dtype = len(layout.bricks.row), layout.lanes, layout.bricks.state.dtype
    knots = model.laws.knot.shape[1]
    curve = aligned_zeros(count * 3 * (1 + 2 * knots) * W, dtype)
    fields = layout.fields(curve, 1 + 2 * knots).reshape(count, 3, 1 + 2 * knots, W)
    fields[:, :, 0] = fields[:, :, 1::2] = NEVER
    brick, axis, lane = _places(model, layout)
    fields[brick, axis, 0, lane] = model.laws.failure
    for at in range(knots):
        fields[brick, axis, 1 + 2 * at, lane] = model.laws.knot[:, at]
        fields[brick, axis, 2 + 2 * at, lane] = model.laws.change[:, at]
    shifts = aligned_zeros(count * SHIFTS * W, dtype)
    layout.fields(shifts, SHIFTS).reshape(count, 3, 2, W)[brick, axis, 1, lane] = 1.0
    none = np.zeros(0, dtype=dtype)
    coupling = tension = beta = none
    if model.transverse.any():
        coupling = coupling_tiles(model, layout, np.ones(model.link_count, dtype=bool))
        tension, beta = (aligned_zeros((count + 1) * 3 * W, dtype) for _ in range(2))
    laws = Laws(
        knots=knots,
        curve=curve,
        yielded=aligned_zeros(count * YIELDED * W, dtype),
        coupling=coupling,
        tension=tension,
        beta=beta,
        ahead=layout.ahead,
        behind=layout.behind,
        failures=np.zeros(len(layout.slabs.start) - 1, dtype=np.int64),
    )
    return replace(layout, bricks=layout.bricks._replace(shifts=shifts)), laws


def coupling_tiles(model: VoxelModel, layout: Layout, alive: Array) -> Array:
    """COUPLING fields of a model whose links have failed where alive (m,) says so."""
    gains, k, softness = coupling_constants(model, alive)
    coupling = layout.tiles(np.hstack([np.zeros((len(k), 3)), k[:, list(layout.axes)], softness[:, None]]))
    brick, axis, lane = _places(model, layout)
    layout.fields(coupling, COUPLING)[brick, axis, lane] = gains
    return coupling


def save_memory(model: VoxelModel, layout: Layout, laws: Laws) -> LinkMemory:
    """What the links of a sweep remember."""
    brick, axis, lane = _places(model, layout)
    count = len(layout.bricks.row)
    yielded = layout.fields(laws.yielded, YIELDED).reshape(count, 3, 2, -1)
    strength = layout.fields(layout.bricks.shifts, SHIFTS).reshape(count, 3, 2, -1)[brick, axis, 1, lane]
    plastic, accumulated = (yielded[brick, axis, k, lane].astype(np.float64) for k in range(2))
    return LinkMemory(plastic, accumulated, strength > 0.5)


def load_memory(model: VoxelModel, layout: Layout, laws: Laws, memory: LinkMemory) -> None:
    """Give it back to the links of a sweep."""
    shape = (model.link_count,)
    if not memory.plastic.shape == memory.accumulated.shape == memory.alive.shape == shape:
        raise InputError(
            "what links remember belongs to another lattice",
            where="link memory",
            value=memory.alive.shape,
            allowed=str(shape),
        )
    brick, axis, lane = _places(model, layout)
    count = len(layout.bricks.row)
    yielded = layout.fields(laws.yielded, YIELDED).reshape(count, 3, 2, -1)
    yielded[brick, axis, 0, lane] = memory.plastic
    yielded[brick, axis, 1, lane] = memory.accumulated
    shifts = layout.fields(layout.bricks.shifts, SHIFTS).reshape(count, 3, 2, -1)
    shifts[brick, axis, 1, lane] = memory.alive


def _places(model: VoxelModel, layout: Layout) -> tuple[Array, Array, Array]:
    """Brick, axis of the sweep, and lane of each link."""
    one = model.link_voxels[:, 0]
    order = np.argsort(layout.axes)
    return layout.brick[one], order[model.link_axis], layout.lane[one]
