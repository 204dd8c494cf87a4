"""A floating body with 8 modes in free flight: a step of Supple beside one of Exudyn, processor time of one thread.

Both have the same mesh, mass and stiffness matrices, the 8 lowest elastic modes and the same spin; both take implicit
steps that are converged. Needs `pip install exudyn` beside Supple. The body is that of `supple bench floating/modal`.

    python tools/peers/exudyn_floating.py
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"

from time import process_time

import exudyn
import numpy as np
from exudyn.FEM import FEMinterface, ObjectFFRFreducedOrderInterface

import supple as sp
from supple.bodies.floating import Stride
from supple.bodies.placement import Placement
from supple.modal import ElasticSolid

SPIN = (1.0, 2.0, 15.0)  # [rad/s]
STEPS, ROUNDS = 1000, 5


def supple_step(solid: ElasticSolid, dt: float) -> float:
    """Best processor time of a step [s]."""
    body = sp.FloatingBody.from_solid(solid, modes=8)
    best = np.inf
    for _ in range(ROUNDS + 1):
        placed = body.place(Placement())
        placed.v[0, 3:6] = SPIN
        start = process_time()
        body.advance(placed.x, placed.v, dt, steps=STEPS, stride=Stride(tolerance=1e-11))
        best = min(best, process_time() - start)
    return best / STEPS


def exudyn_step(solid: ElasticSolid, dt: float) -> float:
    """Best processor time of a step [s]."""
    fem = FEMinterface()
    fem.nodes = {"Position": np.asarray(solid.mesh.nodes)}
    fem.massMatrix, fem.stiffnessMatrix = solid.mass_matrix, solid.stiffness
    fem.ComputeEigenmodes(8, excludeRigidBodyModes=6, useSparseSolver=True)
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ObjectFFRFreducedOrderInterface(fem).AddObjectFFRFreducedOrder(system, initialAngularVelocity=list(SPIN))
    system.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps = STEPS
    settings.timeIntegration.endTime = STEPS * dt
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    best = np.inf
    for _ in range(ROUNDS):
        start = process_time()
        system.SolveDynamic(settings)
        best = min(best, process_time() - start)
    return best / STEPS


def main() -> None:
    rubber = sp.Material(young=1e7, poisson=0.3, density=1000.0)
    solid = ElasticSolid(sp.box_tets(size=(1.0, 0.1, 0.1), cells=(20, 4, 4)), rubber)
    for dt in (1e-3, 1e-4):
        ours, theirs = supple_step(solid, dt), exudyn_step(solid, dt)
        print(
            f"dt = {1e3 * dt:g} ms: Supple {1e3 * ours:.4f}, Exudyn {exudyn.__version__} {1e3 * theirs:.4f} ms a step"
        )


if __name__ == "__main__":
    main()
