"""Vertices against triangles: for each vertex and other body the one contact that stands for it.

A closed other body    nearest feature if the vertex is outside it. Inside, the nearest triangle that looks against the
                       vertex: near a rim the nearest one of all may be a side that pushes along the contact. So too
                       for a vertex on the rim itself, beside the other body by a rounding error.
A sheet, or oneself    nearest feature on each of both sides, the farther dropped where it lies next to the nearer in
                       the rest shape. A side is where the vertex was when it touched last; oneself, if closed, is
                       touched from outside alone.
In motion              a triangle met during the step stands before the nearest, with the side the vertex comes from.
A point                is a vertex without faces: it looks every way, and stands for all of its contact by itself, since
                       the vertices of the other side do not report it.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.closest_kernels import meeting, nearest_vector
from supple.contact.narrow.normal_kernels import face_normal, facing_area, feature_normal, vertex_normal
from supple.contact.narrow.vectors import at, blend, cross, dot, norm, scale, subtract, toward, unit
from supple.contact.pairs import VERTEX_TRIANGLE

VERTEX, KEY, NEAR, FACING, MET, NEXT, USED = range(7)
STRAIGHT = 0.99  # cosine of the angle between a normal and the way out that counts as straight
SIDEWAYS = 0.05  # part of a vertex's area that faces a side it is beside: flat faces bend a little
TINY = 1e-9  # a distance this small against the margin and radii has no direction of its own


@compiled(borrows=True)
def compute_side_lists(sides, workspace, stamp, next_out):
    """Lists of the remembered sides by vertex."""
    for k in range(len(sides.vertex)):
        v = sides.vertex[k]
        next_out[k] = workspace.side_head[v] if workspace.side_stamp[v] == stamp else -1
        workspace.side_head[v], workspace.side_stamp[v] = k, stamp


@compiled(inline=True)
def rest_centre(shape, t):
    """Centre of a triangle at rest."""
    third = 1.0 / 3.0
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    return blend((third, third, third), at(shape.rest, i), at(shape.rest, j), at(shape.rest, k))


@compiled(inline=True)
def rest_distance2(shape, t1, t2):
    """Square of the distance of two triangles' centres in the rest shape [m²]; infinite for two bodies."""
    if shape.triangle_body[t1] != shape.triangle_body[t2]:
        return np.inf
    d = subtract(rest_centre(shape, t1), rest_centre(shape, t2))
    return dot(d, d)


@compiled(borrows=True)
def remembered_side(shape, workspace, sides, side_next, settings, v, t):
    """The side of triangle t on which vertex v was when it touched there last, or 0: that of the nearest at rest."""
    if workspace.side_stamp[v] != settings.stamp:
        return 0
    k, best, side, least = workspace.side_head[v], settings.reach * settings.reach, 0, -1
    while k >= 0:
        d2 = rest_distance2(shape, sides.triangle[k], t)
        rank = 2 * shape.number[sides.triangle[k]] + (sides.side[k] < 0)  # of equals, in any order of the list
        if d2 < best or (d2 == best and (side == 0 or rank < least)):
            best, side, least = d2, sides.side[k], rank
        k = side_next[k]
    return side


@compiled(borrows=True)
def candidate(workspace, stamp, v, key, count):
    """The row of vertex v with this key, new where there was none, or -1 where there is no workspace; and the new
    count."""
    if workspace.stamp[v] != stamp:
        workspace.stamp[v], workspace.head[v] = stamp, -1
    k = workspace.head[v]
    while k >= 0:
        if workspace.whole[k, KEY] == key:
            return k, count
        k = workspace.whole[k, NEXT]
    if count >= len(workspace.whole):
        return -1, count + 1
    workspace.whole[count, VERTEX], workspace.whole[count, KEY], workspace.whole[count, NEXT] = (
        v,
        key,
        workspace.head[v],
    )
    workspace.whole[count, NEAR] = workspace.whole[count, FACING] = workspace.whole[count, MET] = -1
    workspace.whole[count, USED] = 0
    workspace.real[count, 0] = workspace.real[count, 1] = workspace.real[count, 2] = np.inf
    workspace.head[v] = count
    return count, count + 1


@compiled(inline=True)
def keep_nearest(shape, workspace, k, column, t, value):
    """Note triangle t if its value is smaller than that noted; of equals the smallest number in the surface."""
    noted = workspace.whole[k, NEAR + column]
    if value < workspace.real[k, column] or (
        value == workspace.real[k, column] and shape.number[t] < shape.number[noted]
    ):
        workspace.real[k, column], workspace.whole[k, NEAR + column] = value, t


@compiled(inline=True)
def swept_apart(x, end, moves, v, i, j, k, reach):
    """Whether the boxes of a vertex and a triangle over the step are farther apart than reach along an axis."""
    for a in range(3):
        low, high = min(x[i, a], x[j, a], x[k, a]), max(x[i, a], x[j, a], x[k, a])
        least, largest = x[v, a], x[v, a]
        if moves:
            low = min(low, min(end[i, a], end[j, a], end[k, a]))
            high = max(high, max(end[i, a], end[j, a], end[k, a]))
            least, largest = min(least, end[v, a]), max(largest, end[v, a])
        if (least > high + reach) | (largest < low - reach):
            return True
    return False


@compiled(inline=True)
def looks_against(n, outward):
    """Whether a vertex with an outward normal looks against another, both of any length, and not merely along it."""
    c = dot(n, outward)
    return c < 0.0 and c * c > SIDEWAYS * SIDEWAYS * dot(outward, outward) * dot(n, n)


@compiled(inline=True)
def may_meet(shape, workspace, settings, x, end, v, t, d2):
    """Whether vertex v may meet triangle t within the step, from which it is at a distance of d2 [m²] squared."""
    way = workspace.way[shape.vertex_body[v]] + workspace.way[shape.triangle_body[t]] + TINY * settings.reach
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    return settings.moves and d2 <= way * way and not swept_apart(x, end, True, v, i, j, k, TINY * settings.reach)


@compiled(borrows=True)
def meet_vertex(shape, workspace, sides, side_next, settings, x, end, v, t, count):
    """Take triangle t, near vertex v, into the candidates of v; returns their new number."""
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    own, body = shape.vertex_body[v], shape.triangle_body[t]
    reach = shape.vertex_radius[v] + shape.radius[body] + max(settings.margin, settings.depth)
    p, a, b, c = at(x, v), at(x, i), at(x, j), at(x, k)
    w, d = nearest_vector(p, a, b, c)
    d2 = dot(d, d)
    if not settings.moves and d2 > reach * reach:
        return count
    if own == body:
        _, r = nearest_vector(at(shape.rest, v), at(shape.rest, i), at(shape.rest, j), at(shape.rest, k))
        if dot(r, r) <= (settings.rest_distance + shape.radius[own] + shape.radius[body]) ** 2:
            return count
    time, met_side = 2.0, 0.0
    if may_meet(shape, workspace, settings, x, end, v, t, d2):
        time, met_side, _, _, _ = meeting(p, a, b, c, at(end, v), at(end, i), at(end, j), at(end, k))  # (16.5)
    stamp = settings.stamp
    if shape.closed[body] and own != body:
        row, count = candidate(workspace, stamp, v, 2 * body, count)
        if row < 0:
            return count
        keep_nearest(shape, workspace, row, 0, t, d2)
        n = cross(subtract(b, a), subtract(c, a))
        if dot(d, n) < 0.0 and (shape.is_points[own] or looks_against(n, vertex_normal(shape, workspace, stamp, x, v))):
            keep_nearest(shape, workspace, row, 1, t, d2)
        if time <= 1.0 and met_side > 0.0:
            keep_nearest(shape, workspace, row, 2, t, time)
        return count
    side = remembered_side(shape, workspace, sides, side_next, settings, v, t)
    if time <= 1.0 and (side == 0 or side == met_side) and (met_side > 0.0 or not shape.closed[body]):
        row, count = candidate(workspace, stamp, v, 2 * body + (met_side < 0.0), count)
        if row < 0:
            return count
        keep_nearest(shape, workspace, row, 2, t, time)
    if side == 0:
        side = 1 if dot(d, feature_normal(shape, workspace, stamp, x, t, w)) >= 0.0 else -1
    if side > 0 or not shape.closed[body]:
        row, count = candidate(workspace, stamp, v, 2 * body + (side < 0), count)
        if row < 0:
            return count
        keep_nearest(shape, workspace, row, 0, t, d2)
    return count


@compiled(borrows=True)
def collect_vertices(shape, workspace, sides, side_next, settings, x, end, near_count):
    """Candidates of all vertices near triangles; returns how many there are, more than fit if too many."""
    count = np.int64(0)  # not a literal, for which callees would be compiled once more
    for row in range(near_count):
        v, t = workspace.near[row, 0], workspace.near[row, 1]
        if shape.is_points[shape.triangle_body[t]]:
            continue
        if v not in (shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]):
            count = meet_vertex(shape, workspace, sides, side_next, settings, x, end, v, t, count)
    return count


@compiled(borrows=True)
def write_vertex(shape, v, t, w, n, gap, area, k, pairs_out):
    """Contact k: vertex v on the feature of triangle t with weights w."""
    points, weights = pairs_out.points, pairs_out.weights
    points[k, 0], weights[k, 0] = v, 1.0
    m = 1
    for c in range(3):
        if w[c] > 0.0:
            points[k, m], weights[k, m] = shape.triangles[t, c], -w[c]
            m += 1
    if m == 3 and points[k, 1] > points[k, 2]:
        points[k, 1], points[k, 2] = points[k, 2], points[k, 1]
        weights[k, 1], weights[k, 2] = weights[k, 2], weights[k, 1]
    for c in range(m, 4):
        points[k, c], weights[k, c] = -1, 0.0
    pairs_out.normal[k, 0], pairs_out.normal[k, 1], pairs_out.normal[k, 2] = n
    pairs_out.gap[k], pairs_out.kind[k], pairs_out.area[k] = gap, VERTEX_TRIANGLE, area


@compiled(inline=True)
def weighted_vector(shape, x, v, t, w):
    """x_v minus the point of triangle t with weights w."""
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    return subtract(at(x, v), blend(w, at(x, i), at(x, j), at(x, k)))


@compiled(borrows=True)
def met_contact(shape, x, end, v, t):
    """Weights where vertex v meets triangle t, and the normal there towards where it comes from."""
    i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
    time, side, wa, wb, wc = meeting(
        at(x, v), at(x, i), at(x, j), at(x, k), at(end, v), at(end, i), at(end, j), at(end, k)
    )
    a = toward(at(x, i), at(end, i), time)
    b = toward(at(x, j), at(end, j), time)
    c = toward(at(x, k), at(end, k), time)
    return (wa, wb, wc), scale(side, unit(cross(subtract(b, a), subtract(c, a))))


@compiled(inline=True)
def is_faced(shape, end, v, n, area):
    """Whether vertex v looks against n where the step ends or begins, where it turns an area [m²] to it. One that does
    not, and would be met from aside, is followed by others of its body that do, or slides along: the front of a block
    passes over the vertices of a flat face. The rim of a sheet looks nowhere."""
    own = shape.vertex_body[v]
    if shape.is_points[own] or not shape.closed[own]:
        return True
    least = SIDEWAYS * shape.vertex_area[v]
    return area > least or facing_area(shape, end, v, n) > least


@compiled(borrows=True)
def part_beside(shape, x, v, facing, d, outward):
    """How far vertex v, outside at d from the nearest point, counts as sunk into a triangle that it faces, 0 to 1.

    On the rim of a face that lies flush on another it is hardly outside its side, does not face that, and is behind its
    face. It does the less the farther it is from straight behind the face, and the more it faces the side: a contact
    that stopped at once would give back another energy than it took.
    """
    i, j, k = shape.triangles[facing, 0], shape.triangles[facing, 1], shape.triangles[facing, 2]
    _, e = nearest_vector(at(x, v), at(x, i), at(x, j), at(x, k))
    behind, e2 = -dot(e, face_normal(shape, x, facing)), dot(e, e)
    if behind <= STRAIGHT * np.sqrt(e2):
        return 0.0
    n = unit(d) if dot(d, d) > TINY * e2 else unit(outward)
    side = facing_area(shape, x, v, n) / (SIDEWAYS * shape.vertex_area[v])
    return max(0.0, 1.0 - side) * (behind * behind / e2 - STRAIGHT * STRAIGHT) / (1.0 - STRAIGHT * STRAIGHT)


@compiled(borrows=True)
def compute_vertex_contacts(shape, workspace, settings, x, end, candidates, sides_out, pairs_out):
    """Contacts from candidates; returns their number and that of the sides to remember. Both fit: one a candidate."""
    count = side_count = np.int64(0)  # not a literal, for which callees would be compiled once more
    for row in range(candidates):
        v, body = workspace.whole[row, VERTEX], workspace.whole[row, KEY] >> 1
        own, near, met = shape.vertex_body[v], workspace.whole[row, NEAR], workspace.whole[row, MET]
        two_sided = own == body or not shape.closed[body]
        side = -1.0 if workspace.whole[row, KEY] & 1 else 1.0
        radii, is_point = shape.vertex_radius[v] + shape.radius[body], shape.is_points[own]
        t, w, n, gap, inside, beside = near, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.inf, False, 0.0
        if near >= 0:
            i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
            w, d = nearest_vector(at(x, v), at(x, i), at(x, j), at(x, k))
            outward = feature_normal(shape, workspace, settings.stamp, x, t, w)  # (16.2)
            inside = side * dot(d, outward) < 0.0
            facing = workspace.whole[row, FACING]
            if not two_sided and facing >= 0 and not inside and not is_point:
                beside = part_beside(shape, x, v, facing, d, outward)
            if not two_sided and facing >= 0 and (inside or beside > 0.0):
                inside, t = True, facing
                i, j, k = shape.triangles[t, 0], shape.triangles[t, 1], shape.triangles[t, 2]
                w, d = nearest_vector(at(x, v), at(x, i), at(x, j), at(x, k))
                outward = face_normal(shape, x, t)
            distance = norm(d)
            if distance > TINY * (settings.margin + radii):
                n = scale((-1.0 if inside else 1.0) / distance, d)
            else:
                n = scale(side, unit(outward))
            gap = (-distance if inside else distance) - radii
            inside = inside and distance <= settings.depth and (two_sided or facing >= 0)
            if gap < -radii and not inside:
                gap = np.inf
        is_met, area = met >= 0 and not inside, 0.0
        if is_met:
            w_met, n_met = met_contact(shape, x, end, v, met)
            area = facing_area(shape, x, v, n_met)
            is_met = is_faced(shape, end, v, n_met, area)
            if is_met:
                t, w, n = met, w_met, n_met
                gap = dot(n, weighted_vector(shape, x, v, t, w)) - radii
        change = 0.0
        if settings.moves and gap < np.inf:
            change = dot(n, weighted_vector(shape, end, v, t, w)) - dot(n, weighted_vector(shape, x, v, t, w))
        if not is_met:
            if gap + min(change, 0.0) >= settings.margin:
                continue
            if gap > settings.margin and gap + change < 0.0 and radii == 0.0:  # it passes by, however far it goes
                continue
            area = facing_area(shape, x, v, n)
            if gap > 0.0 and not is_faced(shape, end, v, n, area):
                continue
        if two_sided and is_doubled(shape, workspace, row, t, abs(gap + radii), settings.reach):
            continue
        area = 2.0 * shape.vertex_area[v] if is_point else area
        if area <= TINY * shape.vertex_area[v]:
            if not is_met:
                continue
            area = shape.vertex_area[v]
        elif inside and beside > 0.0:
            area *= beside
        write_vertex(shape, v, t, w, n, gap, 0.5 * area, count, pairs_out)
        workspace.whole[row, USED] = 1
        count += 1
        if two_sided:
            sides_out.vertex[side_count], sides_out.triangle[side_count] = v, t
            sides_out.side[side_count] = side
            side_count += 1
    return count, side_count


@compiled(borrows=True)
def is_doubled(shape, workspace, row, t, distance, reach):
    """Whether the other side of the same body has a nearer triangle that lies next to t in the rest shape."""
    other = workspace.head[workspace.whole[row, VERTEX]]
    while other >= 0:
        if workspace.whole[other, KEY] == (workspace.whole[row, KEY] ^ 1):
            rival = workspace.whole[other, MET] if workspace.whole[other, MET] >= 0 else workspace.whole[other, NEAR]
            if rest_distance2(shape, rival, t) <= reach * reach:
                if workspace.whole[other, MET] >= 0:
                    return workspace.whole[row, MET] < 0
                return workspace.whole[row, MET] < 0 and workspace.real[other, 0] < distance * distance
        other = workspace.whole[other, NEXT]
    return False
