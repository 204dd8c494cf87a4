"""Vibration modes about a state: K_s d = w² M d with K_s = -df/dx, within what filters and joints leave free."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sparse
from scipy.linalg import null_space

from supple.algebra.sparse.eigenpairs import smallest_eigenpairs
from supple.errors import InputError, StabilityWarning, check_instance, check_number
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.small_motions import balance, free_basis, is_special, small_motions

Array = np.ndarray
SHIFT, ROUND_OFF = 1e-6, 1e-8
"""Of the mean of K_s over that of M: the shift below zero about which eigenvalues are looked for, and how far below
zero the eigenvalues of free motions may come by rounding."""
DENSE = 3000
"""Unknowns up to which joints are taken into account."""


@dataclass(frozen=True, eq=False)
class Modes:
    """frequencies (count,) [Hz], ascending; shapes (count, v_size), mass-normalised velocity-like vectors; growth
    (count,) [1/s]: how fast an unstable mode grows, exp(growth t), 0 where it swings. Unstable modes come first, the
    fastest before all, and have the frequency 0. system, state: which scene swings, and about what."""

    frequencies: Array
    shapes: Array
    growth: Array
    system: System = field(repr=False)
    state: State = field(repr=False)

    @property
    def is_stable(self) -> bool:
        """Whether no mode grows."""
        return not self.growth.any()


def vibration_modes(system: System, count: int = 6, *, state: State | None = None) -> Modes:
    """The lowest modes about a state at rest (default: the start), within what joints and filters leave free.

    Free bodies have six modes near zero. An equilibrium that is unstable is told by a `StabilityWarning` and by
    `growth`. Use `solve_statics` first for modes about a loaded equilibrium. Contacts that push at the state stay
    closed, with their stiffness; those that stick hold along the surface too.
    """
    check_instance(system, System, "a compiled scene", where="vibration_modes", fix="Give scene.compile().")
    if state is not None:
        check_instance(state, State, "a state", where="vibration_modes, state")
    check_number(count, name="count", where="vibration_modes", least=1, whole=True)
    state = system.initial_state() if state is None else state
    modes = _modes(system, state, count)
    if not modes.is_stable:
        warnings.warn(
            f"{np.count_nonzero(modes.growth)} of the modes grow, the fastest by exp({modes.growth.max():.3g} t): the "
            "state is not a stable equilibrium.",
            StabilityWarning,
            stacklevel=2,
        )
    return modes


def _modes(system: System, state: State, count: int) -> Modes:
    free = free_basis(system, state)
    multipliers = state.memory.get("multipliers")
    if system.joints and multipliers is None:
        multipliers = balance(system, state, free).multipliers
    motions = small_motions(system, state, multipliers)
    if system.joints:
        free = _within_joints(free, motions.G)
    K = sparse.csr_array(free.T @ motions.K @ free)
    M = sparse.csr_array(free.T @ motions.M @ free)
    K, M = (K + K.T) / 2, (M + M.T) / 2
    scale = float(np.abs(K.diagonal()).mean() / np.abs(M.diagonal()).mean())
    pairs = smallest_eigenpairs(K, M, count, sigma=-SHIFT * scale)
    growth = np.where(pairs.values < -ROUND_OFF * scale, np.sqrt(np.maximum(-pairs.values, 0.0)), 0.0)
    frequencies = np.sqrt(np.maximum(pairs.values, 0.0)) / (2 * np.pi)
    return Modes(frequencies, (free @ pairs.vectors).T, growth, system, state)


def fastest_growth(system: System, state: State) -> float:
    """How fast a small push grows about an equilibrium [1/s], 0 where it is stable."""
    return float(_modes(system, state, 1).growth.max(initial=0.0))


def warn_unstable(system: System, state: State) -> None:
    """Say that an equilibrium is unstable, where its matrix can be assembled."""
    if not is_special(system) and system.assembly is None:
        return
    fastest = fastest_growth(system, state)
    if fastest > 0:
        warnings.warn(
            f"the equilibrium is unstable: a small push grows as exp({fastest:.3g} t). Push it a little aside and look "
            "for the equilibrium in more load_steps, or settle the scene.",
            StabilityWarning,
            stacklevel=3,
        )


def _within_joints(free: sparse.csr_array, G: Any) -> sparse.csr_array:
    """Orthonormal columns of the free directions that no row of the joints sees."""
    rows = np.asarray((sparse.csr_array(G) @ free).todense())
    if rows.shape[1] > DENSE:
        raise InputError(
            "modes of systems with joints take dense matrices, and this one is too large",
            where="vibration_modes",
            value=rows.shape[1],
            allowed=f"{DENSE} unknowns",
            fix="Replace joints by stiff springs, or use coarser meshes.",
        )
    return sparse.csr_array(free @ sparse.csr_array(null_space(rows)))
