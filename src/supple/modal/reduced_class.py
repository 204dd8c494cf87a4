"""`ReducedClass`: all that is computed once for a domain and shared by its copies; `reduce_solid` makes it.

The mesh's coordinates are the domain's frame: put the frame's origin where the parent's interface is before reducing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.compiling.compiled import PACKAGE
from supple.errors import InputError
from supple.modal.basis import Attachment, Inner, reduced_basis
from supple.modal.cache import cached_arrays, content_key
from supple.modal.compliance import Loss
from supple.modal.forces.cubic import CubicForce
from supple.modal.integrals import MassIntegrals
from supple.modal.interfaces.interface import Interface, InterfaceFit
from supple.modal.support import Support

Array = np.ndarray
_FORCE = ("linear", "quadratic", "cubic")
_INTEGRALS = ("mass", "S0", "P0", "U_bar", "W5", "W7")
_FIT = ("x_hat", "a_hat", "A_rest", "A_modes")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class ReducedClass:
    """nodes: X [m], (node_count, 3). U: basis (3 node_count, r). interfaces: fits by name. loss: of compliance by the
    basis, where it was looked at."""

    nodes: Array
    U: Array
    force: CubicForce
    integrals: MassIntegrals
    interfaces: Mapping[str, InterfaceFit] = field(default_factory=lambda: _NOTHING)
    loss: Loss | None = None

    @classmethod
    def of(
        cls, support: Support, U: Array, interfaces: Mapping[str, Interface] = _NOTHING, *, loss: Loss | None = None
    ) -> ReducedClass:
        """Of a solid in a given basis U (3 node_count, r), zero at the held nodes."""
        solid, U = support.solid, np.ascontiguousarray(U, dtype=float)
        force = CubicForce.of(solid, U)
        held = U.reshape(solid.node_count, 3, -1)[support.fixed_nodes]
        if held.size and not np.abs(held).max() <= 1e-9 * np.abs(U).max():
            raise InputError("the basis moves held nodes", where="ReducedClass", value=float(np.abs(held).max()))
        fits = {name: interface.fit(U) for name, interface in interfaces.items()}
        return cls(solid.mesh.nodes, U, force, MassIntegrals.of(solid, U), MappingProxyType(fits), loss)

    @property
    def count(self) -> int:
        """r, the number of coordinates q."""
        return self.U.shape[1]

    @property
    def mass(self) -> Array:
        """U^T M U (r, r) [kg]; the identity where the basis is orthonormal in the solid's mass."""
        return self.integrals.W4

    def positions(self, q: Array) -> Array:
        """X + U q [m] of q (..., r): (..., node_count, 3)."""
        return self.nodes + (q @ self.U.T).reshape(*q.shape[:-1], *self.nodes.shape)

    def scaled(self, factor: float) -> ReducedClass:
        """The class of the solid `factor` times as large, of the same material, with the same basis.

        Frequencies fall as 1/factor. Nothing is computed anew.
        """
        if not np.isfinite(factor) or factor <= 0:
            raise InputError("the scale factor is not positive", where="ReducedClass.scaled", value=factor)
        fits = {name: fit.scaled(factor) for name, fit in self.interfaces.items()}
        return ReducedClass(
            factor * self.nodes,
            self.U,
            self.force.scaled(factor),
            self.integrals.scaled(factor),
            MappingProxyType(fits),
            self.loss,
        )

    def to_arrays(self) -> dict[str, Array]:
        """Plain arrays by name, for the cache and for files."""
        out = {"nodes": self.nodes, "U": self.U}
        out |= {f"force.{name}": getattr(self.force, name) for name in _FORCE}
        out |= {f"integrals.{name}": np.asarray(getattr(self.integrals, name)) for name in _INTEGRALS}
        if self.loss is not None:
            out["loss"] = np.array(self.loss)
        for label, fit in self.interfaces.items():
            out |= {f"interface.{name}.{label}": getattr(fit, name) for name in _FIT}
        return out

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> ReducedClass:
        """The class of `to_arrays`."""
        integrals = {name: arrays[f"integrals.{name}"] for name in _INTEGRALS[1:]}
        labels = [name.removeprefix("interface.x_hat.") for name in arrays if name.startswith("interface.x_hat.")]
        fits = {label: InterfaceFit(*(arrays[f"interface.{name}.{label}"] for name in _FIT)) for label in labels}
        loss = arrays.get("loss")
        return cls(
            arrays["nodes"],
            arrays["U"],
            CubicForce(*(arrays[f"force.{name}"] for name in _FORCE)),
            MassIntegrals(float(arrays["integrals.mass"]), **integrals),
            MappingProxyType(fits),
            None if loss is None else Loss(float(loss[0]), float(loss[1]), int(loss[2]), int(loss[3])),
        )


def reduce_solid(
    support: Support,
    count: int,
    *,
    attachments: Mapping[str, Attachment] = _NOTHING,
    linear: int | None = None,
    inner: Inner = "mass",
    statics: bool = False,
    keep: bool = True,
) -> ReducedClass:
    """The class of a solid with `count` coordinates; attachments: what hangs on it, by the interface's name.

    linear, inner, statics: as of `reduced_basis`. keep: read from the cache where the same was reduced before, and kept
    there.

    >>> from supple.geometry import box_tets
    >>> from supple.material import Material
    >>> from supple.modal.solid import ElasticSolid
    >>> beam = ElasticSolid(box_tets(size=(1, 0.1, 0.1), cells=(8, 1, 1)), Material(1e6, 0.3, 1000))
    >>> reduce_solid(Support(beam, "x_min"), 6, keep=False).count
    6
    """

    def make() -> ReducedClass:
        with one_blas_thread():
            given = tuple(attachments.values())
            basis = reduced_basis(support, count, linear=linear, attachments=given, inner=inner, statics=statics)
            interfaces = {name: a.interface for name, a in attachments.items()}
            return ReducedClass.of(support, basis.U, interfaces, loss=basis.loss)

    if not keep:
        return make()
    solid = support.solid
    key = content_key(
        _sources(),
        solid.mesh.content_hash,
        [asdict(material) for material in solid.materials],
        solid.element_material,
        solid.mass,
        support.fixed_nodes,
        [int(count), linear, inner, statics, list(attachments)],
        *(part for name in sorted(attachments) for part in _attachment_parts(name, attachments[name])),
    )
    return ReducedClass.from_arrays(cached_arrays("reduced", key, lambda: make().to_arrays()))


def _attachment_parts(name: str, attachment: Attachment) -> list[Any]:
    face = attachment.interface
    numbers = [name, float(attachment.mass), float(attachment.arm)]
    return [numbers, face.nodes, np.asarray(face.weights), np.asarray(face.rest_rotation)]


@cache
def _sources() -> str:
    """Hash of the sources that make a class, so that a changed method does not read what an older one kept."""
    digest = hashlib.sha256()
    for folder in ("algebra", "elements", "material", "modal"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
