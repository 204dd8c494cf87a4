"""Wind: drag of a turbulent air on the surfaces of bodies of any kind.

    f = -(rho C / 2) g(u . n) A n,   u = w(x_c, t) - v_c,   g(s) = s² where s < 0 (upwind faces), else 0
    w(x, t) = U + sum_m a_m cos(k_m . (x - U t) + phase_m),   a_m . k_m = 0                       [Kraichnan70]
    E(k) ~ (k l)^4 / (1 + (k l)²)^(17/6),   L = (3 pi / 4) ∫ E/k dk / ∫ E dk                      [VonKarman48]

    rho, C          density of the air [kg/m³]; drag coefficient [-], 1.1 to 1.2 for plates across the flow [Hoerner65]
    A, n, x_c, v_c  area, outward normal, centroid and its velocity of a triangle
    U, sigma, L     mean velocity [m/s]; rms of each component [m/s]; longitudinal integral length [m]

The field is free of divergence and frozen: the mean carries it along [Taylor38]. Waves come in threes of one length,
along three axes at right angles and swinging along the next one, so that the covariance of w is sigma² times the
identity for every seed; their lengths share out the spectrum equally. A face is pushed on its upwind side alone, which
is right for closed surfaces; a sheet without thickness has both sides in one triangle (`two_sided`). The force goes to
the corners in equal shares, so its power is that of the force on the centroid. Wind is not conservative: no energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import cumulative_trapezoid, trapezoid

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.algebra.dense.rotations import skew
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.protocols import LocalState, Pairs
from supple.errors import InputError, check_flag, check_number
from supple.scene.acting.triangle_tangent import TriangleTangent, triangle_pattern
from supple.scene.acting.wind_kernels import Flow, add_drag, compute_flow
from supple.scene.acting.wind_work_kernels import compute_shares, compute_works, compute_works_apart
from supple.scene.mapped.points import JoinedPoints, PointSet, join
from supple.scene.mapped.surface_points import surface_points
from supple.scene.node import Node

Array = np.ndarray
SHORTEST = 100.0
"""Waves end where k l is this; what lies beyond, 7 % of the variance, is given to the others."""


@dataclass(frozen=True, eq=False)
class Wind:
    """Wind on the surfaces of all bodies, of one, or of several.

    nodes: a node of the scene, a list of them, or None: it blows on every body with a surface. velocity: mean U (3,)
    [m/s]; speed [m/s]: instead of it, along x. intensity [-]: sigma over |U|. length
    L [m]: of the gusts. density [kg/m³], drag C [-]. two_sided: for sheets whose triangles have no other side.
    modes: number of waves, a multiple of 3. seed: of their directions and phases.

    >>> import supple as sp
    >>> scene = sp.Scene()
    >>> flag = scene.add(sp.FemBody(sp.box_tets((0.4, 0.01, 0.3), (4, 1, 3)), sp.Material(1e6, 0.3, 500)), fix="x_min")
    >>> wind = scene.add(sp.Wind(flag, velocity=(0, 8, 0)))
    >>> bool((wind.drag_at_rest() @ (0, 1, 0)) > 0)
    True
    >>> everywhere = scene.add(sp.Wind(speed=3))
    """

    nodes: Node | Sequence[Node] | None = None
    velocity: ArrayLike | None = None
    speed: float | None = field(default=None, kw_only=True)
    intensity: float = field(default=0.2, kw_only=True)
    length: float = field(default=2.0, kw_only=True)
    density: float = field(default=1.2, kw_only=True)
    drag: float = field(default=1.2, kw_only=True)
    two_sided: bool = field(default=False, kw_only=True)
    modes: int = field(default=48, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    is_load = True
    has_energy = False

    def __post_init__(self) -> None:
        if (self.velocity is None) == (self.speed is None):
            raise InputError(
                "a wind has a velocity or a speed", where="Wind", fix="Give velocity=(8, 0, 0) or speed=8."
            )
        velocity: ArrayLike = (self.speed or 0.0, 0.0, 0.0) if self.velocity is None else self.velocity
        object.__setattr__(self, "velocity", check_vector(velocity, name="velocity", where="Wind"))
        object.__setattr__(self, "speed", None)
        for name in ("intensity", "density", "drag"):
            check_number(getattr(self, name), name=name, where="Wind", least=0.0)
        check_number(self.length, name="length", where="Wind", above=0.0)
        check_number(self.modes, name="modes", where="Wind", whole=True)
        check_number(self.seed, name="seed", where="Wind", least=0, whole=True)
        check_flag(self.two_sided, name="two_sided", where="Wind")
        if self.modes < 3 or self.modes % 3:
            raise InputError("the waves come in threes", where="Wind", value=self.modes, allowed="3, 6, 9, ...")
        if not self.blows_everywhere:
            _ = self.on

    @property
    def blows_everywhere(self) -> bool:
        """Whether it blows on every body of its scene."""
        return self.nodes is None

    def on_node(self, node: Node) -> Wind:
        """The same wind on one body."""
        return replace(self, nodes=node)

    @cached_property
    def _surfaces(self) -> list[tuple[PointSet, Array]]:
        if self.nodes is None:
            raise InputError("this wind blows on all bodies of a scene", where="Wind", fix="Ask `on_node(node)`.")
        nodes = list(self.nodes) if isinstance(self.nodes, Sequence) else [self.nodes]
        if not nodes:
            raise InputError("the wind blows on nothing", where="Wind", fix="Give a node of the scene.")
        return [surface_points(node) for node in nodes]

    @cached_property
    def on(self) -> PointSet | JoinedPoints:
        """The points of the surfaces."""
        parts = [points for points, _ in self._surfaces]
        return parts[0] if len(parts) == 1 else join(*parts)

    def restricted(self, parts: Sequence[int]) -> Wind:
        """The same wind on some of its nodes, by their numbers."""
        nodes = list(self.nodes) if isinstance(self.nodes, Sequence) else [self.nodes]
        return replace(self, nodes=[node for k in parts if (node := nodes[k]) is not None])

    @cached_property
    def triangles(self) -> Array:
        """Triangles of `on`, outward, (t, 3)."""
        starts = np.concatenate([[0], np.cumsum([points.count for points, _ in self._surfaces])])
        return np.concatenate([t + s for (_, t), s in zip(self._surfaces, starts)]).astype(np.int64)

    @cached_property
    def _is_apart(self) -> bool:
        """Whether no point is a corner of two triangles."""
        return int(np.bincount(self.triangles.ravel(), minlength=1).max()) <= 1

    @cached_property
    def flow(self) -> Flow:
        """The field, as the kernels see it."""
        U = np.asarray(self.velocity, dtype=float)
        sigma = self.intensity * float(np.linalg.norm(U))
        k, a, phase = waves(self.modes // 3, self.length, self.seed)
        return Flow(U, k, sigma * a, phase) if sigma > 0 else Flow(U, k[:0], a[:0], phase[:0])

    def at(self, x: ArrayLike, t: float = 0.0) -> Array:
        """Velocity of the air at points x (n, 3) [m] and time t [s], (n, 3) [m/s]."""
        points = np.ascontiguousarray(np.atleast_2d(np.asarray(x, dtype=float)))
        out = np.empty_like(points)
        compute_flow(self.flow, float(t), points, out)
        return out

    def energy(self, state: LocalState) -> float:
        """None."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += drag."""
        half, back = 0.5 * self.density * self.drag, float(self.two_sided)
        x, v = np.ascontiguousarray(state.x), np.ascontiguousarray(state.v)
        add_drag(self.flow, float(state.t), half, back, self.triangles, x, v, f_out)

    def works(self, state: LocalState, times: Array, ways: Array) -> tuple[Array, Array]:
        """What the drag on points of a state would do at times (n,) [s] along ways (k, p, 3) [m]: on the points alone
        for which that is positive, and on all, (n, k) each [J]."""
        half, back = 0.5 * self.density * self.drag, float(self.two_sided)
        x, v = np.ascontiguousarray(state.x), np.ascontiguousarray(state.v)
        filled = -(-len(self.triangles) // LANES) * LANES
        N, share = np.empty((filled, 3)), np.empty((len(times), filled))
        compute_shares(self.flow, np.asarray(times, dtype=float), half, back, self.triangles, x, v, N, share)
        pushed, whole = np.empty((2, len(times), len(ways)))
        work = compute_works_apart if self._is_apart else compute_works
        work(share, N, self.triangles, np.ascontiguousarray(ways), pushed, whole)
        return pushed, whole

    def drag_at_rest(self) -> Array:
        """Total force (3,) [N] of the mean velocity, without gusts, on the surfaces as they start."""
        f = np.zeros_like(self.on.rest)
        half, back, x = 0.5 * self.density * self.drag, float(self.two_sided), np.ascontiguousarray(self.on.rest)
        add_drag(Flow(self.flow.U, *(a[:0] for a in self.flow[1:])), 0.0, half, back, self.triangles, x, 0 * x, f)
        return np.asarray(f.sum(axis=0))

    def linearize(self, state: LocalState, *, definite: bool = False) -> TriangleTangent:
        """Derivatives of the corner forces; definite: those by velocities alone, which are."""
        x, v = state.x[self.triangles], state.v[self.triangles].mean(axis=1)
        N = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) / 2
        area = np.maximum(np.linalg.norm(N, axis=1), 1e-300)
        n = N / area[:, None]
        centre = x.mean(axis=1)
        u = self.at(centre, state.t) - v
        s = np.einsum("ki,ki->k", u, n)
        part = np.where(s < 0, 1.0, -float(self.two_sided))
        factor = -0.5 * self.density * self.drag / 3
        by_s = (factor * 2 * part * s)[:, None] * N  # of the corner force by u . n
        B = -by_s[:, :, None] * n[:, None, :] / 3
        if definite:
            return TriangleTangent(self.triangles, np.zeros((len(N), 3, 3, 3, 3)), B)
        by_N = (factor * part * s * s)[:, None, None] * np.eye(3)
        by_N = by_N + by_s[:, :, None] * ((u - s[:, None] * n) / area[:, None])[:, None, :]
        moved = by_s[:, :, None] * np.einsum("ki,kij->kj", n, self.gradient(centre, state.t))[:, None, :] / 3
        by_1, by_2 = -skew(x[:, 2] - x[:, 0]) / 2, skew(x[:, 1] - x[:, 0]) / 2
        K = np.stack([by_N @ (-by_1 - by_2), by_N @ by_1, by_N @ by_2], axis=1) + moved[:, None]
        return TriangleTangent(self.triangles, np.broadcast_to(K[:, None], (len(N), 3, 3, 3, 3)), B)

    def gradient(self, x: Array, t: float) -> Array:
        """dw_i/dx_j (n, 3, 3) [1/s]."""
        U, k, a, phase = self.flow
        swing = -np.sin((x - t * U) @ k.T + phase)
        return np.einsum("nm,mi,mj->nij", swing, a, k)

    def block_pattern(self) -> Pairs:
        """Nine blocks a triangle."""
        return triangle_pattern(self.triangles)


@lru_cache(maxsize=8)
def waves(count: int, length: float, seed: int) -> tuple[Array, Array, Array]:
    """Wave vectors [1/m] and amplitudes [-] (3 count, 3), phases (3 count,) [rad], for components of rms 1."""
    rng = np.random.default_rng(seed)
    z = np.geomspace(1e-3, SHORTEST, 4000)
    energy = z**4 / (1 + z * z) ** (17 / 6)
    share = cumulative_trapezoid(energy, z, initial=0.0)
    strata = (np.arange(count) + rng.uniform(size=count)) / count
    ratio = 0.75 * np.pi * trapezoid(energy / z, z) / share[-1]  # L / l; 0.7468 for waves of all lengths
    size = np.interp(strata * share[-1], share, z) * ratio / length
    axes = rotations.to_matrix(rotations.normalise(rng.normal(size=(count, 4))))  # rows: three directions
    k = (size[:, None, None] * axes).reshape(-1, 3)
    a = np.sqrt(2 / count) * np.roll(axes, -1, axis=1).reshape(-1, 3)
    out = k, a, rng.uniform(0, 2 * np.pi, 3 * count)
    for array in out:
        array.setflags(write=False)
    return out
