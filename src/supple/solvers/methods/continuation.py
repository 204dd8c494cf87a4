"""Equilibrium of any scene by pseudo-transient continuation: implicit Euler from rest with a growing step [KK98].

    (M / h² + K) dx = f + G^T l,    G dx = -phi;        h grows as the forces that are left shrink

A short step follows the fall of a body until it touches something; a long one is Newton's. Trees, joints and contacts
are in f and K by `small_motions`. A step after which more is left is taken back, and tried shorter.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.small_motions import SmallMotions, balance, dense, free_basis, small_motions
from supple.solvers.report import Outcome, StepReport

Array = np.ndarray
FIRST = 3.0
"""The first step, times sqrt(M / K) of the mean."""
GROWTH, SHORTER = 10.0, 0.2
"""How much the step may grow at once, and how much shorter one is that failed."""
WORSE = 1.5
"""How much more may be left after a step that is kept: contacts that close push at once."""


def find_equilibrium(system: System, state: State, *, tolerance: float, max_iterations: int) -> StepReport:
    """Move the state to equilibrium at its time, in place; velocities become zero."""
    state.v[:] = 0.0
    free = free_basis(system, state)
    now = balance(system, state, free)
    motions = small_motions(system, state, now.multipliers)
    h, iteration = _first_step(motions, free), 0
    while max(now.left, now.gap) > tolerance and iteration < max_iterations:
        iteration += 1
        new = state.copy()
        new.x = system.retract(state.x, _move(system, state, motions, free, h))
        system.filter.project_position(new.x, new.t)
        found = balance(system, new, free)
        if not found.left + found.gap <= WORSE * (now.left + now.gap):
            h *= SHORTER
            continue
        h *= min(GROWTH, max(1.0, 2.0 * (now.left + now.gap) / max(found.left + found.gap, 1e-300)))
        state.x, now = new.x, found
        motions = small_motions(system, state, now.multipliers)
    if system.joints:
        state.memory["multipliers"] = now.multipliers
    outcome = Outcome.SOLVED if max(now.left, now.gap) <= tolerance else Outcome.NEWTON_LIMIT
    return StepReport(outcome, iteration, residual=max(now.left, now.gap))


def _first_step(motions: SmallMotions, free: sparse.csr_array) -> float:
    """[s]."""
    K, M = ((free.T @ A @ free).diagonal() for A in (motions.K, motions.M))
    stiff, heavy = float(np.abs(K).mean()), float(np.abs(M).mean())
    return FIRST * float(np.sqrt(heavy / stiff)) if stiff > 0 else 0.01


def _move(system: System, state: State, motions: SmallMotions, free: sparse.csr_array, h: float) -> Array:
    """dx of a step of h [s], (v_size,)."""
    A = dense(free.T @ (motions.M / h**2 + motions.K) @ free)
    if not system.joints:
        return np.asarray(free @ np.linalg.lstsq(A, free.T @ motions.f, rcond=None)[0])
    kin = system.propagate(state.t, state.x, np.zeros(system.v_size), state.memory)
    G, phi = motions.G @ free, system.violation(kin)
    rows = np.block([[A, -G.T], [G, np.zeros((len(phi), len(phi)))]])
    found = np.linalg.lstsq(rows, np.concatenate([free.T @ motions.f, -phi]), rcond=1e-14)[0]
    return np.asarray(free @ found[: A.shape[0]])
