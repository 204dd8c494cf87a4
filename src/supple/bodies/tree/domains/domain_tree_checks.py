"""What a kind of domain, and a copy of it, must be: refused by name, before anything is reduced.

An interface, and the nodes a deformable kind is held by, must fix a rotation: three nodes or more, not in line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.errors import InputError
from supple.geometry import HexMesh, TetMesh
from supple.modal.interfaces.interface import COLLINEAR

if TYPE_CHECKING:
    from supple.bodies.tree.domains.domain_tree import DomainTemplate

Array = np.ndarray
AROUND = "Add the nodes of the elements around them."


def spans_plane(X: Array) -> bool:
    """Whether points (k, 3) are at least three and not in line."""
    if len(X) < 3:
        return False
    values = np.linalg.eigvalsh(np.cov(X.T))
    return bool(values[1] > COLLINEAR * values[2])


def check_kind(kind: DomainTemplate) -> None:
    """Refuse a kind that cannot be reduced, or whose interfaces hold no rotation."""
    where = f"domain kind '{kind.name}'"
    if not isinstance(kind.mesh, TetMesh | HexMesh):
        raise InputError("a domain needs a TetMesh or a HexMesh", where=where, value=type(kind.mesh).__name__)
    if isinstance(kind.modes, bool) or not isinstance(kind.modes, int | np.integer) or kind.modes < 0:
        raise InputError("the number of modes is not a whole number from 0", where=where, value=kind.modes)
    count = len(kind.mesh.nodes)
    for label, nodes in (
        ("held", kind.held),
        *((f"interface '{name}'", p.nodes) for name, p in kind.interfaces.items()),
    ):
        if nodes.size and not (nodes.min() >= 0 and nodes.max() < count):
            raise InputError(f"a node of {label} is out of range", where=where, value=int(nodes.max()))
        if len(np.unique(nodes)) < len(nodes):
            raise InputError(f"a node of {label} is there twice", where=where, fix="Name each node once.")
    for name, interface in kind.interfaces.items():
        if not spans_plane(kind.mesh.nodes[interface.nodes]):
            raise InputError(
                f"interface '{name}' {_reason(interface.nodes)}, so it holds no rotation",
                where=where,
                value=f"{len(interface.nodes)} nodes",
                fix=AROUND,
            )
    if kind.modes:
        _check_deformable(kind, where)


def _check_deformable(kind: DomainTemplate, where: str) -> None:
    held = kind.held
    if held.size and not spans_plane(kind.mesh.nodes[held]):
        raise InputError(
            f"what the domain is held by {_reason(held)}, so it can turn",
            where=where,
            value=f"{len(held)} nodes",
            fix=f"{AROUND} A domain of 0 modes is rigid and needs none.",
        )
    largest = 3 * (len(kind.mesh.nodes) - len(held)) - (0 if held.size else 6)
    if kind.modes > largest:
        raise InputError(
            "the domain is too small for its modes",
            where=where,
            value=int(kind.modes),
            allowed=f"at most {largest}, its free unknowns",
            fix="Give it fewer modes, or 0 for a rigid domain.",
        )


def _reason(nodes: Array) -> str:
    return "has fewer than three nodes" if len(nodes) < 3 else "has its nodes in line"


def check_hangs(kind: DomainTemplate, where: str) -> None:
    """Refuse a deformable kind that is to hang on a parent and is held nowhere."""
    if kind.modes and not kind.held.size:
        raise InputError(
            f"kind '{kind.name}' hangs on a parent but is held nowhere",
            where=where,
            fix="Name the nodes where it hangs: DomainTemplate(..., held=...), or give it 0 modes.",
        )
