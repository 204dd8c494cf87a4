"""Meshes that every format holds."""

import numpy as np

from supple.geometry import (
    Region,
    box_tets,
    sphere_tets,
)

SOLID_SUFFIXES = (".veg", ".msh", ".vtk", ".vtu")


def _tets(suffix=".vtu"):
    mesh = box_tets((1, 0.5, 0.25), (3, 2, 2))
    regions = {"left": Region(elements=np.arange(20)), "right": Region(elements=np.arange(30, 40))}
    if suffix != ".veg":
        regions |= {"root end": mesh.node_region("x_min"), "tip": Region(faces=mesh.boundary.faces[5:9])}
    return mesh.with_regions(regions)


def _surface():
    return sphere_tets(1.0, 2).boundary.surface.moved(at=(1, 2, 3))


def _sample(suffix):
    return _tets(suffix) if suffix in SOLID_SUFFIXES else _surface()
