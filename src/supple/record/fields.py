"""Fields of bodies that a run records beside their surfaces, where it is asked to, for ParaView and for pictures.

    velocity   (3,) [m/s]   of the points of the surface
    strain     [-]          of the surface along itself, since the start; see `geometry.surfaces.strain`
    stress     [Pa]         von Mises', of bodies made of elements: at a point the mean of the elements around the
                            nearest node
    volume     (3,) [m]     of bodies made of tets: the nodes inside, so that a record holds the whole mesh; see
                            `supple.record.files.volumes`

Each is found at the state of the frame, in double precision, and kept in single.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.spatial import KDTree

from supple.bodies.capabilities import Stressed
from supple.bodies.surfaces import RenderSurface
from supple.errors import InputError
from supple.geometry.surfaces.strain import strain_at_points
from supple.scene.slots import Slot
from supple.scene.state import State

Array = np.ndarray
VELOCITY, STRAIN, STRESS, VOLUME = "velocity", "strain", "stress", "volume"
FIELDS: dict[str, tuple[int, ...]] = {VELOCITY: (3,), STRAIN: (), STRESS: ()}
"""Names of fields at the points of surfaces, and the shape of a value."""
NAMES = (*FIELDS, VOLUME)
"""What a run may be asked for."""
MOMENT = 1e-6
"""[s] by which points are moved on and back to find how fast they are."""
Measure = Callable[[State], Array]


def check_fields(names: object, where: str) -> tuple[str, ...]:
    """The names of fields, each once; refuses others."""
    given = (names,) if isinstance(names, str) else tuple(names) if np.iterable(names) else (names,)
    for name in given:
        if not isinstance(name, str) or name not in NAMES:
            raise InputError("no field of that name", where=where, value=name, allowed=", ".join(NAMES))
    return tuple(dict.fromkeys(str(name) for name in given))


def fields_of(slot: Slot, shown: RenderSurface, names: Iterable[str]) -> dict[str, Measure]:
    """How the fields of these names are found at the points that are shown of a body, of those that it has there."""
    makers = {VELOCITY: _velocity, STRAIN: _strain, STRESS: _stress}
    found = {name: makers[name](slot, shown) for name in names if name in makers}
    return {name: measure for name, measure in found.items() if measure is not None}


def _velocity(slot: Slot, shown: RenderSurface) -> Measure:
    def measure(state: State) -> Array:
        x, v = slot.view_x(state.x), slot.view_v(state.v)
        before, after = (shown.skin.positions(slot.coordinates.retract(x, t * v)) for t in (-MOMENT, MOMENT))
        return (after - before) / (2 * MOMENT)

    return measure


def _strain(slot: Slot, shown: RenderSurface) -> Measure | None:
    if not len(shown.triangles) and not len(shown.lines):
        return None
    X = shown.skin.positions(slot.body.place(slot.node.placement).x)

    def measure(state: State) -> Array:
        return strain_at_points(X, shown.skin.positions(slot.view_x(state.x)), shown.triangles, shown.lines)

    return measure


def _stress(slot: Slot, shown: RenderSurface) -> Measure | None:
    body, placement = slot.body, slot.node.placement
    mesh: Any = getattr(body, "mesh", None)
    x0 = body.place(placement).x
    if not isinstance(body, Stressed) or not hasattr(mesh, "elements"):
        return None
    try:
        body.stress(x0, placement)
    except InputError:  # made of matrices, without a material
        return None
    near = KDTree(placement.apply(mesh.nodes)).query(shown.skin.positions(x0))[1]
    elements = np.asarray(mesh.elements)
    count, width = elements.shape
    of = (elements.ravel(), np.repeat(np.arange(count), width))
    around = sparse.csr_array((np.ones(count * width), of), shape=(len(mesh.nodes), count))[near]
    around = sparse.csr_array(sparse.diags_array(1.0 / around.sum(axis=1)) @ around)

    def measure(state: State) -> Array:
        return np.asarray(around @ body.stress(slot.view_x(state.x), placement).von_mises)

    return measure
