"""Frames of all domains of a tree, and how they move, at several instants in one call."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, fabs, lane_sum, load
from supple.bodies.tree.surface.kinematics_kernels import Frames, compute_frames, compute_rates


@compiled
def compute_all_frames(chain, q, frame, out):
    """Frames (k, d, ...) at coordinates q (k, n) and the root's frames (k, 7)."""
    for j in range(len(q)):
        own = Frames(out.R[j], out.T[j], out.o[j], out.arm[j], out.solver[j])
        compute_frames(chain, q[j], frame[j], own)  # (12.1)


@compiled
def compute_all_rates(chain, frames, v, velocity, u_out, w_out):
    """Velocities of the origins in world axes, and spins in own axes, (k, d, 3) each, of rates v (k, n), velocity
    (k, 6) and frames (k, d, ...)."""
    for j in range(len(v)):
        own = Frames(frames.R[j], frames.T[j], frames.o[j], frames.arm[j], frames.solver[j])
        compute_rates(chain, own, v[j], velocity[j], u_out[j], w_out[j])  # (12.2)


@compiled
def is_same(a, b):
    """Whether two rows of numbers are the same; not where one of them is no number."""
    if len(a) != len(b):
        return False
    whole = len(a) - len(a) % LANES
    for k in range(whole, len(a)):
        if a[k] != b[k]:
            return False
    if whole == 0:
        return True
    sums = fabs(load(a, 0) - load(b, 0))
    for k in range(LANES, whole, LANES):
        sums += fabs(load(a, k) - load(b, k))
    return lane_sum(sums) == 0.0


@compiled
def write_carriage(R, o, q, out):
    """out: origin and rotation of each domain, R (d, 9) and o (d, 3), then coordinates q (n,)."""
    at = 0
    for d in range(len(o)):
        for i in range(3):
            out[at + i] = o[d, i]
        for i in range(9):
            out[at + 3 + i] = R[d, i]
        at += 12
    for l in range(len(q)):
        out[at + l] = q[l]
