"""How far interfaces are from rigid: a child's frame is fitted to its parent's interface, whose points also move apart.

d = max_k |s (X_k + (U q)_k) - s (x + T y_k)|,   y_k: the point in the child's axes at rest      [BZ11, figure 3]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import DomainPoints, make_chain
from supple.bodies.tree.surface.kinematics_kernels import Chain

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Deviation:
    """points: those of all interfaces that carry a child, on the parents; child (p,); rest (p, 3) [m]: y_k, scaled.

    chain: the whole tree.
    """

    model: TreeModel
    points: DomainPoints
    child: Array
    rest: Array
    chain: Chain

    @classmethod
    def of(cls, model: TreeModel) -> Deviation:
        """Of the interfaces of a model."""
        child, X, U, rest = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))], [], [np.zeros((0, 3))]
        for k in 1 + np.argsort(model.parent[1:], kind="stable"):
            parent, number = model.parent[k], model.parent_interface[k]
            kind = model.classes[model.domain_class[parent]]
            interface = model.domain_tree.kinds[kind.name].interfaces[kind.interfaces[number]]
            nodes = np.asarray(interface.nodes)
            at = kind.nodes[nodes]
            child.append(np.full(len(nodes), k))
            X.append(at)
            U += list(kind.U.reshape(len(kind.nodes), 3, kind.count)[nodes])
            turned = (at - kind.fits[number].x_hat) @ rotations.to_matrix(interface.rotation)
            rest.append(model.scale[parent] * turned)
        children, none = np.concatenate(child), np.zeros(model.domain_count + 1, dtype=np.int64)
        points = DomainPoints.on(model, model.parent[children], np.concatenate(X), U)
        chain = make_chain(model, none[:-1], none, np.zeros((0, 3)), [])
        return cls(model, points, children, np.concatenate(rest), chain)

    def largest(self, x: Array) -> float:
        """The largest distance [m] at coordinates x (1, width); 0 for a single domain."""
        if not len(self.child):
            return 0.0
        frames = self.model.frame_cache.at(x, self.chain)
        turned = np.matmul(frames.T.reshape(-1, 3, 3)[self.child], self.rest[:, :, None])[:, :, 0]
        apart = self.points.local(x) - frames.arm[self.child] - turned
        return float(np.sqrt(np.einsum("pi,pi->p", apart, apart).max()))
