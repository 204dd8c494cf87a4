"""Every validation case of voxel lattices holds, and the means they are made of can tell right from wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.validation import left_out, pictures, registry
from supple.validation.voxel import implicit as voxel_implicit
from supple.validation.voxel import spectrum as voxel_spectrum
from supple.validation.voxel.blocks import block, layer
from supple.validation.voxel.reference import contact_time
from supple.validation.voxel.spectrum import Ringing, beam_frequencies, chain_frequencies, peak_near

QUICK = (
    "voxel/beams",
    "voxel/circle",
    "voxel/collision",
    "voxel/elastica",
    "voxel/friction",
    "voxel/implicit",
    "voxel/link",
    "voxel/momentum",
    "voxel/peer",
    "voxel/spectrum",
)
LONG = ("voxel/damping", "voxel/scenes", "voxel/schemes")
TIMED = ("voxel/scaling",)  # speed is not tested


def test_no_case_is_left_out() -> None:
    assert {name for name in (*registry(), *left_out()) if name.startswith("voxel/")} == {*QUICK, *LONG, *TIMED}


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)])
def test_case(name: str) -> None:
    if name in left_out():
        pytest.skip(f"{left_out()[name]} is not there")
    rows = registry()[name]()
    assert rows
    for row in rows:
        assert row.ok, row


def test_a_long_chain_has_the_frequencies_of_a_beam() -> None:
    # rotary inertia and the lattice's discreteness lower them in proportion to the square of l / L
    errors = [1 - chain_frequencies(n)[:2] / beam_frequencies(n * voxel_spectrum.SIZE)[:2] for n in (40, 80)]
    assert np.all(np.abs(errors[1]) < 0.03)
    assert np.all(np.abs(errors[1]) < 0.6 * np.abs(errors[0]))


def test_the_chain_of_nineteen_links() -> None:
    known = [424.65, 2649.09, 7355.8, 14234.6, 23149.7, 33902.4]  # [Hz], a three-dimensional frame assembled elsewhere
    np.testing.assert_allclose(chain_frequencies(19), known, rtol=1e-5)


def test_the_peak_of_a_known_sine_is_found_between_bins() -> None:
    t = voxel_spectrum.EVERY * voxel_spectrum.DT * np.arange(4000)
    size = np.abs(np.fft.rfft(np.sin(2 * np.pi * 5012.3 * t) * np.hanning(4000)))
    found = Ringing(np.fft.rfftfreq(4000, t[1]), size, 1 / (4000 * t[1]))
    expected = np.sin(np.pi * 5012.3 * voxel_spectrum.DT) / (np.pi * voxel_spectrum.DT)
    assert peak_near(found, 5000.0) == pytest.approx(expected, abs=0.05 * found.bin_width)


def test_the_time_of_contact_of_a_parabola() -> None:
    t = np.linspace(0.0, 1.0, 21)
    distance = 1.0 + 2.0 * (0.83 - t) + 1.5 * (0.83 - t) ** 2
    assert contact_time(t, distance) == pytest.approx(0.83, abs=1e-9)


def test_the_residual_of_statics_sees_a_voxel_out_of_place() -> None:
    body = block((5, 1, 1), size=voxel_implicit.SIZE)
    held = layer(body, 0, 0)
    x = body.model.rest_frames.copy()
    assert voxel_implicit.residual(body, held, x) > 0.5  # nothing carries the weight
    x[-1, 2] -= 1e-3
    assert voxel_implicit.residual(body, held, x) > 100


def test_a_picture_is_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = pictures()
    assert {"voxel/beams", "voxel/damping", "voxel/scaling", "voxel/spectrum"} <= set(drawn)
    drawn["voxel/beams"](tmp_path / "beams.png")
    assert (tmp_path / "beams.png").read_bytes().startswith(b"\x89PNG")
