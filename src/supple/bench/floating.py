"""floating/modal: converged implicit steps of a body with 8 modes in free flight, one thread.

The beam has 20x4x4 cells, 525 nodes and 1920 tets: 1 m x 0.1 m x 0.1 m, E = 10 MPa, Poisson's ratio 0.3, 1000 kg/m³,
with 8 free modes, and turns at (1, 2, 15) rad/s.
"""

from __future__ import annotations

import numpy as np

from supple.bench.row import Row, at_most, best_of, measured, threads
from supple.bodies.floating import FloatingBody, Stride
from supple.bodies.placement import Placement
from supple.geometry import box_tets
from supple.material import Material
from supple.modal import ElasticSolid

Array = np.ndarray
CASE = "floating/modal"
STEPS, REPEATS = 200, 300


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


CASES = {CASE: modal}
