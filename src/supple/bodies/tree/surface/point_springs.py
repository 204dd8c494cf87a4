"""`PointSprings`: forces on points of a tree that change with their place, solved within its steps.

    f(x, x') = f0 - K (x - x0) - B (x' - v0)

K and B are symmetric and not negative. A step treats them implicitly, see `point_kernels`: it stays stable however
stiff they are, at a cost that grows with the number of points alone. For stiff pulls.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.kinematics import TreeMotion
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.step.frame_kernels import aligned_zeros
from supple.bodies.tree.surface.point_arrays import CHAIN, LAW, HeldPoints
from supple.bodies.tree.surface.skin import TreeSkin
from supple.errors import InputError

if TYPE_CHECKING:
    from supple.bodies.tree.dynamics import TreeDynamics

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PointSprings:
    """Points of a model with their springs. domain (p,); X (p, 3) [m] at the kind's scale; modes: U (3, r) of each.

    place x0 [m], velocity v0 [m/s], force f0 [N]: (3,) or (p, 3), in world axes. stiffness K [N/m], damping B [N s/m]:
    a number, (p,), (3, 3) or (p, 3, 3).
    """

    domain: Array
    X: Array
    modes: tuple[Array, ...]
    place: ArrayLike
    stiffness: ArrayLike
    damping: ArrayLike = field(default=0.0, kw_only=True)
    force: ArrayLike = field(default=(0.0, 0.0, 0.0), kw_only=True)
    velocity: ArrayLike = field(default=(0.0, 0.0, 0.0), kw_only=True)

    @classmethod
    def on(
        cls,
        skin: TreeSkin,
        points: ArrayLike,
        place: ArrayLike,
        stiffness: ArrayLike,
        *,
        damping: ArrayLike = 0.0,
        force: ArrayLike = (0.0, 0.0, 0.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
    ) -> PointSprings:
        """Springs on points of a surface, by number.

        >>> from supple.bodies.tree import TreeModel
        >>> from supple.validation.tree.coupling import beam_domain_tree
        >>> skin = TreeSkin.of(TreeModel.of(beam_domain_tree(2, 6)))
        >>> PointSprings.on(skin, [3], place=skin.rest[3], stiffness=1e4).count
        1
        """
        numbers = np.atleast_1d(np.asarray(points, dtype=np.int64))
        if not len(numbers) or numbers.min() < 0 or numbers.max() >= skin.count:
            raise InputError("a point's number is out of range", where="PointSprings", allowed=f"0..{skin.count - 1}")
        domain, row = skin.domain[numbers], skin.row[numbers]
        kinds = [skin.classes[k] for k in skin.model.domain_class[domain]]
        X = np.array([kind.X[k] for kind, k in zip(kinds, row)])
        modes = tuple(np.ascontiguousarray(kind.U[k]) for kind, k in zip(kinds, row))
        return cls(domain, X, modes, place, stiffness, damping=damping, force=force, velocity=velocity)

    def __post_init__(self) -> None:
        count = len(self.domain)
        for name in ("place", "force", "velocity"):
            values = np.asarray(getattr(self, name), dtype=float)
            if values.shape not in ((3,), (count, 3)) or not np.isfinite(values).all():
                raise InputError(f"the {name} is not (3,) or (p, 3) numbers", where="PointSprings", value=values.shape)
            object.__setattr__(self, name, np.ascontiguousarray(np.broadcast_to(values, (count, 3))))
        for name in ("stiffness", "damping"):
            object.__setattr__(self, name, _matrices(getattr(self, name), count, name))

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.domain)

    def positions(self, model: TreeModel, motion: TreeMotion) -> Array:
        """World positions of the points (p, 3) [m] for the frames of a motion."""
        out = np.empty((self.count, 3))
        for k, (d, U) in enumerate(zip(self.domain, self.modes)):
            y = model.scale[d] * (self.X[k] + U @ motion.q[model.q_starts[d] : model.q_starts[d + 1]])
            out[k] = motion.o[d] + motion.R[d] @ y
        return out

    def energy(self, model: TreeModel, motion: TreeMotion) -> float:
        """Energy of the springs and of the constant forces [J]."""
        x = self.positions(model, motion)
        d, K = x - np.asarray(self.place), np.asarray(self.stiffness)
        return float(0.5 * np.einsum("pi,pij,pj->", d, K, d) - np.sum(np.asarray(self.force) * x))

    def pack(self, tree: TreeDynamics) -> HeldPoints:
        """What the kernels see, for the layout of a tree."""
        model, arrays = tree.model, tree.arrays
        if self.domain.min() < 0 or self.domain.max() >= model.domain_count:
            raise InputError("a spring is on a domain that the tree has not", value=int(self.domain.max()))
        r = model.mode_counts[self.domain]
        if any(U.shape != (3, n) for U, n in zip(self.modes, r)):
            raise InputError("the springs are not of this tree: their modes do not fit", where="PointSprings")
        order = np.argsort(tree.lanes[self.domain], kind="stable")
        place = tree.lanes[self.domain][order]
        r = arrays.class_r[arrays.group_class[place // LANES]]  # that of the group, which may be wider
        groups = len(arrays.group_class)
        start = np.searchsorted(place // LANES, np.arange(groups + 1))
        bare = (np.diff(start) > 0) & (arrays.group_interfaces == 0)
        sizes = np.where(bare, LANES * arrays.class_r[arrays.group_class] ** 2, 0)
        ends = np.concatenate([[0], np.cumsum(3 * r)]).astype(np.int64)
        ends_J = np.concatenate([[0], np.cumsum(3 * (6 + r))]).astype(np.int64)
        mass_start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        flat = [np.asarray(getattr(self, n)).reshape(self.count, -1)[order] for n in ("force", "place", "velocity")]
        flat += [np.asarray(getattr(self, n)).reshape(self.count, 9)[order] for n in ("stiffness", "damping")]
        law = np.ascontiguousarray(np.hstack(flat))
        assert law.shape[1] == LAW
        return HeldPoints(
            start=start.astype(np.int64),
            place=place,
            X=np.ascontiguousarray(self.X[order]),
            U=np.concatenate([np.zeros(0), *(_widened(self.modes[k], n).ravel() for k, n in zip(order, r))]),
            first=ends[:-1].copy(),
            law=law,
            J=np.zeros(ends_J[-1]),
            KJ=np.zeros(ends_J[-1]),
            force=np.zeros(6 * self.count),
            first_J=ends_J[:-1].copy(),
            mass=aligned_zeros(int(mass_start[-1])),
            mass_start=mass_start,
            slot=np.zeros(CHAIN * int(arrays.group_slot[-1])),
            factors=np.zeros(2),
        )


def _widened(U: Array, r: int) -> Array:
    """(3, r), filled up with zeros."""
    out = np.zeros((3, r))
    out[:, : U.shape[1]] = U
    return out


def _matrices(given: ArrayLike, count: int, name: str) -> Array:
    array = np.asarray(given, dtype=float)
    if array.shape in ((), (count,)):
        array = np.broadcast_to(array, (count,))[:, None, None] * np.eye(3)
    if array.shape not in ((3, 3), (count, 3, 3)) or not np.isfinite(array).all():
        raise InputError(
            f"the {name} is not a number, (3, 3), or one of these a point", where="PointSprings", value=array.shape
        )
    out = np.ascontiguousarray(np.broadcast_to(array, (count, 3, 3)))
    size = np.abs(out).max(initial=0.0)
    if not np.allclose(out, out.transpose(0, 2, 1), rtol=0, atol=1e-12 * size):
        raise InputError(f"the {name} is not symmetric", where="PointSprings")
    if count and np.linalg.eigvalsh(out).min() < -1e-9 * size:
        raise InputError(f"the {name} is negative in some direction", where="PointSprings", allowed=">= 0")
    return out
