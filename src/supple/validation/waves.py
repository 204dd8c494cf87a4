"""Speed of a stretching wave in a rod of finite elements: c = sqrt(E / rho) for Poisson's ratio zero."""

from __future__ import annotations

import numpy as np

from supple.bodies.fem import FemBody
from supple.geometry import box_hexes
from supple.material import Material
from supple.scene import Load, Scene
from supple.solvers import SymplecticEuler
from supple.validation.row import Row, compare

YOUNG, DENSITY, LENGTH, CELLS = 1e6, 1000.0, 1.0, 100


def wave_speed() -> list[Row]:
    """A smooth pull at one end; the time at which its middle passes two stations."""
    mesh = box_hexes(size=(LENGTH, 0.02, 0.02), cells=(CELLS, 1, 1))
    rubber = Material(young=YOUNG, poisson=0.0, density=DENSITY)
    scene = Scene()
    rod = scene.add(FemBody(mesh, rubber, law="linear"), name="rod")
    c = np.sqrt(YOUNG / DENSITY)
    rise = 0.15 * LENGTH / c
    pull = 1e-2

    def force(t: float) -> tuple[float, float, float]:
        return (-pull * np.sin(0.5 * np.pi * min(t / rise, 1.0)) ** 2, 0.0, 0.0)

    scene.add(Load(rod.points("x_min"), force))
    system = scene.compile()
    state = system.initial_state()
    solver = SymplecticEuler()
    solver.prepare(system)
    dt = solver.dt
    assert dt is not None
    stations = (0.3 * LENGTH, 0.7 * LENGTH)
    nodes = [int(np.argmin(np.linalg.norm(mesh.nodes - (s, 0, 0), axis=1))) for s in stations]
    times, speeds = [0.0], [np.zeros(2)]
    while state.t < 0.95 * LENGTH / c:
        solver.step(system, state)
        times.append(state.t)
        speeds.append(-system.velocities(state, "rod")[nodes, 0])
    half = 0.5 * pull / (DENSITY * c * 0.02**2)  # half the particle speed behind the front, F / (rho c A)
    arrivals = []
    for series in np.array(speeds).T:
        k = int(np.argmax(series >= half))
        arrivals.append(times[k - 1] + (half - series[k - 1]) / (series[k] - series[k - 1]) * dt)
    distance = mesh.nodes[nodes[1], 0] - mesh.nodes[nodes[0], 0]
    measured = distance / (arrivals[1] - arrivals[0])
    return [compare("fem/wave-speed", "axial wave speed", measured, c, 0.01, unit="m/s", source="c = sqrt(E/rho)")]


CASES = {"fem/wave-speed": wave_speed}
