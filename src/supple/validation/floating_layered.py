"""Layered bodies: equations against the kinetic energy, free flight, and full finite elements around a rigid core.

The kinetic energy is summed over all nodes, with the consistent mass of the core's elements and the lumped one of the
layer's, T = 1/2 sum m_ab x'_a . x'_b, and differenced with a complex step as for floating bodies.

Full finite elements: the layer alone as a St. Venant-Kirchhoff body in world coordinates, each of its inner nodes
joined to a rigid body with the core's mass. The layer with that law in the frame is the same body at any deformation.
With the linear law it is the same in the limit of small ones: displacements e differ by O(e²), the relative error has
slope 1.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.fem import FemBody
from supple.bodies.floating import Stride
from supple.bodies.layered import LayeredBody
from supple.bodies.placement import Placement
from supple.bodies.protocols import LocalState
from supple.bodies.rigid import RigidBody
from supple.elements.mass import element_masses
from supple.geometry import TetMesh, box_tets
from supple.material import Material
from supple.record.measures import measure
from supple.scene import BallJoint, Load, Scene, State, System
from supple.solvers import ImplicitEuler, Midpoint, RungeKutta4
from supple.validation.floating import TINY, skew
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
SIDE, CORE = 0.1, 0.026
"""Edge of the cube and half that of its core, in [m]; the cube is 4 x 4 x 4 cells, the core 2 x 2 x 2."""
SPIN = (1.0, 2.0, 15.0)
RUBBER = Material(young=1e5, poisson=0.35, density=1000.0)
GEL = Material(young=1e4, poisson=0.35, density=1000.0)


def cube(law: str = "linear", material: Material = RUBBER, **more: Any) -> LayeredBody:
    """A soft cube of 0.1 m around a core of 0.05 m and 2000 kg/m³, at rest in the frame."""
    mesh = box_tets(size=(SIDE,) * 3, cells=(4, 4, 4)).moved(at=(-SIDE / 2, 0.0, 0.0))
    return LayeredBody.from_mesh(
        mesh, material, core=lambda X: np.abs(X).max(axis=1) < CORE, core_density=2000.0, law=law, **more
    )  # type: ignore[arg-type]


def stretched(body: LayeredBody, size: float) -> Array:
    """Smooth displacements of the free nodes that vanish at the core, of at most about `size` [m], (3 n,)."""
    X = body.model.X_free / SIDE
    fade = np.maximum(np.abs(X).max(axis=1) - 0.25, 0.0)[:, None] * 4
    return np.asarray(size * fade * np.stack([X[:, 1] + X[:, 0], -2 * X[:, 2] * X[:, 0], X[:, 0] * 2], axis=1)).ravel()


class NodalEnergy:
    """Kinetic energy and momentum by sums over all nodes, for complex coordinates."""

    def __init__(self, body: LayeredBody, x: Array) -> None:
        model = body.model
        elements, count = np.asarray(body.mesh.elements), len(body.mesh.nodes)
        density = np.where(model.core, float(model.core_density or 0.0), model.element_values("density"))
        m = np.zeros((count, count))
        for nodes, own, rigid in zip(elements, element_masses(model.X, elements, density), model.core):
            m[np.ix_(nodes, nodes)] += own if rigid else np.diag(own.sum(axis=1))
        self.m, self.X, self.free = m, model.X, model.free
        self.R, self.q = rotations.to_matrix(x[0, 3:7]), x[0, 7:]

    def jacobian(self, d: Array) -> Array:
        """J (node_count, 3, 6 + 3 n) after a small complex move d of the coordinates."""
        R = self.R @ (np.eye(3) + skew(d[3:6]))
        u = self.X.astype(complex)
        u[self.free] += (self.q + d[6:]).reshape(-1, 3)
        J = np.zeros((len(u), 3, len(d)), dtype=complex)
        J[:, range(3), range(3)] = 1.0
        J[:, :, 3:6] = -R @ np.moveaxis(skew(u.T), 2, 0)
        for k, node in enumerate(self.free):
            J[node, :, 6 + 3 * k : 9 + 3 * k] = R
        return J

    def velocity(self, d: Array, v: Array) -> Array:
        """x' of all nodes, without J."""
        R = self.R @ (np.eye(3) + skew(d[3:6]))
        u, rate = self.X.astype(complex), np.zeros(self.X.shape, dtype=complex)
        u[self.free] += (self.q + d[6:]).reshape(-1, 3)
        rate[self.free] = v[6:].reshape(-1, 3)
        return np.asarray(v[:3] + (np.cross(v[3:6], u) + rate) @ R.T)

    def momentum(self, d: Array, v: Array) -> Array:
        """dT/dv, (6 + 3 n,)."""
        return np.einsum("nik,ni->k", self.jacobian(d), self.m @ self.velocity(d, v))

    def energy(self, d: Array, v: Array) -> complex:
        """T."""
        velocity = self.velocity(d, v)
        return complex(0.5 * np.sum(velocity * (self.m @ velocity)))


def by_differencing(body: LayeredBody, x: Array, v: Array) -> tuple[Array, Array]:
    """M and Q_v from the kinetic energy, as in `floating`; T is quadratic in v, so that M comes from products."""
    T, n = NodalEnergy(body, x), len(v)
    still, steps = np.zeros(n, dtype=complex), 1j * TINY * np.eye(n)
    J = T.jacobian(still).real
    M = np.einsum("nik,nij->kj", J, np.einsum("nm,mij->nij", T.m, J), optimize=True)
    slope = np.array([T.energy(still, v + step).imag for step in steps]) / TINY
    assert np.allclose(M @ v, slope, rtol=1e-10, atol=1e-12 * np.abs(slope).max())  # dT/dv of the same energy
    rate = T.momentum(1j * TINY * v, v).imag / TINY
    place = np.array([T.energy(step, v).imag for step in steps]) / TINY
    turned = np.zeros(n)
    turned[3:6] = np.cross(v[3:6], T.momentum(still, v).real[3:6])
    return M, place - rate - turned


def equations() -> list[Row]:
    """Mass matrix, its inverse and the quadratic velocity vector at a random state with a fast spin."""
    rng = np.random.default_rng(7)
    body = cube(origin=(0.02, -0.01, 0.03))
    x, v = np.zeros((1, body.coordinates.x_width)), 5 * rng.normal(size=(1, body.coordinates.v_width))
    x[0, :3], x[0, 3:7] = rng.normal(size=3), rotations.exp(rng.normal(size=3))
    x[0, 7:] = 0.01 * rng.normal(size=x.shape[1] - 7)
    M, Q = by_differencing(body, x, v[0])
    ours, product, found = np.zeros_like(v), np.zeros_like(v), body.inertia.at(x)
    body.inertia.add_bias(LocalState(0.0, x, v), ours)
    columns = np.zeros_like(M)
    for row, e in zip(columns, np.eye(len(M))):
        found.add_product(e[None], row[None], 1.0)
    product[0] = M @ v[0]
    source, case = "complex step on the kinetic energy of the nodes", "floating/layered-equations"
    pairs = (
        ("mass matrix", columns, M),
        ("solution with the mass matrix", found.solve(product), v),
        ("quadratic velocity vector", ours[0], Q),
    )
    return [
        bounded(case, what, float(np.abs(a - b).max() / np.abs(b).max()), 1e-9, source=source) for what, a, b in pairs
    ]


def flying(body: LayeredBody) -> tuple[System, State]:
    """The body alone in space, turning."""
    scene = Scene()
    scene.add(body, velocity=(0.3, -0.2, 0.5), spin=SPIN, name="cube")
    system = scene.compile()
    return system, system.initial_state()


def flight() -> list[Row]:
    """Runge-Kutta at 0.1 ms over 0.1 s; orders of the implicit rules; momentum and energy of the body's own stride."""
    body = cube(material=GEL)
    body = LayeredBody(body.model, q=stretched(body, 5e-4))
    system, start = flying(body)
    before, case = measure(system, start), "floating/layered-flight"
    state, exact = start.copy(), RungeKutta4(1e-4)
    worst = np.zeros(2)
    for step in range(1000):
        exact.step(system, state)
        if step % 100 == 99:
            now = measure(system, state)
            turn = np.abs(now.momentum - before.momentum).max() / np.abs(before.momentum).max()
            worst = np.maximum(worst, [abs(now.total / before.total - 1), turn])
    source = "conservation of energy and momentum"
    rows = [
        bounded(case, "Runge-Kutta, 0.1 ms, 0.1 s: energy", worst[0], 1e-8, source=source),
        bounded(case, "Runge-Kutta, 0.1 ms, 0.1 s: momentum", worst[1], 1e-8, source=source),
    ]
    until = 0.01
    reference = start.copy()
    fine = RungeKutta4(2.5e-5)
    for _ in range(round(until / fine.dt)):
        fine.step(system, reference)

    def error(state: State) -> float:
        return float(np.linalg.norm(state.x - reference.x))

    errors = []
    for dt in (1e-4, 5e-5):
        state, euler = start.copy(), ImplicitEuler(dt, linear="direct")
        for _ in range(round(until / dt)):
            euler.step(system, state)
        errors.append(error(state))
    order = float(np.log2(errors[0] / errors[1]))
    rows.append(compare(case, "implicit Euler: order", order, 1.0, 0.1, unit="-", source="declared order"))
    errors = []
    for dt in (2e-4, 1e-4):
        state = start.copy()
        body.advance(state.x[None], state.v[None], dt, steps=round(until / dt), stride=Stride(tolerance=1e-11))
        errors.append(error(state))
    order = float(np.log2(errors[0] / errors[1]))
    rows.append(compare(case, "own stride: order", order, 2.0, 0.05, unit="-", source="declared order"))
    drift, size = [], float(np.abs(before.momentum).max())
    for dt in (1e-3, 5e-4):
        state, largest, apart = start.copy(), 0.0, 0.0
        for _ in range(50):
            body.advance(state.x[None], state.v[None], dt, steps=round(1e-2 / dt))
            now = measure(system, state)
            largest = max(largest, abs(now.total / before.total - 1))
            apart = max(apart, float(np.abs(now.momentum - before.momentum).max()) / size)
        drift.append(largest)
        rows.append(bounded(case, f"own stride, {1e3 * dt:g} ms, 0.5 s: momentum", apart, 1e-11, source=source))
        rows.append(bounded(case, f"own stride, {1e3 * dt:g} ms, 0.5 s: energy", largest, 1e-3, source=source))
    order = float(np.log2(drift[0] / drift[1]))
    rows.append(compare(case, "own stride: order of the energy", order, 2.0, 0.15, unit="-", source="declared order"))
    return rows


class FullFem:
    """The layer in world coordinates, its inner nodes joined to a rigid body of the core's mass."""

    def __init__(self, body: LayeredBody) -> None:
        model = body.model
        used, tets = np.unique(model.layer_elements, return_inverse=True)
        mesh = TetMesh(np.asarray(body.mesh.nodes)[used], tets.reshape(-1, 4))
        inner = np.flatnonzero(model.is_fixed[used])
        core = np.asarray(body.mesh.elements)[model.core]
        m = element_masses(np.asarray(body.mesh.nodes), core, np.full(len(core), float(model.core_density or 0.0)))
        corners = np.asarray(body.mesh.nodes)[core]
        mass = float(m.sum())
        self.centre = np.einsum("eab,ebi->i", m, corners) / mass
        P = np.einsum("eab,eai,ebj->ij", m, corners - self.centre, corners - self.centre)
        P = (P + P.T) / 2
        scene = Scene()
        layer = scene.add(FemBody(mesh, RUBBER, law="stvk"), name="layer")
        rigid = scene.add(RigidBody(mass, np.trace(P) * np.eye(3) - P), at=self.centre, name="core")
        scene.add(BallJoint(layer.points(inner), rigid.points(at=mesh.nodes[inner])))
        self.system, self.used = scene.compile(), used

    def start(self, body: LayeredBody, x: Array, v: Array) -> State:
        """The state of a layered body at rest in the world but for q, q' and a common motion."""
        state = self.system.initial_state()
        world = body.positions(x)
        self.system.positions(state, "layer")[:] = world[self.used]
        R, u = rotations.to_matrix(x[0, 3:7]), body.model.X + body.displacements(x)
        rate = np.zeros_like(u)
        rate[body.model.free] = v[0, 6:].reshape(-1, 3)
        velocity = v[0, :3] + (np.cross(v[0, 3:6], u) + rate) @ R.T
        self.system.velocities(state, "layer")[:] = velocity[self.used]
        core = self.system.positions(state, "core")
        core[0, :3] = x[0, :3] + R @ (self.centre - body.origin)
        core[0, 3:7] = x[0, 3:7]
        own = self.system.velocities(state, "core")
        own[0, :3] = v[0, :3] + R @ np.cross(v[0, 3:6], self.centre - body.origin)
        own[0, 3:6] = v[0, 3:6]
        return state


def against_fem() -> list[Row]:
    """Free vibration over 6 ms: slope of the linear layer's error; equality of the same law at 4 mm and a spin."""
    case, source = "floating/layered-fem", "finite elements, St. Venant-Kirchhoff, joined to a rigid body"
    linear = cube()
    full = FullFem(linear)
    dt, steps = 2e-4, 30

    def run_full(body: LayeredBody, x: Array, v: Array) -> Array:
        state, solver = full.start(body, x, v), Midpoint(dt, newton_tolerance=1e-11)
        for _ in range(steps):
            solver.step(full.system, state)
        return np.asarray(full.system.positions(state, "layer"))

    errors, sizes = [], (2e-3, 1e-3, 5e-4)
    for size in sizes:
        body = LayeredBody(linear.model, q=stretched(linear, size))
        placed = body.place(Placement())
        world = run_full(body, placed.x, placed.v)
        start = body.positions(placed.x)[full.used]
        body.advance(placed.x, placed.v, dt, steps=steps, stride=Stride(tolerance=1e-11))
        moved = body.positions(placed.x)[full.used]
        errors.append(float(np.linalg.norm(moved - world) / np.linalg.norm(world - start)))
    slopes = [float(np.log2(a / b)) for a, b in pairwise(errors)]
    rows = [
        compare(
            case,
            f"linear layer: slope of the error, {1e3 * a:g} to {1e3 * b:g} mm",
            s,
            1.0,
            0.1,
            unit="-",
            source=source,
        )
        for s, a, b in zip(slopes, sizes, sizes[1:])
    ]
    rows.append(bounded(case, f"linear layer, {1e3 * sizes[-1]:g} mm: error", errors[-1], 0.02, source=source))
    exact = cube(law="stvk")
    body = LayeredBody(exact.model, q=stretched(exact, 4e-3))
    placed = body.place(Placement(spin=np.array([1.0, -2.0, 5.0])))
    world = run_full(body, placed.x, placed.v)
    scene = Scene()
    scene.add(body, spin=(1.0, -2.0, 5.0), name="cube")
    system = scene.compile()
    state, solver = system.initial_state(), Midpoint(dt, newton_tolerance=1e-11)
    for _ in range(steps):
        solver.step(system, state)
    apart = body.positions(state.x[None])[full.used] - world
    relative = float(np.linalg.norm(apart) / np.linalg.norm(world - body.positions(placed.x)[full.used]))
    rows.append(bounded(case, "the same law, 4 mm and a spin: error", relative, 1e-4, source=source))
    return rows


def own_stride() -> list[Row]:
    """The body's own steps against `Midpoint` in a scene: gravity, forces on nodes, damping, a spin; 1 ms and 5 ms."""
    case, rows = "floating/layered-stride", []
    plain = cube()
    nodes = plain.point_region("x_max")
    body = LayeredBody(plain.model, q=stretched(plain, 1e-3), alpha=0.5, beta=1e-4)
    force, g = np.tile((0.02, -0.01, 0.03), (len(nodes), 1)), (1.0, 2.0, -9.81)
    for dt in (1e-3, 5e-3):
        scene = Scene(gravity=g)
        node = scene.add(body, spin=SPIN, velocity=(1.0, 0.0, 0.5), name="cube")
        scene.add(Load(node.points(nodes), force))
        system = scene.compile()
        state, solver = system.initial_state(), Midpoint(dt, newton_tolerance=1e-12, linear="direct")
        x, v = state.x[None].copy(), state.v[None].copy()
        for _ in range(10):
            solver.step(system, state)
        body.advance(x, v, dt, steps=10, gravity=g, stride=Stride(tolerance=1e-12, nodes=nodes, forces=force))
        source = "Midpoint, one block matrix, direct"
        for what, a, b in (("positions", x[0], state.x), ("velocities", v[0], state.v)):
            apart = float(np.abs(a - b).max() / np.abs(b).max())
            rows.append(bounded(case, f"{what} after 10 steps of {1e3 * dt:g} ms", apart, 1e-9, source=source))
    return rows


CASES = {
    "floating/layered-equations": equations,
    "floating/layered-flight": flight,
    "floating/layered-fem": against_fem,
    "floating/layered-stride": own_stride,
}
