"""Which tets of many copies of a mesh are inside out."""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray


@compiled
def mark_tets(x: Array, tets: Array, sign: Array, out: Array) -> None:
    """out (copies, m) = whether sign (m,) times the volume of tets (m, 4) is not positive at x (copies, n, 3) [m]."""
    for c in range(len(x)):
        for e in range(len(tets)):
            o, i, j, k = tets[e, 0], tets[e, 1], tets[e, 2], tets[e, 3]
            a0, a1, a2 = x[c, i, 0] - x[c, o, 0], x[c, i, 1] - x[c, o, 1], x[c, i, 2] - x[c, o, 2]
            b0, b1, b2 = x[c, j, 0] - x[c, o, 0], x[c, j, 1] - x[c, o, 1], x[c, j, 2] - x[c, o, 2]
            c0, c1, c2 = x[c, k, 0] - x[c, o, 0], x[c, k, 1] - x[c, o, 1], x[c, k, 2] - x[c, o, 2]
            volume = a0 * (b1 * c2 - b2 * c1) + a1 * (b2 * c0 - b0 * c2) + a2 * (b0 * c1 - b1 * c0)
            out[c, e] = sign[e] * volume <= 0
