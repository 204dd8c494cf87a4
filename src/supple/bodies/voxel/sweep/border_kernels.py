"""Links across the borders between slabs: the slab below computes them, and two slabs send each other faces of bricks.

What a slab sends lies packed in lines of its own, so that few lines go from one core to another, and none that both
write. The slab above shows the lower faces of its first bricks, where they are and how they move, as soon as it has
moved them; the slab below computes the links at the start of its next sweep, and sends what they do to these faces. A
sweep so needs of the slab above what is one sweep old, and of the slab below what is done at once.

Borders go in chunks, each with two numbers of sweeps, see `sweep_number`: up to which its loads are sent and its faces
shown. A slab shows faces anew only after it took the loads that were computed from the ones before, and sends loads
anew only after it saw faces that have taken the ones before: so no line is written while it is read.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.prefetching import prefetch, prefetch_to_write
from supple.algebra.compiling.thread_team import atomic_read, atomic_write, pause
from supple.algebra.lanes.lane_type import lane_count, load
from supple.bodies.voxel.sweep.brick_data import AT_BORDER, LINE, LOADS, RATES, STATE
from supple.bodies.voxel.sweep.brick_lanes import face_count, load_lower, load_upper, store_lower, store_upper
from supple.bodies.voxel.sweep.brick_links import VELOCITY, links_across, load_moving, store_three

AHEAD = 4  # borders whose data are asked for early


@compiled(inline=True)
def source_after(bricks, damping, stage):
    """Where the velocities after so many stages lie, for `load_moving`."""
    if stage == 0:
        return bricks.state, STATE, VELOCITY
    return damping.rates, RATES, 0


@compiled(inline=True)
def sweep_number(damping, n, stage):
    """The number of a stage of step n, or of its sweep after all stages, from 1 on."""
    return n * (len(damping.before) + 1) + stage + 1


@compiled(inline=True)
def sent(chunk):
    """The word that says up to which sweep the loads of a chunk are sent."""
    return 2 * chunk * LINE


@compiled(inline=True)
def shown(chunk):
    """The word that says up to which sweep the faces of a chunk are shown."""
    return (2 * chunk + 1) * LINE


@compiled(inline=True)
def three_lower(array, at, stride):
    """Three fields of a lower face."""
    return load_lower(array, at), load_lower(array, at + stride), load_lower(array, at + 2 * stride)


@compiled(inline=True)
def three_upper(array, at, stride):
    """Three fields of an upper face."""
    return load_upper(array, at), load_upper(array, at + stride), load_upper(array, at + 2 * stride)


@compiled(inline=True)
def load_shown(slabs, k):
    """The state of the brick above border k, of its lower face alone."""
    faces, face = slabs.faces, face_count(slabs.faces)
    at = k * STATE * face
    qx, qy, qz = three_lower(faces, at + 4 * face, face)
    return (
        three_lower(faces, at, face),
        (load_lower(faces, at + 3 * face), qx, qy, qz),
        three_lower(faces, at + 7 * face, face),
        three_lower(faces, at + 10 * face, face),
        load_lower(faces, at + 13 * face),
    )


@compiled(borrows=True)
def open_borders(bricks, slabs, number):
    """Before the sweep of that number, whatever changed the state: show all faces as they are."""
    W = lane_count(bricks.state)
    for k in range(len(slabs.above)):
        show_face(bricks, slabs, k, slabs.above[k], W)
    for chunk in range(len(slabs.chunk_start) - 1):
        slabs.passed[sent(chunk)] = number - 1
        slabs.passed[shown(chunk)] = number - 1


@compiled(inline=True)
def border_under(bricks, slabs, b):
    """The border under a brick, or -1."""
    if bricks.linked[b] & AT_BORDER:
        k = bricks.column_behind[b] - slabs.first_border
        if 0 <= k < len(slabs.above):
            return k
    return -1


@compiled(inline=True)
def show_rates(slabs, k, v, w):
    """Show how a brick above border k moves."""
    face = face_count(slabs.faces)
    for c in range(3):
        store_lower(slabs.faces, (k * STATE + VELOCITY + c) * face, v[c])
        store_lower(slabs.faces, (k * STATE + VELOCITY + 3 + c) * face, w[c])


@compiled(inline=True)
def show_face(bricks, slabs, k, b, W):
    """Show where brick b, above border k, is now, and how it moves."""
    face = face_count(slabs.faces)
    for field in range(STATE):
        store_lower(slabs.faces, (k * STATE + field) * face, load(bricks.state, (b * STATE + field) * W))


@compiled(inline=True)
def end_shown(slabs, k, number):
    """A brick above border k has been shown: its chunk, where it is the last one."""
    chunk = slabs.chunk[k]
    if k + 1 == slabs.chunk_start[chunk + 1]:
        atomic_write(slabs.passed, shown(chunk), number)


@compiled(inline=True)
def ask_shown(slabs, k):
    """Ask for the faces above border k."""
    face, line = face_count(slabs.faces), lane_count(slabs.faces)
    for at in range(k * STATE * face, (k + 1) * STATE * face, line):
        prefetch(slabs.faces, at)


@compiled(inline=True)
def ask_to_send(slabs, k):
    """Ask for the lines of the loads across border k, to write them."""
    face, line = face_count(slabs.across), lane_count(slabs.across)
    for at in range(k * LOADS * face, (k + 1) * LOADS * face, line):
        prefetch_to_write(slabs.across, at)


@compiled(inline=True)
def ask_to_show(slabs, k):
    """Ask for the lines of the faces above border k, to write them."""
    face, line = face_count(slabs.faces), lane_count(slabs.faces)
    for at in range(k * STATE * face, (k + 1) * STATE * face, line):
        prefetch_to_write(slabs.faces, at)


@compiled(borrows=True)
def send_chunk(bricks, slabs, damping, chunk, stage, number):
    """Loads of the links across the borders of one chunk, in a stage or in the sweep: kept for the bricks below, and
    sent to those above."""
    keep_whole()
    align_stack()
    W, face, source = lane_count(bricks.state), face_count(bricks.state), source_after(bricks, damping, stage)
    first, stop = slabs.chunk_start[chunk], slabs.chunk_start[chunk + 1]
    while atomic_read(slabs.passed, shown(chunk)) < number - 1:
        pause()
    for k in range(first, stop):
        ask_shown(slabs, min(k + AHEAD, len(slabs.above) - 1))
        ask_to_send(slabs, min(k + AHEAD, len(slabs.above) - 1))
        b = slabs.below[k]
        s = load_moving(bricks.state, source, b, W)
        if stage < len(damping.before):
            F, M, N = links_across(bricks, b, W, s, load_shown(slabs, k), damping.before[stage], False)
        else:
            F, M, N = links_across(bricks, b, W, s, load_shown(slabs, k), damping.within, True)
        at = (slabs.first_border + k) * LOADS * W
        store_three(slabs.columns, at, W, F)
        store_three(slabs.columns, at + 3 * W, W, N)
        store_three(slabs.moments, 3 * k * W, W, M)
        for c in range(3):
            store_upper(slabs.across, (k * LOADS + c) * face, F[c])
            store_upper(slabs.across, (k * LOADS + 3 + c) * face, N[c])
    atomic_write(slabs.passed, sent(chunk), number)


@compiled(borrows=True)
def begin_slab(bricks, slabs, damping, slab, stage, number):
    """The borders above a slab, before any of its bricks moves."""
    for chunk in range(slabs.slab_chunks[slab + 1], slabs.slab_chunks[slab + 2]):
        send_chunk(bricks, slabs, damping, chunk, stage, number)


@compiled(inline=True)
def await_slab(slabs, slab, number):
    """Have the loads across all borders above a slab, which another thread sends."""
    for chunk in range(slabs.slab_chunks[slab + 1], slabs.slab_chunks[slab + 2]):
        while atomic_read(slabs.passed, sent(chunk)) < number:
            pause()


@compiled(inline=True)
def await_sent(slabs, k, number):
    """Have the loads across border k; ask for those of its chunk where it is the first."""
    chunk = slabs.chunk[k]
    if k == slabs.chunk_start[chunk]:
        while atomic_read(slabs.passed, sent(chunk)) < number:
            pause()
        face, line = face_count(slabs.across), lane_count(slabs.across)
        for at in range(k * LOADS * face, slabs.chunk_start[chunk + 1] * LOADS * face, line):
            prefetch(slabs.across, at)


@compiled(inline=True)
def load_sent(slabs, k):
    """Force and moment that the links across border k have on the upper face of the brick below, as it is seen from
    the brick above."""
    face = face_count(slabs.across)
    at = k * LOADS * face
    return three_upper(slabs.across, at, face), three_upper(slabs.across, at + 3 * face, face)
