"""`TreeSides`: rows on the accelerations of the domains of a tree, as the kernels of its responses take them."""

from __future__ import annotations

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.dynamics import TreeDynamics
from supple.bodies.tree.step.response_kernels import Conditions

Array = np.ndarray


class TreeSides:
    """Makes rows on the accelerations of one tree as the kernels take them."""

    def __init__(self, tree: TreeDynamics) -> None:
        arrays = tree.arrays
        self.tree = tree
        slots = int(arrays.group_slot[-1])
        self.slot_place, self.slot_interface = np.full(slots, -1), np.zeros(slots, dtype=np.int64)
        for g in range(len(arrays.group_class)):
            for k in range(int(arrays.group_interfaces[g])):
                first = int(arrays.group_slot[g]) + k * LANES
                self.slot_place[first : first + LANES] = g * LANES + np.arange(LANES)
                self.slot_interface[first : first + LANES] = k
        self.z, self.p = np.zeros(int(arrays.group_q[-1])), np.zeros(6)

    def rows(self, row: Array, domain: Array, wrench: Array, modes: Array) -> Conditions:
        """Of row, domain (n,), and coefficients wrench (n, 6) of the accelerations of frames, modes (n, most) of q",
        zero beyond the modes of a domain."""
        arrays = self.tree.arrays
        place = self.tree.lanes[domain]
        wide = arrays.class_r[arrays.group_class[place // LANES]]  # of the groups, which may be wider than a domain
        most = int(wide.max(initial=0))
        padded = np.zeros((len(row), most))
        width = min(most, modes.shape[1])
        padded[:, :width] = modes[:, :width]
        return Conditions(
            np.asarray(row, dtype=np.int64),
            place,
            np.ascontiguousarray(wrench),
            padded[np.arange(most) < wide[:, None]],
            (np.cumsum(wide) - wide).astype(np.int64),
            self.slot_place,
            self.slot_interface,
            self.z,
            self.p,
        )
