"""Bending frequencies of a finite-element cantilever against Timoshenko's beam, slenderness 10.

The motion is held in one plane, so that bending and stretching modes alone remain; stretching modes are told apart by
their displacement along the beam. Frequencies converge as h², and are extrapolated from a sequence of meshes.
"""

from __future__ import annotations

import numpy as np

from supple.bodies.fem import FemBody
from supple.geometry import box_hexes
from supple.material import Material
from supple.scene import FixedAxes, Scene
from supple.solvers import vibration_modes
from supple.validation.beam_theory import TimoshenkoBeam
from supple.validation.row import Row, compare

Array = np.ndarray
BEAM = TimoshenkoBeam(length=1.0, side=0.1, young=1e7, density=1000.0)
COUNT = 6


def bending_frequencies(depth: int) -> Array:
    """The lowest bending frequencies [Hz] of a mesh with so many cells through the depth."""
    mesh = box_hexes(size=(BEAM.length, BEAM.side / depth, BEAM.side), cells=(10 * depth, 1, depth))
    material = Material(young=BEAM.young, poisson=0.0, density=BEAM.density)
    scene = Scene()
    node = scene.add(FemBody(mesh, material, law="linear", mass="consistent"), fix="x_min", name="beam")
    scene.add(FixedAxes(node, None, "y"))
    modes = vibration_modes(scene.compile(), COUNT + 5)
    shapes = modes.shapes.reshape(len(modes.shapes), -1, 3)
    # bending turns the section: no net motion along x; stretching moves it as a whole
    along = np.abs(shapes[:, :, 0].sum(axis=1)) / np.sqrt((shapes**2).sum(axis=(1, 2)) * shapes.shape[1])
    return modes.frequencies[along < 0.1][:COUNT]


def beam_frequencies() -> list[Row]:
    """First six frequencies, extrapolated from two meshes by the order h²."""
    middle, fine = bending_frequencies(4), bending_frequencies(8)
    values = fine + (fine - middle) / 3
    return [
        compare(
            "fem/beam-frequencies",
            f"bending frequency {k + 1}",
            values[k],
            reference,
            0.01,
            unit="Hz",
            source="Timoshenko's beam, transfer matrix",
        )
        for k, reference in enumerate(BEAM.frequencies(COUNT))
    ]


CASES = {"fem/beam-frequencies": beam_frequencies}
