"""Floating bodies: equations of motion against their kinetic energy, free flight, a path by other programs, a spin-up.

The kinetic energy is summed over the nodes, T = 1/2 sum m_ab x'_a . x'_b with x = c + R (X + U q), and differenced
with a complex step, which has no truncation error. From it, in the coordinates (c', w, q') with w in body axes,

    M = d²T/dv²,    Q_v = -(dp/dt at constant v) - (0, w x dT/dw, 0) + dT/dx,      p = dT/dv           (Boltzmann-Hamel)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.floating import FloatingBody, Stride
from supple.bodies.protocols import LocalState
from supple.examples import spin_up
from supple.geometry import box_tets
from supple.material import Material
from supple.modal import ElasticSolid
from supple.record.measures import measure
from supple.scene import Scene, State, System
from supple.solvers import ImplicitEuler, Midpoint
from supple.validation.figure import COLOURS, GREY, make_figure, save_figure
from supple.validation.reference_forces import reference_file
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
TINY = 1e-30
"""Of a complex step: its square is nothing beside one."""
SPIN = (1.0, 2.0, 15.0)


def beam() -> ElasticSolid:
    """A rubber beam of 1 m x 0.1 m x 0.1 m, E = 10 MPa."""
    rubber = Material(young=1e7, poisson=0.3, density=1000.0)
    return ElasticSolid(box_tets(size=(1.0, 0.1, 0.1), cells=(10, 2, 2)), rubber)


class NodalEnergy:
    """Kinetic energy and momentum of a body by sums over its nodes, for complex coordinates."""

    def __init__(self, body: FloatingBody, x: Array) -> None:
        self.m, self.X, self.U = body.model.solid.node_mass, body.model.X, body.model.shapes
        self.R, self.q = rotations.to_matrix(x[0, 3:7]), x[0, 7 : 7 + body.mode_count]

    def jacobian(self, d: Array) -> Array:
        """J (node_count, 3, 6 + r) after a small complex move d (6 + r,) of the coordinates."""
        R = self.R @ (np.eye(3) + skew(d[3:6]))
        u = self.X + self.U @ (self.q + d[6:])
        J = np.zeros((len(u), 3, len(d)), dtype=complex)
        J[:, range(3), range(3)] = 1.0
        J[:, :, 3:6] = -R @ np.moveaxis(skew(u.T), 2, 0)
        J[:, :, 6:] = R @ self.U
        return J

    def momentum(self, d: Array, v: Array) -> Array:
        """dT/dv, (6 + r,)."""
        J = self.jacobian(d)
        velocity = J @ v
        return np.einsum("nik,ni->k", J, self.m @ velocity)

    def energy(self, d: Array, v: Array) -> complex:
        """T."""
        velocity = self.jacobian(d) @ v
        return 0.5 * np.sum(velocity * (self.m @ velocity))


def skew(a: Array) -> Array:
    """skew(a) of vectors (3, ...), (3, 3, ...), complex or not."""
    zero = np.zeros_like(a[0])
    return np.array([[zero, -a[2], a[1]], [a[2], zero, -a[0]], [-a[1], a[0], zero]])


def by_differencing(body: FloatingBody, x: Array, v: Array) -> tuple[Array, Array]:
    """M (6 + r, 6 + r) and Q_v (6 + r,) from the kinetic energy."""
    T, n = NodalEnergy(body, x), 6 + body.mode_count
    still, steps = np.zeros(n, dtype=complex), 1j * TINY * np.eye(n)
    M = np.array([[T.energy(still, e + step).imag for step in steps] for e in np.eye(n)]) / TINY
    rate = T.momentum(1j * TINY * v, v).imag / TINY
    slope = np.array([T.energy(step, v).imag for step in steps]) / TINY
    turned = np.zeros(n)
    turned[3:6] = np.cross(v[3:6], T.momentum(still, v).real[3:6])
    return M, slope - rate - turned


def equations() -> list[Row]:
    """Clamped and free modes, at a random state with a fast spin."""
    rows, rng = [], np.random.default_rng(7)
    for name, fixed in (("clamped modes", "x_min"), ("free modes", None)):
        body = FloatingBody.from_solid(beam(), modes=7, fixed=fixed, origin=(0.2, -0.1, 0.05))
        x, v = (np.zeros((1, width)) for width in (body.coordinates.x_width, body.coordinates.v_width))
        x[0, :3], x[0, 3:7] = rng.normal(size=3), rotations.exp(rng.normal(size=3))
        n = 6 + body.mode_count
        x[0, 7 : n + 1], v[0, :n] = 0.1 * rng.normal(size=n - 6), rng.normal(size=n) * 5
        M, Q = by_differencing(body, x, v[0, :n])
        ours = np.zeros_like(v)
        body.inertia.add_bias(LocalState(0.0, x, v), ours)
        source = "complex step on the kinetic energy of the nodes"
        rows += [
            bounded(
                "floating/equations",
                f"{name}: {what}",
                float(np.abs(a - b).max() / np.abs(b).max()),
                1e-9,
                source=source,
            )
            for what, a, b in (
                ("mass matrix", body.inertia.at(x).M[:n, :n], M),
                ("quadratic velocity vector", ours[0, :n], Q),
            )
        ]
    return rows


def flying(body: FloatingBody) -> tuple[System, State]:
    """The body alone in space, its frame at the origin, turning."""
    scene = Scene()
    scene.add(body, at=-body.origin, velocity=-np.cross(SPIN, body.origin), spin=SPIN, name="beam")
    system = scene.compile()
    return system, system.initial_state()


def advance(body: FloatingBody, state: State, dt: float, until: float, stride: Stride) -> None:
    """Move a state of one body on by its own stride."""
    body.advance(state.x[None], state.v[None], dt, steps=round(until / dt), stride=stride)
    state.t += until


def flight() -> list[Row]:
    """2 s of free flight by Runge-Kutta at 0.1 ms, and the orders of the implicit rules over 20 ms."""
    body = FloatingBody.from_solid(beam(), modes=8)
    system, start = flying(body)
    before, worst = measure(system, start), np.zeros(2)
    state, exact = start.copy(), Stride(method="runge-kutta")
    for _ in range(20):
        advance(body, state, 1e-4, 0.1, exact)
        now = measure(system, state)
        turn = np.abs(now.momentum - before.momentum)[3:].max() / np.abs(before.momentum[3:]).max()
        worst = np.maximum(worst, [abs(now.total / before.total - 1), turn])
    case, source = "floating/flight", "conservation of energy and angular momentum"
    rows = [
        bounded(case, "Runge-Kutta, 0.1 ms, 2 s: energy", worst[0], 1e-8, source=source),
        bounded(case, "Runge-Kutta, 0.1 ms, 2 s: angular momentum", worst[1], 1e-8, source=source),
    ]
    until, turned = 0.02, 0.0
    reference = start.copy()
    advance(body, reference, 1e-5, until, exact)
    for name, method, order, h, limit in (
        ("implicit Euler, linearised", ImplicitEuler, 1.0, 1e-4, 0.1),
        ("implicit Euler, Newton", lambda h: ImplicitEuler(h, newton=True), 1.0, 1e-4, 0.1),
        ("midpoint", Midpoint, 2.0, 2.5e-4, 0.05),
    ):
        errors = []
        for dt in (2 * h, h):
            state, solver = start.copy(), method(dt)
            for _ in range(round(until / dt)):
                solver.step(system, state)
            errors.append(float(np.linalg.norm(state.x - reference.x)))
            if order == 2.0:
                turned = max(turned, float(np.abs(measure(system, state).momentum - before.momentum).max()))
        measured = float(np.log2(errors[0] / errors[1]))
        rows.append(compare(case, f"{name}: order", measured, order, limit, unit="-", source="declared order"))
    size = float(np.abs(before.momentum).max())
    rows.append(bounded(case, "midpoint: momentum", turned / size, 1e-12, source="conservation"))
    return rows


def free_spin() -> list[Row]:
    """A beam given by its matrices: the path of its tip over a second."""
    folder = reference_file(FREE_SPIN).parent
    body = FloatingBody.from_matrices(folder / "beam_fem.npz", modes=8)
    given = json.loads((folder / "free_spin.json").read_text())
    case = given["case_free_spin"]
    path, tip = np.array(case["rows"]), int(given["spec"]["tip_node"])
    source = "RK4, and Exudyn 1.13.6 within 9e-7 m"
    rows = [
        bounded(
            "floating/free_spin",
            "frequencies",
            float(np.abs(body.frequencies / case["modes_Hz"] - 1).max()),
            1e-8,
            source=source,
        )
    ]
    for name, dt, stride in (
        ("Runge-Kutta, 0.1 ms", 1e-4, Stride(method="runge-kutta")),
        ("midpoint, 0.02 ms", 2e-5, Stride()),
    ):
        state = flying(body)[1]
        apart = 0.0
        for row in path[1:]:
            advance(body, state, dt, 0.01, stride)
            apart = max(apart, float(np.linalg.norm(body.positions(state.x[None])[tip] - row[1:4])))
        quantity = f"tip over {case['T']:g} s, {name}"
        rows.append(bounded("floating/free_spin", quantity, apart, 2e-6, unit="m", source=source))
    return rows


def spinning_up() -> list[Row]:
    """The beam of the example `spin-up` with stiffening against nonlinear finite elements; without, it is lost."""
    lags = spin_up.simulate(1.8)
    case, source = "floating/spin-up", "finite elements, St. Venant-Kirchhoff"
    largest = float(lags["fem"].min())
    apart = float(np.abs(lags["stiffened"] - lags["fem"]).max() / abs(largest))
    lost = float(np.abs(lags["plain"] - lags["fem"]).max() / abs(largest))
    return [
        compare(case, "largest lag with stiffening", lags["stiffened"].min(), largest, 0.02, unit="m", source=source),
        bounded(case, "lag at all times with stiffening, of the largest", apart, 0.02, source=source),
        bounded(case, "largest lag, of the error without stiffening", 1 / lost, 0.1, source=source),
    ]


def draw_spin_up(path: Path) -> None:
    """Lag of the tip in the turning frame, against time."""
    lags = spin_up.simulate(1.8)
    figure, axes = make_figure(7.0, 4.0)
    ax: Any = axes[0, 0]
    bound = 1.4 * np.abs(lags["fem"]).max()
    labels = {"fem": "finite elements", "stiffened": "floating, stiffening", "plain": "floating, none"}
    for (name, label), colour, style in zip(labels.items(), COLOURS, ("-", "--", ":")):
        ax.plot(lags["t"], 1e3 * lags[name], color=colour, linestyle=style, linewidth=2, label=label)
    ax.set_ylim(-1e3 * bound, 1e3 * 0.4 * bound)
    ax.axvline(spin_up.RISE, color=GREY, linewidth=0.8)
    ax.set_xlabel("time [s]")
    ax.set_ylabel("lag of the tip [mm]")
    ax.legend(frameon=False)
    save_figure(figure, path)


FREE_SPIN = "floating/free_spin.json"
CASES = {
    "floating/equations": equations,
    "floating/flight": flight,
    "floating/free_spin": free_spin,
    "floating/spin-up": spinning_up,
}
NEEDS = {"floating/free_spin": FREE_SPIN}
PICTURES = {"floating/spin-up": draw_spin_up}
