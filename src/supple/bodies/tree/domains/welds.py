"""Points of several domains that were one before the cut (`DomainTree.welds`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from supple.bodies.tree.model import TreeModel

Array = np.ndarray


def weld_groups(model: TreeModel, rows: Sequence[Mapping[int, int]], start: Array) -> tuple[Array, Array]:
    """Point numbers, group by group, and where the groups begin.

    rows: of each class, the row of a node among its points; nodes without one are left out. start (d + 1,): where the
    points of a domain begin.
    """
    welds = model.domain_tree.welds
    found: dict[int, list[int]] = {}
    for group, domain, node in welds[np.argsort(welds[:, 0], kind="stable")].tolist() if len(welds) else []:
        row = rows[model.domain_class[domain]].get(node)
        if row is not None:
            found.setdefault(group, []).append(int(start[domain]) + row)
    groups = [points for points in found.values() if len(points) > 1]
    flat = np.array([p for points in groups for p in points], dtype=np.int64)
    return flat, np.concatenate([[0], np.cumsum([len(points) for points in groups])]).astype(np.int64)
