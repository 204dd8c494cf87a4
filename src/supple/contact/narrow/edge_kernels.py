"""Edges against edges, where no vertex at their ends touches the other body: corners and ridges that cross.

Two edges touch if their nearest points lie inside both, and the normal leaves each over all of its faces; else a face
or a vertex is nearer. Of closed bodies the sum of both outward normals tells whether they have passed each other. Edges
that are apart and cross during the step are met there, with the normal of both towards where the first comes from; if
they come from far, also where a vertex at their ends touches, which it may do later. The edge with the lower number is
the first side.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.closest_kernels import edge_meeting, edge_parameters
from supple.contact.narrow.normal_kernels import edge_normal, in_cone
from supple.contact.narrow.vectors import at, cross, dot, norm, scale, subtract, toward, unit
from supple.contact.narrow.vertex_kernels import KEY, NEXT, TINY, USED
from supple.contact.near_kernels import boxes_at_hand, leaf_body, place_at_hand
from supple.contact.pairs import EDGE_EDGE
from supple.contact.tree_kernels import LEAF, apart

FAST = 0.25  # part of the margin from which edges that cross are met, whatever the vertices at their ends do
SURELY = 1.0 - 1e-9  # part of a way up to which rounded ways are not beyond it
LEAN = 0.05  # sine of the angle by which a face may lean into the normal: flat faces bend a little


@compiled(inline=True)
def vertex_touches(workspace, stamp, v, body):
    """Whether vertex v has a contact with a body."""
    if workspace.stamp[v] != stamp:
        return False
    k = workspace.head[v]
    while k >= 0:
        if workspace.whole[k, KEY] >> 1 == body and workspace.whole[k, USED]:
            return True
        k = workspace.whole[k, NEXT]
    return False


@compiled(inline=True)
def free_edges(shape, workspace, stamp, t, body):
    """The edges that triangle t owns and no end of which touches a body as a vertex, as bits."""
    bits = shape.edge_mask[t]
    for c in range(3):
        if bits & ~(1 << c) and vertex_touches(workspace, stamp, shape.triangles[t, c], body):
            bits &= 1 << c  # the edge opposite the corner
    return bits


@compiled(inline=True)
def edges_apart(x, end, moves, i, j, k, l, reach):
    """Whether the boxes of edges i j and k l over the step are farther apart than reach along an axis."""
    for a in range(3):
        low1, high1 = min(x[i, a], x[j, a]), max(x[i, a], x[j, a])
        low2, high2 = min(x[k, a], x[l, a]), max(x[k, a], x[l, a])
        if moves:
            low1, high1 = min(low1, min(end[i, a], end[j, a])), max(high1, max(end[i, a], end[j, a]))
            low2, high2 = min(low2, min(end[k, a], end[l, a])), max(high2, max(end[k, a], end[l, a]))
        if low1 > high2 + reach or low2 > high1 + reach:
            return True
    return False


@compiled(inline=True)
def edge_vector(x, i, j, k, l, s, t):
    """From the point t of edge k l to the point s of edge i j."""
    return subtract(toward(at(x, i), at(x, j), s), toward(at(x, k), at(x, l), t))


@compiled(inline=True)
def close_at_rest(shape, i, j, k, l, limit):
    """Whether two edges are closer than a limit in the rest shape, by their ends and by their nearest points."""
    X = shape.rest
    s, t = edge_parameters(at(X, i), at(X, j), at(X, k), at(X, l))  # (16.4)
    if s > 0.0 and norm(edge_vector(X, i, j, k, l, s, t)) <= limit:
        return True
    return (
        end_distance(X, i, k, l) <= limit
        or end_distance(X, j, k, l) <= limit
        or end_distance(X, k, i, j) <= limit
        or end_distance(X, l, i, j) <= limit
    )


@compiled(inline=True)
def end_distance(x, v, i, j):
    """Distance of point v from edge i j."""
    p, a, d = at(x, v), at(x, i), subtract(at(x, j), at(x, i))
    s = min(max(dot(subtract(p, a), d) / dot(d, d), 0.0), 1.0)
    return norm(subtract(p, toward(a, at(x, j), s)))


@compiled(inline=True)
def is_fast(shape, x, end, t1, t2, way):
    """Whether corners of two triangles move by more than a way relative to each other."""
    for c in range(3):
        i, k = shape.triangles[t1, c], shape.triangles[t2, c]
        w = subtract(subtract(at(end, i), at(x, i)), subtract(at(end, k), at(x, k)))
        if dot(w, w) > way * way:
            return True
    return False


@compiled(inline=True)
def slow_way(margin):
    """How far corners of two triangles may move together and none of their edges be fast [m]."""
    return SURELY * FAST * margin


@compiled(inline=True)
def leaves_both(shape, x, e1, e2, n):
    """Whether n leaves edge e2 and -n edge e1 over all of their faces."""
    return in_cone(shape, x, e2, n, LEAN) and in_cone(shape, x, e1, scale(-1.0, n), LEAN)


@compiled(inline=True)
def met_edges(x, end, i, j, k, l):
    """Whether edges i j and k l cross during the step, their parameters there, and the normal of both towards where the
    first comes from."""
    time, s, t = edge_meeting(at(x, i), at(x, j), at(x, k), at(x, l), at(end, i), at(end, j), at(end, k), at(end, l))
    if time > 1.0:
        return False, s, t, (0.0, 0.0, 0.0)
    one = subtract(toward(at(x, j), at(end, j), time), toward(at(x, i), at(end, i), time))
    two = subtract(toward(at(x, l), at(end, l), time), toward(at(x, k), at(end, k), time))
    n = unit(cross(one, two))
    side = 1.0 if dot(n, edge_vector(x, i, j, k, l, s, t)) > 0.0 else -1.0
    return True, s, t, scale(side, n)


@compiled(borrows=True)
def meet_edges(shape, settings, x, end, e1, e2, b1, b2, is_free, sweeps, count, pairs_out):
    """Write the contact of edges e1 and e2 of bodies b1 and b2, if it is one and fits; returns the new count. is_free:
    no vertex at their ends touches; sweeps: whether they may cross from afar."""
    i, j, k, l = shape.edges[e1, 0], shape.edges[e1, 1], shape.edges[e2, 0], shape.edges[e2, 1]
    if i in (k, l) or j in (k, l):
        return count
    radii = shape.radius[b1] + shape.radius[b2]
    reach = radii + max(settings.margin, settings.depth)
    if edges_apart(x, end, settings.moves, i, j, k, l, reach if is_free else TINY * settings.reach):
        return count
    s, t = edge_parameters(at(x, i), at(x, j), at(x, k), at(x, l))  # (16.4)
    d = edge_vector(x, i, j, k, l, s, t)
    distance = norm(d)
    if (s < 0.0 and not sweeps) or (not settings.moves and distance > reach):
        return count
    is_met, s_met, t_met, n_met = False, s, t, d
    if s < 0.0:
        is_met, s_met, t_met, n_met = met_edges(x, end, i, j, k, l)
        if not is_met:
            return count
    n, gap, change = d, 0.0, 0.0
    outward = subtract(edge_normal(shape, x, e2), edge_normal(shape, x, e1))  # (16.2)
    both = b1 != b2 and shape.closed[b1] and shape.closed[b2]
    inside = both and dot(d, outward) < 0.0
    is_far = s < 0.0 or (not inside and distance - radii > FAST * settings.margin)
    if is_far and sweeps:
        if s >= 0.0:
            is_met, s_met, t_met, n_met = met_edges(x, end, i, j, k, l)
        if is_met and both and dot(n_met, outward) < 0.0:
            return count
        if is_met:
            s, t, n = s_met, t_met, n_met
            gap = dot(n, edge_vector(x, i, j, k, l, s, t)) - radii
    if not (is_free or (is_met and gap > FAST * settings.margin)):
        return count
    if not is_met:
        if inside and distance > settings.depth:
            return count
        if distance > TINY * (settings.margin + radii):
            n = scale((-1.0 if inside else 1.0) / distance, d)
        else:
            n = unit(outward)
        gap = (-distance if inside else distance) - radii
    if settings.moves:
        change = dot(n, edge_vector(end, i, j, k, l, s, t)) - dot(n, edge_vector(x, i, j, k, l, s, t))
    if gap + min(change, 0.0) >= settings.margin:
        return count
    if sweeps and is_far and not is_met and radii == 0.0 and gap + change < 0.0:
        return count
    if b1 == b2 and close_at_rest(shape, i, j, k, l, settings.rest_distance + radii):
        return count
    if not leaves_both(shape, x, e1, e2, n) and not (is_met and leaves_both(shape, end, e1, e2, n)):
        return count
    if count < len(pairs_out.gap):
        for m, (point, weight) in enumerate(((i, 1.0 - s), (j, s), (k, t - 1.0), (l, -t))):
            pairs_out.points[count, m], pairs_out.weights[count, m] = point, weight
        pairs_out.normal[count, 0], pairs_out.normal[count, 1], pairs_out.normal[count, 2] = n
        pairs_out.gap[count], pairs_out.kind[count] = gap, EDGE_EDGE
        pairs_out.area[count] = min(shape.edge_area[e1], shape.edge_area[e2])
    return count + 1


@compiled(borrows=True)
def meet_triangles(shape, settings, x, end, t1, t2, free1, free2, sweeps, count, pairs_out):
    """Write the contacts of the edges that two triangles own, if they fit; returns the new count.

    free1, free2: bits of the edges at whose ends no vertex touches; sweeps: whether corners may be fast.
    """
    b1, b2 = shape.triangle_body[t1], shape.triangle_body[t2]
    fast = sweeps and is_fast(shape, x, end, t1, t2, FAST * settings.margin)
    own1, own2 = (shape.edge_mask[t1], shape.edge_mask[t2]) if fast else (free1, free2)
    for c1 in range(3):
        if not (own2 and own1 >> c1 & 1):
            continue
        for c2 in range(3):
            if own2 >> c2 & 1:
                e1, e2 = shape.triangle_edges[t1, c1], shape.triangle_edges[t2, c2]
                free = (free1 >> c1 & 1) == 1 and (free2 >> c2 & 1) == 1
                if e1 < e2:
                    count = meet_edges(shape, settings, x, end, e1, e2, b1, b2, free, fast, count, pairs_out)
                elif e2 < e1:
                    count = meet_edges(shape, settings, x, end, e2, e1, b2, b1, free, fast, count, pairs_out)
    return count


@compiled(inline=True)
def free_at_hand(tree, shape, workspace, stamp, leaf, body, side):
    """Where in workspace.free the free edges of a leaf's triangles against a body are; they are computed unless at
    hand."""
    place = place_at_hand(leaf, side)
    if workspace.free_leaf[place] != leaf or workspace.free_body[place] != body:
        begin, some = tree.first[leaf], np.uint8(0)
        for e in range(tree.first[leaf + 1] - begin):
            bits = free_edges(shape, workspace, stamp, begin + e, body)
            workspace.free[place, e] = bits
            some |= bits
        workspace.free[place, LEAF] = some
        workspace.free_leaf[place], workspace.free_body[place] = leaf, body
    return place


@compiled(borrows=True)
def add_edge_contacts(tree, shape, workspace, settings, x, end, padding, leaf_count, count, pairs_out):
    """Contacts of edges from pairs of leaves, after `count` of vertices; returns how many there are in all."""
    free, box = workspace.free, workspace.leaf_box
    workspace.free_leaf[:] = -1
    for p in range(leaf_count):
        one, two = workspace.leaves[p, 0], workspace.leaves[p, 1]
        b1, b2 = leaf_body(tree, shape, one), leaf_body(tree, shape, two)
        sweeps = settings.moves and workspace.way[b1] + workspace.way[b2] > slow_way(settings.margin)
        at1 = free_at_hand(tree, shape, workspace, settings.stamp, one, b2, 0)
        if not (sweeps or free[at1, LEAF]):
            continue
        at2 = free_at_hand(tree, shape, workspace, settings.stamp, two, b1, 1)
        if not (sweeps or free[at2, LEAF]):
            continue
        row1 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, one, 0)
        row2 = boxes_at_hand(tree, shape, workspace, settings, x, end, padding, two, 1)
        f1, f2, n2 = tree.first[one], tree.first[two], tree.first[two + 1] - tree.first[two]
        for i in range(tree.first[one + 1] - f1):
            if not (sweeps or free[at1, i]):
                continue
            for j in range(i + 1 if one == two else 0, n2):
                if (sweeps or free[at2, j]) and not apart(box, row1 + i, row2 + j):
                    bits1, bits2 = free[at1, i], free[at2, j]
                    count = meet_triangles(
                        shape, settings, x, end, f1 + i, f2 + j, bits1, bits2, sweeps, count, pairs_out
                    )
    return count
