"""How far interfaces depart from rigid motion while a flower swings by 45 degrees [BZ11, fig. 3].

    A = (sum w x d^T) (sum w d d^T)^+,   deviation |A - R P| / |P|,   gap: max |x - R d| / size

d, x: offsets of an interface's nodes from their weighted mean at rest and now; R: the child's frame; P: the projector
on what d spans. A child holds its side of the interface rigid, so that the gap is what opens between the two.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from supple.bodies.tree import TreeModel, TreeMotion
from supple.validation.figure import COLOURS, INK, make_figure, save_figure
from supple.validation.row import Row, bounded
from supple.validation.tree.flower import FINE, LARGE, reduced_flower, tree_motions

Array = np.ndarray
STRAIN = 0.016
"""Of a stem of 8 mm radius bent by 45 degrees over 0.4 m: its interfaces may depart from rigid motion to this order."""


def departures(model: TreeModel, motion: TreeMotion) -> Array:
    """Deviation and gap of every child's interface, (d - 1, 2)."""
    out = np.empty((model.domain_count - 1, 2))
    kinds = model.domain_tree.kinds
    for child in range(1, model.domain_count):
        above = int(model.parent[child])
        kind, shared = model.domain_tree.domains[above].kind, model.classes[model.domain_class[above]]
        interface = kinds[kind].interfaces[model.domain_tree.domains[child].interface]
        w = interface.weights / interface.weights.sum()
        rest = shared.nodes[interface.nodes]
        now = shared.positions(motion.q[model.q_starts[above] : model.q_starts[above + 1]])[interface.nodes]
        d, x = rest - w @ rest, now - w @ now
        R = motion.R[above].T @ motion.R[child]  # the rest rotation of the flower's interfaces is none
        second = (w[:, None] * d).T @ d
        inverse = np.linalg.pinv(second, rcond=1e-3, hermitian=True)
        P = second @ inverse
        A = (w[:, None] * x).T @ d @ inverse
        size = float(np.linalg.norm(d, axis=1).max())
        gap = float(np.linalg.norm(x - d @ R.T, axis=1).max())
        out[child - 1] = np.linalg.norm(A - R @ P) / np.linalg.norm(P), gap / size
    return out


@cache
def departures_in_time() -> Array:
    """Of the articulated flower, step by step, (steps, d - 1, 2)."""
    model = reduced_flower()
    return np.array([departures(model, motion) for motion in tree_motions("articulated", LARGE, dt=FINE)])


def interfaces() -> list[Row]:
    """The largest departures of all eleven interfaces over an oscillation."""
    case, found = "tree/fig3", departures_in_time()
    source = "the strain of the stem"
    return [
        bounded(case, "largest deviation of A from R", float(found[..., 0].max()), 2 * STRAIN, source=source),
        bounded(case, "mean deviation of A from R", float(found[..., 0].mean()), STRAIN, source=source),
        bounded(case, "largest gap over the interface's radius", float(found[..., 1].max()), 3 * STRAIN, source=source),
    ]


def draw_interfaces(path: Path) -> None:
    """Deviation of each interface against time, and the largest gap."""
    found, model = departures_in_time(), reduced_flower()
    times = FINE * np.arange(1, len(found) + 1)
    figure, axes = make_figure(8.0, 5.0, rows=2)
    worst = np.argsort(-found[..., 0].max(axis=0))
    for rank, k in enumerate(worst):
        name = model.domain_tree.domains[k + 1].name if rank < len(COLOURS) else None
        colour = COLOURS[rank] if rank < len(COLOURS) else "#bbbbbb"
        axes[0, 0].plot(times, 100 * found[:, k, 0], color=colour, label=name, linewidth=1)
    axes[0, 0].set_ylabel("|A - R| / |P| [%]")
    axes[0, 0].legend(fontsize=8, frameon=False)
    axes[1, 0].plot(times, 100 * found[..., 1].max(axis=1), color=INK)
    axes[1, 0].set_ylabel("largest gap [% of radius]")
    axes[1, 0].set_xlabel("time [s]")
    save_figure(figure, path)


CASES = {"tree/fig3": interfaces}
PICTURES = {"tree/fig3": draw_interfaces}
