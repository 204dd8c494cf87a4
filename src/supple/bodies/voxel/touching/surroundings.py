"""What bricks of voxels meet in the world: planes, spheres, boxes, a height field, a fluid. Symbols as in `contact`.

    box        with p = A (x - c), q_k = |p_k| - h_k: the distance is |max(q, 0)| outside and max q inside
    ground     distance (z - h(x, y)) n_z, n = (-h_x, -h_y, 1) / |...|, h bilinear between its samples
    fluid      F = -rho C/2 sum over exposed faces of A |u_n| u_n n,  u: velocity relative to the flow, faces that move
               into the fluid alone;  buoyancy -rho V g, times the part of a voxel's size below the surface

All functions are of values in SIMD lanes.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import any_greater, copysign, load, maximum, minimum, select_ge, sqrt, store
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_data import CONTACT, SKIN
from supple.bodies.voxel.sweep.brick_links import load_three
from supple.interaction.law_kernels import FREE, friction_share, normal_force
from supple.interaction.obstacle_kernels import sample_heights

RESTING = 1e-6  # a voxel that moves along a surface by less than this part of a step's friction is at rest


@compiled(inline=True)
def along(planes, p, u):
    """The part of u along the normal of plane p, as a length."""
    return u[0] * planes[4 * p] + u[1] * planes[4 * p + 1] + u[2] * planes[4 * p + 2]


@compiled(inline=True)
def tangential(planes, p, u):
    """The part of u along plane p."""
    a = along(planes, p, u)
    return u[0] - a * planes[4 * p], u[1] - a * planes[4 * p + 1], u[2] - a * planes[4 * p + 2]


@compiled(inline=True)
def push(planes, p, stiffness, damping, x, v, size):
    """Acceleration by plane p along its normal, zero off the plane."""
    depth = 0.5 * size - (along(planes, p, x) - planes[4 * p + 3])
    return normal_force(stiffness, damping, depth, -along(planes, p, v), FREE)


@compiled(inline=True)
def slowing(static, kinetic, a, u, before):
    """Part of the tangential velocity u that friction takes out of it, under a normal push a; before: u last step."""
    speed = sqrt(dot(u, u))
    rests = RESTING * static * a
    mu = select_ge(rests * rests, dot(before, before), static, kinetic)
    return friction_share(speed, mu * a, kinetic * a)


@compiled(inline=True)
def contact_of(bricks, b, W):
    """k/m, c/m, mu_s, mu_d of a brick."""
    at = b * CONTACT * W
    contact = bricks.contact
    return load(contact, at), load(contact, at + W), load(contact, at + 2 * W), load(contact, at + 3 * W)


@compiled(inline=True)
def meet_planes(bricks, b, W, step, s, v):
    """Velocities after contact with the planes; v: the candidates without it, s: the state at the step's start."""
    stiffness, damping, static, kinetic = contact_of(bricks, b, W)
    planes = step.planes
    for p in range(len(planes) // 4):
        a = step.dt * push(planes, p, stiffness, damping, s[0], s[2], s[4])
        v = (v[0] + a * planes[4 * p], v[1] + a * planes[4 * p + 1], v[2] + a * planes[4 * p + 2])
    for p in range(len(planes) // 4):
        a = step.dt * push(planes, p, stiffness, damping, s[0], s[2], s[4])
        u, before = tangential(planes, p, v), tangential(planes, p, s[2])
        v = subtract(v, scale(slowing(static, kinetic, a, u, before), u))
    return v


@compiled(inline=True)
def meet(constants, dt, s, v, n, distance):
    """Velocities after contact with a surface of normal n at a distance from the centres."""
    stiffness, damping, static, kinetic = constants
    depth = 0.5 * s[4] - distance
    a = dt * normal_force(stiffness, damping, depth, -dot(n, s[2]), FREE)
    v = add(v, scale(a, n))
    u, before = subtract(v, scale(dot(n, v), n)), subtract(s[2], scale(dot(n, s[2]), n))
    return subtract(v, scale(slowing(static, kinetic, a, u, before), u))


@compiled(inline=True)
def meet_spheres(bricks, b, W, step, s, v):
    """The same with the spheres."""
    constants, spheres = contact_of(bricks, b, W), step.spheres
    for p in range(len(spheres) // 4):
        r = (s[0][0] - spheres[4 * p], s[0][1] - spheres[4 * p + 1], s[0][2] - spheres[4 * p + 2])
        distance = sqrt(dot(r, r))
        n = scale(1.0 / maximum(distance, 1e-30), r)
        v = meet(constants, step.dt, s, v, n, distance - spheres[4 * p + 3])
    return v


@compiled(inline=True)
def box_axis(boxes, at, k, r):
    """Along axis k of a box: p, and |p| less half the edge."""
    a = at + 3 + 3 * k
    p = boxes[a] * r[0] + boxes[a + 1] * r[1] + boxes[a + 2] * r[2]
    return p, maximum(p, -p) - boxes[at + 12 + k]


@compiled(inline=True)
def box_distance(boxes, at, x):
    """Normals and distances of a box of 15 numbers: centre, axes by rows, half edges."""
    r = (x[0] - boxes[at], x[1] - boxes[at + 1], x[2] - boxes[at + 2])
    (p0, q0), (p1, q1), (p2, q2) = box_axis(boxes, at, 0, r), box_axis(boxes, at, 1, r), box_axis(boxes, at, 2, r)
    out = (maximum(q0, 0.0), maximum(q1, 0.0), maximum(q2, 0.0))
    away, inner = sqrt(dot(out, out)), maximum(maximum(q0, q1), q2)
    zero = 0.0 * inner
    outside = 1.0 / maximum(away, 1e-30)
    # inside, the nearest face alone
    n0 = select_ge(0.0, inner, select_ge(q0, inner, zero + 1.0, zero), outside * out[0])
    n1 = select_ge(0.0, inner, select_ge(q1, inner, zero + 1.0, zero), outside * out[1])
    n2 = select_ge(0.0, inner, select_ge(q2, inner, zero + 1.0, zero), outside * out[2])
    n0, n1, n2 = copysign(n0, p0), copysign(n1, p1), copysign(n2, p2)
    n = (
        n0 * boxes[at + 3] + n1 * boxes[at + 6] + n2 * boxes[at + 9],
        n0 * boxes[at + 4] + n1 * boxes[at + 7] + n2 * boxes[at + 10],
        n0 * boxes[at + 5] + n1 * boxes[at + 8] + n2 * boxes[at + 11],
    )
    n = scale(1.0 / maximum(sqrt(dot(n, n)), 1e-30), n)  # a tie of faces inside
    return n, select_ge(0.0, inner, inner, away)


@compiled(inline=True)
def meet_boxes(bricks, b, W, step, s, v):
    """The same with the boxes."""
    constants, boxes = contact_of(bricks, b, W), step.boxes
    for p in range(len(boxes) // 15):
        n, distance = box_distance(boxes, 15 * p, s[0])
        v = meet(constants, step.dt, s, v, n, distance)
    return v


@compiled(borrows=True)
def measure_ground(ground, place, scratch, start, W):
    """Normals and distances of W points: fields 0 to 2 of the scratch hold x, 3 to 5 take n, 6 the distance."""
    x_at, y_at, z_at = start + int(place[5]) * W, start + int(place[6]) * W, start + int(place[7]) * W
    for k in range(W):
        h, hx, hy = sample_heights(ground, place, scratch[x_at + k], scratch[y_at + k])
        n = 1.0 / np.sqrt(1.0 + hx * hx + hy * hy)
        scratch[x_at + 3 * W + k] = -hx * n
        scratch[y_at + 3 * W + k] = -hy * n
        scratch[z_at + 3 * W + k] = n
        scratch[start + 6 * W + k] = (scratch[z_at + k] - h) * n


@compiled(inline=True)
def meet_ground(bricks, slabs, slab, b, W, step, s, v):
    """The same with the height field; place[4] is its highest height, place[5:8] where x, y, z stand in the sweep."""
    place = step.ground_place
    at = b * 0 + int(place[7])
    z = s[0][0] if at == 0 else (s[0][1] if at == 1 else s[0][2])
    if any_greater(0.5 * s[4] + place[4], z):
        start = slab * 8 * W
        scratch = slabs.scratch
        store(scratch, start, s[0][0])
        store(scratch, start + W, s[0][1])
        store(scratch, start + 2 * W, s[0][2])
        measure_ground(step.ground, place, scratch, start, W)
        n = load_three(scratch, start + 3 * W, W)
        v = meet(contact_of(bricks, b, W), step.dt, s, v, n, load(scratch, start + 6 * W))
    return v


@compiled(inline=True)
def face_drag(skin, at, W, n, u):
    """|u_n| u_n n of the faces along one axis that move into the fluid; n: the axis in the world."""
    along = dot(u, n)
    faces = select_ge(along, 0.0, load(skin, at), load(skin, at + W))
    return scale(faces * along * maximum(along, -along), n)


@compiled(inline=True)
def fluid_force(bricks, b, W, step, s):
    """Drag and buoyancy on a brick [N].

    fluid: rho C / 2, rho, surface normal (3), offset, flow (3), voxels above the surface are dry.
    """
    fluid = step.fluid
    x, q, v, _, size = s
    wet = 0.5 - (x[0] * fluid[2] + x[1] * fluid[3] + x[2] * fluid[4] - fluid[5]) / size
    wet = minimum(maximum(wet, 0.0), 1.0)
    u = (v[0] - fluid[6], v[1] - fluid[7], v[2] - fluid[8])
    qw, qx, qy, qz = q
    at = b * SKIN * W
    n = (1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qw * qz), 2.0 * (qx * qz - qw * qy))
    drag = face_drag(bricks.skin, at, W, n, u)
    n = (2.0 * (qx * qy - qw * qz), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qw * qx))
    drag = add(drag, face_drag(bricks.skin, at + 2 * W, W, n, u))
    n = (2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy))
    drag = add(drag, face_drag(bricks.skin, at + 4 * W, W, n, u))
    area = -fluid[0] * size * size * wet
    lift = -fluid[1] * size * size * size * wet
    return (
        area * drag[0] + lift * step.gx,
        area * drag[1] + lift * step.gy,
        area * drag[2] + lift * step.gz,
    )
