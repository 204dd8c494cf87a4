"""What a mesh must satisfy before anything is computed on it: checks that name the first offending number."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from supple.errors import NOT_NUMBERS, InputError
from supple.geometry.meshes.region import FloatArray, IntArray

Orientation: TypeAlias = Literal["repair", "refuse"]
Isolated: TypeAlias = Literal["refuse", "drop"]

DEGENERATE = 1e-10  # |volume| / (longest edge)³ below which an element has no usable shape


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a word that is not one of the allowed ones."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(f"{name} is not a known choice", value=value, allowed=", ".join(allowed))


def check_nodes(values: Any) -> FloatArray:
    """Positions [m], (n, 3), finite, as a read-only C-ordered copy."""
    try:
        nodes = np.array(values, dtype=np.float64, order="C")
    except NOT_NUMBERS as error:
        raise InputError("the nodes are not an array of numbers", allowed="shape (n, 3)") from error
    if nodes.ndim != 2 or nodes.shape[1] != 3 or len(nodes) == 0:
        raise InputError("the nodes are not rows of x, y, z", value=nodes.shape, allowed="shape (n, 3), n > 0")
    bad = np.flatnonzero(~np.isfinite(nodes).all(axis=1))
    if bad.size:
        raise InputError(f"node {bad[0]} is not finite", value=nodes[bad[0]].tolist())
    nodes.setflags(write=False)
    return nodes


def check_elements(values: Any, width: int, kind: str, node_count: int) -> IntArray:
    """Element nodes (m, width) as int64, in range, without a node twice in one element."""
    try:
        given = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise InputError(f"the {kind} array has the wrong shape", value=values, allowed=f"(m, {width})") from None
    if given.ndim != 2 or given.shape[1] != width or len(given) == 0:
        raise InputError(f"the {kind} array has the wrong shape", value=given.shape, allowed=f"(m, {width}), m > 0")
    if not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"the {kind} indices are not whole numbers", value=str(given.dtype))
    elements = np.array(given, dtype=np.int64, order="C")
    bad = np.flatnonzero(((elements < 0) | (elements >= node_count)).any(axis=1))
    if bad.size:
        raise InputError(
            f"{kind} {bad[0]} has a node index out of range",
            value=elements[bad[0]].tolist(),
            allowed=f"0 to {node_count - 1}",
        )
    ordered = np.sort(elements, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if bad.size:
        raise InputError(
            f"{kind} {bad[0]} has a node twice", value=elements[bad[0]].tolist(), fix="Remove the element."
        )
    return elements


def check_shapes(measure: FloatArray, longest_edge: FloatArray, kind: str) -> None:
    """Refuse elements whose volume vanishes against their longest edge cubed."""
    flat = np.flatnonzero(np.abs(measure) <= DEGENERATE * longest_edge**3)
    if flat.size:
        raise InputError(
            f"{kind} {flat[0]} is degenerate: its volume is zero against its longest edge"
            + (f", and {flat.size - 1} more are" if flat.size > 1 else ""),
            value=float(measure[flat[0]]),
            fix="Remove it, or remesh there.",
        )


def refuse_inverted(inverted: IntArray, kind: str) -> InputError:
    """The error for elements whose nodes are ordered left-handed."""
    return InputError(
        f"{kind} {inverted[0]} is inverted" + (f", and {inverted.size - 1} more are" if inverted.size > 1 else ""),
        fix='Pass orientation="repair" to reorder its nodes.',
    )


def isolated_nodes(elements: IntArray, node_count: int) -> IntArray:
    """Nodes that no element uses."""
    used = np.zeros(node_count, dtype=bool)
    used[elements.ravel()] = True
    return np.flatnonzero(~used)


def refuse_isolated(isolated: IntArray) -> InputError:
    """The error for nodes that no element uses."""
    return InputError(
        f"{isolated.size} node(s) belong to no element, first node {isolated[0]}",
        fix='Pass isolated="drop" to leave them out and renumber.',
    )
