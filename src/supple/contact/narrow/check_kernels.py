"""Do two triangles meet? By axes on which their shadows are apart, and by edges that pierce."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.contact.narrow.vectors import at, cross, dot, norm, subtract

APART, CROSSING, TOUCHING = 0, 1, 2
ROUNDING = 1e-12  # of the sizes that enter a product: far above its rounding


@compiled(inline=True)
def shadow_gap(n, a, b, c, d, e, f):
    """Gap between the shadows of triangles a b c and d e f on axis n, negative where they overlap, and its scale."""
    a1, b1, c1 = dot(n, subtract(a, d)), dot(n, subtract(b, d)), dot(n, subtract(c, d))
    e1, f1 = dot(n, subtract(e, d)), dot(n, subtract(f, d))
    low1, high1, low2, high2 = min(a1, b1, c1), max(a1, b1, c1), min(0.0, e1, f1), max(0.0, e1, f1)
    return max(low1 - high2, low2 - high1)  # (16.13)


@compiled
def meets(a, b, c, d, e, f):
    """APART or, where rounding could decide or they meet, TOUCHING."""
    ab, bc, ca, de, ef, fd = (
        subtract(b, a), subtract(c, b), subtract(a, c), subtract(e, d), subtract(f, e), subtract(d, f),
    )  # fmt: skip
    size = max(norm(ab), norm(bc), norm(ca), norm(de), norm(ef), norm(fd))
    size = max(size, norm(subtract(a, d)))
    n, m = cross(ab, bc), cross(de, ef)
    limit2, limit3 = ROUNDING * size * size * size, ROUNDING * size * size * size * size
    if shadow_gap(n, a, b, c, d, e, f) > limit2 or shadow_gap(m, a, b, c, d, e, f) > limit2:
        return APART
    for g in (ab, bc, ca):
        if shadow_gap(cross(n, g), a, b, c, d, e, f) > limit3:
            return APART
        for h in (de, ef, fd):
            if shadow_gap(cross(g, h), a, b, c, d, e, f) > limit2:
                return APART
    for h in (de, ef, fd):
        if shadow_gap(cross(m, h), a, b, c, d, e, f) > limit3:
            return APART
    return TOUCHING


@compiled
def pierces(p, q, a, b, c):
    """Whether the line from p to q passes through triangle a b c well inside it and well between its ends."""
    ab, ac, pq = subtract(b, a), subtract(c, a), subtract(q, p)
    n = cross(ab, ac)
    limit = ROUNDING * norm(n) * (norm(pq) + norm(subtract(p, a)))
    hp, hq = dot(n, subtract(p, a)), dot(n, subtract(q, a))  # (16.5)
    if not ((hp > limit and hq < -limit) or (hp < -limit and hq > limit)):
        return False
    side = 1.0 if hp > hq else -1.0
    for u, v in ((a, b), (b, c), (c, a)):
        if side * dot(cross(subtract(u, p), subtract(v, p)), pq) >= -limit * norm(pq):
            return False
    return True


@compiled
def compute_crossings(triangles, x, pairs, count, answer_out):
    """APART, CROSSING or, to be asked exactly, TOUCHING for pairs of triangles (count, 2)."""
    for k in range(count):
        t1, t2 = pairs[k, 0], pairs[k, 1]
        shared, s1, s2 = 0, 0, 0
        for i in range(3):
            for j in range(3):
                if triangles[t1, i] == triangles[t2, j]:
                    shared, s1, s2 = shared + 1, i, j
        a, b, c = (
            at(x, triangles[t1, s1]), at(x, triangles[t1, (s1 + 1) % 3]), at(x, triangles[t1, (s1 + 2) % 3]),
        )  # fmt: skip
        d, e, f = (
            at(x, triangles[t2, s2]), at(x, triangles[t2, (s2 + 1) % 3]), at(x, triangles[t2, (s2 + 2) % 3]),
        )  # fmt: skip
        if shared == 0:
            answer_out[k] = meets(a, b, c, d, e, f)
        elif shared == 1:
            answer_out[k] = CROSSING if pierces(b, c, d, e, f) or pierces(e, f, a, b, c) else APART
        else:
            answer_out[k] = APART
