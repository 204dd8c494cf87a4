"""A skin that has too few joints for what it shows is told, with what helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import supple as sp
from supple.errors import ExportNotice
from supple.exports.formats.skeleton import LIMIT


@pytest.fixture(scope="module")
def bent() -> sp.Run:
    """A soft beam that is held at one end and sinks by half of its length."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="bent")
    beam = sp.FemBody(sp.box_tets((1.0, 0.05, 0.05), (20, 1, 1)), sp.Material(5e5, 0.3, 1000))
    scene.add(beam, fix=lambda x: x[:, 0] < 1e-9, name="beam")
    run = sp.run(scene, until=0.6, dt=0.01, record_every=0.05)
    assert np.ptp(run.frames.points("beam", -1)[:, 2]) > 0.3
    return run


def test_too_few_joints_are_told(bent: sp.Run, tmp_path: Path) -> None:
    with pytest.warns(ExportNotice, match=rf"'beam' has 1 joints.*more than {100 * LIMIT:.2g} %.*joints=2"):
        sp.export(bent, tmp_path / "one.glb", to="skeleton", joints=1)


def test_enough_of_them_are_not(bent: sp.Run, tmp_path: Path) -> None:
    with pytest.warns(ExportNotice, match="'beam' has") as caught:
        sp.export(bent, tmp_path / "many.glb", to="skeleton")
    assert not [one for one in caught if "more than" in str(one.message)]
