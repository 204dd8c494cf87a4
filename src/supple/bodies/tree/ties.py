"""Ties between frames on domains: welds that close loops, balls and hinges between domains, trees and the world.

    ball      phi = p_b - p_a                          three rows, world axes [m]
    hinge     ball, and (n_a x n_b) . (e_1, e_2)       e perpendicular to the axis n, fixed in a
    weld      ball, and the rotation vector of R_b (R_a Q)^T, with Q as at the start

An anchor is a frame on a domain: its own, one fitted to an interface or to nodes, or one in the world. Its velocities
are linear in the domain's (w, v) and q', and so a row of G = dphi/d(positions) has, for each side, six numbers that
act on the acceleration (alpha, a) of the domain's frame and r that act on q":

    along e:   (y x e, e),  s ah^T e + Gamma^T (d x e)       y: the point in the domain's frame, d: from the fit's
    about e:   (e, 0),      Gamma^T e                        origin, e: in the domain's axes
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import as_quaternion, check_vector
from supple.algebra.dense.rotations import cross
from supple.bodies.tree.changes import interface_fit
from supple.bodies.tree.detach import domain_number
from supple.bodies.tree.model import TreeModel
from supple.errors import InputError
from supple.modal import Interface, InterfaceFit
from supple.modal.interfaces.interface_kernels import interface_motion

Array = np.ndarray
TieKind = Literal["ball", "hinge", "weld"]
ROWS = {"ball": 3, "hinge": 5, "weld": 6}


@dataclass(frozen=True, eq=False)
class Anchor:
    """A frame on a domain, by number or name, of a tree, by number or, in a scene, by name.

    interface: the frame fitted to an interface of the domain's kind. nodes: fitted to these nodes of its mesh; fewer
    than three give a point that turns with the domain's frame. Neither: the domain's own frame.
    """

    domain: int | str = 0
    interface: str | None = field(default=None, kw_only=True)
    nodes: ArrayLike | None = field(default=None, kw_only=True)
    tree: int | str = field(default=0, kw_only=True)

    def fit(self, model: TreeModel) -> InterfaceFit | None:
        """How the frame follows from the domain's coordinates; None: it is the domain's own."""
        number = domain_number(model, self.domain)
        made, kind = model.classes[model.domain_class[number]], model.domain_tree.kinds
        name = model.domain_tree.domains[number].kind
        if self.interface is not None:
            return interface_fit(made, kind[name], self.interface)
        if self.nodes is None:
            return None
        nodes = np.atleast_1d(np.asarray(self.nodes, dtype=np.int64))
        if not nodes.size or nodes.min() < 0 or nodes.max() >= len(made.nodes):
            raise InputError("a node is out of range", where=f"anchor on '{name}'", allowed=f"0..{len(made.nodes) - 1}")
        if len(nodes) >= 3:
            return Interface(made.nodes, nodes).fit(made.U)
        U = made.U.reshape(len(made.nodes), 3, made.count)[nodes].mean(axis=0)
        return InterfaceFit(made.nodes[nodes].mean(axis=0), U, np.eye(3), np.zeros((made.count, 3, 3)))


@dataclass(frozen=True, eq=False)
class WorldAnchor:
    """A frame that does not move: at [m], rotation (quaternion or rotation vector)."""

    at: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class Tie:
    """Holds two frames together: "ball", "hinge" or "weld". They keep the places they have at the start.

    at: world position at the start of the point that both share [m]; None: where b is. axis: of a hinge, in world axes
    at the start. compliance: of the rows along [m/N] and about [rad/(N m)] axes, or one for both; 0: exact. With a
    compliance a tie is a spring of stiffness 1 / compliance; relaxation [s]: its damping over its stiffness.

    >>> hinge = Tie("hinge", Anchor("arm", tree="robot"), WorldAnchor((0, 0, 1)), axis=(0, 1, 0))
    """

    kind: TieKind
    a: Anchor | WorldAnchor
    b: Anchor | WorldAnchor
    at: ArrayLike | None = field(default=None, kw_only=True)
    axis: ArrayLike | None = field(default=None, kw_only=True)
    compliance: ArrayLike = field(default=0.0, kw_only=True)
    relaxation: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in ROWS:
            raise InputError("unknown tie", where="Tie", value=self.kind, allowed=", ".join(ROWS))
        if (self.axis is not None) != (self.kind == "hinge"):
            raise InputError("a hinge has an axis, other ties have none", where=f"tie '{self.kind}'", value=self.axis)
        if self.axis is not None and not np.linalg.norm(check_vector(self.axis, name="axis", where="Tie")) > 0:
            raise InputError("the axis of a hinge has no direction", where="Tie", value=self.axis)
        c = np.asarray(self.compliance, dtype=float)
        if c.shape not in ((), (2,)) or not np.isfinite(c).all() or (c < 0).any() or not self.relaxation >= 0:
            raise InputError("compliance and relaxation are not numbers >= 0", where="Tie", value=c)
        if isinstance(self.a, WorldAnchor) and isinstance(self.b, WorldAnchor):
            raise InputError("both sides of a tie are in the world", where="Tie")

    @property
    def row_compliance(self) -> Array:
        """Compliance of each row, (rows,)."""
        along, about = np.broadcast_to(np.asarray(self.compliance, dtype=float), 2)
        return np.concatenate([np.full(3, along), np.full(ROWS[self.kind] - 3, about)])


class DomainMotion(NamedTuple):
    """Of a domain, at one instant: origin o (3,), rotation R (3, 3), velocity u and spin w (3,) in own axes; q, v."""

    o: Array
    R: Array
    u: Array
    w: Array
    q: Array
    v: Array


class AnchorMotion(NamedTuple):
    """Of an anchored point and frame. x, v, w, bias, turn_bias (3,) in world axes; R (3, 3); J (6, 6 + r).

    J: rows along and about the world's axes, on (alpha, a, q"). The biases are what velocities give to accelerations.
    """

    x: Array
    R: Array
    v: Array
    w: Array
    bias: Array
    turn_bias: Array
    J: Array


@dataclass(frozen=True, eq=False)
class Side:
    """An anchor bound to a tree: tree -1 is the world. place: of the shared point in the anchor's frame (3,) [m]."""

    tree: int
    domain: int
    scale: float
    fit: InterfaceFit | None
    place: Array
    fixed: tuple[Array, Array] | None = None

    def motion(self, at: DomainMotion | None) -> AnchorMotion:
        """Where it is, for the motion of its domain."""
        none = np.zeros(3)
        if self.fixed is not None or at is None:
            assert self.fixed is not None
            x, R = self.fixed
            return AnchorMotion(x + R @ self.place, R, none, none, none, none, np.zeros((6, 6)))
        r, w = len(at.q), at.w
        if self.fit is None:
            d, R, x, flow, turn, turn0 = self.place, np.eye(3), none, none, none, none
            Gamma, ahead = np.zeros((3, r)), np.zeros((3, r))
        else:
            found = interface_motion(self.fit, at.q[None], at.v[None])
            R, x, flow = found.R[0], self.scale * found.x[0], self.scale * found.v[0]
            turn, turn0, Gamma, ahead = found.omega[0], found.alpha0[0], found.Gamma[0], self.scale * self.fit.a_hat
            d = R @ self.place
        y, spin = x + d, w + turn
        spin_bias = turn0 + cross(w, turn)
        pulled = cross(w, cross(w, x) + 2 * flow) + cross(spin_bias, d) + cross(spin, cross(spin, d))
        J = np.zeros((6, 6 + r))
        J[:3, :3], J[:3, 3:6], J[:3, 6:] = -rotations.skew(y), np.eye(3), ahead - rotations.skew(d) @ Gamma
        J[3:, :3], J[3:, 6:] = np.eye(3), Gamma
        Q = at.R
        J = np.concatenate([Q @ J[:3], Q @ J[3:]])
        v = Q @ (at.u + cross(w, x) + flow + cross(spin, d))
        return AnchorMotion(at.o + Q @ y, Q @ R, v, Q @ spin, Q @ pulled, Q @ spin_bias, J)


class TieRows(NamedTuple):
    """phi, rate, bias (rows,); directions (rows, 6): how the rows see b's motion less a's, along and about axes."""

    phi: Array
    rate: Array
    bias: Array
    directions: Array


@dataclass(frozen=True, eq=False)
class BoundTie:
    """A tie with its sides found. turned: R_a^T R_b at the start; axes (3, 3): rows n, e_1, e_2 in a; n_b in b."""

    tie: Tie
    sides: tuple[Side, Side]
    turned: Array
    axes: Array
    axis_b: Array

    def rows(self, a: AnchorMotion, b: AnchorMotion) -> TieRows:
        """The conditions at the motion of both sides."""
        gap, slip = b.x - a.x, b.v - a.v
        spin, D = b.w - a.w, np.zeros((ROWS[self.tie.kind], 6))
        D[:3, :3] = np.eye(3)
        phi, rate, bias = gap, slip, b.bias - a.bias
        turn_bias = b.turn_bias - a.turn_bias
        if self.tie.kind == "weld":
            error = rotations.log(rotations.from_matrix(b.R @ (a.R @ self.turned).T))
            D[3:, 3:] = np.eye(3)
            phi, rate, bias = (np.concatenate(pair) for pair in ((phi, error), (rate, spin), (bias, turn_bias)))
        elif self.tie.kind == "hinge":
            n, across = a.R @ self.axes[0], self.axes[1:] @ a.R.T
            error = across @ cross(n, b.R @ self.axis_b)
            D[3:, 3:] = across
            more = across @ turn_bias + cross(a.w, across) @ spin
            phi, rate, bias = (np.concatenate(p) for p in ((phi, error), (rate, across @ spin), (bias, more)))
        return TieRows(phi, rate, bias, D)


def bind(tie: Tie, models: list[TreeModel], motions: list, names: list[str] | None) -> BoundTie:
    """Find the sides of a tie. motions: for each tree, a function of a domain's number that gives its motion."""
    found = [_side(given, models, names) for given in (tie.a, tie.b)]
    at = [side.motion(motions[side.tree](side.domain) if side.tree >= 0 else None) for side in found]
    point = at[1].x if tie.at is None else check_vector(tie.at, name="at", where="Tie")
    placed = [
        Side(s.tree, s.domain, s.scale, s.fit, m.R.T @ (point - m.x), s.fixed) for s, m in zip(found, at)
    ]  # fmt: skip
    n = np.array([1.0, 0, 0]) if tie.axis is None else np.asarray(tie.axis, dtype=float)
    n = n / np.linalg.norm(n)
    e = cross(n, np.eye(3)[np.argmin(np.abs(n))])
    e /= np.linalg.norm(e)
    axes = np.stack([n, e, cross(n, e)]) @ at[0].R
    return BoundTie(tie, (placed[0], placed[1]), at[0].R.T @ at[1].R, axes, at[1].R.T @ n)


def _side(given: Anchor | WorldAnchor, models: list[TreeModel], names: list[str] | None) -> Side:
    if isinstance(given, WorldAnchor):
        x = check_vector(given.at, name="at", where="WorldAnchor")
        R = rotations.to_matrix(as_quaternion(given.rotation, where="WorldAnchor"))
        return Side(-1, -1, 1.0, None, np.zeros(3), (x, R))
    tree = given.tree
    if isinstance(tree, str):
        if names is None or tree not in names:
            raise InputError("no tree of that name", where="Anchor", value=tree, allowed=", ".join(names or []))
        tree = names.index(tree)
    if not 0 <= tree < len(models):
        raise InputError("no tree of that number", where="Anchor", value=tree, allowed=f"0..{len(models) - 1}")
    model = models[tree]
    number = domain_number(model, given.domain)
    return Side(tree, number, float(model.scale[number]), given.fit(model), np.zeros(3))
