"""Frames of a tree's domains where they were asked for last: wind, contacts and pulls all look at one instant."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.surface import kinematics_kernels as kernels

Array = np.ndarray


class FrameCache:
    """The frames of one tree at the last two coordinates they were asked for: the start of a step and its end."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[Array, kernels.Frames], ...] = ()

    def at(self, x: Array, chain: kernels.Chain) -> kernels.Frames:
        """At coordinates x (1, width), of the first domains, at least those of the chain; not to be written to."""
        for known, frames in self._kept:
            if len(frames.o) >= len(chain.parent) and (known == x).all():
                return frames
        out = kernels.Frames.empty(len(chain.parent))
        kernels.compute_frames(chain, x[0, 7 : 7 + chain.start[-1]].copy(), x[0, :7].copy(), out)
        self._kept = ((x.copy(), out), *self._kept[:1])
        return out
