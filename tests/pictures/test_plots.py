"""Plots show what is known: energies that are kept, frequencies of springs, parabolas, orders of methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError, StabilityWarning
from supple.exports.plot.motion import spectrum

pytest.importorskip("matplotlib")
FREQUENCY, G = 5.0, 9.81


@pytest.fixture(scope="module")
def swing(tmp_path_factory: Any) -> Any:
    """A ball of 1 kg on a spring, pulled down by its weight from where the spring has no force."""
    scene = sp.Scene(gravity=(0, 0, -G), name="swing")
    ball = scene.add(sp.Particles([[0.0, 0.0, 0.0]], mass=1.0), name="ball")
    stiffness = (2 * np.pi * FREQUENCY) ** 2
    scene.add(sp.Springs(ball.points([0]), sp.World.points((0, 0, 1.0)), stiffness=stiffness, rest_length=1.0))
    return sp.run(
        scene, until=4.0, record_every=0.01, dt=0.0025, solver=sp.Midpoint(), out=tmp_path_factory.mktemp("swing")
    )


def test_energies_are_drawn_as_recorded_and_their_sum_is_kept(swing: Any) -> None:
    figure = sp.plot.energies(swing)
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    total = lines["total"].get_ydata()
    np.testing.assert_allclose(lines["kinetic"].get_ydata(), swing.energies.kinetic)
    assert np.ptp(total) < 1e-3 * np.ptp(lines["kinetic"].get_ydata())
    assert figure.axes[0].get_xlabel() == "time [s]"
    assert figure.axes[0].get_ylabel() == "energy [J]"


def test_the_peak_of_a_spectrum_is_the_frequency_of_the_spring(swing: Any) -> None:
    (line, *_) = sp.plot.spectra(swing, "ball").axes[0].lines
    f, a = line.get_data()
    assert abs(f[np.argmax(a)] - FREQUENCY) < 0.25  # a bin of 4 s
    # it swings by its own static sag about it: m g / k; between two bins Hann's window shows 0.85 of it at least
    assert 0.85 < a.max() / (G / (2 * np.pi * FREQUENCY) ** 2) < 1.02
    assert f.max() == pytest.approx(50.0, rel=0.01)


def test_a_sine_in_the_middle_of_a_bin_has_its_amplitude() -> None:
    t = np.arange(200) * 0.01
    f, a = spectrum(t, 3.0 + 0.7 * np.sin(2 * np.pi * 10 * t))
    assert f[np.argmax(a)] == pytest.approx(10.0)
    assert a.max() == pytest.approx(0.7)
    assert a[np.abs(f - 10) > 1.0].max() < 1e-12


def test_a_thrown_body_follows_a_parabola(tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -G), name="throw")
    scene.add(sp.RigidBody.sphere(0.1, density=1000), velocity=(2.0, 0, 3.0), name="ball")
    scene.add(sp.RigidBody.sphere(0.1, density=1000), at=(0, 1.0, 0), name="other")
    run = sp.run(scene, until=0.5, dt=1e-3, out=tmp_path)
    figure = sp.plot.trajectories(tmp_path, "ball")
    x, y, z = (axes.lines[0].get_ydata() for axes in figure.axes)
    t = run.frames.times
    np.testing.assert_allclose(x, 2.0 * t, atol=1e-5)
    np.testing.assert_allclose(y, 0.0, atol=1e-5)
    np.testing.assert_allclose(z, 3.0 * t - G * t**2 / 2, atol=5e-3)  # implicit Euler: g t dt / 2
    point = sp.plot.trajectories(run, "ball", at=(0.1, 0, 0)).axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(point - x, point[0] - x[0], atol=1e-5)  # it does not turn
    assert len(sp.plot.trajectories(run).axes[0].lines) == 2


def test_the_slope_shown_is_the_order() -> None:
    h = np.array([0.1, 0.05, 0.02, 0.01])
    figure = sp.plot.convergence(h, {"first": 3 * h, "second": 0.2 * h**2}, order=2, size_label="h [m]")
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels == ["first, slope 1.00", "second, slope 2.00", "order 2"]
    ideal = figure.axes[0].lines[2].get_ydata()
    assert ideal[1] / ideal[0] == pytest.approx(100.0)


def test_modes_are_drawn_at_their_frequencies() -> None:
    scene = sp.Scene(name="ball")
    ball = scene.add(sp.Particles([[0.0, 0.0, 0.0]], mass=2.0))
    for place, stiffness in (((1, 0, 0), 100.0), ((0, 1, 0), 400.0), ((0, 0, 1), 900.0)):
        scene.add(sp.Springs(ball.points([0]), sp.World.points(place), stiffness=stiffness, rest_length=1.0))
    figure = sp.plot.modes(sp.vibration_modes(scene.compile(), 3))
    drawn = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(drawn, np.sqrt(np.array([100, 400, 900]) / 2) / (2 * np.pi), rtol=1e-6)
    assert len(figure.axes) == 1


def test_modes_that_grow_are_drawn_apart() -> None:
    scene = sp.Scene(name="pressed")
    ball = scene.add(sp.Particles([[0.0, 0.0, 0.0]], mass=1.0))
    for side in (-1.0, 1.0):  # pressed from both sides: it slips out
        scene.add(sp.Springs(ball.points([0]), sp.World.points((side, 0, 0)), stiffness=100.0, rest_length=1.5))
    with pytest.warns(StabilityWarning):
        found = sp.vibration_modes(scene.compile(), 3)
    figure = sp.plot.modes(found)
    np.testing.assert_allclose(figure.axes[1].lines[0].get_ydata(), 10.0, rtol=1e-6)  # sqrt(2 k (L0 - L) / L / m)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda run: sp.plot.energies(3), "no frames"),
        (lambda run: sp.plot.spectra(run, "cube"), "no such body"),
        (lambda run: sp.plot.spectra(run, axis="w"), "no such axis"),
        (lambda run: sp.plot.trajectories(run, at=(0, 0)), "three finite numbers"),
        (lambda run: sp.plot.convergence([1, 2], [1, -1]), "must be positive"),
        (lambda run: sp.plot.convergence([1, 2], [1, 2, 3]), "another shape"),
        (lambda run: sp.plot.convergence([1, 1], [1, 2]), "two sizes"),
        (lambda run: sp.plot.convergence([1, 2], [1, 2], order=0), "order"),
        (lambda run: sp.plot.modes(run), "modes of a scene"),
    ],
)
def test_what_cannot_be_plotted_is_refused(swing: Any, act: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        act(swing)


def test_a_spectrum_of_few_or_uneven_frames_is_refused() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    scene.add(sp.Particles([[0.0, 0.0, 0.0]], mass=1.0))
    with pytest.raises(InputError, match="too few"):
        sp.plot.spectra(sp.run(scene, until=0.02, dt=0.01))
    with pytest.raises(InputError, match="evenly"):
        sp.plot.spectra(sp.run(scene, until=0.155, dt=0.005, record_every=0.01))
