"""Sails: a few flat triangles that stand for the surface of each domain, for drag at a cost that no mesh size changes.

    N = sum_t A_t n_t,   c = sum_t A_t c_t / sum_t A_t,   u(p) = sum_i w_i(p) u_i,   w_i = a_i / a + (p - c)^T G^+ a_i d_i

The triangles of a class are gathered into patches that are nearly flat. A patch becomes one triangle with its area vector N
and its centroid c. Its corners p follow the affine fit of the patch's own points (a_i: their areas, d_i = x_i - c, G the
moment sum_i a_i d_i d_i^T), so what is pushed there is work on the coordinates. A closed surface stays closed: the N sum to
zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.bodies.substructure import sail_kernels as kernels
from supple.bodies.substructure.blueprint import DomainKind
from supple.bodies.substructure.coordinates import TreeCoordinates
from supple.bodies.substructure.model import SubstructureModel
from supple.bodies.substructure.skin import ClassPoints, class_points

Array = np.ndarray
FLAT = 0.9
"""Patches are made smaller until their area vectors have this part of the area."""
MOST_PATCHES = 64
ROUNDS = 20
CORNERS = np.array([0.0, 2.0, 4.0]) * np.pi / 3


@dataclass(frozen=True, eq=False)
class Sails:
    """Points on the domains of a tree as a mapping from its coordinates; triangles (t, 3) of them, outward."""

    chain: kernels.Chain
    triangles: Array

    @classmethod
    def of(cls, model: SubstructureModel) -> Sails:
        """The sails of a model."""
        kinds = model.blueprint.kinds
        made = [class_sails(kinds[c.name], c.U, conforms=len(model.blueprint.welds) > 0) for c in model.classes]
        sizes = np.array([len(X) for X, _ in made])
        rows = np.concatenate([[0], np.cumsum(sizes)])
        places = np.concatenate([[0], np.cumsum(sizes[model.domain_class])])
        most = max(1, *(c.count for c in model.classes))
        ports = [(c, fit) for c in model.classes for fit in c.fits]
        first_port = np.concatenate([[0], np.cumsum([len(c.fits) for c in model.classes])])
        above = model.domain_class[np.maximum(model.parent, 0)]
        A_modes = np.zeros((max(len(ports), 1), most, 9))
        for k, (c, fit) in enumerate(ports):
            A_modes[k, : c.count] = fit.A_modes.reshape(c.count, 9)
        x_hat = np.array([fit.x_hat for _, fit in ports]).reshape(-1, 3)
        A = np.array([fit.A_rest.ravel() for _, fit in ports]).reshape(-1, 9)
        chain = kernels.Chain(
            model.parent.astype(np.int64),
            np.where(model.parent >= 0, first_port[above] + model.parent_port, -1).astype(np.int64),
            model.q_starts.astype(np.int64),
            model.scale.astype(float),
            rows[model.domain_class].astype(np.int64),
            places.astype(np.int64),
            x_hat,
            _padded([fit.a_hat for _, fit in ports], most),
            A,
            A_modes,
            np.concatenate([X for X, _ in made]),
            _padded([row for _, U in made for row in U], most),
        )
        return cls(chain, np.arange(int(places[-1])).reshape(-1, 3))

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.chain.places[-1])

    @property
    def modes(self) -> int:
        """Coordinates of the tree."""
        return int(self.chain.start[-1])

    def frames(self, x: Array) -> kernels.Frames:
        """Frames of all domains at coordinates x (1, width)."""
        out = kernels.Frames.empty(len(self.chain.parent), self.chain.U.shape[2])
        kernels.compute_frames(self.chain, x[0, 7 : 7 + self.modes].copy(), x[0, :7].copy(), out)
        return out

    def local(self, x: Array) -> Array:
        """Points in their domains' axes, (count, 3) [m]."""
        out = np.empty((self.count, 3))
        kernels.compute_local(self.chain, x[0, 7 : 7 + self.modes].copy(), out)
        return out

    def apply(self, x: Array) -> Array:
        """Positions (count, 3) [m] at coordinates x (1, width)."""
        return self.linearize(x).positions()

    def linearize(self, x: Array) -> SailsTangent:
        """J at coordinates x."""
        return SailsTangent(self, x.copy())


@dataclass(frozen=True, eq=False)
class SailsTangent:
    """J of sails at coordinates x. Its geometric stiffness is left out."""

    mapping: Sails
    x: Array

    @cached_property
    def _frames(self) -> kernels.Frames:
        return self.mapping.frames(self.x)

    @cached_property
    def _local(self) -> Array:
        return self.mapping.local(self.x)

    def positions(self) -> Array:
        """Where the points are, (count, 3) [m]."""
        out = np.empty((self.mapping.count, 3))
        kernels.compute_positions(self.mapping.chain, self._frames, self._local, out)
        return out

    def product(self, v: Array) -> Array:
        """Velocities (count, 3) [m/s] of rates v (1, width)."""
        m, rates = self.mapping, v[0, 6 : 6 + self.mapping.modes].copy()
        u, w = np.empty((2, len(m.chain.parent), 3))
        kernels.compute_rates(m.chain, self._frames, rates, v[0, :6].copy(), u, w)
        out = np.empty((m.count, 3))
        kernels.compute_velocities(m.chain, self._frames, self._local, rates, u, w, out)
        return out

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out (1, width) += J^T f."""
        m = self.mapping
        Q, wrench = np.zeros(m.modes), np.zeros((len(m.chain.parent), 6))
        kernels.add_pulled(m.chain, self._frames, self._local, np.ascontiguousarray(f, dtype=float), Q, wrench)
        f_out[0, :3] += self._frames.R[0].reshape(3, 3) @ wrench[0, 3:]
        f_out[0, 3:6] += wrench[0, :3]
        f_out[0, 6 : 6 + m.modes] += Q

    def bias(self, v: Array) -> Array:
        """(dJ/dt) v (count, 3) [m/s²], by central differences along v."""
        coordinates, step = TreeCoordinates(self.mapping.modes), 1e-5
        ahead = self.mapping.linearize(coordinates.retract(self.x, step * v)).product(v)
        behind = self.mapping.linearize(coordinates.retract(self.x, -step * v)).product(v)
        return (ahead - behind) / (2 * step)

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """Nothing: the change of J is left out."""


def _padded(parts: list[Array], most: int) -> Array:
    """Rows (3, r) of several widths as (n, 3, most)."""
    out = np.zeros((len(parts), 3, most))
    for k, part in enumerate(parts):
        out[k, :, : part.shape[1]] = part
    return out


def class_sails(kind: DomainKind, U: Array, *, conforms: bool) -> tuple[Array, Array]:
    """Corners X (3 t, 3) [m] of a kind's sails and their basis (3 t, 3, r). conforms: ports are faces of a cut."""
    seen = class_points(kind, U)
    triangles = seen.triangles[~_cut_faces(kind, seen, conforms)]
    patch = patches(seen.X[triangles])
    X, modes = [], []
    for number in range(patch.max(initial=-1) + 1):
        corners, weights, points = _flattened(seen.X, triangles[patch == number])
        X.append(corners)
        modes.append(np.einsum("kp,pil->kil", weights, seen.U[points]))
    return np.concatenate(X), np.concatenate(modes)


def _cut_faces(kind: DomainKind, seen: ClassPoints, conforms: bool) -> Array:
    """Which triangles lie where the kind hangs on its parent or, in a body that was cut, where children hang on it."""
    faces = [kind.held, *(port.nodes for port in kind.ports.values() if conforms)]
    nodes = seen.node[seen.triangles]
    return np.any([np.isin(nodes, face).all(axis=1) for face in faces], axis=0) & (nodes >= 0).all(axis=1)


def patches(corners: Array) -> Array:
    """Number of the patch of each triangle (t, 3, 3): as few patches as are flat, by Lloyd's iteration."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    area = np.linalg.norm(normal, axis=1)
    centre = corners.mean(axis=1)
    size = float(np.linalg.norm(np.ptp(centre, axis=0))) or 1.0
    feature = np.hstack([normal / np.maximum(area, 1e-300)[:, None], centre / size])
    count, patch = 2, np.zeros(len(corners), dtype=np.int64)
    while True:
        patch = _lloyd(feature, area, min(count, len(corners)))
        sums = np.stack([np.bincount(patch, normal[:, i], minlength=patch.max() + 1) for i in range(3)])
        if np.linalg.norm(sums, axis=0).sum() >= FLAT * area.sum() or count >= min(MOST_PATCHES, len(corners)):
            return patch
        count *= 2


def _lloyd(feature: Array, weight: Array, count: int) -> Array:
    """Groups of features (n, k) about `count` means, started from points far from each other."""
    means = feature[[int(np.argmax(weight))]]
    apart = ((feature - means[0]) ** 2).sum(axis=1)
    while len(means) < count:
        means = np.vstack([means, feature[int(np.argmax(apart))]])
        apart = np.minimum(apart, ((feature - means[-1]) ** 2).sum(axis=1))
    group = np.zeros(len(feature), dtype=np.int64)
    for _ in range(ROUNDS):
        distance = (feature**2).sum(axis=1)[:, None] - 2 * feature @ means.T + (means**2).sum(axis=1)
        group = np.argmin(distance, axis=1)
        total = np.bincount(group, weight, minlength=len(means))
        sums = np.stack([np.bincount(group, weight * f, minlength=len(means)) for f in feature.T], axis=1)
        means = np.where(total[:, None] > 0, sums / np.maximum(total, 1e-300)[:, None], means)
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _flattened(X: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Corners (3, 3) [m] of the triangle that stands for some, weights (3, p), and numbers (p,) of the points."""
    corners = X[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    areas, N = np.linalg.norm(normals, axis=1), normals.sum(axis=0)
    points, places = np.unique(triangles, return_inverse=True)
    a = np.bincount(places.ravel(), np.repeat(areas / 3, 3))
    centre = a @ X[points] / a.sum()
    d = X[points] - centre
    G = np.linalg.pinv((a[:, None] * d).T @ d, rcond=1e-6, hermitian=True)
    area = float(np.linalg.norm(N))
    across = np.linalg.svd(N[None])[2][1:]  # two directions in the plane; the third completes a right-handed frame
    if area > 0 and np.linalg.det(np.vstack([across, N / area])) < 0:
        across = across[::-1]
    radius = np.sqrt(area / (0.75 * np.sqrt(3)))  # of the corners of an equilateral triangle
    out = centre + radius * (np.cos(CORNERS)[:, None] * across[0] + np.sin(CORNERS)[:, None] * across[1])
    weights = a / a.sum() + (out - centre) @ G @ (a[:, None] * d).T
    return out, weights, points
