"""The rotation of a 3x3 matrix, as one formula for scalars and SIMD lanes without branches on data.

Polar decomposition A = R S, R a rotation (det R = +1 even where det A < 0), S symmetric. R maximises tr(RᵀA),
and tr(R(q)ᵀA) = qᵀ N q for a unit quaternion q, with Horn's symmetric traceless 4x4 matrix N(A) [Horn87]. So
q is the eigenvector of the largest eigenvalue λ₀ = σ₁ + σ₂ + σ₃; the others are σ₁ - σ₂ - σ₃, σ₂ - σ₁ - σ₃
and σ₃ - σ₁ - σ₂, with singular values σ₁ ≥ σ₂ ≥ |σ₃|, det A giving the sign of σ₃. A is scaled to |A| = 1:

1. λ₀ by Newton's method on det(λ - N) = λ⁴ - 2 λ² - 8 det A λ + 1 - 4 |cof A|² [Theobald05], from above, from
   the bound λ₀² = 1 + 2 (σ₁σ₂ + σ₂σ₃ + σ₃σ₁) <= 1 + 2√3 |cof A|: monotone, and close even for slender A.
2. q, the column of adj(λ - N) with the largest diagonal entry. λ stays √ε/8 above λ₀, so that the column
   keeps its digits where λ₀ is a double root; there any vector of its eigenspace is right.
3. Newton's method on the rotation: φ = K⁻¹ 2 skew(RᵀA), K = tr(S) I - S, q <- q ⊗ (1, φ/2). Mostly one step.
4. The margin σ₂ + σ₃, the smallest eigenvalue of K, tells how well R is determined. It is taken from the
   deviator of S, so that it is exact for A near a rotation, where the quartic less λ₀ has a triple root.

    symbol      code                            meaning
    A           a00 ... a22                     matrix, row by row
    R           r00 ... r22                     rotation
    S           s00, s01, s02, s11, s12, s22    stretch
    σ₂ + σ₃     s_min                           margin, unit of A

R varies with A as 1 / (σ₂ + σ₃): its error is about ε |A| / s_min. Below s_min = 1e-7 |A|, near a reflection
below 1e-5 |A|, R still is a rotation with tr(RᵀA) within about s_min of its maximum, but no more than that.
|A| must lie within 1e-150 ... 1e150 for float64, 1e-18 ... 1e18 for float32. A = 0 gives R = I and s_min = 0.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import matrix_rotate, matrix_rotate_inverse, quaternion_matrix
from supple.algebra.lanes.lane_type import any_greater, fabs, maximum, minimum, roundoff, select_ge, splat, sqrt

ROOT_STEPS = 32
"""Bound on Newton steps for λ₀; 3 to 7 are usual, more only where σ₂ + σ₃ nearly vanishes."""

POLISH_STEPS = 6
"""Bound on Newton steps for R; 1 is usual."""


@compiled(inline=True)
def solve_sym3(k00, k01, k02, k11, k12, k22, b0, b1, b2):
    """x of K x = b for symmetric 3x3 K, by cofactors; not finite where K is singular."""
    c00 = k11 * k22 - k12 * k12
    c01 = k02 * k12 - k01 * k22
    c02 = k01 * k12 - k02 * k11
    c11 = k00 * k22 - k02 * k02
    c12 = k01 * k02 - k00 * k12
    c22 = k00 * k11 - k01 * k01
    scale = 1.0 / (k00 * c00 + k01 * c01 + k02 * c02)
    return (
        scale * (c00 * b0 + c01 * b1 + c02 * b2),
        scale * (c01 * b0 + c11 * b1 + c12 * b2),
        scale * (c02 * b0 + c12 * b1 + c22 * b2),
    )


@compiled(inline=True)
def rotation_transpose_times(R, A):
    """Rᵀ A, row by row."""
    s00, s10, s20 = matrix_rotate_inverse(R, (A[0], A[3], A[6]))
    s01, s11, s21 = matrix_rotate_inverse(R, (A[1], A[4], A[7]))
    s02, s12, s22 = matrix_rotate_inverse(R, (A[2], A[5], A[8]))
    return s00, s01, s02, s10, s11, s12, s20, s21, s22


@compiled(inline=True)
def polar_stretch(R, A):
    """S = RᵀA, made symmetric: (s00, s01, s02, s11, s12, s22). R, A: nine values each, row by row."""
    s00, s01, s02, s10, s11, s12, s20, s21, s22 = rotation_transpose_times(R, A)
    return s00, 0.5 * (s01 + s10), 0.5 * (s02 + s20), s11, 0.5 * (s12 + s21), s22


@compiled(inline=True)
def polar_solver(R, S):
    """R K⁻¹, K = tr(S) I - S: nine values, row by row, which give the rates of many dA by `polar_rate_by`.

    R: nine values, row by row; S: six values as of `polar_stretch`. Not finite where σ₂ + σ₃ = 0.
    """
    s00, s01, s02, s11, s12, s22 = S
    k00, k11, k22 = s11 + s22, s00 + s22, s00 + s11
    c00, c01, c02 = k11 * k22 - s12 * s12, s02 * s12 + s01 * k22, s01 * s12 + s02 * k11
    c11, c12, c22 = k00 * k22 - s02 * s02, s01 * s02 + k00 * s12, k00 * k11 - s01 * s01
    scale = 1.0 / (k00 * c00 - s01 * c01 - s02 * c02)
    return (
        scale * (R[0] * c00 + R[1] * c01 + R[2] * c02),  # (6.22)
        scale * (R[0] * c01 + R[1] * c11 + R[2] * c12),
        scale * (R[0] * c02 + R[1] * c12 + R[2] * c22),
        scale * (R[3] * c00 + R[4] * c01 + R[5] * c02),
        scale * (R[3] * c01 + R[4] * c11 + R[5] * c12),
        scale * (R[3] * c02 + R[4] * c12 + R[5] * c22),
        scale * (R[6] * c00 + R[7] * c01 + R[8] * c02),
        scale * (R[6] * c01 + R[7] * c11 + R[8] * c12),
        scale * (R[6] * c02 + R[7] * c12 + R[8] * c22),
    )


@compiled(inline=True)
def polar_rate_by(solver, R, dA):
    """ω = R K⁻¹ 2 skew(Rᵀ dA) in outer axes: dR = skew(ω) R [BZ11, eq. 7]. solver: R K⁻¹, see `polar_solver`."""
    _, d01, d02, d10, _, d12, d20, d21, _ = rotation_transpose_times(R, dA)
    return matrix_rotate(solver, (d21 - d12, d02 - d20, d10 - d01))  # (6.22)


@compiled(inline=True)
def skew_times(w, A):
    """skew(w) A, row by row."""
    return (
        w[1] * A[6] - w[2] * A[3], w[1] * A[7] - w[2] * A[4], w[1] * A[8] - w[2] * A[5],
        w[2] * A[0] - w[0] * A[6], w[2] * A[1] - w[0] * A[7], w[2] * A[2] - w[0] * A[8],
        w[0] * A[3] - w[1] * A[0], w[0] * A[4] - w[1] * A[1], w[0] * A[5] - w[1] * A[2],
    )  # fmt: skip


@compiled(inline=True)
def polar_acceleration(R, S, dA, ddA, omega):
    """ω' = R K⁻¹ (2 skew(Rᵀ(ddA - skew(ω) dA)) - (tr(dS) I - dS) Rᵀω), dS = Rᵀ(dA - skew(ω) R S) [BZ11, eq. 9].

    R, dA, ddA: nine values, row by row; S: six values as of `polar_stretch`; omega: three, as of `polar_rate_by`. With
    w = Rᵀω and D = RᵀdA all terms are in inner axes: dS = D - skew(w) S, and the first bracket is Rᵀ ddA - skew(w) D.
    """
    s00, s01, s02, s11, s12, s22 = S
    w = matrix_rotate_inverse(R, omega)
    D = rotation_transpose_times(R, dA)
    E, wD = rotation_transpose_times(R, ddA), skew_times(w, D)
    wS = skew_times(w, (s00, s01, s02, s01, s11, s12, s02, s12, s22))
    t00, t11, t22 = D[0] - wS[0], D[4] - wS[4], D[8] - wS[8]  # (6.23)
    t01, t02, t12 = D[1] - wS[1], D[2] - wS[2], D[5] - wS[5]
    b0 = (E[7] - wD[7]) - (E[5] - wD[5]) - ((t11 + t22) * w[0] - t01 * w[1] - t02 * w[2])  # (6.23)
    b1 = (E[2] - wD[2]) - (E[6] - wD[6]) - ((t00 + t22) * w[1] - t01 * w[0] - t12 * w[2])  # (6.23)
    b2 = (E[3] - wD[3]) - (E[1] - wD[1]) - ((t00 + t11) * w[2] - t02 * w[0] - t12 * w[1])  # (6.23)
    return matrix_rotate(R, solve_sym3(s11 + s22, -s01, -s02, s00 + s22, -s12, s00 + s11, b0, b1, b2))


@compiled(inline=True)
def horn_root(A):
    """A bound of λ₀ from above that exceeds it by about √ε/8, for |A| = 1."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = A
    c00, c01, c02 = a11 * a22 - a12 * a21, a12 * a20 - a10 * a22, a10 * a21 - a11 * a20
    c10, c11, c12 = a02 * a21 - a01 * a22, a00 * a22 - a02 * a20, a01 * a20 - a00 * a21
    c20, c21, c22 = a01 * a12 - a02 * a11, a02 * a10 - a00 * a12, a00 * a11 - a01 * a10
    det = a00 * c00 + a01 * c01 + a02 * c02
    cof = (
        c00 * c00 + c01 * c01 + c02 * c02
        + c10 * c10 + c11 * c11 + c12 * c12
        + c20 * c20 + c21 * c21 + c22 * c22
    )  # fmt: skip
    p1, p0 = -8.0 * det, 1.0 - 4.0 * cof  # (6.18), [Theobald05]
    tolerance = 0.125 * sqrt(roundoff(a00))
    root = sqrt(1.0 + sqrt(12.0 * cof))  # (6.18)
    none = splat(0.0, root)
    last = splat(1.0, root)
    for _ in range(ROOT_STEPS):
        square = root * root
        value = ((square - 2.0) * root + p1) * root + p0  # (6.18)
        slope = (4.0 * square - 4.0) * root + p1
        # Where slope < 8√ε the value is all rounding error, and a step would leave the root's neighbourhood.
        step = maximum(value / maximum(slope, 64.0 * tolerance), none)
        last = select_ge(tolerance, last, none, step)  # a settled lane rests while its neighbours go on
        root = root - last
        if not any_greater(last, tolerance):
            break
    return root + tolerance


@compiled(inline=True)
def horn_vector(A, root):
    """The column of adj(λ - N) with the largest diagonal entry: a quaternion (w, x, y, z), not normalised."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = A
    b00 = root - (a00 + a11 + a22)  # (6.19), [Horn87]
    b11 = root - (a00 - a11 - a22)
    b22 = root - (a11 - a00 - a22)
    b33 = root - (a22 - a00 - a11)
    b01, b02, b03 = a12 - a21, a20 - a02, a01 - a10
    b12, b13, b23 = -(a01 + a10), -(a02 + a20), -(a12 + a21)
    # 2x2 minors of the upper (u) and lower (l) pair of rows, named by their columns.
    u01, u02, u03 = b00 * b11 - b01 * b01, b00 * b12 - b01 * b02, b00 * b13 - b01 * b03
    u12, u13, u23 = b01 * b12 - b11 * b02, b01 * b13 - b11 * b03, b02 * b13 - b12 * b03
    l02, l03 = b02 * b23 - b03 * b22, b02 * b33 - b03 * b23
    l12, l13, l23 = b12 * b23 - b13 * b22, b12 * b33 - b13 * b23, b22 * b33 - b23 * b23
    d0 = b11 * l23 - b12 * l13 + b13 * l12
    d1 = b00 * l23 - b02 * l03 + b03 * l02
    d2 = b03 * u13 - b13 * u03 + b33 * u01
    d3 = b02 * u12 - b12 * u02 + b22 * u01
    e01 = b02 * l13 - b01 * l23 - b03 * l12
    e02 = b13 * u23 - b23 * u13 + b33 * u12
    e03 = b22 * u13 - b12 * u23 - b23 * u12
    e12 = b23 * u03 - b03 * u23 - b33 * u02
    e13 = b02 * u23 - b22 * u03 + b23 * u02
    e23 = b12 * u03 - b02 * u13 - b23 * u01
    low, high = maximum(d0, d1), maximum(d2, d3)
    w, x = select_ge(d0, d1, d0, e01), select_ge(d0, d1, e01, d1)
    y, z = select_ge(d0, d1, e02, e12), select_ge(d0, d1, e03, e13)
    w = select_ge(low, high, w, select_ge(d2, d3, e02, e03))
    x = select_ge(low, high, x, select_ge(d2, d3, e12, e13))
    y = select_ge(low, high, y, select_ge(d2, d3, d2, e23))
    z = select_ge(low, high, z, select_ge(d2, d3, e23, d3))
    return w, x, y, z


@compiled(inline=True)
def polish_rotation(A, q):
    """One Newton step towards a symmetric RᵀA, |A| = 1: the new quaternion and the step's squared angle."""
    s00, s01, s02, s10, s11, s12, s20, s21, s22 = rotation_transpose_times(quaternion_matrix(q), A)
    b0, b1, b2 = s21 - s12, s02 - s20, s10 - s01  # (6.20)
    # The shift makes K definite where R is not yet the maximum or A does not determine it. It fades with b,
    # so convergence stays quadratic.
    shift = 2.0 * (fabs(b0) + fabs(b1) + fabs(b2)) + 1024.0 * roundoff(s00)
    x, y, z = solve_sym3(  # (6.20)
        s11 + s22 + shift, -0.5 * (s01 + s10), -0.5 * (s02 + s20),
        s00 + s22 + shift, -0.5 * (s12 + s21),
        s00 + s11 + shift,
        b0, b1, b2,
    )  # fmt: skip
    angle2 = x * x + y * y + z * z
    scale = 0.5 / sqrt(maximum(angle2, splat(1.0, angle2)))
    x, y, z = scale * x, scale * y, scale * z
    qw, qx, qy, qz = q
    return (
        qw - qx * x - qy * y - qz * z,
        qx + qw * x + qy * z - qz * y,
        qy + qw * y + qz * x - qx * z,
        qz + qw * z + qx * y - qy * x,
    ), angle2


@compiled(inline=True)
def stretch_margin(S):
    """σ₂ + σ₃ = tr S - σ₁ of six values of S; within 1e-8 |dev S| where σ₁ = σ₂, else to rounding.

    σ₁ = m + 2 p cos θ with m = tr S / 3, p² = |dev S|² / 6, cos 3θ = det(dev S) / 2p³, 0 <= θ <= π/3. From
    h = cos(3θ/2) Newton's method finds y = cos(θ/2) on h = 4y³ - 3y, whose slope there is 6 to 9;
    2 cos θ = 4y² - 2.
    """
    s00, s01, s02, s11, s12, s22 = S
    mean = (s00 + s11 + s22) * (1.0 / 3.0)
    d0, d1, d2 = s00 - mean, s11 - mean, s22 - mean
    off = s01 * s01 + s02 * s02 + s12 * s12
    p2 = (d0 * d0 + d1 * d1 + d2 * d2 + 2.0 * off) * (1.0 / 6.0)  # (6.21)
    p = sqrt(p2)
    det = d0 * (d1 * d2 - s12 * s12) - s01 * (s01 * d2 - s12 * s02) + s02 * (s01 * s12 - d1 * s02)
    cosine = det / maximum(2.0 * p2 * p, splat(1e-30, p))  # S = m I, p = 0, may have any θ, (6.21)
    cosine = minimum(maximum(cosine, splat(-1.0, p)), splat(1.0, p))
    h = sqrt(0.5 + 0.5 * cosine)
    y = 0.8660254037844386 + 0.1339745962155614 * h
    for _ in range(3):
        y2 = y * y
        y = y - ((4.0 * y2 - 3.0) * y - h) / (12.0 * y2 - 3.0)
    return 2.0 * mean - p * (4.0 * y * y - 2.0)  # (6.21)


@compiled(inline=True)
def polar_rotation(a00, a01, a02, a10, a11, a12, a20, a21, a22):
    """(r00, r01, r02, r10, r11, r12, r20, r21, r22, s_min): the rotation of A and its margin σ₂ + σ₃.

    All values are scalars, or all lanes of one type; a lane's result does not depend on its neighbours. NaN
    in A gives NaN.
    """
    norm2 = (
        a00 * a00 + a01 * a01 + a02 * a02
        + a10 * a10 + a11 * a11 + a12 * a12
        + a20 * a20 + a21 * a21 + a22 * a22
    )  # fmt: skip
    is_zero = select_ge(splat(0.0, norm2), norm2, splat(1.0, norm2), splat(0.0, norm2))
    norm = sqrt(norm2)
    scale = 1.0 / (norm + is_zero)
    unit = is_zero * 0.5773502691896258  # I/√3 stands in for A = 0
    A = (
        scale * a00 + unit, scale * a01, scale * a02,
        scale * a10, scale * a11 + unit, scale * a12,
        scale * a20, scale * a21, scale * a22 + unit,
    )  # fmt: skip
    w, x, y, z = horn_vector(A, horn_root(A))
    settled = 16.0 * roundoff(w)
    last = splat(1.0, w)
    for _ in range(POLISH_STEPS):
        (pw, px, py, pz), angle2 = polish_rotation(A, (w, x, y, z))
        w, x = select_ge(settled, last, w, pw), select_ge(settled, last, x, px)
        y, z = select_ge(settled, last, y, py), select_ge(settled, last, z, pz)
        last = select_ge(settled, last, last, angle2)
        if not any_greater(last, settled):
            break
    R = quaternion_matrix((w, x, y, z))
    return (*R, norm * stretch_margin(polar_stretch(R, A)))
