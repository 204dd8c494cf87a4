"""Looks: fields as bytes, scales that stay, wishes that cannot be understood."""

from __future__ import annotations

import json
import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.carried import carriage_of
from supple.studio.looks.colour_scale import PATIENCE, ColourScale
from supple.studio.looks.field_colours import NONE, TOP
from supple.studio.looks.looks import Looks, joined
from supple.studio.looks.wishes import Click, Wish, read_wish
from supple.studio.show import Show
from supple.validation.tree.reference import mixed_domain_tree


def looked_at(looks: Looks, state: Any, wish: Wish) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a look tells, and the bytes of its tints."""
    about, pack = looks.seen(wish, state, 0.0)
    message = joined(about, pack.data)
    (length,) = struct.unpack_from("<I", message)
    about, data = json.loads(message[4 : 4 + length]), message[4 + length :]
    places = {tint["name"]: tint["values"] for tint in about.get("tints", ())}
    return about, {n: np.frombuffer(data, np.uint8, at["count"], at["at"]) for n, at in places.items()}


@pytest.fixture
def thrown() -> tuple[Looks, Any]:
    scene = sp.Scene(gravity=(0, 0, 0))
    cube = sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)), sp.Material(1e5, 0.3, 1000))
    scene.add(cube, velocity=(3.0, 0, 0), name="cube")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.5, 0, 0), velocity=(0, 1.5, 0), name="ball")
    system = scene.compile()
    state = system.initial_state()
    return Looks(Show(system, state)), state


def test_speed_is_told_in_bytes_over_a_scale(thrown: tuple[Looks, Any]) -> None:
    looks, state = thrown
    about, tints = looked_at(looks, state, Wish("speed"))
    assert (about["unit"], about["highest"]) == ("m/s", 5.0)
    assert set(tints["cube"]) == {round(TOP * 3.0 / 5.0)}
    assert list(tints["ball"]) == [round(TOP * 1.5 / 5.0)]  # carried: one of its domain


def test_the_selected_body_has_a_byte_a_point(thrown: tuple[Looks, Any]) -> None:
    looks, state = thrown
    about, tints = looked_at(looks, state, Wish("speed", "ball"))
    told = about["selected"]
    assert len(tints["ball"]) == told["points"] > 1
    assert (told["kind"], told["mass"]) == ("rigid", pytest.approx(500 * 4 / 3 * np.pi * 0.05**3, rel=0.1))
    assert told["size"] == pytest.approx([0.1, 0.1, 0.1], rel=0.05)


def test_a_body_without_a_field_says_so(thrown: tuple[Looks, Any]) -> None:
    looks, state = thrown
    _, tints = looked_at(looks, state, Wish("stress"))
    assert list(tints["ball"]) == [NONE]
    assert len(tints["cube"]) == 8
    assert set(tints["cube"]) == {0}


def test_strain_of_a_stretched_cube(thrown: tuple[Looks, Any]) -> None:
    looks, state = thrown
    cube = looks.surfaces["cube"].slot
    cube.view_x(state.x)[:, 0] *= 1.1
    about, tints = looked_at(looks, state, Wish("strain"))
    # E = (1.1² - 1) / 2 along x, at a corner the mean over two faces along it and one across
    values = tints["cube"] / TOP * about["highest"]
    assert values.mean() == pytest.approx(0.105 * 2 / 3, rel=0.03)
    assert about["highest"] == 0.1


def test_looks_are_sent_to_those_who_wish_and_no_more_often_than_told(thrown: tuple[Looks, Any]) -> None:
    looks, state = thrown
    sent: list[tuple[int, str, bytes]] = []
    nobody = np.zeros((0, 2, 3))

    def look(now: float) -> None:
        looks.send(None, state, lambda _: nobody, lambda: now, sent.append)  # type: ignore[arg-type]

    looks.forget()
    look(1.0)
    assert not sent  # nobody wishes for any
    looks.wish(7, Wish("speed"))
    look(1.0)
    looks.forget()
    look(1.05)
    assert [watcher for watcher, *_ in sent] == [7]
    look(1.11)
    look(1.3)  # nothing has changed
    assert [watcher for watcher, *_ in sent] == [7, 7]
    looks.leave(7)
    looks.forget()
    look(2.0)
    assert len(sent) == 2


def test_a_scale_grows_at_once_and_shrinks_after_a_while() -> None:
    scale = ColourScale(1e-3)
    assert scale.follow(0.0, 0.0) == 1e-3
    assert scale.follow(1.2, 1.0) == 2.0
    assert scale.follow(0.6, 2.0) == 2.0
    assert scale.follow(0.1, 3.0) == 2.0
    assert scale.follow(0.3, 3.0 + PATIENCE / 2) == 2.0
    assert scale.follow(0.1, 3.0 + PATIENCE) == 0.5  # the largest of what was seen meanwhile
    assert scale.follow(float("nan"), 10.0) == 0.5


@pytest.mark.parametrize(
    "text",
    ["", "[", "3", '{"field": "taste"}', '{"body": 3}', '{"pointer": [1]}', '{"pointer": "x"}', "[" * 5000,
     '{"pointer": [0,0,0,0,0,0,0,0,1e999]}', '{"body": "' + "a" * 5000 + '"}'],
)  # fmt: skip
def test_what_is_no_wish_is_left(text: str) -> None:
    assert read_wish(text) is None


def test_clicks_and_wishes() -> None:
    assert read_wish('{"frame": 4, "pointer": [0,0,0, 0,0,1, 0,0,1]}') == Click(4, (0, 0, 0, 0, 0, 1, 0, 0, 1))
    assert read_wish('{"field": "", "links": true}') == Wish(links=True)


def turning_tree() -> tuple[Any, Any, Show]:
    """A tree that turns about its root by 2 rad/s."""
    scene = sp.Scene()
    scene.add(sp.TreeBody(mixed_domain_tree(free=True, chain=False)), spin=(0, 0, 2.0), name="tree")
    system = scene.compile()
    state = system.initial_state()
    return system, state, Show(system, state)


def test_a_scale_of_means_ends_above_the_largest_of_them() -> None:
    """Though some points of a domain are faster: what is seen uses the scale."""
    system, state, show = turning_tree()
    view = system.body("tree").view_x(state.x)
    x = show.shapes[0].carriers.positions(carriage_of(show.surfaces[0].shown, view))
    speeds = 2.0 * np.linalg.norm(x[:, :2], axis=1)
    factor = 1.05 / np.percentile(speeds, 99.5)  # so that the fastest points are above 1 m/s
    state.v *= factor
    means = [factor * speeds[a:b].mean() for a, b in pairwise(show.shapes[0].carriers.starts)]
    assert 0.5 < max(means) < 0.98  # and no domain is
    (tint,), highest = Looks(show).colours.tints("speed", state, "", 0.0)
    assert highest == 1.0
    assert tint.values.max() == pytest.approx(TOP * max(means), rel=0.02)
    _, fine = Looks(show).colours.tints("speed", state, "tree", 0.0)
    assert fine == 2.0


def test_a_domain_has_the_mean_of_its_points() -> None:
    """The speeds of the points of each domain."""
    system, state, show = turning_tree()
    colours = Looks(show).colours
    (fine,), highest = colours.tints("speed", state, "tree", 0.0)
    (tint,), _ = colours.tints("speed", state, "", 0.0)
    starts = show.shapes[0].carriers.starts
    assert (tint.per, fine.per) == ("domain", "point")
    assert len(tint.values) == len(starts) - 1 == 5
    means = [fine.values[a:b].mean() for a, b in pairwise(starts)]
    assert np.ptp(means) > 20
    np.testing.assert_allclose(tint.values, means, atol=1.0)  # both are whole numbers
    carriers = show.shapes[0].carriers
    x = carriers.positions(carriage_of(show.surfaces[0].shown, system.body("tree").view_x(state.x)))
    speeds = 2.0 * np.linalg.norm(x[:, :2], axis=1)
    np.testing.assert_allclose(fine.values / TOP * highest, np.minimum(speeds, highest), atol=0.02 * highest)
