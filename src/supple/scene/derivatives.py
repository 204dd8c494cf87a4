"""One call that checks the derivatives of a force, a mapping or a whole system against central differences.

    force     f = -dE/dx at v = 0,   K = df/dx,  B = df/dv
    mapping   J = dm/dx,  <J dx, f> = <dx, J^T f>,  d(J^T f)/dx,  (dJ/dt) v
    system    the same K, B through all mappings, and the assembled matrix against the products

Differences are taken at two steps and extrapolated (Richardson), which leaves about ten digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_array
from supple.bodies.coordinates import Coordinates, Frames, FrameWithModes, Points
from supple.bodies.protocols import Force, LocalState, Mapping
from supple.errors import InputError, check_number
from supple.scene.system import System

Array = np.ndarray


@dataclass(frozen=True)
class DerivativeReport:
    """Relative error of each derivative that was checked."""

    errors: dict[str, float]
    tolerance: float

    @property
    def is_ok(self) -> bool:
        """Whether all are within the tolerance."""
        return all(error <= self.tolerance for error in self.errors.values())

    def __str__(self) -> str:
        return "\n".join(
            f"{name:<28} {error:.1e}  {'ok' if error <= self.tolerance else 'WRONG'}"
            for name, error in self.errors.items()
        )


def differentiate(function: Callable[[float], Array | float], step: float) -> Array:
    """d function(e) / de at e = 0, fourth order."""

    def central(h: float) -> Array:
        return (np.asarray(function(h)) - np.asarray(function(-h))) / (2 * h)

    return (4 * central(step / 2) - central(step)) / 3


def relative_error(value: ArrayLike, reference: ArrayLike, floor: float = 0.0) -> float:
    """|value - reference| over the larger of |reference|, |value| and floor."""
    a, b = np.asarray(value, dtype=float), np.asarray(reference, dtype=float)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)), floor)
    return float(np.linalg.norm(a - b) / size) if size > 0 else 0.0


def check_derivatives(
    thing: Any,
    x: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    t: float = 0.0,
    tolerance: float = 1e-7,
    step: float | None = None,
    seed: int = 0,
) -> DerivativeReport:
    """Check a force, a mapping or a system at positions x (n, 3 or 7) and velocities v, in random directions.

    x (1, 7 + p): of a floating body.
    step: length of the differences [m, rad]; default 1e-4 of the extent of x. `print` the report, or look at `is_ok`.

    >>> import numpy as np, supple as sp
    >>> net = sp.Particles(np.eye(3), 1.0, springs=[(0, 1), (1, 2)], stiffness=10.0).spring_force
    >>> sp.check_derivatives(net, 1.1 * np.eye(3), np.zeros((3, 3))).is_ok
    True
    """
    check_number(seed, name="seed", where="check_derivatives", least=0, whole=True)
    if step is not None:
        check_number(step, name="step", where="check_derivatives", above=0.0)
    rng = np.random.default_rng(seed)
    if isinstance(thing, System):
        return _check_system(thing, rng, t, tolerance, step, x, v)
    if x is None:
        raise InputError(
            "positions are needed to check a force or a mapping", where="check_derivatives", fix="Give x=."
        )
    x = np.atleast_2d(np.asarray(x, dtype=float))
    coordinates: Coordinates = Frames(len(x)) if x.shape[1] == 7 else Points(len(x))
    if x.shape[1] > 7:
        coordinates = FrameWithModes(x.shape[1] - 7)
    v = np.zeros((len(x), coordinates.v_width)) if v is None else np.atleast_2d(np.asarray(v, dtype=float))
    h = step or 1e-4 * (float(np.ptp(x[:, :3], axis=0).max()) or 1.0)
    if hasattr(thing, "add_force"):
        return DerivativeReport(_force_errors(thing, coordinates, t, x, v, h, rng), tolerance)
    if hasattr(thing, "apply"):
        return DerivativeReport(_mapping_errors(thing, coordinates, x, v, h, rng), tolerance)
    raise InputError("only forces, mappings and systems have derivatives", value=type(thing).__name__)


def _force_errors(
    force: Force, coordinates: Coordinates, t: float, x: Array, v: Array, h: float, rng: np.random.Generator
) -> dict[str, float]:
    def f(x: Array, v: Array) -> Array:
        out = np.zeros_like(v)
        force.add_force(LocalState(t, x, v), out)
        return out

    d, w = rng.normal(size=v.shape), rng.normal(size=v.shape)
    d /= np.abs(d).max()
    zero, still = np.zeros_like(v), f(x, np.zeros_like(v))
    work = float(np.sum(still * d))
    slope = -differentiate(lambda e: force.energy(LocalState(t, coordinates.retract(x, e * d), zero)), h)
    floor = float(np.linalg.norm(still) * np.linalg.norm(d))
    errors = {"force = -dE/dx": relative_error(work, slope, floor)} if slope != 0.0 else {}
    tangent = force.linearize(LocalState(t, x, v))
    Kd, Bw = np.zeros_like(v), np.zeros_like(v)
    tangent.add_product(d, Kd, 1.0, 0.0)
    tangent.add_product(w, Bw, 0.0, 1.0)
    errors["K = df/dx"] = relative_error(Kd, differentiate(lambda e: f(coordinates.retract(x, e * d), v), h))
    scale = h * (float(np.abs(v).max()) or 1.0) / (float(np.abs(x[:, :3]).max()) or 1.0)
    errors["B = df/dv"] = relative_error(Bw, differentiate(lambda e: f(x, v + e * w), scale))
    return errors


def _mapping_errors(
    mapping: Mapping, coordinates: Coordinates, x: Array, v: Array, h: float, rng: np.random.Generator
) -> dict[str, float]:
    tangent = mapping.linearize(x)
    d, f = rng.normal(size=v.shape), rng.normal(size=(mapping.count, 3))
    moved = differentiate(lambda e: mapping.apply(coordinates.retract(x, e * d)), h)

    def pulled(x: Array) -> Array:
        out = np.zeros_like(v)
        mapping.linearize(x).add_transpose(f, out)
        return out

    geometric = np.zeros_like(v)
    tangent.add_geometric(f, d, geometric, 1.0)
    bias = differentiate(lambda e: mapping.linearize(coordinates.retract(x, e * v)).product(v), h)
    size = float(np.linalg.norm(pulled(x)) * np.linalg.norm(d))
    speed = float(np.linalg.norm(v)) ** 2
    return {
        "J = dm/dx": relative_error(tangent.product(d), moved),
        "<J d, f> = <d, J^T f>": relative_error(np.sum(tangent.product(d) * f), np.sum(d * pulled(x)), size),
        "geometric d(J^T f)/dx": relative_error(
            geometric, differentiate(lambda e: pulled(coordinates.retract(x, e * d)), h), size
        ),
        "bias (dJ/dt) v": relative_error(tangent.bias(v), bias, speed),
    }


def _check_system(
    system: System,
    rng: np.random.Generator,
    t: float,
    tolerance: float,
    step: float | None,
    x: ArrayLike | None,
    v: ArrayLike | None,
) -> DerivativeReport:
    x = system.x0.copy() if x is None else check_array(x, name="x", where="check_derivatives").ravel()
    v = system.v0.copy() if v is None else check_array(v, name="v", where="check_derivatives").ravel()
    for name, given, size in (("x", x, system.x0.size), ("v", v, system.v_size)):
        if given.size != size or not np.isfinite(given).all():
            raise InputError(f"{name} is not {size} finite numbers", where="check_derivatives", value=given.shape)
    extent = max(float(np.ptp(s.view_x(x)[:, :3], axis=0).max()) for s in system.bodies)
    h = step or 1e-4 * (extent or 1.0)
    d, w = rng.normal(size=(2, system.v_size))
    lin = system.linearize(system.propagate(t, x, v))

    def f(x: Array, v: Array) -> Array:
        return system.force(system.propagate(t, x, v))

    Kd, Bw = lin.product(d, stiffness=1.0), lin.product(w, damping=1.0)
    errors = {
        "K = df/dx": relative_error(Kd, differentiate(lambda e: f(system.retract(x, e * d), v), h)),
        "B = df/dv": relative_error(Bw, differentiate(lambda e: f(x, v + e * w), h)),
    }
    assembled = lin.assemble(mass=1.0, damping=0.3, stiffness=0.7)
    if assembled is not None:
        y = np.empty_like(d)
        assembled.product(d, y)
        errors["assembled = products"] = relative_error(y, lin.product(d, mass=1.0, damping=0.3, stiffness=0.7))
    if system.joints:
        G = lin.joint_jacobian()
        rate = differentiate(lambda e: system.violation(system.propagate(t, system.retract(x, e * d), v)), h)
        errors["G = dphi/dx"] = relative_error(G @ d, rate)
    return DerivativeReport(errors, tolerance)
