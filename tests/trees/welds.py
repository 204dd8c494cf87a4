"""Beams one behind the other whose surfaces are one at their joints."""

from __future__ import annotations

import numpy as np

from supple.bodies.tree import DomainTree
from supple.validation.tree.coupling import beam_domain_tree


def welded_beams(count: int, modes: int) -> DomainTree:
    """What `beam_domain_tree` makes, with the nodes of each joint welded."""
    tree = beam_domain_tree(count, modes)
    tip, end = (sorted(nodes) for nodes in (tree.kinds["part"].interfaces["tip"].nodes, tree.kinds["part"].held))
    welds = [
        (below * len(tip) + k, domain, int(nodes[k]))
        for below in range(count - 1)
        for k in range(len(tip))
        for domain, nodes in ((below, tip), (below + 1, end))
    ]
    return DomainTree(tree.kinds, tree.domains, np.array(welds))
