"""A rigid core and a layer from a closed surface, or from a mesh whose core is named.

The solid inside a surface is filled with tets whose outer nodes lie on it [LS07]. An element whose centre is deeper
than the thickness belongs to the core: the core's surface has steps of a cell and the mean thickness is the given one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.errors import InputError, check_number
from supple.geometry import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.generators.stuffing import stuff
from supple.geometry.surfaces.self_crossing import crossing_pair
from supple.geometry.surfaces.signed_distance import SignedDistance

Array = np.ndarray
FEW_CELLS = 1
LARGEST_CELL = 0.25
"""Of the smallest extent of a surface: with larger cells its shape is lost."""


def fill_surface(surface: SurfaceMesh, thickness: float, cells: int) -> tuple[TetMesh, Array]:
    """Tets inside a closed surface with `cells` cells across the thickness [m], and the mask of the core."""
    where = "LayeredBody.from_surface"
    if not isinstance(surface, SurfaceMesh):
        raise InputError("a layered body grows from a SurfaceMesh", where=where, value=type(surface).__name__)
    check_number(thickness, name="thickness", where=where, above=0.0)
    check_number(cells, name="cells", where=where, least=FEW_CELLS, whole=True)
    distance = SignedDistance(surface, needed_for="a layered body")
    crossing = crossing_pair(surface.nodes, surface.triangles)
    if crossing is not None:
        place = np.asarray(surface.nodes)[surface.triangles[crossing[0]]].mean(axis=0)
        raise InputError(
            f"the surface cuts itself: triangle {crossing[0]} crosses triangle {crossing[1]}",
            where=where,
            value=f"near {np.round(place, 6).tolist()} m",
            fix="Join the overlapping parts into one surface, or repair the mesh there.",
        )
    extent = float((surface.bounds[1] - surface.bounds[0]).min())
    if thickness >= extent / 2:
        raise InputError(
            "the thickness leaves no core",
            where=where,
            value=thickness,
            allowed=f"below half the smallest extent, {extent / 2:.6g} m",
            fix="Take a thinner layer, or a FemBody.",
        )
    cell = min(thickness / cells, LARGEST_CELL * extent)
    mesh = stuff(distance, surface.bounds[0], surface.bounds[1], cell)
    core = distance(np.asarray(mesh.nodes)[mesh.tets].mean(axis=1)) < -thickness
    if not core.any():
        raise InputError(
            "the thickness leaves no core",
            where=where,
            value=thickness,
            fix="Take a thinner layer, or a FemBody.",
        )
    return mesh, core


def name_core(mesh: TetMesh | HexMesh, core: Any) -> Array:
    """Mask of the core's elements: a region's name, a predicate on positions, or numbers of elements.

    A region that lists elements gives these; a predicate or a region of nodes gives the elements with all nodes in it.
    """
    where, out = "LayeredBody.from_mesh", np.zeros(len(mesh.elements), dtype=bool)
    if isinstance(core, str) or callable(core):
        out[mesh.element_region(core)] = True
        return out
    try:
        numbers = np.asarray(core)
    except ValueError:  # rows of different lengths
        raise InputError("the core is no region, predicate or list of elements", where=where, value=core) from None
    if numbers.dtype == np.bool_ and numbers.shape == out.shape:
        return numbers.copy()
    if not np.issubdtype(numbers.dtype, np.integer) or numbers.ndim != 1:
        raise InputError("the core is no region, predicate or list of elements", where=where, value=numbers.shape)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= len(out)):
        raise InputError("an element's number is out of range", where=where, allowed=f"0 to {len(out) - 1}")
    out[numbers] = True
    return out
