"""Converged implicit steps of floating bodies alone, one thread.

floating/modal: 8 free modes of a beam in free flight. The beam has 20x4x4 cells, 525 nodes and 1920 tets: 1 m x 0.1 m
x 0.1 m, E = 10 MPa, Poisson's ratio 0.3, 1000 kg/m³, and turns at (1, 2, 15) rad/s.

floating/layered: a ball of 0.1 m with a layer of about 2 cm around a rigid core, 30,000 nodal coordinates, E = 300 kPa,
Poisson's ratio 0.4, 1000 kg/m³, core 400 kg/m³. It falls and turns at (1, 2, 15) rad/s; a patch of its surface is
pressed in with 20 N. The residual is the true one of the nonlinear step, against that of the velocity before it. The
factor is made once for a step size; its time stands beside.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from supple.bench.row import Row, at_most, best_of, measured, threads
from supple.bodies.floating import FloatingBody, Stride
from supple.bodies.layered import LayeredBody
from supple.bodies.placement import Placement
from supple.geometry import box_tets, sphere_tets
from supple.material import Material
from supple.modal import ElasticSolid

Array = np.ndarray
CASE, LAYERED = "floating/modal", "floating/layered"
STEPS, REPEATS = 200, 300
LAYERED_STEPS, LAYERED_REPEATS = 5, 12
CORE = 0.079
"""Nodes nearer to the middle [m] belong to the core."""


def modal() -> list[Row]:
    """Time of a step, of 1 ms and of 0.1 ms."""
    rubber = Material(young=1e7, poisson=0.3, density=1000.0)
    body = FloatingBody.from_solid(ElasticSolid(box_tets(size=(1.0, 0.1, 0.1), cells=(20, 4, 4)), rubber), modes=8)
    placed = body.place(Placement())
    placed.v[0, 3:6] = (1.0, 2.0, 15.0)
    rows = []
    with threads(1):
        for dt in (1e-3, 1e-4):
            x, v, iterations = placed.x.copy(), placed.v.copy(), 0

            def work(x: Array = x, v: Array = v, dt: float = dt) -> None:
                nonlocal iterations
                iterations = body.advance(x, v, dt, steps=STEPS, stride=Stride(tolerance=1e-11)).iterations

            value = 1e3 * best_of(REPEATS, work) / STEPS
            name = f"dt = {1e3 * dt:g} ms"
            rows.append(at_most(CASE, f"step_time, 8 modes, {name}", value, 0.015, unit="ms", threads=1))
            rows.append(measured(CASE, f"most iterations to 1e-11, {name}", iterations, unit="-", threads=1))
    return rows


def ball() -> LayeredBody:
    """The layered ball."""
    rubber = Material(young=3e5, poisson=0.4, density=1000.0)
    mesh = sphere_tets(0.1, 12)
    return LayeredBody.from_mesh(mesh, rubber, core=lambda X: np.linalg.norm(X, axis=1) < CORE, core_density=400.0)


def layered() -> list[Row]:
    """Time of a step of 1 ms, limited, and of 10 ms; with the factorisation, once for a step size."""
    body, rows = ball(), []
    X = np.asarray(body.mesh.nodes)
    patch = np.flatnonzero((np.linalg.norm(X, axis=1) > 0.0999) & (X[:, 0] > 0.09))
    load = Stride(tolerance=1e-6, nodes=patch, forces=np.tile((-20.0 / len(patch), 0.0, 0.0), (len(patch), 1)))
    g, count = (0.0, 0.0, -9.81), 3 * body.free_count
    rows.append(measured(LAYERED, "nodal coordinates", count, unit="-", threads=1))
    with threads(1):
        for dt in (1e-3, 1e-2):
            placed, name = body.place(Placement()), f"dt = {1e3 * dt:g} ms"
            x, v, largest, worst = placed.x, placed.v, 0, 0.0
            v[0, 3:6] = (1.0, 2.0, 15.0)
            start = perf_counter()
            body.advance(x, v, dt, steps=0, gravity=g, stride=load)
            factored = perf_counter() - start
            body.advance(x, v, dt, steps=20, gravity=g, stride=load)

            def work(x: Array = x, v: Array = v, dt: float = dt) -> None:
                nonlocal largest, worst
                report = body.advance(x, v, dt, steps=LAYERED_STEPS, gravity=g, stride=load)
                largest, worst = max(largest, report.iterations), max(worst, report.residual)

            value = 1e3 * best_of(LAYERED_REPEATS, work) / LAYERED_STEPS
            if dt == 1e-3:
                rows.append(at_most(LAYERED, f"step_time, {name}", value, 60.0, unit="ms", threads=1))
            else:
                rows.append(measured(LAYERED, f"step_time, {name}", value, unit="ms", threads=1))
            rows.append(at_most(LAYERED, f"true residual, {name}", worst, 1e-6, unit="-", threads=1))
            rows.append(measured(LAYERED, f"most iterations, {name}", largest, unit="-", threads=1))
            rows.append(measured(LAYERED, f"factorisation, {name}", factored, unit="s", threads=1))
            deepest = 1e3 * float(np.linalg.norm(x[0, 7:].reshape(-1, 3), axis=1).max())
            rows.append(measured(LAYERED, f"largest displacement, {name}", deepest, unit="mm", threads=1))
    return rows


CASES = {CASE: modal, LAYERED: layered}
