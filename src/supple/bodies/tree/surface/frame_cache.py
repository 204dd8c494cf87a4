"""Frames of a tree's domains where they were asked for last: wind, contacts and pulls all look at one instant."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree.surface import kinematics_kernels as kernels

Array = np.ndarray


class FrameCache:
    """The frames of one tree at the coordinates they were last asked for."""

    def __init__(self) -> None:
        self._last: tuple[Array, kernels.Frames] | None = None

    def at(self, x: Array, chain: kernels.Chain) -> kernels.Frames:
        """At coordinates x (1, width), of the first domains, at least those of the chain; not to be written to."""
        last = self._last
        if last is None or len(last[1].o) < len(chain.parent) or not np.array_equal(last[0], x):
            out = kernels.Frames.empty(len(chain.parent), chain.a_hat.shape[2])
            kernels.compute_frames(chain, x[0, 7 : 7 + chain.start[-1]].copy(), x[0, :7].copy(), out)
            self._last = last = (x.copy(), out)
        return last[1]
