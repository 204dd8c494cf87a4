"""Tools to look with, used as a person does; their effect is read from the simulation and from pixels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from tests.requiring import needed
from tests.studio.conftest import SCENE
from tests.studio.process import READY, Studio, wait_for
from tests.studio.seeing import changed, choose, colour_of, middle_of, picture, pixels, show
from tests.studio.watching import button, fit, grab, let_go, play_until_after, reset, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
AGAIN = 5_000
"""After which one clicks again [ms]."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    path = tmp_path_factory.mktemp("looking") / "falling.py"
    path.write_text(SCENE)
    with Studio(path) as found:
        yield found


@pytest.fixture
def page(studio: Studio, chromium: Any) -> Iterator[Any]:
    """Of a scene at its start, all of which is seen; what another test has chosen is not chosen in it."""
    with watching(chromium, studio.address, 900, 600) as found:
        reset(found)
        fit(found)
        yield found


def until_in_the_middle(page: Any, body: str) -> None:
    """The camera follows it."""
    box = page.evaluate("suppleCanvas.element.getBoundingClientRect().toJSON()")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen = f"suppleCanvas.seen(suppleCanvas.extent('{body}').middle)"
    page.wait_for_function(f"Math.hypot({seen}[0] - {x}, {seen}[1] - {y}) < 2")


def test_colours_tell_the_speed_with_a_legend(page: Any) -> None:
    own = colour_of(page, "ball")
    choose(page, "Colours", "Speed")
    legend = page.get_by_role("img", name=re.compile(r"Speed \["))
    legend.filter(has_text="mm/s").wait_for()  # all rests
    slow = colour_of(page, "ball")
    assert slow[2] > slow[1] + 15  # violet
    play_until_after(page, 0.12)
    page.get_by_role("img", name=re.compile(r"Speed \[m.s\] from 0 to \d")).wait_for()
    fit(page)
    speed = 9.81 * page.evaluate("suppleCanvas.frame.time")

    def highest() -> float:
        return float(re.findall(r"[\d.]+$", legend.get_attribute("aria-label"))[0])

    wait_for(lambda: speed <= 1.02 * highest(), READY)  # colours come later than frames
    assert 1.02 * highest() < 5.1 * speed
    fast = colour_of(page, "ball")
    assert fast[1] > slow[1] + 40  # on its way to green and yellow
    assert np.abs(fast - colour_of(page, "cube")).max() < 60  # as fast, lit otherwise
    choose(page, "Colours", "Materials")
    legend.wait_for(state="hidden")
    assert np.abs(colour_of(page, "ball") - own).max() < 25


def click_until(page: Any, body: str, told: Any) -> None:
    """Click at a body until something is told, as a person does where nothing comes of it: what the page wishes may not
    be heard yet."""
    for _ in range(int(1000 * READY) // AGAIN):
        page.mouse.click(*middle_of(page, body))
        with suppress(needed("playwright.sync_api").TimeoutError):
            told.wait_for(timeout=AGAIN)
            return
    told.wait_for(timeout=AGAIN)


def test_a_click_selects_a_body_and_the_camera_follows_it(page: Any) -> None:
    told = page.get_by_role("status", name="Selected body")
    click_until(page, "ball", told.filter(has_text=re.compile(r"ball: rigid, 0\.2\d* kg, 0\.1 × 0\.1 × 0\.1 m")))
    page.get_by_role("checkbox", name="Follow").click()
    until_in_the_middle(page, "ball")
    before = middle_of(page, "ball")
    play_until_after(page, 0.5)
    assert page.evaluate("suppleCanvas.extent('ball').middle[2]") < 0.2
    assert np.hypot(*np.subtract(middle_of(page, "ball"), before)) < 3  # pixels
    choose(page, "Body", "cube")
    told.filter(has_text=re.compile(r"cube: \w+, 1 kg")).wait_for()
    canvas = page.evaluate("suppleCanvas.element.getBoundingClientRect().toJSON()")
    fit(page)
    page.mouse.click(canvas["x"] + 5, canvas["y"] + canvas["height"] - 5)
    told.filter(has_text=re.compile("^$")).wait_for(state="attached")


def test_follow_selects_a_body_where_none_is(page: Any) -> None:
    told = page.get_by_role("status", name="Selected body")
    told.filter(has_text=re.compile("^$")).wait_for(state="attached")
    page.get_by_role("checkbox", name="Follow").click()
    told.filter(has_text=re.compile("cube: ")).wait_for()
    until_in_the_middle(page, "cube")
    before = middle_of(page, "cube")
    play_until_after(page, 0.4)
    assert page.evaluate("suppleCanvas.extent('cube').middle[2]") < 0.5
    assert np.hypot(*np.subtract(middle_of(page, "cube"), before)) < 3  # pixels


def test_the_legend_says_what_grey_is_and_stays_while_other_things_are_switched(page: Any) -> None:
    choose(page, "Colours", "Stress")
    legend = page.get_by_role("img", name=re.compile(r"Stress \[\w*Pa\] from 0 to [\d.]+; grey: no stress"))
    legend.wait_for()
    page.evaluate("""
        const legend = suppleLooks.legend.element;
        window.told = [];
        new MutationObserver(() => told.push(legend.getAttribute("aria-label"))).observe(legend, { attributes: true });
    """)
    show(page, "Contacts")
    page.get_by_role("note").filter(has_text="No contacts").wait_for()
    show(page, "Contacts")
    assert not [text for text in page.evaluate("told") if "from 0 to" not in text]


def test_dots_are_as_large_in_a_coarse_picture(page: Any) -> None:
    """Which has fewer pixels and is stretched."""
    size = """(height) => {
        const { dots } = suppleLooks.marks.contacts;
        dots.onBeforeRender({
            getRenderTarget: () => ({ height }), getSize: (out) => out.set(800, 600), getPixelRatio: () => 1,
        });
        return dots.material.size;
    }"""
    fine, coarse = (page.evaluate(size, height) for height in (600, 300))
    assert fine == 2 * coarse > 0


@pytest.mark.parametrize("name", ["Frames", "Wireframe", "Shadows"])
def test_what_is_drawn_beside_bodies_can_be_switched(page: Any, name: str) -> None:
    before = picture(page)
    show(page, name)
    wait_for(lambda: changed(before, picture(page)) > 100, READY)
    show(page, name)
    wait_for(lambda: changed(before, picture(page)) < 10, READY)


def test_a_pull_is_seen_as_a_line(page: Any) -> None:
    def pink() -> int:
        return int((np.abs(pixels(page) - (224, 33, 138)).max(axis=2) < 25).sum())

    before = pink()
    x, y = grab(page, page.evaluate("suppleCanvas.extent('ball').middle"))
    page.mouse.move(x + 150, y - 40, steps=5)
    wait_for(lambda: pink() > before + 100, READY)
    let_go(page)
    wait_for(lambda: pink() < before + 10, READY)


def test_dark_and_light(page: Any) -> None:
    def brightness() -> float:
        return float(picture(page)[5, 5].mean())

    assert brightness() > 200
    page.get_by_role("checkbox", name="Dark").click()
    wait_for(lambda: brightness() < 60, READY)
    page.get_by_role("checkbox", name="Dark").click()
    wait_for(lambda: brightness() > 200, READY)


CONTRAST = """(element) => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).reduce((sum, byte, k) => {
    const part = byte / 255, value = part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    return sum + [0.2126, 0.7152, 0.0722][k] * value;
  }, 0.05);
  const behind = (part) => {
    const colour = part ? getComputedStyle(part).backgroundColor : "rgb(255, 255, 255)";
    return numbers(colour)[3] === 0 ? behind(part.parentElement) : colour;
  };
  const a = light(getComputedStyle(element).color), b = light(behind(element));
  return Math.max(a, b) / Math.min(a, b);
}"""
"""Of words with what is behind them, as WCAG has it; 4.5 is what it asks for."""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_from_the_ground(page: Any, theme: str) -> None:
    dark = page.get_by_role("checkbox", name="Dark")
    if theme == "dark":
        dark.click()
        page.wait_for_function("document.body.classList.contains('body--dark')")
        page.wait_for_timeout(1000)  # colours fade
    page.evaluate("document.activeElement.blur()")
    for name in ("Open", "Fit", "Show", "Plots", "Change", "Help", "Play", "Step", "Reset"):
        words = page.get_by_role("button", name=name, exact=True).locator(".q-btn__content")
        assert words.evaluate(CONTRAST) >= 4.5, name
    assert page.get_by_role("alert").evaluate(CONTRAST) >= 4.5


def test_panels_share_the_height(page: Any) -> None:
    """Also where one of them has much more in it."""
    for name in ("Plots", "Change"):
        page.get_by_role("button", name=name, exact=True).click()
    for name in ("Plots", "Change"):
        region = page.get_by_role("region", name=name)
        region.wait_for()
        region.get_by_role("button").first.wait_for()
    page.get_by_role("spinbutton", name="Gravity [m/s²], x").wait_for()
    heights = [page.get_by_role("region", name=name).bounding_box()["height"] for name in ("Plots", "Change")]
    assert abs(heights[0] - heights[1]) < 2.0


def until_it_shows(field: Any, value: float) -> None:
    field.page.wait_for_function(f"(it) => Number(it.value) === {value}", arg=field.element_handle())


def test_a_value_that_is_refused_is_that_of_now_again_and_what_is_typed_stays(page: Any) -> None:
    page.get_by_role("button", name="Change").click()
    panel = page.get_by_role("region", name="Change")
    young, gravity = (panel.get_by_role("spinbutton", name=name) for name in ("Young's modulus", "Gravity [m/s²], x"))
    young.fill("-5")
    young.press("Enter")
    page.get_by_role("alert").filter(has_text="Young's modulus is not positive").wait_for()
    until_it_shows(young, 1e5)
    young.fill("2e5")
    young.press("Enter")
    gravity.fill("3")  # while the answer is on its way
    page.get_by_role("alert").filter(has_text=re.compile("^$")).wait_for(state="attached")
    page.wait_for_timeout(1000)
    assert (float(young.input_value()), gravity.input_value()) == (2e5, "3")
    button(page, "Reset").click()
    until_it_shows(young, 1e5)
