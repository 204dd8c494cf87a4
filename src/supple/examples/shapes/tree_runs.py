"""What the examples of trees of domains look at in their runs: points over time, work of a pull, strains of domains."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def path(run: Any, body: str, points: Array) -> Array:
    """Mean position of some points of a body in every frame, (frames, 3) [m]."""
    count = len(run.frames.times)
    return np.array([run.frames.points(body, k)[points].mean(axis=0, dtype=float) for k in range(count)])


def work(force: Array, way: Array) -> Array:
    """Work [J] that a force (frames, 3) [N] has done along a way (frames, 3) [m] up to each frame."""
    parts = 0.5 * (force[1:] + force[:-1]) * np.diff(way, axis=0)
    return np.concatenate([[0.0], np.cumsum(parts.sum(axis=1))])


def domain_strains(body: Any, x: Array) -> Array:
    """A mean strain of each domain, (d,) [-]: that of a bar of its stiffness with its density of elastic energy.

    sqrt(2 W / (E V)), W: elastic energy, V: volume; 0 for rigid domains.
    """
    model, out = body.model, np.zeros(body.model.domain_count)
    q = x[0, 7 : 7 + model.coordinate_count]
    for number, kind in enumerate(model.classes):
        if kind.force is None:
            continue
        material = model.domain_tree.kinds[kind.name].material
        volume = kind.integrals.mass / material.density
        energy = kind.force.energy(q[model.coordinates_of(number)])  # of a copy at scale 1, which strains alike
        out[model.members(number)] = np.sqrt(2 * np.maximum(energy, 0.0) / (material.young * volume))
    return out
