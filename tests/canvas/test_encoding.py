"""What goes to the canvas: points and frames in two bytes a number come back to what the body is."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.carried import FRAME, CarriedKind, Carriers, carriage_of, carriers_of
from supple.bodies.surfaces import FrameSkin, RenderSurface
from supple.bodies.tree import TreeBody
from supple.canvas import CarriedShape, PointsShape, encode_frame, make_header
from supple.canvas.frames import frame_size
from supple.canvas.header import seen_triangles, split_by_colour
from supple.canvas.pack import Pack
from supple.canvas.shapes import rigid_shape
from supple.decompose import decompose
from supple.exports.staging import Staging, domain_colours, rigid_row

Array = np.ndarray
TYPES = {"f4": "<f4", "i2": "<i2", "u1": "u1", "u2": "<u2", "u4": "<u4"}
GREY = np.full((1, 3), 0.5)


def read(told: dict[str, Any], data: bytes) -> Array:
    return np.frombuffer(data, TYPES[told["type"]], told["count"], told["at"])


def decoded(shape: CarriedShape, frame: bytes) -> Array:
    """The row of numbers that a frame of this shape alone holds."""
    d, m = shape.domain_count, int(shape.modes.sum())
    box, scale = np.frombuffer(frame, "<f4", 6, 16).reshape(2, 3), np.frombuffer(frame, "<f4", m, 40)
    at = 40 + 4 * m
    o = box[0] + np.frombuffer(frame, "<u2", 3 * d, at).reshape(d, 3) / 65535 * (box[1] - box[0])
    turns = np.frombuffer(frame, "<i2", 4 * d, at + 6 * d).reshape(d, 4) / 32767
    q = np.frombuffer(frame, "<i2", len(shape.scale_places), at + 14 * d) / 32767 * scale[shape.scale_places]
    R = rotations.to_matrix(turns / np.linalg.norm(turns, axis=1, keepdims=True))
    return np.concatenate([np.hstack([o, R.reshape(d, 9)]).ravel(), q])


@pytest.fixture
def carriers() -> Carriers:
    """Two kinds, five domains of 1 m, ten to each other; four points are one before the cut, of unlike weights."""
    rng = np.random.default_rng(1)
    triangles = np.array([(0, 1, 2), (0, 2, 3)])
    kinds = tuple(CarriedKind(rng.uniform(size=(4, 3)), rng.normal(size=(4, 3, r)), triangles) for r in (3, 0))
    kind, seams, weights = np.array([0, 1, 0, 1, 0]), np.array([1, 5, 9, 13]), np.array([0.7, 0.3, 0.5, 0.5])
    return Carriers(kinds, kind, np.full(5, 1.0), seams, np.array([0, 2, 4]), np.array([0, 2, 4, 6, 8]), weights)


def row_of(carriers: Carriers, seed: int) -> Array:
    rng, d = np.random.default_rng(seed), len(carriers.kind)
    R = rotations.to_matrix(rotations.exp(rng.normal(size=(d, 3))))
    q = 0.1 * rng.normal(size=int(carriers.q_starts[-1]))
    return np.concatenate([np.hstack([10 * rng.uniform(size=(d, 3)), R.reshape(d, 9)]).ravel(), q])


def test_a_carried_shape_comes_back(carriers: Carriers) -> None:
    shape, row = CarriedShape("tree", "body", carriers, GREY), row_of(carriers, 2)
    frame = encode_frame([shape], [row], number=3, step=7, time=0.5)
    assert len(frame) == frame_size([shape])
    assert struct.unpack("<IId", frame[:16]) == (3, 7, 0.5)
    apart = np.abs(carriers.positions(decoded(shape, frame)) - carriers.positions(row)).max()
    # half a step of 10 m in 65535 parts, and of turns and coordinates of 1 m in 32767
    assert 1e-8 < apart < 10 / 65535 + 3 / 32767


def test_weights_of_seams_count(carriers: Carriers) -> None:
    row = row_of(carriers, 3)
    alone = Carriers(
        carriers.kinds, carriers.kind, carriers.scale, carriers.seams[:0], np.zeros(1, int), carriers.hidden
    )
    apart, together = alone.positions(row), carriers.positions(row)
    assert together[1] == pytest.approx(0.7 * apart[1] + 0.3 * apart[5])
    assert together[1] == pytest.approx(together[5])


def test_points_come_back_within_their_box() -> None:
    x = np.random.default_rng(4).uniform(-3, 7, (50, 3))
    shape = PointsShape("cube", "body", 50, GREY)
    frame = encode_frame([shape], [x])
    assert len(frame) == frame_size([shape])
    box = np.frombuffer(frame, "<f4", 6, 16).reshape(2, 3)
    found = box[0] + np.frombuffer(frame, "<u2", 150, 40).reshape(50, 3) / 65535 * (box[1] - box[0])
    assert np.abs(found - x).max() < 0.51 * 10 / 65535


def test_each_corner_has_the_colour_of_its_triangle() -> None:
    triangles = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])
    colours = np.array([(1.0, 0, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1)])
    shape = PointsShape("tet", "body", 4, colours, triangles)
    drawn, copies, tints = split_by_colour(shape)
    source = np.concatenate([np.arange(4), copies])
    assert np.array_equal(source[drawn], triangles)
    assert np.allclose(tints[drawn], colours[:, None])
    assert len(copies) == 6  # 0 and 1: two colours, 2 and 3: three


def test_triangles_that_are_hidden_everywhere_are_not_sent(carriers: Carriers) -> None:
    assert [len(t) for t in seen_triangles(carriers)] == [1, 1]
    some = Carriers(*(getattr(carriers, n) for n in ("kinds", "kind", "scale", "seams", "group_start")), np.array([0]))
    assert [len(t) for t in seen_triangles(some)] == [2, 2]


def test_a_header_outlines_a_scene_of_millimetres() -> None:
    """The picture is framed by the outline, so it is given to the micrometre, as its box is."""
    outline = np.random.default_rng(5).uniform(-0.002, 0.006, (20, 3))
    about = make_header("mite", [], np.stack([outline.min(axis=0), outline.max(axis=0)]), outline=outline).about
    np.testing.assert_allclose(about["outline"], outline, atol=0.51e-6)


def test_a_header_tells_of_which_surfaces_nobody_sees_the_backs() -> None:
    tet = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    X = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    sent = {"whole": tet, "open": tet[1:], "torn": np.concatenate([tet[:1, ::-1], tet[1:]])}
    carried = {"out": tet, "in": tet[:, ::-1], "lid": tet[1:]}
    shapes: list[Any] = [PointsShape(name, "body", 4, GREY, triangles) for name, triangles in sent.items()]
    shapes += [rigid_shape(name, "body", X, triangles, GREY) for name, triangles in carried.items()]
    about = make_header("some", shapes, np.array([[0.0] * 3, [1.0] * 3])).about
    closed = [(about["models"][s["model"]] if "model" in s else s)["closed"] for s in about["shapes"]]
    assert [s["name"] for s, is_closed in zip(about["shapes"], closed) if is_closed] == ["whole", "out"]


def test_copies_are_told_once(carriers: Carriers) -> None:
    """Equal trees of other colours, and boxes of one size, share a model each; one of another scale has its own."""
    box = sp.box_tets((0.1, 0.1, 0.1), (1, 1, 1)).boundary.surface
    shapes: list[Any] = [CarriedShape(f"tree {k}", "body", replace(carriers), (k + 1) * GREY / 3) for k in range(2)]
    shapes += [rigid_shape(f"box {k}", "body", box.nodes.copy(), box.triangles, GREY) for k in range(100)]
    shapes.append(CarriedShape("large", "body", replace(carriers, scale=2 * carriers.scale), GREY))
    header = make_header("copies", shapes, np.array([[0.0] * 3, [1.0] * 3]))
    told = header.about["shapes"]
    assert [shape["model"] for shape in told] == [0, 0, *[1] * 100, 2]
    assert len(header.about["models"]) == 3
    assert len(json.dumps(told[2])) < 150
    alone = make_header("copies", [shapes[0], shapes[2], shapes[-1]], np.array([[0.0] * 3, [1.0] * 3]))
    assert len(header.data) <= len(alone.data) + 8  # the colour of the second tree


def test_a_header_tells_where_arrays_are(carriers: Carriers) -> None:
    header = make_header("two", [CarriedShape("tree", "body", carriers, GREY)], np.array([[0.0] * 3, [1.0] * 3]))
    shape = header.about["shapes"][0]
    told = header.about["models"][shape["model"]]
    assert np.allclose(read(told["kinds"][0]["X"], header.data).reshape(-1, 3), carriers.kinds[0].X)
    U = told["kinds"][0]["U"]
    shorts, scale = read(U, header.data).reshape(-1, 3) / 32767, read(U["scale"], header.data)
    assert np.abs(shorts * scale - carriers.kinds[0].U.reshape(-1, 3)).max() < 1e-4 * scale.max()
    assert np.array_equal(read(told["seams"], header.data), carriers.seams)
    assert len(header.data) % 4 == 0


def test_numbers_that_need_four_bytes_get_them() -> None:
    pack = Pack()
    assert pack.add_numbers([0, 65535])["type"] == "u2"
    assert pack.add_numbers([0, 65536])["type"] == "u4"


def test_copies_share_what_is_sent_once(carriers: Carriers) -> None:
    box, one = np.array([[0.0] * 3, [1.0] * 3]), CarriedShape("one", "body", carriers, GREY)
    alone = make_header("one", [one], box)
    both = make_header("two", [one, CarriedShape("two", "body", carriers, GREY)], box)
    assert both.data == alone.data
    assert both.about["shapes"][1] == alone.about["shapes"][0] | {"name": "two"}


def test_rigid_copies_share_their_points() -> None:
    """Boxes that start elsewhere and turned: all but the first are sent as its copies, and come out where they are."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    for number, size in enumerate([0.1, 0.1, 0.2, 0.1]):
        turn = rotations.exp(np.array([0.3, -0.2, 0.5]) * number)
        box = sp.RigidBody.box((size, 0.1, 0.3), density=500)
        scene.add(box, at=(number, 0, 0), rotation=turn, spin=(1, number, 3), name=f"box {number}")
    frames = sp.run(scene, until=0.3, dt=0.01).frames
    assert frames is not None
    staging = Staging(RecordedPoints(frames), list(range(len(frames.times))))
    first, second, third, fourth = (shape.carriers for shape in staging.shapes)
    assert first is second is fourth is not third
    for shape, row in zip(staging.shapes, staging.rows(7)):
        assert shape.carriers.positions(row) == pytest.approx(frames.points(shape.name, 7), abs=2e-6)


class RecordedPoints:
    """A run of which nothing but points is kept."""

    def __init__(self, frames: Any) -> None:
        self.frames = frames

    def carriers(self, body: str) -> None:
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.frames, name)


def test_a_domain_has_the_colour_of_most_of_its_triangles(carriers: Carriers) -> None:
    red, green = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    whole = replace(
        carriers, hidden=np.zeros(0, dtype=np.int64), faces=np.array([(0, 1, 2)] * 3 + [(4, 5, 6), (4, 1, 6)])
    )
    colours = np.array([red, red, green, green, green])
    assert np.array_equal(domain_colours(whole, colours)[:2], [red, green])


def test_a_frame_carries_a_rigid_and_a_floating_surface() -> None:
    rng = np.random.default_rng(5)
    triangles = np.array([(0, 1, 2), (2, 1, 3)])
    for shapes in (None, rng.normal(size=(4, 3, 2))):
        shown = RenderSurface(FrameSkin(rng.normal(size=(4, 3)), shapes), triangles)
        x = np.concatenate([rng.normal(size=3), rotations.exp(rng.normal(size=3)), rng.normal(size=2)])[None]
        x = x if shapes is not None else x[:, :7]
        carriers = carriers_of(shown)
        assert carriers is not None
        assert np.array_equal(carriers.triangles, triangles)
        assert carriers.positions(carriage_of(shown, x)) == pytest.approx(shown.skin.positions(x))


def test_a_finer_surface_of_a_tree_is_carried_by_its_domains() -> None:
    mesh = sp.box_tets(size=(0.8, 0.1, 0.1), cells=(8, 1, 1))
    labels = (mesh.nodes[mesh.elements].mean(axis=1)[:, 0] // 0.4).astype(int)
    fine = sp.box_tets(size=(0.8, 0.1, 0.1), cells=(24, 3, 3)).boundary.surface
    body = TreeBody(decompose(mesh, labels, material=sp.Material(1e6, 0.3, 1000), modes=8), surface=fine)
    rng, n = np.random.default_rng(6), body.model.coordinate_count
    x = body.rest_coordinates
    x[0, 3:7], x[0, 7 : 7 + n] = rotations.exp(rng.normal(size=3)), 0.05 * rng.normal(size=n)
    shown = body.render_surface()
    carriers = carriers_of(shown)
    assert carriers is not None
    assert len(carriers.seams) > 0
    assert [b - a for a, b in pairwise(carriers.group_start)] == [2] * (len(carriers.group_start) - 1)
    row = carriage_of(shown, x)
    assert len(row) == carriers.width == FRAME * 2 + n
    corners = carriers.positions(row)[carriers.triangles]
    assert np.abs(corners - shown.skin.positions(x)[shown.triangles]).max() < 1e-12


def test_the_rigid_motion_of_points_is_found_and_no_other() -> None:
    rng = np.random.default_rng(7)
    first, R = rng.normal(size=(20, 3)), rotations.to_matrix(rotations.exp(np.array([0.3, -2.0, 1.1])))
    row = rigid_row(first, first @ R.T + (1.0, 2.0, 3.0))
    assert row is not None
    assert row == pytest.approx(np.concatenate([[1.0, 2.0, 3.0], R.ravel()]))
    assert rigid_row(first, first * (-1.0, 1.0, 1.0)) is None
    assert rigid_row(first, 1.001 * first) is None


def test_the_largest_number_of_a_column_takes_the_whole_of_two_bytes() -> None:
    values = np.array([[0.5, -3.0, 0.0], [-0.25, 1.0, 0.0]])
    pack = Pack()
    told = pack.add_scaled(values)
    assert np.array_equal(read(told["scale"], pack.data), [0.5, 3.0, 1.0])
    assert np.array_equal(read(told, pack.data).reshape(2, 3), [[32767, -32767, 0], [-16384, 10922, 0]])
