"""Marks that forces and mappings may carry: plain attributes, false where they are absent."""

from __future__ import annotations

from typing import Any


def is_load(force: object) -> bool:
    """Whether a force is given from outside (`is_load`), and so grows with the load steps."""
    return bool(getattr(force, "is_load", False))


def is_passive(force: object) -> bool:
    """Whether a force gives no more energy than it has stored (`is_passive`): no time, nothing driven."""
    return bool(getattr(force, "is_passive", False))


def has_energy(force: object) -> bool:
    """Whether a force may have an energy; one that never has says so (`has_energy`)."""
    return bool(getattr(force, "has_energy", True))


def spin_loss(force: object) -> float | None:
    """The rate [1/s] at which a force takes angular momentum about the centre of mass from its body (`spin_loss`): 0
    where it pulls points of the body at each other alone; None where it may turn the body."""
    rate = getattr(force, "spin_loss", None)
    return None if rate is None else float(rate)


def has_memory(force: object) -> bool:
    """Whether a force sees what its body remembers (`remembers`)."""
    return bool(getattr(force, "remembers", False))


def needs_stride(force: object) -> bool:
    """Whether what holds a body is not all in its forces, but in its own stride (`needs_stride`)."""
    return bool(getattr(force, "needs_stride", False))


def is_lumped(mass: object) -> bool:
    """Whether a mass is block-diagonal; one that does not say so (`is_lumped`) is."""
    return bool(getattr(mass, "is_lumped", True))


def is_linear(mapping: object) -> bool:
    """Whether J of a mapping is constant (`is_linear`)."""
    return bool(getattr(mapping, "is_linear", False))


def is_weightless(mass: object) -> bool:
    """Whether gravity does no work on a mass (`is_weightless`), as its weight is in its shape."""
    return bool(getattr(mass, "is_weightless", False))


def weighs_by_force(mass: Any) -> bool:
    """Whether the weight of a mass is a force of its own, `mass.weight(g)`."""
    return hasattr(mass, "weight")
