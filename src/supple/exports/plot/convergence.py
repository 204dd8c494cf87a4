"""Convergence: how fast errors fall as steps or cells become smaller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.errors import InputError, check_number
from supple.exports.plot.paper import FAINT, INK, colours, make_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = np.ndarray


def convergence(
    sizes: Sequence[float] | Array,
    errors: Sequence[float] | Array | Mapping[str, Sequence[float]],
    *,
    order: float | None = None,
    size_label: str = "step [s]",
    error_label: str = "relative error [-]",
) -> Figure:
    """Errors (n,) over step or cell sizes (n,), both on logarithmic axes, with the slope of the line fitted to them; a
    mapping gives several curves by name. order: of the method, drawn as a dashed line to compare with.

    >>> import supple as sp
    >>> figure = sp.plot.convergence([0.1, 0.05, 0.025], [1e-2, 2.5e-3, 6.25e-4], order=2)
    >>> figure.axes[0].lines[0].get_label()
    'slope 2.00'
    """
    h = _positive(sizes, "sizes")
    if len(set(h)) < 2:
        raise InputError("a slope needs two sizes", where="plot.convergence, sizes", value=list(h), allowed=">= 2")
    curves = dict(errors) if isinstance(errors, Mapping) else {"": errors}
    figure, (axes,) = make_figure(title="convergence")
    for (name, given), colour in zip(curves.items(), colours(len(curves))):
        e = _positive(given, f"errors {name}".strip(), len(h))
        slope, _ = np.polyfit(np.log(h), np.log(e), 1)
        label = f"{name}, slope {slope:.2f}" if name else f"slope {slope:.2f}"
        axes.loglog(h, e, "o-", color=colour, label=label)
    if order is not None:
        check_number(order, name="order", where="plot.convergence", above=0.0)
        ends = np.array([h.min(), h.max()])
        first = _positive(next(iter(curves.values())), "errors", len(h))
        ideal = first[np.argmax(h)] * (ends / h.max()) ** order
        axes.loglog(ends, ideal, "--", color=INK, linewidth=1.0, label=f"order {order:g}")
    axes.grid(which="minor", color=FAINT, linewidth=0.3)
    axes.set(xlabel=size_label, ylabel=error_label)
    axes.legend(frameon=False)
    return figure


def _positive(given: Sequence[float] | Array, name: str, count: int | None = None) -> Array:
    values = check_array(given, name=name, where="plot.convergence")
    if values.ndim != 1 or (count is not None and len(values) != count):
        allowed = f"{count} numbers, one a size" if count is not None else "a list of numbers"
        raise InputError(f"{name} have another shape", where="plot.convergence", value=values.shape, allowed=allowed)
    if not len(values) or not (np.isfinite(values) & (values > 0.0)).all():
        raise InputError(f"{name} must be positive", where="plot.convergence", value=values.tolist(), allowed="> 0")
    return values
