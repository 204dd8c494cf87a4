"""What a USD stage lacks is told where the nodes inside bodies of tets were not recorded."""

from __future__ import annotations

import warnings
from pathlib import Path

import h5py
import pytest
from tests.requiring import needed

import supple as sp
from supple.errors import ExportNotice, SuppleError
from supple.record import open_record

needed("pxr.Usd")
RUBBER = sp.Material(density=1000, young=1e5, poisson=0.3)


def recorded(folder: Path | None, **options: object) -> sp.Run:
    """A body of tets, one of hexes and a rigid one."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="bodies")
    scene.add(sp.FemBody(sp.box_tets((0.4, 0.2, 0.2), (4, 2, 2)), RUBBER), name="soft")
    scene.add(sp.FemBody(sp.box_hexes((0.4, 0.2, 0.2), (4, 2, 2)), RUBBER), at=(1, 0, 0), name="bricks")
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(2, 0, 0), name="ball")
    return sp.run(scene, until=0.02, dt=0.01, out=folder, **options)


def told(run: object, path: Path) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sp.export(run, path)
    return [str(one.message) for one in caught if issubclass(one.category, ExportNotice)]


def test_a_body_of_tets_without_its_nodes_is_told(tmp_path: Path) -> None:
    recorded(tmp_path / "run")
    assert open_record(tmp_path / "run").solids == ["soft"]
    sentences = told(tmp_path / "run", tmp_path / "a.usdc")
    assert len(sentences) == 1
    assert "'soft'" in sentences[0]
    assert "--field volume" in sentences[0]
    assert "bricks" not in sentences[0]


def test_nothing_is_told_where_they_are_recorded_or_held(tmp_path: Path) -> None:
    recorded(tmp_path / "run", fields=["volume"])
    assert told(tmp_path / "run", tmp_path / "a.usdc") == []
    assert told(recorded(None), tmp_path / "b.usdc") == []


def test_an_older_record_knows_nothing_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "run")
    with h5py.File(tmp_path / "run" / "record.vtkhdf", "r+") as file:
        del file["supple"].attrs["solids"]
    assert told(tmp_path / "run", tmp_path / "a.usdc") == []
    for broken in ("[1]", "3", "{"):
        with h5py.File(tmp_path / "run" / "record.vtkhdf", "r+") as file:
            file["supple"].attrs["solids"] = broken
        with pytest.raises(SuppleError):
            open_record(tmp_path / "run")
