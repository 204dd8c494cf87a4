"""Laws of contact detection: signs, gradients, areas, crossing within a step, sheets, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bench.contact import cube_sphere
from supple.contact import ContactSurface, Detector
from supple.errors import InputError
from supple.geometry import box_tets
from supple.interaction.obstacles import distance

Array = np.ndarray


def box(size: tuple[float, float, float], cells: tuple[int, int, int]) -> ContactSurface:
    return ContactSurface.of(box_tets(size, cells).boundary.surface)


def sheet(cells: int, size: float = 1.0, radius: float = 0.0) -> ContactSurface:
    """A square in the plane z = 0, looking up."""
    across = np.linspace(0, size, cells + 1)
    nodes = np.stack(np.meshgrid(across, across, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    i = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    quads = np.stack([i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]], axis=-1).reshape(-1, 4)
    return ContactSurface.of((nodes, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])), radius=radius)


def tetrahedron(size: float) -> ContactSurface:
    nodes = size * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return ContactSurface.of((nodes, [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]))


@pytest.mark.parametrize("gap", [2e-3, -2e-3])
@pytest.mark.parametrize("cells", [(4, 3, 2), (12, 10, 2), (24, 20, 2)])
def test_a_box_on_a_box_has_the_area_of_the_face(gap: float, cells: tuple[int, int, int]) -> None:
    large, small = box((1.0, 1.0, 1.0), (10, 10, 10)), box((0.6, 0.5, 0.4), cells)
    x = np.concatenate([large.rest, small.rest + np.array([0.21, 0.03, 0.7 + gap])])
    pairs = Detector(ContactSurface.joined([large, small]), margin=5e-3).find(x)
    np.testing.assert_allclose(pairs.gap, gap, atol=1e-12)
    np.testing.assert_allclose(np.abs(pairs.normal), [[0, 0, 1]] * pairs.size, atol=1e-9)
    assert (pairs.kind == 0).all()
    upper = pairs.points[:, 0] >= large.count
    assert pairs.area[upper].sum() == pytest.approx(0.15, rel=1e-9)  # the small face, half: all of it lies on the other
    # the other half counts whole vertices of the large face: wrong by at most half an element along the rim
    assert abs(pairs.area[~upper].sum() - 0.15) <= 0.5 * 0.05 * 2 * (0.6 + 0.5)


def test_pressure_on_flat_faces_is_uniform_in_force_and_moment() -> None:
    lower, upper = box((1.0, 1.0, 0.5), (7, 6, 2)), box((1.0, 1.0, 0.5), (10, 11, 2))
    x = np.concatenate([lower.rest, upper.rest + np.array([0.0, 0.0, 0.5 - 1e-3])])
    pairs = Detector(ContactSurface.joined([lower, upper]), margin=5e-3).find(x)
    place = x[pairs.points[:, 0], :2] - (0.5, 0.0)
    assert pairs.area.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(
        pairs.area @ place, 0.0, atol=5e-3
    )  # of area times edge: diagonals of cells favour corners


@pytest.mark.parametrize("seed", range(3))
def test_the_sign_tells_inside_from_outside(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes, triangles = cube_sphere(5)
    ball = ContactSurface.of((nodes * (1 + 0.3 * np.sin(4 * nodes).sum(axis=1) / 3)[:, None], triangles))
    probe = tetrahedron(1e-3)
    centres = random.normal(size=(150, 3))
    centres *= (
        (ball.rest @ (centres / np.linalg.norm(centres, axis=1)[:, None]).T).max(axis=0)[:, None]
        / np.linalg.norm(centres, axis=1)[:, None]
        * random.uniform(0.6, 1.2, size=(150, 1))
    )
    surface = ContactSurface.joined([ball] + [probe] * 150)
    x = np.concatenate([ball.rest, (centres[:, None] + probe.rest).reshape(-1, 3)])
    detector = Detector(surface, margin=0.2, depth=0.2)
    pairs = detector.find(x)
    first = pairs.points[:, 0]
    rows = np.flatnonzero((first >= ball.count) & (pairs.kind == 0) & (pairs.points[:, 1] < ball.count))
    assert (pairs.gap[rows] < 0).sum() > 30 < (pairs.gap[rows] > 0).sum()
    a, b, c = np.moveaxis(ball.rest[triangles][None] - x[first[rows], None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    bottom = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    winding = np.arctan2((a * np.cross(b, c)).sum(2), bottom).sum(axis=1) / (2 * np.pi)
    np.testing.assert_array_equal(pairs.gap[rows] < 0, winding > 0.5)


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_of_the_gap_is_normal_times_weights(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes, triangles = cube_sphere(3)
    ball = ContactSurface.of((nodes, triangles))
    corner = tetrahedron(0.6)
    surface = ContactSurface.joined([ball, corner, corner])
    x = np.concatenate(
        [ball.rest, corner.rest + np.array([1.15, 0.6, 0.2]), corner.rest * (-1, 1, -1) + np.array([1.2, 0.55, -0.85])]
    )
    x += 0.02 * random.normal(size=x.shape)
    detector = Detector(surface, margin=0.2, depth=0.3)
    pairs = detector.find(x)
    assert pairs.size >= 5
    np.testing.assert_allclose((pairs.normal * pairs.separation(x)).sum(axis=1), pairs.gap, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(pairs.normal, axis=1), 1.0, atol=1e-13)
    np.testing.assert_allclose(pairs.weights.sum(axis=1), 0.0, atol=1e-13)
    direction, h = random.normal(size=x.shape), 1e-6
    near = [detector.find(x + s * h * direction) for s in (-1, 1)]
    gaps = [{tuple(p): g for p, g in zip(n.points.tolist(), n.gap)} for n in near]
    slope = (pairs.normal * pairs.separation(direction)).sum(axis=1)
    compared = 0
    for points, expected in zip(pairs.points.tolist(), slope):
        if all(tuple(points) in g for g in gaps):
            measured = (gaps[1][tuple(points)] - gaps[0][tuple(points)]) / (2 * h)
            assert measured == pytest.approx(expected, abs=1e-7)  # h² times curvature, and rounding / h
            compared += 1
    assert compared >= pairs.size - 1


def test_crossed_ridges_touch_by_their_edges() -> None:
    ridge = np.array([[-1, 0, 0], [1, 0, 0], [1, 0.5, -1], [1, -0.5, -1], [-1, 0.5, -1], [-1, -0.5, -1]], float)
    faces = [[0, 1, 2], [0, 2, 4], [1, 0, 3], [0, 5, 3], [1, 3, 2], [0, 4, 5], [2, 3, 5], [2, 5, 4]]
    low = ContactSurface.of((ridge, faces))
    turned = np.stack([ridge[:, 1], ridge[:, 0], -ridge[:, 2]], axis=1)  # over it, across it
    one = 2 * np.hypot(0.5, 1.0) / 3  # an edge stands for a third of the triangles beside it
    for gap, size in ((0.01, 1.0), (-0.01, 1.0), (-0.01, 0.6), (-0.01, 1.5)):
        surface = ContactSurface.joined([low, ContactSurface.of((size * ridge, faces))])
        place = np.concatenate([ridge, size * turned + np.array([0.1, 0.2, gap])])
        pairs = Detector(surface, margin=0.02).find(place)
        assert pairs.kind.tolist() == [1]
        assert pairs.gap[0] == pytest.approx(gap, abs=1e-12)
        np.testing.assert_allclose(pairs.normal[0], [0, 0, -1], atol=1e-12)  # pushes the first side, the lower, down
        assert pairs.area[0] == pytest.approx(one * min(size, 1.0) ** 2)  # as much as the smaller has


@pytest.mark.parametrize("thick", [0.0, 0.03])
def test_a_ball_in_a_valley_is_pushed_alike_by_both_sides(thick: float) -> None:
    """Either side, with half its thickness, meets the cross-section of the ball, wherever it is found."""
    X = np.array([[0, -1, 0], [0, 1, 0], [1, -1, 1], [1, 1, 1], [-1, -1, 1], [-1, 1, 1]], float)
    valley = ContactSurface.of((X, [[0, 2, 3], [0, 3, 1], [0, 1, 5], [0, 5, 4]]), radius=thick)
    radius, depth = 0.1, 0.001
    centre = np.array([[0.0, 0.1, (radius + thick - depth) * np.sqrt(2)]])
    surface = ContactSurface.joined([valley, ContactSurface.of((centre, np.zeros((0, 3))), radius=radius)])
    pairs = Detector(surface, margin=0.01).find(np.concatenate([X, centre]))
    assert pairs.size == 2
    np.testing.assert_allclose(pairs.gap, -depth, atol=1e-12)
    np.testing.assert_allclose(pairs.area, np.pi * radius**2, rtol=1e-12)
    np.testing.assert_allclose(np.sort(pairs.normal[:, 0]), np.sqrt([0.5, 0.5]) * [-1, 1], atol=1e-12)


@pytest.mark.parametrize("sheet_below", [True, False])
def test_two_elements_a_step_do_not_tunnel(sheet_below: bool) -> None:
    """A small body crosses a sheet, and a box, in one step: every vertex that crosses is reported, from its side."""
    ground = sheet(8) if sheet_below else box((1.0, 1.0, 0.05), (8, 8, 1))
    top = 0.0 if sheet_below else 0.025
    probe = tetrahedron(0.03)
    surface = ContactSurface.joined([ground, probe])
    detector = Detector(surface, margin=1e-3, depth=1e-3)
    travel = detector.largest_safe_travel
    assert travel == pytest.approx(2 * surface.element_size.min())
    for side in (1.0, -1.0):
        centre = np.array([0.43, 0.37 if sheet_below else 0.02, side * (top + 0.5 * travel)])
        x = np.concatenate([ground.rest, probe.rest + centre])
        v = np.zeros_like(x)
        v[ground.count :, 2] = -side * travel / 0.01
        assert detector.find(x).size == 0
        pairs = detector.find(x, v, 0.01)
        met = pairs.points[:, 0] >= ground.count
        assert set(pairs.points[met, 0]) == set(range(ground.count, surface.count))
        np.testing.assert_allclose(pairs.normal[met], [[0, 0, side]] * met.sum(), atol=1e-12)
        np.testing.assert_allclose(pairs.gap[met], side * x[pairs.points[met, 0], 2] - top, atol=1e-12)


def test_bodies_thicker_than_two_elements_of_another_do_not_tunnel() -> None:
    """At five elements a step every vertex of a small body that enters a thick box is reported; thin bars warn."""
    ground, probe = box((1.0, 1.0, 0.3), (4, 4, 2)), tetrahedron(0.03)
    surface = ContactSurface.joined([ground, probe, box((1.0, 0.02, 0.02), (20, 1, 1))])
    assert surface.thickness[0] == pytest.approx(2 * 0.3 / (2 + 4 * 0.3))
    detector = Detector(surface, margin=1e-3, depth=1e-3)
    assert detector.safe_travel(0, 1) == np.inf
    assert detector.safe_travel(1, 2) == pytest.approx(2 * surface.element_size[1:].min())
    travel = 5 * surface.element_size.min()
    x, v = surface.rest.copy(), np.zeros((surface.count, 3))
    x[surface.vertex_body == 1] += np.array([0.43, 0.02, 0.15 + 0.5 * travel])
    x[surface.vertex_body == 2] += np.array([0.0, 0.0, 9.0])
    v[surface.vertex_body == 1, 2] = -travel / 0.01
    pairs = detector.find(x, v, 0.01)
    mine = np.flatnonzero(surface.vertex_body == 1)
    assert set(mine) <= set(pairs.points[:, 0])


@pytest.mark.parametrize("bend", [0.0, 1e-4])
def test_the_front_of_a_block_does_not_catch_on_the_face_it_slides_on(bend: float) -> None:
    """Vertices of the face lie above the lower rim of the front, which sweeps over them."""
    slab, block = box((1.0, 1.0, 0.5), (10, 10, 2)), box((0.3, 0.3, 0.1), (3, 3, 1))
    x = np.concatenate([slab.rest, block.rest + np.array([0.29, 0.0, 0.3 - 1e-4])])
    x[: slab.count, 2] += bend * np.sin(7 * x[: slab.count, 0])
    v = np.zeros_like(x)
    v[slab.count :, 0] = 1.0
    pairs = Detector(ContactSurface.joined([slab, block]), margin=5e-3).find(x, v, 0.02)
    assert pairs.size > 20
    assert np.abs(pairs.normal[:, 2]).min() > 0.9


def test_a_vertex_that_crossed_a_sheet_is_pushed_back() -> None:
    ground, probe = sheet(8), tetrahedron(0.03)
    surface = ContactSurface.joined([ground, probe])
    for remembers in (True, False):
        detector = Detector(surface, margin=0.1, depth=0.1)
        above = np.concatenate([ground.rest, probe.rest + np.array([0.43, 0.37, 0.04])])
        if remembers:
            assert (detector.find(above).gap > 0).all()
        below = np.concatenate(
            [ground.rest, probe.rest + np.array([0.5, 0.40, -0.035])]
        )  # a step of half an element sideways
        pairs = detector.find(below)
        met = pairs.points[:, 0] >= ground.count
        assert met.sum() == 4
        assert (pairs.gap[met] < 0).all() == remembers
        np.testing.assert_allclose(pairs.normal[met, 2], 1.0 if remembers else -1.0)


def test_a_folded_sheet_touches_itself_but_not_its_neighbours() -> None:
    flat = sheet(16, size=1.0, radius=0.01)
    detector = Detector(flat, margin=0.01, self_contact=True)
    assert detector.find(flat.rest).size == 0
    s, height = flat.rest[:, 0], 0.025  # folded back over a half circle, its halves 25 mm apart
    bend = np.pi * height / 2
    angle = np.clip((s - 0.5 + bend / 2) / (height / 2), 0, np.pi)
    straight = np.minimum(s, 0.5 - bend / 2) - np.maximum(s - 0.5 - bend / 2, 0)
    x = np.stack([straight + height / 2 * np.sin(angle), flat.rest[:, 1], height / 2 * (1 - np.cos(angle))], axis=1)
    pairs = detector.find(x)
    far = np.abs(s - 0.5) > 0.1
    assert set(np.flatnonzero(far)) <= set(pairs.points[pairs.kind == 0, 0])
    rows = far[pairs.points[:, 0]]
    np.testing.assert_allclose(pairs.gap[rows], height - 0.02, atol=1e-9)  # less a radius on each side
    lower = s[pairs.points[:, 0]] < 0.5
    np.testing.assert_allclose(pairs.normal[rows, 2], np.where(lower, -1.0, 1.0)[rows], atol=1e-9)
    assert Detector(flat, margin=0.01).find(x).size == 0


def test_a_vertex_between_two_layers_touches_both() -> None:
    layers = [sheet(6, radius=0.01) for _ in range(3)]
    x = np.concatenate([s.rest + np.array([0.03 * k, 0.02 * k, 0.022 * k]) for k, s in enumerate(layers)])
    pairs = Detector(ContactSurface.joined(layers), margin=0.01).find(x)
    middle = (pairs.points[:, 0] >= 49) & (pairs.points[:, 0] < 98) & (pairs.kind == 0)
    count = np.bincount(pairs.points[middle, 0], minlength=98)[49:].reshape(7, 7)
    assert (count[1:-1, 1:-1] == 2).all()


def test_a_closed_body_does_not_touch_itself_through_its_thickness() -> None:
    plate = box((1.0, 1.0, 0.05), (8, 8, 1))
    detector = Detector(plate, margin=0.02, depth=0.2, self_contact=True, rest_distance=0.02)
    assert detector.find(plate.rest).size == 0
    squeezed = plate.rest * (1.0, 1.0, 0.3)
    assert detector.find(squeezed).size == 0


def test_bodies_that_must_not_touch() -> None:
    cube = box((1.0, 1.0, 1.0), (2, 2, 2))
    fixed = ContactSurface.of((cube.rest, cube.triangles), fixed=True)
    x = np.concatenate([cube.rest, cube.rest + np.array([0, 0, 1.001])])
    assert Detector(ContactSurface.joined([cube, fixed]), margin=0.01).find(x).size == 18
    assert Detector(ContactSurface.joined([fixed, fixed]), margin=0.01).find(x).size == 0
    assert Detector(ContactSurface.joined([cube, cube]), margin=0.01, exclude=[(1, 0)]).find(x).size == 0


def test_empty_scenes() -> None:
    nothing = Detector(ContactSurface.joined([]), margin=0.01)
    assert nothing.find(np.zeros((0, 3))).size == 0
    assert nothing.largest_safe_travel == np.inf
    alone = tetrahedron(1.0)
    assert Detector(alone, margin=0.01).find(alone.rest).size == 0


def test_buffers_stay_once_they_have_grown() -> None:
    large = box((1.0, 1.0, 0.2), (40, 40, 1))
    x = np.concatenate([large.rest, large.rest + np.array([0.01, 0.01, 0.2])])
    detector = Detector(ContactSurface.joined([large, large]), margin=0.01)
    first = detector.find(x)
    buffers = detector._workspace
    again = detector.find(x)
    assert detector._workspace is buffers
    assert all(np.array_equal(a, b) and a.flags.c_contiguous for a, b in zip(first, again))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"margin": -1.0}, "margin is not a length"),
        ({"depth": np.nan}, "depth is not a length"),
        ({"self_contact": [True, False]}, "self_contact"),
        ({"exclude": [(0, 3)]}, "does not exist"),
    ],
)
def test_settings_that_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Detector(tetrahedron(1.0), **({"margin": 0.01} | change))  # type: ignore[arg-type]


def test_positions_that_are_refused() -> None:
    body = tetrahedron(1.0)
    detector = Detector(body, margin=0.01)
    with pytest.raises(InputError, match="does not fit"):
        detector.find(np.zeros((3, 3)))
    x = body.rest.copy()
    x[2, 1] = np.nan
    with pytest.raises(InputError, match="vertex 2 is not finite"):
        detector.find(x)
    with pytest.raises(InputError, match="step is not positive"):
        detector.find(body.rest, body.rest, -1.0)


@pytest.mark.parametrize("lean", [0.0, 2e-4])
def test_a_rim_that_overhangs_lets_go_little_by_little(lean: float) -> None:
    """A face flush on another, sunk by 1e-3 and moved aside, leaning: no contact appears or is gone at once.

    Contacts that hold the upper face up change by at most their own stiffness over the way to let go in, 0.14 depths.
    """
    lower, upper = box((1.0, 1.0, 0.5), (4, 4, 2)), box((1.0, 1.0, 0.5), (4, 4, 2))
    detector, depth = Detector(ContactSurface.joined([lower, upper]), margin=5e-3), 1e-3

    def held(aside: float) -> float:
        above = upper.rest + np.array([aside, 0.0, 0.5 - depth])
        above[:, 2] += lean * (above[:, 0] - 0.5)
        above[:, 0] -= lean * (above[:, 2] - 0.5)
        pairs = detector.find(np.concatenate([lower.rest, above]))
        return float(pairs.area @ (np.maximum(-pairs.gap, 0.0) * np.abs(pairs.normal[:, 2])))

    path = np.linspace(-3e-4, 3e-4, 241)
    pressure = np.array([held(aside) for aside in path])
    rim = depth * 0.5 * 0.25  # half of an element along the rim, half of it reported by each side, two rims
    assert pressure.max() - pressure.min() > 0.9 * rim  # it has let go of them
    assert np.abs(np.diff(pressure)).max() < 4 * rim * (path[1] - path[0]) / (0.14 * depth)


@pytest.mark.parametrize(
    "obstacle",
    [
        sp.Sphere((0.1, 0, 0), 0.4),
        sp.Capsule((-0.3, 0, 0), (0.4, 0.1, 0.2), 0.2),
        sp.Box((0.1, 0, 0), (0.6, 0.4, 0.2), rotation=(0.3, -0.5, 0.8)),
    ],
    ids=["sphere", "capsule", "box"],
)
def test_normals_of_obstacles_are_gradients_of_their_distance(obstacle: sp.Box) -> None:
    """Beside faces, edges and corners alike."""
    x, step = np.random.default_rng(9).uniform(-1.5, 1.5, (300, 3)), 1e-6
    gap, normal = distance(obstacle, x)
    outside = gap > 0.01
    for axis in range(3):
        move = step * np.eye(3)[axis]
        slope = (distance(obstacle, x + move)[0] - distance(obstacle, x - move)[0]) / (2 * step)
        assert normal[outside, axis] == pytest.approx(slope[outside], abs=1e-5)
    assert np.linalg.norm(normal, axis=1) == pytest.approx(np.ones(len(x)), abs=1e-12)
