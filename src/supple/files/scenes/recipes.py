"""Shapes that the generators make, recognised by making them again: every number must agree to the bit."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from supple.bodies.rigid import RigidBody
from supple.errors import SuppleError
from supple.geometry import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.generators import shapes as generators

Recipe = dict[str, Any]


def mesh_recipe(mesh: TetMesh | HexMesh) -> Recipe | None:
    """The table that generates a mesh, its regions aside; None where no generator made it."""
    kind = "tets" if isinstance(mesh, TetMesh) else "hexes"
    for shape, keys in _mesh_candidates(mesh):
        try:
            again = getattr(generators, f"{shape}_{kind}")(**keys)
        except SuppleError:
            continue
        if np.array_equal(again.nodes, mesh.nodes) and np.array_equal(again.elements, mesh.elements):
            return {shape: keys} if kind == "tets" else {shape: keys, "elements": "hex"}
    return None


def _mesh_candidates(mesh: TetMesh | HexMesh) -> Iterator[tuple[str, Recipe]]:
    """Shapes whose bounds and number of nodes fit."""
    lower, upper = mesh.bounds
    count, size = len(mesh.nodes), upper - lower
    layers = [len(np.unique(mesh.nodes[:, axis])) for axis in range(3)]
    if count == np.prod(layers):
        yield "box", {"size": size.tolist(), "cells": [n - 1 for n in layers]}
    radius = float(upper[0])
    across = round((count / layers[2]) ** 0.5)
    if across % 2 and across**2 * layers[2] == count:
        cells = [across // 2, layers[2] - 1]
        yield "cylinder", {"radius": radius, "height": float(upper[2]), "cells": cells}
    across = round(count ** (1 / 3))
    if across % 2 and across**3 == count:
        yield "sphere", {"radius": radius, "cells": across // 2}


def rigid_recipe(body: RigidBody) -> Recipe | None:
    """The table of a rigid body with a generated surface: shape and density, or shape, mass and inertia."""
    if body.surface is None:
        return None
    for shape, keys, volume in _rigid_candidates(body.surface):
        make = getattr(RigidBody, shape)
        if not same_surface(make(**keys, density=1.0).surface, body.surface):
            continue
        for density in (float(f"{body.mass / volume:.12g}"), body.mass / volume):
            again = make(**keys, density=density)
            if again.mass == body.mass and np.array_equal(again.inertia, body.inertia):
                return {shape: keys, "density": density}
        return {shape: keys}
    return None


def _rigid_candidates(surface: SurfaceMesh) -> Iterator[tuple[str, Recipe, float]]:
    size = surface.bounds[1] - surface.bounds[0]
    if not (size > 0).all():
        return
    radius, height = float(surface.bounds[1][0]), float(size[2])
    yield "box", {"size": size.tolist()}, float(size.prod())
    yield "cylinder", {"radius": radius, "height": height}, pi * radius**2 * height
    yield "sphere", {"radius": radius}, 4 / 3 * pi * radius**3


def same_surface(a: SurfaceMesh | None, b: SurfaceMesh | None) -> bool:
    """Whether two surfaces agree to the bit."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a.nodes, b.nodes) and np.array_equal(a.triangles, b.triangles)
