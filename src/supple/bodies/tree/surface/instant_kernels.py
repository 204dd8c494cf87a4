"""Frames of all domains of a tree, and how they move, at several instants in one call."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
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
