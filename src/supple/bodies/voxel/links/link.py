"""The link between two voxels, a beam of one algebraic energy that is exact at any rotation.

    p = q1* q2 with p_w >= 0,   tau = vec(p) / (1 + p_w) = tan(angle/4) n,   q_m = (q1 + q2) / |q1 + q2|
    d = R_m^T (x2 - x1),   u = d - rest e_x
    E = u^T K_u u / 2 + (4 tau)^T K_t (4 tau) / 2,   K_u = diag(a1, b1, b1),  K_t = diag(a2, b3/2, b3/2)

In the mean frame the Bernoulli beam [HL12, eq. 7] has exactly this diagonal form, since b1 l = 2 b2, b1 l² = 6 b3. With
the angular velocities w1, w2 it turns by w_m = (w1 + w2 + e × tau) / 2, e = w2 - w1, and d(4 tau)/dt = (1 + tau²) e.
Damping is that of the rates s and e, which need no frame: s = v2 - v1 - (w1 + w2)/2 × (x2 - x1) is du/dt but for
e × tau / 2.

    f = K_u u,    g = K_t 4 tau,       D = (c_u s² + c_t e²) / 2
    loads on the voxels:  F1 = f + c_u s,  F2 = -F1,  m1 = A + B,  m2 = A - B,
                          A = d × F1 / 2,  B = (1 + tau²) g - tau × (d × f) / 2 + c_t e

so that force and torque balance whatever f, g and s are, and damping vanishes for rigid motion. 4 tau is 0.5 % longer
than the rotation vector at 0.5 rad, 2 % at 1 rad; only a full turn is singular. Links lie along x; for y and z permute
the axes cyclically.

    code: stiffness (a1, b1, a2, b3/2) [N/m, N/m, N m, N m]; damping (c_u [N s/m], c_t [N m s]); rest [m]

All functions are of values: numbers treat one link, SIMD lanes treat several.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, matrix_rotate_inverse
from supple.algebra.lanes.lane_type import copysign, maximum

SHORTEST = 0.01
"""Part of a voxel's size: axial stiffness follows rest lengths down to it."""


@compiled(inline=True)
def add(a, b):
    """a + b of vectors."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled(inline=True)
def subtract(a, b):
    """a - b of vectors."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled(inline=True)
def scale(s, a):
    """s a of a vector."""
    return s * a[0], s * a[1], s * a[2]


@compiled(inline=True)
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(inline=True)
def axial_by_rest(axial, edge, rest):
    """E l²/L0 [N/m] of a link whose rest length L0 [m] has changed, from E l [N/m] and the voxel size l [m]."""
    return axial * (edge / maximum(rest, SHORTEST * edge))  # (14.29)


@compiled(inline=True)
def link_frame(q1, q2):
    """tau and the mean rotation R_m (nine values) of two unit quaternions."""
    aw, ax, ay, az = q1
    bw, bx, by, bz = q2
    p = aw * bw + ax * bx + ay * by + az * bz
    sign = copysign(1.0, p)
    bw, bx, by, bz = sign * bw, sign * bx, sign * by, sign * bz
    n = 1.0 / (1.0 + sign * p)  # = 2 / |q1 + q2|², (14.6)
    tau = (
        n * (aw * bx - bw * ax - (ay * bz - az * by)),  # (14.6)
        n * (aw * by - bw * ay - (az * bx - ax * bz)),  # (14.6)
        n * (aw * bz - bw * az - (ax * by - ay * bx)),  # (14.6)
    )
    w, x, y, z = aw + bw, ax + bx, ay + by, az + bz  # (14.6)
    nx, ny, nz = n * x, n * y, n * z
    xx, yy, zz = nx * x, ny * y, nz * z
    xy, xz, yz = nx * y, nx * z, ny * z
    wx, wy, wz = nx * w, ny * w, nz * w
    R = (  # (1.5)
        1.0 - yy - zz, xy - wz, xz + wy,
        xy + wz, 1.0 - xx - zz, yz - wx,
        xz - wy, yz + wx, 1.0 - xx - yy,
    )  # fmt: skip
    return tau, R


@compiled(inline=True)
def link_energy(stiffness, rest, d, q1, q2):
    """Energy [J]. d = x2 - x1 in world axes."""
    tau, R = link_frame(q1, q2)
    x, y, z = matrix_rotate_inverse(R, d)  # (14.7)
    u = x - rest  # (14.7)
    axial, lateral, twist, bend = stiffness
    stretch = axial * u * u + lateral * (y * y + z * z)  # (14.8)
    turn = twist * tau[0] * tau[0] + bend * (tau[1] * tau[1] + tau[2] * tau[2])  # (14.8)
    return 0.5 * stretch + 8.0 * turn  # (14.8)


@compiled(inline=True)
def mean_turn(tau, w1, w2):
    """w_m, the turning of the mean frame while its ends turn by w1, w2 (mean axes)."""
    return scale(0.5, add(add(w1, w2), cross(subtract(w2, w1), tau)))  # (14.9)


@compiled(inline=True)
def link_turn(q1, q2):
    """tau in world axes, and of R_m its first column, the direction of the link."""
    aw, ax, ay, az = q1
    bw, bx, by, bz = q2
    p = aw * bw + ax * bx + ay * by + az * bz
    sign = copysign(1.0, p)
    bw, bx, by, bz = sign * bw, sign * bx, sign * by, sign * bz
    n = 1.0 / (1.0 + sign * p)  # (14.6)
    tau = (
        n * (aw * bx - bw * ax + (ay * bz - az * by)),  # (14.6)
        n * (aw * by - bw * ay + (az * bx - ax * bz)),  # (14.6)
        n * (aw * bz - bw * az + (ax * by - ay * bx)),  # (14.6)
    )
    w, x, y, z = aw + bw, ax + bx, ay + by, az + bz  # (14.6)
    ny, nz = n * y, n * z
    return tau, (1.0 - ny * y - nz * z, ny * x + nz * w, nz * x - ny * w)  # (1.5)


@compiled(inline=True)
def link_damping(damping, d, v, w1, w2):
    """F1, A, B of the damping alone, see `link_loads`; in any axes, all in the same."""
    cu, ct = damping
    half = scale(0.5, d)
    f = scale(cu, subtract(v, cross(add(w1, w2), half)))  # (14.10)
    return f, cross(half, f), scale(ct, subtract(w2, w1))  # (14.12)


@compiled(inline=True)
def link_loads(stiffness, damping, rest, d, q1, q2, v, w1, w2):
    """F1, A, B in world axes: forces F1, -F1 [N] and moments A + B, A - B [N m] on voxels 1 and 2.

    d = x2 - x1, v = v2 - v1, angular velocities w1, w2, all in world axes. Laterally K_u and K_t are isotropic, so that
    of the mean frame its direction along the link is all it takes.
    """
    axial, lateral, twist, bend = stiffness
    tau, along = link_turn(q1, q2)
    h = 1.0 + dot(tau, tau)
    u = subtract(d, scale(rest, along))  # (14.7)
    stretch = (axial - lateral) * dot(along, u)
    turned = 4.0 * h * (twist - bend) * dot(along, tau)
    F, A, B = link_damping(damping, d, v, w1, w2)
    F = add(F, add(scale(lateral, u), scale(stretch, along)))  # (14.11)
    half = scale(0.5 * (stretch - lateral * rest), cross(d, along))  # d × f / 2
    g = add(scale(4.0 * h * bend, tau), scale(turned, along))  # (14.11)
    return F, add(A, half), add(B, subtract(g, cross(tau, half)))  # (14.12)


@compiled(inline=True)
def link_differential(stiffness, damping, rest, tau, d, v, w1, w2, dx, p1, p2):
    """Change of (F1 in world axes, moment 1 and 2 in the axes of their voxels), all three in mean axes.

    Voxel 2 moves by dx relative to voxel 1 and the voxels turn by p1, p2 [rad]; all arguments in mean axes. The
    voxels' velocities stay as they are: linear in world axes, angular in their own axes.
    """
    axial, lateral, twist, bend = stiffness
    cu, ct = damping
    turn = mean_turn(tau, p1, p2)  # (14.13)
    h = 1.0 + dot(tau, tau)
    dtau = scale(0.25 * h, subtract(p2, p1))  # (14.13)
    dh = 2.0 * dot(tau, dtau)
    dd = subtract(dx, cross(turn, d))  # (14.13)
    # rates
    e, middle = subtract(w2, w1), scale(0.5, add(w1, w2))
    rate = subtract(v, cross(middle, d))  # (14.10)
    dw1, dw2 = cross(subtract(p1, turn), w1), cross(subtract(p2, turn), w2)  # (14.14)
    de, dmiddle = subtract(dw2, dw1), scale(0.5, add(dw1, dw2))
    drate = subtract(cross(v, turn), add(cross(dmiddle, d), cross(middle, dd)))  # (14.10), (14.14)
    # loads in the mean frame
    f = (axial * (d[0] - rest), lateral * d[1], lateral * d[2])  # (14.11)
    df = (axial * dd[0], lateral * dd[1], lateral * dd[2])  # (14.11)
    G, dG = cross(d, f), add(cross(dd, f), cross(d, df))  # (14.12)
    twist, bend = 4.0 * twist, 4.0 * bend
    g, dg = (twist * tau[0], bend * tau[1], bend * tau[2]), (twist * dtau[0], bend * dtau[1], bend * dtau[2])  # (14.11)
    B = add(subtract(scale(h, g), scale(0.5, cross(tau, G))), scale(ct, e))  # (14.12)
    dB = subtract(add(scale(dh, g), scale(h, dg)), scale(0.5, add(cross(dtau, G), cross(tau, dG))))  # (14.12)
    dB = add(dB, scale(ct, de))
    f, df = add(f, scale(cu, rate)), add(df, scale(cu, drate))  # (14.12)
    A, dA = scale(0.5, cross(d, f)), scale(0.5, add(cross(dd, f), cross(d, df)))  # (14.12)
    # the axes they are seen in turn as well
    dF = add(df, cross(turn, f))  # (14.15)
    dm1 = add(add(dA, dB), cross(subtract(turn, p1), add(A, B)))  # (14.15)
    dm2 = add(subtract(dA, dB), cross(subtract(turn, p2), subtract(A, B)))  # (14.15)
    return dF, dm1, dm2
