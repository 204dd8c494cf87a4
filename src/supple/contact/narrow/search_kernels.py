"""One search, compiled whole: pairs of leaves, vertices near triangles, contacts of vertices, edges and points."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.ball_kernels import add_ball_contacts
from supple.contact.narrow.edge_kernels import add_edge_contacts, slow_way
from supple.contact.narrow.point_kernels import add_point_contacts
from supple.contact.narrow.vertex_kernels import collect_vertices, compute_side_lists, compute_vertex_contacts
from supple.contact.near_kernels import collect_near
from supple.contact.tree_kernels import collect_leaves, compute_boxes, compute_ends


@compiled(borrows=True)
def refit(tree, shape, workspace, x, v, dt, margin, padding, end_out, box_out):
    """Where vertices x (n, 3) [m] with velocities v (n, 3) [m/s] go in dt [s], and the boxes of all nodes around both.

    Returns how many numbers of end_out (n, 3) [m] are not finite.
    """
    bad = compute_ends(shape.body_first, x, v, dt, 0.5 * slow_way(margin), end_out, workspace.way)
    compute_boxes(tree, x, end_out, True, padding, shape.is_points, shape.vertex_radius, box_out)
    return bad


@compiled(borrows=True)
def search(tree, shape, workspace, known, next_known, settings, x, end, padding, allowed, box):
    """Contacts within the boxes of the last refit, in workspace.found, and sides to remember, in workspace.sides.

    known: remembered sides, next_known (k,): workspace for their lists. Returns how many pairs of leaves, vertices near
    elements, candidates, contacts and sides there are; where more are found than fit, only those up to there.
    """
    none = np.int64(0)
    leaf_count = collect_leaves(tree, box, workspace.order, allowed, workspace.stack, workspace.leaves)
    if leaf_count > len(workspace.leaves):
        return leaf_count, none, none, none, none
    near_count = collect_near(tree, shape, workspace, settings, x, end, padding, box, leaf_count)
    if near_count > len(workspace.near):
        return leaf_count, near_count, none, none, none
    compute_side_lists(known, workspace, settings.stamp, next_known)
    candidates = collect_vertices(shape, workspace, known, next_known, settings, x, end, near_count)
    if candidates > len(workspace.whole):
        return leaf_count, near_count, candidates, none, none
    found = workspace.found
    count, sides = compute_vertex_contacts(shape, workspace, settings, x, end, candidates, workspace.sides, found)
    count = add_edge_contacts(tree, shape, workspace, settings, x, end, padding, leaf_count, count, found)
    if settings.has_points:
        count = add_ball_contacts(shape, workspace, settings, x, end, near_count, count, found)
        count = add_point_contacts(shape, workspace, settings, x, end, near_count, count, found)
    return leaf_count, near_count, candidates, count, sides
