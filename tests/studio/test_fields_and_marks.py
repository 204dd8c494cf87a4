"""What colours, numbers and marks say of bodies of several kinds, against closed forms.

A bar hangs from its upper end: at a height z above its lower end its stress is rho g z and its strain that over E.
A box rests on the ground on four corners, which carry its weight. A lattice has links, a branch has domains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.studio.process import READY, Studio, wait_for
from tests.studio.seeing import changed, choose, colour_at, colour_of, picture, pixels, seen, show
from tests.studio.watching import fit, play_until_after, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
DENSITY, YOUNG, LENGTH, G = 1000.0, 1e5, 0.6, 9.81
BOX_WEIGHT, LATTICE_WEIGHT = 100.0 * 0.2**3 * G, 300.0 * 0.2**3 * G
SCENE = f"""
import numpy as np
import supple as sp
from supple.validation.tree.coupling import beam_domain_tree

scene = sp.Scene(gravity=(0, 0, -{G}), name="all sorts")
rubber = sp.Material({YOUNG}, 0.0, {DENSITY}, stiffness_damping=0.05)
bar = sp.FemBody(sp.box_tets(size=(0.1, 0.1, {LENGTH}), cells=(2, 2, 12)), rubber)
scene.add(bar, fix="z_max", at=(0, 0, 0.4), name="bar")
scene.add(sp.RigidBody.box((0.2, 0.2, 0.2), density=100), at=(0.5, 0, 0.1), name="box")
lattice = sp.VoxelBody(sp.VoxelGrid(np.ones((4, 4, 4), dtype=int), 0.05), sp.VoxelMaterial(1e6, density=300))
scene.add(lattice, at=(0.8, -0.1, 0.0), name="lattice")
scene.add(sp.TreeBody(beam_domain_tree(3, 6), stiffness_damping=0.01), at=(0.3, 0, 0.7), name="branch")
scene.add(sp.Sphere((-0.4, 0, 0.2), 0.12, name="stone"))
scene.add(sp.Floor())
"""
ACCENT, NODE, LINK, CONTACT = (240, 140, 46), (47, 111, 179), (29, 42, 53), (216, 64, 74)
"""Of interfaces, domains, links and contacts."""
BODIES = ("bar", "box", "lattice")
ARROWS = """(() => {
  const { rods, heads, count } = suppleLooks.marks.contacts;
  const of = ({ mesh }, k) => mesh.instanceMatrix.array.slice(16 * k, 16 * k + 16);
  return Array.from({ length: count }, (_, k) => {
    const foot = of(rods, k), head = of(heads, k), axis = [0, 1, 2];
    return [...axis.map((i) => foot[12 + i]), ...axis.map((i) => head[12 + i] + head[4 + i] - foot[12 + i])];
  }).flat();
})()"""
"""Foot and way of each arrow that is drawn [m]."""
LEGEND_COLOURS = """[...suppleLooks.legend.element.children].map((line) => line.style.background)
  .find((text) => text.includes("gradient"))"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Any]:
    """Of the scene when all has come to rest; each test leaves it as it has found it."""
    path = tmp_path_factory.mktemp("sorts") / "sorts.py"
    path.write_text(SCENE)
    with Studio(path) as studio, watching(chromium, studio.address, 1200, 800) as found:
        play_until_after(found, 1.5)
        fit(found)
        yield found


def legend(page: Any, name: str) -> tuple[float, str]:
    """Where the scale of a field ends, in its unit without prefixes, and all that is told."""
    found = page.get_by_role("img", name=re.compile(rf"{name} \[.*\] from 0 to"))
    found.wait_for()
    told = found.get_attribute("aria-label")
    prefix, value = re.findall(r"\[(m|k|M|)(?:Pa|m/s|-)\] from 0 to ([\d.e-]+)", told)[0]
    return float(value) * {"m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6}[prefix], told


def linear(colour: np.ndarray) -> np.ndarray:
    """Red, green, blue as light adds up, each over all, so that how much light there is does not matter."""
    share = np.asarray(colour, dtype=float) / 255
    light = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return light / light.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def read_off(page: Any, place: tuple[float, float, float]) -> float:
    """What the colour of a point says, over the end of the scale, as a person reads it off the legend's bar."""
    bar = page.evaluate(LEGEND_COLOURS)
    stops = np.array([[int(n) for n in colour] for colour in re.findall(r"rgb\((\d+), (\d+), (\d+)\)", bar)])
    shares = np.linspace(0, 1, 201)
    colours = np.stack([np.interp(shares, np.linspace(0, 1, len(stops)), stops[:, k]) for k in range(3)], axis=1)
    found = linear(colour_at(page, *seen(page, place)))
    return float(shares[np.argmin(np.linalg.norm(linear(colours) - found, axis=1))])


def in_own_colours(page: Any) -> None:
    choose(page, "Colours", "Materials")
    page.wait_for_function("suppleLooks.legend.element.hidden")


def are_near(page: Any, places: Any, colour: tuple[int, int, int]) -> list[bool]:
    """Whether a colour is seen within three pixels of where points of the world are seen."""
    found, around = pixels(page), [(int(x), int(y)) for x, y in (seen(page, place) for place in places)]
    squares = [found[y - 3 : y + 4, x - 3 : x + 4] for x, y in around]
    return [bool((np.abs(square - colour).max(axis=2) < 30).any()) for square in squares]


def until_gone(page: Any, before: np.ndarray) -> None:
    """What was drawn beside bodies."""
    wait_for(lambda: changed(before, picture(page)) < 10, READY)


@pytest.mark.parametrize(("name", "per_height"), [("Stress", DENSITY * G), ("Strain", DENSITY * G / YOUNG)])
def test_colours_and_numbers_tell_what_hangs_below(page: Any, name: str, per_height: float) -> None:
    choose(page, "Colours", name)
    end, told = legend(page, name)
    assert 0.9 * per_height * LENGTH < end <= 5 * per_height * LENGTH
    assert ("grey: no stress" in told) == (name == "Stress")  # a rigid box has none; its strain is zero
    low = 0.1 - DENSITY * G * LENGTH**2 / (2 * YOUNG)
    for height in (0.1, 0.3, 0.5):
        assert read_off(page, (0.05, -0.05, low + height)) * end == pytest.approx(per_height * height, abs=0.1 * end), (
            height
        )
    assert (np.ptp(colour_of(page, "box")) < 12) == (name == "Stress")  # grey
    assert ("means of domains; select a body to see its points" in told) == (name == "Strain")  # of the branch
    in_own_colours(page)


def test_each_part_and_each_domain_has_a_colour(page: Any) -> None:
    own = {name: colour_of(page, name) for name in BODIES}
    choose(page, "Colours", "Parts")
    page.get_by_role("img", name="Parts: bar, box, lattice, branch", exact=True).wait_for()
    ways = [linear(colour_of(page, name)) for name in BODIES]
    assert min(np.linalg.norm(a - b) for k, a in enumerate(ways) for b in ways[:k]) > 0.05
    places = page.evaluate("[0, 1, 2].map((d) => suppleCanvas.shapes[3].centre(d, [0, 0, 0]))")
    choose(page, "Colours", "Domains")
    page.get_by_role("img", name="Domains: one colour a domain", exact=True).wait_for()
    ways = [linear(colour_at(page, *seen(page, place))) for place in places]
    assert min(np.linalg.norm(a - b) for k, a in enumerate(ways) for b in ways[:k]) > 0.05
    in_own_colours(page)
    for name, colour in own.items():
        assert np.abs(colour_of(page, name) - colour).max() < 5


def test_links_lie_between_voxels(page: Any) -> None:
    before = picture(page)
    places = [(x, -0.075, 0.125) for x in (0.85, 0.9, 0.95)]  # between the middles of voxels of the front
    assert not any(are_near(page, places, LINK))
    show(page, "Links")
    wait_for(lambda: all(are_near(page, places, LINK)), READY)
    show(page, "Links")
    until_gone(page, before)


def test_the_graph_has_a_point_a_domain_and_one_an_interface(page: Any) -> None:
    before = picture(page)
    show(page, "Domain graph")
    places = page.evaluate("[0, 1, 2].map((d) => suppleCanvas.shapes[3].centre(d, [0, 0, 0]))")
    faces = page.evaluate("[1, 2].map((d) => [...suppleCanvas.shapes[3].frame(d)].slice(0, 3))")
    wait_for(lambda: all(are_near(page, places, NODE)), READY)
    assert all(are_near(page, faces, ACCENT))
    assert not any(are_near(page, places, ACCENT))
    show(page, "Domain graph")
    until_gone(page, before)


def test_arrows_of_contacts_carry_the_weight(page: Any) -> None:
    before = picture(page)
    show(page, "Contacts")
    note = page.get_by_role("note")
    note.filter(has_text=re.compile(r"^20 contacts; longest arrow \d+ N$")).wait_for()  # 4 corners, 16 voxels
    longest = float(re.findall(r"arrow ([\d.]+) N", note.inner_text())[0])
    assert BOX_WEIGHT / 4 <= longest <= 5 * BOX_WEIGHT / 4
    arrows = np.reshape(page.evaluate(ARROWS), (-1, 6))
    forces, is_box = arrows[:, 3:], arrows[:, 0] < 0.7
    assert is_box.sum() == 4
    assert np.ptp(forces[is_box], axis=0).max() < 0.02 * forces[is_box, 2].max()  # a fourth of the weight each
    weights = [forces[which, 2].sum() for which in (is_box, ~is_box)]
    assert weights[0] / weights[1] == pytest.approx(BOX_WEIGHT / LATTICE_WEIGHT, rel=0.02)
    feet, ways = arrows[is_box, :3], forces[is_box]
    assert all(are_near(page, feet + 0.5 * ways, CONTACT))
    assert not any(are_near(page, feet + 1.3 * ways, CONTACT))
    show(page, "Contacts")
    note.wait_for(state="hidden")
    until_gone(page, before)


def test_obstacles_are_seen(page: Any) -> None:
    """In front of the ground and behind what is in front of them; they are no bodies, which one selects."""
    assert "stone" in page.evaluate("suppleCanvas.names")
    assert np.ptp(colour_at(page, *seen(page, (-0.4, 0, 0.2)))) < 40
    ground = colour_at(page, *seen(page, (-0.4, -0.6, 0.0)))
    assert np.abs(colour_at(page, *seen(page, (-0.4, 0, 0.2))) - ground).max() > 30
