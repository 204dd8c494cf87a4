"""The filling of triangles: the nearest is seen, areas and places are right, edges stay sharp, round things round."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.exports.camera import Camera
from supple.exports.canvas import Canvas, Solid, Window, darken, lay, reduced
from supple.exports.solids import balls, distinct, tubes, unit_ball

RED, BLUE = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
GROUND = np.array([0.0, 0.0, 1.0]), -10.0


def window(size: int = 200, ground: tuple = GROUND) -> Window:
    return Window(Camera(), (size, size), np.array([-1.0, -1.0]), np.array([1.0, 1.0]), ground)


def facing(shift: float, colour: np.ndarray) -> Solid:
    """A square of side 1 that faces the eye, nearer by `shift` [m]."""
    camera = Camera()
    up = np.cross(camera.eye, camera.right)
    corners = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
    points = np.array([a * camera.right + b * up + shift * camera.eye for a, b in corners])
    return Solid.plain(points, np.array([[0, 1, 2], [0, 2, 3]]), colour)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_nearest_is_seen_in_any_order(order) -> None:
    canvas, parts = Canvas(window()), [facing(-1.0, RED), facing(1.0, BLUE)]
    for k in order:
        canvas.draw(parts[k])
    assert canvas.seen.sum() == 100**2  # a square of half the picture's edge, neither gaps nor doubled pixels
    assert (canvas.colours[canvas.seen] @ RED == 0).all()
    assert (canvas.colours[canvas.seen] @ BLUE > 0.3).all()


def test_points_lie_where_the_window_says() -> None:
    canvas = Canvas(window())
    canvas.draw(facing(0.0, RED))
    corner = facing(0.0, RED).points[2]
    column, row = canvas.window.pixels_of(corner)
    assert (column, row) == pytest.approx((150, 50))
    rows, columns = np.nonzero(canvas.seen)
    assert (columns.max() + 1, rows.min()) == (150, 50)


def test_what_is_under_the_ground_is_not_seen() -> None:
    canvas = Canvas(window(ground=(np.array([0.0, 0, 1]), 0.0)))
    canvas.draw(facing(0.0, RED))
    assert canvas.seen.sum() == pytest.approx(100**2 / 2, rel=0.02)


def test_triangles_outside_or_without_area_are_left_out() -> None:
    canvas, solid = Canvas(window()), facing(0.0, RED)
    canvas.draw(Solid.plain(solid.points + 5 * Camera().right, solid.triangles, RED))
    canvas.draw(Solid.plain(solid.points[[0, 0, 0, 0]], solid.triangles, RED))
    assert not canvas.seen.any()


def test_faces_of_a_box_have_three_shades_and_a_ball_many() -> None:
    box = sp.RigidBody.box((0.8, 0.8, 0.8), density=1).surface
    shades = {}
    for name, points, triangles in (("box", box.nodes, box.triangles), ("ball", *unit_ball())):
        canvas = Canvas(window())
        canvas.draw(Solid.plain(0.8 * points, triangles, RED))
        shades[name] = np.unique(canvas.colours[canvas.seen][:, 0].round(3))
    assert len(shades["box"]) == 3
    assert len(shades["ball"]) > 50


def test_colours_of_faces_and_of_points() -> None:
    solid = facing(0.0, RED)
    canvas = Canvas(window())
    canvas.draw(Solid(solid.points, solid.triangles, np.array([RED, BLUE]), np.array([[0, 0, 0], [1, 1, 1]])))
    found = canvas.colours[canvas.seen]
    assert (found[:, 0] > 0).sum() == pytest.approx(100**2 / 2, abs=100)
    canvas = Canvas(window())
    canvas.draw(Solid.of_points(solid.points, solid.triangles, np.array([RED, BLUE, BLUE, RED])))
    across = canvas.colours[100, 50:150]
    assert (np.diff(across[:, 2]) > 0).all()  # from left to right
    assert across[50, 0] == pytest.approx(across[50, 2], rel=0.05)


def test_few_colours_of_many_faces() -> None:
    kinds, number = distinct(np.array([BLUE, RED, BLUE]))
    assert len(kinds) == 2
    assert (kinds[number] == [BLUE, RED, BLUE]).all()


def test_balls_and_tubes_have_their_size() -> None:
    canvas = Canvas(window(400))
    canvas.draw(balls(np.zeros((1, 3)), RED[None], 0.5))
    assert canvas.seen.sum() == pytest.approx(np.pi * 100**2, rel=0.1)  # flat triangles lie within
    camera, canvas = Camera(), Canvas(window(400))
    ends = np.array([-0.5 * camera.right, 0.5 * camera.right])
    canvas.draw(tubes(ends, np.array([[0, 1]]), np.array([RED, BLUE]), 0.1))
    assert canvas.seen.sum() == pytest.approx(200 * 40, rel=0.15)  # six sides for a circle
    assert canvas.colours[200, 110, 0] > 0.3 > canvas.colours[200, 290, 0]


def test_layers_shadows_and_reduction() -> None:
    canvas, picture = Canvas(window()), np.ones((200, 200, 3), dtype=np.float32)
    canvas.draw(facing(0.0, RED))
    darken(picture, canvas.seen, 0.5, 3)
    assert picture[100, 100] == pytest.approx(0.5)
    assert (picture[0] == 1).all()
    assert 0.5 < picture[100, 50, 0] < 1  # soft at the edge
    coarse = np.ones((201, 201, 3), dtype=np.float32)
    darken(coarse, canvas.seen[::2, ::2], 0.5, 3)
    assert coarse[:200, :200] == pytest.approx(picture, abs=0.1)  # half as fine
    lay(picture, canvas, 0.5)
    assert picture[100, 100, 1] == pytest.approx(0.25)
    small = reduced(picture)
    assert small.shape == (100, 100, 3)
    assert small.dtype == np.uint8


def test_the_light_comes_from_above_and_left_of_the_eye() -> None:
    """Tops are brighter than what faces the eye, and this is brighter than sides to the right."""
    camera = Camera()
    assert abs(np.linalg.norm(camera.light) - 1.0) < 1e-15
    assert camera.light @ camera.right < 0.0
    assert camera.light[2] > camera.light @ camera.eye > 0.0


def test_a_unit_ball_has_the_radius_one() -> None:
    """Its 42 nodes lie on the sphere; its volume is that of 80 flat triangles, 0.88 of the ball's."""
    nodes, triangles = unit_ball()
    assert nodes.shape == (42, 3)
    np.testing.assert_allclose(np.linalg.norm(nodes, axis=1), 1.0, rtol=1e-8)
    volume = (
        np.einsum("ki,ki->k", nodes[triangles[:, 0]], np.cross(nodes[triangles[:, 1]], nodes[triangles[:, 2]])).sum()
        / 6
    )
    assert volume == pytest.approx(4 / 3 * np.pi, rel=0.13)
    assert volume < 4 / 3 * np.pi
