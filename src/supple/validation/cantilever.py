"""Cantilevers of finite elements under an end force and under their weight, against Timoshenko's beam.

Slenderness 10, Poisson's ratio zero, small loads, linear law. Displacements of linear elements converge as h²: the
slope is measured on a sequence of meshes, and the extrapolated value is compared with the theory.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.fem import FemBody
from supple.geometry import box_hexes, box_tets
from supple.material import Material
from supple.scene import FixedAxes, Load, Scene
from supple.solvers import solve_statics
from supple.validation.beam_theory import TimoshenkoBeam
from supple.validation.row import Row, bounded, compare

BEAM = TimoshenkoBeam(length=1.0, side=0.1, young=1e7, density=1000.0)
SOURCE = "Timoshenko's beam, kappa = 5/6"
SEQUENCE = (8, 16, 32)  # cells through the depth


def tip_deflection(elements: str, depth: int, load: str) -> float:
    """Mean deflection of the end face [m] under a unit load.

    A slice of the beam, one cubic cell across, held in its plane and with its share of the load, moves as the whole
    beam does when Poisson's ratio is zero.
    """
    make = box_tets if elements == "tet" else box_hexes
    mesh = make(size=(BEAM.length, BEAM.side / depth, BEAM.side), cells=(10 * depth, 1, depth))
    material = Material(young=BEAM.young, poisson=0.0, density=BEAM.density)
    scene = Scene(gravity=(0, 0, -1.0) if load == "weight" else (0, 0, 0))
    node = scene.add(FemBody(mesh, material, law="linear", mass="consistent"), fix="x_min", name="beam")
    scene.add(FixedAxes(node, None, "y"))
    if load == "end force":
        area = np.zeros(len(mesh.nodes))
        for triangle in mesh.faces_region("x_max"):
            a, b, c = mesh.nodes[triangle]
            area[triangle] += np.linalg.norm(np.cross(b - a, c - a)) / 6
        index = node.indices("x_max")
        forces = np.zeros((len(index), 3))
        forces[:, 2] = -area[index] / area[index].sum() / depth
        scene.add(Load(node.points("x_max"), forces))
    system = scene.compile()
    state = solve_statics(system)
    tip = node.indices("x_max")
    moved = system.positions(state, "beam")[tip, 2] - node.rest[tip, 2]
    return float(-moved.mean())


def cantilever() -> list[Row]:
    """Extrapolated deflection and slope, for hexes and tets and both loads."""
    rows = []
    for load, reference in (("end force", BEAM.tip_load(1.0)), ("weight", BEAM.weight(1.0))):
        for elements in ("hex", "tet"):
            coarse, middle, fine = (tip_deflection(elements, depth, load) for depth in SEQUENCE)
            slope = np.log2((middle - coarse) / (fine - middle))
            limit_value = fine + (fine - middle) / (2.0**2 - 1)
            name = f"tip deflection, {load}, {elements}"
            rows.append(compare("fem/cantilever", name, limit_value, reference, 0.01, unit="m", source=SOURCE))
            rows.append(
                bounded(
                    "fem/cantilever",
                    f"slope - 2, {load}, {elements}",
                    slope - 2.0,
                    0.25,
                    source="linear elements converge as h²",
                )
            )
    return rows


CASES = {"fem/cantilever": cantilever}
