"""Damping of links in stages: an explicit step that strong damping hardly shortens.

A step of symplectic Euler damps velocities by v <- (I - h M^-1 C) v, which needs h lambda < 2 of M^-1 C. In stages,

    v <- (I - a_k h M^-1 C) v   for k = 1 ... s,  the last together with the forces of the step,   sum a_k = 1   (14.28)
    P(z) = (1 - a_1 z) ... (1 - a_s z) = 1 - z + ...                                  what is left of v,  z = h c

each a sweep over velocities at the same places, with forces and couples that balance: momentum is kept to round-off,
and M^-1 C is the same self-adjoint operator in all of them. With C_o, the damping by everything else, which acts once,

    x' - x = (P(h M^-1 C) - h M^-1 C_o) (x - x_before) - h² M^-1 K x

is stable exactly while  h² K + 2 h C_o + 2 M (I - P) <= 4 M  and  P <= 1: as in `stable_step`, every eigenvalue is a
root of a quadratic equation with the quotients of these self-adjoint operators. So it is for voxels that are held,
guided or joined, where quotients are taken over fewer motions. Stages that follow Chebyshev's polynomials keep P within
[-1, 1] up to z of about 2 s² [AAG96]; these keep 1 + P >= 0.2 z as well, which is what K needs at a bond damping of 1.

Verlet's step with the damping between two half kicks allows the step of the undamped lattice for every damping, given
enough stages, but takes a sweep of its own for each of them and room for the kick. For a block of 3³ voxels at a bond
damping of 1, over the limit 0.57 / omega_0 of the undamped block: symplectic Euler 0.20, Verlet with two stages of
Chebyshev's 0.82, two stages as here 0.58, three 0.89; the last takes as many sweeps as Verlet with two.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from supple.errors import InputError

CLEAR = 0.98  # of the reach of stages that is used: the fastest motions are still damped


class Stages(NamedTuple):
    """shares a_k of the damping, the last of which acts with the forces. cost: of a step, over that of one stage."""

    shares: tuple[float, ...]
    cost: float

    @property
    def polynomial(self) -> Polynomial:
        """P."""
        return _polynomial(self.shares)

    @property
    def reach(self) -> float:
        """The z up to which P stays below 1, infinite where it always does."""
        return _reach(self.shares)


@cache
def _polynomial(shares: tuple[float, ...]) -> Polynomial:
    product = Polynomial([1.0])
    for share in shares:
        product = product * Polynomial([1.0, -share])
    return product


@cache
def _reach(shares: tuple[float, ...]) -> float:
    above = Polynomial(-_polynomial(shares).coef[1:])  # (1 - P) / z
    roots = above.roots()
    crossings = roots[(abs(roots.imag) < 1e-9) & (roots.real > 0)].real
    return CLEAR * float(crossings.min()) if crossings.size else np.inf


ONE_STAGE = Stages((1.0,), 1.0)
TWO_STAGES = Stages((0.5, 0.5), 1.35)
THREE_STAGES = Stages((0.6, 0.295, 0.105), 1.7)
STAGES = (ONE_STAGE, TWO_STAGES, THREE_STAGES)


class StableStep(NamedTuple):
    """step [s]: the largest stable one with these stages. single [s]: with one stage."""

    step: float
    stages: Stages
    single: float

    def stages_of(self, dt: float) -> Stages:
        """As few stages as a step of dt [s] needs."""
        return ONE_STAGE if dt <= self.single else self.stages


def check_shares(shares: tuple[float, ...], where: str) -> None:
    """Shares must damp by the whole of C."""
    if not shares or not all(0.0 <= share <= 1.0 for share in shares) or abs(sum(shares) - 1.0) > 1e-12:
        raise InputError(
            "shares of the damping do not add up to 1", where=where, value=shares, allowed="numbers from 0 to 1"
        )
