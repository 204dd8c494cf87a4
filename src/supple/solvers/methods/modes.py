"""Vibration modes about a state: K_s d = w² M d with K_s = -df/dx, filtered directions left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.eigenpairs import smallest_eigenpairs
from supple.errors import InputError
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


class Modes(NamedTuple):
    """frequencies (count,) [Hz], ascending; shapes (count, v_size), mass-normalised velocity-like vectors."""

    frequencies: Array
    shapes: Array


def vibration_modes(system: System, count: int = 6, *, state: State | None = None) -> Modes:
    """The lowest modes about a state at rest (default: the start). Free bodies have six modes near zero.

    Use `solve_statics` first for modes about a loaded equilibrium.
    """
    if system.joints:
        raise InputError("modes of systems with joints are not computed", fix="Replace joints by stiff springs.")
    state = system.initial_state() if state is None else state
    lin = system.linearize(system.propagate(state.t, state.x, np.zeros(system.v_size)))
    free = _free_basis(system)
    K = sparse.csr_array(free.T @ lin.matrix(stiffness=-1.0) @ free)
    M = sparse.csr_array(free.T @ lin.matrix(mass=1.0) @ free)
    K, M = (K + K.T) / 2, (M + M.T) / 2
    shift = -1e-6 * float(np.abs(K.diagonal()).mean() / np.abs(M.diagonal()).mean())
    pairs = smallest_eigenpairs(K, M, count, sigma=shift)
    return Modes(np.sqrt(np.maximum(pairs.values, 0.0)) / (2 * np.pi), (free @ pairs.vectors).T)


def _free_basis(system: System) -> sparse.csr_array:
    """Orthonormal columns that span the directions the filters leave free."""
    n = system.v_size
    keep = np.ones(n, dtype=bool)
    extra: list[tuple[int, Array]] = []
    for block, C in zip(system.filter.blocks, system.filter.projectors):
        keep[3 * block : 3 * block + 3] = False
        values, vectors = np.linalg.eigh(C)
        extra += [(int(block), vectors[:, k]) for k in range(3) if values[k] > 0.5]
    identity = sparse.eye_array(n, format="csc")[:, np.flatnonzero(keep)]
    if not extra:
        return sparse.csr_array(identity)
    rows = np.concatenate([3 * b + np.arange(3) for b, _ in extra])
    cols = np.repeat(np.arange(len(extra)), 3)
    values = np.concatenate([d for _, d in extra])
    return sparse.csr_array(sparse.hstack([identity, sparse.coo_array((values, (rows, cols)), shape=(n, len(extra)))]))
