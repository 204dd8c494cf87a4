"""Contacts that a step cannot carry are named, with a stiffness that it could."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from supple.contact.contact_set import ContactSet
from supple.errors import StepWarning
from supple.solvers.coupling.contact_steps import ContactStep, Solve
from supple.solvers.coupling.laws import PointLaw, SpringLaw

Array = np.ndarray
PARTS = (1 / 4, 1 / 16, 1 / 64, 1 / 256)
"""Parts of the stiffness that are tried."""


def warn_unsettled(step: ContactStep, b: Array, solve: Solve, left: float, t: float, tolerance: float) -> None:
    """Say that the forces of a step did not settle, `left` of them open, and which stiffness would have done."""
    forces = [np.linalg.norm(f.force, axis=1).max(initial=0.0) for f in step.forces(step.J.times(step.v) + step.u_0)]
    number = int(np.argmax(forces))
    law = step.laws[number]
    if isinstance(law, SpringLaw | PointLaw):
        sentence = (
            f"t = {t:.4g} s: the forces of '{law.label}' did not settle in a step of {step.h:.3g} s, "
            f"{100 * left:.2g} % of them is open. Use a smaller step."
        )
        warnings.warn(StepWarning(sentence), stacklevel=4)
        return
    assert isinstance(law, ContactSet)
    bound = step.bound[number]
    names = sorted({bound.names[k] for k in law.body.ravel()})
    advice = "Use a smaller step."
    for part in PARTS:
        softer = replace(step, laws=[_softer(s, part) if isinstance(s, ContactSet) else s for s in step.laws])
        if softer.solve(b, solve).left <= tolerance:
            advice = f"With stiffness={part * np.nanmax(bound.modulus):.2g} it settles; or use a smaller step."
            break
    sentence = (
        f"t = {t:.4g} s: the forces of contacts between {', '.join(names)} did not settle in a step of {step.h:.3g} s, "
        f"{100 * left:.2g} % of them is open. {advice}"
    )
    warnings.warn(StepWarning(sentence), stacklevel=4)


def _softer(s: ContactSet, part: float) -> ContactSet:
    names = ("stiffness", "tangential_stiffness", "dashpot", "tangential_dashpot")
    return s._replace(**{name: part * getattr(s, name) for name in names})
