"""Floating and layered bodies as tables of a scene file."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.bodies.floating import FloatingBody
from supple.bodies.floating.matrices import MatrixSolid
from supple.bodies.floating.model import reduce
from supple.bodies.layered import LayeredBody
from supple.errors import SuppleError
from supple.files.scenes.writing.values import Table, plain
from supple.geometry import TetMesh
from supple.material import Law

Arrays = dict[str, np.ndarray]


def describe_floating(body: FloatingBody) -> tuple[Table, Arrays | None]:
    """The table of a floating body but its mesh and material, and the shapes where no modes of the solid make them."""
    model, support = body.model, body.model.support
    table: Table = {"modes": body.mode_count}
    if len(support.fixed_nodes):
        table["fixed"] = support.fixed if isinstance(support.fixed, str) else plain(support.fixed_nodes)
    table |= {"origin": plain(model.origin)}
    table |= {"stiffening": True} if model.stiffening is not None else {}
    table |= {"cubic": True} if model.cubic is not None else {}
    if not isinstance(model.solid, MatrixSolid) and model.solid.mass != "consistent":
        table["mass"] = model.solid.mass
    if body.damping.any():
        table["damping"] = plain(body.damping)
    table |= _start(body)
    try:
        same = np.array_equal(reduce(support, body.mode_count), model.U)
    except SuppleError:
        same = False
    if same:
        return table, None
    del table["modes"]
    return table, {"U": model.U}


def matrix_arrays(solid: MatrixSolid) -> Arrays:
    """Mass and stiffness as `load_matrices` reads them."""
    arrays: Arrays = {"nodes": np.asarray(solid.nodes)}
    for name in "MK":
        rows = sparse.csr_array(getattr(solid, name))
        arrays |= {f"{name}_{part}": getattr(rows, part) for part in ("data", "indices", "indptr")}
    mesh = solid.elements
    if mesh is not None:
        arrays["tets" if isinstance(mesh, TetMesh) else "hexes"] = np.asarray(mesh.elements)
    return arrays


def describe_layered(body: LayeredBody) -> Table:
    """The table of a layered body but its mesh and material."""
    model = body.model
    table: Table = {"core": plain(np.flatnonzero(model.core)), "law": Law.of(model.law).label}
    table |= {"core_density": float(model.core_density)} if model.core_density is not None else {}
    table |= {"origin": plain(model.origin_given)} if model.origin_given is not None else {}
    table |= {"mass_damping": float(body.alpha), "stiffness_damping": float(body.beta)}
    return table | _start(body)


def _start(body: Any) -> Table:
    """How it starts, where it is deformed or moves in its frame."""
    return {name: plain(getattr(body, name)) for name in ("q", "q_rate") if np.any(getattr(body, name))}
