"""Contact points of rigid shapes against brute force: hulls of Minkowski differences, quadratic programs, all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial import ConvexHull

from supple.algebra.dense import rotations
from supple.contact.manifolds import Manifolds
from supple.contact.manifolds.separation_kernels import ALIKE
from supple.geometry.surfaces.convex import ConvexShape

Array = np.ndarray
RNG = np.random.default_rng(3)
BALL = ConvexShape.ball(0.3)
CAPSULE = ConvexShape.capsule((-0.4, 0.1, 0.0), (0.5, 0.0, 0.1), 0.2)
BOX = ConvexShape.box((1.0, 0.7, 0.4))
PRISM = ConvexShape.hull([(np.cos(t), np.sin(t), z) for t in np.arange(7) * 2 * np.pi / 7 for z in (-0.3, 0.3)])
ROCK = ConvexShape.hull(RNG.normal(size=(20, 3)) * 0.5)
SHAPES = {"ball": BALL, "capsule": CAPSULE, "box": BOX, "prism": PRISM, "rock": ROCK, "half-space": None}


def random_frames(count: int, spread: float, rng: np.random.Generator) -> Array:
    q = rng.normal(size=(count, 4))
    return np.hstack([rng.uniform(-spread, spread, (count, 3)), q / np.linalg.norm(q, axis=1)[:, None]])


def world(shape: ConvexShape, frame: Array) -> Array:
    return frame[:3] + rotations.rotate(frame[3:], shape.vertices)


def penetration(one: Array, two: Array) -> float:
    """Largest separation over all directions of two overlapping hulls, below zero; nan where they do not overlap."""
    hull = ConvexHull((two[None] - one[:, None]).reshape(-1, 3))
    largest = float(hull.equations[:, 3].max())
    return largest if largest < 0 else np.nan


def distance(one: Array, two: Array) -> float:
    """Distance of two hulls by a quadratic program over the weights of their vertices."""
    n, m = len(one), len(two)

    def way(w: Array) -> Array:
        return w[:n] @ one - w[n:] @ two

    sums = [{"type": "eq", "fun": lambda w: w[:n].sum() - 1}, {"type": "eq", "fun": lambda w: w[n:].sum() - 1}]
    start = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    found = minimize(
        lambda w: way(w) @ way(w),
        start,
        jac=lambda w: 2 * np.concatenate([one @ way(w), -two @ way(w)]),
        bounds=[(0, 1)] * (n + m),
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 300},
    )
    return float(np.sqrt(found.fun))


@pytest.mark.parametrize(
    "names", [("box", "box"), ("box", "prism"), ("rock", "box"), ("rock", "rock"), ("prism", "rock")]
)
def test_the_deepest_point_of_polytopes_is_the_least_penetration(names: tuple[str, str]) -> None:
    """A face that is nearly as good may stand for the best direction, within ALIKE of the size, twice. The deepest
    vertex of a hull may lie beside the face that pushes it; of boxes it never does."""
    shapes, rng, exact = [SHAPES[name] for name in names], np.random.default_rng(1), []
    manifolds = Manifolds(shapes, margin=0.01)
    for _ in range(100):
        frames = random_frames(2, 0.5, rng)
        wanted = penetration(*(world(s, f) for s, f in zip(shapes, frames)))
        points = manifolds.find(frames)
        if np.isnan(wanted):
            assert not len(points.gap) or points.gap.min() >= -1e-12
            continue
        assert 1 <= len(points.gap) <= 9
        assert wanted - 3 * ALIKE <= points.gap.min() <= (wanted + 1e-9 if names == ("box", "box") else 1e-12)
        exact.append(abs(points.gap.min() - wanted) < 1e-9)
    assert np.mean(exact) > 0.8


@pytest.mark.parametrize("one", ["ball", "capsule"])
@pytest.mark.parametrize("two", ["ball", "capsule", "box", "rock"])
def test_round_shapes_are_as_far_as_a_quadratic_program_says(one: str, two: str) -> None:
    """While cores are apart the gap is their distance less the radii."""
    shapes, rng, seen = [SHAPES[one], SHAPES[two]], np.random.default_rng(2), 0
    for _ in range(16):
        frames = random_frames(2, 0.8, rng)
        wanted = distance(*(world(s, f) for s, f in zip(shapes, frames)))
        if wanted < 1e-3:
            continue
        seen += 1
        points = Manifolds(shapes, margin=10.0).find(frames)
        assert points.gap.min() == pytest.approx(wanted - shapes[0].radius - shapes[1].radius, abs=2e-6)
    assert seen > 3


def test_a_capsule_whose_axis_cuts_a_box_is_pushed_out_by_the_least_way() -> None:
    rng, seen = np.random.default_rng(4), 0
    for _ in range(200):
        frames = random_frames(2, 0.5, rng)
        wanted = penetration(world(CAPSULE, frames[0]), world(BOX, frames[1]))
        if np.isnan(wanted):
            continue
        seen += 1
        points = Manifolds([CAPSULE, BOX], margin=0.0).find(frames)
        assert points.gap.min() == pytest.approx(wanted - CAPSULE.radius, abs=1e-9)
    assert seen > 40


@pytest.mark.parametrize("name", ["ball", "capsule", "box", "rock"])
def test_on_a_half_space_the_lowest_points_touch(name: str) -> None:
    shape, rng = SHAPES[name], np.random.default_rng(5)
    for _ in range(50):
        frames = random_frames(2, 0.3, rng)
        n = rotations.to_matrix(frames[1, 3:])[:, 2]
        gap = (world(shape, frames[0]) - frames[1, :3]) @ n - shape.radius
        points = Manifolds([shape, None], margin=0.2).find(frames)
        assert min(3, np.count_nonzero(gap < 0.2)) <= len(points.gap) <= 9
        assert np.allclose(points.normal, n)
        if len(points.gap):
            assert points.gap.min() == pytest.approx(gap.min(), abs=1e-12)


@pytest.mark.parametrize("ground", [None, ConvexShape.box((4.0, 4.0, 1.0))])
@pytest.mark.parametrize("length", [0.0, 1.0])
def test_points_of_what_is_round_stand_for_its_shadow_together(ground: ConvexShape | None, length: float) -> None:
    """A ball, or a capsule that lies flat: pi r² + 2 r L, on a floor as on a box."""
    r, end = 0.2, np.array([length / 2, 0.0, 0.0])
    shape = ConvexShape.capsule(-end, end, r) if length else ConvexShape.ball(r)
    turn = rotations.exp(np.array([0.0, 0.0, 0.4]))
    frames = np.array([[0.1, -0.2, r - 0.01, *turn], [0, 0, 0 if ground is None else -0.5, 1, 0, 0, 0]])
    points = Manifolds([shape, ground], margin=0.05).find(frames)
    assert len(points.gap) == (2 if length else 1)
    assert points.area.sum() == pytest.approx(np.pi * r**2 + 2 * r * length, rel=1e-12)


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("two", SHAPES)
def test_order_and_place_of_a_pair_do_not_matter(one: str, two: str) -> None:
    """Swapped shapes have opposite normals; moved together, all points move along."""
    if two == "half-space":
        return
    rng = np.random.default_rng(6)
    for _ in range(20):
        frames = random_frames(2, 0.5, rng)
        points = Manifolds([SHAPES[two], SHAPES[one]], margin=0.05).find(frames)
        turned, shift = random_frames(1, 2.0, rng)[0, 3:], rng.normal(size=3)
        moved = np.hstack([rotations.rotate(turned, frames[:, :3]) + shift, rotations.multiply(turned, frames[:, 3:])])
        again = Manifolds([SHAPES[two], SHAPES[one]], margin=0.05).find(moved)
        assert np.array_equal(points.feature, again.feature)
        assert np.allclose(points.gap, again.gap, atol=1e-12)
        assert np.allclose(points.area, again.area, atol=1e-12)
        assert np.allclose(rotations.rotate(turned, points.normal), again.normal, atol=1e-9)
        assert np.allclose(rotations.rotate(turned, points.place) + shift, again.place, atol=1e-9)
        if one == "half-space":
            continue
        swapped = Manifolds([SHAPES[one], SHAPES[two]], margin=0.05).find(frames[::-1])
        if len(points.gap) and len(swapped.gap) and np.dot(points.normal[0], swapped.normal[0]) < -0.9999:
            assert swapped.gap.min() == pytest.approx(points.gap.min(), abs=ALIKE)
        elif len(points.gap):
            assert points.gap.min() > 0 or abs(points.gap.min() - swapped.gap.min()) < ALIKE


def test_cores_and_gaps_fit_the_places() -> None:
    """The place lies in the middle of the gap, on the line through a ball's centre along the normal."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        frames = random_frames(2, 0.5, rng)
        points = Manifolds([BALL, ROCK], margin=1.0).find(frames)
        middle = points.core[:, 0] - (BALL.radius + points.gap / 2)[:, None] * points.normal
        assert np.allclose(points.place, middle)
        assert np.allclose(points.core[:, 0], frames[0, :3])
        assert np.allclose(points.core[:, 1], points.place)


def test_boxes_on_boxes_touch_in_the_corners_of_the_area_they_share() -> None:
    box = ConvexShape.box((1.0, 1.0, 1.0))
    for angle, area, count in ((0.0, 1.0, 4), (np.pi / 4, 2 * (np.sqrt(2) - 1), 8), (0.3, None, 8)):
        q = rotations.exp(np.array([0.0, 0.0, angle]))
        frames = np.array([[0, 0, 0, 1, 0, 0, 0], [0, 0, 0.999, *q]])
        points = Manifolds([box, box], margin=0.01).find(frames)
        assert len(points.gap) == count
        assert np.allclose(points.gap, -0.001)
        assert np.allclose(points.normal, [0, 0, -1])
        assert len(set(points.feature.tolist())) == count
        if area is not None:
            assert points.area.sum() == pytest.approx(area, rel=1e-5)  # corners may lie beyond a side by SLACK


def test_what_a_point_stands_for_does_not_jump() -> None:
    """The areas of the points of a box that slides and turns on another change by no more than it moves."""
    box = ConvexShape.box((1.0, 1.0, 1.0))
    manifolds, before, step = Manifolds([box, box], margin=0.01), None, 1e-3
    for k in range(1200):
        q = rotations.exp(np.array([0.0, 0.0, step * k]))
        points = manifolds.find(np.array([[0, 0, 0, 1, 0, 0, 0], [step * k, 0.1, 0.999, *q]]))
        moment = points.area @ np.column_stack([np.ones(len(points.area)), points.place])
        if before is not None:
            assert np.abs(moment - before).max() < 12 * step
        before = moment
    assert not len(points.gap)


def test_crossed_edges_touch_in_the_point_between_them() -> None:
    box = ConvexShape.box((1.0, 1.0, 1.0))
    lower = rotations.exp(np.array([np.pi / 4, 0.0, 0.0]))
    upper = rotations.exp(np.array([0.0, np.pi / 4, 0.0]))
    frames = np.array([[0, 0, 0, *lower], [0.1, 0.05, np.sqrt(2) - 0.001, *upper]])
    points = Manifolds([box, box], margin=0.01).find(frames)
    assert np.allclose(points.gap, [-0.001])
    assert np.allclose(points.normal, [[0, 0, -1]])
    assert np.allclose(points.place, [[0.1, 0.0, np.sqrt(0.5) - 0.0005]])


@pytest.mark.parametrize("name", ["box", "rock"])
def test_the_normal_turns_with_the_way_of_a_ball_around_a_polytope(name: str) -> None:
    """Outside of a polytope the nearest point moves at most as far as the centre: the normal by twice that over the
    distance."""
    shape, rng = SHAPES[name], np.random.default_rng(8)
    start, turn = rng.normal(size=3), 4e-3
    manifolds, before = Manifolds([BALL, shape], margin=5.0), None
    for k in range(500):
        centre = rotations.rotate(rotations.exp(turn * k * np.array([0.3, 0.5, 0.8])), start)
        centre = centre * (2.5 / np.linalg.norm(centre))
        points = manifolds.find(np.array([[*centre, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]))
        if before is not None:
            moved = np.linalg.norm(centre - before[0])
            away = points.gap[0] + BALL.radius
            assert np.linalg.norm(points.normal[0] - before[1]) <= 2.01 * moved / away
        before = centre, points.normal[0].copy()


def test_overlapping_boxes_are_those_of_all_pairs() -> None:
    rng = np.random.default_rng(9)
    shapes = [SHAPES[name] for name in rng.choice(["ball", "capsule", "box", "rock"], 60)] + [None]
    allowed = rng.random((61, 61)) < 0.8
    manifolds = Manifolds(shapes, margin=0.1, allowed=allowed)
    for _ in range(10):
        manifolds.find(random_frames(61, 2.0, rng), rng.normal(size=(61, 6)), 0.05)
        box = manifolds.poses.box
        wanted = [
            (a, b)
            for a in range(61)
            for b in range(a + 1, 61)
            if allowed[a, b] and allowed[b, a] and (box[a, :3] <= box[b, 3:]).all() and (box[b, :3] <= box[a, 3:]).all()
        ]
        assert manifolds.pairs[: manifolds.overlaps()].tolist() == [list(pair) for pair in wanted]


def test_fast_bodies_are_found_before_they_meet() -> None:
    """What comes nearer within a step is reported, with its gap now; what passes by is not."""
    frames = np.array([[0, 0, 1.0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]])
    manifolds = Manifolds([BALL, BOX], margin=0.01)
    v = np.zeros((2, 6))
    assert not len(manifolds.find(frames, v, 0.1).gap)
    v[0, 2] = -10.0
    assert np.allclose(manifolds.find(frames, v, 0.1).gap, [1.0 - 0.3 - 0.2])
    v[0] = [0, 0, 10.0, 0, 0, 0]
    assert not len(manifolds.find(frames, v, 0.1).gap)


@pytest.mark.parametrize("h", [0.0, 1.0])
@pytest.mark.parametrize("one", ["ball", "capsule", "box", "rock"])
@pytest.mark.parametrize("two", ["capsule", "box", "rock"])
def test_gaps_grow_at_the_speed_of_the_bodies_at_their_place(one: str, two: str, h: float) -> None:
    """The speed of a point is that of the first body there less that of the second, u + R (w x r), along the normal;
    of shapes that meet within a step, where they meet."""
    shapes, rng, seen = [SHAPES[one], SHAPES[two]], np.random.default_rng(10), 0
    manifolds = Manifolds(shapes, margin=0.3)
    for _ in range(60):
        frames, v = random_frames(2, 0.5, rng), rng.normal(size=(2, 6))
        frames[0, 0] -= 4.0 * h
        v[0, 0] += 4.0 * h
        points = manifolds.find(frames, v, h)
        for normal, place, time, speed in zip(points.normal, points.place, points.time, points.speed):
            ways = []
            for frame, (u, w) in zip(frames, v.reshape(2, 2, 3)):
                q = rotations.multiply(frame[3:], rotations.exp(time * w))
                arm = rotations.rotate_inverse(q, place - frame[:3] - time * u)
                ways.append(u + rotations.rotate(q, np.cross(w, arm)))
            assert speed == pytest.approx(normal @ (ways[0] - ways[1]), abs=1e-9)
            seen += 1
    assert seen > 5


@pytest.mark.parametrize("one", ["ball", "capsule", "box", "prism", "rock"])
@pytest.mark.parametrize("two", ["ball", "box", "rock"])
def test_fast_shapes_meet_when_small_steps_say_so(one: str, two: str) -> None:
    """The time of a meeting against a thousand looks; to their distance, and what shapes may overlap by then."""
    shapes, rng, met = [SHAPES[one], SHAPES[two]], np.random.default_rng(8), 0
    for _ in range(20):
        frames, v = random_frames(2, 0.3, rng), np.zeros((2, 6))
        frames[0, 0] -= 4.0
        v[0, 0], v[:, 3:] = 8.0, rng.normal(size=(2, 3))
        points = Manifolds(shapes, margin=1e-9).find(frames, v, 1.0)
        looks, first = Manifolds(shapes, margin=0.0), np.nan
        for t in np.linspace(0.0, 1.0, 1001):
            moved = np.hstack([frames[:, :3] + t * v[:, :3], frames[:, 3:]])
            moved[:, 3:] = [rotations.multiply(q, rotations.exp(t * w)) for q, w in zip(frames[:, 3:], v[:, 3:])]
            if len(looks.find(moved).gap):
                first = t
                break
        if np.isnan(first):
            assert not len(points.gap) or points.time[0] > 0.99
            continue
        met += 1
        assert points.time.min() == points.time.max() == pytest.approx(first, abs=2e-3)
    assert met > 5


@pytest.mark.parametrize("names", [("ball", "ball"), ("ball", "capsule"), ("capsule", "capsule")])
def test_round_shapes_meet_in_the_middle_of_their_gap(names: tuple[str, str]) -> None:
    """Both surfaces are half a gap away from where a contact acts."""
    shapes, rng, seen = [SHAPES[name] for name in names], np.random.default_rng(6), 0
    manifolds = Manifolds(shapes, margin=0.05)
    for frames in (random_frames(2, 0.6, rng) for _ in range(60)):
        found = manifolds.find(frames)
        for place, gap in zip(found.place, found.gap):
            if gap < -0.1:
                continue  # the place may lie behind a centre then
            ways = [distance(place[None], world(s, f)) - s.radius for s, f in zip(shapes, frames)]
            assert ways == pytest.approx([gap / 2, gap / 2], abs=2e-4)
            seen += 1
    assert seen > 3
