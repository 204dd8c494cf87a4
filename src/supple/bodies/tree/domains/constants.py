"""Constants of classes for the kernels: shared by all lanes of a group, or every lane with its own.

A group of copies of one class reads the class's numbers, each spread over the lanes (`shared_constants`, flat arrays).
A group of different classes is a class of its own, made of its lanes' classes (`own_constants`, arrays (rows, LANES) in
the same order of rows): coordinates that a lane's class lacks have a mass of 1 and no other constants, and interfaces
that it lacks lie still at its origin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.model import ReducedTemplate
from supple.modal.interfaces.interface_kernels import FitArrays

Array = np.ndarray


class Constants(NamedTuple):
    """Of each class: fixed (10: mass, S0, P0), mass (r, r), U_bar (3, r), W5 (r, 9), W7 (r, r, 9), fits of its
    interfaces.

    W5 and W7 hold the upper triangle of the symmetric part and twice the axial vector. W7 of groups has the pairs
    l >= p alone, row by row: the others have the same symmetric and the opposite axial part. interface_start
    (interfaces of all): where an interface's modes begin in the fits.
    """

    fixed: Array
    mass: Array
    U_bar: Array
    W5: Array
    W7: Array
    fits: FitArrays
    interface_start: Array


def class_constants(kind: ReducedTemplate, r: int, interfaces: int) -> list[list[Array]]:
    """Flat constants of a class as one of r coordinates and so many interfaces: an array of each field, and each
    interface's."""
    g, n = kind.integrals, kind.count
    mass, U_bar, W5, W7 = np.eye(r), np.zeros((3, r)), np.zeros((r, 9)), np.zeros((r, r, 9))
    mass[:n, :n], U_bar[:, :n] = g.W4, g.U_bar
    W5[:n] = np.concatenate([upper(g.W5), g.W2], axis=-1)
    W7[:n, :n] = np.concatenate([upper(g.W7), g.W6], axis=-1)
    out = [[np.array([g.mass, *g.S0, *upper(g.P0)]), mass.ravel(), U_bar.ravel(), W5.ravel(), W7.ravel()]]
    for k in range(interfaces):
        x, A, a, modes = np.zeros(3), np.eye(3), np.zeros((3, r)), np.zeros((r, 3, 3))
        if k < len(kind.fits):
            fit = kind.fits[k]
            x, A = fit.x_hat, fit.A_rest
            a[:, :n], modes[:n] = fit.a_hat, fit.A_modes
        out.append([x, A.ravel(), a.ravel(), modes.ravel()])
    return out


def shared_constants(classes: tuple[ReducedTemplate, ...]) -> Constants:
    """Of classes whose copies share them, flat."""
    return _join([class_constants(c, c.count, len(c.fits)) for c in classes], (0,))


def own_constants(groups: list[tuple[list[ReducedTemplate], int, int]]) -> Constants:
    """Of groups: the classes of LANES lanes, with r and interfaces; (rows, LANES)."""
    made = []
    for lanes, r, interfaces in groups:
        each = [class_constants(c, r, interfaces) for c in lanes]
        lower = (
            (9 * np.ravel_multi_index(np.tril_indices(r), (r, r))[:, None] + np.arange(9)).ravel() if r else slice(0)
        )
        for own, *_ in each:
            own[-1] = own[-1][lower]
        made.append([[np.stack(rows, axis=-1) for rows in zip(*parts)] for parts in zip(*each)])
    return _join(made, (0, LANES))


def _join(made: list[list[list[Array]]], empty: tuple[int, ...]) -> Constants:
    fields = [[m[0][k] for m in made] for k in range(5)]
    fits = [[interface[k] for m in made for interface in m[1:]] for k in range(4)]
    starts = np.concatenate([[0], np.cumsum([len(a) // 3 for a in fits[2]])]).astype(np.int64)
    fixed, mass, U_bar, W5, W7 = (_all(f, empty) for f in fields)
    return Constants(fixed, mass, U_bar, W5, W7, FitArrays(*(_all(f, empty) for f in fits)), starts)


def _all(arrays: list[Array], empty: tuple[int, ...]) -> Array:
    joined = np.concatenate([np.zeros(empty), *arrays])
    out = aligned_zeros(joined.size).reshape(joined.shape)
    out[...] = joined
    return out


def upper(matrices: Array) -> Array:
    """The upper triangle of the symmetric part of matrices (..., 3, 3), (..., 6)."""
    S = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
    return np.stack([S[..., i, j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))], axis=-1)


def aligned_zeros(count: int) -> Array:
    """Zeros that begin at a cache line, so that no row of lanes lies across two."""
    raw = np.zeros(count + 8)
    first = (-raw.ctypes.data % 64) // 8
    return raw[first : first + count]
