"""Plots as a person uses them: opened, read, a point tracked, looked back by; numbers against free fall."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.studio.process import Studio
from tests.studio.watching import (
    button,
    grab,
    play_until_after,
    press,
    reset,
    state,
    visit,
    watching,
)

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
TIMED = "supplePlots.rows.map((row) => row[0])"
STRENGTH = "Number(document.querySelector('input[aria-labelledby=strength]').value)"
BAR = "document.querySelector('[aria-label=\"Look back\"]')"


def test_energy_momentum_and_a_point_are_plotted(page: Any) -> None:
    button(page, "Plots").click()
    panel = page.get_by_role("region", name="Plots")
    panel.get_by_role("button", name="Track a point").click()
    panel.get_by_role("button", name="Click on a body …").wait_for()
    page.wait_for_function("suppleCanvas.element.style.cursor === 'crosshair'")
    page.mouse.click(*page.evaluate("suppleCanvas.seen([0.3, 0, 1.0])"))
    panel.get_by_role("img", name="ball, point 1 in m").wait_for()
    play_until_after(page, 3.0)
    page.wait_for_function(f"{TIMED}.at(-1) === suppleCanvas.frame.time")
    rows = page.evaluate("supplePlots.rows.map((row) => Array.from(row))")
    assert len(rows) > 10
    t, first, last = rows[-1][0], rows[0], rows[-1]
    mass = last[6] / (-9.81 * t)  # momentum along z
    assert mass == pytest.approx(1.26, rel=0.02)
    assert last[12] - first[12] == pytest.approx(-9.81 / 2 * t * t, rel=0.1)  # centre of mass
    assert last[1] == pytest.approx(mass * (9.81 * t) ** 2 / 2, rel=0.05)  # kinetic energy
    assert last[16] == pytest.approx(9.81 * t, rel=0.02)  # speed of the point
    panel.get_by_role("img", name="Energy in J from 0.0 to").wait_for()
    values = panel.get_by_role("list", name="Momentum, values", exact=True)
    values.filter(has_text=f"{last[6]:.3g}").wait_for()
    # a click looks back, as the bar under the picture does
    panel.get_by_role("img", name="Energy in J").click()  # in its middle
    page.get_by_text("Looking back").wait_for()
    chosen = page.evaluate(f"Number({BAR}.value)")
    assert chosen == pytest.approx(t / 2, rel=0.02)  # two pixels of some hundred
    page.wait_for_function(f"suppleCanvas.frame.time <= {chosen}")
    assert page.evaluate("suppleCanvas.frame.time") > 0.0
    panel.get_by_role("button", name="Momentum", exact=True).click()
    panel.get_by_role("img", name=re.compile("^Momentum in")).wait_for(state="hidden")
    panel.get_by_role("button", name="Remove ball, point 1").click()
    panel.get_by_role("img", name="ball, point 1 in m").wait_for(state="hidden")
    reset(page)
    page.wait_for_function(f"{TIMED}.length > 0 && {TIMED}.every((t) => t === 0)")


def test_lines_are_thinned_and_keep_their_peaks(page: Any) -> None:
    button(page, "Plots").click()
    page.wait_for_function("window.supplePlots")
    found = page.evaluate(
        """async () => {
          const names = performance.getEntriesByType("resource").map((entry) => entry.name);
          const source = names.find((name) => name.includes("studio_plots"));
          const { thinned, ticks, written } = await import(source);
          const t = Array.from({ length: 4000 }, (_, k) => k / 64), v = t.map((x) => Math.sin(x));
          v[1234] = 9; v[2345] = -7;
          const [times, values] = thinned(t, v);
          const inOrder = times.every((x, k) => !k || x >= times[k - 1]);
          return [times.length, Math.max(...values), Math.min(...values), inOrder, ticks(0, 1, 4), written(0.000123)];
        }"""
    )
    assert found == [600, 9, -7, True, [0, 0.5, 1.0], "1.2e-4"]


def test_plots_leave_the_graphics_card_to_the_picture(page: Any) -> None:
    """The processor draws them, with the next picture and once, however much has come: on a graphics card their lines
    wait for the picture of the scene, and the page with them."""
    button(page, "Plots").click()
    page.get_by_role("img", name="Energy in J from 0.0 to").wait_for()
    found = page.evaluate(
        """async () => {
          const pens = [...document.querySelectorAll(".supple-plots canvas")].map((canvas) => canvas.getContext("2d"));
          const next = () => new Promise((done) => requestAnimationFrame(done)), own = pens[0].clearRect;
          let drawn = 0;
          pens[0].clearRect = (...box) => { drawn += 1; own.apply(pens[0], box); };
          await next();
          const before = drawn;
          for (let k = 0; k < 20; ++k) supplePlots.redraw();
          const atOnce = drawn - before;
          await next();
          await next();
          return [pens.map((pen) => pen.getContextAttributes().willReadFrequently), atOnce, drawn - before];
        }"""
    )
    assert found[0] == [True] * 4
    assert found[1] == 0
    assert 1 <= found[2] <= 2  # rows may have come meanwhile


def test_the_strength_of_pulls_is_kept_and_shared(page: Any) -> None:
    reset(page)
    page.get_by_role("slider", name="Strength").focus()
    for _ in range(20):
        if (shown := strength_of(page)) > 0.45:
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"{STRENGTH} !== {shown}")
    until_strength(page, 0.5)
    reset(page)
    page.wait_for_timeout(2000)  # by then the page shows what the simulation has
    until_strength(page, 0.5)
    other = page.context.new_page()
    visit(other, page.url)
    until_strength(other, 0.5)  # so the simulation has it


def strength_of(page: Any) -> float:
    return float(page.evaluate(STRENGTH))


def until_strength(page: Any, value: float) -> None:
    page.wait_for_function(f"Math.abs({STRENGTH} - {value}) < 1e-6")


WILD = """
import supple as sp

scene = sp.Scene(name="wild")
ball = scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 0.05), name="ball")
cube = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=500), name="cube")
scene.add(sp.Load(cube.points(at=(0, 0, 0)), lambda t: (0.0, 0.0, 1e308 if t > 0.2 else 0.0)))
"""


def test_a_simulation_that_diverges_while_somebody_pulls_stops_and_explains(tmp_path: Path, chromium: Any) -> None:
    path = tmp_path / "wild.py"
    path.write_text(WILD)
    with Studio(path) as studio, watching(chromium, studio.address, 800, 600) as page:
        reset(page)
        x, y = grab(page, [0.3, 0, 0.05])
        page.mouse.move(x + 60, y - 60, steps=4)
        press(page, "Play")
        told = page.get_by_role("alert").filter(has_text="Reset begins anew")
        told.wait_for()
        assert "pull more gently" in told.inner_text()
        page.mouse.up()
        assert all(abs(value) < 1e3 for value in page.evaluate("Array.from(suppleCanvas.positions('cube', [0, 1, 2]))"))
        reset(page)
        told.wait_for(state="hidden")
        state(page).filter(has_text="t = 0.00 s").wait_for()
