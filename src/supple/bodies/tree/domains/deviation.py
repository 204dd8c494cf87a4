"""How far interfaces are from rigid: a child's frame is fitted to its parent's interface, whose points also move apart.

d = max_k |s (X_k + (U q)_k) - s (x + T y_k)|,   y_k: the point in the child's axes at rest      [BZ11, figure 3]
"""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.kinematics import TreeKinematics

Array = np.ndarray


def largest_deviation(kinematics: TreeKinematics, x: Array) -> float:
    """The largest distance [m] at coordinates x (1, width); 0 for a single domain."""
    model = kinematics.model
    n, largest = model.coordinate_count, 0.0
    motion = kinematics.motion(x[0, 7 : 7 + n], np.zeros(n), x[0, :7], np.zeros(6))
    for join in kinematics.joinings:
        kind, face = model.classes[join.number], motion.interfaces[join.number, join.interface]
        interface = model.domain_tree.kinds[kind.name].interfaces[kind.interfaces[join.interface]]
        nodes, q = interface.nodes, motion.q[model.coordinates_of(join.number)[join.rows]]
        at = kind.nodes[nodes] + np.einsum("kil,nl->nki", kind.U.reshape(len(kind.nodes), 3, kind.count)[nodes], q)
        rest = (kind.nodes[nodes] - kind.fits[join.interface].x_hat) @ rotations.to_matrix(interface.rotation)
        rigid = face.x[join.rows][:, None] + np.einsum("nij,kj->nki", face.R[join.rows], rest)
        apart = np.linalg.norm(at - rigid, axis=2).max(axis=1) * model.scale[join.parents]
        largest = max(largest, float(apart.max()))
    return largest
