"""Floating and layered bodies from a scene file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.bodies.floating import FloatingBody
from supple.bodies.floating.matrices import load_matrices
from supple.bodies.floating.model import reduce
from supple.bodies.layered import LayeredBody
from supple.errors import FileFormatError, InputError
from supple.files.scenes.places import Place
from supple.geometry import SurfaceMesh
from supple.geometry.files.array_files import load_npz
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support

Array = np.ndarray
MODES = 8
"""Of a floating body that does not say how many."""


def build_floating(section: Any, mesh: Any, material: Any, place: Place) -> FloatingBody:
    """The floating body of a table; mesh, material: of its keys, None where it has matrices."""
    if section.matrices is not None:
        with place.at(f"{place.keys}.matrices").guarded():
            solid: Any = load_matrices(place.named_file(section.matrices))
    else:
        solid = ElasticSolid(mesh, material, **section.given("mass"))
    support = Support(solid, _nodes(section.fixed, solid.mesh))
    if section.basis is None:
        U = reduce(support, MODES if section.modes is None else section.modes)
    else:
        with place.at(f"{place.keys}.basis").guarded():
            U = _basis(section.basis, place)
    options = ("origin", "stiffening", "cubic", "mass_damping", "stiffness_damping", "damping_ratio", "q", "q_rate")
    given = section.given(*options)
    if section.damping is None:
        return FloatingBody.from_basis(support, U, **given)
    if _are_unlike(solid):  # then it was made with rates of its own, which the matrix does not tell
        given |= {"mass_damping": 0.0, "stiffness_damping": 0.0}
    body = FloatingBody.from_basis(support, U, **given)
    rates = None if _are_unlike(solid) else body.rates
    return replace(body, damping=_damping(section.damping, body.mode_count), rates=rates)


def _are_unlike(solid: Any) -> bool:
    """Whether the materials of a solid have different rates of damping."""
    return len({(m.mass_damping, m.stiffness_damping) for m in getattr(solid, "materials", ())}) > 1


def _basis(name: str, place: Place) -> Array:
    try:
        arrays = load_npz(place.named_file(name))
        return np.asarray(arrays["U"], dtype=float)
    except (FileFormatError, KeyError) as error:
        reason = f": {error.what}" if isinstance(error, FileFormatError) else ""
        fix = "Write it by numpy.savez(file, U=shapes)."
        raise InputError(f"the file holds no shapes U{reason}", value=name, fix=fix) from error


def _damping(D: Array, count: int) -> Array:
    if D.shape != (count, count) or not np.allclose(D, D.T):
        raise InputError("the damping is not a symmetric matrix of the modes", value=D.shape, allowed=f"{count} rows")
    return D


def _nodes(given: Any, mesh: Any) -> Any:
    if not isinstance(given, list):
        return given
    return np.unique(np.concatenate([mesh.node_region(name) for name in given]))


def build_layered(section: Any, mesh: Any, surface: SurfaceMesh | None, material: Any) -> LayeredBody:
    """The layered body of a table; mesh or surface: of its keys."""
    more = section.given("core_density", "law", "origin", "mass_damping", "stiffness_damping", "q", "q_rate")
    if surface is not None:
        return LayeredBody.from_surface(
            surface, material, thickness=section.thickness, **section.given("cells"), **more
        )
    core = section.core
    if isinstance(core, list):
        core = np.unique(np.concatenate([mesh.element_region(name) for name in core]))
    return LayeredBody.from_mesh(mesh, material, core=core, **more)
