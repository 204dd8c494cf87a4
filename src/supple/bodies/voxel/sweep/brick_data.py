"""What the fused sweep works on: the lattice in bricks, the slabs that threads share, and what a step needs to know.

All float arrays of bricks are flat, in tiles of so many fields of W values, W being the number of SIMD lanes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
STATE = 14  # x, q, v, w (world axes), size
CONSTANTS = 16  # a1, a2, c_u, c_t of the links along x, y, z; 1/m, 1/I, drag, spin drag
LOADS = 6  # force, moment
CONTACT = 4  # k/m, c/m, mu_s, mu_d
SHIFTS = 6  # change of the rest length [m] and strength, 1 or 0, of the links along x, y, z
GUIDE = 16  # free directions (3x3), whether turning is free, velocity, angular velocity
RATES = 6  # v, w
SKIN = 6  # exposed faces ahead and behind along x, y, z: 1 or 0
AT_BORDER = 8  # in `linked`: links lead from or to another slab
BY_REST = 16  # in `linked`: the axial stiffness of links follows their rest lengths
LINE = 8  # integers of a cache line
PARTS = 4  # in which threads share the contacts of voxels with each other


class Bricks(NamedTuple):
    """A lattice in bricks of W lanes.

    state: STATE fields of the bricks and a void one. constants: CONSTANTS fields of the bricks. edge (count,): voxel
    size without actuation [m].
    Present or empty: loads (LOADS fields), swings (as many fields as the step has signals), contact (CONTACT), shifts
    (SHIFTS), skin (SKIN). guide (count,): number of the brick's tile in guides (GUIDE), or -1; or empty.
    next_x, next_y, next_z: the state tile ahead; crossing: where that along z is another slab's, the number of the
    border crossed, else -1. follows: 1 where the brick before is the one behind along x. row, column: where the brick
    leaves its loads along y and z; row_behind, column_behind: where it finds those of the bricks behind it, a zero one
    if there are none. linked: the sum of 1, 2, 4 where links lead from its voxels along x, y, z, AT_BORDER,
    and BY_REST.
    """

    state: Array
    constants: Array
    edge: Array
    loads: Array
    swings: Array
    contact: Array
    shifts: Array
    skin: Array
    guide: Array
    guides: Array
    next_x: Array
    next_y: Array
    next_z: Array
    crossing: Array
    follows: Array
    row: Array
    row_behind: Array
    column: Array
    column_behind: Array
    linked: Array


class Slabs(NamedTuple):
    """How the bricks are shared out. start (count + 1,): first brick of each slab.

    rows, columns: buffers along y and z, tiles of LOADS fields; row_count: tiles of the rows of a slab. below, above
    (k,): the bricks on both sides of borders between slabs; first_border: the tile of the columns where the loads of
    their links begin, for the bricks below; moments: of these, on the bricks below, 3 fields. What slabs send each
    other, see `border_kernels`: faces, STATE fields, and across, LOADS fields of a face for each border; passed: 2 LINE
    words a chunk. chunk (k,): the chunk of each border; chunk_start: first border of each chunk; slab_chunks
    (slabs + 2,): first chunk under each slab, and twice their number. turns: see `team_kernels`, LINE words a slab and
    twice as many. scratch: 8 fields a slab. peaks: 2 fields a slab, the largest v² and size after its step.
    team: see `thread_team`.
    """

    start: Array
    rows: Array
    columns: Array
    row_count: int
    below: Array
    above: Array
    first_border: int
    moments: Array
    chunk: Array
    chunk_start: Array
    slab_chunks: Array
    faces: Array
    across: Array
    passed: Array
    turns: Array
    scratch: Array
    peaks: Array
    team: Array


class Damping(NamedTuple):
    """The damping of links in stages, see `stages`. before (k,) [s]: of a step, the parts of the stages before its
    forces; within: the part that acts with them. rates: RATES fields of tiles as those of the state, the velocities
    after the stages; or empty, where there are none."""

    before: Array
    within: float
    rates: Array


class Step(NamedTuple):
    """t, dt [s], gravity (gx, gy, gz) [m/s²].

    signals (steps, count): control signals at the end of each step. planes (4 p,): normals and offsets; spheres
    (4 s,): centres and radii; boxes (15 b,): centres, axes (3x3 by rows) and half edges. ground (rows, columns):
    heights over the world's x and y; ground_place (8,): origin and spacing along x and y, the highest height, and where
    the world's x, y, z stand in the order of the sweep. fluid (9,): see `surroundings`. Any of them may be empty.
    moving (steps + 1, ...): see `moving_table`, and moving_kinds (3,): how many of them are of each kind; None, where
    nothing moves: such a step has a sweep of its own, compiled without it.
    """

    t: float
    dt: float
    gx: float
    gy: float
    gz: float
    signals: Array
    planes: Array
    spheres: Array
    boxes: Array
    ground: Array
    ground_place: Array
    fluid: Array
    moving: Array | None = None
    moving_kinds: Array | None = None
