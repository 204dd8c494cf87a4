"""All tools by keys and for screen readers: what the browser's tree of accessibility tells of what has the focus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.studio.conftest import SCENE
from tests.studio.process import READY, Studio, wait_for
from tests.studio.watching import button, reset, state, time_of, until_after, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
ROLES = {"button", "checkbox", "combobox", "slider", "spinbutton", "textbox", "link"}
"""Of what one uses."""
TOOLS = ["Open", "Colours", "Body", "Follow", "Pull", "Fit", "Show", "Dark", "Plots", "Change", "Help"]
RUN = ["Look back", "Live", "Play", "Step", "Reset", "Speed", "Strength"]
SHOWN = ["Wireframe", "Shadows", "Links", "Frames", "Domain graph", "Contacts"]
PICTURE = "falling: drag to turn, right drag to move, wheel to come nearer"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Any]:
    """Of a scene that stands still a little after its start; each test leaves it as it has found it."""
    path = tmp_path_factory.mktemp("reach") / "falling.py"
    path.write_text(SCENE)
    with Studio(path) as studio, watching(chromium, studio.address, 1280, 720) as found:
        reset(found)
        button(found, "Step").click()
        until_after(found, 0.0)
        yield found


def tree(page: Any) -> list[tuple[str, str, str, bool]]:
    """Of what one uses: role, name, help, and whether it has the focus."""
    session = page.context.new_cdp_session(page)
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        told = {name: (node.get(name) or {}).get("value") or "" for name in ("role", "name", "description")}
        state = {one["name"]: one["value"].get("value") for one in node.get("properties", ())}
        if not node.get("ignored") and (told["role"] in ROLES or state.get("focused")):
            found.append((*told.values(), bool(state.get("focused"))))
    session.detach()
    return found


def focused(page: Any) -> tuple[str, str]:
    """Role and name of what has the focus."""
    ((role, name, _, _),) = [one for one in tree(page) if one[3] and one[0] != "RootWebArea"]
    return role, name


def tabs_through(page: Any, count: int, key: str = "Tab") -> list[str]:
    """Names of what has the focus after each press of a key."""
    found = []
    for _ in range(count):
        page.keyboard.press(key)
        found.append(focused(page)[1])
    return found


def from_the_top(page: Any) -> None:
    """No tool has the focus, and the next Tab begins anew."""
    page.evaluate("document.activeElement.blur()")
    button(page, "Open").focus()
    page.keyboard.press("Shift+Tab")


def test_all_that_one_uses_has_a_name_and_help(page: Any) -> None:
    button(page, "Plots").click()
    button(page, "Change").click()
    page.get_by_role("spinbutton", name="Young's modulus").wait_for()
    found = [one for one in tree(page) if one[0] in ROLES]
    names = [name for _, name, _, _ in found]
    assert set(TOOLS + RUN) <= set(names)
    assert "" not in names
    short = {name: told for _, name, told, _ in found if len(told.split()) < 2}
    assert not short
    button(page, "Plots").click()
    button(page, "Change").click()


def test_what_is_shown_beside_bodies_is_chosen_by_keys(page: Any) -> None:
    show = button(page, "Show")
    show.focus()
    page.keyboard.press("Enter")
    first = page.get_by_role("checkbox", name=SHOWN[0])
    first.wait_for()
    boxes = {name: told for role, name, told, _ in tree(page) if role == "checkbox" and name in SHOWN}
    assert set(boxes) == set(SHOWN)
    assert min(len(told.split()) for told in boxes.values()) > 2
    wait_for(lambda: tabs_through(page, 1)[0] in SHOWN, READY)
    while focused(page)[1] != "Frames":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_function("suppleCanvas.scene.children.some((part) => part.visible && part.isLineSegments)")
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    first.wait_for(state="hidden")


def test_tab_goes_through_all_from_the_top_left_to_the_bottom_right_and_back(page: Any) -> None:
    from_the_top(page)
    order = [*TOOLS, PICTURE, *RUN]
    assert tabs_through(page, len(order)) == order
    assert tabs_through(page, len(order) - 1, "Shift+Tab") == order[-2::-1]


def test_tools_are_used_by_enter_space_arrows_and_escape(page: Any) -> None:
    def on_focus(role: str, name: str) -> Any:
        found = page.get_by_role(role, name=name, exact=True)
        found.focus()
        assert focused(page) == (role, name)
        return found

    colours = on_focus("combobox", "Colours")
    page.keyboard.press("Enter")
    page.get_by_role("listbox").wait_for()
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.get_by_role("listbox").wait_for(state="hidden")
    page.wait_for_function("!suppleLooks.legend.element.hidden")
    assert colours.input_value() != "Materials"
    page.keyboard.press("Enter")
    page.get_by_role("listbox").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("listbox").wait_for(state="hidden")

    dark = on_focus("checkbox", "Dark")
    page.keyboard.press("Space")
    page.wait_for_function("document.body.classList.contains('body--dark')")
    page.keyboard.press("Space")
    page.wait_for_function("!document.body.classList.contains('body--dark')")
    assert dark.get_attribute("aria-checked") == "false"

    strength = on_focus("slider", "Strength")
    assert strength.get_attribute("aria-valuetext") == "1"
    page.keyboard.press("ArrowRight")
    assert strength.get_attribute("aria-valuetext") == "1.26"
    page.keyboard.press("ArrowLeft")
    assert strength.get_attribute("aria-valuetext") == "1"

    on_focus("button", "Plots")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Plots").wait_for()
    page.keyboard.press("Space")
    page.get_by_role("region", name="Plots").wait_for(state="hidden")

    before = time_of(page)
    on_focus("button", "Step")
    page.keyboard.press("Enter")
    until_after(page, before)

    on_focus("slider", "Look back")
    page.keyboard.press("Home")
    page.get_by_text("Looking back").wait_for()
    page.wait_for_function("suppleCanvas.frame.time === 0")
    on_focus("button", "Live")
    page.keyboard.press("Enter")
    until_after(page, before)


@pytest.mark.parametrize(("name", "key"), [("Help", "?"), ("Open", "o")])
def test_a_dialog_takes_the_focus_and_escape_gives_it_back(page: Any, name: str, key: str) -> None:
    button(page, name).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=name)
    dialog.wait_for()
    page.wait_for_function("document.querySelector('[role=dialog]').contains(document.activeElement)")
    for _ in range(3):  # the body: the browser's own controls come after the last one
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || document.activeElement.closest('[role=dialog]')"
        )
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    wait_for(lambda: focused(page) == ("button", name), READY)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press(key)
    dialog.wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def test_help_tells_of_each_tool(page: Any) -> None:
    button(page, "Help").click()
    dialog = page.get_by_role("dialog", name="Help")
    dialog.get_by_text("next tool, press it").wait_for()
    terms = [term.strip() for text in dialog.locator("dt").all_inner_texts() for term in text.split(",")]
    for name in (*TOOLS, *RUN):
        assert name in terms or name in ("Help", "Dark"), name
    assert min(len(told.split()) for told in dialog.locator("dd").all_inner_texts()) > 0
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")


def test_the_view_and_the_pace_go_by_keys(page: Any) -> None:
    page.evaluate("suppleCanvas.element.focus()")
    assert focused(page)[1] == PICTURE
    ball = "suppleCanvas.seen([0.3, 0, 1.0])"
    for keys in ("ArrowRight", "ArrowUp", "Shift+ArrowLeft", "+", "-"):
        before = page.evaluate(ball)
        page.keyboard.press(keys)
        assert page.evaluate(ball) != before, keys
    away = page.evaluate("suppleCanvas.zoom(0.5), suppleCanvas.camera.position.toArray()")
    page.keyboard.press("f")
    page.wait_for_function("(away) => suppleCanvas.camera.position.toArray().some((x, i) => x !== away[i])", arg=away)
    begun = time_of(page)
    page.keyboard.press("Space")
    until_after(page, begun + 0.1)
    button(page, "Pause").wait_for()
    page.keyboard.press("Space")
    state(page).filter(has_text="paused").wait_for()
    before = time_of(page)
    page.keyboard.press(".")
    until_after(page, before)
